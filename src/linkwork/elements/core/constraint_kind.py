"""Constraints as rows: what each one needs of its two bodies, which numbers it keeps, and its expressions.

A *relation* is shared by all elements of one key. `bodies(element)` gives its two ends (the ground stands in where
there is only one), `numbers(elements, A, B)` its parameters as arrays with a row an element, `rows(handles, p, t)` its
expressions on the tape. A and B are the batches of body frames as built (placement.py). Joints have kinds of their own
(joint_kind.py), the other constraints are in symbolic/constraints.py. Only a user's function may have more ends than two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.traced import Traced
from linkwork.elements.core.units import Quantity
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from linkwork.elements.core.element import ConstraintElement
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


Params: TypeAlias = Mapping[str, SX]  # of one constraint, by name: as its kind's `fields` says


def column(elements: Sequence[Any], name: str) -> AnyArray:
    """One scalar field of all elements, (k, 1); Parameters stay as they are."""
    values = [getattr(e, name) for e in elements]
    plain = all(isinstance(v, (int, float)) for v in values)
    return np.array(values, dtype=float if plain else object).reshape(-1, 1)


def perpendicular(d: FloatArray) -> FloatArray:
    """A unit vector perpendicular to each row of d, (k, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(d), axis=1)]
    t = np.cross(d, helper)
    found: FloatArray = t / np.linalg.norm(t, axis=1, keepdims=True)
    return found


def _either(
    elements: Sequence[Any],
    world: str,
    on_a: str,
    on_b: str,
    to_a: Callable[..., Any],
    to_b: Callable[..., Any],
    user_a: Callable[..., Any],
    user_b: Callable[..., Any],
    from_a: Callable[..., Any],
    from_b: Callable[..., Any],
) -> tuple[FloatArray, FloatArray]:
    """A vector given in the world or in one or both bodies, in both bodies: (k, 3), (k, 3). Without any it is the
    origin of b's own frame."""
    given = [(getattr(e, world), getattr(e, on_a, None), getattr(e, on_b, None)) for e in elements]
    if all(w is not None and pb is None for w, _, pb in given):
        at = np.array([w for w, _, _ in given])
        return to_a(at), to_b(at)
    a, b = np.zeros((len(given), 3)), np.zeros((len(given), 3))
    for k, (w, pa, pb) in enumerate(given):
        pick = np.array([k])
        if w is None:
            pb = np.zeros(3) if pa is None and pb is None else pb
            w = from_a(user_a(pa, pick), pick)[0] if pa is not None else from_b(user_b(pb, pick), pick)[0]
        a[k] = user_a(pa, pick)[0] if pa is not None else to_a(w[None], pick)[0]
        b[k] = user_b(pb, pick)[0] if pb is not None else to_b(w[None], pick)[0]
    return a, b


def anchors(elements: Sequence[Any], A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
    return _either(elements, "at", "on_a", "on_b", A.point, B.point, A.user_point, B.user_point,
                   A.world_point, B.world_point)  # fmt: skip


def axes(elements: Sequence[Any], A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
    return _either(elements, "axis", "axis_a", "axis_b", A.axis, B.axis, A.user_axis, B.user_axis,
                   A.world_axis, B.world_axis)  # fmt: skip


def apart(handles: Sequence[Handle], p: Params) -> SX:
    """From a's anchor to b's."""
    a, b = handles
    return b.point(p["on_b"]) - a.point(p["on_a"])


def crossing(side: SX, s: SX, c: SX) -> SX:
    """+1 or -1 where an angle has passed half a turn since its sine was `side`, else 0."""
    up, down = ca.logic_and(side >= 0, s < 0), ca.logic_and(side < 0, s >= 0)
    return ca.if_else(c < 0, ca.if_else(up, 1, 0) - ca.if_else(down, 1, 0), 0)


class Relation:
    """The base: a constraint between two bodies, written with primitives."""

    fields: dict[str, int] = {}
    counters = 0  # angles whose turns it counts
    levels: list[str]
    needs_directions: tuple[bool, ...] = (False, False)  # which of its bodies must have directions
    rigid_only: tuple[bool, ...] = (False, False)  # which of its bodies must not stretch
    kept: dict[str, int] = {}  # numbers of the state, brought up to date after each step unless `told`; "unknowns": to be found
    told = False  # what it keeps is told from outside: steps leave it as it is
    stationary = False  # none of its rows changes with its unknowns, to first order, where they are right
    parameters: tuple[Parameter, ...] = ()  # Parameters of a user's function
    forced = False  # asks for motion of its own, and so does work
    meets = False  # its first three rows are the way from a's anchor to b's, in the world
    nonlinear = False  # its rows are not linear in velocities
    aimed = False  # names the forces that hold its rows
    read_names: tuple[Quantity, ...] = ()  # of a joint: its coordinates, those of its second body relative to its first ...
    read_rates: tuple[Quantity, ...] = ()  # ... and its velocities
    read_fields: dict[str, int] = {}  # constants that these need beside its parameters

    def __init__(self, element: ConstraintElement) -> None:
        self.key = element.family.__name__

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.a, element.b

    def numbers(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        raise NotImplementedError

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        raise NotImplementedError

    def rates(self, handles: Sequence[Handle], p: Params, t: SX) -> list[SX]:
        """Of a relation that is aimed: for each row the rate on which its multiplier works."""
        raise NotImplementedError

    def equations(self, handles: Sequence[Handle], p: Params) -> SX:
        """Of a relation with unknowns (p["unknowns"]): what vanishes where they are right, as many."""
        raise NotImplementedError

    def brought(self, handles: Sequence[Handle], p: Params) -> dict[str, SX]:
        """What it keeps, at the end of a step."""
        return {}

    def read_coordinates(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """The coordinates and velocities that `read_names` and `read_rates` name."""
        raise NotImplementedError

    def read_numbers(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, FloatArray]:
        """The constants that `read_fields` names, (k, size) each."""
        return {}

    def place(self, p: dict[str, FloatArray]) -> tuple[int, FloatArray] | None:
        """Which of its bodies it touches where (3,), in the user's frame, if that is no anchor."""
        return None

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        """(sine, cosine) of each counted angle."""
        return []

    def counted(self, handles: Sequence[Handle], p: Params) -> list[SX]:
        """The counted angles, turns included (p["turns"]: turns and last sine of each)."""
        found = []
        for k, (s, c) in enumerate(self.angles(handles, p)):
            turns, side = p["turns"][2 * k], p["turns"][2 * k + 1]
            found.append(ca.atan2(s, c) + 2 * np.pi * (turns + crossing(side, s, c)))
        return found

    def points_of(self, end: int) -> list[tuple[float, ...]]:
        """The points that the user's function, if any, asks its body `end` for."""
        functions = [f for f in (getattr(self, "traced", None), getattr(self, "force", None)) if isinstance(f, Traced)]
        return [
            local
            for f in functions
            for n, what, local in f.requests
            if n == end - (len(self.needs_directions) - f.bodies) and what.startswith("point") and local is not None
        ]

    def points_beside(self, end: int) -> bool:
        """Whether one of these is another than the body's position."""
        return any(any(local) for local in self.points_of(end))


def position_rows(*expressions: SX) -> list[tuple[str, SX]]:
    whole = ca.vertcat(*expressions)
    return [(POSITION, whole[i]) for i in range(whole.shape[0])]
