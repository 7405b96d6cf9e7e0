"""Soft contact: closed forms of its spring and damper in a step, the limit of hard contact, energy, fingers that grip."""

import copy

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ElementError, ModelError

EVERY = pytest.mark.parametrize("solver, integrator", [
    ("tree", "rattle"), ("tree", "shake"), ("fronts", "euler"), ("implicit", "backward-euler"), ("aba", "joint-euler"),
])  # fmt: skip
MASS, G = 2.0, 10.0


def ball(height=0.1, speed=0.0, floor=None, **options):
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Collider(world.ground, floor or lw.Plane(), name="floor"))
    world.add(lw.RigidBody(MASS, shape=lw.Sphere(0.1), position=(0, 0, height), velocity=(0, 0, speed), name="ball"))
    world.add(lw.Contact(**options))
    return world


def by_hand(integrator, dt, k, d, x, v, steps):
    """What backward Euler's spring and damper make of a mass on them: in one go, or half before and half after the motion,
    both for where it is a step later."""
    xs = []
    for _ in range(steps):
        if integrator == "rattle":
            drag = 1.0 + dt / 2 * (dt * k + d) / MASS
            v = (v - dt / 2 * (G + k / MASS * x)) / drag
            x += dt * v
            v = (v - dt / 2 * (G + k / MASS * x)) / drag
        else:
            v = (v - dt * (G + k / MASS * x)) / (1.0 + dt * (dt * k + d) / MASS)
            x += dt * v
        xs.append(x)
    return np.array(xs)


@pytest.mark.parametrize("solver, integrator", [("tree", "rattle"), ("fronts", "euler"), ("implicit", "backward-euler")])
@pytest.mark.parametrize("k, d", [(1e3, 0.0), (1e3, 20.0), (1e5, 0.0), (1e6, 3e3)])
def test_a_mass_swings_on_a_contact_as_implicit_springs_have_it(solver, integrator, k, d):
    dt, sink = 2e-3, MASS * G / k
    sim = lw.Simulation(ball(0.1 - 1.4 * sink, stiffness=k, damping=d), dt=dt, solver=solver, integrator=integrator)
    heights = []
    for _ in range(60):
        sim.step()
        heights.append(sim.position("ball")[2] - 0.1)
    np.testing.assert_allclose(heights, by_hand(integrator, dt, k, d, -1.4 * sink, 0.0, 60), atol=1e-5 * sink + 1e-12)


@EVERY
def test_a_mass_rests_at_its_weight_over_the_stiffness(solver, integrator):
    sim = lw.Simulation(ball(stiffness=1e4, damping=300.0), dt=2e-3, solver=solver, integrator=integrator)
    sim.step(500)
    report, (point,) = sim.contact_report(), sim.contacts()
    assert np.isclose(sim.position("ball")[2], 0.1 - MASS * G / 1e4, atol=1e-9) and abs(sim.velocity("ball")[2]) < 1e-8
    assert np.isclose(abs(point.force[2]), MASS * G) and np.isclose(report.deformation, 2e-3) and report.penetration == 0.0
    assert np.isclose(sim.energy().potential, MASS * G * (0.1 - 2e-3) + 0.5 * 1e4 * 2e-3**2)


@pytest.mark.parametrize("solver, integrator", [("tree", "rattle"), ("fronts", "euler"), ("implicit", "backward-euler")])
def test_no_end_of_stiffness_is_hard_contact(solver, integrator):
    def slide(**options):
        world = lw.World(gravity=(1.0, 0, -G))
        world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.1), position=(0, 0, 0.06), velocity=(1, 0.5, -1), name="box"))
        world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(0, 2, 0.1), velocity=(2, 0, 0), name="ball"))
        world.add(lw.Contact(friction=0.3, **options))
        sim = lw.Simulation(world, dt=1e-3, solver=solver, integrator=integrator)
        sim.step(300)
        return np.concatenate([sim.position("box"), sim.velocity("box"), sim.position("ball"), sim.angular_velocity("ball")])

    # the box lands in the step in which its gap closes, hard or soft; friction has the same impulses
    np.testing.assert_allclose(slide(stiffness=1e11), slide(), atol=2e-5)


