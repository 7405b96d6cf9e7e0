"""Cylinders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core.shape import Collision, Core, Facets, Shape
from linkwork.elements.shapes import supports
from linkwork.elements.shapes.facets import round_rod
from linkwork.elements.shapes.moments import cylinder_spread

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z.

    >>> round(Cylinder(1, 2).volume, 6)
    6.283185
    """

    support = staticmethod(supports.cylinder)

    radius: float
    length: float

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length

    def spread(self) -> tuple[float, float, float]:
        return cylinder_spread(self.radius, self.length)

    def support_numbers(self) -> tuple[float, float]:
        return self.radius, self.length / 2

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        half = np.array([self.radius, self.radius, self.length / 2])
        return -half, half

    def collision(self) -> Collision:
        return Collision(Core.CYLINDER, (self.radius, self.length / 2, 0.0))

    def facets(self, detail: int) -> Facets:
        vertices, faces = round_rod(self.radius, self.length / 2, detail)
        return Facets(vertices, faces, toned=2)
