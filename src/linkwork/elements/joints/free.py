"""Free: the six coordinates of a body that floats. It has no element: a body that no joint connects with the ground has it."""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.freedom import Freedom
from linkwork.elements.joints.ball import BallMobilizer
from linkwork.symbolic import rotation


class FreeMobilizer(BallMobilizer):
    """Position and quaternion of a body in the world; qd is its linear and its angular velocity, in the world's axes."""

    name, freedoms, floats = "free", (Freedom.LENGTH, Freedom.LENGTH, Freedom.LENGTH, Freedom.ROTATION), True

    @property
    def reversed(self):
        raise NotImplementedError("a body that floats has no joint that could be reversed")

    def transform(self, q, p):
        return rotation.matrix(q[3:7]), q[0:3]

    def turn(self, q, p):
        return q[3:7]

    def angular(self, q, p):
        return ca.horzcat(SX(3, 3), SX.eye(3))

    def linear(self, q, p):
        return ca.horzcat(SX.eye(3), SX(3, 3))

    def coordinates(self, E, d, p):
        return ca.vertcat(d, rotation.quaternion(E))

    def integrate(self, q, step):
        return ca.vertcat(q[0:3] + step[0:3], super().integrate(q[3:7], step[3:6]))

    def dexp_inverse(self, step, qd):
        return ca.vertcat(qd[0:3], super().dexp_inverse(step[3:6], qd[3:6]))

    def difference(self, q0, q1):
        return ca.vertcat(q1[0:3] - q0[0:3], super().difference(q0[3:7], q1[3:7]))

    def neutral(self):
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]

    def random(self, generator, count):
        return np.hstack([generator.uniform(-1.0, 1.0, (count, 3)), super().random(generator, count)])


FREE = FreeMobilizer()
