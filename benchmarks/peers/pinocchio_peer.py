"""Pinocchio: forward dynamics alone (`aba`), called from a loop in Python. It has no integrator of its own.

`advance` is our own semi-implicit Euler around `aba`; it serves to check the model and is never timed.
"""

from timeit import repeat

import numpy as np
import pinocchio as pin

from benchmarks.peers.interface import GRAVITY, LENGTH, MASS, WIDTH, Refused

name = "Pinocchio"
version = pin.__version__
work = "forward dynamics"

# Its Data holds four tensors of nv^3 doubles (second derivatives) whether they are asked for or not.
MAX_DATA_BYTES = 12e9


class _Chain:
    def __init__(self, joint, n, dt):
        nv = n * joint().nv
        if 4 * 8 * nv**3 > MAX_DATA_BYTES:
            raise Refused(f"Data needs 4 nv^3 doubles: {4 * 8 * nv**3 / 1e9:.0f} GB for {nv} freedoms")
        self.dt = dt
        self.model = _model(joint, n)
        self.data = self.model.createData()
        self.torque = np.zeros(self.model.nv)
        self.reset()
        self.advance(10)
        self._moving = self.q.copy(), self.v.copy()  # the state timed: no number in it is zero by accident
        self.reset()
        self.convention = min(pin.Convention.LOCAL, pin.Convention.WORLD, key=self._seconds)

    def step(self, k):
        self._evaluate(k, self.convention)

    def _evaluate(self, k, convention):
        aba, model, data, torque = pin.aba, self.model, self.data, self.torque
        q, v = self._moving
        for _ in range(k):
            aba(model, data, q, v, torque, convention)

    def _seconds(self, convention):
        """`aba` has two variants, in link frames and in the world's; which is faster depends on the chain."""
        return min(repeat(lambda: self._evaluate(50, convention), number=1, repeat=5))

    def advance(self, k):
        for _ in range(k):
            self.v = self.v + self.dt * pin.aba(self.model, self.data, self.q, self.v, self.torque)
            self.q = pin.integrate(self.model, self.q, self.dt * self.v)

    def reset(self):
        self.q = pin.neutral(self.model)
        self.v = np.zeros(self.model.nv)

    def tip(self):
        pin.forwardKinematics(self.model, self.data, self.q)
        return tuple(float(x) for x in self.data.oMi[self.model.njoints - 1].act(np.array([LENGTH, 0, 0])))


def _model(joint, n):
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0, 0, GRAVITY]), np.zeros(3))
    inertia = pin.Inertia.FromBox(MASS, LENGTH, WIDTH, WIDTH)
    centre = pin.SE3(np.eye(3), np.array([LENGTH / 2, 0, 0]))
    parent = 0
    for i in range(n):
        anchor = pin.SE3(np.eye(3), np.array([LENGTH if i else 0, 0, 0]))
        parent = model.addJoint(parent, joint(), anchor, f"joint{i}")
        model.appendBodyToJoint(parent, inertia, centre)
    return model


def ball_chain(n, dt):
    """n links on ball joints."""
    return _Chain(pin.JointModelSpherical, n, dt)


def hinge_chain(n, dt):
    """n links on hinges about y."""
    return _Chain(pin.JointModelRY, n, dt)
