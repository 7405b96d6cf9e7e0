"""Universal: a cross of two axes that stay perpendicular. The element, its rows, its coordinates (two angles, rad), limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import anchors, position_rows
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.joint_kind import JointKind, LimitRow, LimitSort, Pivot, Turning
from linkwork.elements.core.mobilizer import ZERO3, Mobilizer, Reversed, X, about, half_turned
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.units import Quantity, rate_of
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.blocks import cross
from linkwork.symbolic.rotation import TINY

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Bounds, Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


SWAPPED = np.array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])  # the axes change places and point back


@dataclass(eq=False, repr=False)
class Universal(Joint):
    """A cross of two axes that stay perpendicular: `first` is fixed to a, `second` to b.

    >>> Universal("input", "output", at=(0, 0, 0), first=(1, 0, 0), second=(0, 1, 0)).rows
    4
    """

    rows: ClassVar[int] = 4

    first: VectorField = default((1.0, 0.0, 0.0))  # (3,), unit, world
    second: VectorField = default((0.0, 1.0, 0.0))  # (3,), unit, world, perpendicular to first

    def __post_init__(self) -> None:
        super().__post_init__()
        self.first = checks.direction(self, "first", self.first)
        second = checks.direction(self, "second", self.second)
        self.second = checks.perpendicular(self, "second", second, "first", self.first)


class UniversalMobilizer(Mobilizer):
    """x is fixed to the parent, y to the child: the angle about x, then about y."""

    name, freedoms = "universal", (Freedom.TURN, Freedom.TURN)
    reversed = Reversed(SWAPPED, swapped=True)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return about(0, q[0]) @ about(1, q[1]), ZERO3

    def turn(self, q: SX, p: SX) -> SX:
        return rotation.product(half_turned(0, q[0]), half_turned(1, q[1]))

    def angular(self, q: SX, p: SX) -> SX:
        return ca.horzcat(X, about(0, q[0])[:, 1])

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return ca.vertcat(ca.atan2(E[2, 1], E[1, 1]), ca.atan2(E[0, 2], E[0, 0]))


@kind_of(Universal)
class UniversalKind(JointKind):
    """The anchors meet, and the axes stay perpendicular."""

    fields = {"on_a": 3, "on_b": 3, "first": 3, "second": 3}
    levels = [POSITION] * 4
    needs_directions = (True, True)
    meets = full_rank = True
    mobilizer, law, pivot = UniversalMobilizer(), FreedomLaw.CROSS, Pivot.AXES
    bounded = ("bounds",)

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_a, on_b = anchors(elements, A, B)
        first = A.axis(np.array([e.first for e in elements]))
        return {"on_a": on_a, "on_b": on_b, "first": first, "second": B.axis(np.array([e.second for e in elements]))}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        a, b = handles
        cross_axes = ca.dot(a.axis(p["first"]), b.axis(p["second"]))
        return position_rows(b.point(p["on_b"]) - a.point(p["on_a"]), cross_axes)

    read_names = Quantity("angle about the first axis", "rad"), Quantity("angle about the second axis", "rad")
    read_rates = tuple(map(rate_of, read_names))
    read_fields = {"second_a": 3, "third_a": 3, "first_b": 3, "third_b": 3}

    def read_numbers(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, FloatArray]:
        """Both axes and the one across them as built: those of the cross, on a and on b."""
        first, second = np.array([e.first for e in elements]), np.array([e.second for e in elements])
        third = np.cross(first, second)
        return {"second_a": A.axis(second), "third_a": A.axis(third), "first_b": B.axis(first), "third_b": B.axis(third)}

    def read_coordinates(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """From -pi to pi: about the axis on a, then about the one on b."""
        a, b = handles
        first, second, spin = a.axis(p["first"]), b.axis(p["second"]), b.spin() - a.spin()
        about_first = ca.atan2(ca.dot(second, a.axis(p["third_a"])), ca.dot(second, a.axis(p["second_a"])))
        about_second = ca.atan2(ca.dot(first, b.axis(p["third_b"])), ca.dot(first, b.axis(p["first_b"])))
        return ca.vertcat(about_first, about_second), ca.vertcat(ca.dot(first, spin), ca.dot(second, spin))

    def frames(self, joint: Any, A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
        """x is the first axis, y the second."""
        both = np.column_stack([joint.first, joint.second, np.cross(joint.first, joint.second)])
        return both, both

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        return ca.vertcat(SX(3, 2), ca.horzcat(a.R @ p["first"], b.R @ p["second"]))

    def turning(self, Ra: SX, wa: SX, Rb: SX, wb: SX, p: Params, sign: float) -> Turning:
        first, second = Ra @ p["first"], Rb @ p["second"]
        normal = cross(first, second)  # the row first . second changes by -normal . (w_b - w_a)
        return Turning(ca.horzcat(first, second), -sign / ca.sumsqr(normal) * normal)

    def least_turn(self, Ra: SX, Rb: SX, p: Params, own: int) -> SX:
        axes = [Ra @ p["first"], Rb @ p["second"]]
        other, mine = axes[1 - own], axes[own]
        right = mine - ca.dot(mine, other) * other
        return rotation.least_turn(mine, right / ca.sqrt(ca.sumsqr(right) + TINY))

    def limit_rows(self, limit: Bounds, p: Mapping[str, FloatArray], A: Placement, B: Placement) -> list[LimitRow]:
        """The two angles: of the cross about a's `first`, and of b about its `second`."""
        first, second = limit.joint.first, limit.joint.second
        third = np.cross(first, second)
        (a1, a2, a3), (b1, b2, b3) = ([frames.axis(np.array([v], dtype=float))[0] for v in (first, second, third)]
                                      for frames in (A, B))  # fmt: skip
        one, two = limit.bounds(2)
        about_first, about_second = (p["on_a"], p["on_b"], a2, a3, b2), (p["on_b"], p["on_a"], b1, b3, a1)
        return [LimitRow(LimitSort.TURN, about_first, one), LimitRow(LimitSort.TURN, about_second, two, swapped=True)]
