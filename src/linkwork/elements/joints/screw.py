"""Screw: b turns about an axis of a and travels along it in proportion. The element, its rows, its coordinate (rad), limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import position_rows
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.field_types import OpenScalarField, default
from linkwork.elements.core.mobilizer import Z, about, angle_about
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.joints.axis import AxisJoint, AxisJointKind
from linkwork.elements.joints.hinge import HingeMobilizer
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Screw(AxisJoint):
    """b turns about an axis of a and travels `pitch` metres along it each turn; a negative pitch is a left-hand thread.

    >>> Screw("frame", "nut", at=(0, 0, 0), axis=(0, 0, 1), pitch=0.005).pitch
    0.005
    """

    rows: ClassVar[int] = 5
    has_coordinate: ClassVar[bool] = True

    pitch: OpenScalarField = default(None)  # m a turn

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pitch is None:
            checks.fail(self, "pitch is missing", "give the metres of travel a turn such as pitch=0.005")
        self.pitch = checks.number(self, "pitch", self.pitch, parameter=True)


class ScrewMobilizer(HingeMobilizer):
    """One angle about z; p: the travel a radian."""

    name, constants = "screw", 1

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return about(2, q[0]), Z * (p[0] * q[0])

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        """The travel counts the turns."""
        angle = angle_about(2, E)
        turns = ca.floor((d[2] / ca.if_else(p[0] == 0, 1, p[0]) - angle) / (2 * math.pi) + 0.5)
        return angle + ca.if_else(p[0] == 0, 0, 2 * math.pi * turns)


@kind_of(Screw)
class ScrewKind(AxisJointKind):
    """The travel is pitch times the turns."""

    fields = {**AxisJointKind.fields, "axis_a": 3, "pitch": 1}
    levels = [POSITION] * 5
    counters = 1
    mobilizer = ScrewMobilizer()
    constant_fields = ("pitch",)

    def constants(self, joint: Any) -> list[float]:
        pitch = joint.pitch.value if isinstance(joint.pitch, Parameter) else joint.pitch
        return [float(pitch) / (2 * np.pi)]

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        return {**super().parameters(elements, A, B), "pitch": column(elements, "pitch")}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        (angle,) = self.counted(handles, p)
        advance = self.travel(handles, p) - p["pitch"] / (2 * np.pi) * angle
        return position_rows(self.beside(handles, p), self.along(handles, p), advance)

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        axis = b.R @ p["axis_b"]
        return ca.vertcat(p["pitch"] / (2 * np.pi) * axis, axis)
