"""Capsules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core.shape import Collision, Core, Facets, Shape
from linkwork.elements.shapes import supports
from linkwork.elements.shapes.facets import cuts, revolved
from linkwork.elements.shapes.moments import cylinder_spread

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z with half a ball on each end; length is that of the cylinder, without the caps.

    >>> from linkwork.elements import Cylinder, Sphere
    >>> Capsule(0.5, 2).volume == Cylinder(0.5, 2).volume + Sphere(0.5).volume
    True
    """

    support = staticmethod(supports.capsule)

    radius: float
    length: float

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def spread(self) -> tuple[float, float, float]:
        r, half = self.radius, self.length / 2
        caps = 4 / 3 * r / (self.length + 4 / 3 * r)  # their share of the mass
        across, along = cylinder_spread(r, self.length)[1:]
        cap_along = half**2 + 2 * half * (3 / 8 * r) + r**2 / 5  # half a ball: mean z is 3/8 r, mean z^2 is r^2/5
        across = (1 - caps) * across + caps * r**2 / 5
        return across, across, (1 - caps) * along + caps * cap_along

    def support_numbers(self) -> tuple[float, float]:
        return self.radius, self.length / 2

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        half = np.array([self.radius, self.radius, self.length / 2 + self.radius])
        return -half, half

    def collision(self) -> Collision:
        return Collision(Core.CAPSULE, (self.radius, self.length / 2, 0.0))

    def facets(self, detail: int) -> Facets:
        arc = np.linspace(-np.pi / 2, np.pi / 2, detail // 2 + 1)
        r, half, quarter = self.radius, self.length / 2, detail // 4
        along = np.linspace(-half, half, 1 + cuts(half / r, quarter))[1:-1]
        radii, heights = r * np.cos(arc), r * np.sin(arc)
        radii = np.r_[radii[: quarter + 1], np.full(along.size, r), radii[quarter:]]
        heights = np.r_[heights[: quarter + 1] - half, along, heights[quarter:] + half]
        return Facets(*revolved(radii, heights, detail))
