"""Contact as a user meets it: what is reported, kept, refused; the same bits again."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import linkwork as lw

BOTH = pytest.mark.parametrize("integrator", ["rattle", "euler"])


def boxes(count=2, gap=0.0, friction=0.5, **options):
    """Boxes one above the other on a floor."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(count):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05 + gap + (0.1 + gap) * k), name=f"box{k}"))
    world.add(lw.Contact(friction=friction, **options))
    return world


def tumbling():
    """Two boxes that fall askew, one of them with a hinged flap, and a ball on a rope."""
    world = boxes(2, gap=0.03, restitution=0.3)
    world.add(
        lw.RigidBody(
            0.2, shape=lw.Box(0.1, 0.1, 0.02), position=(0.11, 0, 0.09), orientation=(0.995, 0.0, 0.0998, 0), name="flap"
        )
    )
    world.add(lw.Hinge("box0", "flap", at=(0.055, 0, 0.09), axis=(0, 1, 0), name="hinge"))
    world.add(lw.HardLimit("hinge", lower=-0.4, upper=0.4, name="stop"))
    world.add(lw.RigidBody(0.5, shape=lw.Sphere(0.05), position=(-0.2, 0, 0.3), velocity=(1, 0.2, 0), name="ball"))
    world.add(lw.Rope(world.ground, "ball", length=0.5, on_a=(-0.1, 0, 0.6), name="rope"))
    return world


def quietly(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


def same(one, other):
    a, b = one.state, other.state
    return np.array_equal(a.values, b.values) and np.array_equal(a.contact.margins, b.contact.margins) and np.array_equal(
        a.contact.impulses, b.contact.impulses) and np.array_equal(a.contact.labels, b.contact.labels)  # fmt: skip


@BOTH
def test_a_state_brings_the_same_bits_again(integrator):
    sim = quietly(tumbling(), integrator=integrator, dt=2e-3)
    sim.step(60)
    kept = sim.state.copy()
    sim.step(60)
    end = sim.state.copy()
    sim.state = kept
    sim.step(60)
    assert np.array_equal(sim.state.values, end.values)
    sim.reset()
    sim.step(30)
    sim.contacts()
    sim.acceleration("box0")
    sim.step(90)
    assert np.array_equal(sim.state.values, end.values)


@BOTH
def test_one_call_or_many_are_the_same(integrator):
    one, many = (quietly(tumbling(), integrator=integrator, dt=2e-3) for _ in range(2))
    one.step(80)
    for _ in range(80):
        many.step()
    assert same(one, many)


def test_a_copy_and_a_pickle_go_on_with_the_same_bits():
    sim = quietly(tumbling(), dt=2e-3)
    sim.step(70)
    twins = [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    sim.step(30)
    for twin in twins:
        twin.step(30)
        assert same(sim, twin)


def test_without_a_contact_nothing_touches():
    world = boxes(1, gap=0.01)
    world.remove(next(e for e in world.contacts if isinstance(e, lw.Contact)))
    sim = lw.Simulation(world)
    sim.run(0.2)
    assert sim.position("box0")[2] < -0.05
    with pytest.raises(lw.LinkworkError, match="nothing touches anything in this world; add a Contact"):
        sim.contacts()


def test_only_named_bodies_touch():
    world = boxes(2, gap=0.01)
    world.remove(next(e for e in world.contacts if isinstance(e, lw.Contact)))
    world.add(lw.Contact("box1"))
    sim = lw.Simulation(world)
    sim.run(0.3)
    assert sim.position("box0")[2] < -0.05 and np.isclose(sim.position("box1")[2], 0.05, atol=1e-6)


def test_no_contact_lets_two_bodies_pass():
    world = boxes(2, gap=0.02)
    world.add(lw.NoContact("box0", "box1"))
    sim = lw.Simulation(world)
    sim.run(0.3)
    assert np.allclose([sim.position("box0")[2], sim.position("box1")[2]], 0.05, atol=1e-6)


def test_the_last_contact_that_speaks_of_a_pair_counts():
    world = boxes(1, friction=0.0)
    world.bodies[0].velocity[:] = (1, 0, 0)
    world.add(lw.Contact("box0", friction=0.9))
    sim = lw.Simulation(world)
    sim.step(300)
    assert np.abs(sim.velocity("box0")).max() < 1e-8


def test_frictions_of_colliders_make_their_geometric_mean():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), friction=0.8))
    world.add(lw.RigidBody(1.0, (0.01, 0.01, 0.01), position=(0, 0, 0.1), velocity=(3, 0, 0), name="sled"))
    world.add(lw.Slider(world.ground, "sled", at=(0, 0, 0.1), axis=(1, 0, 0)))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(0, 3, 0.1), velocity=(3, 0, 0), name="puck"))
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            world.add(lw.Collider("puck", lw.Sphere(0.05), position=(x, y, -0.05), friction=0.2))
    world.add(lw.Contact())
    sim = lw.Simulation(world)
    sim.step(200)
    assert np.isclose(sim.velocity("puck")[0], 3 - 9.81 * 0.4 * 0.2, rtol=1e-4)


