"""Bodies that stretch along their own axes: the element, its mathematics, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.bodies.deformable import Stretching, StretchingPlacement, fill_deformable
from linkwork.elements.bodies.filling import check_vectors
from linkwork.elements.bodies.rigid import Rigid
from linkwork.elements.core import checks
from linkwork.elements.core.body_functions import skew_matrix
from linkwork.elements.core.body_kind import carried_over
from linkwork.elements.core.element import Body
from linkwork.elements.core.field_types import MatrixField, ScalarField, VectorField, default
from linkwork.elements.core.placement import Poses, matrices, stack
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.shape import Shape
from linkwork.elements.core.units import ANGULAR_VELOCITY, POSITION, QUATERNION, VELOCITY, Quantity, rate_of
from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import cross, skew
from linkwork.symbolic.views import Primitive, ReadPose, matrix33, turned_axes
from linkwork.symbolic.vocabulary import Moment

if TYPE_CHECKING:
    from linkwork.elements.core.element import Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.views import View
    from linkwork.util.array_types import FloatArray, IntArray


STRETCH = tuple(Quantity(f"stretch {c}", "1") for c in "xyz")


@dataclass(eq=False, repr=False)
class ScalableBody(Body):
    """A body that turns, moves and stretches along its own three axes (witkin97): point p lies at x + R diag(s) p.

    `second_moment` is the integral of rho p p^T about the centre, unstretched: three diagonal entries or a matrix.
    `stiffness` (N m) and `damping` (N m s) resist the stretch; zero means none.

    >>> from linkwork.elements import Sphere
    >>> jelly = ScalableBody(shape=Sphere(0.1), density=1000, stretch=(1, 1, 1.2), stiffness=5.0)
    >>> round(jelly.mass, 3), jelly.dim
    (4.189, 9)
    """

    kind: ClassVar[str] = "scalable"
    dim: ClassVar[int] = 9
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"stiffness": ("N m",), "damping": ("N m s",)}

    mass: ScalarField = default(None)  # kg
    second_moment: MatrixField = default(None)  # (3, 3), kg m^2
    shape: Shape | None = None
    density: ScalarField = default(None)  # kg/m^3, unstretched
    position: VectorField = default(checks.ZERO)  # (3,), m
    orientation: VectorField = default(checks.IDENTITY)  # (4,): unit quaternion w, x, y, z
    stretch: VectorField = default((1.0, 1.0, 1.0))  # (3,)
    velocity: VectorField = default(checks.ZERO)  # (3,), m/s
    angular_velocity: VectorField = default(checks.ZERO)  # (3,), rad/s
    stretch_rate: VectorField = default(checks.ZERO)  # (3,), 1/s
    stiffness: float = 0.0  # N m
    damping: float = 0.0  # N m s

    def __post_init__(self) -> None:
        super().__post_init__()
        fill_deformable(self)
        self.orientation = checks.quaternion(self, "orientation", self.orientation)
        check_vectors(self, "stretch", "angular_velocity", "stretch_rate")
        if self.stretch.min() <= 0.0:
            checks.fail(self, f"stretch is {checks.show(self.stretch)}", "give three numbers greater than 0")


@kind_of(ScalableBody)
class Scalable(Stretching):
    """9: x, quaternion, stretch | velocity, angular velocity, stretch rate. Points are x + R diag(s) p."""

    name, nq, nv = "ScalableBody", 10, 9
    implicit_drift = True
    turning = slice(3, 6)
    tells_wrench = True
    read_names = (*POSITION, *QUATERNION, *STRETCH)
    read_rates = (*VELOCITY, *ANGULAR_VELOCITY, *map(rate_of, STRETCH))

    def __init__(self) -> None:
        self.record = self.layout(9, mass=1, sigma=6, stiffness=1, damping=1)

    def pose(self, q: SX) -> SX:
        return ca.reshape(rotation.matrix(q[3:7]).T, 9, 1)

    def rotation(self, view: View) -> SX:
        return rotation.matrix(view.q[3:7]) if view.moment == Moment.MIDDLE else matrix33(view.field("R"))

    def normalised(self, q: SX) -> SX:
        return ca.vertcat(q[0:3], rotation.normalised(q[3:7]), q[7:10])

    def pose_rate(self, view: View, v: SX) -> SX:
        return turned_axes(view.field("R"), v[3:6])

    def displaced(self, view: View, q: SX, step: SX) -> SX:
        return ca.vertcat(q[0:3] + step[0:3], rotation.cayley(q[3:7], step[3:6]), q[7:10] + step[6:9])

    def velocity_between(self, view: View, q0: SX, q1: SX, h: SX) -> SX:
        return ca.vertcat(q1[0:3] - q0[0:3], rotation.cayley_vector(q0[3:7], q1[3:7]), q1[7:10] - q0[7:10]) / h

    def volume(self, view: View) -> SX:
        return ca.fmin(ca.fmin(view.q[7], view.q[8]), view.q[9])

    def rate(self, q: SX, v: SX) -> SX:
        return ca.vertcat(v[0:3], rotation.quaternion_rate(q[3:7], v[3:6]), v[6:9])

    def moved(self, q: SX, step: SX) -> SX:
        return ca.vertcat(q[0:3] + step[0:3], rotation.turned(q[3:7], step[3:6]), q[7:10] + step[6:9])

    def weight(self, view: View, gravity: SX) -> SX:
        elastic = -view.field("stiffness") * (view.q[7:10] - 1) - view.field("damping") * view.v[6:9]
        return ca.vertcat(view.field("mass") * gravity, SX.zeros(3), elastic)

    def elasticity(self, view: View) -> tuple[SX, SX]:
        stretches = ca.diag(SX([0] * 6 + [1] * 3))
        return view.field("stiffness") * stretches, view.field("damping") * stretches

    def potential(self, view: View, gravity: SX) -> SX:
        elastic = 0.5 * view.field("stiffness") * ca.sumsqr(view.q[7:10] - 1)
        return elastic - view.field("mass") * ca.dot(gravity, view.q[0:3])

    def _carried(self, view: View, local: SX, scale: SX, scale_rate: SX, scale_bias: SX, by_stretch: SX) -> Primitive:
        """R diag(scale) local, where scale is a function of the stretch."""
        R, w = self.rotation(view), view.v[3:6]
        r, dr = R @ (scale * local), R @ (scale_rate * local)
        bias = cross(w, cross(w, r)) + 2 * cross(w, dr) + R @ (scale_bias * local)
        return Primitive(r, ca.horzcat(SX(3, 3), -skew(r), R @ ca.diag(by_stretch * local)), cross(w, r) + dr, bias)

    def point(self, view: View, local: SX) -> Primitive:
        arm = self.line(view, local)
        shift = ca.horzcat(SX.eye(3), SX(3, 6))
        return Primitive(view.q[0:3] + arm.value, shift + arm.jacobian, view.v[0:3] + arm.rate, arm.bias)

    def line(self, view: View, local: SX) -> Primitive:
        one = SX.ones(3)
        return self._carried(view, local, view.q[7:10], view.v[6:9], SX(3, 1), one)

    def normal(self, view: View, local: SX) -> Primitive:
        s, ds = view.q[7:10], view.v[6:9]
        return self._carried(view, local, 1 / s, -ds / s**2, 2 * ds**2 / s**3, -1 / s**2)

    def axis(self, view: View, local: SX) -> Primitive:
        one = SX.ones(3)
        return self._carried(view, local, one, SX(3, 1), SX(3, 1), SX(3, 1))

    def spin(self, view: View) -> Primitive:
        return Primitive(view.v[3:6], ca.horzcat(SX(3, 3), SX.eye(3), SX(3, 3)), SX(3, 1), SX(3, 1))

    quaternion = Rigid.quaternion

    def read_pose(self, view: View) -> ReadPose:
        R = self.rotation(view)
        return ReadPose(view.q[0:3], view.q[3:7], view.v[0:3], view.v[3:6], R * ca.repmat(ca.transpose(view.q[7:10]), 3, 1))

    def read_acceleration(self, view: View, x: SX) -> tuple[SX, SX]:
        return x[0:3], x[3:6]

    read_wrench = Rigid.read_wrench

    # -- numbers ---------------------------------------------------------------------------------------------
    def placement(self, bodies: Sequence[Any]) -> Placement:
        return ScalablePlacement(bodies)

    normalise = Rigid.normalise

    def unturned(self, q: FloatArray) -> FloatArray:
        return np.array([*q[:3], 1, 0, 0, 0, 1, 1, 1])

    def written(
        self, batch: Any, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray, velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Stretches stay, and so do their rates."""
        return np.hstack([position, orientation, q[:, 7:]]), np.hstack([velocity, v[:, 6:]])

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        found = Poses.blank(len(q))
        found.position[:], found.velocity[:] = q[:, :3], v[:, :3]
        found.orientation[:], found.angular_velocity[:] = q[:, 3:7], v[:, 3:6]
        found.frame[:] = matrices(q[:, 3:7]) * q[:, None, 7:10]
        return found

    def point_jacobian(self, q: FloatArray, pose: Poses, local: FloatArray, *constants: FloatArray) -> FloatArray:
        arm = pose.position[0] + pose.frame[0] @ local - q[:3]
        return np.hstack([np.eye(3), -skew_matrix(arm), matrices(q[None, 3:7])[0] * local])

    def build_at(self, body: Any, pose: Pose) -> None:
        vars(body)["position"] = pose.position
        vars(body)["orientation"] = checks.quaternion(body, "orientation", pose.orientation)
        vars(body)["stretch"] = np.linalg.norm(pose.frame, axis=0)

    include_at = carried_over


class ScalablePlacement(StretchingPlacement):
    def __init__(self, bodies: Sequence[Any]) -> None:
        super().__init__(bodies)
        self.orientation, self.stretch = stack(bodies, "orientation"), stack(bodies, "stretch")
        self.spin, self.stretch_rate = stack(bodies, "angular_velocity"), stack(bodies, "stretch_rate")
        self.R = matrices(self.orientation)
        self.F = self.R * self.stretch[:, None, :]

    def _put(self, where: IntArray, position: FloatArray, orientation: FloatArray, frame: FloatArray) -> None:
        super()._put(where, position, orientation, frame)
        self.orientation[where], self.stretch[where] = orientation, np.linalg.norm(frame, axis=1)

    def quaternion(self) -> FloatArray:
        return self.orientation

    def coordinates(self) -> tuple[FloatArray, FloatArray]:
        q = np.hstack([self.x, self.orientation, self.stretch])
        return q, np.hstack([self.velocity, self.spin, self.stretch_rate])
