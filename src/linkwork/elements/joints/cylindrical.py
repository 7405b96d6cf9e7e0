"""Cylindrical: b turns about and travels along an axis of a. The element, its rows, its coordinates (rad, m) and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from linkwork.elements.core.constraint_kind import position_rows
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.mobilizer import HALF_TURN, ZERO3, Mobilizer, Reversed, Z, about, angle_about, half_turned
from linkwork.elements.core.registry import kind_of
from linkwork.elements.joints.axis import AxisJoint, AxisJointKind
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Pose
    from linkwork.symbolic.autodiff import Handle


@dataclass(eq=False, repr=False)
class Cylindrical(AxisJoint):
    """b turns about and travels along an axis of a.

    >>> Cylindrical("sleeve", "shaft", at=(0, 0, 0), axis=(0, 0, 1)).rows
    4
    """

    rows: ClassVar[int] = 4


class CylindricalMobilizer(Mobilizer):
    """The angle, then the travel."""

    name, freedoms = "cylindrical", (Freedom.TURN, Freedom.LENGTH)
    reversed = Reversed(HALF_TURN)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return about(2, q[0]), Z * q[1]

    def turn(self, q: SX, p: SX) -> SX:
        return half_turned(2, q[0])

    def angular(self, q: SX, p: SX) -> SX:
        return ca.horzcat(Z, ZERO3)

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return ca.vertcat(angle_about(2, E), d[2])


@kind_of(Cylindrical)
class CylindricalKind(AxisJointKind):
    """b's anchor stays on the axis, and the axes stay parallel."""

    fields = {**AxisJointKind.fields, "axis_a": 3}
    levels = [POSITION] * 4
    counters = 1
    full_rank = True
    mobilizer = CylindricalMobilizer()
    bounded = ("bounds", "twist")

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return position_rows(self.beside(handles, p), self.along(handles, p))

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        axis = b.R @ p["axis_b"]
        return ca.horzcat(ca.vertcat(ZERO3, axis), ca.vertcat(axis, ZERO3))
