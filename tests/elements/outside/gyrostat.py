"""A body of another package: a rigid body with a flywheel inside, which turns about an axis of the body without friction.

Coordinates: position (3), quaternion (4), angle of the wheel | velocity, angular velocity, rate of the wheel relative to the
body. With I the inertia of the whole (wheel locked), J that of the wheel about its axis a and s its rate,

    T = m v.v / 2 + w.I w / 2 + J s a.w + J s^2 / 2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork import kinds
from linkwork.elements import Shape
from linkwork.kinds import checks, cross, matrix33, rotation, skew, symmetric


@dataclass(eq=False, repr=False)
class Gyrostat(kinds.Body):
    """A rigid body with a flywheel.

    >>> Gyrostat(2.0, inertia=(1, 1, 2), wheel_inertia=0.1, wheel_rate=50.0, name="top").dim
    7
    """

    kind: ClassVar[str] = "gyrostat"
    dim: ClassVar[int] = 7
    UNITS: ClassVar[dict] = {"wheel_inertia": ("kg m^2",), "wheel_rate": ("rad/s",)}

    mass: float | None = None  # kg, of all
    inertia: np.ndarray | None = None  # (3, 3), kg m^2, of all, about the centre of mass
    shape: Shape | None = None
    density: float | None = None  # kg/m^3
    position: np.ndarray = checks.ZERO  # (3,), m
    orientation: np.ndarray = checks.IDENTITY  # (4,): unit quaternion w, x, y, z
    velocity: np.ndarray = checks.ZERO  # (3,), m/s
    angular_velocity: np.ndarray = checks.ZERO  # (3,), rad/s
    axis: np.ndarray = (0.0, 0.0, 1.0)  # (3,): of the wheel, in the body
    wheel_inertia: float = 0.0  # kg m^2, of the wheel about its axis; a part of `inertia`
    wheel_rate: float = 0.0  # rad/s, relative to the body

    def __post_init__(self):
        super().__post_init__()
        kinds.fill_mass(self)
        kinds.fill_moment(self, "inertia", checks.inertia)
        kinds.check_vectors(self, "position", "velocity", "angular_velocity")
        self.orientation = checks.quaternion(self, "orientation", self.orientation)
        self.axis = checks.direction(self, "axis", self.axis)
        self.wheel_inertia = checks.positive(self, "wheel_inertia", self.wheel_inertia)
        self.wheel_rate = checks.number(self, "wheel_rate", self.wheel_rate)
        if self.wheel_inertia >= self.axis @ self.inertia @ self.axis:
            checks.fail(self, f"wheel_inertia is {self.wheel_inertia:g}, as much as that of all", "give less")


@kinds.kind_of(Gyrostat)
class GyrostatKind(kinds.BodyKind):
    name, nq, nv = "Gyrostat", 8, 7
    implicit_drift = True  # its mass block depends on its orientation
    turning = slice(3, 7)

    def __init__(self):
        self.record = self.layout(9, mass=1, inertia=6, axis=3, wheel=1)

    def _rotation(self, view):
        return rotation.matrix(view.q[3:7]) if view.moment == kinds.Moment.MIDDLE else matrix33(view.field("R"))

    # -- kinematics
    def pose(self, q):
        return ca.reshape(rotation.matrix(q[3:7]).T, 9, 1)

    def pose_rate(self, view, v):
        return kinds.turned_axes(view.field("R"), v[3:6])

    def rate(self, q, v):
        return ca.vertcat(v[0:3], rotation.quaternion_rate(q[3:7], v[3:6]), v[6])

    def moved(self, q, step):
        return ca.vertcat(q[0:3] + step[0:3], rotation.turned(q[3:7], step[3:6]), q[7] + step[6])

    def normalised(self, q):
        return ca.vertcat(q[0:3], rotation.normalised(q[3:7]), q[7])

    def displaced(self, view, q, step):
        return ca.vertcat(q[0:3] + step[0:3], rotation.cayley(q[3:7], step[3:6]), q[7] + step[6])

    def velocity_between(self, view, q0, q1, h):
        return ca.vertcat(q1[0:3] - q0[0:3], rotation.cayley_vector(q0[3:7], q1[3:7]), q1[7] - q0[7]) / h

    # -- dynamics
    def _inertias(self, view):
        """Of all in the world, and J a."""
        R = self._rotation(view)
        return R @ symmetric(view.field("inertia"), 3) @ R.T, view.field("wheel") * (R @ view.field("axis"))

    def mass(self, view):
        I, Ja = self._inertias(view)
        turning = ca.blockcat([[I, Ja], [Ja.T, view.field("wheel")]])
        return ca.diagcat(view.field("mass") * SX.eye(3), turning)

    def inertial(self, view):
        I, Ja = self._inertias(view)
        w = view.v[3:6]
        return ca.vertcat(SX(3, 1), -cross(w, I @ w + Ja * view.v[6]), 0)

    def weight(self, view, gravity):
        return ca.vertcat(view.field("mass") * gravity, SX(4, 1))

    # -- primitives
    def point(self, view, local):
        v, w = view.v[0:3], view.v[3:6]
        r = self._rotation(view) @ local
        J = ca.horzcat(SX.eye(3), -skew(r), SX(3, 1))
        return kinds.Primitive(view.q[0:3] + r, J, v + cross(w, r), cross(w, cross(w, r)))

    def axis(self, view, local):
        w, d = view.v[3:6], self._rotation(view) @ local
        return kinds.Primitive(d, ca.horzcat(SX(3, 3), -skew(d), SX(3, 1)), cross(w, d), cross(w, cross(w, d)))

    def spin(self, view):
        return kinds.Primitive(view.v[3:6], ca.horzcat(SX(3, 3), SX.eye(3), SX(3, 1)), SX(3, 1), SX(3, 1))

    def quaternion(self, view):
        return kinds.carried_quaternion(view.q[3:7], self.spin(view))

    # -- numbers
    def placement(self, bodies):
        return GyrostatPlacement(bodies)

    def build_at(self, body, pose):
        vars(body)["position"] = pose.position
        vars(body)["orientation"] = checks.quaternion(body, "orientation", pose.orientation)

    include_at = kinds.carried_over

    @property
    def contact(self):
        return kinds.ContactParts(kinds.ContactPose.RIGID, (0, 1, 2, 3, 4, 5))


class GyrostatPlacement(kinds.Placement):
    def __init__(self, bodies):
        self.x, self.orientation = kinds.stack(bodies, "position"), kinds.stack(bodies, "orientation")
        self.velocity, self.spin = kinds.stack(bodies, "velocity"), kinds.stack(bodies, "angular_velocity")
        self.mass, self.inertia = kinds.stack(bodies, "mass"), kinds.stack(bodies, "inertia")
        self.wheel = np.column_stack([kinds.stack(bodies, "wheel_inertia"), kinds.stack(bodies, "wheel_rate")])
        self.axes = kinds.stack(bodies, "axis")
        self.R = self.F = kinds.matrices(self.orientation)

    def _put(self, where, position, orientation, frame):
        super()._put(where, position, orientation, frame)
        self.orientation[where] = orientation

    def quaternion(self):
        return self.orientation

    def start(self):
        k, rows, columns = len(self.x), *np.tril_indices(3)
        return {
            "q": np.hstack([self.x, self.orientation, np.zeros((k, 1))]),
            "v": np.hstack([self.velocity, self.spin, self.wheel[:, 1:]]),
            "mass": self.mass[:, None],
            "inertia": self.inertia[:, rows, columns],
            "axis": self.axes,
            "wheel": self.wheel[:, :1],
        }
