"""Joint coordinates against maximal ones: the same accelerations."""

import numpy as np
import pytest

import linkwork as lw

from .forests import KINDS, random_state, random_world, rebuilt

R = lw.reduced


def accelerations(tree, q, qd, qdd):
    """Of every body (bodies, 6)."""
    return np.array([R.jacobian(tree, q, b) @ qdd + R.jacobian_rate(tree, q, qd, b) @ qd for b in tree.world.bodies])


def check(world, seed):
    tree = R.compile(world)
    q, qd, _ = random_state(tree, seed)
    ours = accelerations(tree, q, qd, R.aba(tree, q, qd, np.zeros(tree.nv)))
    sim = lw.Simulation(rebuilt(world, tree, q, qd), solver="tree")
    theirs = np.array([[*sim.acceleration(b.name), *sim.angular_acceleration(b.name)] for b in world.bodies])
    assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("kind", KINDS)
def test_one_kind_of_joint(kind):
    check(random_world(3, n=5, kinds=(kind,), floating=1), 4)


@pytest.mark.parametrize("seed", range(4))
def test_mixed_joints(seed):
    check(random_world(seed, n=10), seed)