def test_what_is_told_of_contact():
    sim = lw.Simulation(boxes(2))
    before = sim.contacts()
    assert len(before) == 8 and not before.forces.any()
    sim.step(20)
    points = sim.contacts()
    floor, box0, box1 = sim.world.find("floor"), sim.world.find("box0"), sim.world.find("box1")
    assert [p.colliders for p in points] == [(floor, box0)] * 4 + [(box0, box1)] * 4
    assert points[0].bodies == (sim.world.ground, box0)
    assert np.allclose(points.normals, (0, 0, 1)) and np.abs(points.gaps).max() < 1e-9
    assert np.allclose(points.forces[:4].sum(axis=0), (0, 0, 2 * 9.81)) and np.allclose(points.impulses, points.forces * 1e-3)
    assert np.allclose(points.points[:4, 2], 0, atol=1e-9)
    report = sim.contact_report()
    assert report.points == 8 and report.converged and report.residual < 1e-9 and report.penetration < 1e-9
    assert np.abs(sim.acceleration("box1")).max() < 1e-6


def test_joints_feel_contact_forces():
    """A table of two legs on hinges: each bears half."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane()))
    world.add(lw.RigidBody(4.0, shape=lw.Box(1.0, 0.3, 0.1), position=(0, 0, 1.05), name="top"))
    for name, x in (("left", -0.4), ("right", 0.4)):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.3, 1.0), position=(x, 0, 0.5), name=name))
        world.add(lw.Hinge("top", name, at=(x, 0, 1.0), axis=(0, 1, 0), name=f"{name} hinge"))
    world.add(lw.Contact(friction=1.0))
    sim = lw.Simulation(world)
    sim.step(50)
    for name in ("left", "right"):
        assert np.isclose(sim.reaction(f"{name} hinge").force[2], -2 * 9.81, rtol=1e-5)
        assert np.abs(sim.velocity(name)).max() < 1e-7


def test_deep_overlap_as_built_is_told_and_let_out_slowly():
    world = boxes(1)
    world.bodies[0].position[2] = 0.045
    sim = lw.Simulation(world)
    with pytest.warns(lw.Note, match=r'^RigidBody "box0": it is 0.005 m inside .* as built; it is let out'):
        sim.run(0.5)
    assert np.isclose(sim.position("box0")[2], 0.05, atol=1e-6) and sim.energy().kinetic < 1e-9
    world = boxes(1)
    world.bodies[0].position[2] = -0.02
    sim = lw.Simulation(world)
    with pytest.warns(
        lw.Note, match=r'^RigidBody "box0": it is 0.07 m inside Collider .* as built.*place them apart, or give NoContact'
    ):
        sim.step()
    for _ in range(100):
        before = sim.position("box0")[2]
        sim.step()
        assert sim.position("box0")[2] - before <= 1.001 * sim.dt  # a metre a second, and no more
        assert np.abs(sim.velocity("box0")).max() < 9.81 * sim.dt  # and it does not keep that velocity
    sim.run(0.5)
    assert np.isclose(sim.position("box0")[2], 0.05, atol=1e-6) and sim.energy().kinetic < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_a_heap_that_starts_inside_itself_comes_apart_without_a_blow(seed):
    """Bodies at random places, deep in each other and in the floor: counted in one note, and none becomes fast."""
    rng = np.random.default_rng(seed)
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(8):
        shape = (lw.Box(0.2, 0.2, 0.2), lw.Sphere(0.1), lw.Capsule(0.06, 0.2), lw.Cylinder(0.1, 0.2))[k % 4]
        world.add(lw.RigidBody(1.0 + k, shape=shape, position=rng.uniform((-0.15, -0.15, 0.0), 0.15), name=f"b{k}"))
    world.add(lw.Contact())
    sim = lw.Simulation(world, dt=2e-3)
    with pytest.warns(lw.Note, match="the deepest of [0-9]+ such pairs"):
        sim.step()
    assert sum("inside" in note for note in sim.notes) == 1
    fastest = 0.0
    for _ in range(500):
        sim.step()
        fastest = max(fastest, *(np.abs(sim.velocity(body)).max() for body in world.bodies))
    assert fastest < 3.0 and sim.contact_report().penetration < 2e-3


def test_what_is_welded_together_is_one_neighbour():
    """A leg on a hip that is welded to a pelvis: leg and pelvis do not touch, as built inside each other; the floor is touched by
    all, and by what stands on a welded pedestal, too."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    pelvis = world.add(lw.RigidBody(5.0, shape=lw.Sphere(0.15), position=(0, 0, 1), name="pelvis"))
    hip = world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.05), position=(0, 0.1, 1), name="hip"))
    leg = world.add(lw.RigidBody(2.0, shape=lw.Capsule(0.06, 0.3), position=(0, 0.1, 0.9), name="leg"))
    foot = world.add(lw.RigidBody(0.5, shape=lw.Sphere(0.07), position=(0, 0.1, 0.72), name="foot"))
    world.add(lw.Weld(pelvis, hip, at=(0, 0.1, 1)))
    link = world.add(lw.RigidBody(0.0, (0, 0, 0), position=(0, 0.1, 1), name="link"))
    world.add(lw.Hinge(hip, link, at=(0, 0.1, 1), axis=(1, 0, 0)))
    world.add(lw.Hinge(link, leg, at=(0, 0.1, 1), axis=(0, 1, 0)))
    world.add(lw.Weld(leg, foot, at=(0, 0.1, 0.72)))
    pedestal = world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.1), position=(3, 0, 0.05), name="pedestal"))
    flag = world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.5), position=(3.1, 0, 0.3), velocity=(0.6, 0, 0),
                                  angular_velocity=(0, 3, 0), name="flag"))  # fmt: skip
    world.add(lw.Weld(world.ground, pedestal, at=(3, 0, 0)))
    world.add(lw.Hinge(pedestal, flag, at=(3.1, 0, 0.1), axis=(0, 1, 0)))
    world.add(lw.Contact())
    sim = lw.Simulation(world)
    sim.run(1.0)
    assert not sim.notes
    touched = {frozenset(body.name for body in point.bodies) for point in sim.contacts()}
    assert frozenset(("ground", "flag")) in touched
    assert not touched & {frozenset(("pelvis", "leg")), frozenset(("pelvis", "foot")), frozenset(("hip", "leg"))}


