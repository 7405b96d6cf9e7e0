"""Discs."""

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
class Disc(Shape):
    """A disc with its axis along z.

    >>> float(Disc(1, 0.1).inertia(2.0)[2, 2])
    1.0
    """

    support = staticmethod(supports.cylinder)

    radius: float
    thickness: float

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.thickness

    def spread(self) -> tuple[float, float, float]:
        return cylinder_spread(self.radius, self.thickness)

    def support_numbers(self) -> tuple[float, float]:
        return self.radius, self.thickness / 2

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        half = np.array([self.radius, self.radius, self.thickness / 2])
        return -half, half

    def collision(self) -> Collision:
        return Collision(Core.CYLINDER, (self.radius, self.thickness / 2, 0.0))

    def facets(self, detail: int) -> Facets:
        vertices, faces = round_rod(self.radius, self.thickness / 2, detail)
        return Facets(vertices, faces, toned=2)
