"""Solid shapes of uniform density, centred at the origin: volume and second moments. Sizes are full lengths, metres."""

import math
from dataclasses import dataclass, field

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.shape import OfArrays, Shape


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid with edges x, y, z.

    >>> Box(1, 2, 3).volume
    6.0
    """

    x: float
    y: float
    z: float

    @property
    def volume(self):
        return self.x * self.y * self.z

    def _spread(self):
        return self.x**2 / 12, self.y**2 / 12, self.z**2 / 12


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball.

    >>> round(float(Sphere(0.5).inertia(10.0)[0, 0]), 12)
    1.0
    """

    radius: float

    @property
    def volume(self):
        return 4 / 3 * math.pi * self.radius**3

    def _spread(self):
        return (self.radius**2 / 5,) * 3


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid with axes of full lengths x, y, z.

    >>> Ellipsoid(1, 1, 1).volume == Sphere(0.5).volume
    True
    """

    x: float
    y: float
    z: float

    @property
    def volume(self):
        return math.pi / 6 * self.x * self.y * self.z

    def _spread(self):
        return self.x**2 / 20, self.y**2 / 20, self.z**2 / 20


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z.

    >>> round(Cylinder(1, 2).volume, 6)
    6.283185
    """

    radius: float
    length: float

    @property
    def volume(self):
        return math.pi * self.radius**2 * self.length

    def _spread(self):
        return _cylinder_spread(self.radius, self.length)


