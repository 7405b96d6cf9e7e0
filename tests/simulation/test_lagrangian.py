"""Lagrangian bodies in motion: equal to the same mechanism held by constraints, energy, hybrid models, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw

ANGLES, RATES, LENGTHS, MASSES = (1.0, 2.0), (0.5, -1.0), (1.0, 0.6), (1.0, 0.7)


def as_one_body():
    world = lw.World()
    world.add(lw.double_pendulum(LENGTHS, MASSES, angles=ANGLES, rates=RATES, name="arms"))
    return world


def held_by_rods():
    world = lw.World()
    places, velocities, at, speed = [], [], np.zeros(3), np.zeros(3)
    for angle, rate, length in zip(ANGLES, RATES, LENGTHS, strict=True):
        at = at + length * np.array([np.sin(angle), 0, -np.cos(angle)])
        speed = speed + length * rate * np.array([np.cos(angle), 0, np.sin(angle)])
        places.append(at)
        velocities.append(speed)
    for k in range(2):
        world.add(lw.Particle(MASSES[k], places[k], velocities[k], name=f"bob{k}"))
        world.add(lw.Distance([world.ground, "bob0"][k], f"bob{k}", name=f"rod{k}"))
        world.add(lw.Constraint(f"bob{k}", lambda b, t: b.position[1], name=f"plane{k}"))
    return world


def test_a_double_pendulum_as_one_body_is_the_constrained_one():
    one = lw.Simulation(as_one_body(), 0.01, integrator="dopri5", tolerance=1e-11)
    two = lw.Simulation(held_by_rods(), 0.01, integrator="dopri5", tolerance=1e-11)
    arms = one.model.bodies.elements[0]
    for k, bob in enumerate(("bob0", "bob1")):
        np.testing.assert_allclose(one.jacobian(arms, arms.point(k)) @ one.rates(arms), two.velocity(bob), atol=1e-12)
    np.testing.assert_allclose(one.acceleration(arms), two.acceleration("bob0"), atol=1e-11)
    for _ in range(5):
        one.step(40)
        two.step(40)
        for k, bob in enumerate(("bob0", "bob1")):
            np.testing.assert_allclose(one.point(arms, arms.point(k)), two.position(bob), atol=2e-7)
        assert abs(one.energy().total - two.energy().total) < 1e-8


PAIRS = [("tree", "rattle", 2), ("dense", "rattle", 2), ("fronts", "rattle", 2), ("anticipation", "rattle", 2), ("tree", "euler", 1),
         ("tree", "rk4", 4), ("implicit", "backward-euler", 1)]  # fmt: skip


@pytest.mark.parametrize("solver, integrator, order", PAIRS)
def test_every_scheme_has_its_order(solver, integrator, order):
    exact = lw.Simulation(as_one_body(), 0.1, integrator="dopri5", tolerance=1e-12)
    exact.step(5)
    off = []
    for steps in (100, 200):
        sim = lw.Simulation(as_one_body(), 0.5 / steps, solver=solver, integrator=integrator)
        sim.step(steps)
        off.append(np.abs(sim.coordinates("arms") - exact.coordinates("arms")).max())
    assert 0.6 * 2**order < off[0] / off[1] < 1.6 * 2**order


def test_energy_stays_bounded_over_many_swings():
    worst = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(as_one_body(), dt)
        start, off = sim.energy().total, 0.0
        for _ in range(40):
            sim.step(int(0.5 / dt))
            off = max(off, abs(sim.energy().total - start))
        worst.append(off)
    assert worst[0] < 0.05 and worst[1] < 0.5 * worst[0]


def hybrid():
    """A bead on a helix as a body, a rod to a free ball that hangs from it; and the same with a particle on the helix."""
    start = 1.0
    at = np.array([np.cos(start), np.sin(start), 0.3 * start])
    bob = at + np.array([0.2, 0.1, -0.5])
    worlds = []
    for as_body in (True, False):
        world = lw.World()
        if as_body:
            world.add(lw.bead_on_wire(lambda s: (lw.cos(s), lw.sin(s), 0.3 * s), 0.5, at=start, name="bead"))
        else:
            world.add(lw.Particle(0.5, at, name="bead"))
            curve = lambda p: (p[0] ** 2 + p[1] ** 2 - 1, p[0] * lw.sin(p[2] / 0.3) - p[1] * lw.cos(p[2] / 0.3))  # noqa: E731
            world.add(lw.PointOnCurve(world.ground, "bead", curve, name="wire"))
        world.add(lw.Particle(0.4, bob, name="bob"))
        world.add(lw.Distance("bead", "bob", name="rod"))
        worlds.append(world)
    return worlds


def test_a_bead_on_a_wire_carries_what_hangs_on_it():
    """A hybrid model (witkin97 section 5.1): a body from a function, held by an ordinary constraint."""
    one, two = (lw.Simulation(world, 1e-3) for world in hybrid())
    assert one.model.summary()["freedoms"] == two.model.summary()["freedoms"] == 3
    np.testing.assert_allclose(one.acceleration("bob"), two.acceleration("bob"), atol=1e-10)
    np.testing.assert_allclose(one.reaction("rod").force, two.reaction("rod").force, atol=1e-10)
    tangent = one.jacobian("bead")[:, 0]
    pull = one.reaction("rod", "bead").force  # the least that does the same: its part along the wire
    np.testing.assert_allclose(pull, tangent * (tangent @ -one.reaction("rod").force) / (tangent @ tangent), atol=1e-10)
    start = one.energy().total
    for sim in (one, two):
        sim.step(800)
        assert sim.drift() < 1e-10
    np.testing.assert_allclose(one.position("bead"), two.position("bead"), atol=1e-4)
    np.testing.assert_allclose(one.position("bob"), two.position("bob"), atol=1e-4)
    assert abs(one.energy().total - start) < 1e-4


def pieces():
    """A rigid box on the tip of a beam, a squashing ball on a spring, a cart that a motion leads."""
    world = lw.World()
    beam = world.add(lw.bending_beam(1.0, 1.0, 30.0, clamp=(3, 0, 0), name="beam"))
    box = world.add(lw.RigidBody(0.3, shape=lw.Box(0.1, 0.1, 0.1), position=(4, 0, -0.3), name="box"))
    world.add(lw.Ball(beam, box, at=(4, 0, 0), name="pin"))
    ball = world.add(lw.squashing_ball(0.3, 0.5, 20.0, position=(-3, 0, 0), squash=0.9, name="ball"))
    world.add(lw.Spring(world.ground, ball, 40.0, on_a=(-3, 0, 1), on_b=(0, 0, 0.3), name="spring"))
    cart = world.add(lw.LagrangianBody(lambda u: ((u[0], 0, 0), (u[0] + lw.sin(u[1]), 0, -lw.cos(u[1]))), (2.0, 1.0),
                                       coordinates=(0, 0.5), name="cart"))  # fmt: skip
    world.add(lw.Constraint(cart, lambda b, t: b.position[0] - 0.1 * t**2, name="lead"))
    return world


def test_constraints_joints_and_forces_take_hold_of_its_points():
    sim = lw.Simulation(pieces(), 1e-3)
    start = sim.energy()
    pin, back = sim.reaction("pin"), sim.reaction("pin", "beam")
    np.testing.assert_allclose(pin.force, -back.force, atol=1e-12)
    np.testing.assert_allclose(back.at, (4, 0, 0), atol=1e-12)
    sim.step(500)
    assert sim.drift() < 1e-10 and sim.drift(velocity=True) < 1e-9
    energy = sim.energy()
    assert abs(energy.total - energy.work - start.total) < 1e-4 and abs(energy.work) > 1e-3
    np.testing.assert_allclose(sim.point("beam", (1, 0, 0)), sim.point("box", (0, 0, 0.3)), atol=1e-10)
    np.testing.assert_allclose(sim.coordinates("cart")[0], 0.1 * sim.time**2, atol=1e-10)


def test_copies_go_on_with_the_same_bits():
    sim = lw.Simulation(pieces(), 1e-3)
    sim.step(20)
    twins = copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))
    for each in (sim, *twins):
        each.step(20)
        np.testing.assert_array_equal(each.state.values, sim.state.values)
    recording = sim.run(0.02, record_every=0.01)
    np.testing.assert_array_equal(recording.to_xarray().position.sel(body="cart")[-1], sim.position("cart"))


def test_implicit_steps_need_no_third_derivatives():
    """Of this function the third one is infinite where it starts."""
    world = lw.World(gravity=(1, 0, 0))
    world.add(lw.LagrangianBody(lambda u: ((u[0], 0, u[0] ** 2.5),), (1.0,), coordinates=(0,), name="bead"))
    for tangent in ("symmetric", "exact"):
        sim = lw.Simulation(world, 1e-3, solver="implicit", tangent=tangent)
        sim.step(100)
        assert abs(sim.coordinates("bead")[0] - 0.5 * sim.time**2) < 2e-4


def test_it_can_be_built_on_and_grabbed_while_it_moves():
    world = as_one_body()
    bead = world.add(lw.Particle(0.2, position=(1, 0, 0), name="bead"))
    world.add(lw.PointOnCurve(world.ground, bead, lambda s: (lw.cos(s), lw.sin(s), 0.2 * s), start=0.1, name="helix"))
    sim = lw.Simulation(world)
    arms = world.find("arms")
    sim.step(300)
    elbow, u, s = sim.point(arms, arms.point(0)), sim.coordinates(arms), sim.unknowns("helix")
    sim.add(lw.RigidBody(0.1, (0.01, 0.01, 0.01), position=elbow + np.array([0, 0.1, 0]), name="box"))
    sim.add(lw.Ball(arms, "box", at=elbow, name="pin"))
    assert sim.drift() < 1e-9
    np.testing.assert_array_equal(sim.coordinates(arms), u)
    np.testing.assert_array_equal(sim.unknowns("helix"), s)
    with sim.grab(arms, sim.point(arms, arms.point(1))) as hand:
        hand.to(sim.point(arms, arms.point(1)))
        sim.step(50)
    assert sim.drift() < 1e-9
    with pytest.raises(lw.LinkworkError, match='LagrangianBody "arms": nothing of it is at'):
        sim.grab(arms, (5, 5, 5))


def test_an_impulse_on_one_of_its_particles():
    sim = lw.Simulation(as_one_body())
    arms = sim.model.bodies.elements[0]
    before, J = sim.rates(arms), sim.jacobian(arms, arms.point(1))
    sim.strike(arms, (0.3, 0, 0.1), at=arms.point(1))
    M = sum(m * sim.jacobian(arms, arms.point(k)).T @ sim.jacobian(arms, arms.point(k)) for k, m in enumerate(MASSES))
    np.testing.assert_allclose(M @ (sim.rates(arms) - before), J.T @ (0.3, 0, 0.1), atol=1e-12)


def test_an_anchor_in_the_world_finds_the_place():
    world = lw.World()
    ball = world.add(lw.squashing_ball(0.5, squash=0.7, position=(1, 2, 3), name="ball"))
    arms = world.add(lw.double_pendulum(angles=(0.5, 0.5), name="arms"))
    world.add(lw.Ball(world.ground, ball, at=(1.2, 2.1, 2.9), name="nail"))
    world.add(lw.Distance(arms, world.ground, on_a=arms.point(1), on_b=(0, 0, 1), name="rod"))
    sim = lw.Simulation(world)
    assert sim.drift() < 1e-12
    np.testing.assert_allclose(sim.reaction("nail").at, (1.2, 2.1, 2.9), atol=1e-9)


def one(function, coordinates=(0.0,), **options):
    world = lw.World()
    world.add(lw.LagrangianBody(function, options.pop("masses", (1.0,)), coordinates=coordinates, name="thing", **options))
    return lw.Simulation(world)


gone = lw.Parameter(0.0, name="gone")
REFUSED = [
    (lambda: one(lambda u: ((u[0], 0, 0),), (0, 1)), 'LagrangianBody "thing": dq/du has lost rank at u = (0, 1): going along (0, 1) moves no mass; start it elsewhere, take away coordinates, or give mass to what they move'),
    (lambda: one(lambda u: ((u[0] + u[1], 0, 0),), (0, 1)), 'going along (-1, 1) moves no mass'),
    (lambda: one(lambda u: ((u[0] - 2 * u[0], 0, 0), (u[1], 0, 0)), (0, 1), masses=(1, 0)), 'going along (0, 1) moves no mass'),
    (lambda: one(lambda u: ((lw.sqrt(u), 0, 0),), (-1,)), 'LagrangianBody "thing": its function, or the derivative, is not finite at u = (-1); start it elsewhere, or write its function so that it is finite there'),
    (lambda: one(lambda u: ((lw.sqrt(u), 0, 0),), (0,)), 'is not finite at u = (0)'),
    (lambda: one(lambda u: u[0]), 'LagrangianBody "thing": its function gives 1 numbers where 3 are needed'),
    (lambda: one(lambda u: ((u[0], 0, 0), (0, 0, 0))), 'LagrangianBody "thing": its function gives 6 numbers where 3 are needed'),
    (lambda: one(lambda u: (u[0], float("nan"), 0)), 'LagrangianBody "thing": its function gives (SX(u), nan, 0); give finite expressions, with lw.sin and the like for math.sin'),
    (lambda: one(lambda u: (u[1], 0, 0)), 'its function asks for u[1], and u has 1 entry; give an index from 0 to 0'),
    (lambda: one(lambda u: (gone * u, 0, 0)), 'LagrangianBody "thing": dq/du has lost rank at u = (0): going along (1) moves no mass'),
    (lambda: one(lambda u: (u if u > 0 else 0, 0, 0)), 'its function branches on an expression with a Python if; use lw.where(condition, a, b)'),
    (lambda: one(lambda u, p: (u, 0, 0)), 'LagrangianBody "thing": function cannot be called with (u); write it as lambda u: ...'),
    (lambda: one(lambda u: (u, 0, 0), masses=(-1,)), 'LagrangianBody "thing": masses are (-1); give numbers of at least 0, some of them greater'),
    (lambda: one(lambda u: (u, 0, 0), masses=(0,)), 'masses are (0)'),
    (lambda: one(lambda u: (u, 0, 0), masses=None), 'LagrangianBody "thing": masses are missing; give masses= in kg, or density= with volumes='),
    (lambda: one(lambda u: (u, 0, 0), volumes=(1,)), 'LagrangianBody "thing": the masses are not given in one way; give masses=, or density= with volumes='),
    (lambda: one(lambda u: (u, 0, 0), rates=(1, 2)), 'LagrangianBody "thing": rates has 2 numbers; give 1 of them'),
    (lambda: one(lambda u: (u, 0, 0), damping=-1), 'LagrangianBody "thing": damping is (-1); give numbers of at least 0'),
    (lambda: one(lambda u: (u, 0, 0), energy=lambda u: (u, u)), 'its function gives 2 numbers where 1 are needed'),
    (lambda: one(lambda u: (u, 0, 0), None), 'LagrangianBody "thing": coordinates are missing; give coordinates=, the numbers u as built'),
]  # fmt: skip


@pytest.mark.parametrize("make, text", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_a_body_is_named(make, text):
    with pytest.raises(lw.LinkworkError) as error:
        make()
    assert text in str(error.value)


def with_bead(element):
    world = lw.World()
    world.add(lw.bead_on_wire(lambda s: (s, 0, s**2), at=1.0, name="bead"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1, 0, 1), name="box"))
    world.add(element)
    return lw.Simulation(world)


MISUSED = [
    (lambda: lw.Hinge("box", "bead", at=(1, 0, 1), axis=(0, 1, 0), name="axle"), 'Hinge "axle": LagrangianBody "bead" has no directions, and Hinge needs them; use a RigidBody, or a constraint of points such as Ball or Distance'),
    (lambda: lw.Ball("box", "bead", at=(5, 0, 1), name="pin"), 'Ball "pin": no particle of LagrangianBody "bead" is there; name one by its point(k), k from 0 to 0'),
    (lambda: lw.Distance("box", "bead", on_a=(0, 1, 0), on_b=(1, 0, 0), name="rod"), 'Distance "rod": LagrangianBody "bead" has no point (1, 0, 0); name one by its point(k), k from 0 to 0'),
    (lambda: lw.Constraint("bead", lambda b, t: b.point((0.5, 0, 0))[0], name="c"), 'Constraint "c": LagrangianBody "bead" has no point (0.5, 0, 0); name one by its point(k), k from 0 to 0'),
    (lambda: lw.Constraint("bead", lambda b, t: b.position[1] - 1, name="c"), 'Constraint "c": row 1 is off by -1 out of the plane that its bodies live in; move its anchor or axis into the plane'),
]  # fmt: skip


@pytest.mark.parametrize("make, text", MISUSED, ids=range(len(MISUSED)))
def test_what_cannot_take_hold_of_it_is_named(make, text):
    with pytest.raises(lw.LinkworkError) as error:
        with_bead(make())
    assert str(error.value) == text


def test_questions_that_it_cannot_answer():
    sim = with_bead(lw.Wrench("box", force=(0, 0, 1)))
    for ask, text in [
        (
            lambda: sim.coordinates("box"),
            'RigidBody "box": it has no coordinates of its own; ask for its position and orientation',
        ),
        (
            lambda: sim.point("bead", (1, 0, 0)),
            'LagrangianBody "bead": it has no point (1, 0, 0); name one by its point(k), k from 0 to 0',
        ),
        (
            lambda: sim.model.bodies.elements[0].point(1),
            'LagrangianBody "bead": it has no particle 1; give a number from 0 to 0',
        ),
    ]:
        with pytest.raises(lw.LinkworkError) as error:
            ask()
        assert str(error.value) == text


def test_joint_coordinates_refuse_it():
    world = lw.World()
    world.add(lw.bead_on_wire(lambda s: (s, 0, s**2), at=1.0, name="bead"))
    with pytest.raises(lw.LinkworkError, match='LagrangianBody "bead": joint coordinates are those of rigid bodies'):
        lw.Simulation(world, solver="aba")


def test_a_function_that_has_no_value_on_the_way_is_named():
    sim = one(lambda u: ((u, 0, lw.sqrt(1.02 - u)),), (0.5,), rates=(3.0,))
    with pytest.raises(
        lw.DivergenceError,
        match=r'since LagrangianBody "thing" gives -?(nan|inf) at 0\.\d+ s; write its function so that it is finite there',
    ):
        sim.step(1000)


def test_loss_of_rank_on_the_way_is_named():
    """A cusp, where u moves nothing; and a pole, which steps in parts pass by."""
    sim = one(lambda u: ((u**3, 0, u**2),), (0.5,))
    with pytest.raises(
        lw.DivergenceError,
        match=r'LagrangianBody "thing": dq/du loses rank near u = \(0\.\d+\), where it came in step \d+ at 0\.\d+ s; keep it away from there, or describe it by other coordinates',
    ):
        sim.step(1000)
    sphere = one(
        lambda u: ((lw.sin(u[0]) * lw.cos(u[1]), lw.sin(u[0]) * lw.sin(u[1]), -lw.cos(u[0])),), (0.5, 0), rates=(0, 1e-3)
    )
    start = sphere.energy().total
    sphere.step(1000)
    assert abs(sphere.energy().total - start) < 0.01


def swing(length, stiffness, **options):
    """A pendulum of a length, its bob on a torsion spring; and a mark halfway along the rod."""
    world = lw.World(gravity=(0, 0, -10))
    arm = lw.LagrangianBody(lambda u: ((length * lw.sin(u), 0, -length * lw.cos(u)), (length / 2 * lw.sin(u), 0, -length / 2 * lw.cos(u))),
                            (2.0, 0.0), coordinates=(0.5,), rates=(0.3,), energy=lambda u: stiffness * u**2 / 2, name="arm")  # fmt: skip
    world.add(arm)
    return world, lw.Simulation(world, 1e-3, **options)


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4"}, {"solver": "implicit"}])
def test_a_parameter_of_its_function_changes_while_running(options):
    """From then on it moves as one that was built with the new numbers, from the same u and u'."""
    length, stiffness = lw.Parameter(1.0, name="length"), lw.Parameter(3.0, name="stiffness")
    _, sim = swing(length, stiffness, **options)
    table = sim.schedules.table
    sim.step(100)
    u, rate = sim.coordinates("arm").copy(), sim.rates("arm").copy()
    sim.set(length, 1.5)
    sim.set("stiffness", 0.5)
    assert np.array_equal(sim.coordinates("arm"), u) and np.array_equal(sim.rates("arm"), rate)
    np.testing.assert_allclose(sim.position("arm"), 1.5 * np.array([np.sin(u[0]), 0, -np.cos(u[0])]), atol=1e-14)
    np.testing.assert_allclose(sim.velocity("arm"), 1.5 * rate[0] * np.array([np.cos(u[0]), 0, np.sin(u[0])]), atol=1e-14)
    np.testing.assert_allclose(
        sim.jacobian("arm", (1, 0, 0))[:, 0], 0.75 * np.array([np.cos(u[0]), 0, np.sin(u[0])]), atol=1e-14
    )
    energy = 2.0 * (1.5 * rate[0]) ** 2 / 2 - 2.0 * 10 * 1.5 * np.cos(u[0]) + 0.5 * u[0] ** 2 / 2
    assert sim.energy().total == pytest.approx(energy, abs=1e-12)
    _, other = swing(1.5, 0.5, **options)
    state = other.state
    state.values[:] = sim.state.values
    other.state = state
    for each in (sim, other):
        each.step(200)
    np.testing.assert_allclose(sim.coordinates("arm"), other.coordinates("arm"), atol=1e-13)
    assert np.array_equal(sim.schedules.table[: len(table)], table)
    assert sim.get(length) == 1.5 and length.value == 1.0


