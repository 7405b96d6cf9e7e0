"""Planar: b slides in a plane of a and turns about its normal. The element, its rows, its coordinates (m, m, rad), limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import position_rows
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.joint_kind import LimitRow, LimitSort
from linkwork.elements.core.mobilizer import ZERO3, Mobilizer, Reversed, X, Y, Z, about, angle_about, half_turned
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.units import ANGLE, Quantity, rate_of
from linkwork.elements.joints.axis import AxisJointKind, WithAxis
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Bounds, Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import FloatArray


@dataclass(eq=False, repr=False)
class Planar(Joint):
    """b slides in a plane of a and turns about its normal.

    >>> Planar("ground", "puck", at=(0, 0, 0), normal=(0, 0, 1)).rows
    3
    """

    rows: ClassVar[int] = 3

    normal: VectorField = default((0.0, 0.0, 1.0))  # (3,), unit, world

    def __post_init__(self) -> None:
        super().__post_init__()
        self.normal = checks.direction(self, "normal", self.normal)


class PlanarMobilizer(Mobilizer):
    """x and y in the plane, then the angle."""

    name, freedoms = "planar", (Freedom.LENGTH, Freedom.LENGTH, Freedom.TURN)

    @property
    def reversed(self) -> Reversed:
        return Reversed(mobilizer=BACKWARDS)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return about(2, q[2]), X * q[0] + Y * q[1]

    def turn(self, q: SX, p: SX) -> SX:
        return half_turned(2, q[2])

    def angular(self, q: SX, p: SX) -> SX:
        return ca.horzcat(ZERO3, ZERO3, Z)

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return ca.vertcat(d[0], d[1], angle_about(2, E))


class BackwardsPlanar(PlanarMobilizer):
    """Seen from its second body: the same coordinates."""

    name = "planar-back"

    @property
    def reversed(self) -> Reversed:
        return Reversed(mobilizer=FORWARDS)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        E = about(2, -q[2])
        return E, -(E @ (X * q[0] + Y * q[1]))

    def turn(self, q: SX, p: SX) -> SX:
        return half_turned(2, -q[2])

    def angular(self, q: SX, p: SX) -> SX:
        return ca.horzcat(ZERO3, ZERO3, -Z)

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return ca.vertcat(-(E.T @ d)[0:2], -angle_about(2, E))


FORWARDS, BACKWARDS = PlanarMobilizer(), BackwardsPlanar()
TINY = 1e-300


@kind_of(Planar)
class PlanarKind(AxisJointKind):
    """The normal is the axis of the frame; b's anchor stays in the plane through a's."""

    fields = {**AxisJointKind.fields, "axis_a": 3}
    levels = [POSITION] * 3
    full_rank = True
    mobilizer = FORWARDS
    bounded = ("bounds", "x", "y", "reach")
    reading = None

    def frame(
        self, elements: Sequence[Any], A: Placement, B: Placement
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        return super().frame([WithAxis(e.normal) for e in elements], A, B)

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return position_rows(self.travel(handles, p), self.along(handles, p))

    read_names = Quantity("travel x", "m"), Quantity("travel y", "m"), ANGLE
    read_rates = tuple(map(rate_of, read_names))

    def read_coordinates(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """Travels along two axes of a in the plane, then the angle, from -pi to pi."""
        a, b = handles
        apart, speed = self.apart(handles, p), b.point_rate(p["on_b"]) - a.point_rate(p["on_a"])
        s, c = self.angle(handles, p)
        along = [(ca.dot(a.axis(p[name]), apart), ca.dot(a.axis(p[name]), speed) + ca.dot(a.axis_rate(p[name]), apart))
                 for name in ("ref_a", "side_a")]  # fmt: skip
        (x, vx), (y, vy) = along
        return ca.vertcat(x, y, ca.atan2(s, c)), ca.vertcat(vx, vy, self.turn_rate(handles, p))

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        turn = ca.vertcat(ZERO3, b.R @ p["axis_b"])
        sides = [ca.vertcat(a.R @ p[side], ZERO3) for side in ("ref_a", "side_a")]
        return ca.horzcat(*sides, turn)

    def limit_rows(self, limit: Bounds, p: Mapping[str, FloatArray], A: Placement, B: Placement) -> list[LimitRow]:
        """`lower` and `upper` bound the angle, `x` and `y` the travels, `reach` the distance of the anchors."""
        anchors, zero, normal = (p["on_a"], p["on_b"]), np.zeros(3), p["axis_a"]
        x = zero if limit.axis is None else np.cross(np.cross(normal, A.axis(limit.axis[None])[0]), normal)
        x = x / max(float(np.linalg.norm(x)), TINY)
        frames = {"x": (*anchors, np.cross(normal, x), normal, zero), "y": (*anchors, normal, x, zero)}
        rows = super().limit_rows(limit, p, A, B) if limit.lower is not None or limit.upper is not None else []
        rows += [LimitRow(LimitSort.TRAVEL, frame, tuple(getattr(limit, name).tolist())) for name, frame in frames.items()
                 if getattr(limit, name) is not None]  # fmt: skip
        if limit.reach is not None:
            rows.append(LimitRow(LimitSort.ROPE, (*anchors, zero, zero, zero), (None, limit.reach)))
        return rows