@dataclass(frozen=True)
class Disc(Shape):
    """A disc with its axis along z.

    >>> float(Disc(1, 0.1).inertia(2.0)[2, 2])
    1.0
    """

    radius: float
    thickness: float

    @property
    def volume(self):
        return math.pi * self.radius**2 * self.thickness

    def _spread(self):
        return _cylinder_spread(self.radius, self.thickness)


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z with half a ball on each end; length is that of the cylinder, without the caps.

    >>> Capsule(0.5, 2).volume == Cylinder(0.5, 2).volume + Sphere(0.5).volume
    True
    """

    radius: float
    length: float

    @property
    def volume(self):
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def _spread(self):
        r, half = self.radius, self.length / 2
        caps = 4 / 3 * r / (self.length + 4 / 3 * r)  # their share of the mass
        across, along = _cylinder_spread(r, self.length)[1:]
        cap_along = half**2 + 2 * half * (3 / 8 * r) + r**2 / 5  # half a ball: mean z is 3/8 r, mean z^2 is r^2/5
        across = (1 - caps) * across + caps * r**2 / 5
        return across, across, (1 - caps) * along + caps * cap_along


@dataclass(frozen=True, eq=False, repr=False)
class ConvexHull(OfArrays):
    """The smallest convex solid around points (n, 3), m. Like every shape it is centred at its centre of mass: `centre` says
    where that was among the points as given, and `points` are the corners from there.

    >>> wedge = ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    >>> round(wedge.volume, 6), wedge.centre.tolist()
    (0.166667, [0.25, 0.25, 0.25])
    """

    points: np.ndarray  # (n, 3) m
    centre: np.ndarray = field(init=False)  # (3,) m
    triangles: np.ndarray = field(init=False)  # (t, 3) corners, anticlockwise seen from outside
    loops: list = field(init=False)  # the corners of each face, likewise
    normals: np.ndarray = field(init=False)  # (f, 3) of the faces, outwards
    offsets: np.ndarray = field(init=False)  # (f,) m: normals . x is at most this
    moment: np.ndarray = field(init=False)  # (3, 3) m^2: the mean of p p^T
    _volume: float = field(init=False)  # m^3

    def __post_init__(self):
        given = checks.rows(self, "points", self.points)
        if len(np.unique(given, axis=0)) < 4:
            checks.fail(self, f"{len(np.unique(given, axis=0))} different points enclose no volume", "give four at least")
        corners, triangles = _hull(self, given)
        volume, centre, moment = _solid_moments(corners, triangles)
        corners = corners - centre
        loops, normals, offsets = _merged(corners, triangles)
        self._keep(points=corners, centre=centre, normals=normals, offsets=offsets, moment=moment, triangles=triangles)
        object.__setattr__(self, "loops", loops)
        object.__setattr__(self, "_volume", float(volume))

    def __repr__(self):
        return f"ConvexHull({len(self.points)} corners)"

    @property
    def volume(self):
        return self._volume

    def second_moment(self, mass):
        return checks.positive(self, "mass", mass) * self.moment

    def inertia(self, mass):
        moment = self.second_moment(mass)
        return np.trace(moment) * np.eye(3) - moment


@dataclass(frozen=True)
class Plane(Shape):
    """A half space: all that lies at or below z = 0 of its own frame. It collides, and is no body's shape.

    >>> Plane()
    Plane()
    """

    solid = False


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(OfArrays):
    """A surface of triangles (t, 3), numbers of vertices (v, 3), m; anticlockwise is outside. It collides where it stands on
    the ground, from outside. `volume` is that of a surface without holes.

    >>> Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    Mesh(3 vertices, 1 triangles)
    """

    vertices: np.ndarray  # (v, 3) m
    triangles: np.ndarray  # (t, 3)

    solid = False

    def __post_init__(self):
        vertices = checks.rows(self, "vertices", self.vertices)
        triangles = checks.indices(self, "triangles", self.triangles, len(vertices))
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        area, longest = (
            np.linalg.norm(np.cross(b - a, c - a), axis=1),
            np.maximum(np.linalg.norm(b - a, axis=1), np.linalg.norm(c - a, axis=1)),
        )
        flat = np.flatnonzero(~(area > THIN_TRIANGLE * longest**2))
        if len(flat):
            corners = checks.show(tuple(triangles[flat[0]].tolist()))
            checks.fail(self, f"triangle {flat[0]} of the vertices {corners} has no area", "leave it out")
        self._keep(vertices=vertices, triangles=triangles)

    def __repr__(self):
        return f"Mesh({len(self.vertices)} vertices, {len(self.triangles)} triangles)"

    @property
    def volume(self):
        edges = np.concatenate([self.triangles[:, (0, 1)], self.triangles[:, (1, 2)], self.triangles[:, (2, 0)]])
        known = set(map(tuple, edges.tolist()))
        loose = [(i, j) for i, j in known if (j, i) not in known]
        if loose:
            i, j = min(loose)
            problem = f"{len(loose)} edges, such as ({i}, {j}), belong to one triangle only, so it encloses no volume"
            checks.fail(self, problem, "close the holes, or give ConvexHull(vertices)")
        return float(_solid_moments(self.vertices, self.triangles)[0])


@dataclass(frozen=True, eq=False, repr=False)
class HeightField(OfArrays):
    """The ground below heights (nx, ny), m, on a grid of full lengths size (x, y), m, centred at the origin; each cell is two
    triangles. It collides where it stands on the ground.

    >>> HeightField([[0, 0, 0], [0, 0.1, 0], [0, 0, 0]], size=(2, 2))
    HeightField(3 by 3 heights, size (2, 2))
    """

    heights: np.ndarray  # (nx, ny) m
    size: np.ndarray  # (2,) m

    solid = False

    def __post_init__(self):
        self._keep(heights=checks.table(self, "heights", self.heights), size=checks.vector(self, "size", self.size, 2))
        for length in self.size.tolist():
            checks.positive(self, "size", length)

    def __repr__(self):
        return f"HeightField({self.heights.shape[0]} by {self.heights.shape[1]} heights, size {checks.show(self.size)})"


THIN_TRIANGLE = 1e-12  # twice the area relative to the square of a side
COPLANAR = 1e-9  # relative: triangles of one face


def _hull(who, points):
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


def _solid_moments(vertices, triangles):
    """Volume, centre (3,) and the mean of p p^T (3, 3) about it, of what triangles enclose: tetrahedra to one point inside."""
    origin = vertices.mean(axis=0)
    a, b, c = (vertices[triangles[:, k]] - origin for k in range(3))
    six = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume, whole = six.sum() / 6, a + b + c
    centre = (six @ whole) / 24 / volume
    squares = sum(np.einsum("t,ti,tj->ij", six, x, x) for x in (a, b, c, whole)) / 120
    return volume, origin + centre, squares / volume - np.outer(centre, centre)


def _merged(corners, triangles):
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


def _alone(corners, triangles, normals, slack, most=2**20):
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


def _around(corners, faces, normals, along):
    """The corners (m, k) of faces in order about their normals (m, 3), from that of the least angle to `along` (m, 3)."""
    u = along / np.linalg.norm(along, axis=1)[:, None]
    flat = corners[faces] - corners[faces].mean(axis=1)[:, None]
    x, y = np.einsum("mkj,mj->mk", flat, u), np.einsum("mkj,mj->mk", flat, np.cross(normals, u))
    return np.take_along_axis(faces, np.argsort(np.arctan2(y, x), axis=1, kind="stable"), axis=1)


def _cylinder_spread(radius, length):
    return radius**2 / 4, radius**2 / 4, length**2 / 12
