"""Points where bodies touch, as a simulation and a recording tell them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TouchingPoint:
    """One contact point. `impulse` (3, N s) is what the second of `bodies` got from the first in the last step, `force` (3, N)
    the same over the time of the step; `normal` points from the first to the second. `colliders`: a Collider, or the body
    whose shape it is."""

    bodies: tuple
    colliders: tuple
    point: np.ndarray  # (3,) m
    normal: np.ndarray  # (3,)
    gap: float  # m, negative where they overlap
    force: np.ndarray  # (3,) N
    impulse: np.ndarray  # (3,) N s


class TouchingPoints(list):
    """TouchingPoints in a fixed order; `.points`, `.normals`, `.gaps`, `.forces` and `.impulses` are arrays of all of them."""

    def _column(self, name: str, *shape: int) -> np.ndarray:
        return np.array([getattr(point, name) for point in self], dtype=float).reshape(len(self), *shape)

    @property
    def points(self) -> np.ndarray:
        return self._column("point", 3)

    @property
    def normals(self) -> np.ndarray:
        return self._column("normal", 3)

    @property
    def gaps(self) -> np.ndarray:
        return self._column("gap")

    @property
    def forces(self) -> np.ndarray:
        return self._column("force", 3)

    @property
    def impulses(self) -> np.ndarray:
        return self._column("impulse", 3)
