"""Hinge: b turns about an axis of a. The element, its rows, its coordinate (rad) and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from linkwork.elements.core.constraint_kind import position_rows
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.joint_kind import ClosedAngle, ClosedRows, Pivot, Turning
from linkwork.elements.core.mobilizer import HALF_TURN, ZERO3, Mobilizer, Reversed, Z, about, angle_about, half_turned
from linkwork.elements.core.registry import kind_of
from linkwork.elements.joints.axis import AxisJoint, AxisJointKind
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.blocks import cross

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Pose
    from linkwork.symbolic.autodiff import Handle


@dataclass(eq=False, repr=False)
class Hinge(AxisJoint):
    """b turns about an axis of a; the angle is right-handed about it, zero as built.

    >>> Hinge("ground", "crank", at=(0, 0, 0), axis=(0, 2, 0)).axis.tolist()
    [0.0, 1.0, 0.0]
    """

    rows: ClassVar[int] = 5
    has_coordinate: ClassVar[bool] = True


class HingeMobilizer(Mobilizer):
    """One angle about z."""

    name, freedoms = "hinge", (Freedom.TURN,)
    reversed = Reversed(HALF_TURN)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return about(2, q[0]), ZERO3

    def turn(self, q: SX, p: SX) -> SX:
        return half_turned(2, q[0])

    def angular(self, q: SX, p: SX) -> SX:
        return Z

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return angle_about(2, E)


@kind_of(Hinge)
class HingeKind(AxisJointKind):
    """The anchors meet; b's axis is perpendicular to two directions of a."""

    levels = [POSITION] * 5
    counters = 1
    meets = full_rank = True
    mobilizer, pivot = HingeMobilizer(), Pivot.AXES

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return position_rows(self.apart(handles, p), self.along(handles, p))

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        return ca.vertcat(ZERO3, b.R @ p["axis_b"])

    def turning(self, Ra: SX, wa: SX, Rb: SX, wb: SX, p: Params, sign: float) -> Turning:
        """The rows are C_i = t_i . a with t_1, t_2 fixed to the first body, the axis a to the second. Their rates are t_i . z
        with z = (w_b - w_a) x a, their biases t_i . (z x w_a + (w_b - w_a) x (w_b x a)): the same vector for both. On the
        child the rows are +-(a x t_i), to which +-t_2 / (a . t_1 x t_2) and -+t_1 / (a . t_1 x t_2) are dual up to
        multiples of a, which is free.
        """
        t1, t2, axis = Ra @ p["ref_a"], Ra @ p["side_a"], Rb @ p["axis_b"]
        relative = wb - wa
        z = cross(relative, axis)
        bias = cross(z, wa) + cross(relative, cross(wb, axis))
        ref = Rb @ p["ref_b"]
        scale = sign / ca.dot(axis, cross(t1, t2))
        rows = ClosedRows((t1, t2), value=axis, rate=z, bias=bias, angle=(ca.dot(t2, ref), ca.dot(t1, ref)))
        return Turning(axis, ca.horzcat(scale * t2, -scale * t1), rows, self.closed_angle(t1, t2, ref, wa, relative, sign))

    @staticmethod
    def closed_angle(t1: SX, t2: SX, ref: SX, wa: SX, relative: SX, sign: float) -> ClosedAngle:
        """With s = t_2 . ref and c = t_1 . ref the angle has the differential (c ds - s dc) / (s^2 + c^2). Seen from the first
        body ref' = w x ref, w the relative velocity, of which w' = -w_a x w is left where no velocity changes."""
        s, c = ca.dot(t2, ref), ca.dot(t1, ref)
        across, square = c * t2 - s * t1, s**2 + c**2
        speed = cross(relative, ref)
        change = cross(relative, speed) - cross(cross(wa, relative), ref)
        rate = ca.dot(across, speed) / square
        bias = (ca.dot(across, change) - 2 * rate * ca.dot(s * t2 + c * t1, speed)) / square
        return ClosedAngle(sign / square * cross(ref, across), rate, bias)

    def least_turn(self, Ra: SX, Rb: SX, p: Params, own: int) -> SX:
        axes = [Ra @ cross(p["ref_a"], p["side_a"]), Rb @ p["axis_b"]]
        return rotation.least_turn(axes[own], axes[1 - own])
