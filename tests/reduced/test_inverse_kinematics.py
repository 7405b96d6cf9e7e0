"""Inverse kinematics on mechanisms of many kinds: what is reached, what is nearest, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwork as lw

from .forests import KINDS, random_world, unit

R = lw.reduced
EDGE = 1e-6  # of an error of the nearest place, relative to a slope


def arm(axes, length=1.0, limit=None):
    """Links in a row along x, with a hinge, or a slider, along each axis; the tip is the frame "tip"."""
    world, before = lw.World(), None
    before = world.ground
    for k, (kind, axis) in enumerate(axes):
        here = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(length * (k + 0.5), 0, 0), name=f"link{k}"))
        joint = world.add(getattr(lw, kind)(before, here, at=(length * k, 0, 0), axis=axis, name=f"joint{k}"))
        if limit is not None:
            world.add(lw.HardLimit(joint, *limit, name=f"stop{k}"))
        before = here
    world.add(lw.Frame(before, position=(length / 2, 0, 0), name="tip"))
    return world


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
PLANAR = [("Hinge", Y)] * 3
GANTRY = [("Slider", X), ("Slider", Y), ("Slider", Z)]
REDUNDANT = [("Hinge", axis) for axis in (Z, Y, X, Y, Z, Y, X, Y, Z)]
MIXED = [("Hinge", Z), ("Slider", Z), ("Hinge", Y), ("Slider", X), ("Hinge", Y), ("Hinge", X), ("Hinge", Z)]


def quaternion(rotation):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(rotation).as_quat(scalar_first=True)


def places(tree, frame, seed, count, turned=True):
    """Targets that can be reached: where a frame is in random configurations within the bounds."""
    lower, upper = R.limits(tree)
    q = R.random(tree, seed, count)
    if tree.nq == tree.nv:
        bounded = np.isfinite(upper - lower)
        q[:, bounded] = np.random.default_rng(seed).uniform(lower[bounded], upper[bounded], (count, bounded.sum()))
    poses = R.frame_poses(tree, q, frame)
    position = poses.position[:, 0]
    return (position, quaternion(poses.rotation[:, 0])) if turned else position


@pytest.mark.parametrize(
    "axes, turned, limit",
    [
        (PLANAR, False, None),
        (GANTRY, False, (-1.0, 1.0)),
        (REDUNDANT, True, (-1.2, 1.2)),
        (MIXED, True, None),
        (MIXED, True, (-1.0, 1.5)),
    ],
)
def test_what_can_be_reached_is_reached(axes, turned, limit):
    tree = R.compile(arm(axes, limit=limit))
    targets, starts = places(tree, "tip", 1, 40, turned), 0.5 * R.random(tree, 2, 40)
    found = R.inverse_kinematics(tree, {"tip": targets}, start=starts, restarts=60)
    assert found.reached.mean() >= 0.95
    poses = R.frame_poses(tree, found.q[found.reached], "tip")
    wanted = (targets[0] if turned else targets)[found.reached]
    assert np.abs(poses.position[:, 0] - wanted).max() <= 1e-6
    if turned:
        same = np.abs(np.sum(quaternion(poses.rotation[:, 0]) * targets[1][found.reached], axis=1))
        assert np.arccos(np.minimum(same, 1.0)).max() <= 1e-6
    if limit is not None:
        assert (found.q >= limit[0]).all() and (found.q <= limit[1]).all()


@pytest.mark.parametrize("seed", range(4))
def test_random_forests_of_all_joints(seed):
    """With balls, universals, screws and bases that float; two frames on each forest."""
    world = random_world(seed, n=6, kinds=KINDS[seed:] + KINDS[:seed])
    for k in (3, 5):
        world.add(lw.Frame(world.bodies[k], position=(0.1, 0.2, 0.3), name=f"frame{k}"))
    tree = R.compile(world)
    poses = R.frame_poses(tree, R.random(tree, seed, 12), ["frame3", "frame5"])
    targets = {f"frame{k}": (poses.position[:, i], quaternion(poses.rotation[:, i])) for i, k in enumerate((3, 5))}
    found = R.inverse_kinematics(tree, targets, restarts=60, seed=seed)
    assert found.reached.mean() >= 0.9 and found.position_error.shape == (12, 2)
    assert np.allclose(
        R.frame_poses(tree, found.q[found.reached], "frame3").position, poses.position[found.reached, :1], atol=1e-6
    )


def test_a_base_that_floats_and_two_hands():
    world = lw.World()
    base = world.add(lw.RigidBody(5.0, (1, 1, 1), name="base"))
    for side, y in (("left", 0.3), ("right", -0.3)):
        upper = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 2 * y, 0), name=f"{side} arm"))
        world.add(lw.Ball(base, upper, at=(0, y, 0)))
        world.add(lw.Frame(upper, position=(0, y, 0), name=side))
    tree = R.compile(world)
    goal = R.random(tree, 3)
    poses = R.frame_poses(tree, goal, ["left", "right"])
    found = R.inverse_kinematics(tree, {"left": poses.position[0], "right": (poses.position[1], quaternion(poses.rotation[1]))})
    assert found.reached and str(found).startswith('reached: "left" ') and found.frames == ("left", "right")
    assert np.isclose(np.linalg.norm(found.q[tree.coordinates("base")][3:]), 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_of_what_is_out_of_reach(seed):
    """A plane arm of n unit links points at what is farther than n, or next to a target off its plane."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 4
    tree = R.compile(arm([("Hinge", Y)] * n))
    at = rng.normal(size=3)
    at *= (n + rng.uniform(0.1, 2.0)) / np.hypot(at[0], at[2])
    found = R.inverse_kinematics(tree, {"tip": at}, start=R.random(tree, seed))
    nearest = np.array([at[0], 0.0, at[2]]) * n / np.hypot(at[0], at[2])
    assert not found.reached and np.isclose(found.position_error[0], np.linalg.norm(at - nearest), atol=1e-9)
    assert np.allclose(R.frame_poses(tree, found.q, "tip").position[0], nearest, atol=1e-4)
    assert str(found).startswith('not reached, the nearest is: "tip" ')


