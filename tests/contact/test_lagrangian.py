"""Contacts and ropes on points of Lagrangian bodies: against the same mechanism of particles, closed forms, dense solves."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw
from tests.contact.answers import by_schur, by_sweeps, pointed
from tests.simulation.test_contacts import quietly, same

LENGTHS, MASSES, ANGLES = (1.0, 0.6), (1.0, 0.7), (1.0, 1.6)
EVERY = pytest.mark.parametrize("solver, integrator", [("tree", "rattle"), ("fronts", "euler"), ("implicit", "backward-euler"),
                                                       ("anticipation", "euler")])  # fmt: skip


def floored(world, height=0.0, **options):
    world.add(lw.Collider(world.ground, lw.Plane(), position=(0, 0, height), name="floor"))
    world.add(lw.Contact(**options))
    return world


def as_one_body(**options):
    world = lw.World()
    arms = world.add(lw.double_pendulum(LENGTHS, MASSES, angles=ANGLES, name="arms"))
    world.add(lw.Collider(arms, lw.Sphere(0.05), position=arms.point(1), name="skin"))
    return floored(world, -1.25, **options)


def as_particles(**options):
    world, at = lw.World(), np.zeros(3)
    for k in range(2):
        at = at + LENGTHS[k] * np.array([np.sin(ANGLES[k]), 0, -np.cos(ANGLES[k])])
        world.add(lw.Particle(MASSES[k], at, name=f"bob{k}"))
        world.add(lw.Distance([world.ground, "bob0"][k], f"bob{k}", name=f"rod{k}"))
        world.add(lw.Constraint(f"bob{k}", lambda b, t: b.position[1], name=f"plane{k}"))
    world.add(lw.Collider("bob1", lw.Sphere(0.05), name="skin"))
    return floored(world, -1.25, **options)


def impulse_on_the_floor(sim, steps):
    """The sum over steps; contacts name the body before the ground's floor, or after it."""
    total = np.zeros(3)
    for _ in range(steps):
        sim.step()
        for point in sim.contacts():
            total += point.impulse if point.bodies[1] is sim.world.ground else -point.impulse
    return total


@pytest.mark.parametrize("solver, integrator, close", [("tree", "rattle", 1e-5), ("fronts", "euler", 1e-3), ("anticipation", "euler", 1e-3),
                                                       ("implicit", "backward-euler", 3e-3)])  # fmt: skip
def test_a_bob_strikes_the_floor_and_slides_as_a_particle_on_rods_does(solver, integrator, close):
    one, two = (lw.Simulation(world, 1e-3, solver=solver, integrator=integrator)
                for world in (as_one_body(friction=0.4), as_particles(friction=0.4)))  # fmt: skip
    start = one.energy().total
    given = [impulse_on_the_floor(sim, 700) for sim in (one, two)]
    assert given[0][2] < -3.9 and one.energy().total < start - 1.0
    np.testing.assert_allclose(one.point("arms", (1, 0, 0)), two.position("bob1"), atol=close)
    np.testing.assert_allclose(one.position("arms"), two.position("bob0"), atol=close)
    np.testing.assert_allclose(given[0], given[1], atol=100 * close)
    (mine,), (theirs,) = one.contacts(), two.contacts()
    np.testing.assert_allclose(mine.force, theirs.force, atol=100 * close)
    np.testing.assert_allclose(mine.point, theirs.point, atol=close)
    np.testing.assert_allclose(mine.normal, theirs.normal, atol=1e-12)
    assert mine.bodies == (one.world.find("arms"), one.world.ground) and mine.colliders[0] is one.world.find("skin")
    np.testing.assert_allclose(one.acceleration("arms"), two.acceleration("bob0"), atol=100 * close)


