"""Bodies whose points move affinely: the element, its mathematics, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.bodies.deformable import Stretching, StretchingPlacement, fill_deformable
from linkwork.elements.core import checks
from linkwork.elements.core.body_kind import carried_over
from linkwork.elements.core.element import Body
from linkwork.elements.core.field_types import MatrixField, ScalarField, VectorField, default
from linkwork.elements.core.placement import Poses, cross_matrices, matrices, polar, polar_spin, quaternions, stack
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.shape import Shape
from linkwork.elements.core.units import POSITION, VELOCITY, Quantity, rate_of
from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import cross, skew
from linkwork.symbolic.views import Primitive, ReadPose, carried_quaternion, matrix33, turned_axes
from linkwork.symbolic.vocabulary import Moment

if TYPE_CHECKING:
    from linkwork.elements.core.element import Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.views import View
    from linkwork.util.array_types import FloatArray


DEFORMATION = tuple(Quantity(f"deformation {row}{column}", "1") for row in "xyz" for column in "xyz")


@dataclass(eq=False, repr=False)
class AffineBody(Body):
    """A body whose points move affinely: point p lies at x + F p, with F the deformation.

    Mass, second_moment, stiffness and damping are as for ScalableBody.

    >>> from linkwork.elements import Box
    >>> AffineBody(mass=1.0, shape=Box(1, 1, 1), stiffness=10.0).deformation.shape
    (3, 3)
    """

    kind: ClassVar[str] = "affine"
    dim: ClassVar[int] = 12
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"stiffness": ("N m",), "damping": ("N m s",)}

    mass: ScalarField = default(None)  # kg
    second_moment: MatrixField = default(None)  # (3, 3), kg m^2
    shape: Shape | None = None
    density: ScalarField = default(None)  # kg/m^3, undeformed
    position: VectorField = default(checks.ZERO)  # (3,), m
    deformation: MatrixField = default(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))  # (3, 3): F
    velocity: VectorField = default(checks.ZERO)  # (3,), m/s
    deformation_rate: MatrixField = default(((0.0,) * 3,) * 3)  # (3, 3), 1/s
    stiffness: float = 0.0  # N m
    damping: float = 0.0  # N m s

    def __post_init__(self) -> None:
        super().__post_init__()
        fill_deformable(self)
        self.deformation = checks.matrix(self, "deformation", self.deformation)
        self.deformation_rate = checks.matrix(self, "deformation_rate", self.deformation_rate)
        volume = float(np.linalg.det(self.deformation))
        if volume <= 0.0:
            checks.fail(self, f"deformation has the determinant {volume:g}", "give a matrix with a positive one")


@kind_of(AffineBody)
class Affine(Stretching):
    """12: x, F (row by row) | their rates. Points are x + F p; the mass block is constant."""

    name, nq, nv = "AffineBody", 12, 12
    counts_turns = False  # its quaternion comes from a matrix
    tells_wrench = True
    read_names, read_rates = (*POSITION, *DEFORMATION), (*VELOCITY, *map(rate_of, DEFORMATION))

    def __init__(self) -> None:
        self.record = self.layout(9, mass=1, sigma=6, stiffness=1, damping=1)

    def pose(self, q: SX) -> SX:
        return ca.reshape(rotation.polar(matrix33(q[3:12])).T, 9, 1)

    def pose_rate(self, view: View, v: SX) -> SX:
        F, R = matrix33(view.q[3:12]), matrix33(view.field("R"))
        return turned_axes(view.field("R"), rotation.polar_spin(F, R, matrix33(v[3:12])))

    def volume(self, view: View) -> SX:
        return ca.det(matrix33(view.q[3:12]))

    def _polar(self, view: View) -> SX:
        return matrix33(self.pose(view.q) if view.moment == Moment.MIDDLE else view.field("R"))

    def weight(self, view: View, gravity: SX) -> SX:
        """Elastic energy k/4 |F^T F - 1|^2, damping d/2 |F'|^2 without what is a rotation, to first order."""
        F, dF = matrix33(view.q[3:12]), matrix33(view.v[3:12])
        strain = F.T @ F - SX.eye(3)
        strain_rate = dF.T @ F + F.T @ dF
        force = -view.field("stiffness") * (F @ strain) - view.field("damping") * (F @ strain_rate)
        return ca.vertcat(view.field("mass") * gravity, ca.reshape(force.T, 9, 1))

    def elasticity(self, view: View) -> tuple[SX, SX]:
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

    def potential(self, view: View, gravity: SX) -> SX:
        F = matrix33(view.q[3:12])
        elastic = 0.25 * view.field("stiffness") * ca.sumsqr(F.T @ F - SX.eye(3))
        return elastic - view.field("mass") * ca.dot(gravity, view.q[0:3])

    def line(self, view: View, local: SX) -> Primitive:
        J = ca.horzcat(SX(3, 3), ca.kron(SX.eye(3), ca.transpose(SX(local))))
        return Primitive(matrix33(view.q[3:12]) @ local, J, matrix33(view.v[3:12]) @ local, SX(3, 1))

    def point(self, view: View, local: SX) -> Primitive:
        arm = self.line(view, local)
        shift = ca.horzcat(SX.eye(3), SX(3, 9))
        return Primitive(view.q[0:3] + arm.value, shift + arm.jacobian, view.v[0:3] + arm.rate, SX(3, 1))

    def _derived(self, view: View, expression: SX, F: SX, dF: SX, R: SX | None = None, polar: SX | None = None) -> Primitive:
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
        if R is not None and polar is not None:
            symbols, values = [*symbols, R], [*values, polar]
        return Primitive(*ca.substitute(results, symbols, values))

    def normal(self, view: View, local: SX) -> Primitive:
        F, dF, n = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("n", 3)
        primitive = self._derived(view, rotation.inverse_transpose(F) @ n, F, dF)
        parts = ca.substitute([primitive.value, primitive.jacobian, primitive.rate, primitive.bias], [n], [SX(local)])
        return Primitive(*parts)

    def axis(self, view: View, local: SX) -> Primitive:
        F, dF, R = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("R", 3, 3)
        return self._derived(view, R @ local, F, dF, R, self._polar(view))

    def spin(self, view: View) -> Primitive:
        F, dF, R = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("R", 3, 3)
        w = rotation.polar_spin(F, R, dF)
        J = ca.jacobian(w, ca.reshape(dF.T, 9, 1))
        bias = ca.jtimes(w, ca.reshape(F.T, 9, 1), ca.reshape(dF.T, 9, 1))
        bias += ca.jtimes(w, ca.reshape(R.T, 9, 1), ca.reshape((skew(w) @ R).T, 9, 1))
        values = [matrix33(view.q[3:12]), matrix33(view.v[3:12]), self._polar(view)]
        w, J, bias = ca.substitute([w, J, bias], [F, dF, R], values)
        return Primitive(w, ca.horzcat(SX(3, 3), J), SX(3, 1), bias)

    def quaternion(self, view: View) -> Primitive:
        return carried_quaternion(rotation.quaternion(self._polar(view)), self.spin(view))

    def read_pose(self, view: View) -> ReadPose:
        F, R = matrix33(view.q[3:12]), self._polar(view)
        spin = rotation.polar_spin(F, R, matrix33(view.v[3:12]))
        return ReadPose(view.q[0:3], rotation.quaternion(R), view.v[0:3], spin, F)

    def read_acceleration(self, view: View, x: SX) -> tuple[SX, SX]:
        return x[0:3], SX.zeros(3)

    def read_wrench(self, view: View, generalised: SX, at: SX) -> tuple[SX, SX]:
        moment = matrix33(generalised[3:12]) @ matrix33(view.q[3:12]).T
        axial = ca.vertcat(moment[2, 1] - moment[1, 2], moment[0, 2] - moment[2, 0], moment[1, 0] - moment[0, 1])
        return generalised[0:3], axial - cross(at - view.q[0:3], generalised[0:3])

    # -- numbers ---------------------------------------------------------------------------------------------
    def placement(self, bodies: Sequence[Any]) -> Placement:
        return AffinePlacement(bodies)

    def unturned(self, q: FloatArray) -> FloatArray:
        return np.array([*q[:3], *np.eye(3).ravel()])

    def written(
        self, batch: Any, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray, velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The stretch stays, and so does the way in which the body stretches, as seen from the body."""
        F, rate = q[:, 3:].reshape(-1, 3, 3), v[:, 3:].reshape(-1, 3, 3)
        R = polar(F)
        turn = matrices(orientation) @ R.transpose(0, 2, 1)
        moved = turn @ F
        stretching = turn @ (rate - cross_matrices(polar_spin(F, R, rate)) @ F)
        rate = stretching + cross_matrices(velocity[:, 3:6]) @ moved
        return np.hstack([position, moved.reshape(-1, 9)]), np.hstack([velocity[:, :3], rate.reshape(-1, 9)])

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        found = Poses.blank(len(q))
        F = q[:, 3:].reshape(-1, 3, 3)
        R = polar(F)
        found.position[:], found.velocity[:], found.frame[:] = q[:, :3], v[:, :3], F
        found.orientation[:], found.angular_velocity[:] = quaternions(R), polar_spin(F, R, v[:, 3:].reshape(-1, 3, 3))
        return found

    def point_jacobian(self, q: FloatArray, pose: Poses, local: FloatArray, *constants: FloatArray) -> FloatArray:
        return np.hstack([np.eye(3), np.kron(np.eye(3), local)])

    def build_at(self, body: Any, pose: Pose) -> None:
        vars(body)["position"], vars(body)["deformation"] = pose.position, pose.frame

    include_at = carried_over


class AffinePlacement(StretchingPlacement):
    def __init__(self, bodies: Sequence[Any]) -> None:
        super().__init__(bodies)
        self.F, self.F_rate = stack(bodies, "deformation"), stack(bodies, "deformation_rate")
        self.R = polar(self.F)

    def coordinates(self) -> tuple[FloatArray, FloatArray]:
        q = np.hstack([self.x, self.F.reshape(-1, 9)])
        return q, np.hstack([self.velocity, self.F_rate.reshape(-1, 9)])
