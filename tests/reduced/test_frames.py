"""Frames of trees by name: where they are, how they move, and in which axes."""

import numpy as np
import pytest

import linkwork as lw

from .forests import random_state, random_world, unit

R = lw.reduced
H = 1e-6  # s: the step of central differences, whose errors are near 1e-9
AXES = ("aligned", "local", "world")


def with_frames(seed, n=7):
    """A random forest, a frame on each of its bodies and one on the ground."""
    world, rng = random_world(seed, n=n), np.random.default_rng(seed)
    for k, body in enumerate([*world.bodies, world.ground]):
        world.add(lw.Frame(body, position=rng.normal(size=3), orientation=unit(rng.normal(size=4)), name=f"frame{k}"))
    return world


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def twist_by_differences(tree, q, qd, name):
    """Aligned: from where a frame is a moment before and after."""
    before, now, after = (R.frame_poses(tree, R.integrate(tree, q, qd, h), name) for h in (-H, 0.0, H))
    rate = (after.rotation[0] - before.rotation[0]) / (2 * H) @ now.rotation[0].T
    return np.array([*(after.position[0] - before.position[0]) / (2 * H), rate[2, 1], rate[0, 2], rate[1, 0]])


@pytest.mark.parametrize("seed", range(8))
def test_jacobians_in_all_axes_are_the_rates_of_poses(seed):
    tree = R.compile(with_frames(seed))
    q, qd, _ = random_state(tree, seed)
    for name in R.frame_names(tree):
        twist, pose = twist_by_differences(tree, q, qd, name), R.frame_poses(tree, q, name)
        x, turn = pose.position[0], pose.rotation[0]
        found = {axes: R.jacobian(tree, q, name, axes=axes) @ qd for axes in AXES}
        assert np.allclose(found["aligned"], twist, atol=2e-8)
        assert np.allclose(found["local"], np.concatenate([turn.T @ twist[:3], turn.T @ twist[3:]]), atol=2e-8)
        assert np.allclose(found["world"], np.concatenate([twist[:3] + skew(x) @ twist[3:], twist[3:]]), atol=2e-8)
        assert np.allclose(R.frame_twists(tree, q, qd, [name])[0], found["aligned"], atol=1e-12)


def test_a_simulation_reads_the_same():
    world = with_frames(3)
    sim = lw.Simulation(world, dt=1e-3, solver="tree", integrator="rattle")
    sim.step(20)
    tree = R.compile(world, loops=True)
    names = R.frame_names(tree)
    poses = R.frame_poses(tree, sim.q)
    assert names == tuple(str(e.name) for e in (*world.bodies, *world.frames))
    for k, name in enumerate(names):
        assert np.allclose(poses.position[k], sim.position(name), atol=1e-9)
        for axes in AXES:
            assert np.allclose(R.jacobian(tree, sim.q, name, axes=axes), sim.frame_jacobian(name, axes=axes), atol=1e-9)


def test_arrays_of_states_and_out_have_the_same_bits():
    tree = R.compile(with_frames(5))
    states, speeds = R.random(tree, 1, count=7), np.random.default_rng(1).normal(size=(7, tree.nv))
    names = R.frame_names(tree)[::2]
    many, twists = R.frame_poses(tree, states, names), R.frame_twists(tree, states, speeds, names)
    out = np.empty((7, len(names), 12))
    assert R.frame_poses(tree, states, names, out=out).position.base is out
    for k, q in enumerate(states):
        one = np.empty((len(names), 12))
        poses = R.frame_poses(tree, q, names, out=one)
        assert R.frame_poses(tree, q, names, out=one) is poses and np.array_equal(one, out[k])
        assert np.array_equal(poses.rotation, many.rotation[k]) and np.array_equal(poses.position, many.position[k])
        assert np.array_equal(R.frame_twists(tree, q, speeds[k], names), twists[k])
        for axes in AXES:
            J = np.empty((6, tree.nv))
            assert R.jacobian(tree, q, names[0], axes=axes, out=J) is J
            assert np.array_equal(J, R.jacobian(tree, states, names[0], axes=axes)[k])


def test_whatever_array_is_given_the_result_is_the_same():
    tree = R.compile(with_frames(6))
    q = R.random(tree, 2)
    expected, name = R.jacobian(tree, q, "frame2"), "frame2"
    still = q.view()
    still.flags.writeable = False
    spread = np.zeros((tree.nq, 2))
    spread[:, 0] = q

    class Own(np.ndarray):
        pass

    unaligned = np.frombuffer(b"x" + q.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    swapped = q.astype(q.dtype.newbyteorder())
    for given in (still, spread[:, 0], q.tolist(), tuple(q), q.view(Own), unaligned, swapped, q.astype(object)):
        assert np.array_equal(R.jacobian(tree, given, name), expected)


def test_a_result_that_cannot_be_written_is_refused():
    tree = R.compile(with_frames(6))
    q, locked = R.random(tree, 2), np.empty((6, tree.nv))
    locked.flags.writeable = False
    for out in (locked, np.empty((tree.nv, 6)).T, np.empty((tree.nv, 6)), np.empty((6, tree.nv), dtype=np.float32), [0.0]):
        with pytest.raises(lw.ElementError, match=r"^out is .*; give a contiguous array of float64 of the shape \(6, \d+\)$"):
            R.jacobian(tree, q, "frame2", out=out)


def test_frames_come_and_go():
    world = with_frames(2, n=3)
    tree = R.compile(world)
    q = R.random(tree, 1)
    R.jacobian(tree, q, "frame0")
    world.remove("frame0")
    with pytest.raises(lw.UnknownNameError, match='^World: there is no element named "frame0"; did you mean "frame'):
        R.jacobian(tree, q, "frame0")
    world.add(lw.Frame(world.bodies[1], position=(1, 2, 3), name="frame0"))
    assert np.array_equal(R.jacobian(tree, q, "frame0"), R.jacobian(tree, q, world.bodies[1], (1, 2, 3)))
    assert R.frame_names(tree)[-1] == "frame0"


def test_what_is_no_frame():
    world = lw.scenes.get("double-pendulum")
    tree = R.compile(world)
    joint, q = world.constraints[0].name, [0.0, 0.0]
    with pytest.raises(lw.ModelError, match="it has no position of its own; give a body, or a frame on one$"):
        R.jacobian(tree, q, joint)
    with pytest.raises(lw.LinkworkError, match="^lw.reduced: axes is 'body'; give .*"):
        R.jacobian(tree, q, world.bodies[0], axes="body")
    for wrong in (3, [3], [["a"]]):
        with pytest.raises(lw.LinkworkError, match=r"^(lw.reduced|World): .*; .*$"):
            R.frame_poses(tree, q, wrong)


@pytest.mark.parametrize("seed", range(4))
def test_gravity_torques_are_those_of_a_tree_at_rest(seed):
    tree = R.compile(with_frames(seed))
    states = R.random(tree, seed, count=3)
    rest = np.zeros(tree.nv)
    assert np.allclose(R.gravity_torques(tree, states), R.rnea(tree, states, rest, rest), atol=1e-11)
