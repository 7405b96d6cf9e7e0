"""Ball: a point of a stays on a point of b. The element, its rows, its coordinates (a quaternion) and its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.constraint_kind import anchors, position_rows
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.joint_kind import JointKind, LimitRow, LimitSort, Pivot
from linkwork.elements.core.mobilizer import ZERO3, Mobilizer, Reversed
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.blocks import cross, skew

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.joint_kind import Bounds, Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


@dataclass(eq=False, repr=False)
class Ball(Joint):
    """A point of a stays on a point of b.

    >>> Ball("crank", "rod", at=(0.4, 0, 0), name="pin")
    <Ball "pin">
    """

    rows: ClassVar[int] = 3


class BallMobilizer(Mobilizer):
    """A quaternion; qd is the angular velocity of the joint's second body relative to its first, in the first's axes."""

    name = "ball"
    freedoms: tuple[Freedom, ...] = (Freedom.ROTATION,)

    @property
    def reversed(self) -> Reversed:
        return Reversed(mobilizer=BACKWARDS)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return rotation.matrix(q), ZERO3

    def turn(self, q: SX, p: SX) -> SX:
        return q

    def angular(self, q: SX, p: SX) -> SX:
        return SX.eye(3)

    def linear(self, q: SX, p: SX) -> SX:
        return SX(3, 3)

    def bias(self, q: SX, qd: SX, p: SX) -> SX:
        return SX(6, 1)

    def subspace_rate(self, q: SX, qd: SX, p: SX) -> SX:
        return SX(6, self.nv)

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return rotation.quaternion(E)

    def integrate(self, q: SX, step: SX) -> SX:
        return rotation.normalised(rotation.product(rotation.exponential(step), q))

    def dexp_inverse(self, step: SX, qd: SX) -> SX:
        twist = cross(step, qd)
        return qd - 0.5 * twist + cross(step, twist) / 12

    def difference(self, q0: SX, q1: SX) -> SX:
        return rotation.vector(rotation.shorter(rotation.product(q1, rotation.conjugate(q0))))[0]

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0]

    def random(self, generator: np.random.Generator, count: int) -> FloatArray:
        q = generator.normal(size=(count, 4))
        found: FloatArray = q / np.linalg.norm(q, axis=1, keepdims=True)
        return found


class BackwardsBall(BallMobilizer):
    """Seen from its second body: q and qd are as before."""

    name = "ball-back"

    @property
    def reversed(self) -> Reversed:
        return Reversed(mobilizer=FORWARDS)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return rotation.matrix(q).T, ZERO3

    def turn(self, q: SX, p: SX) -> SX:
        return rotation.conjugate(q)

    def angular(self, q: SX, p: SX) -> SX:
        return -rotation.matrix(q).T

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return rotation.quaternion(E.T)

    def subspace_rate(self, q: SX, qd: SX, p: SX) -> SX:
        E = rotation.matrix(q).T
        return ca.vertcat(SX(3, 3), skew(E @ qd) @ E)


FORWARDS, BACKWARDS = BallMobilizer(), BackwardsBall()


@kind_of(Ball)
class BallKind(JointKind):
    """The anchors meet."""

    fields = {"on_a": 3, "on_b": 3}
    levels = [POSITION] * 3
    meets = full_rank = True
    mobilizer, law, pivot = FORWARDS, FreedomLaw.ROTATION, Pivot.BLOCK
    bounded = ("cone", "twist", "bounds")

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_a, on_b = anchors(elements, A, B)
        return {"on_a": on_a, "on_b": on_b}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        a, b = handles
        return position_rows(b.point(p["on_b"]) - a.point(p["on_a"]))

    read_fields = {"turn_a": 4, "turn_b": 4}

    def read_numbers(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, FloatArray]:
        """Frames on both bodies whose orientations are the world's as built."""
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(elements), 1))
        return {"turn_a": A.turn(still), "turn_b": B.turn(still)}

    def read_coordinates(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """The quaternion of b's frame in a's, and b's angular velocity relative to a in a's axes."""
        a, b = handles
        of_a, of_b = rotation.product(a.quaternion(), p["turn_a"]), rotation.product(b.quaternion(), p["turn_b"])
        turn = rotation.product(rotation.conjugate(of_a), of_b)
        return rotation.shorter(turn), rotation.matrix(of_a).T @ (b.spin() - a.spin())

    def frames(self, joint: Any, A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
        """The world's axes as built."""
        return np.eye(3), np.eye(3)

    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        return ca.vertcat(SX(3, 3), SX.eye(3))

    def least_turn(self, Ra: SX, Rb: SX, p: Params, own: int) -> SX | None:
        return None

    def limit_rows(self, limit: Bounds, p: Mapping[str, FloatArray], A: Placement, B: Placement) -> list[LimitRow]:
        """The angle between the limit's axis on a and on b."""
        a, b = (frames.axis(np.array([limit.axis], dtype=float))[0] for frames in (A, B))
        return [LimitRow(LimitSort.CONE, (p["on_a"], p["on_b"], a, np.zeros(3), b), (None, limit.cone))]