def test_single_colliders_are_kept_apart():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), position=(0, 0, -1), name="floor"))
    shelf = world.add(lw.Collider(world.ground, lw.Box(1, 1, 0.1), position=(0, 0, -0.05), name="shelf"))
    box = world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0, 0, 0.1), name="box"))
    world.add(lw.Contact())
    world.add(lw.NoContact(box, shelf))
    sim = lw.Simulation(world)
    sim.run(1.0)
    assert np.isclose(sim.position("box")[2], -0.9, atol=1e-6)
    with pytest.raises(lw.ElementError, match="give bodies or Colliders"):
        world.add(lw.NoContact(box, world.find("contact1")))


@pytest.mark.parametrize(("solver", "integrator"), [("tree", "rk4"), ("tree", "dopri5"), ("cg", "first-order"), ("dense", "rattle"),
                                                    ("tree", "joint-rk4"), ("aba", "joint-rk4"), ("anticipation", "rattle")])  # fmt: skip
def test_other_solvers_and_integrators_refuse_by_name(solver, integrator):
    with pytest.raises(
        lw.LinkworkError, match=f'Contact "contact1": the solver "{solver}" with the integrator "{integrator}" takes no contact'
    ):
        lw.Simulation(boxes(1), solver=solver, integrator=integrator)


