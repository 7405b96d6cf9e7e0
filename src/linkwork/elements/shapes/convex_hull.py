"""Convex hulls of points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.shape import Collision, Core, Facets, OfArrays
from linkwork.elements.shapes.moments import solid_moments
from linkwork.util.array_types import FloatArray, IntArray  # of fields: schemas are made of their annotations

if TYPE_CHECKING:
    from linkwork.util.array_types import BoolArray, Matrix


COPLANAR = 1e-9  # relative: triangles of one face


@dataclass(frozen=True, eq=False, repr=False)
class ConvexHull(OfArrays):
    """The smallest convex solid around points (n, 3), m. Like every shape it is centred at its centre of mass: `centre` says
    where that was among the points as given, and `points` are the corners from there.

    >>> wedge = ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    >>> round(wedge.volume, 6), wedge.centre.tolist()
    (0.166667, [0.25, 0.25, 0.25])
    """

    curved = False

    points: FloatArray  # (n, 3) m
    centre: FloatArray = field(init=False)  # (3,) m
    triangles: IntArray = field(init=False)  # (t, 3) corners, anticlockwise seen from outside
    loops: list[list[int]] = field(init=False)  # the corners of each face, likewise
    normals: FloatArray = field(init=False)  # (f, 3) of the faces, outwards
    offsets: FloatArray = field(init=False)  # (f,) m: normals . x is at most this
    moment: FloatArray = field(init=False)  # (3, 3) m^2: the mean of p p^T
    _volume: float = field(init=False)  # m^3

    if TYPE_CHECKING:

        def __init__(self, points: Matrix) -> None: ...

    def __post_init__(self) -> None:
        given = checks.rows(self, "points", self.points)
        if len(np.unique(given, axis=0)) < 4:
            checks.fail(self, f"{len(np.unique(given, axis=0))} different points enclose no volume", "give four at least")
        corners, triangles = _hull(self, given)
        volume, centre, moment = solid_moments(corners, triangles)
        corners = corners - centre
        loops, normals, offsets = _merged(corners, triangles)
        self._keep(points=corners, centre=centre, normals=normals, offsets=offsets, moment=moment, triangles=triangles)
        object.__setattr__(self, "loops", loops)
        object.__setattr__(self, "_volume", float(volume))

    def __repr__(self) -> str:
        return f"ConvexHull({len(self.points)} corners)"

    @property
    def volume(self) -> float:
        return self._volume

    def second_moment(self, mass: float) -> FloatArray:
        return checks.positive(self, "mass", mass) * self.moment

    def inertia(self, mass: float) -> FloatArray:
        moment = self.second_moment(mass)
        found: FloatArray = np.trace(moment) * np.eye(3) - moment
        return found

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.points.min(axis=0), self.points.max(axis=0)

    def collision(self) -> Collision:
        """Numbers: how many vertices, they, and the planes. Integers: faces, how many follow, faces, beginnings, loops."""
        low, high = self.bounds()
        faces = len(self.loops)
        begin = 2 + faces + np.cumsum([0, *map(len, self.loops)])
        loops = [faces, *begin.tolist(), *(v for loop in self.loops for v in loop)]
        planes = np.column_stack([self.normals, self.offsets])
        numbers = [len(self.points), *self.points.ravel(), *planes.ravel()]
        return Collision(Core.HULL, (high - low) / 2, (high + low) / 2, numbers, [faces, len(loops), *loops])

    def facets(self, detail: int) -> Facets:
        return Facets(self.points, self.triangles[:, (0, 1, 2, 2)])


def _hull(who: ConvexHull, points: FloatArray) -> tuple[FloatArray, IntArray]:
    """The corners (n, 3) of the hull of points and its triangles (t, 3), outwards."""
    from scipy.spatial import ConvexHull as Hull
    from scipy.spatial import QhullError

    middle = points.mean(axis=0)
    spread = np.linalg.svd(points - middle, compute_uv=False)
    try:
        if not spread[2] > 1e-9 * spread[0]:
            raise QhullError
        hull = Hull(points)
    except QhullError:
        checks.fail(who, "all points lie in one plane, so they enclose no volume", "give points in space, or a thin Box")
    corners, where = np.unique(hull.simplices, return_inverse=True)
    triangles, corners = where.reshape(-1, 3), points[corners]
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return corners, triangles


def _merged(corners: FloatArray, triangles: IntArray) -> tuple[list[list[int]], FloatArray, FloatArray]:
    """The faces of a hull: loops of corners, and planes normals . x <= offsets."""
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    slack, left = COPLANAR * np.abs(corners).max(), np.ones(len(triangles), dtype=bool)
    normals = normals / np.maximum(area, 1e-300)[:, None]
    alone, offsets = _alone(corners, triangles, normals, slack)
    around, is_alone = _around(corners, np.sort(triangles, axis=1), normals, b - a).tolist(), alone.tolist()
    loops: list[list[int]] = []
    faces: list[int] = []  # the triangles that give their planes
    for first in np.argsort(-area, kind="stable").tolist():  # the largest gives the plane; all that lie in it make the face
        if not left[first]:
            continue
        if is_alone[first]:
            loops.append(around[first])
            faces.append(first)
        else:
            heights = corners @ normals[first]
            offsets[first] = heights.max()
            within = np.abs(heights - offsets[first]) <= slack
            left &= ~within[triangles].all(axis=1)
            if within[triangles[first]].all():  # else a sliver, whose normal is but rounding: it lies in the planes around it
                on = np.flatnonzero(within)[None]
                loops.append(_around(corners, on, normals[[first]], (b - a)[[first]])[0].tolist())
                faces.append(first)
    return loops, normals[faces], offsets[faces]


def _alone(
    corners: FloatArray, triangles: IntArray, normals: FloatArray, slack: float, most: int = 2**20
) -> tuple[BoolArray, FloatArray]:
    """Which triangles (t,) share their plane with no other corner, and how far out that is (t,), in blocks of numbers."""
    alone, tops, step = np.zeros(len(triangles), dtype=bool), np.zeros(len(triangles)), max(1, most // len(corners))
    for k in range(0, len(triangles), step):
        some = slice(k, k + step)
        heights = normals[some] @ corners.T
        tops[some] = heights.max(axis=1)
        within = heights >= (tops[some] - slack)[:, None]
        own = np.take_along_axis(within, triangles[some], axis=1).all(axis=1)
        alone[some] = own & (np.count_nonzero(within, axis=1) == 3)
    return alone, tops


def _around(corners: FloatArray, faces: IntArray, normals: FloatArray, along: FloatArray) -> IntArray:
    """The corners (m, k) of faces in order about their normals (m, 3), from that of the least angle to `along` (m, 3)."""
    u = along / np.linalg.norm(along, axis=1)[:, None]
    flat = corners[faces] - corners[faces].mean(axis=1)[:, None]
    x, y = np.einsum("mkj,mj->mk", flat, u), np.einsum("mkj,mj->mk", flat, np.cross(normals, u))
    return np.take_along_axis(faces, np.argsort(np.arctan2(y, x), axis=1, kind="stable"), axis=1)