def test_forces_know_how_the_way_of_a_point_bends():
    """On the level of accelerations, of a bob that runs along the floor: what keeps its height, J'u' and all (dense, by hand)."""
    (l, k), (m, n), (a, b), da = LENGTHS, MASSES, (0.7, -0.9), 2.0
    db = -l * np.sin(a) * da / (k * np.sin(b))  # the bob does not rise
    world = lw.World(gravity=(0, 0, -10))
    arms = world.add(lw.double_pendulum(LENGTHS, MASSES, angles=(a, b), rates=(da, db), name="arms"))
    world.add(lw.Collider(arms, lw.Sphere(0.05), position=arms.point(1), name="skin"))
    floored(world, -l * np.cos(a) - k * np.cos(b) - 0.05, friction=0.0)
    sim = lw.Simulation(world, 1e-7, solver="anticipation", integrator="euler")
    sim.step()
    M = np.array([[(m + n) * l**2, n * l * k * np.cos(a - b)], [n * l * k * np.cos(a - b), n * k**2]])
    turning = n * l * k * np.sin(a - b)
    Q = np.array([-turning * db**2 - (m + n) * 10 * l * np.sin(a), turning * da**2 - n * 10 * k * np.sin(b)])
    J, bias = np.array([l * np.sin(a), k * np.sin(b)]), l * np.cos(a) * da**2 + k * np.cos(b) * db**2
    force = -(J @ np.linalg.solve(M, Q) + bias) / (J @ np.linalg.solve(M, J))
    assert -sim.contacts()[0].force[2] == pytest.approx(force, rel=1e-5) and force == pytest.approx(7.678, abs=1e-3)


def test_bounces_come_together_as_steps_grow_shorter():
    """They are of first order in dt in either, with other errors: rods bend their steps, angles do not."""
    off = []
    for dt in (1e-3, 2.5e-4):
        one, two = (lw.Simulation(make(friction=0.4, restitution=0.5), dt) for make in (as_one_body, as_particles))
        given = [impulse_on_the_floor(sim, round(0.45 / dt)) for sim in (one, two)]
        off.append((np.abs(one.point("arms", (1, 0, 0)) - two.position("bob1")).max(), np.abs(given[0] - given[1]).max()))
    assert off[0][0] < 1e-3 and off[0][1] < 0.06
    assert 3.5 < off[0][0] / off[1][0] < 4.5 and 3.5 < off[0][1] / off[1][1] < 4.5


@pytest.mark.parametrize("options", [{"friction": 0.3}, {"friction": 0.0, "restitution": 0.9}])
def test_energy_does_not_grow(options):
    sim = lw.Simulation(as_one_body(**options), 1e-3)
    least, start, hits = sim.energy().total, sim.energy().total, 0
    for _ in range(3000):
        sim.step()
        hits += any(np.any(point.impulse) for point in sim.contacts())
        now = sim.energy().total
        assert now < least + 1e-3
        least = min(least, now)
    assert hits > 3 and least < start - 0.5
    assert sim.contact_report().converged


@EVERY
def test_a_bead_slides_down_its_wire_to_a_stop(solver, integrator):
    """On a straight wire at 30 degrees; the wall's push along x holds what weight pulls along the wire."""
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    world = lw.World(gravity=(0, 0, -10))
    bead = world.add(lw.bead_on_wire(lambda u: (c * u, 0, -s * u), 2.0, name="bead"))
    world.add(lw.Collider(bead, lw.Sphere(0.1), name="skin"))
    world.add(lw.Collider(world.ground, lw.Box(0.2, 2, 4), position=(1.2, 0, 0), name="wall"))
    world.add(lw.Contact(friction=0.0))
    sim = lw.Simulation(world, 1e-3, solver=solver, integrator=integrator)
    reached = np.sqrt(2 * (1.0 / c) / (10 * s))
    sim.run(0.9 * reached)
    assert np.isclose(sim.rates(bead)[0], 10 * s * sim.time, rtol=2e-3)
    sim.run(0.5)
    assert np.isclose(sim.coordinates(bead)[0], 1.0 / c, atol=1e-6) and abs(sim.rates(bead)[0]) < 1e-8
    (point,) = sim.contacts()
    assert np.allclose(point.force, (2.0 * 10 * s / c, 0, 0), rtol=1e-6)  # from the bead onto the wall
    assert np.abs(sim.acceleration(bead)).max() < 1e-6


def test_a_bead_bounces_on_its_wire():
    world = lw.World(gravity=(0, 0, 0))
    bead = world.add(lw.bead_on_wire(lambda u: (u, 0, 0.5 * u), 2.0, rate=2.0, name="bead"))
    world.add(lw.Collider(bead, lw.Sphere(0.1), name="skin"))
    world.add(lw.Collider(world.ground, lw.Box(0.2, 2, 4), position=(1.2, 0, 0), name="wall"))
    world.add(lw.Contact(friction=0.0, restitution=0.5))
    sim = lw.Simulation(world, 1e-3)
    sim.run(1.0)
    assert np.isclose(sim.rates(bead)[0], -1.0)


