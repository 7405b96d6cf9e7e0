"""What joints with an axis share: the element, a frame (ref, side, axis) on each body, angle and travel, and their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import anchors, axes, perpendicular
from linkwork.elements.core.element_kind import apart
from linkwork.elements.core.field_types import OptionalVectorField, default
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.joint import Joint, one_way
from linkwork.elements.core.joint_kind import Bounds, JointKind, LimitRow, LimitSort
from linkwork.symbolic.blocks import cross

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


@dataclass(eq=False, repr=False)
class AxisJoint(Joint):
    """A joint with an axis that both bodies share."""

    axis: OptionalVectorField = default(None)  # (3,), unit, world
    axis_a: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, in a's frame
    axis_b: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, in b's frame

    def __post_init__(self) -> None:
        super().__post_init__()
        one_way(self, checks.direction, "axis", ("axis_a", "axis_b"), "a direction such as (0, 1, 0)")


class AxisJointKind(JointKind):
    """Joints with a frame (ref, side, axis) on each body, the same in the world as built."""

    fields = {"on_a": 3, "on_b": 3, "ref_a": 3, "side_a": 3, "axis_b": 3, "ref_b": 3}
    needs_directions = (True, True)
    law = FreedomLaw.AXIS
    bounded: tuple[str, ...] = ("bounds",)

    @property
    def reading(self) -> Freedom | None:  # type: ignore[override]
        return self.freedoms[0]

    def frame(
        self, elements: Sequence[Any], A: Placement, B: Placement
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Axes on a: axis, ref, side; on b: axis, ref. (k, 3) each, in the bodies' internal frames."""
        axis_a, axis_b = axes(elements, A, B)
        ref_a = perpendicular(axis_a)
        side_a = np.cross(axis_a, ref_a)
        ref_b = B.axis(A.world_axis(ref_a))
        ref_b -= np.sum(ref_b * axis_b, axis=1, keepdims=True) * axis_b
        ref_b /= np.linalg.norm(ref_b, axis=1, keepdims=True)
        return axis_a, ref_a, side_a, axis_b, ref_b

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_a, on_b = anchors(elements, A, B)
        axis_a, ref_a, side_a, axis_b, ref_b = self.frame(elements, A, B)
        found = {"on_a": on_a, "on_b": on_b, "ref_a": ref_a, "side_a": side_a, "axis_b": axis_b, "ref_b": ref_b,
                 "axis_a": axis_a, "side_b": np.cross(axis_b, ref_b)}  # fmt: skip
        return {name: found[name] for name in self.fields if name in found}

    def frames(self, joint: Any, A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
        """z is the axis."""
        axis_a, ref_a, side_a, axis_b, ref_b = self.frame([joint], A, B)
        of_a = [A.world_axis(v)[0] for v in (ref_a, side_a, axis_a)]
        of_b = [B.world_axis(v)[0] for v in (ref_b, np.cross(axis_b, ref_b), axis_b)]
        return np.column_stack(of_a), np.column_stack(of_b)

    @staticmethod
    def angle(handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """(sine, cosine) of the turn of b about the axis."""
        a, b = handles
        ref = b.axis(p["ref_b"])
        return ca.dot(a.axis(p["side_a"]), ref), ca.dot(a.axis(p["ref_a"]), ref)

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return [self.angle(handles, p)][: self.counters]

    apart = staticmethod(apart)

    @staticmethod
    def along(handles: Sequence[Handle], p: Params) -> SX:
        """The axes stay parallel: two rows."""
        a, b = handles
        axis = b.axis(p["axis_b"])
        return ca.vertcat(ca.dot(a.axis(p["ref_a"]), axis), ca.dot(a.axis(p["side_a"]), axis))

    def beside(self, handles: Sequence[Handle], p: Params) -> SX:
        """b's anchor stays on a's axis: two rows."""
        a, d = handles[0], self.apart(handles, p)
        return ca.vertcat(ca.dot(a.axis(p["ref_a"]), d), ca.dot(a.axis(p["side_a"]), d))

    def travel(self, handles: Sequence[Handle], p: Params) -> SX:
        """Of b's anchor along the axis of a, which stands in `fields` then: "axis_a"."""
        return ca.dot(handles[0].axis(p["axis_a"]), self.apart(handles, p))

    def travel_rate(self, handles: Sequence[Handle], p: Params) -> SX:
        a, b = handles
        along = ca.dot(a.axis(p["axis_a"]), b.point_rate(p["on_b"]) - a.point_rate(p["on_a"]))
        return along + ca.dot(a.axis_rate(p["axis_a"]), self.apart(handles, p))

    @staticmethod
    def turn_rate(handles: Sequence[Handle], p: Params) -> SX:
        """The rate of the angle."""
        a, b = handles
        return ca.dot(cross(a.axis(p["ref_a"]), a.axis(p["side_a"])), b.spin() - a.spin())

    def read_angle(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """The counted angle and its rate."""
        return self.counted(handles, p)[0], self.turn_rate(handles, p)

    def read_travel(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        return self.travel(handles, p), self.travel_rate(handles, p)

    read_fields: dict[str, int] = {}

    def read_numbers(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[Any, Any]:
        return {}

    def read_coordinates(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """Angles about and travels along the axis, one for each freedom."""
        ways = {Freedom.TURN: self.read_angle, Freedom.LENGTH: self.read_travel}
        values, rates = zip(*[ways[freedom](handles, p) for freedom in self.freedoms], strict=True)
        return ca.vertcat(*values), ca.vertcat(*rates)

    @staticmethod
    def locked(handles: Sequence[Handle], p: Params) -> SX:
        """The frames stay aligned: three rows."""
        a, b = handles
        return ca.vertcat(ca.dot(a.axis(p["side_a"]), b.axis(p["axis_b"])),
                          ca.dot(a.axis(p["axis_a"]), b.axis(p["ref_b"])),
                          ca.dot(a.axis(p["ref_a"]), b.axis(p["side_b"])))  # fmt: skip

    def limit_rows(self, limit: Bounds, p: Mapping[str, FloatArray], A: Placement, B: Placement) -> list[LimitRow]:
        """`lower` and `upper` bound the travel, if there is one travel, else the angle; `twist` bounds the angle."""
        frame = p["on_a"], p["on_b"], p["ref_a"], p["side_a"], p["ref_b"]
        sort = LimitSort.TRAVEL if self.lengths == 1 else LimitSort.TURN
        rows = [LimitRow(sort, frame, limit.bounds(1)[0], counted=True)]
        if limit.twist is not None:
            rows.append(LimitRow(LimitSort.TURN, frame, tuple(limit.twist), counted=True))
        return rows


class WithAxis:
    """Stands for an element that calls its axis by another name."""

    def __init__(self, axis: FloatArray) -> None:
        self.axis, self.axis_a, self.axis_b = axis, None, None
