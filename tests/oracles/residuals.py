"""The residual of every constraint, straight from its definition, on poses (tests/oracles/poses.py).

RESIDUALS[name](A, B, element, t) gives pairs (rows, value): `rows` of the constraint are to be `value`; a number instead of
an array is the length of those rows, where the two or three directions in which they are taken are free.
"""

import numpy as np
from scipy.optimize import least_squares, minimize, root

from tests.oracles.poses import Ground, rate

STRETCH = ("ScalableBody", "AffineBody")


def world_point(element, A, B):
    """The anchors as built, in the world: (a's, b's)."""
    at, on_a, on_b = (getattr(element, name, None) for name in ("at", "on_a", "on_b"))
    if at is None and on_a is not None:
        at = A.x0 + A.F0 @ on_a
    if at is None:
        at = B.x0 + B.F0 @ (np.zeros(3) if on_b is None else on_b)
    return at, at if on_b is None else B.x0 + B.F0 @ on_b


def world_axis(element, A, B):
    if element.axis is not None:
        return element.axis
    return A.R0 @ element.axis_a if element.axis_a is not None else B.R0 @ element.axis_b


def apart(A, B, e):
    on_a, on_b = world_point(e, A, B)
    return B.point(on_b) - A.point(on_a)


def across(d, axis):
    """The length of the part of d across a unit axis."""
    return np.linalg.norm(d - (d @ axis) * axis)


def angle(A, B, axis):
    """By how much b has turned about a's axis since it was built."""
    d = A.axis(axis)
    ref = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    ref /= np.linalg.norm(ref)
    a, b = A.axis(ref), B.axis(ref)
    return np.arctan2(np.cross(a, b) @ d, a @ b)


def tilt(A, B, axis):
    """The two turning rows of a hinge: b's axis across a's."""
    return across(B.axis(axis), A.axis(axis))


def ball(A, B, e, t):
    return [(slice(0, 3), apart(A, B, e))]


def hinge(A, B, e, t):
    return [*ball(A, B, e, t), (slice(3, 5), tilt(A, B, world_axis(e, A, B)))]


def universal(A, B, e, t):
    return [*ball(A, B, e, t), (slice(3, 4), np.array([A.axis(e.first) @ B.axis(e.second)]))]


def turned_apart(A, B):
    """The rotation vector of b relative to a, small: its length is that of the three locked rows, to second order."""
    Q = A.axis(np.eye(3)).T @ B.axis(np.eye(3))
    return np.linalg.norm([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]]) / 2


def slider(A, B, e, t):
    return [(slice(0, 2), across(apart(A, B, e), A.axis(world_axis(e, A, B)))), (slice(2, 5), turned_apart(A, B))]


def cylindrical(A, B, e, t):
    axis = world_axis(e, A, B)
    return [(slice(0, 2), across(apart(A, B, e), A.axis(axis))), (slice(2, 4), tilt(A, B, axis))]


def screw(A, B, e, t):
    axis = world_axis(e, A, B)
    travel = A.axis(axis) @ apart(A, B, e)
    return [*cylindrical(A, B, e, t), (slice(4, 5), np.array([travel - e.pitch * angle(A, B, axis) / (2 * np.pi)]))]


def planar(A, B, e, t):
    return [(slice(0, 1), np.array([A.axis(e.normal) @ apart(A, B, e)])), (slice(1, 3), tilt(A, B, e.normal))]


def weld(A, B, e, t):
    return [*ball(A, B, e, t), (slice(3, 6), turned_apart(A, B))]


def distance(A, B, e, t):
    a, b = A.x0 + A.F0 @ e.on_a, B.x0 + B.F0 @ e.on_b
    length = np.linalg.norm(b - a) if e.length is None else e.length
    return [(slice(0, 1), np.array([np.linalg.norm(B.point(b) - A.point(a)) - length]))]


def point_on_plane(A, B, e, t):
    normal = e.normal if e.normal is not None else np.linalg.inv(A.F0).T @ e.normal_a
    return [(slice(0, 1), np.array([A.normal(normal) @ apart(A, B, e)]))]


def point_on_line(A, B, e, t):
    """The distance from the line, measured in a's own frame (which differs from the world's where a stretches)."""
    back = np.linalg.inv(A.line(A.F0))
    axis = np.linalg.inv(A.F0) @ e.axis if e.axis is not None else e.axis_a
    return [(slice(0, 2), across(back @ apart(A, B, e), axis / np.linalg.norm(axis)))]