def standing(count=4):
    """A ball that squashes, on feet below its centre."""
    world = lw.World()
    ball = world.add(lw.squashing_ball(0.5, 3.0, 200.0, position=(0, 0, 0.51), damping=20.0, name="ball"))
    for k in range(count):
        foot = (0.3 * np.cos(2 * np.pi * k / count), 0.3 * np.sin(2 * np.pi * k / count), -0.4)
        world.add(lw.Collider(ball, lw.Sphere(0.05), position=foot, name=f"foot{k}"))
    return floored(world, friction=0.6)


@EVERY
def test_feet_of_a_body_that_squashes_carry_its_weight(solver, integrator):
    """It stands still. `rattle` finds damping before contact in its closing kick: where friction holds the shape under stress, it
    leaves a velocity of the order of dt^2 (docs/decisions/0033), with which nothing moves."""
    sim = lw.Simulation(standing(), 2e-3, solver=solver, integrator=integrator)
    sim.run(4.0)
    contacts, before = sim.contacts(), sim.coordinates("ball").copy()
    assert len(contacts) == 4 and np.abs(sim.rates("ball")).max() < (1e-3 if integrator == "rattle" else 1e-7)
    sim.run(0.2)
    assert np.abs(sim.coordinates("ball") - before).max() < 1e-9
    force = sum(p.force if p.bodies[1] is sim.world.find("ball") else -p.force for p in contacts)
    np.testing.assert_allclose(force, (0, 0, 3.0 * 9.81), atol=1e-5)
    assert np.abs(contacts.gaps).max() < 1e-4 and sim.coordinates("ball")[3] < 1.0
    for k, (x, y, _) in enumerate([sim.point("ball", sim.world.find(f"foot{k}").position) for k in range(4)]):
        assert np.allclose(contacts.points[k][:2], (x, y), atol=1e-9)


@EVERY
def test_a_box_lies_on_a_beam(solver, integrator):
    """On spheres along a clamped beam, which bends until it carries the box."""
    world = lw.World()
    beam = world.add(lw.bending_beam(1.0, 0.5, 40.0, damping=0.4, name="beam"))
    for s in (0.4, 0.8):
        for y in (-0.08, 0.08):
            world.add(lw.Collider(beam, lw.Sphere(0.02), position=(s, y, 0)))
    box = world.add(lw.RigidBody(1.0, shape=lw.Box(0.6, 0.2, 0.1), position=(0.6, 0, 0.071), name="box"))
    world.add(lw.Contact(friction=0.8))
    sim = lw.Simulation(world, 2e-3, solver=solver, integrator=integrator)
    sim.run(3.0)
    contacts = sim.contacts()
    force = sum(p.force if p.bodies[1] is box else -p.force for p in contacts)
    np.testing.assert_allclose(force, (0, 0, 9.81), atol=0.05)
    assert len(contacts) == 4 and np.abs(sim.velocity(box)).max() < 2e-3
    loads = sum(sim.jacobian(beam, (s, 0, 0))[2] * force[2] / 2 for s in (0.4, 0.8))  # near enough: it leans a little
    stiffness = 40.0 * np.array([[4.0, 6.0], [6.0, 12.0]])
    np.testing.assert_allclose(stiffness @ sim.coordinates(beam), -loads - 0.5 * 9.81 * np.array([1 / 3, 1 / 4]), rtol=0.1)


def test_a_rope_holds_a_point():
    """The end of a beam, clamped at the other one, on a rope: the weights u of its two shapes are those of its balance."""
    world = lw.World()
    world.add(lw.bending_beam(2.0, 4.0, 500.0, damping=2.0, name="beam"))
    world.add(lw.Rope(world.ground, "beam", on_a=(2, 0, 1), on_b=(2, 0, 0), name="cord"))
    world.add(lw.double_pendulum(angles=(0.1, 0.2), pivot=(0, 3, 0), name="arms"))
    world.add(lw.Rope("arms", "beam", length=10.0, on_a=(1, 0, 0), on_b=(1, 0, 0), name="slack"))
    sim = lw.Simulation(world, 1e-2, solver="implicit")
    sim.run(3.0)
    u, pull = sim.coordinates("beam"), sim.reaction("cord")
    stiffness = 500.0 / 2.0**3 * np.array([[4.0, 6.0], [6.0, 12.0]])
    np.testing.assert_allclose(stiffness @ u, pull.force[2] - 4.0 * 9.81 * np.array([1 / 3, 1 / 4]), atol=1e-4)
    assert abs(u.sum()) < 1e-8 and pull.force[2] == pytest.approx(4.0 * 9.81 * 3 / 8, rel=0.1)  # 3/8 of an even load
    np.testing.assert_allclose(pull.at, sim.point("beam", (2, 0, 0)), atol=1e-12)
    assert not sim.reaction("slack").force.any() and not sim.reaction("slack", "arms").force.any()


