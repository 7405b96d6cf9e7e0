"""Surfaces of triangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.shape import Collision, Core, Facets, OfArrays
from linkwork.elements.shapes.convex_hull import ConvexHull
from linkwork.elements.shapes.moments import solid_moments
from linkwork.errors import ElementError
from linkwork.util.array_types import FloatArray, IntArray  # of fields: schemas are made of their annotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linkwork.elements.core.shape import Shape
    from linkwork.util.array_types import Matrix


THIN_TRIANGLE = 1e-12  # twice the area relative to the square of a side
PAINTED = 60  # directions in which vertices of a hull are sought


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(OfArrays):
    """A surface of triangles (t, 3), numbers of vertices (v, 3), m; anticlockwise is outside. It collides where it stands on
    the ground, from outside. `volume` is that of a surface without holes.

    >>> Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    Mesh(3 vertices, 1 triangles)
    """

    vertices: FloatArray  # (v, 3) m
    triangles: IntArray  # (t, 3)

    solid = curved = False
    instead = "give ConvexHull(vertices)"

    if TYPE_CHECKING:

        def __init__(self, vertices: Matrix, triangles: Sequence[Sequence[int]] | IntArray) -> None: ...

    def __post_init__(self) -> None:
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

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.triangles)} triangles)"

    @property
    def volume(self) -> float:
        edges = np.concatenate([self.triangles[:, (0, 1)], self.triangles[:, (1, 2)], self.triangles[:, (2, 0)]])
        known = set(map(tuple, edges.tolist()))
        loose = [(i, j) for i, j in known if (j, i) not in known]
        if loose:
            i, j = min(loose)
            problem = f"{len(loose)} edges, such as ({i}, {j}), belong to one triangle only, so it encloses no volume"
            checks.fail(self, problem, "close the holes, or give ConvexHull(vertices)")
        return float(solid_moments(self.vertices, self.triangles)[0])

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def collision(self) -> Collision:
        low, high = self.bounds()
        return Collision(Core.MESH, (high - low) / 2, (high + low) / 2, surface=(self.vertices, self.triangles))

    def facets(self, detail: int) -> Facets:
        return Facets(self.vertices, self.triangles[:, (0, 1, 2, 2)], closed=False)

    def painted(self) -> Shape | None:
        """Its hull, by the vertices farthest in some directions."""
        turn = np.arange(PAINTED) + 0.5
        z, around = 1 - 2 * turn / PAINTED, np.pi * (1 + 5**0.5) * turn  # evenly over a sphere
        towards = np.stack([np.sqrt(1 - z * z) * np.cos(around), np.sqrt(1 - z * z) * np.sin(around), z])
        try:
            return ConvexHull(self.vertices[np.unique((self.vertices @ towards).argmax(axis=0))])
        except ElementError:
            return None  # it is flat