@pytest.mark.parametrize("seed", range(12))
def test_nothing_leads_on_from_the_nearest(seed):
    """The slope of the sum of squares points out of the bounds, or is nought."""
    rng = np.random.default_rng(seed)
    tree = R.compile(arm(MIXED if seed % 2 else REDUNDANT, limit=(-0.4, 0.6)))
    at, turn, weight = rng.normal(size=3) * 9, unit(rng.normal(size=4)), 0.3
    target = lw.reduced.Target(at, turn, orientation_weight=weight)
    found = R.inverse_kinematics(tree, {"tip": target}, restarts=5)

    def off(q):
        result = R.inverse_kinematics(
            tree, {"tip": target}, start=q, limits={f"joint{k}": (x, x) for k, x in enumerate(q)}, restarts=0
        )
        return 0.5 * (result.position_error[0] ** 2 + (weight * result.orientation_error[0]) ** 2)

    value, h = off(found.q), 1e-6
    slope = np.array([(off(found.q + h * e) - off(found.q - h * e)) / (2 * h) for e in np.eye(tree.nq)])
    inside = (found.q > -0.4 + 1e-9) & (found.q < 0.6 - 1e-9)
    assert np.abs(slope[inside]).max(initial=0.0) < 1e-4 * value
    assert (slope[found.q <= -0.4 + 1e-9] > -1e-4 * value).all() and (slope[found.q >= 0.6 - 1e-9] < 1e-4 * value).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_posture_is_as_near_as_the_target_allows(seed):
    """Beside SciPy's least distance under the same condition, from the same place."""
    tree = R.compile(arm(REDUNDANT[:7]))
    at, posture = places(tree, "tip", seed, 1, turned=False)[0], 0.3 * np.random.default_rng(seed).normal(size=tree.nq)
    found = R.inverse_kinematics(tree, {"tip": at}, start=posture, posture=posture)
    assert found.reached

    def missing(q):
        return R.frame_poses(tree, q, "tip").position[0] - at

    slopes = {"fun": missing, "jac": lambda q: R.jacobian(tree, q, "tip")[:3], "type": "eq"}
    least = minimize(lambda q: 0.5 * np.sum((q - posture) ** 2), found.q, jac=lambda q: q - posture, constraints=[slopes],
                     method="SLSQP", options={"ftol": 1e-14, "maxiter": 300})  # fmt: skip
    assert np.sum((found.q - posture) ** 2) <= np.sum((least.x - posture) ** 2) * (1 + 1e-4)
    assert (
        np.sum((found.q - posture) ** 2)
        <= np.sum((R.inverse_kinematics(tree, {"tip": at}, start=posture).q - posture) ** 2) + 1e-9
    )


def test_batches_and_seeds_have_the_same_bits():
    tree = R.compile(arm(REDUNDANT[:6], limit=(-2.5, 2.5)))
    positions, turns = places(tree, "tip", 7, 9)
    found = R.inverse_kinematics(tree, {"tip": (positions, turns)}, seed=4)
    again = R.inverse_kinematics(tree, {"tip": (positions, turns)}, seed=4)
    assert np.array_equal(found.q, again.q) and (found.starts > 1).any()
    for k in range(9):
        one = R.inverse_kinematics(tree, {"tip": (positions[k], turns[k])}, seed=4)
        assert np.array_equal(one.q, found.q[k]) and one.reached == found.reached[k] and one.steps == found.steps[k]
    starts = 0.3 * R.random(tree, 1, 3)
    several = R.inverse_kinematics(tree, {"tip": (positions[0], turns[0])}, start=starts, restarts=0)
    assert several.q.shape == (3, tree.nq)


