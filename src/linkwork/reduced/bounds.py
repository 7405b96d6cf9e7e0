"""Bounds of coordinates: what limits of a world, and a user, say of the joints of a tree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.errors import ElementError, Note
from linkwork.reduced.run_on_states import frame_places, the_tree
from linkwork.reduced.targets import ASKED

if TYPE_CHECKING:
    from linkwork.elements.core.joint import JointLike
    from linkwork.reduced.tree import Tree
    from linkwork.util.array_types import FloatArray, Vector


class Limits(NamedTuple):
    """By velocities, so that both have the order of qd: infinite where there is none, and of rotations of balls.

    >>> Limits(np.array([-1.0]), np.array([np.inf])).upper
    array([inf])
    """

    lower: FloatArray  # (nv,), rad or m
    upper: FloatArray  # (nv,)


def limits(tree: Tree) -> Limits:
    """The bounds that HardLimits and JointLimits of the world set to angles and travels, the narrower where several do. What
    else they bound (cones, twists of balls, travels and reach in a plane) is left out with a Note.

    >>> import linkwork as lw
    >>> world = lw.scenes.get("double-pendulum")
    >>> joint = world.constraints[0]
    >>> stop = world.add(lw.HardLimit(joint, lower=-0.5))
    >>> lw.reduced.limits(lw.reduced.compile(world)).lower
    array([-0.5, -inf])
    """
    found = Limits(np.full(the_tree(tree).nv, -np.inf), np.full(tree.nv, np.inf))
    whole = getattr(tree.world, "whole", tree.world)
    every = [*getattr(tree.world, "contacts", whole.contacts), *getattr(tree.world, "forces", whole.forces)]
    here = {link.element: i for i, link in enumerate(tree.links)}
    left_out = []
    for limit in every:
        if limit.bounds_joint and limit.joint in here:
            first = int(tree.v_at[here[limit.joint]])
            left_out += [limit] * (not _narrow(found, first, limit))
    if left_out:
        text = f"{checks.labels(left_out)}: limits of a tree are those of angles and travels; what else they bound is left out"
        warnings.warn(text, Note, stacklevel=2)
    return found


def _narrow(found: Limits, first: int, limit: Any) -> bool:
    """Put in what an element bounds; whether that was all."""
    joint = limit.joint
    assert isinstance(joint, Joint)
    freedoms = kind_of_joint(joint).mobilizer.freedoms
    given = set(limit.given())
    turns = [k for k, freedom in enumerate(freedoms) if freedom is Freedom.TURN]
    if Freedom.ROTATION in freedoms:
        return not given
    if "bounds" in given:
        at = [0] if len(freedoms) == 1 else turns if len(turns) == 2 or len(freedoms) == 3 else [1 - turns[0]]
        for k, lower, upper in zip(at, _numbers(limit.lower, len(at)), _numbers(limit.upper, len(at)), strict=True):
            _bound(found, first + k, lower, upper)
    if "twist" in given and limit.twist is not None:
        _bound(found, first + turns[0], *(float(x) for x in limit.twist))
    return given <= {"bounds", "twist"}


def _bound(found: Limits, at: int, lower: float | None, upper: float | None) -> None:
    if lower is not None:
        found.lower[at] = max(found.lower[at], lower)
    if upper is not None:
        found.upper[at] = min(found.upper[at], upper)


def _numbers(value: Any, count: int) -> list[float | None]:
    """One for each freedom, of one for all."""
    if value is None:
        return [None] * count
    given: list[float | None] = [float(x) for x in (value if isinstance(value, Sequence | np.ndarray) else [value])]
    return given if len(given) == count else given * count


def bounds_of(tree: Tree, given: Mapping[JointLike, Vector] | bool) -> Limits:
    """Of the world, with those that are given in their place; `given` is False: none."""
    if given is False:
        return Limits(np.full(tree.nv, -np.inf), np.full(tree.nv, np.inf))
    found = frame_places(tree).limits
    if given is True:
        return found
    found = Limits(*(part.copy() for part in found))
    if not isinstance(given, Mapping):
        raise ElementError(
            f"{ASKED}: limits is {checks.show(given)}; give bounds by joint, such as {{joint: (-1.0, 1.0)}}, or False"
        )
    for joint, pair in given.items():
        at, element = tree.velocities(joint), tree.world.find(joint)
        try:
            numbers = np.array(pair, dtype=float).reshape(2)
        except (TypeError, ValueError):
            numbers = np.array([np.nan, np.nan])
        if at.stop - at.start != 1 or not numbers[0] <= numbers[1]:
            what = "it has several freedoms" if at.stop - at.start != 1 else f"limits are {checks.show(pair)}"
            checks.fail(element, what, "give a joint of one freedom two bounds, lower and upper")
        found.lower[at], found.upper[at] = numbers
    return found
