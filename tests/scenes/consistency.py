"""Residuals of a world as built, from its elements alone: positions and velocities against each constraint.

An oracle: it shares no code with linkwork.symbolic, and reads a body's motion from its dataclass.
"""

import math

import numpy as np

from linkwork.elements import (
    AffineBody,
    Ball,
    Distance,
    Drive,
    Gear,
    Ground,
    Hinge,
    Particle,
    PlanarBody,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    Rolling,
    ScalableBody,
    Skate,
    Slider,
    Universal,
)

PLANES = {"xz": (0, 2, 1), "xy": (0, 1, 2), "yz": (1, 2, 0)}


class Pose:
    """Where a body is and how it moves: x(p) = place + F p, v = velocity + rate F^-1 (x - place)."""

    def __init__(self, body):
        self.place, self.velocity, self.F, self.rate = np.zeros(3), np.zeros(3), np.eye(3), np.zeros((3, 3))
        if isinstance(body, Ground):
            return
        if isinstance(body, PlanarBody):
            first, second, normal = PLANES[body.plane]
            self.place[[first, second]], self.velocity[[first, second]] = body.position, body.velocity
            axis = np.eye(3)[normal]
            self.F = rotation(np.r_[math.cos(body.angle / 2), math.sin(body.angle / 2) * axis])
            self.rate = cross(body.angular_velocity * axis) @ self.F
            return
        self.place, self.velocity = body.position, body.velocity
        if isinstance(body, Particle):
            return
        if isinstance(body, AffineBody):
            self.F, self.rate = body.deformation, body.deformation_rate
            return
        R = rotation(body.orientation)
        stretch, grow = np.eye(3), np.zeros((3, 3))
        if isinstance(body, ScalableBody):
            stretch, grow = np.diag(body.stretch), np.diag(body.stretch_rate)
        self.F, self.rate = R @ stretch, cross(body.angular_velocity) @ R @ stretch + R @ grow

    def point(self, local):
        return self.place + self.F @ local

    def velocity_at(self, world):
        return self.velocity + self.rate @ np.linalg.solve(self.F, world - self.place)

    @property
    def spin(self):
        W = self.rate @ np.linalg.inv(self.F)
        return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def rotation(q):
    w, v = q[0], q[1:]
    return np.eye(3) + 2 * w * cross(v) + 2 * cross(v) @ cross(v)


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def residuals(constraint):
    """(position residuals, velocity residuals) of one constraint as built."""
    return RESIDUALS[type(constraint)](constraint)


def _ends(c):
    return Pose(c.a), Pose(c.b)


def _apart(c):
    a, b = _ends(c)
    return b.velocity_at(c.at) - a.velocity_at(c.at)


def _ball(c):
    return [], _apart(c)


def _hinge(c):
    a, b = _ends(c)
    return [], [*_apart(c), *np.cross(c.axis, b.spin - a.spin)]


def _universal(c):
    a, b = _ends(c)
    return [c.first @ c.second], [*_apart(c), np.cross(c.first, c.second) @ (b.spin - a.spin)]


def _distance(c):
    a, b = _ends(c)
    p, q = a.point(c.on_a), b.point(c.on_b)
    return [np.linalg.norm(q - p) - c.length], [(q - p) @ (b.velocity_at(q) - a.velocity_at(p))]


def _point_on_line(c):
    return [], np.cross(c.axis, _apart(c))  # the point is where the line was given


def _point_on_plane(c):
    return [], [c.normal @ _apart(c)]


def _slider(c):
    a, b = _ends(c)
    return [], [*np.cross(c.axis, _apart(c)), *(b.spin - a.spin)]


def _point_on_curve(c):
    assert isinstance(c.a, Ground)
    p, v, h = Pose(c.b).point(c.on_b), Pose(c.b).velocity, 1e-6
    value = np.array([float(x) for x in c.curve(p)])
    ahead, behind = (np.array([float(x) for x in c.curve(p + s * h * v)]) for s in (1, -1))
    return value, (ahead - behind) / (2 * h)


def _rolling(c):
    a, b = _ends(c)
    n = c.normal
    down = n if c.axis is None else n - (n @ c.axis) * c.axis
    contact = b.place - c.radius * down / np.linalg.norm(down)
    return [n @ (contact - c.at)], b.velocity_at(contact) - a.velocity_at(contact)


def _skate(c):
    pose = Pose(c.body)
    at = pose.place if c.at is None else c.at
    return [], [np.cross(c.normal, c.direction) @ pose.velocity_at(at)]


def _rate(hinge):
    a, b = _ends(hinge)
    return hinge.axis @ (b.spin - a.spin)


def _gear(c):
    return [], [_rate(c.a) - c.ratio * _rate(c.b)]


def _drive(c):
    return [], [_rate(c.joint) - c.rate]


RESIDUALS = {
    Ball: _ball,
    Distance: _distance,
    Drive: _drive,
    Gear: _gear,
    Hinge: _hinge,
    PointOnCurve: _point_on_curve,
    PointOnLine: _point_on_line,
    PointOnPlane: _point_on_plane,
    Rolling: _rolling,
    Skate: _skate,
    Slider: _slider,
    Universal: _universal,
}
