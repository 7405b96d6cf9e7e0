"""Balls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linkwork.elements.core.shape import Collision, Core, Facets, Shape
from linkwork.elements.shapes import supports
from linkwork.elements.shapes.facets import revolved

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball.

    >>> round(float(Sphere(0.5).inertia(10.0)[0, 0]), 12)
    1.0
    """

    isotropic: ClassVar[bool] = True
    support = staticmethod(supports.sphere)

    radius: float

    @property
    def volume(self) -> float:
        return 4 / 3 * math.pi * self.radius**3

    def spread(self) -> tuple[float, float, float]:
        return (self.radius**2 / 5,) * 3

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return np.full(3, -self.radius), np.full(3, self.radius)

    def collision(self) -> Collision:
        return Collision(Core.SPHERE, (self.radius, 0.0, 0.0))

    def facets(self, detail: int) -> Facets:
        arc = np.linspace(-np.pi / 2, np.pi / 2, detail // 2 + 1)
        vertices, faces = revolved(np.cos(arc), np.sin(arc), detail)
        return Facets(vertices * np.full(3, self.radius), faces, toned=3)
