"""Elements of a world that is put elsewhere, inside another one: what speaks of the world, or of the ground, moves along."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from linkwork.elements.core.trajectory import Trajectory

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


class Move(Protocol):
    """p -> x + R p."""

    turns: bool  # R is not 1

    def point(self, p: FloatArray) -> FloatArray:
        """Of the world."""

    def direction(self, d: FloatArray) -> FloatArray: ...

    def orientation(self, q: FloatArray) -> FloatArray:
        """A quaternion that turns into the world."""

    def relative(self, q: FloatArray) -> FloatArray:
        """A turn that is told in the axes of the world."""

    def motion(self, followed: Trajectory) -> Trajectory: ...


def is_ground(item: Any) -> bool:
    return getattr(item, "dim", None) == 0


def change_each(element: Any, fields: Iterable[str], change: Callable[..., Any]) -> None:
    """What stands in these fields, if anything does."""
    for name in fields:
        if vars(element).get(name) is not None:
            vars(element)[name] = change(vars(element)[name])


def carried_along(element: Any, move: Move) -> str | None:
    """`include_at` of elements that may be put anywhere: what is told in the world moves along, and what is told in the frame
    of the ground."""
    change_each(element, element.WORLD_POINTS, move.point)
    change_each(element, element.WORLD_DIRECTIONS, move.direction)
    for end, (points, directions) in element.ENDS.items():
        if end in element.REFERENCES and is_ground(getattr(element, end)):
            change_each(element, points, move.point)
            change_each(element, directions, move.direction)
    return None


def users_function_moved(element: Any, move: Move) -> str | None:
    """`include_at` of users' functions, which speak of the world: of what they ask of it, velocities and directions stay the
    same if nothing is turned."""
    asked = [
        what
        for field in element.FUNCTIONS
        if getattr(element, field) is not None
        for _, what, _ in element.traced(field).requests
    ]
    if move.turns or "point" in asked or any(is_ground(item) for _, _, item in element.references()):
        return "its function speaks of places or directions in the world"
    return None


def spring_moved(spring: Any, move: Move) -> str | None:
    """`include_at` of springs in rotations."""
    if spring.rest is not None and np.size(spring.rest) == 4:
        spring.rest = move.relative(spring.rest)
    if move.turns and any(np.size(getattr(spring, name)) == 3 for name in ("stiffness", "damping")):
        return "its three stiffnesses are along the axes of the world"
    return None


def placed_moved(element: Any, move: Move) -> str | None:
    """`include_at` of what a body, or the ground, carries at a position and orientation."""
    if is_ground(element.body):
        change_each(element, ("position",), move.point)
        change_each(element, ("orientation",), move.orientation)
    return None
