"""Limbs of implicit steps in use: the same motion as body after joint, multipliers found apart, turns shared with the joint."""

import numpy as np
import pytest

import linkwork as lw
from benchmarks.hand import skeleton
from tests.implicit import worlds
from tests.implicit.systems import multipliers, simulation, solved, start_step


@pytest.mark.parametrize("seed", [0, 3, 4, 9])
def test_single_iterations_find_multipliers_when_asked(seed):
    sim = simulation(worlds.limbed(seed), dt=1e-3, iterations=1)  # too short a step for a second solve
    start_step(sim)
    wanted = solved(sim, "begin")[-sim.model.rows :]
    sim.step(1)
    sim.integrator.complete_impulses(sim.work)
    np.testing.assert_allclose(np.concatenate(multipliers(sim)), wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


@pytest.mark.parametrize("iterations", [1, None])
def test_the_hand_moves_as_without_limbs(iterations):
    options = {} if iterations is None else {"iterations": iterations}
    sims = [simulation(skeleton(), dt=0.01, limbs=limbs, **options) for limbs in (True, False)]
    assert [len(sim.model.joint_pivot_of) for sim in sims] == [15, 0]
    for sim in sims:
        sim.step(20)
    for bone in sims[0].world.bodies:
        np.testing.assert_allclose(sims[0].position(bone), sims[1].position(bone), rtol=0, atol=1e-9)
        np.testing.assert_allclose(sims[0].angular_velocity(bone), sims[1].angular_velocity(bone), rtol=0, atol=1e-6)


@pytest.mark.parametrize("iterations", [1, 0])
def test_springs_and_motors_take_the_turns_of_their_joint(iterations):
    """A wheel on a wheel is wound up by three turns: springs know how far, as they do where nothing is shared."""
    found = []
    for limbs in (True, False):
        world = lw.World(gravity=(0, 0, 0))
        a, b = (world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name=name)) for name in "ab")
        world.add(lw.Ball(world.ground, a, at=(0, 0, 0)))
        axle = world.add(lw.Hinge(a, b, at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
        world.add([lw.JointSpring(axle, 0.01, name="spring"), lw.JointLimit(axle, -1.0, 15.0, stiffness=0.1)])
        world.add(lw.Motor(axle, "position", kp=2.0, kd=1.0, name="drive"))
        sim = simulation(world, dt=0.02, limbs=limbs, **({"iterations": 1} if iterations else {}))
        for k in range(300):
            sim.control["drive"] = min(6 * np.pi, 0.1 * k)
            sim.step()
        found.append((sim.angle("axle"), sim.energy().potential))
    assert found[0][0] > 5.9 * np.pi
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
    np.testing.assert_allclose(found[0][1], 0.005 * found[0][0] ** 2 + 0.05 * (found[0][0] - 15.0) ** 2, rtol=1e-9)
