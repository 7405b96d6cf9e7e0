"""Convex solids by their definitions: how far they reach along a direction, and how far outside them a point lies."""

import numpy as np

import linkwork as lw


def reach(shape, R, p, d):
    """The largest d . x over the solid, for directions d (..., 3)."""
    e = np.asarray(d) @ R
    if isinstance(shape, lw.Sphere):
        far = shape.radius * np.linalg.norm(e, axis=-1)
    elif isinstance(shape, lw.Capsule):
        far = shape.radius * np.linalg.norm(e, axis=-1) + shape.length / 2 * np.abs(e[..., 2])
    elif isinstance(shape, lw.Box):
        far = np.abs(e) @ (shape.x / 2, shape.y / 2, shape.z / 2)
    elif isinstance(shape, (lw.Cylinder, lw.Disc)):
        far = shape.radius * np.hypot(e[..., 0], e[..., 1]) + _length(shape) / 2 * np.abs(e[..., 2])
    elif isinstance(shape, lw.Ellipsoid):
        far = np.linalg.norm(e * (shape.x / 2, shape.y / 2, shape.z / 2), axis=-1)
    else:
        far = (e @ shape.points.T).max(axis=-1)
    return far + np.asarray(d) @ p


def outside(shape, R, p, point):
    """How far a point lies outside the solid, at least; zero or negative within it."""
    x = R.T @ (np.asarray(point) - p)
    if isinstance(shape, lw.Sphere):
        return np.linalg.norm(x) - shape.radius
    if isinstance(shape, lw.Capsule):
        return np.linalg.norm(x - (0, 0, np.clip(x[2], -shape.length / 2, shape.length / 2))) - shape.radius
    if isinstance(shape, lw.Box):
        return (np.abs(x) - (shape.x / 2, shape.y / 2, shape.z / 2)).max()
    if isinstance(shape, (lw.Cylinder, lw.Disc)):
        return max(np.hypot(x[0], x[1]) - shape.radius, abs(x[2]) - _length(shape) / 2)
    if isinstance(shape, lw.Ellipsoid):
        return (np.linalg.norm(x / (shape.x / 2, shape.y / 2, shape.z / 2)) - 1) * min(shape.x, shape.y, shape.z) / 2
    return (shape.normals @ x - shape.offsets).max()


def _length(shape):
    return shape.length if isinstance(shape, lw.Cylinder) else shape.thickness