@pytest.mark.parametrize("solver, integrator", [("tree", "rattle"), ("fronts", "euler"), ("implicit", "backward-euler")])
@pytest.mark.parametrize("k", [1e2, 1e5, 1e9])
def test_energy_does_not_grow_at_any_stiffness(solver, integrator, k):
    rng = np.random.default_rng(3)
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for i, shape in enumerate((lw.Box(0.2, 0.2, 0.2), lw.Sphere(0.1), lw.Capsule(0.07, 0.2), lw.Box(0.1, 0.2, 0.3))):
        turn = rng.normal(size=4)
        world.add(lw.RigidBody(1.0, shape=shape, position=(*rng.normal(0, 0.05, 2), 0.3 + 0.35 * i), name=f"b{i}",
                               orientation=turn / np.linalg.norm(turn), velocity=rng.normal(size=3),
                               angular_velocity=rng.normal(0, 3, 3)))  # fmt: skip
    world.add(lw.Contact(friction=0.5, stiffness=k))
    sim = lw.Simulation(world, dt=1e-2, solver=solver, integrator=integrator)
    energies = [sim.energy().total]
    for _ in range(30):
        sim.step(5)
        energies.append(sim.energy().total)
        assert sim.contact_report().converged
    risen = np.array(energies) - np.minimum.accumulate(energies)
    assert risen.max() < 1e-4 * energies[0] and energies[-1] < 0.6 * energies[0]


def test_a_stack_sinks_by_the_weight_on_each_face():
    world, k, n = lw.World(gravity=(0, 0, -G)), 2e4, 5
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for i in range(n):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05 + 0.1 * i), name=f"box{i}"))
    world.add(lw.Contact(friction=0.5, stiffness=k, damping=100.0))
    sim = lw.Simulation(world, dt=5e-3)
    sim.step(800)
    height = 0.0
    for i in range(n):
        height -= (n - i) * G / (4 * k)  # four points a face
        assert np.isclose(sim.position(f"box{i}")[2], 0.05 + 0.1 * i + height, atol=1e-8)


def test_a_damper_waits_for_contact_and_does_not_pull():
    sim = lw.Simulation(ball(0.103, -2.0, stiffness=1e4, damping=500.0), dt=1e-3, integrator="euler")
    sim.step()
    assert np.isclose(sim.velocity("ball")[2], -2.0 - 1e-3 * G) and not sim.contacts().forces.any()
    pushes = []
    for _ in range(60):
        sim.step()
        pushes += [abs(point.force[2]) for point in sim.contacts()]
        assert all(point.force @ point.normal >= 0.0 for point in sim.contacts())
    assert max(pushes) > 500.0
    assert sim.velocity("ball")[2] < 0.5  # what it came with is in the damper


def test_a_strike_is_left_to_springs():
    sim = lw.Simulation(ball(stiffness=1e4), dt=1e-3)
    sim.strike("ball", (0, 0, -MASS))
    assert np.isclose(sim.velocity("ball")[2], -1.0)


def test_a_surface_of_triangles_is_as_soft_as_a_plane():
    corners = [(x, y, 0.0) for x in (-1, 0.5, 1) for y in (-1, 0.25, 1)]
    cells = [(3 * i + j, 3 * i + j + 3, 3 * i + j + 4, 3 * i + j + 1) for i in range(2) for j in range(2)]
    floor = lw.Mesh(corners, [t for a, b, c, d in cells for t in ((a, b, c), (a, c, d))])
    sim = lw.Simulation(ball(floor=floor, stiffness=1e4, damping=300.0), dt=2e-3)
    sim.step(500)
    assert np.isclose(sim.position("ball")[2], 0.1 - MASS * G / 1e4, atol=1e-8)


