"""Slider: b travels along an axis of a. The element, its rows, its coordinate (m) and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca
from casadi import SX

from linkwork.elements.core.constraint_kind import position_rows
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.mobilizer import HALF_TURN, ZERO3, Mobilizer, Reversed, Z
from linkwork.elements.core.registry import kind_of
from linkwork.elements.joints.axis import AxisJoint, AxisJointKind
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Pose
    from linkwork.symbolic.autodiff import Handle


@dataclass(eq=False, repr=False)
class Slider(AxisJoint):
    """b travels along an axis of a without turning; the travel is in metres, zero as built.

    >>> Slider("ground", "piston", at=(1, 0, 0), axis=(1, 0, 0)).rows
    5
    """

    rows: ClassVar[int] = 5
    has_coordinate: ClassVar[bool] = True


class SliderMobilizer(Mobilizer):
    """One travel along z."""

    name, freedoms = "slider", (Freedom.LENGTH,)
    reversed = Reversed(HALF_TURN)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return SX.eye(3), Z * q[0]

    def turn(self, q: SX, p: SX) -> SX:
        return SX([1, 0, 0, 0])

    def angular(self, q: SX, p: SX) -> SX:
        return ZERO3

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return d[2]


@kind_of(Slider)
class SliderKind(AxisJointKind):
    """b's anchor stays on the axis, and the frames stay aligned."""

    fields = {**AxisJointKind.fields, "axis_a": 3, "side_b": 3}
    levels = [POSITION] * 5
    full_rank = True
    mobilizer = SliderMobilizer()

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return position_rows(self.beside(handles, p), self.locked(handles, p))

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        return ca.vertcat(b.R @ p["axis_b"], ZERO3)