def test_bad_values_are_refused():
    for wrong, text in (
        (lambda: lw.Contact(friction=-0.1), "friction is -0.1"),
        (lambda: lw.Contact(restitution=1.5), "give a number from 0 .* to 1"),
        (lambda: lw.Collider("a", lw.Sphere(1.0), restitution=-1), "restitution is -1"),
        (lambda: lw.Collider("a", 3.0), "give a shape"),
        (lambda: lw.NoContact("a"), "give at least two"),
        (lambda: lw.HardLimit("h"), "neither a lower nor an upper"),
        (lambda: lw.HardLimit("h", 2.0, 1.0), "give lower < upper"),
        (lambda: lw.Rope("a", "b", length=-1), "length is -1"),
    ):
        with pytest.raises(lw.ElementError, match=text):
            wrong()


def test_bodies_that_cannot_touch_are_refused():
    world = lw.World()
    world.add(lw.Particle(1.0, name="dust"))
    world.add(lw.Contact("dust"))
    with pytest.raises(
        lw.ModelError, match='Contact "contact1": Particle "dust" has neither a shape nor a Collider; give it one'
    ):
        lw.Simulation(world)
    world = lw.World()
    world.add(lw.AffineBody(1.0, (1.0, 1.0, 1.0), name="jelly"))
    world.add(lw.Collider("jelly", lw.Plane(), name="deck"))
    world.add(lw.Contact())
    with pytest.raises(lw.ElementError, match='"deck": a Plane is on a body that moves; put it on the ground, or give a Box'):
        lw.Simulation(world)
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), name="arm"))
    world.add(lw.Ball(world.ground, "arm", at=(0, 0, 0), name="ball"))
    with pytest.raises(lw.ElementError, match='Ball "ball" has no use for reach=; give cone= or twist= or upper='):
        world.add(lw.HardLimit("ball", reach=1.0))


def test_particles_and_planar_bodies_touch_too():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane()))
    world.add(lw.Particle(1.0, position=(0, 0, 0.2), name="bead"))
    world.add(lw.Collider("bead", lw.Sphere(0.05)))
    world.add(lw.PlanarBody(1.0, shape=lw.Box(0.2, 0.1, 0.1), position=(1, 0.1), angle=0.3, name="tile"))
    world.add(lw.Contact(friction=0.5))
    sim = lw.Simulation(world)
    sim.run(1.0)
    assert np.isclose(sim.position("bead")[2], 0.05, atol=1e-6) and np.isclose(sim.position("tile")[2], 0.05, atol=1e-6)
    assert np.abs(sim.velocity("tile")).max() < 1e-6 and np.abs(sim.velocity("bead")).max() < 1e-6


