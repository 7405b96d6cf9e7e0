"""Placing things: quaternions (w, x, y, z), rods between two points, and velocities of a turn as one whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Capsule, Particle, RigidBody

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, Vector


def turn(axis: Vector, angle: float) -> FloatArray:
    """The quaternion of a right-handed turn by `angle` (rad) about a unit axis.

    >>> turn((0, 0, 1), math.pi).round(6).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    found: FloatArray = np.r_[math.cos(angle / 2), math.sin(angle / 2) * np.asarray(axis, dtype=float)]
    return found


def compose(p: FloatArray, q: FloatArray) -> FloatArray:
    """The quaternion that turns by q, then by p."""
    found: FloatArray = np.r_[p[0] * q[0] - p[1:] @ q[1:], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]
    return found


def rotate(q: FloatArray, v: Vector) -> FloatArray:
    """The vector v turned by the unit quaternion q."""
    t = 2 * np.cross(q[1:], v)
    found: FloatArray = np.asarray(v, dtype=float) + q[0] * t + np.cross(q[1:], t)
    return found


def matrix(q: FloatArray) -> FloatArray:
    """(3, 3): the rotation of the unit quaternion q."""
    return np.column_stack([rotate(q, e) for e in np.eye(3)])


def between(start: Vector, end: Vector) -> FloatArray:
    """The quaternion of the shortest turn that takes one direction to another.

    >>> np.allclose(rotate(between((0, 2, 0), (3, 0, 0)), (0, 1, 0)), (1, 0, 0))
    True
    """
    (a, b, c), (x, y, z) = start, end
    size = math.sqrt((a * a + b * b + c * c) * (x * x + y * y + z * z))
    q = np.array([size + a * x + b * y + c * z, b * z - c * y, c * x - a * z, a * y - b * x])
    if q[0] > 1e-12 * size:
        return q / math.sqrt(q @ q)
    aside = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])  # they are opposite
    return turn(aside / np.linalg.norm(aside), math.pi)


def along(direction: Vector) -> FloatArray:
    """The quaternion of the shortest turn that takes z to this direction.

    >>> np.allclose(rotate(along((3, 0, 0)), (0, 0, 1)), (1, 0, 0))
    True
    """
    return between((0, 0, 1), direction)


def rod(
    start: Vector,
    end: Vector,
    radius: float,
    mass: float,
    **options: Any,
) -> RigidBody:
    """A rigid capsule whose axis goes from start to end; its caps reach beyond them."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    shape = Capsule(radius, float(np.linalg.norm(end - start)))
    return RigidBody(mass=mass, shape=shape, position=(start + end) / 2, orientation=along(end - start), **options)


def whirl(bodies: Sequence[Any], rate: Vector) -> None:
    """Gives rigid bodies and particles the velocities of one solid that turns about the origin; rate (3,), rad/s."""
    for body in bodies:
        body.velocity = np.cross(rate, body.position)
        if not isinstance(body, Particle):
            body.angular_velocity = np.array(rate, dtype=float)
