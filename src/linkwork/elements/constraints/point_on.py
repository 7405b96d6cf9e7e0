"""PointOnLine, PointOnPlane: a point of b on a flat figure of a. The elements and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind, anchors, perpendicular, position_rows
from linkwork.elements.core.element import PairConstraint
from linkwork.elements.core.field_types import OptionalVectorField, default
from linkwork.elements.core.joint import one_way
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class PointOn(PairConstraint):
    """A point of b on a flat figure of a. The figure passes through `at` or `on_a`, else through b's point as built.

    b's point is `on_b`, else where `at` or `on_a` lies as built, else its `position`.
    """

    DIRECTION: ClassVar[str]
    WORLD_POINTS: ClassVar[tuple[str, ...]] = ("at",)
    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("axis", "normal")

    at: OptionalVectorField = default(None)  # (3,), m, world
    on_a: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), m, in a's frame
    on_b: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self) -> None:
        super().__post_init__()
        self.at = checks.optional(checks.vector, self, "at", self.at)
        self.on_a = checks.optional(checks.vector, self, "on_a", self.on_a)
        self.on_b = checks.optional(checks.vector, self, "on_b", self.on_b)
        if self.at is not None and self.on_a is not None:
            checks.fail(self, "both at and on_a are given", "give at= or on_a=, not both")
        one_way(self, checks.direction, self.DIRECTION, (self.DIRECTION + "_a",), "a direction such as (0, 0, 1)")


@dataclass(eq=False, repr=False)
class PointOnLine(PointOn):
    """A point of b stays on a line of a (two rows).

    >>> PointOnLine("ground", "bead", at=(0, 0, 0), axis=(1, 0, 0), name="wire")
    <PointOnLine "wire">
    """

    DIRECTION: ClassVar[str] = "axis"

    axis: OptionalVectorField = default(None)  # (3,), unit, world
    axis_a: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, in a's frame


@kind_of(PointOnLine)
class PointOnLineKind(ConstraintKind):
    fields = {"on_a": 3, "on_b": 3, "beside": 3, "above": 3}
    levels = [POSITION] * 2
    needs_directions = (True, False)

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_a, on_b = anchors(elements, A, B)
        line = np.array([A.line(e.axis[None], np.array([k]))[0] if e.axis is not None
                         else A.user_line(e.axis_a, np.array([k]))[0] for k, e in enumerate(elements)])  # fmt: skip
        line /= np.linalg.norm(line, axis=1, keepdims=True)
        beside = perpendicular(line)
        return {"on_a": on_a, "on_b": on_b, "beside": beside, "above": np.cross(line, beside)}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        return position_rows(ca.dot(a.normal(p["beside"]), d), ca.dot(a.normal(p["above"]), d))


@dataclass(eq=False, repr=False)
class PointOnPlane(PointOn):
    """A point of b stays in a plane of a (one row).

    >>> PointOnPlane("ground", "table", normal=(0, 0, 1), on_b=(0, 0, -0.4), name="foot")
    <PointOnPlane "foot">
    """

    DIRECTION: ClassVar[str] = "normal"

    normal: OptionalVectorField = default(None)  # (3,), unit, world
    normal_a: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, in a's frame


@kind_of(PointOnPlane)
class PointOnPlaneKind(ConstraintKind):
    fields = {"on_a": 3, "on_b": 3, "normal": 3}
    levels = [POSITION]
    needs_directions = (True, False)

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_a, on_b = anchors(elements, A, B)
        normal = [A.normal(e.normal[None], np.array([k]))[0] if e.normal is not None
                  else A.user_normal(e.normal_a, np.array([k]))[0] for k, e in enumerate(elements)]  # fmt: skip
        return {"on_a": on_a, "on_b": on_b, "normal": np.array(normal)}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        a, b = handles
        return position_rows(ca.dot(a.normal(p["normal"]), b.point(p["on_b"]) - a.point(p["on_a"])))
