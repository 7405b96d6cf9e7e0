"""Free: the six coordinates of a body that floats. It has no element: a body that no joint connects with the ground has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.freedom import Freedom
from linkwork.elements.joints.ball import BallMobilizer
from linkwork.symbolic import rotation

if TYPE_CHECKING:
    from linkwork.elements.core.mobilizer import Reversed
    from linkwork.util.array_types import FloatArray


class FreeMobilizer(BallMobilizer):
    """Position and quaternion of a body in the world; qd is its linear and its angular velocity, in the world's axes."""

    name, freedoms, floats = "free", (Freedom.LENGTH, Freedom.LENGTH, Freedom.LENGTH, Freedom.ROTATION), True

    @property
    def reversed(self) -> Reversed:
        raise NotImplementedError("a body that floats has no joint that could be reversed")

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        return rotation.matrix(q[3:7]), q[0:3]

    def turn(self, q: SX, p: SX) -> SX:
        return q[3:7]

    def angular(self, q: SX, p: SX) -> SX:
        return ca.horzcat(SX(3, 3), SX.eye(3))

    def linear(self, q: SX, p: SX) -> SX:
        return ca.horzcat(SX.eye(3), SX(3, 3))

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return ca.vertcat(d, rotation.quaternion(E))

    def integrate(self, q: SX, step: SX) -> SX:
        return ca.vertcat(q[0:3] + step[0:3], super().integrate(q[3:7], step[3:6]))

    def dexp_inverse(self, step: SX, qd: SX) -> SX:
        return ca.vertcat(qd[0:3], super().dexp_inverse(step[3:6], qd[3:6]))

    def difference(self, q0: SX, q1: SX) -> SX:
        return ca.vertcat(q1[0:3] - q0[0:3], super().difference(q0[3:7], q1[3:7]))

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]

    def random(self, generator: np.random.Generator, count: int) -> FloatArray:
        return np.hstack([generator.uniform(-1.0, 1.0, (count, 3)), super().random(generator, count)])


FREE = FreeMobilizer()
