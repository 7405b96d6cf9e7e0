"""Cylinders."""

import math
from dataclasses import dataclass

import numpy as np

from linkwork.elements.core.shape import Collision, Core, Facets, Shape
from linkwork.elements.shapes import supports
from linkwork.elements.shapes.facets import round_rod
from linkwork.elements.shapes.moments import cylinder_spread


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
    def volume(self):
        return math.pi * self.radius**2 * self.length

    def spread(self):
        return cylinder_spread(self.radius, self.length)

    def support_numbers(self):
        return self.radius, self.length / 2

    def bounds(self):
        half = np.array([self.radius, self.radius, self.length / 2])
        return -half, half

    def collision(self):
        return Collision(Core.CYLINDER, (self.radius, self.length / 2, 0.0))

    def facets(self, detail):
        vertices, faces = round_rod(self.radius, self.length / 2, detail)
        return Facets(vertices, faces, toned=2)
