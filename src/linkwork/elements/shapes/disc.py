"""Discs."""

import math
from dataclasses import dataclass

import numpy as np

from linkwork.elements.core.shape import Collision, Core, Facets, Shape
from linkwork.elements.shapes import supports
from linkwork.elements.shapes.facets import round_rod
from linkwork.elements.shapes.moments import cylinder_spread


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
    def volume(self):
        return math.pi * self.radius**2 * self.thickness

    def spread(self):
        return cylinder_spread(self.radius, self.thickness)

    def support_numbers(self):
        return self.radius, self.thickness / 2

    def bounds(self):
        half = np.array([self.radius, self.radius, self.thickness / 2])
        return -half, half

    def collision(self):
        return Collision(Core.CYLINDER, (self.radius, self.thickness / 2, 0.0))

    def facets(self, detail):
        vertices, faces = round_rod(self.radius, self.thickness / 2, detail)
        return Facets(vertices, faces, toned=2)
