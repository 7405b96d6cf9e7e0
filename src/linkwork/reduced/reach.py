"""Inverse kinematics: coordinates with which frames are where they are asked to be, or as near as bounds and links allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element
from linkwork.errors import ElementError, ModelError
from linkwork.reduced import descent
from linkwork.reduced.bounds import bounds_of
from linkwork.reduced.configurations import random
from linkwork.reduced.run_on_states import frame_places, numbers_in
from linkwork.reduced.targets import ASKED, Target, goals_of

if TYPE_CHECKING:
    from linkwork.elements.core.frame import FrameLike
    from linkwork.elements.core.joint import JointLike
    from linkwork.reduced.reaching import Reaching
    from linkwork.reduced.tree import Tree
    from linkwork.util.array_types import FloatArray, Numbers, Vector

TOLERANCE = 1e-6  # m and rad


class Reach(NamedTuple):
    """Coordinates with which frames are at their targets, or nearest to them. With arrays of targets, B of them, all but the
    names have one more axis in front.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> stone = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="stone"))
    >>> found = lw.reduced.inverse_kinematics(lw.reduced.compile(world), {"stone": (1, 2, 3)})
    >>> found.reached, found.position_error.round(9), found.q[:3].round(9)
    (True, array([0.]), array([1., 2., 3.]))
    """

    q: FloatArray  # (nq,)
    reached: Any  # bool: every frame is within the tolerance
    position_error: FloatArray  # (frames,), m: the distance from each target; 0 where none was given
    orientation_error: FloatArray  # (frames,), rad
    starts: Any  # int: how many were tried
    steps: Any  # int: in all of these
    frames: tuple[str, ...]

    def __str__(self) -> str:
        worst = [np.atleast_2d(errors).max(axis=0) for errors in (self.position_error, self.orientation_error)]
        off = ", ".join(f'"{name}" {x:.3g} m and {turn:.3g} rad off' for name, x, turn in zip(self.frames, *worst, strict=True))
        if np.ndim(self.reached) == 0:
            return f"{'reached' if self.reached else 'not reached, the nearest is'}: {off}"
        return f"{int(np.sum(self.reached))} of {len(self.reached)} reached; at worst {off}"


def inverse_kinematics(
    tree: Tree, targets: Mapping[FrameLike, Target | Numbers | tuple[Numbers, Numbers]], *, start: Numbers | None = None,
    limits: Mapping[JointLike, Vector] | bool = True, posture: Numbers | None = None, tolerance: Numbers = TOLERANCE,
    restarts: int = 30, seed: int = 0,
) -> Reach:  # fmt: skip
    """Coordinates with which bodies and frames are where `targets` want them: by frame a Target, a position, or a position and
    an orientation; arrays of B of them are solved one by one.

    From `start` (nq,) or (B, nq), as built unless given, a damped Gauss-Newton method goes down the sum of squares of what is
    missing, within the bounds of joints (those of `lw.reduced.limits`, others by joint; False: none). Where that ends short of
    the targets, it begins anew, up to `restarts` times, at random places that `seed` determines. What is not reached within
    `tolerance` (m and rad; or two numbers) is the nearest that was found: see `Reach`. Of all that reaches, `posture` (nq,)
    asks for a place near to it, which is sought along what the targets leave free.

    Joints that move no target stay at the start. Constraints that the tree leaves out are not held: one that ties joints on
    the way to a target to each other, or to others, is refused.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0), name="arm"))
    >>> shoulder = world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> tip = world.add(lw.Frame(arm, position=(0.5, 0, 0), name="tip"))
    >>> tree = lw.reduced.compile(world)
    >>> found = lw.reduced.inverse_kinematics(tree, {"tip": (0, 1, 0)})
    >>> found.q.round(6), found.reached
    (array([1.570796]), True)
    >>> print(lw.reduced.inverse_kinematics(tree, {"tip": (0, 3, 0)}))
    not reached, the nearest is: "tip" 2 m and 0 rad off
    """
    goals, places = goals_of(targets), frame_places(tree)
    reaching = places.reaching(goals.frames)
    _refuse_loops(tree, reaching)
    begin = tree.start if start is None else _state("start", start, tree.nq, 2)
    count = len(begin) if begin.ndim == 2 and len(goals.poses) == 1 else len(goals.poses)
    if begin.ndim == 2 and len(begin) != count:
        raise ElementError(f"{ASKED}: start is of {len(begin)} states and targets of {count}; give as many of both, or one")
    bounds = bounds_of(tree, limits)
    others = _others(
        tree, reaching, begin, *bounds, checks.whole(ASKED, "restarts", restarts), checks.whole(ASKED, "seed", seed)
    )
    near = np.zeros(0) if posture is None else _state("posture", posture, tree.nq, 1)
    one_start = begin.ndim == 1
    begin, poses = (np.ascontiguousarray(np.broadcast_to(a, (count, a.shape[-1]))) for a in (begin, goals.poses))
    q, off, told = np.empty((count, tree.nq)), np.empty((count, len(goals.weights))), np.empty((count, 3), dtype=np.int64)
    descent.reach(*reaching.within(*bounds), poses, goals.weights, _tolerances(tolerance), begin, others, near, q, off, told)
    names = tuple(str(getattr(frame, "name", frame)) for frame in goals.frames)
    found = q, told[:, 0] == descent.REACHED, off[:, 0::2], off[:, 1::2], told[:, 1], told[:, 2]
    if goals.alone and one_start:
        return Reach(q[0], bool(found[1][0]), off[0, 0::2], off[0, 1::2], int(told[0, 1]), int(told[0, 2]), names)
    return Reach(*found, names)


def _state(name: str, value: Numbers, size: int, axes: int) -> FloatArray:
    """(size,), or with two axes (B, size) as well, of finite numbers."""
    found = numbers_in(f"{ASKED}: {name}", value)
    if found.ndim not in range(1, axes + 1) or found.shape[-1] != size:
        rows = f", or ({found.shape[0]}, {size})" if axes == 2 and found.ndim == 2 else ""
        raise ElementError(f"{ASKED}: {name} has the shape {found.shape}; give one of the shape ({size},){rows}")
    if not np.isfinite(found).all():
        raise ElementError(
            f"{ASKED}: {name} is not finite in entry {np.flatnonzero(~np.isfinite(found))[0]}; give finite numbers"
        )
    return found


def _tolerances(given: Any) -> FloatArray:
    """(2,): m, rad."""
    found = numbers_in(f"{ASKED}: tolerance", given)
    if found.shape not in ((), (1,), (2,)) or not (found > 0.0).all():
        raise ElementError(f"{ASKED}: tolerance is {checks.show(given)}; give a number above 0, or two: m and rad")
    return np.array(np.broadcast_to(found, 2))


def _others(
    tree: Tree, reaching: Reaching, begin: FloatArray, lower: FloatArray, upper: FloatArray, count: int, seed: int
) -> FloatArray:
    """(count, nq): places to begin anew: at random within bounds; what moves no target as at the start."""
    found = np.tile(begin.reshape(-1, tree.nq)[0], (count, 1))
    if not count:
        return found
    anywhere, generator = random(tree, seed, count), np.random.default_rng([seed, 1])
    for i in reaching.links:
        own = slice(tree.q_at[i], tree.q_at[i + 1])
        found[:, own] = anywhere[:, own]
    for v, s in zip(reaching.velocities, reaching.single, strict=True):
        if s >= 0 and np.isfinite(upper[v] - lower[v]):
            found[:, s] = generator.uniform(lower[v], upper[v], count)
    return found


def _refuse_loops(tree: Tree, reaching: Reaching) -> None:
    """Refuse a constraint beside the tree whose bodies move against each other by joints that move a target."""
    moving = set(reaching.links)
    for constraint in tree.closing:
        paths = [set(tree.schedules.path(tree.bodies[tree.body(body)][1])) for body in _bodies(constraint) if body.dim]
        shared = set.intersection(*paths) if len(paths) > 1 else set[int]()
        between = set[int]().union(*paths) - shared
        if between & moving:
            raise ModelError(
                f"{checks.label(constraint)}: it ties joints that would move a target, and inverse kinematics knows those of a "
                "tree alone; remove it, or name frames that these joints do not move"
            )


def _bodies(element: Element) -> set[Body]:
    """Those that an element acts on, through other elements too."""
    found = set[Body]()
    for _, _, other in element.references():
        found |= {other} if isinstance(other, Body) else _bodies(other)
    return found
