"""Cuboids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core.shape import Collision, Core, Facets, Shape
from linkwork.elements.shapes import supports
from linkwork.elements.shapes.facets import boxed

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid with edges x, y, z.

    >>> Box(1, 2, 3).volume
    6.0
    """

    curved = False
    support = staticmethod(supports.box)

    x: float
    y: float
    z: float

    @property
    def volume(self) -> float:
        return self.x * self.y * self.z

    def spread(self) -> tuple[float, float, float]:
        return self.x**2 / 12, self.y**2 / 12, self.z**2 / 12

    def _half(self) -> tuple[float, float, float]:
        return self.x / 2, self.y / 2, self.z / 2

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        half = np.array(self._half())
        return -half, half

    def support_numbers(self) -> tuple[float, float, float]:
        return self._half()

    def collision(self) -> Collision:
        return Collision(Core.BOX, self._half())

    def facets(self, detail: int) -> Facets:
        return Facets(*boxed((self.x, self.y, self.z), limit=detail // 4))