def gripper(thing, wide, tip, push, **flesh):
    """Two fingers on sliders press what stands on a table, and an arm lifts it by 0.1 m. tip(world, finger, side, y): what is
    on a finger whose foremost point is at y."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="table"))
    palm = world.add(lw.RigidBody(1.0, (0.01, 0.01, 0.01), position=(0, 0, 0.3), name="palm"))
    world.add(lw.Slider(world.ground, palm, at=(0, 0, 0.3), axis=(0, 0, 1), name="arm"))
    world.add(lw.Drive("arm", lambda t: lw.where(t > 0.3, lw.where(t < 0.8, 0.2, 0.0), 0.0), name="lift"))
    for side in (1, -1):
        y = side * (wide + 0.0305)
        finger = world.add(lw.RigidBody(0.1, (1e-4, 1e-4, 1e-4), position=(0, y, 0.05), name=f"finger{side}"))
        world.add(lw.Slider(palm, finger, at=(0, y, 0.05), axis=(0, 1, 0), name=f"knuckle{side}"))
        world.add(lw.Force(finger, lambda b, t, side=side: (0, -push * side, 0), name=f"push{side}"))
        tip(world, finger, side, side * (wide + 0.0005))
    world.add(lw.RigidBody(0.3, shape=thing, position=(0, 0, -thing.bounds()[0][2]), name="thing"))
    world.add(lw.Contact(friction=0.8, **flesh))
    return world


def pad(world, finger, side, y):
    world.add(lw.Collider(finger, lw.Sphere(0.015), position=(0, -side * 0.015, 0), name=f"tip{side}"))


def deforming(world, finger, side, y):
    tip = world.add(lw.AffineBody(0.02, shape=lw.Box(0.02, 0.02, 0.02), position=(0, y + side * 0.01, 0.05), stiffness=1.0,
                                  damping=0.001, name=f"flesh{side}"))  # fmt: skip
    world.add(lw.Weld(finger, tip, at=(0, y + side * 0.01, 0.05), name=f"nail{side}"))
    for i, (x, z) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        world.add(lw.Collider(tip, lw.Sphere(0.002), position=(0.008 * x, -side * 0.008, 0.008 * z), name=f"pad{side}{i}"))


HULL = lw.ConvexHull([(x, y, z) for x in (-0.03, 0.03) for y in (-0.03, 0.03) for z in (-0.04, 0.03)] + [(0.02, 0, 0.06)])


@pytest.mark.parametrize("thing", [lw.Box(0.06, 0.06, 0.1), lw.Capsule(0.03, 0.04), HULL], ids=["box", "capsule", "hull"])
@pytest.mark.parametrize("solver, integrator", [("tree", "rattle"), ("implicit", "backward-euler")])
def test_soft_fingertips_press_and_lift(thing, solver, integrator):
    world = gripper(thing, 0.03, pad, 20.0, stiffness=2e3, damping=10.0)
    sim = lw.Simulation(world, dt=2e-3, solver=solver, integrator=integrator)
    start = sim.position("thing")[2]
    sim.step(600)
    tips = sim.contacts()
    assert np.isclose(sim.position("thing")[2], start + 0.1, atol=2e-3) and np.abs(sim.velocity("thing")).max() < 1e-5
    np.testing.assert_allclose(sorted(tips.forces[:, 1]), [-20, 20], atol=1e-3)
    np.testing.assert_allclose(tips.gaps, -20 / 2e3, atol=1e-6)
    np.testing.assert_allclose(np.abs(tips.forces[:, 2]).sum(), 0.3 * 9.81, atol=1e-3)


@pytest.mark.parametrize("solver, integrator, dt", [("fronts", "euler", 2e-4), ("implicit", "backward-euler", 2e-3)])
def test_fingertips_that_deform_push_back_on_the_hand(solver, integrator, dt):
    world = gripper(lw.Box(0.06, 0.06, 0.1), 0.03, deforming, 8.0, stiffness=5e3, damping=5.0)
    sim = lw.Simulation(world, dt=dt, solver=solver, integrator=integrator)
    start = sim.position("thing")[2]
    sim.run(1.2, record_every=None)
    assert np.isclose(sim.position("thing")[2], start + 0.1, atol=2e-3)
    for side in (1, -1):
        back = sim.reaction(f"nail{side}", body=f"finger{side}").force
        np.testing.assert_allclose(back, (0, 8.0 * side, -(0.3 / 2 + 0.02) * 9.81), atol=0.05)
        pressed = np.abs(sim.point(f"flesh{side}", (0, -side * 0.008, 0))[1] - sim.position(f"flesh{side}")[1])
        assert 0.007 < pressed < 0.0078  # as built 0.008


def jelly(shape):
    """A tip that stretches, and touches by its own shape."""

    def tip(world, finger, side, y):
        flesh = world.add(lw.AffineBody(0.02, shape=shape, position=(0, y + side * 0.01, 0.05), stiffness=1.0, damping=0.001,
                                        name=f"flesh{side}"))  # fmt: skip
        world.add(lw.Weld(finger, flesh, at=(0, y + side * 0.01, 0.05), name=f"nail{side}"))

    return tip


@pytest.mark.parametrize("shape", [lw.Box(0.02, 0.02, 0.02), lw.Ellipsoid(0.04, 0.02, 0.04)], ids=["block", "pad"])
@pytest.mark.parametrize("thing", [lw.Box(0.06, 0.06, 0.1), lw.Capsule(0.03, 0.04), HULL], ids=["box", "capsule", "hull"])
def test_fingertips_that_stretch_press_and_lift_by_their_own_shape(thing, shape):
    """The floor and both hands bear what there is, and the flesh is pressed thinner."""
    sim = lw.Simulation(gripper(thing, 0.03, jelly(shape), 8.0, stiffness=5e3, damping=5.0), dt=2e-3, solver="implicit",
                        integrator="backward-euler")  # fmt: skip
    start = sim.position("thing")[2]
    sim.step(600)
    assert np.isclose(sim.position("thing")[2], start + 0.1, atol=2e-3) and np.abs(sim.velocity("thing")).max() < 1e-5
    for side in (1, -1):
        back = sim.reaction(f"nail{side}", body=f"finger{side}").force
        np.testing.assert_allclose(back, (0, 8.0 * side, -(0.3 / 2 + 0.02) * 9.81), atol=0.05)
        assert 0.8 < sim.frame(f"flesh{side}")[1, 1] < 0.99


TIPS = [lw.Box(0.02, 0.02, 0.02), lw.Capsule(0.01, 0.02), lw.ConvexHull(HULL.points / 4)]


@pytest.mark.parametrize("tip", TIPS, ids=["box", "capsule", "hull"])
@pytest.mark.parametrize("k, dt", [(1e3, 1 / 60), (1e5, 1 / 60), (1e7, 1 / 240), (1e9, 1e-3), (1e5, 1e-4)])
def test_fingertips_of_all_shapes_are_stable_at_any_stiffness_and_step(tip, k, dt):
    def placed(world, finger, side, y):
        high = tip.bounds()[1][1]
        world.add(lw.Collider(finger, tip, position=(0, -side * (0.03 - high), 0), name=f"tip{side}"))

    for thing in (lw.Box(0.06, 0.06, 0.1), lw.Cylinder(0.03, 0.1)):
        sim = lw.Simulation(gripper(thing, 0.03, placed, 20.0, stiffness=k, damping=10.0), dt=dt, solver="implicit",
                            integrator="backward-euler")  # fmt: skip
        start = sim.position("thing")[2]
        sim.step(round(1.2 / dt))
        assert np.isclose(sim.position("thing")[2], start + 0.1, atol=8e-3)
        assert np.abs(sim.velocity("thing")).max() < 1e-3


def test_copies_states_and_scene_files_keep_it(tmp_path):
    world = ball(0.11, stiffness=3e3, damping=7.0, name="flesh")
    lw.save(world, tmp_path / "ball.yaml")
    again = lw.load(tmp_path / "ball.yaml")
    assert (again.find("flesh").stiffness, again.find("flesh").damping) == (3e3, 7.0)
    sim, other = lw.Simulation(world, dt=1e-3), lw.Simulation(copy.deepcopy(again), dt=1e-3)
    sim.step(100)
    state = copy.deepcopy(sim.state)
    other.step(60)
    for _ in range(40):
        other.step()
        other.energy()  # leaves no trace
    assert np.array_equal(sim.position("ball"), other.position("ball")) and sim.contact_report().deformation > 0.0
    sim.step(30)
    other.state = state
    other.step(30)
    assert np.array_equal(sim.position("ball"), other.position("ball"))
    kept = other.run(0.01, record_every=0.005).contacts(-1)
    assert len(kept) == 1 and np.allclose(kept.forces, other.contacts().forces)


def test_what_is_pressed_in_as_built_is_no_overlap(recwarn):
    lw.Simulation(ball(0.08, stiffness=1e3)).step()
    assert not [w for w in recwarn if "inside" in str(w.message)]


@pytest.mark.parametrize("options, told", [
    ({"stiffness": -1.0}, 'Contact "flesh": stiffness is -1'),
    ({"stiffness": 0.0}, 'Contact "flesh": stiffness is 0'),
    ({"stiffness": 1.0, "damping": -2.0}, 'Contact "flesh": damping is -2'),
    ({"damping": 2.0}, 'Contact "flesh": damping is 2 and stiffness is missing'),
    ({"stiffness": 1.0, "restitution": 0.5}, 'Contact "flesh": restitution is 0.5 and stiffness is 1; leave restitution out'),
    ({"friction": -0.1}, 'Contact "flesh": friction is -0.1'),
])  # fmt: skip
def test_what_cannot_be_is_named(options, told):
    with pytest.raises(ElementError, match=told):
        lw.Contact(name="flesh", **options)


@pytest.mark.parametrize("how", [{"solver": "anticipation", "integrator": "euler"}, {"integrator": "first-order"}])
def test_contact_that_is_hard_refuses_it_by_name(how):
    with pytest.raises(ModelError, match='Contact "flesh": .*leave stiffness out'):
        lw.Simulation(ball(stiffness=1e3, name="flesh"), **how)
