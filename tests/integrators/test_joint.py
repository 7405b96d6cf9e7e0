"""Steps in joint coordinates: the same motion as in maximal ones, at the order of the scheme, without drift."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw
from tests.reduced.forests import random_world

SECONDS = 0.128


def mixed():
    """All joints, floating bodies, springs, a motor and drag."""
    world = random_world(11, n=12)
    a, b = world.bodies[1], world.bodies[7]
    hinge = next(c for c in world.constraints if isinstance(c, lw.Hinge))
    world.add(lw.Spring(a, b, 30.0, rest=0.5, damping=0.3))
    world.add(lw.Motor(hinge, kind="velocity", kd=0.3, name="drive"))
    world.add(lw.Drag(b, 0.2))
    ball = next(c for c in world.constraints if isinstance(c, lw.Ball))
    world.add(lw.JointSpring(ball, 3.0, damping=0.1))
    world.add(lw.Wrench(a, force=lambda t: (lw.sin(20 * t), 0, 1), torque=(0.1, 0, 0)))
    return world


def ran(solver, integrator, dt, seconds=SECONDS, **options):
    sim = lw.Simulation(mixed(), dt=dt, solver=solver, integrator=integrator, **options)
    sim.control["drive"] = 1.0
    sim.step(round(seconds / dt))
    return sim


def places(sim):
    return np.array([[*sim.position(b), *sim.velocity(b), *sim.angular_velocity(b)] for b in sim.world.bodies])


@pytest.fixture(scope="module")
def reference():
    return places(ran("tree", "dopri5", 1e-3, tolerance=1e-13))


@pytest.mark.parametrize("integrator, order, dt", [("joint-rk4", 4, 4e-3), ("joint-euler", 1, 1e-3)])
@pytest.mark.parametrize("solver", ["aba", "ltdl", "tree"])
def test_the_motion_is_that_of_maximal_coordinates(reference, solver, integrator, order, dt):
    errors = [np.abs(places(ran(solver, integrator, step)) - reference).max() for step in (dt, dt / 2)]
    assert errors[1] < (1e-4 if order == 4 else 0.1)
    assert np.log2(errors[0] / errors[1]) > order - 0.4


def test_accelerations_of_tree_are_those_of_aba():
    """baraff96 section 2.2: joint coordinates integrated with the accelerations of maximal ones."""
    first, second = (places(ran(solver, "joint-rk4", 2e-3)) for solver in ("aba", "tree"))
    assert np.allclose(first, second, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("integrator", ["joint-rk4", "joint-euler", "joint-implicit"])
@pytest.mark.filterwarnings("ignore:Drag")
def test_accelerations_by_the_inertia_matrix_are_those_of_aba(integrator):
    first, second = (places(ran(solver, integrator, 2e-3)) for solver in ("aba", "ltdl"))
    assert np.allclose(first, second, rtol=1e-11, atol=1e-12)


def test_nothing_drifts():
    sim = ran("aba", "joint-euler", 2e-3, seconds=4.0)
    assert sim.drift() < 1e-12 and sim.drift(velocity=True) < 1e-11


def test_a_pendulum_keeps_its_energy_over_many_swings():
    sim = lw.Simulation(lw.scenes.get("double-pendulum"), dt=1e-3, solver="aba")
    before = sim.energy().total
    sim.run(10.0, record_every=None)
    assert np.isclose(sim.energy().total, before, atol=1e-5)


def test_reactions_and_accelerations_are_reported():
    joint, tree = (lw.Simulation(mixed(), solver=solver) for solver in ("aba", "tree"))
    for c in joint.world.constraints:
        assert np.allclose(joint.reaction(c).force, tree.reaction(c.name).force, rtol=1e-9, atol=1e-9)
    with pytest.raises(lw.LinkworkError, match="keeps no impulses"):
        joint.impulse(joint.world.constraints[0])


@pytest.mark.parametrize("integrator", ["joint-rk4", "joint-euler", "joint-implicit"])
@pytest.mark.parametrize("solver", ["aba", "ltdl"])
@pytest.mark.filterwarnings("ignore:Drag")
def test_the_same_bits_again(solver, integrator):
    sim = ran(solver, integrator, 2e-3)
    start, twin, other = sim.state.copy(), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))
    sim.step(10)
    for again in (twin, other):
        for _ in range(10):
            again.step()
        assert again.state.values.tobytes() == sim.state.values.tobytes()
    end = sim.state.copy()
    sim.state = start
    sim.step(10)
    assert sim.state.values.tobytes() == end.values.tobytes()


@pytest.mark.parametrize("solver", ["aba", "tree"])
def test_turns_are_counted(solver):
    world = lw.World(gravity=(0, 0, 0))
    wheel = world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2), angular_velocity=(0, 0, 30)))
    axle = world.add(lw.Hinge(world.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    sim = lw.Simulation(world, solver=solver, integrator="joint-rk4")
    sim.step(1000)
    assert np.isclose(sim.angle(axle), 30.0)


def test_what_has_no_joint_coordinate_is_refused_by_name():
    world = lw.World()
    for k in range(2):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(k, 0, 0)))
    world.add(lw.Distance(*world.bodies, name="rope"))
    with pytest.raises(lw.ModelError, match='Distance "rope": it has no joint coordinate'):
        lw.Simulation(world, solver="aba")
    world = lw.World()
    nut = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1)))
    world.add(lw.Screw(world.ground, nut, at=(0, 0, 0), axis=(0, 0, 1), pitch=lw.Parameter(0.01), name="thread"))
    with pytest.raises(lw.ModelError, match='^Screw "thread": its pitch is a Parameter'):
        lw.Simulation(world, solver="aba")
