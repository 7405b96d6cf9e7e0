"""Bodies and particles in a plane: the elements, their mathematics, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.bodies.filling import fill_mass, of_shape
from linkwork.elements.bodies.particle import ParticleKind
from linkwork.elements.core import checks
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.contact_parts import NONE, ContactParts, ContactPose
from linkwork.elements.core.element import Body
from linkwork.elements.core.field_types import ScalarField, VectorField, default
from linkwork.elements.core.placement import Placement, Poses, matrices, stack
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.shape import Shape
from linkwork.elements.core.units import ANGLE, POSITION, VELOCITY, Quantity, rate_of
from linkwork.symbolic.blocks import cross
from linkwork.symbolic.views import Primitive, ReadPose, carried_quaternion, upright
from linkwork.symbolic.vocabulary import Moment

if TYPE_CHECKING:
    from linkwork.elements.core.element import Pose
    from linkwork.symbolic.views import View
    from linkwork.util.array_types import BoolArray, FloatArray, IntArray


PLANES = {"xz": (0, 2, 1), "xy": (0, 1, 2), "yz": (1, 2, 0)}  # name -> the two axes in it, its normal
HANDED = {"xz": -1.0, "xy": 1.0, "yz": 1.0}  # first x second = handed * (right-handed normal axis)


@dataclass(eq=False, repr=False)
class PlanarBody(Body):
    """A rigid body that moves in a plane through the origin: "xz" (default), "xy" or "yz".

    The two in-plane coordinates stand in the order of the plane's letters; `angle` turns right-handed about the normal
    +y, +z or +x. `inertia` is about that normal; a shape gives its own about this axis.

    >>> link = PlanarBody(mass=2.0, inertia=0.1, position=(1, 0, 0.5), angle=0.3)
    >>> link.position.tolist()
    [1.0, 0.5]
    """

    kind: ClassVar[str] = "planar"
    dim: ClassVar[int] = 3
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"plane": ()}

    mass: ScalarField = default(None)  # kg
    inertia: ScalarField = default(None)  # kg m^2, about the plane's normal
    shape: Shape | None = None
    density: ScalarField = default(None)  # kg/m^3
    position: VectorField = default((0.0, 0.0))  # (2,), m
    angle: float = 0.0  # rad
    velocity: VectorField = default((0.0, 0.0))  # (2,), m/s
    angular_velocity: float = 0.0  # rad/s
    plane: str = "xz"

    def __post_init__(self) -> None:
        super().__post_init__()
        fill_mass(self)
        _flatten(self)
        if self.inertia is None:
            normal = PLANES[self.plane][2]
            self.inertia = of_shape(self, "inertia")[normal, normal]
        self.inertia = checks.positive(self, "inertia", self.inertia)
        self.angle = checks.number(self, "angle", self.angle)
        self.angular_velocity = checks.number(self, "angular_velocity", self.angular_velocity)


@dataclass(eq=False, repr=False)
class PlanarParticle(Body):
    """A point mass that moves in a plane through the origin: "xz" (default), "xy" or "yz".

    >>> PlanarParticle(0.1, position=(0, 1)).plane
    'xz'
    """

    kind: ClassVar[str] = "planar-particle"
    dim: ClassVar[int] = 2
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"plane": ()}

    mass: ScalarField = default(None)  # kg
    position: VectorField = default((0.0, 0.0))  # (2,), m
    velocity: VectorField = default((0.0, 0.0))  # (2,), m/s
    plane: str = "xz"

    def __post_init__(self) -> None:
        super().__post_init__()
        fill_mass(self)
        _flatten(self)


def _flatten(body: Any) -> None:
    """Position and velocity in the plane: two numbers, or three whose out-of-plane one is zero."""
    checks.choice(body, "plane", body.plane, PLANES)
    first, second, normal = PLANES[body.plane]
    for name in ("position", "velocity"):
        value = getattr(body, name)
        if len(checks.entries(value) or ()) == 3:
            value = checks.vector(body, name, value)
            if value[normal] != 0.0:
                problem = f'{name} is {checks.show(value)}, out of the plane "{body.plane}"'
                checks.fail(body, problem, f"give {'xyz'[normal]} = 0 or the two coordinates in the plane")
            value = value[[first, second]]
        setattr(body, name, checks.vector(body, name, value, 2))


class Plane:
    """The embedding of a plane of the world: unit vectors along its two coordinates and its normal."""

    def __init__(self, plane: str) -> None:
        self.axes = first, second, normal = PLANES[plane]
        self.in_plane = SX(3, 2)
        self.in_plane[first, 0], self.in_plane[second, 1] = 1, 1
        self.normal = SX(3, 1)
        self.normal[normal] = 1
        self.quarter = HANDED[plane] * ca.blockcat([[0, -1], [1, 0]])  # d/d(angle) of an in-plane vector


def _in_plane(plane: str, names: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    first, second, _ = PLANES[plane]
    return names[first], names[second]


class InPlane(BodyKind):
    """What both kinds share: one instance a plane."""

    tells_wrench = True
    read_names: tuple[Quantity, ...] = ()
    read_rates: tuple[Quantity, ...] = ()

    def __init__(self, plane: str) -> None:
        self.plane = Plane(plane)

    @classmethod
    @cache
    def in_plane(cls, plane: str) -> InPlane:
        return cls(plane)

    @classmethod
    def of(cls, body: Any) -> InPlane:
        return cls.in_plane(body.plane)

    def placement(self, bodies: Sequence[Any]) -> Placement:
        return PlanarPlacement(bodies)

    def followed(self, point: FloatArray) -> FloatArray:
        point = point.copy()
        point[self.plane.axes[2]] = 0.0
        return point

    def build_at(self, body: Any, pose: Pose) -> None:
        vars(body)["position"] = pose.position[list(self.plane.axes[:2])]

    def include_at(self, body: Any, move: Any) -> str | None:
        first, second, normal = self.plane.axes
        if move.turns or move.x[normal] != 0.0:
            return f'it moves in the plane "{body.plane}" through the origin'
        vars(body)["position"] = body.position + move.x[[first, second]]
        return None


@kind_of(PlanarBody)
class PlanarKind(InPlane):
    """3: two coordinates of the plane, angle about its normal."""

    nq, nv = 3, 3
    may_be_flat = True
    turning = slice(2, 3)

    def __init__(self, plane: str) -> None:
        super().__init__(plane)
        self.name = f"PlanarBody-{plane}"
        self.read_names = (*_in_plane(plane, POSITION), ANGLE)
        self.read_rates = (*_in_plane(plane, VELOCITY), rate_of(ANGLE))
        self.record = self.layout(2, mass=1, inertia=1)

    def pose(self, q: SX) -> SX:
        return ca.vertcat(ca.cos(q[2]), ca.sin(q[2]))

    def pose_rate(self, view: View, v: SX) -> SX:
        cs = view.field("R")
        return v[2] * ca.vertcat(-cs[1], cs[0])

    def _cos_sin(self, view: View) -> SX:
        return self.pose(view.q) if view.moment == Moment.MIDDLE else view.field("R")

    def mass(self, view: View) -> SX:
        m = view.field("mass")
        return ca.diag(ca.vertcat(m, m, view.field("inertia")))

    def weight(self, view: View, gravity: SX) -> SX:
        return ca.vertcat(view.field("mass") * (self.plane.in_plane.T @ gravity), 0)

    def _turned(self, view: View, local: SX) -> tuple[SX, SX]:
        """The body's vector `local` (3) in the plane: the two coordinates, and those of its derivative by angle."""
        cs, flat = self._cos_sin(view), self.plane.in_plane.T @ local
        r = cs[0] * flat + cs[1] * (self.plane.quarter @ flat)
        return r, self.plane.quarter @ r

    def point(self, view: View, local: SX) -> Primitive:
        E, w = self.plane.in_plane, view.v[2]
        r, dr = self._turned(view, local)
        value = E @ (view.q[0:2] + r) + self.plane.normal * ca.dot(self.plane.normal, local)
        return Primitive(value, ca.horzcat(E, E @ dr), E @ (view.v[0:2] + w * dr), -(w**2) * (E @ r))

    def axis(self, view: View, local: SX) -> Primitive:
        E, w = self.plane.in_plane, view.v[2]
        r, dr = self._turned(view, local)
        value = E @ r + self.plane.normal * ca.dot(self.plane.normal, local)
        return Primitive(value, ca.horzcat(SX(3, 2), E @ dr), w * (E @ dr), -(w**2) * (E @ r))

    def spin(self, view: View) -> Primitive:
        n = self.plane.normal
        return Primitive(n * view.v[2], ca.horzcat(SX(3, 2), n), SX(3, 1), SX(3, 1))

    def quaternion(self, view: View) -> Primitive:
        half, n = 0.5 * view.q[2], self.plane.normal
        return carried_quaternion(ca.vertcat(ca.cos(half), ca.sin(half) * n), self.spin(view))

    def read_pose(self, view: View) -> ReadPose:
        E, n, cs = self.plane.in_plane, self.plane.normal, self._cos_sin(view)
        half = 0.5 * view.q[2]
        along = cs[0] * (E @ E.T) + cs[1] * (E @ self.plane.quarter @ E.T) + n @ n.T
        orientation = ca.vertcat(ca.cos(half), ca.sin(half) * n)
        return ReadPose(E @ view.q[0:2], orientation, E @ view.v[0:2], n * view.v[2], along)

    def read_acceleration(self, view: View, x: SX) -> tuple[SX, SX]:
        return self.plane.in_plane @ x[0:2], self.plane.normal * x[2]

    def read_wrench(self, view: View, generalised: SX, at: SX) -> tuple[SX, SX]:
        E, n = self.plane.in_plane, self.plane.normal
        force, about = E @ generalised[0:2], E @ view.q[0:2] + n * ca.dot(n, at)
        return force, n * generalised[2] - cross(at - about, force)

    # -- numbers ---------------------------------------------------------------------------------------------
    def unturned(self, q: FloatArray) -> FloatArray:
        return np.array([*q[:2], 0.0])

    def written(
        self, batch: Any, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray, velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        first, second, normal = self.plane.axes
        angle = 2 * np.arctan2(orientation[:, 1 + normal], orientation[:, 0])
        angle += 2 * np.pi * np.round((q[:, 2] - angle) / (2 * np.pi))  # the nearest turn
        there = np.column_stack([position[:, [first, second]], angle])
        return there, np.column_stack([velocity[:, [first, second]], velocity[:, 3 + normal]])

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        first, second, normal = self.plane.axes
        found = Poses.blank(len(q))
        found.position[:, [first, second]], found.velocity[:, [first, second]] = q[:, :2], v[:, :2]
        found.angular_velocity[:, normal] = v[:, 2]
        found.orientation[:, 0], found.orientation[:, 1 + normal] = np.cos(q[:, 2] / 2), np.sin(q[:, 2] / 2)
        found.frame[:] = matrices(found.orientation)
        return found

    def point_jacobian(self, q: FloatArray, pose: Poses, local: FloatArray, *constants: FloatArray) -> FloatArray:
        first, second, normal = self.plane.axes
        J = np.zeros((3, 3))
        J[first, 0] = J[second, 1] = 1.0
        J[:, 2] = np.cross(np.eye(3)[normal], pose.position[0] + pose.frame[0] @ local - pose.position[0])
        return J

    def build_at(self, body: Any, pose: Pose) -> None:
        super().build_at(body, pose)
        normal = self.plane.axes[2]
        vars(body)["angle"] = 2 * float(np.arctan2(pose.orientation[1 + normal], pose.orientation[0]))

    @property
    def contact(self) -> ContactParts:
        found = [NONE] * 6
        found[self.plane.axes[0]], found[self.plane.axes[1]], found[3 + self.plane.axes[2]] = 0, 1, 2
        return ContactParts(ContactPose.FLAT, tuple(found))


@kind_of(PlanarParticle)
class PlanarParticleKind(InPlane):
    """2: two coordinates of the plane."""

    nq, nv, directions = 2, 2, False
    is_a_point = may_be_flat = True

    def __init__(self, plane: str) -> None:
        super().__init__(plane)
        self.name = f"PlanarParticle-{plane}"
        self.read_names, self.read_rates = _in_plane(plane, POSITION), _in_plane(plane, VELOCITY)
        self.record = self.layout(0, mass=1)

    mass = ParticleKind.mass

    def weight(self, view: View, gravity: SX) -> SX:
        return view.field("mass") * (self.plane.in_plane.T @ gravity)

    def point(self, view: View, local: SX) -> Primitive:
        E = self.plane.in_plane
        return Primitive(E @ view.q, E, E @ view.v, SX(3, 1))

    def read_pose(self, view: View) -> ReadPose:
        return upright(self.plane.in_plane @ view.q, self.plane.in_plane @ view.v)

    def read_acceleration(self, view: View, x: SX) -> tuple[SX, SX]:
        return self.plane.in_plane @ x, SX.zeros(3)

    def read_wrench(self, view: View, generalised: SX, at: SX) -> tuple[SX, SX]:
        return self.plane.in_plane @ generalised, SX.zeros(3)

    # -- numbers ---------------------------------------------------------------------------------------------
    def written(
        self, batch: Any, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray, velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        inside = list(self.plane.axes[:2])
        return position[:, inside], velocity[:, inside]

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        first, second, _ = self.plane.axes
        found = Poses.blank(len(q))
        found.position[:, [first, second]], found.velocity[:, [first, second]] = q[:, :2], v[:, :2]
        return found

    def point_jacobian(self, q: FloatArray, pose: Poses, local: FloatArray, *constants: FloatArray) -> FloatArray:
        J = np.zeros((3, 2))
        J[self.plane.axes[0], 0] = J[self.plane.axes[1], 1] = 1.0
        return J

    @property
    def contact(self) -> ContactParts:
        found = [NONE] * 6
        found[self.plane.axes[0]], found[self.plane.axes[1]] = 0, 1
        return ContactParts(ContactPose.POINT, tuple(found))


class PlanarPlacement(Placement):
    def __init__(self, bodies: Sequence[Any]) -> None:
        plane = bodies[0].plane
        first, second, normal = PLANES[plane]
        self.position, self.velocity = stack(bodies, "position"), stack(bodies, "velocity")
        self.mass = stack(bodies, "mass")
        self.x = np.zeros((len(bodies), 3))
        self.x[:, [first, second]] = self.position
        self.R = np.tile(np.eye(3), (len(bodies), 1, 1))
        if hasattr(bodies[0], "angle"):
            self.angle, self.spin = stack(bodies, "angle"), stack(bodies, "angular_velocity")
            self.inertia = stack(bodies, "inertia")
            c, s = np.cos(self.angle), HANDED[plane] * np.sin(self.angle)
            self.R[:, first, first] = self.R[:, second, second] = c
            self.R[:, first, second], self.R[:, second, first] = -s, s
        self.plane = plane
        self.F = self.R

    def _put(self, where: IntArray, position: FloatArray, orientation: FloatArray, frame: FloatArray) -> None:
        super()._put(where, position, orientation, frame)
        first, second, normal = PLANES[self.plane]
        self.position[where] = position[:, [first, second]]
        if hasattr(self, "angle"):
            self.angle[where] = 2 * np.arctan2(orientation[:, 1 + normal], orientation[:, 0])

    def quaternion(self) -> FloatArray:
        half = 0.5 * self.angle[:, None]
        return np.hstack([np.cos(half), np.sin(half) * np.eye(3)[PLANES[self.plane][2]]])

    def start(self) -> dict[str, FloatArray]:
        found = {"q": self.position, "v": self.velocity, "mass": self.mass[:, None]}
        if hasattr(self, "angle"):
            found["q"] = np.hstack([self.position, self.angle[:, None]])
            found["v"] = np.hstack([self.velocity, self.spin[:, None]])
            found["inertia"] = self.inertia[:, None]
        return found

    def diagonal_mass(self) -> BoolArray:
        return np.ones(len(self.x), dtype=bool)
