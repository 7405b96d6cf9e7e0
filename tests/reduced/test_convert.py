"""Joint coordinates to maximal ones and back; against a simulation."""

import numpy as np
import pytest

import linkwork as lw

from .forests import KINDS, random_state, random_world

R = lw.reduced


@pytest.mark.parametrize("seed", range(6))
def test_there_and_back(seed):
    tree = R.compile(random_world(seed, n=12))
    q, qd, _ = random_state(tree, seed, 5)
    back = R.from_bodies(tree, *R.to_bodies(tree, q, qd))
    assert np.allclose(R.difference(tree, q, back.q), 0, atol=1e-12)  # a quaternion may have the other sign
    assert np.allclose(back.qd, qd, atol=1e-12)
    alone = R.from_bodies(tree, *R.to_bodies(tree, q[3], qd[3]))
    assert np.array_equal(alone.q, back.q[3]) and np.array_equal(alone.qd, back.qd[3])


@pytest.mark.parametrize("kind", KINDS)
def test_a_simulation_in_joint_coordinates(kind):
    world = random_world(2, n=4, kinds=(kind,), floating=1)
    sim, tree = lw.Simulation(world, dt=1e-3), R.compile(world)
    sim.step(50)
    names = [body.name for body in world.bodies]
    place, turn = np.array([sim.position(n) for n in names]), np.array([sim.orientation(n) for n in names])
    speed = np.array([[*sim.velocity(n), *sim.angular_velocity(n)] for n in names])
    q, qd = R.from_bodies(tree, place, turn, speed)
    there = R.to_bodies(tree, q, qd)
    assert np.allclose(there.position, place, atol=1e-9) and np.allclose(there.velocity, speed, atol=1e-7)
    assert np.allclose(np.abs(np.sum(there.orientation * turn, axis=1)), 1, atol=1e-12)
    for joint in world.constraints:
        if joint.has_coordinate:
            assert np.isclose(q[tree.coordinates(joint)][0], sim.angle(joint), atol=1e-9)
            assert np.isclose(qd[tree.velocities(joint)][0], sim.rate(joint), atol=1e-7)


def test_a_screw_counts_its_turns():
    world = lw.World()
    nut = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1)))
    world.add(lw.Screw(world.ground, nut, at=(0, 0, 0), axis=(0, 0, 1), pitch=0.01))
    tree = R.compile(world)
    assert np.isclose(R.from_bodies(tree, *R.to_bodies(tree, [20.0])).q[0], 20.0)


def test_bodies_of_another_count():
    tree = R.compile(random_world(1))
    with pytest.raises(
        lw.ElementError, match=r"^position has the shape \(2, 3\); give \(9, 3\), or that with the states in front$"
    ):
        R.from_bodies(tree, np.zeros((2, 3)), np.zeros((2, 4)))
