"""Rays against shapes: how far it is along a ray to a surface. Closed forms, by how collision takes a shape; numbers in the
frame of the shape.

A ray that begins inside a solid meets its surface from within. A shape from outside is met where its facets are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from linkwork.elements.core.shape import Core, Shape

NONE = math.inf
DETAIL = 64  # facets around a shape from outside

Ray = Callable[[np.ndarray, np.ndarray], float]


def reach_of(shape: Shape) -> float:
    """The radius (m) of a ball around the shape's origin that holds it."""
    if not shape.bounded:
        return NONE
    low, high = shape.bounds()
    return float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high))))


def against(shape: Shape) -> Ray:
    """A function of an origin (3,) and a unit direction (3,): the distance (m) from there to the surface of the shape; infinite
    if it is not met.

    >>> from linkwork.elements import Sphere
    >>> against(Sphere(0.5))(np.array((0, 0, 2.0)), np.array((0, 0, -1.0)))
    1.5
    """
    found = shape.collision()
    if (routine := ROUTINES.get(found.core)) is not None:
        size = [float(x) for x in found.size]
        return lambda origin, direction: routine(size, origin.tolist(), direction.tolist())
    if found.core is Core.HULL:
        planes = vars(shape)
        return partial(_hull, planes["normals"], planes["offsets"])
    if found.surface is not None:
        return partial(_triangles, *_edges(*found.surface))
    facets = shape.facets(DETAIL)
    return partial(_triangles, *_edges(facets.vertices, np.concatenate([facets.faces[:, :3], facets.faces[:, (0, 2, 3)]])))


def _roots(a: float, b: float, c: float) -> tuple[float, float]:
    """Where a t^2 + 2 b t + c vanishes, ascending; none: (inf, inf)."""
    inside = b * b - a * c
    if a <= 0.0 or inside < 0.0:
        return NONE, NONE
    far = -b - math.copysign(math.sqrt(inside), b)  # without a difference of near numbers
    pair = (far / a, c / far) if far else (0.0, 0.0)
    return min(pair), max(pair)


def _first(*candidates: float) -> float:
    """The smallest distance along the ray that is not negative; `NONE` where there is none."""
    return min((t for t in candidates if t >= 0.0), default=NONE)


def _plane(size: list[float], o: list[float], d: list[float]) -> float:
    return o[2] / -d[2] if d[2] < 0.0 <= o[2] else NONE


def _sphere(size: list[float], o: list[float], d: list[float]) -> float:
    return _first(*_roots(sum(x * x for x in d), sum(map(float.__mul__, o, d)), sum(x * x for x in o) - size[0] ** 2))


def _ellipsoid(size: list[float], o: list[float], d: list[float]) -> float:
    return _sphere([1.0], [x / s for x, s in zip(o, size, strict=True)], [x / s for x, s in zip(d, size, strict=True)])


def _box(size: list[float], o: list[float], d: list[float]) -> float:
    enter, leave = -NONE, NONE
    for half, x, v in zip(size, o, d, strict=True):
        if v == 0.0:
            if abs(x) > half:
                return NONE
            continue
        one, other = sorted(((-half - x) / v, (half - x) / v))
        enter, leave = max(enter, one), min(leave, other)
    return _first(enter, leave) if enter <= leave else NONE


def _side(radius: float, half: float, o: list[float], d: list[float]) -> list[float]:
    """Where the wall of a cylinder along z is met."""
    roots = _roots(d[0] ** 2 + d[1] ** 2, o[0] * d[0] + o[1] * d[1], o[0] ** 2 + o[1] ** 2 - radius**2)
    return [t for t in roots if t < NONE and abs(o[2] + t * d[2]) <= half]


def _cylinder(size: list[float], o: list[float], d: list[float]) -> float:
    radius, half = size[:2]
    found = _side(radius, half, o, d)
    if d[2] != 0.0:
        caps = ((-half - o[2]) / d[2], (half - o[2]) / d[2])
        found += [t for t in caps if math.hypot(o[0] + t * d[0], o[1] + t * d[1]) <= radius]
    return _first(*found)


def _capsule(size: list[float], o: list[float], d: list[float]) -> float:
    radius, half = size[:2]
    found = _side(radius, half, o, d)
    for end in (-half, half):
        z = o[2] - end
        b, c = o[0] * d[0] + o[1] * d[1] + z * d[2], o[0] ** 2 + o[1] ** 2 + z * z - radius**2
        found += [t for t in _roots(sum(x * x for x in d), b, c) if t < NONE and (z + t * d[2]) * end >= 0.0]
    return _first(*found)


ROUTINES: dict[Core, Callable[[list[float], list[float], list[float]], float]] = {
    Core.PLANE: _plane,
    Core.SPHERE: _sphere,
    Core.ELLIPSOID: _ellipsoid,
    Core.BOX: _box,
    Core.CYLINDER: _cylinder,
    Core.CAPSULE: _capsule,
}


def _hull(normals: np.ndarray, offsets: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> float:
    """Between the planes of its faces."""
    along, left = normals @ direction, offsets - normals @ origin
    if (left[along == 0.0] < 0.0).any():
        return NONE
    enter = float((left[along < 0.0] / along[along < 0.0]).max(initial=-NONE))
    leave = float((left[along > 0.0] / along[along > 0.0]).min(initial=NONE))
    return _first(enter, leave) if enter <= leave else NONE


def _edges(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A corner of each triangle, and two edges from there (t, 3)."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return a, b - a, c - a


def _triangles(corner: np.ndarray, one: np.ndarray, other: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> float:
    """The nearest triangle ahead, seen from either side (Moeller and Trumbore 1997)."""
    across = np.cross(direction, other)
    volume = np.einsum("ij,ij->i", one, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(volume != 0.0, 1.0 / volume, np.nan)
        away = origin - corner
        u = np.einsum("ij,ij->i", away, across) * scale
        turned = np.cross(away, one)
        v = (turned @ direction) * scale
        t = np.einsum("ij,ij->i", other, turned) * scale
        met = t[(u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= 0.0)]
    return float(met.min(initial=NONE))
