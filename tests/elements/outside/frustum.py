"""A shape of another package: a cone that is cut off, by its support function."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.kinds import Shape


def support(numbers, direction):
    """Numbers: radii of the lower and the upper end, and their heights."""
    low, high, below, above = numbers[0], numbers[1], numbers[2], numbers[3]
    around = math.hypot(direction[0], direction[1])
    upper = high * around + above * direction[2] >= low * around + below * direction[2]
    radius = high if upper else low
    scale = radius / around if around > 0.0 else 0.0
    return (direction[0] * scale, direction[1] * scale, above if upper else below)


@dataclass(frozen=True)
class Frustum(Shape):
    """A cone along z that is cut off: radii of its lower and upper end. Like every shape it is centred at its centre of mass.

    >>> round(Frustum(1.0, 1.0, 2.0).volume / math.pi, 12)
    2.0
    """

    lower: float
    upper: float
    height: float

    support = staticmethod(support)

    @property
    def volume(self):
        return math.pi * self.height * (self.lower**2 + self.lower * self.upper + self.upper**2) / 3

    def _discs(self):
        """Heights above the lower end, radii and volumes of discs: three of Gauss's are exact for the moments."""
        nodes, weights = np.polynomial.legendre.leggauss(3)
        z = 0.5 * self.height * (1 + nodes)
        radius = self.lower + (self.upper - self.lower) * z / self.height
        return z, radius, 0.5 * self.height * weights * math.pi * radius**2

    def _centre(self):
        z, _, volume = self._discs()
        return float(z @ volume / volume.sum())

    def spread(self):
        z, radius, volume = self._discs()
        across = float((radius**2 / 4) @ volume / volume.sum())
        return across, across, float((z - self._centre()) ** 2 @ volume / volume.sum())

    def support_numbers(self):
        return self.lower, self.upper, -self._centre(), self.height - self._centre()