def test_a_chain_hangs_over_a_box():
    """A chain of links laid over a box comes to rest on it: nothing sinks in, the load is the chain's weight."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Box(0.2, 0.4, 0.4), position=(0, 0, 0.2), name="block"))
    count = 11
    for k in range(count):
        world.add(lw.RigidBody(0.1, shape=lw.Capsule(0.01, 0.06), position=(0.08 * (k - count // 2), 0, 0.415),
                               orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0), name=f"link{k}"))  # fmt: skip
        if k:
            world.add(lw.Ball(f"link{k - 1}", f"link{k}", at=(0.08 * (k - count // 2) - 0.04, 0, 0.415)))
    world.add(lw.Contact(friction=0.8))
    sim = lw.Simulation(world, dt=2e-3)
    sim.run(1.0, record_every=None)
    assert sim.contact_report().penetration < 2e-4
    assert sim.position("link0")[2] < 0.35 and abs(sim.position(f"link{count // 2}")[2] - 0.41) < 0.02
    assert sim.drift() < 1e-9


def test_contact_comes_and_goes_while_a_simulation_runs():
    world = boxes(1, gap=0.02)
    rule = next(e for e in world.contacts if isinstance(e, lw.Contact))
    world.remove(rule)
    sim = lw.Simulation(world)
    sim.step(10)
    world.add(rule)
    sim.step(200)
    assert np.isclose(sim.position("box0")[2], 0.05, atol=1e-9) and len(sim.contacts()) == 4
    world.add(lw.Spring(world.ground, "box0", 1.0))
    sim.step(10)
    assert np.isclose(sim.position("box0")[2], 0.05, atol=1e-9)
    world.remove(rule)
    sim.run(0.3)
    assert sim.position("box0")[2] < -0.1


def random_robot(seed):
    """A tree of capsules and boxes on hinges with narrow hard limits and dry friction, thrown at a floor."""
    rng = np.random.default_rng(seed)
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), friction=1.0, name="floor"))
    bodies, places = [], []
    for k in range(14):
        above = int(rng.integers(max(0, k - 4), k)) if k else -1
        at = np.array((0, 0, 0.6)) if k == 0 else places[above] + rng.uniform(-0.15, 0.15, 3)
        shape = (lw.Capsule(0.03, 0.12), lw.Box(0.1, 0.06, 0.04), lw.Sphere(0.04))[k % 3]
        thrown = {"velocity": (2, 0, -4)} if k == 0 else {}
        bodies.append(world.add(lw.RigidBody(rng.uniform(0.005, 2.0), shape=shape, position=at, name=f"b{k}", **thrown)))
        places.append(at)
        if k:
            joint = lw.Hinge(bodies[above], bodies[k], at=(at + places[above]) / 2, axis=rng.normal(size=3), name=f"j{k}")
            world.add(joint)
            world.add(lw.HardLimit(joint, -rng.uniform(0.0, 0.3), rng.uniform(0.0, 0.3), name=f"l{k}"))
            if k % 4 == 0:
                world.add(lw.JointFriction(joint, 0.05, name=f"f{k}"))
    world.add(lw.Contact(friction=1.0))
    return world


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize("seed", range(4))
def test_every_step_of_a_robot_with_limits_and_contact_returns(seed, dt):
    """Light links on heavy ones, inside each other as built, with limits that are closed at once, so that no motion at all meets
    them: it runs, or says why not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(random_robot(seed), dt=dt)
        try:
            sim.step(300)
        except lw.DivergenceError as error:
            assert error.step <= 300
        else:
            assert sim.drift() < 1e-6


@pytest.mark.parametrize("spin", [-2.0, 2.0])
@pytest.mark.parametrize("joint", ["universal", "planar"])
def test_limits_of_universals_and_planes_count_no_turns(joint, spin):
    """Two bounds hold; with one alone, what turns the other way goes round."""
    for lower, upper, stays in ((-1.0, 2.5, True), (None, 1.0, spin > 0), (-1.0, None, spin < 0)):
        world = lw.World(gravity=(0, 0, 0))
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, spin), name="b"))
        if joint == "universal":
            world.add(lw.Universal(world.ground, "b", at=(0, 0, 0), first=(0, 0, 1), second=(1, 0, 0), name="j"))
        else:
            world.add(lw.Planar(world.ground, "b", at=(0, 0, 0), normal=(0, 0, 1), name="j"))
        world.add(lw.HardLimit("j", lower, upper, name="stop"))
        sim = lw.Simulation(world, dt=2e-3)
        sim.step(2000)
        assert sim.angular_velocity("b")[2] == pytest.approx(0.0 if stays else spin, abs=1e-6)