@EVERY
def test_a_point_swings_on_a_rope_as_a_particle_does(solver, integrator):
    """In coordinates that are turned against the world; the rope becomes taut on its way."""
    c, s = np.cos(0.3), np.sin(0.3)
    sims = []
    for as_body in (True, False):
        world = lw.World()
        if as_body:
            world.add(lw.LagrangianBody(lambda u: ((c * u[0] - s * u[1], s * u[0] + c * u[1], u[2]),), (0.4,),
                                        coordinates=(0.5 * c, -0.5 * s, 0), rates=(0, 0, 1), name="bob"))  # fmt: skip
        else:
            world.add(lw.Particle(0.4, (0.5, 0, 0), (0, 0, 1), name="bob"))
        world.add(lw.Rope(world.ground, "bob", length=0.7, name="cord"))
        sims.append(lw.Simulation(world, 2e-3, solver=solver, integrator=integrator))
        sims[-1].run(1.0)
    one, two = sims
    np.testing.assert_allclose(one.position("bob"), two.position("bob"), atol=1e-9)
    np.testing.assert_allclose(one.reaction("cord").force, two.reaction("cord").force, atol=1e-6)
    assert np.linalg.norm(one.position("bob")) == pytest.approx(0.7, abs=1e-3) and two.reaction("cord").force[2] > 0.5


@pytest.mark.parametrize("solver", ["tree", "fronts"])
@pytest.mark.parametrize("loop", [False, True])
def test_points_answer_as_the_dense_schur_complement_says(solver, loop):
    sim = lw.Simulation(pointed(loop), 1e-3, solver=solver)
    n = len(sim.model.bodies.kinds)
    touched = np.zeros(n + len(sim.model.material_points), bool)
    touched[n:] = touched[1] = True  # all points, and the box
    members, R = by_sweeps(sim, touched)
    exact, scale = by_schur(sim, members)
    assert len(sim.model.material_points) == 6 and set(members) == {1, *range(n, n + 6)}
    assert np.abs(R - exact).max() < (1e-7 if loop else 1e-12) * scale
    assert np.linalg.matrix_rank(R, tol=1e-6) > 6


def falling():
    """A pendulum with two skins, of which one is tied to a box that falls with it onto the floor."""
    world = as_one_body(friction=0.4, restitution=0.3)
    world.add(lw.Collider("arms", lw.Sphere(0.1), position=(0, 0, 0), name="elbow"))
    world.add(lw.RigidBody(0.3, shape=lw.Box(0.1, 0.1, 0.1), position=(1.4, 0.3, -0.9), name="box"))
    world.add(lw.Rope("arms", "box", length=0.6, on_a=(1, 0, 0), name="tie"))
    return world


def test_states_and_copies_go_on_with_the_same_bits():
    sim = quietly(falling(), dt=2e-3)
    sim.step(180)
    kept, twins = sim.state.copy(), (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)))
    for each in (sim, *twins):
        each.step(100)
        assert same(each, sim)
    end = sim.state.copy()
    sim.state = kept
    sim.step(100)
    np.testing.assert_array_equal(sim.state.values, end.values)
    assert len(end.contact) > 0


def test_a_world_that_changes_keeps_what_touched():
    """Contacts are known by what they are, whatever numbers bodies and points have."""
    world = standing()
    world.add(lw.Particle(1.0, position=(9, 9, 9), name="elsewhere"))
    sim = lw.Simulation(world, 2e-3)
    sim.run(1.0)
    before, forces = sim.state.contact, sim.contacts().forces.sum(axis=0)
    world.remove("elsewhere")
    world.add(lw.Collider("ball", lw.Sphere(0.01), position=(0, 0, 0.4), name="hat"))
    after = sim.state.contact
    assert len(before) == 4 and np.array_equal(np.sort(after.impulses, axis=0), np.sort(before.impulses, axis=0))
    assert {sim._system.contact.body_of(b) for b in after.labels[:, 3:].ravel()} == {-1, 0}
    sim.step(1)
    np.testing.assert_allclose(sim.contacts().forces.sum(axis=0), forces, atol=0.2)


