"""Ellipsoids."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core.shape import Collision, Core, Facets, Shape
from linkwork.elements.shapes import supports
from linkwork.elements.shapes.facets import revolved

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid with axes of full lengths x, y, z.

    >>> from linkwork.elements import Sphere
    >>> Ellipsoid(1, 1, 1).volume == Sphere(0.5).volume
    True
    """

    support = staticmethod(supports.ellipsoid)

    x: float
    y: float
    z: float

    @property
    def volume(self) -> float:
        return math.pi / 6 * self.x * self.y * self.z

    def spread(self) -> tuple[float, float, float]:
        return self.x**2 / 20, self.y**2 / 20, self.z**2 / 20

    def _half(self) -> tuple[float, float, float]:
        return self.x / 2, self.y / 2, self.z / 2

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        half = np.array(self._half())
        return -half, half

    def support_numbers(self) -> tuple[float, float, float]:
        return self._half()

    def collision(self) -> Collision:
        return Collision(Core.ELLIPSOID, self._half())

    def facets(self, detail: int) -> Facets:
        arc = np.linspace(-np.pi / 2, np.pi / 2, detail // 2 + 1)
        vertices, faces = revolved(np.cos(arc), np.sin(arc), detail)
        return Facets(vertices * np.sqrt(5 * np.array(self.spread())), faces, toned=3)
