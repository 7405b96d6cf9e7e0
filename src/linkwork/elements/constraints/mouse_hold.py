"""Hold: a hand leads the point of a body that it has taken hold of (`Simulation.grab`). The element and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind, position_rows
from linkwork.elements.core.element import BodyLike, ConstraintElement
from linkwork.elements.core.element_kind import column, vectors
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Hold(ConstraintElement):
    """The point `at` of a body is led from `start`, where it has a velocity at the time `since`, to a goal in the world, as a
    critically damped oscillator comes to rest.

    >>> Hold("lamp", start=(0, 0, 0), goal=(0, 0, 1), pace=10.0, name="hand")
    <Hold "hand">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}
    MOVING: ClassVar[tuple[str, ...]] = ("start", "velocity", "goal", "since", "pace")  # what changes while it is in force

    body: BodyLike
    at: VectorField = default(checks.ZERO)  # (3,), m, in the body's frame
    start: VectorField = default(checks.ZERO)  # (3,), m, world
    velocity: VectorField = default(checks.ZERO)  # (3,), m/s
    goal: VectorField = default(checks.ZERO)  # (3,), m, world
    since: float = 0.0  # s
    pace: float = 1.0  # 1/s


@kind_of(Hold)
class HoldKind(ConstraintKind):
    """x = goal + (away + (v + pace away) s) exp(-pace s), with s since it began and away = start - goal."""

    fields = {"on_b": 3, "start": 3, "velocity": 3, "goal": 3, "since": 1, "pace": 1}
    levels = [POSITION] * 3
    forced = gives_way = True

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.body

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        found = {name: vectors(elements, name) for name in ("start", "velocity", "goal")}
        found |= {name: column(elements, name) for name in ("since", "pace")}
        return found | {"on_b": B.user_point(vectors(elements, "at"))}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        s, away = ca.if_else(t >= p["since"], t - p["since"], 0), p["start"] - p["goal"]
        path = p["goal"] + (away + (p["velocity"] + p["pace"] * away) * s) * ca.exp(-p["pace"] * s)
        return position_rows(handles[1].point(p["on_b"]) - path)