def _local(A, B, e):
    """b's point in a's own frame."""
    world = B.point(B.x0 + B.F0 @ e.on_b)
    back = np.linalg.inv(A.line(np.eye(3))) @ (world - A.point(A.x0))
    return np.linalg.inv(A.F0) @ back


def nearest(A, places, start, target):
    """The distance of a point of the world from what the places of a, a function of u in its frame, fill."""
    found = least_squares(
        lambda u: A.point(A.x0 + A.F0 @ np.array(places(u), dtype=float)) - target, start, xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    return np.linalg.norm(found.fun)


def point_on_curve(A, B, e, t):
    if e.start is not None:
        return [(slice(0, 2), nearest(A, e.curve, [e.start], B.point(B.x0 + B.F0 @ e.on_b)))]
    return [(slice(0, 2), np.array(e.curve(_local(A, B, e)), dtype=float))]


def point_on_surface(A, B, e, t):
    if e.start is not None:
        return [(slice(0, 1), nearest(A, e.surface, e.start, B.point(B.x0 + B.F0 @ e.on_b)))]
    return [(slice(0, 1), np.array([e.surface(_local(A, B, e))], dtype=float))]


def tangent_by_search(A, B, e):
    """The least of b's function on the surface of a, over its slope as built."""

    def in_b(place):
        return place if isinstance(B, Ground) else np.linalg.solve(B.F0, B.origin + np.linalg.solve(B.G, place - B.x) - B.x0)

    def value(u, built=False):
        place = A.x0 + A.F0 @ np.array(e.surface_a(u), dtype=float)
        return float(e.surface_b(np.linalg.solve(B.F0, place - B.x0) if built else in_b(A.point(place))))

    def least(function):
        def slopes(u, h=0.01):  # of polynomials of degree four they are exact
            at = [[function(u + k * h * x) for k in (-2, -1, 1, 2)] for x in np.eye(2)]
            return [(a[0] - 8 * a[1] + 8 * a[2] - a[3]) / (12 * h) for a in at]

        return root(slopes, minimize(function, e.start_a, method="BFGS").x, tol=1e-13).x

    u = least(lambda u: value(u, True))
    p, h = np.linalg.solve(B.F0, A.x0 + A.F0 @ np.array(e.surface_a(u), dtype=float) - B.x0), 1e-6
    slope = np.array([float(e.surface_b(p + h * x)) - float(e.surface_b(p - h * x)) for x in np.eye(3)]) / (2 * h)
    return [(slice(0, 1), np.array([value(least(value)) / np.linalg.norm(np.linalg.solve(B.F0.T, slope))]))]


def tangent(A, B, e, t):
    """Of a sphere on what a fills: its function at the nearest point, scaled to metres as built."""
    if any(type(getattr(body, "body", None)).__name__ in STRETCH for body in (A, B)):
        return tangent_by_search(A, B, e)

    def value(p):
        return float(e.surface_b(p))

    bend = np.eye(3) * (value(np.array([1.0, 0, 0])) + value(np.array([-1.0, 0, 0])) - 2 * value(np.zeros(3))) / 2
    middle = -np.array([value(x) - value(-x) for x in np.eye(3)]) / 4 / bend[0, 0]
    square = -value(middle) / bend[0, 0]
    away = nearest(A, e.surface_a, e.start_a, B.point(B.x0 + B.F0 @ middle))
    return [(slice(0, 1), np.array([(away**2 - square) / (2 * np.sqrt(square))]))]


def gear(A, B, e, t):
    def ends(hinge, body):
        return (Ground(), body) if hinge.a.dim == 0 else (body, Ground())

    one, two = (angle(*ends(hinge, body), hinge.axis) for hinge, body in ((e.a, A), (e.b, B)))
    if e.level == "position":
        return [(slice(0, 1), np.array([one - e.ratio * two]))]
    rates = [hinge.axis @ (second.spin() - first.spin()) for hinge, body in ((e.a, A), (e.b, B))
             for first, second in [ends(hinge, body)]]  # fmt: skip
    return [(slice(0, 1), np.array([rates[0] - e.ratio * rates[1]]))]


def rolling_by_material(A, B, e):
    """The lowest of many points of the ball or disc of the unstretched body, over the plane's material; both move there."""
    n = A.normal(e.normal)
    n = n / np.linalg.norm(n)
    axle = None if e.axis is None else B.R0.T @ e.axis
    lowest_of_all = lowest(lambda d: n @ B.line(B.F0 @ d), axle)
    at = B.x0 + B.F0 @ (e.radius * lowest_of_all)  # as built, in the world
    contact = B.point(at)
    gap = n @ (contact - A.point(e.at))
    on_a = contact if isinstance(A, Ground) else A.origin + np.linalg.inv(A.G) @ (contact - A.x)
    slip = rate(lambda b: b.point(at), B) - rate(lambda a: a.point(on_a), A)
    return [(slice(0, 1), np.array([gap])), (slice(1, 3), across(slip, n))]


def lowest(height, axle):
    """The unit vector, across an axle if there is one, for which a linear height is least: by its gradient."""
    down = -np.array([height(x) for x in np.eye(3)])
    if axle is not None:
        down -= (down @ axle) * axle
    return down / np.linalg.norm(down)


def rolling(A, B, e, t):
    if any(type(getattr(body, "body", None)).__name__ in STRETCH for body in (A, B)):
        return rolling_by_material(A, B, e)
    n, centre, foot = A.axis(e.normal), B.point(B.x0), A.point(e.at)
    if e.axis is None:
        contact = centre - e.radius * n
    else:
        axle = B.axis(e.axis)
        down = -(n - (n @ axle) * axle)
        contact = centre + e.radius * down / np.linalg.norm(down)

    def velocity(body, centre, moving):
        return moving + np.cross(body.spin(), contact - centre)

    slip = velocity(B, centre, rate(lambda b: b.point(B.x0), B)) - velocity(A, foot, rate(lambda a: a.point(e.at), A))
    return [(slice(0, 1), np.array([n @ (contact - foot)])), (slice(1, 3), across(slip, n))]


def skate(A, B, e, t):
    at = B.x0 if e.at is None else e.at
    moving = rate(lambda b: b.point(at), B)
    return [(slice(0, 1), np.array([np.cross(e.normal, B.axis(e.direction)) @ moving]))]


def coordinate(A, B, joint):
    axis = world_axis(joint, A, B)
    if type(joint).__name__ == "Slider":
        return A.axis(axis) @ apart(A, B, joint)
    return angle(A, B, axis)


def drive(A, B, e, t):
    wanted = e.rate(t) if callable(e.rate) else e.rate
    if type(e.joint).__name__ == "Slider":
        moving = rate(lambda a, b: coordinate(a, b, e.joint), A, B)
    else:
        moving = A.axis(world_axis(e.joint, A, B)) @ (B.spin() - A.spin())
    return [(slice(0, 1), np.array([moving - wanted]))]


def motion(A, B, e, t):
    if hasattr(e.target, "dim"):
        local = np.zeros(3) if e.at is None else e.at
        return [(slice(0, 3), B.point(B.x0 + B.F0 @ local) - np.array(e.function(t), dtype=float))]
    return [(slice(0, 1), np.array([coordinate(A, B, e.target) - e.function(t)]))]


class Body:
    """What a user's function sees of a body, in numbers."""

    def __init__(self, placed):
        self.placed = placed

    def point(self, local):
        p = self.placed
        return p.point(p.x0 + p.F0 @ np.asarray(local, dtype=float))

    def point_velocity(self, local):
        return rate(lambda b: Body(b).point(local), self.placed)

    def direction(self, local):
        p = self.placed
        return p.axis(p.R0 @ np.asarray(local, dtype=float))

    def spin(self, axis):
        return self.angular_velocity @ self.direction(np.asarray(axis) / np.linalg.norm(axis))

    position = property(lambda self: self.point(np.zeros(3)))
    velocity = property(lambda self: self.point_velocity(np.zeros(3)))
    angular_velocity = property(lambda self: self.placed.spin())
    orientation = property(lambda self: np.array([self.direction(d) for d in np.eye(3)]).T)


def user(A, B, e, t):
    bodies = [Body(x) for x in (A, B)][2 - len(e.bodies) :]
    value = np.ravel(np.array(e.function(*bodies, t), dtype=float))
    return [(slice(0, len(value)), value)]


RESIDUALS = {
    "Ball": ball, "Hinge": hinge, "Slider": slider, "Cylindrical": cylindrical, "Universal": universal, "Planar": planar,
    "Weld": weld, "Screw": screw, "Distance": distance, "PointOnLine": point_on_line, "PointOnPlane": point_on_plane,
    "PointOnCurve": point_on_curve, "PointOnSurface": point_on_surface, "Tangent": tangent, "Gear": gear, "Rolling": rolling, "Skate": skate,
    "Drive": drive, "Motion": motion, "Constraint": user, "VelocityConstraint": user,
}  # fmt: skip
