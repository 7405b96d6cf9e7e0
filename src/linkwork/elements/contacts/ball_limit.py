"""What hard limits of balls bound: a swing, a turn about an axis, a turn about any. Rows that a kernel measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.functions import cross
from linkwork.elements.forces.rotation_law import RotationLawKind
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray

GIVEN = ("cone", "twist", "bounds")  # of a HardLimit, in the order of rows


class BallLimitRows(ConstraintKind):
    """The angle between an axis on a and on b; the turn about it, of which the rest is a swing; the angle of the whole turn."""

    fields = {**RotationLawKind.turns, "axis_a": 3, "axis_b": 3}
    needs_directions = (True, True)

    def __init__(self, element: Any) -> None:
        self.bounded = [name for name in GIVEN if name in element.given()]
        self.key = f"ball limit {self.bounded}"
        self.levels = [POSITION] * len(self.bounded)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.joint.a, element.joint.b

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        along = np.array([(0.0, 0.0, 1.0) if e.axis is None else e.axis for e in elements])
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(elements), 1))
        return {"turn_a": A.turn(still), "turn_b": B.turn(still), "axis_a": A.axis(along), "axis_b": B.axis(along)}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        turn = RotationLawKind.turn(handles, p)[0]
        axis_a, axis_b = handles[0].axis(p["axis_a"]), handles[1].axis(p["axis_b"])
        angles = {
            "cone": lambda: ca.atan2(_length(cross(axis_a, axis_b)), ca.dot(axis_a, axis_b)),
            "twist": lambda: 2 * ca.atan2(ca.dot(turn[1:4], axis_a), turn[0]),
            "bounds": lambda: 2 * ca.atan2(_length(turn[1:4]), turn[0]),
        }
        return [(POSITION, angles[name]()) for name in self.bounded]


def _length(v: SX) -> SX:
    return ca.sqrt(ca.sumsqr(v) + rotation.TINY)
