"""Targets of frames: as users give them, checked, and as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.placement import matrices
from linkwork.errors import ElementError

if TYPE_CHECKING:
    from linkwork.elements.core.frame import FrameLike
    from linkwork.util.array_types import FloatArray, Numbers

ASKED = "inverse_kinematics"
SLACK = 1e-3  # by which a quaternion that is given may be longer or shorter than 1


@dataclass(frozen=True)
class Target:
    """Where a frame is to be, and how it is to be turned; either may be left open. Weights say what counts how much where not
    all can be had: that of the orientation, how many metres a radian is worth.

    >>> Target(position=(0.4, 0, 0.5), orientation_weight=0.1).orientation is None
    True
    """

    position: Numbers | None = None  # (3,), m, or (B, 3)
    orientation: Numbers | None = None  # (4,) w x y z, or (B, 4)
    position_weight: float = 1.0  # 1
    orientation_weight: float = 1.0  # m/rad


class Goals(NamedTuple):
    """Targets of K frames, B of each."""

    frames: tuple[Any, ...]
    poses: FloatArray  # (B, 12 K): position, rotation row by row
    weights: FloatArray  # (2 K,): of position and orientation; 0: left open
    alone: bool  # they were given as one, not as an array of one


def goals_of(targets: Mapping[FrameLike, Target | Numbers | tuple[Numbers, Numbers]]) -> Goals:
    """Targets by frame, as arrays."""
    if not isinstance(targets, Mapping) or not targets:
        raise ElementError(
            f'{ASKED}: targets is {checks.show(targets)}; give targets by frame, such as {{"tool": (0.4, 0, 0.5)}}'
        )
    places, weights = [], []
    for frame, given in targets.items():
        target = _target(given)
        name = f'"{getattr(frame, "name", frame)}"'
        position, orientation = (
            None if value is None else _rows(name, what, value, size)
            for what, value, size in (("position", target.position, 3), ("orientation", target.orientation, 4))
        )
        if position is None and orientation is None:
            raise ElementError(f"{ASKED}: the target of {name} has neither position nor orientation; give one of them, or both")
        weights.append(_weight(name, "position_weight", target.position_weight, position is not None))
        weights.append(_weight(name, "orientation_weight", target.orientation_weight, orientation is not None))
        places += [position, None if orientation is None else _turned(name, orientation)]
    counts = {len(place) for place in places if place is not None and place.ndim == 2}
    if len(counts) > 1:
        raise ElementError(
            f"{ASKED}: targets are arrays of {' and '.join(map(str, sorted(counts)))}; give as many of each frame"
        )
    count = counts.pop() if counts else 1
    open_ones = np.zeros(3), np.eye(3).ravel()
    parts = [open_ones[k % 2] if place is None else place for k, place in enumerate(places)]
    poses = np.concatenate([np.broadcast_to(part, (count, part.shape[-1])) for part in parts], axis=1)
    alone = not any(place is not None and place.ndim == 2 for place in places)
    return Goals(tuple(targets), np.ascontiguousarray(poses), np.array(weights), alone)


def _target(given: Any) -> Target:
    """From a position, both in a tuple, or what has both as a Pose has."""
    if isinstance(given, Target):
        return given
    if hasattr(given, "position") and hasattr(given, "orientation"):
        return Target(given.position, given.orientation)
    return Target(*given) if isinstance(given, tuple) and len(given) == 2 else Target(given)


def _rows(name: str, what: str, value: Any, size: int) -> FloatArray:
    """(size,) or (B, size), of finite numbers."""
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim not in (1, 2) or found.shape[-1] != size:
        raise ElementError(f"{ASKED}: the {what} of {name} is {checks.show(value)}; give {size} numbers, or rows of {size}")
    wrong = np.flatnonzero(~np.isfinite(found).reshape(-1, size).all(axis=1))
    if len(wrong):
        row = f" in row {wrong[0]}" if found.ndim == 2 else ""
        shown = checks.show(found.reshape(-1, size)[wrong[0]])
        raise ElementError(f"{ASKED}: the {what} of {name} is {shown}{row}; give finite numbers")
    return found


def _turned(name: str, turns: FloatArray) -> FloatArray:
    """(..., 9): the rotations of quaternions."""
    lengths = np.linalg.norm(turns, axis=-1)
    if not (np.abs(lengths - 1.0) <= SLACK).all():
        wrong = checks.show(turns.reshape(-1, 4)[np.argmax(np.abs(np.atleast_1d(lengths) - 1.0))])
        raise ElementError(f"{ASKED}: the orientation of {name} is {wrong}, no unit quaternion; give w, x, y, z of length 1")
    return matrices(turns.reshape(-1, 4) / lengths.reshape(-1, 1)).reshape(*turns.shape[:-1], 9)


def _weight(name: str, what: str, value: Any, there: bool) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < np.inf:
        raise ElementError(
            f"{ASKED}: the {what} of {name} is {checks.show(value)}; give a number above 0, or leave the target open"
        )
    return float(value) if there else 0.0
