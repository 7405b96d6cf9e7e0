"""One state and arrays of states: the same bits; results into arrays that are given."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen.jit import INTERPRETED

from .forests import random_state, random_world

R = lw.reduced
ALGORITHMS = {
    "rnea": lambda t, q, v, a, **o: R.rnea(t, q, v, a, **o),
    "aba": lambda t, q, v, a, **o: R.aba(t, q, v, a, **o),
    "crba": lambda t, q, v, a, **o: R.crba(t, q, **o),
    "crba packed": lambda t, q, v, a, **o: R.crba(t, q, packed=True, **o),
    "velocities": lambda t, q, v, a, **o: R.velocities(t, q, v, **o),
    "jacobian": lambda t, q, v, a, **o: R.jacobian(t, q, t.world.bodies[-1], (1, 2, 3), **o),
    "jacobian_rate": lambda t, q, v, a, **o: R.jacobian_rate(t, q, v, t.world.bodies[-1], (1, 2, 3), **o),
    "centre_of_mass": lambda t, q, v, a, **o: R.centre_of_mass(t, q, **o),
    "centroidal_momentum": lambda t, q, v, a, **o: R.centroidal_momentum(t, q, v, **o),
    "centroidal_momentum_matrix": lambda t, q, v, a, **o: R.centroidal_momentum_matrix(t, q, **o),
    "energy": lambda t, q, v, a, **o: R.energy(t, q, v, **o),
    "integrate": lambda t, q, v, a, **o: R.integrate(t, q, v, 0.5, **o),
    "difference": lambda t, q, v, a, **o: R.difference(t, q, R.integrate(t, q, v, 0.5), **o),
}


@pytest.fixture(scope="module")
def tree():
    return R.compile(random_world(5, n=12))


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("count", [1, 4, 7])
def test_the_same_bits_alone_and_in_arrays(tree, name, count):
    q, v, a = random_state(tree, 2, count)
    together = ALGORITHMS[name](tree, q, v, a)
    alone = np.array([ALGORITHMS[name](tree, *state) for state in zip(q, v, a, strict=True)])
    assert together.shape[0] == count and np.array_equal(together, alone)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_out_takes_the_result(tree, name):
    for count in (None, 5):
        q, v, a = random_state(tree, 2, count)
        expected = ALGORITHMS[name](tree, q, v, a)
        out = np.full_like(expected, np.nan)
        assert ALGORITHMS[name](tree, q, v, a, out=out) is out
        assert np.array_equal(out, expected)


def test_poses_alone_and_in_arrays(tree):
    q, _, _ = random_state(tree, 2, 6)
    together = R.forward_kinematics(tree, q)
    for k in range(6):
        alone = R.forward_kinematics(tree, q[k])
        assert np.array_equal(together.position[k], alone.position) and np.array_equal(together.rotation[k], alone.rotation)


def test_one_velocity_goes_with_many_configurations(tree):
    q, v, a = random_state(tree, 2, 3)
    assert np.array_equal(R.rnea(tree, q, v[0], a[0]), R.rnea(tree, q, np.tile(v[0], (3, 1)), np.tile(a[0], (3, 1))))


def test_wrenches_in_arrays(tree):
    q, v, a = random_state(tree, 2, 5)
    wrenches = np.random.default_rng(0).normal(size=(5, len(tree.bodies), 6))
    together = R.aba(tree, q, v, a, wrenches=wrenches)
    assert np.array_equal(together[3], R.aba(tree, q[3], v[3], a[3], wrenches=wrenches[3]))


def test_what_is_given_may_be_any_array(tree):
    q, v, a = random_state(tree, 2)
    expected = R.rnea(tree, q, v, a)
    frozen = q.copy()
    frozen.setflags(write=False)
    assert np.array_equal(R.rnea(tree, frozen, list(v), np.repeat(a, 2)[::2]), expected)


@pytest.mark.skipif(INTERPRETED, reason="without fused products large angles lose digits")
def test_sine_and_cosine_to_rounding():
    """The angle of a hinge, however large, against the library's functions."""
    world = lw.World()
    bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1)))
    world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    angles = np.concatenate([np.linspace(-20, 20, 4001), [1e-9, 1e3, -12345.678, 1e6]])
    found = R.forward_kinematics(R.compile(world), angles[:, None]).rotation[:, 0, :2, 0]
    assert np.abs(found - np.column_stack([np.cos(angles), np.sin(angles)])).max() < 5e-16
