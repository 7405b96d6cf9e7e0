"""Weld: b stays as it is built relative to a. The element and its rows; it has no coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.constraint_kind import position_rows
from linkwork.elements.core.freedom import FreedomLaw
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.mobilizer import ZERO3, Mobilizer, Reversed
from linkwork.elements.core.registry import kind_of
from linkwork.elements.joints.axis import AxisJointKind, WithAxis
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import FloatArray


@dataclass(eq=False, repr=False)
class Weld(Joint):
    """b stays as it is built relative to a. Without an anchor, reactions are told at b's `position`.

    >>> Weld("arm", "camera", name="mount")
    <Weld "mount">
    """

    rows: ClassVar[int] = 6

    def _check_anchor(self) -> None:
        if self.at is not None or self.on_a is not None or self.on_b is not None:
            super()._check_anchor()


class WeldMobilizer(Mobilizer):
    """Nothing moves."""

    name, freedoms = "weld", ()
    reversed = Reversed()

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return SX.eye(3), ZERO3

    def turn(self, q: SX, p: SX) -> SX:
        return SX([1, 0, 0, 0])

    def angular(self, q: SX, p: SX) -> SX:
        return SX(3, 0)

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return SX(0, 1)


@kind_of(Weld)
class WeldKind(AxisJointKind):
    """The anchors meet, and the frames stay aligned."""

    fields = {**AxisJointKind.fields, "axis_a": 3, "side_b": 3}
    levels = [POSITION] * 6
    meets = full_rank = True
    mobilizer, law, bounded, reading = WeldMobilizer(), FreedomLaw.NONE, (), None

    def frame(
        self, elements: Sequence[Any], A: Placement, B: Placement
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        return super().frame([WithAxis(np.array([0.0, 0.0, 1.0])) for _ in elements], A, B)

    def frames(self, joint: Any, A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
        """The world's axes as built."""
        return np.eye(3), np.eye(3)

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return position_rows(self.apart(handles, p), self.locked(handles, p))

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        return SX(6, 0)

    def least_turn(self, Ra: SX, Rb: SX, p: Params, own: int) -> SX:
        axes_a = [Ra @ p[name] for name in ("ref_a", "side_a", "axis_a")]
        axes_b = [Rb @ p[name] for name in ("ref_b", "side_b", "axis_b")]
        F = ca.horzcat(*axes_a) @ ca.horzcat(*axes_b).T  # takes b's directions to a's
        return rotation.quaternion(F if own == 1 else F.T)