def test_parameters_go_with_edits_copies_reports_and_recordings():
    length, stiffness = lw.Parameter(1.0, name="length"), lw.Parameter(3.0, name="stiffness")
    world, sim = swing(length, stiffness)
    start = sim.state
    before = sim.run(0.1, record_every=0.05)
    rec = sim.run(0.1, record_every=0.05, control=lambda sim: sim.set("length", 1.0 + sim.time))
    for k, t in enumerate(rec.time):  # each frame with the length of its time
        assert np.linalg.norm(rec.position[k, 0]) == pytest.approx(1.0 + t if k else 1.0, abs=2e-3)
    np.testing.assert_allclose(np.linalg.norm(before.position[:, 0], axis=1), 1.0, atol=1e-12)
    sim.set("length", 1.25)
    world.add(lw.Collider("arm", lw.Sphere(0.1), position=(1, 0, 0), name="mark"))
    world.add(lw.Contact())
    rope = sim.add(lw.Rope(world.ground, "arm", on_b=(1, 0, 0), on_a=(0, 0, 1), name="cord"))
    assert rope.length == pytest.approx(np.linalg.norm(sim.point("arm", (1, 0, 0)) - (0, 0, 1)), abs=1e-12)
    assert np.linalg.norm(sim.position("arm")) == pytest.approx(1.25, abs=1e-12)  # the world has changed, the number stays
    for twin in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        twin.step(50)
        assert twin.get("length") == 1.25 and np.linalg.norm(twin.position("arm")) == pytest.approx(1.25, abs=1e-12)
    assert lw.check(world.find("arm")).ok
    with pytest.raises(lw.LinkworkError, match='Parameter "length": value is nan'):
        sim.set("length", float("nan"))
    fresh = lw.Simulation(world)
    assert fresh.get("length") == 1.0 and len(start.values) == len(fresh.state.values)


def test_a_parameter_that_takes_the_mass_away_is_named():
    length = lw.Parameter(1.0, name="length")
    _, sim = swing(length, 3.0)
    sim.step(10)
    sim.set("length", 0.0)
    with pytest.raises(lw.DivergenceError, match='LagrangianBody "arm"'):
        sim.step(10)
