"""Bodies of a plane, and particles."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.symbolic.bodies import ANGULAR, LINEAR, BodyKind, Primitive, carried_quaternion

PLANES = {"xz": (0, 2, 1), "xy": (0, 1, 2), "yz": (1, 2, 0)}  # in-plane axes, normal
HANDED = {"xz": -1.0, "xy": 1.0, "yz": 1.0}  # first x second = handed * (right-handed normal axis)


class Plane:
    """The embedding of a plane of the world: unit vectors along its two coordinates and its normal."""

    def __init__(self, plane: str):
        first, second, normal = PLANES[plane]
        self.in_plane = SX(3, 2)
        self.in_plane[first, 0], self.in_plane[second, 1] = 1, 1
        self.normal = SX(3, 1)
        self.normal[normal] = 1
        self.quarter = HANDED[plane] * ca.blockcat([[0, -1], [1, 0]])  # d/d(angle) of an in-plane vector


class Planar(BodyKind):
    """3: two coordinates of the plane, angle about its normal."""

    nq, nv = 3, 3
    may_be_flat = True

    def __init__(self, plane: str):
        self.plane, self.name = Plane(plane), f"PlanarBody-{plane}"
        first, second, normal = PLANES[plane]
        self.components = (LINEAR[first], LINEAR[second], ANGULAR[normal])
        self.record = self.layout(2, mass=1, inertia=1)

    def pose(self, q):
        return ca.vertcat(ca.cos(q[2]), ca.sin(q[2]))

    def pose_rate(self, view, v):
        cs = view.field("R")
        return v[2] * ca.vertcat(-cs[1], cs[0])

    def _cos_sin(self, view):
        return self.pose(view.q) if view.stage == "middle" else view.field("R")

    def mass(self, view):
        m = view.field("mass")
        return ca.diag(ca.vertcat(m, m, view.field("inertia")))

    def weight(self, view, gravity):
        return ca.vertcat(view.field("mass") * (self.plane.in_plane.T @ gravity), 0)

    def _turned(self, view, local):
        """The body's vector `local` (3) in the plane: the two coordinates, and those of its derivative by angle."""
        cs, flat = self._cos_sin(view), self.plane.in_plane.T @ local
        r = cs[0] * flat + cs[1] * (self.plane.quarter @ flat)
        return r, self.plane.quarter @ r

    def point(self, view, local):
        E, w = self.plane.in_plane, view.v[2]
        r, dr = self._turned(view, local)
        value = E @ (view.q[0:2] + r) + self.plane.normal * ca.dot(self.plane.normal, local)
        return Primitive(value, ca.horzcat(E, E @ dr), E @ (view.v[0:2] + w * dr), -(w**2) * (E @ r))

    def axis(self, view, local):
        E, w = self.plane.in_plane, view.v[2]
        r, dr = self._turned(view, local)
        value = E @ r + self.plane.normal * ca.dot(self.plane.normal, local)
        return Primitive(value, ca.horzcat(SX(3, 2), E @ dr), w * (E @ dr), -(w**2) * (E @ r))

    def spin(self, view):
        n = self.plane.normal
        return Primitive(n * view.v[2], ca.horzcat(SX(3, 2), n), SX(3, 1), SX(3, 1))

    def quaternion(self, view):
        half, n = 0.5 * view.q[2], self.plane.normal
        return carried_quaternion(ca.vertcat(ca.cos(half), ca.sin(half) * n), self.spin(view))


class Particle(BodyKind):
    """3: position."""

    name, nq, nv, directions = "Particle", 3, 3, False
    components = LINEAR
    is_a_point = True

    def __init__(self):
        self.record = self.layout(0, mass=1)

    def mass(self, view):
        return view.field("mass") * SX.eye(self.nv)

    def weight(self, view, gravity):
        return view.field("mass") * gravity

    def point(self, view, local):
        return Primitive(view.q, SX.eye(3), view.v, SX(3, 1))


class PlanarParticle(BodyKind):
    """2: two coordinates of the plane."""

    nq, nv, directions = 2, 2, False
    is_a_point = may_be_flat = True

    def __init__(self, plane: str):
        self.plane, self.name = Plane(plane), f"PlanarParticle-{plane}"
        self.components = tuple(LINEAR[axis] for axis in PLANES[plane][:2])
        self.record = self.layout(0, mass=1)

    mass = Particle.mass

    def weight(self, view, gravity):
        return view.field("mass") * (self.plane.in_plane.T @ gravity)

    def point(self, view, local):
        E = self.plane.in_plane
        return Primitive(E @ view.q, E, E @ view.v, SX(3, 1))
