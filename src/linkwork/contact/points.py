"""Points where bodies touch, as a simulation and a recording tell them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(frozen=True)
class TouchingPoint:
    """One contact point. `impulse` (3, N s) is what the second of `bodies` got from the first in the last step, `force` (3, N)
    the same over the time of the step; `normal` points from the first to the second. `torque` (3, N m) is the couple that
    torsion and rolling put on the second beside it. `colliders`: a Collider, or the body whose shape it is."""

    bodies: tuple[Any, ...]
    colliders: tuple[Any, ...]
    point: FloatArray  # (3,) m
    normal: FloatArray  # (3,)
    gap: float  # m, negative where they overlap
    force: FloatArray  # (3,) N
    impulse: FloatArray  # (3,) N s
    torque: FloatArray  # (3,) N m


class TouchingPoints(list[TouchingPoint]):
    """TouchingPoints in a fixed order; `.points`, `.normals`, `.gaps`, `.forces`, `.impulses` and `.torques` have those of
    all."""

    def _column(self, name: str, *shape: int) -> FloatArray:
        return np.array([getattr(point, name) for point in self], dtype=float).reshape(len(self), *shape)

    @property
    def points(self) -> FloatArray:
        return self._column("point", 3)

    @property
    def normals(self) -> FloatArray:
        return self._column("normal", 3)

    @property
    def gaps(self) -> FloatArray:
        return self._column("gap")

    @property
    def forces(self) -> FloatArray:
        return self._column("force", 3)

    @property
    def impulses(self) -> FloatArray:
        return self._column("impulse", 3)

    @property
    def torques(self) -> FloatArray:
        return self._column("torque", 3)
