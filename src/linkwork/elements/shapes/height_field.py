"""Heights on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.shape import Collision, Core, Facets, OfArrays
from linkwork.util.array_types import FloatArray, IntArray  # of fields: schemas are made of their annotations

if TYPE_CHECKING:
    from linkwork.elements.core.shape import Shape
    from linkwork.util.array_types import Matrix, Vector


@dataclass(frozen=True, eq=False, repr=False)
class HeightField(OfArrays):
    """The ground below heights (nx, ny), m, on a grid of full lengths size (x, y), m, centred at the origin; each cell is two
    triangles. It collides where it stands on the ground.

    >>> HeightField([[0, 0, 0], [0, 0.1, 0], [0, 0, 0]], size=(2, 2))
    HeightField(3 by 3 heights, size (2, 2))
    """

    heights: FloatArray  # (nx, ny) m
    size: FloatArray  # (2,) m

    solid = curved = False
    instead = "give a Box of some thickness"

    if TYPE_CHECKING:

        def __init__(self, heights: Matrix, size: Vector) -> None: ...

    def __post_init__(self) -> None:
        self._keep(heights=checks.table(self, "heights", self.heights), size=checks.vector(self, "size", self.size, 2))
        for length in self.size.tolist():
            checks.positive(self, "size", length)

    def __repr__(self) -> str:
        return f"HeightField({self.heights.shape[0]} by {self.heights.shape[1]} heights, size {checks.show(self.size)})"

    def surface(self) -> tuple[FloatArray, IntArray]:
        """Vertices and triangles: two a cell, seen from above."""
        nx, ny = self.heights.shape
        x, y = (np.linspace(-half, half, n) for half, n in zip(self.size / 2, (nx, ny), strict=True))
        grid = np.stack([*np.meshgrid(x, y, indexing="ij"), self.heights], axis=-1)
        at = np.arange(nx * ny).reshape(nx, ny)
        a, b, c, d = (corner.ravel() for corner in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
        return grid.reshape(-1, 3), np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        vertices, _ = self.surface()
        return vertices.min(axis=0), vertices.max(axis=0)

    def collision(self) -> Collision:
        low, high = self.bounds()
        return Collision(Core.FIELD, (high - low) / 2, (high + low) / 2, surface=self.surface())

    def facets(self, detail: int) -> Facets:
        """The first triangles of all cells, then the second ones."""
        vertices, triangles = self.surface()
        cells = triangles.reshape(-1, 2, 3).transpose(1, 0, 2).reshape(-1, 3)
        return Facets(vertices, cells[:, (0, 1, 2, 2)], closed=False)

    def painted(self) -> Shape | None:
        return None