def test_a_pose_that_a_simulation_tells_is_a_target():
    world = arm(PLANAR)
    sim = lw.Simulation(world, dt=1e-3)
    sim.set_state(q=[0.3, 0.5, -0.4])
    found = R.inverse_kinematics(R.compile(world), {"tip": sim.pose("tip")}, start=[0.2, 0.4, -0.3])
    assert found.reached and np.allclose(found.q, [0.3, 0.5, -0.4], atol=1e-5)


def test_limits_of_the_world_and_others():
    tree = R.compile(arm(PLANAR, limit=(-0.5, 0.5)))
    assert not R.inverse_kinematics(tree, {"tip": (-3, 0, 0)}).reached
    assert R.inverse_kinematics(tree, {"tip": (-3, 0, 0)}, limits=False, tolerance=1e-5).reached
    found = R.inverse_kinematics(tree, {"tip": (0, 0, -2.0)}, limits={"joint0": (-2, 2), "joint1": (0.1, 2.0)})
    assert np.abs(found.q[2]) <= 0.5 and 0.1 <= found.q[1] <= 2.0 and np.abs(found.q[0]) <= 2.0


def test_limits_that_are_no_bounds_of_coordinates_are_told():
    world = lw.World()
    bob = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 0, -1), name="bob"))
    world.add(lw.Ball(world.ground, bob, at=(0, 0, 0), name="pin"))
    world.add(lw.HardLimit("pin", cone=0.5, axis=(0, 0, -1), name="socket"))
    with pytest.warns(
        lw.Note,
        match='^HardLimit "socket": limits of a tree are those of angles and travels; what else they bound is left out$',
    ):
        assert R.limits(R.compile(world)).lower.tolist() == [-np.inf] * 3


def test_loops_on_the_way_are_refused():
    world = lw.scenes.get("slider-crank")
    tree = R.compile(world, loops=True)
    with pytest.raises(lw.ModelError, match="it ties joints that would move a target, .*; remove it, or name frames"):
        R.inverse_kinematics(tree, {world.bodies[0]: (0, 0, 0)})


@pytest.mark.parametrize(
    "targets, options, sentence",
    [
        ({"tip": (0, np.nan, 1)}, {}, r'the position of "tip" is \(0, nan, 1\); give finite numbers'),
        ({"tip": [[0, 0, 0], [0, np.inf, 1]]}, {}, r'the position of "tip" is \(0, inf, 1\) in row 1; give finite numbers'),
        ({"tip": (1, 2)}, {}, r'the position of "tip" is \(1, 2\); give 3 numbers, or rows of 3|the position of "tip" is 1; give 3 numbers'),
        ({"tip": ((0, 0, 0), (0, 0, 0, 0.5))}, {}, r'the orientation of "tip" is \(0, 0, 0, 0.5\), no unit quaternion; give'),
        ({"tip": R.Target()}, {}, 'the target of "tip" has neither position nor orientation; give one of them'),
        ({"tip": R.Target((0, 0, 0), position_weight=-1)}, {}, 'the position_weight of "tip" is -1; give a number above 0'),
        ({}, {}, "targets is {}; give targets by frame"),
        ({"tip": np.zeros((2, 3)), "link0": np.zeros((3, 3))}, {}, "targets are arrays of 2 and 3; give as many of each frame"),
        ({"tip": (1, 0, 0)}, {"start": [0.0, 0.0]}, r"start has the shape \(2,\); give one of the shape \(3,\)"),
        ({"tip": (1, 0, 0)}, {"start": [0.0, np.nan, 0.0]}, "start is not finite in entry 1; give finite numbers"),
        ({"tip": (1, 0, 0)}, {"posture": "high"}, "posture is 'high'; give an array of numbers"),
        ({"tip": (1, 0, 0)}, {"tolerance": 0.0}, "tolerance is 0; give a number above 0, or two: m and rad"),
        ({"tip": (1, 0, 0)}, {"limits": 3}, "limits is 3; give bounds by joint"),
        ({"tip": (1, 0, 0)}, {"restarts": -1}, "restarts is -1"),
    ],
)  # fmt: skip
def test_bad_input(targets, options, sentence):
    with pytest.raises(lw.ElementError, match=f"^inverse_kinematics: ({sentence})"):
        R.inverse_kinematics(R.compile(arm(PLANAR)), targets, **options)


def test_names_that_are_unknown():
    tree = R.compile(arm(PLANAR))
    with pytest.raises(lw.UnknownNameError, match='^World: there is no element named "tib"; did you mean "tip"?'):
        R.inverse_kinematics(tree, {"tib": (0, 0, 0)})
    with pytest.raises(
        lw.ElementError, match='^Hinge "joint0": limits are .*; give a joint of one freedom two bounds, lower and upper$'
    ):
        R.inverse_kinematics(tree, {"tip": (0, 0, 0)}, limits={"joint0": (1, -1)})
