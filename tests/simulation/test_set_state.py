"""Everything set at once: what comes back is what was set, what is off the constraints is refused whole or projected."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.solvers import SOLVERS
from tests.reduced.forests import random_state, random_world
from tests.solvers.forests import forest


def quietly(make, *given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return make(*given, **options)


def motion(sim):
    return [np.array(x) for x in (sim.positions, sim.orientations, sim.velocities)]


def assert_same_motion(found, expected, atol=1e-12):
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        sign = np.where(np.sum(a * b, axis=1, keepdims=True) < 0, -1.0, 1.0) if k == 1 else 1.0
        np.testing.assert_allclose(a * sign, b, rtol=0, atol=atol)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("solver", SOLVERS)
def test_coordinates_and_bodies_say_the_same(solver, seed):
    world = random_world(seed, n=5)
    tree = lw.reduced.compile(world)
    q, qd, _ = random_state(tree, seed)
    first, second = (quietly(lw.Simulation, world, solver=solver) for _ in range(2))
    first.set_state(q=q, qd=qd)
    assert first.drift() < 1e-12 and first.drift(velocity=True) < 1e-12
    there = lw.reduced.to_bodies(tree, q, qd)
    assert_same_motion(motion(first), there)
    second.set_state(positions=there.position, orientations=there.orientation, velocities=there.velocity)
    assert_same_motion(motion(second), there)
    np.testing.assert_allclose(second.qd, qd, rtol=0, atol=1e-12)
    first.step(3)
    second.step(3)
    assert_same_motion(motion(first), motion(second), 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_bodies_of_all_kinds_come_back(seed):
    sim = quietly(lw.Simulation, forest(seed))
    sim.step(4)
    q, qd, before = np.array(sim.q), np.array(sim.qd), motion(sim)
    sim.step(4)
    sim.set_state(q=q, qd=qd)
    np.testing.assert_allclose(sim.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sim.qd, qd, rtol=0, atol=1e-10)
    assert_same_motion(motion(sim), before, 1e-9)


def test_an_affine_body_turns_as_a_whole():
    world = lw.World(gravity=(0, 0, 0))
    F = np.array([[1.1, 0.1, 0], [0, 0.9, 0.2], [0, 0, 1.0]])
    world.add(lw.AffineBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), deformation=F, stiffness=5.0, name="jelly"))
    sim = lw.Simulation(world)
    turn = np.array([[np.cos(0.4), 0, 0, np.sin(0.4)]])
    sim.set_state(positions=[[1, 2, 3]], orientations=turn, velocities=[[4, 5, 6, 0.1, 0.2, 0.3]])
    assert_same_motion(motion(sim), ([[1, 2, 3]], turn, [[4, 5, 6, 0.1, 0.2, 0.3]]))
    np.testing.assert_allclose(np.linalg.svd(sim.frame("jelly"))[1], np.linalg.svd(F)[1], atol=1e-12)


def test_what_is_left_out_stays():
    sim = lw.Simulation(lw.scenes.get("double-pendulum"))
    sim.step(50)
    q, qd, time = np.array(sim.q), np.array(sim.qd), sim.time
    sim.set_state(q=q + 0.1)
    np.testing.assert_allclose(sim.qd, qd, rtol=0, atol=1e-12)
    sim.set_state(qd=2 * qd)
    np.testing.assert_allclose(sim.q, q + 0.1, rtol=0, atol=1e-12)
    assert (sim.time, sim.steps) == (time, 50)
    sim.set_state()
    np.testing.assert_allclose(sim.qd, 2 * qd, rtol=0, atol=1e-12)


def test_turns_are_those_of_q_and_else_the_nearest():
    sim = lw.Simulation(lw.scenes.get("pendulum"))
    sim.set_state(q=[9.0])
    assert sim.angle("pivot") == pytest.approx(9.0, abs=1e-12)
    there = motion(sim)
    sim.set_state(q=[8.0])
    sim.set_state(positions=there[0], orientations=there[1], velocities=there[2])
    assert sim.angle("pivot") == pytest.approx(9.0, abs=1e-12)


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4"])
def test_what_is_off_is_refused_and_nothing_changes(integrator):
    sim = lw.Simulation(lw.scenes.get("double-pendulum"), integrator=integrator)
    sim.step(10)
    first, second = (joint.name for joint in sim.world.constraints)
    before, seen = sim.state, motion(sim)
    off = seen[0] + np.array([[0, 0, 0], [0, 0, 0.2]])
    with pytest.raises(
        lw.LinkworkError, match=f'Hinge "{second}": it is off by 0.2 in the state that was given; .*project=True'
    ):
        sim.set_state(positions=off)
    velocities = seen[2] + np.array([[0.3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
    with pytest.raises(lw.LinkworkError, match=f'Hinge "({first}|{second})": velocities are off by 0.3 in the state'):
        sim.set_state(velocities=velocities)
    assert sim.state.values.tobytes() == before.values.tobytes() and sim.time == before.time
    assert_same_motion(motion(sim), seen, 0.0)


def test_what_is_off_is_projected_by_the_least_displacement():
    world = lw.World(gravity=(0, 0, 0))
    bead = world.add(lw.Particle(1.0, position=(1, 0, 0), name="bead"))
    world.add(lw.Distance(world.ground, bead, name="rod"))
    sim = lw.Simulation(world)
    sim.set_state(positions=[[0, 0, 3.0]], velocities=[[1, 0, 2, 0, 0, 0]], project=True)
    np.testing.assert_allclose(sim.positions, [[0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(sim.velocities[:, :3], [[1, 0, 0]], atol=1e-12)


def test_loops_are_closed_where_asked():
    sim = lw.Simulation(lw.scenes.get("slider-crank"))
    q = np.array(sim.q)
    q[0] += 0.3
    with pytest.raises(lw.LinkworkError, match="it is off by"):
        sim.set_state(q=q)
    sim.set_state(q=q, project=True)
    assert sim.drift() < 1e-9 and abs(sim.q[0] - q[0]) < 0.3
    sim.step(10)


def test_a_changed_parameter_counts_where_states_are_projected():
    world = lw.World(gravity=(0, 0, 0))
    bead = world.add(lw.Particle(1.0, position=(1, 0, 0), name="bead"))
    pull = lw.Parameter(1.0, name="reach")
    world.add(lw.Constraint(bead, lambda b, t: b.position[0] - pull, name="wall"))
    sim = lw.Simulation(world)
    sim.set("reach", 2.0)
    with pytest.raises(lw.LinkworkError, match='Constraint "wall": it is off by 1'):
        sim.set_state(velocities=np.zeros((1, 6)))
    sim.set_state(velocities=np.zeros((1, 6)), project=True)
    np.testing.assert_allclose(sim.position("bead"), [2, 0, 0], atol=1e-12)


@pytest.mark.parametrize("given,told", [
    ({"q": [0.1]}, r"q has the shape \(1,\); give \(2,\), as sim.q has it"),
    ({"q": ["x", 1]}, r"q is .*; give an array of the shape \(2,\)"),
    ({"qd": [0.1, np.nan]}, r"qd\[1\] is nan \(.*: angle, rad/s\); give finite numbers"),
    ({"positions": np.zeros((3, 3))}, r"positions has the shape \(3, 3\); give \(2, 3\), as sim.positions has it"),
    ({"velocities": np.full((2, 6), np.inf)}, r'velocities\[0, 0\] is inf \(RigidBody ".*"\); give finite numbers'),
    ({"orientations": np.zeros((2, 4))}, r'orientations of RigidBody "upper" \(0, 0, 0, 0\) has length 0; give a unit quaternion'),
    ({"q": [0, 0], "positions": np.zeros((2, 3))}, "both q and positions are given; set joints or bodies, not both"),
    ({"q": [0, 0], "project": 1}, "project is 1"),
])  # fmt: skip
def test_bad_states_are_refused(given, told):
    sim = lw.Simulation(lw.scenes.get("double-pendulum"))
    before = sim.state
    with pytest.raises(lw.LinkworkError, match=told):
        sim.set_state(**given)
    assert sim.state.values.tobytes() == before.values.tobytes()


def test_a_body_is_not_put_where_its_kind_cannot_be():
    world = lw.World()
    world.add(lw.PlanarBody(1.0, 0.1, name="plate"))
    world.add(lw.double_pendulum(name="arms"))
    sim = lw.Simulation(world)
    positions = np.array(sim.positions)
    positions[0, 1] = 0.2
    with pytest.raises(lw.LinkworkError, match=r'PlanarBody "plate": positions\[0\] is \(0, 0.2, 0\), 0.2 away from'):
        sim.set_state(positions=positions)
    positions = np.array(sim.positions)
    positions[1] += 0.1
    with pytest.raises(lw.LinkworkError, match='"arms": .*set its coordinates by q'):
        sim.set_state(positions=positions)
    where = sim._query.reads().coordinates.at["arms"][0]
    q = np.array(sim.q)
    q[where] = (0.3, 0.4)
    sim.set_state(q=q)
    assert sim.coordinates("arms").tolist() == [0.3, 0.4]


# -- commands ----------------------------------------------------------------------------------------------------------


def commanded():
    world = lw.World()
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="pivot"))
    box = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 2, 0), name="box"))
    world.add(lw.Motor("pivot", name="torque"))
    world.add(lw.Motor("pivot", kind="position", kp=2.0, kd=0.1, name="servo"))
    world.add(lw.Follow(box, stiffness=5.0, damping=0.3, angular_stiffness=1.0, angular_damping=0.1, name="hand"))
    return world


def test_all_commands_are_set_at_once():
    sims = [lw.Simulation(commanded()) for _ in range(2)]
    u = np.array([0.5, 0.3, 0.1, 2.0, 0.2, 1.0 + 1e-9, 0.0, 0.0, 0.0])
    sims[0].control.commands = u
    for name, value in (("torque", 0.5), ("servo", 0.3), ("hand", ((0.1, 2.0, 0.2), (1, 0, 0, 0)))):
        sims[1].control[name] = value
    assert np.array_equal(sims[0].control.commands, sims[1].control.commands)  # the quaternion is a unit one
    assert [str(name) for name in sims[0].control.command_names] == [
        "torque: torque, N m", "servo: position, rad", *(f"hand: position {c}, m" for c in "xyz"),
        *(f"hand: quaternion {c}, 1" for c in "wxyz")]  # fmt: skip
    for sim in sims:
        sim.step(20)
    assert sims[0].state.values.tobytes() == sims[1].state.values.tobytes()


@pytest.mark.parametrize("given,told", [
    ([1.0], r"commands have the shape \(1,\); give \(9,\)"),
    ([*[0.0] * 5, 1.0, 0.0, 0.0, np.nan], 'the command "hand: quaternion z, 1" is nan; give finite numbers'),
    ([np.inf, -np.inf, *[1.0] * 7], 'the command "torque: torque, N m" is inf; give finite numbers'),
    ("fast", "commands are .*; give 9 numbers"),
    ([0.0] * 9, 'commands of "hand"'),
])  # fmt: skip
def test_bad_commands_are_refused(given, told):
    sim = lw.Simulation(commanded())
    before = sim.control.commands
    with pytest.raises(lw.LinkworkError, match=told):
        sim.control.commands = given
    assert np.array_equal(sim.control.commands, before)


def test_commands_follow_the_world():
    sim = lw.Simulation(commanded())
    control = sim.control
    sim.world.remove("servo")
    control.commands = np.array([0.7, *[1.0] * 4, *[0.0] * 3])
    assert control.commands[0] == sim.control["torque"] == 0.7