def test_points_of_one_body_do_not_touch_each_other():
    world = lw.World(gravity=(0, 0, 0))
    body = world.add(
        lw.LagrangianBody(lambda u: ((u[0], 0, 0), (u[1], 0, 0)), (1, 1), coordinates=(-1, 1), rates=(1, -1), name="two")
    )
    for k in range(2):
        world.add(lw.Collider(body, lw.Sphere(0.2), position=body.point(k)))
    world.add(lw.Contact())
    sim = lw.Simulation(world, 1e-2)
    sim.run(2.0)
    np.testing.assert_allclose(sim.coordinates(body), (1, -1), atol=1e-9)


def test_bodies_of_one_function_touch_each_other():
    """Two beads on two wires that cross: an elastic impact of equal masses along the line between them."""
    world = lw.World(gravity=(0, 0, 0))
    for k, (at, rate) in enumerate(((-1.0, 1.0), (1.0, 0.0))):
        world.add(lw.bead_on_wire(lambda u: (u, 0, 0), 0.5, at=at, rate=rate, name=f"bead{k}"))
        world.add(lw.Collider(f"bead{k}", lw.Sphere(0.1)))
    world.add(lw.Contact(restitution=1.0, friction=0.0))
    sim = lw.Simulation(world, 1e-3)
    sim.run(3.0)
    np.testing.assert_allclose([sim.rates("bead0")[0], sim.rates("bead1")[0]], (0, 1), atol=1e-9)


def test_recordings_show_the_spheres_where_the_points_are(tmp_path):
    sim = lw.Simulation(as_one_body(), 1e-3)
    rec = sim.run(0.5, record_every=0.1)
    np.testing.assert_allclose(rec.extra["place skin"][-1], sim.point("arms", (1, 0, 0)))
    assert rec.extra_units["place skin"] == "m"
    from linkwork.viz.scene import Stage

    again = lw.Recording.load(rec.save(tmp_path / "run.npz"))
    for each in (rec, again):
        stage = Stage(each)
        (skin, *_) = [solid for solid in stage.solids if solid.name == "skin"]
        x, _ = stage.pose(-1)
        np.testing.assert_allclose(x[skin.body] + skin.position, sim.point("arms", (1, 0, 0)))
    rec.animate(tmp_path / "run.gif", fps=10)
    assert (tmp_path / "run.gif").stat().st_size > 1000
    assert [point.bodies for point in rec.contacts(-1)] == [("arms", None)]


def refused(change, **options):
    world = as_one_body()
    change(world)
    with pytest.raises(lw.LinkworkError) as error:
        lw.Simulation(world, **options)
    return str(error.value)


def test_what_cannot_be_touched_is_named():
    def box(world):
        world.add(lw.Collider("arms", lw.Box(1, 1, 1), name="crate"))

    def beside(world):
        world.add(lw.Collider("arms", lw.Sphere(0.1), position=(2, 0, 0), name="hat"))

    def tied(world):
        world.add(lw.Rope(world.ground, "arms", on_b=(0, 0, 0.5), name="cord"))

    def bare(world):
        world.add(lw.bead_on_wire(lambda u: (u, 0, u), name="bead"))
        world.add(lw.Contact("bead", name="touch"))

    arms = 'LagrangianBody "arms"'
    assert refused(box) == (f'Collider "crate": a Box is on {arms}, whose points do not turn; give Sphere(radius), at each point '
                            "that can be touched")  # fmt: skip
    assert refused(beside) == f'Collider "hat": {arms} has no point (2, 0, 0); name one by its point(k), k from 0 to 1'
    assert refused(tied) == f'Rope "cord": {arms} has no point (0, 0, 0.5); name one by its point(k), k from 0 to 1'
    assert refused(bare) == 'Contact "touch": LagrangianBody "bead" has neither a shape nor a Collider; give it one'
    joints = refused(lambda world: None, solver="aba", integrator="joint-euler")
    assert joints.startswith(f"{arms}: joint coordinates are those of rigid bodies")
