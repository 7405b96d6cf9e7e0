"""Bodies that stretch: scalable and affine ones."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import cross, skew, symmetric
from linkwork.symbolic.bodies import ANGULAR, LINEAR, BodyKind, Primitive, carried_quaternion, matrix33, named, turned_axes
from linkwork.symbolic.rigid import Rigid


class Stretching(BodyKind):
    """Bodies whose points are linear in their local coordinates, so that mass needs only the second moment Sigma."""

    collapses = True

    def _moments(self, view):
        """Sigma, and the Jacobian and bias of the points 0, e_1, e_2, e_3."""
        at = [view.point(SX.zeros(3)), *[view.point(SX.eye(3)[:, k]) for k in range(3)]]
        J = [at[0].jacobian, *[at[k].jacobian - at[0].jacobian for k in (1, 2, 3)]]
        bias = [at[k].bias for k in (1, 2, 3)]
        return symmetric(view.field("sigma"), 3), J, bias

    def mass(self, view):
        sigma, J, _ = self._moments(view)
        total = view.field("mass") * (J[0].T @ J[0])
        for k in range(3):
            for l in range(3):
                total += sigma[k, l] * (J[1 + k].T @ J[1 + l])
        return total

    def inertial(self, view):
        sigma, J, bias = self._moments(view)
        return -sum(sigma[k, l] * (J[1 + k].T @ bias[l]) for k in range(3) for l in range(3))


class Scalable(Stretching):
    """9: x, quaternion, stretch | velocity, angular velocity, stretch rate. Points are x + R diag(s) p."""

    name, nq, nv = "ScalableBody", 10, 9
    components = (*LINEAR, *ANGULAR, *named("stretch_rate[0] stretch_rate[1] stretch_rate[2]", "1/s"))
    elastic = True
    iterated_flight = True

    def __init__(self):
        self.record = self.layout(9, mass=1, sigma=6, stiffness=1, damping=1)

    def pose(self, q):
        return ca.reshape(rotation.matrix(q[3:7]).T, 9, 1)

    def rotation(self, view):
        return rotation.matrix(view.q[3:7]) if view.stage == "middle" else matrix33(view.field("R"))

    def normalised(self, q):
        return ca.vertcat(q[0:3], rotation.normalised(q[3:7]), q[7:10])

    def pose_rate(self, view, v):
        return turned_axes(view.field("R"), v[3:6])

    def displaced(self, view, q, step):
        return ca.vertcat(q[0:3] + step[0:3], rotation.cayley(q[3:7], step[3:6]), q[7:10] + step[6:9])

    def velocity_between(self, view, q0, q1, h):
        return ca.vertcat(q1[0:3] - q0[0:3], rotation.cayley_vector(q0[3:7], q1[3:7]), q1[7:10] - q0[7:10]) / h

    def volume(self, view):
        return ca.fmin(ca.fmin(view.q[7], view.q[8]), view.q[9])

    def rate(self, q, v):
        return ca.vertcat(v[0:3], rotation.quaternion_rate(q[3:7], v[3:6]), v[6:9])

    def moved(self, q, step):
        return ca.vertcat(q[0:3] + step[0:3], rotation.turned(q[3:7], step[3:6]), q[7:10] + step[6:9])

    def weight(self, view, gravity):
        elastic = -view.field("stiffness") * (view.q[7:10] - 1) - view.field("damping") * view.v[6:9]
        return ca.vertcat(view.field("mass") * gravity, SX.zeros(3), elastic)

    def elasticity(self, view):
        stretches = ca.diag(SX([0] * 6 + [1] * 3))
        return view.field("stiffness") * stretches, view.field("damping") * stretches

    def potential(self, view, gravity):
        elastic = 0.5 * view.field("stiffness") * ca.sumsqr(view.q[7:10] - 1)
        return elastic - view.field("mass") * ca.dot(gravity, view.q[0:3])

    def _carried(self, view, local, scale, scale_rate, scale_bias, by_stretch) -> Primitive:
        """R diag(scale) local, where scale is a function of the stretch."""
        R, w = self.rotation(view), view.v[3:6]
        r, dr = R @ (scale * local), R @ (scale_rate * local)
        bias = cross(w, cross(w, r)) + 2 * cross(w, dr) + R @ (scale_bias * local)
        return Primitive(r, ca.horzcat(SX(3, 3), -skew(r), R @ ca.diag(by_stretch * local)), cross(w, r) + dr, bias)

    def point(self, view, local):
        arm = self.line(view, local)
        shift = ca.horzcat(SX.eye(3), SX(3, 6))
        return Primitive(view.q[0:3] + arm.value, shift + arm.jacobian, view.v[0:3] + arm.rate, arm.bias)

    def line(self, view, local):
        one = SX.ones(3)
        return self._carried(view, local, view.q[7:10], view.v[6:9], SX(3, 1), one)

    def normal(self, view, local):
        s, ds = view.q[7:10], view.v[6:9]
        return self._carried(view, local, 1 / s, -ds / s**2, 2 * ds**2 / s**3, -1 / s**2)

    def axis(self, view, local):
        one = SX.ones(3)
        return self._carried(view, local, one, SX(3, 1), SX(3, 1), SX(3, 1))

    def spin(self, view):
        return Primitive(view.v[3:6], ca.horzcat(SX(3, 3), SX.eye(3), SX(3, 3)), SX(3, 1), SX(3, 1))

    quaternion = Rigid.quaternion


class Affine(Stretching):
    """12: x, F (row by row) | their rates. Points are x + F p; the mass block is constant."""

    name, nq, nv = "AffineBody", 12, 12
    components = (*LINEAR, *named(" ".join(f"deformation_rate[{i},{j}]" for i in range(3) for j in range(3)), "1/s"))
    elastic = True
    counts_turns = False  # its quaternion comes from a matrix

    def __init__(self):
        self.record = self.layout(9, mass=1, sigma=6, stiffness=1, damping=1)

    def pose(self, q):
        return ca.reshape(rotation.polar(matrix33(q[3:12])).T, 9, 1)

    def pose_rate(self, view, v):
        F, R = matrix33(view.q[3:12]), matrix33(view.field("R"))
        return turned_axes(view.field("R"), rotation.polar_spin(F, R, matrix33(v[3:12])))

    def volume(self, view):
        return ca.det(matrix33(view.q[3:12]))

    def _polar(self, view):
        return matrix33(self.pose(view.q) if view.stage == "middle" else view.field("R"))

    def weight(self, view, gravity):
        """Elastic energy k/4 |F^T F - 1|^2, damping d/2 |F'|^2 without what is a rotation, to first order."""
        F, dF = matrix33(view.q[3:12]), matrix33(view.v[3:12])
        strain = F.T @ F - SX.eye(3)
        strain_rate = dF.T @ F + F.T @ dF
        force = -view.field("stiffness") * (F @ strain) - view.field("damping") * (F @ strain_rate)
        return ca.vertcat(view.field("mass") * gravity, ca.reshape(force.T, 9, 1))

    def elasticity(self, view):
        """With B the derivative of the strain E = F^T F - 1: k/2 B^T B + k E on each row of F, and d/2 B^T B. E is raised by
        what its rows lack of diagonal dominance."""
        F = SX.sym("F", 3, 3)
        strain = F.T @ F - SX.eye(3)
        B = ca.jacobian(ca.reshape(strain, 9, 1), ca.reshape(F.T, 9, 1))
        B, strain = ca.substitute([B, strain], [F], [matrix33(view.q[3:12])])
        lacking = [ca.sum2(ca.fabs(strain[k, :])) - ca.fabs(strain[k, k]) - strain[k, k] for k in range(3)]
        raised = strain + ca.fmax(ca.fmax(lacking[0], lacking[1]), ca.fmax(lacking[2], 0)) * SX.eye(3)
        square = 0.5 * (B.T @ B)
        stiffness = view.field("stiffness") * (square + ca.kron(SX.eye(3), raised))
        return ca.diagcat(SX(3, 3), stiffness), ca.diagcat(SX(3, 3), view.field("damping") * square)

    def potential(self, view, gravity):
        F = matrix33(view.q[3:12])
        elastic = 0.25 * view.field("stiffness") * ca.sumsqr(F.T @ F - SX.eye(3))
        return elastic - view.field("mass") * ca.dot(gravity, view.q[0:3])

    def line(self, view, local):
        J = ca.horzcat(SX(3, 3), ca.kron(SX.eye(3), ca.transpose(SX(local))))
        return Primitive(matrix33(view.q[3:12]) @ local, J, matrix33(view.v[3:12]) @ local, SX(3, 1))

    def point(self, view, local):
        arm = self.line(view, local)
        shift = ca.horzcat(SX.eye(3), SX(3, 9))
        return Primitive(view.q[0:3] + arm.value, shift + arm.jacobian, view.v[0:3] + arm.rate, SX(3, 1))

    def _derived(self, view, expression, F, dF, R=None, polar=None) -> Primitive:
        """A primitive from its value as a function of fresh symbols F (and R, the polar rotation of F)."""
        column, rate_column = ca.reshape(F.T, 9, 1), ca.reshape(dF.T, 9, 1)
        J = ca.jacobian(expression, column)
        if R is not None:
            spin = ca.jacobian(rotation.polar_spin(F, R, dF), rate_column)  # (3, 9), linear in dF
            turn = ca.jacobian(expression, ca.reshape(R.T, 9, 1))
            generators = ca.horzcat(*[ca.reshape((skew(SX.eye(3)[:, k]) @ R).T, 9, 1) for k in range(3)])
            J += turn @ generators @ spin
        rate = J @ rate_column
        bias = ca.jtimes(rate, column, rate_column)
        if R is not None:
            R_rate = skew(rotation.polar_spin(F, R, dF)) @ R
            bias += ca.jtimes(rate, ca.reshape(R.T, 9, 1), ca.reshape(R_rate.T, 9, 1))
        results = [expression, ca.horzcat(SX(J.shape[0], 3), J), rate, bias]
        symbols, values = [F, dF], [matrix33(view.q[3:12]), matrix33(view.v[3:12])]
        if R is not None:
            symbols, values = [*symbols, R], [*values, polar]
        return Primitive(*ca.substitute(results, symbols, values))

    def normal(self, view, local):
        F, dF, n = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("n", 3)
        primitive = self._derived(view, rotation.inverse_transpose(F) @ n, F, dF)
        parts = ca.substitute([primitive.value, primitive.jacobian, primitive.rate, primitive.bias], [n], [SX(local)])
        return Primitive(*parts)

    def axis(self, view, local):
        F, dF, R = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("R", 3, 3)
        return self._derived(view, R @ local, F, dF, R, self._polar(view))

    def spin(self, view):
        F, dF, R = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("R", 3, 3)
        w = rotation.polar_spin(F, R, dF)
        J = ca.jacobian(w, ca.reshape(dF.T, 9, 1))
        bias = ca.jtimes(w, ca.reshape(F.T, 9, 1), ca.reshape(dF.T, 9, 1))
        bias += ca.jtimes(w, ca.reshape(R.T, 9, 1), ca.reshape((skew(w) @ R).T, 9, 1))
        values = [matrix33(view.q[3:12]), matrix33(view.v[3:12]), self._polar(view)]
        w, J, bias = ca.substitute([w, J, bias], [F, dF, R], values)
        return Primitive(w, ca.horzcat(SX(3, 3), J), SX(3, 1), bias)

    def quaternion(self, view):
        return carried_quaternion(rotation.quaternion(self._polar(view)), self.spin(view))
