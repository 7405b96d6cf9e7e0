"""Half spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.shape import Collision, Core, Shape

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(frozen=True)
class Plane(Shape):
    """A half space: all that lies at or below z = 0 of its own frame. It collides, and is no body's shape.

    >>> Plane()
    Plane()
    """

    solid = bounded = curved = False
    instead = "give a Box of some thickness"

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return np.full(3, -np.inf), np.array([np.inf, np.inf, 0.0])

    def collision(self) -> Collision:
        return Collision(Core.PLANE)

    def facets(self, detail: int) -> NoReturn:
        checks.fail(self, "it has no end", "draw as much of it as is seen")

    def painted(self) -> Shape | None:
        return None
