"""What slow and late sensors have sampled and still need: part of a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Samples(NamedTuple):
    """The samples of one sensor, oldest first. Never changed once they are made: states share them."""

    steps: np.ndarray  # (m,) int64, ascending: after which step each was taken
    values: np.ndarray  # (m, channels)

    def at(self, step: int) -> np.ndarray:
        """The latest that was taken by a step, or the first of all.

        >>> found = Samples(np.array([0, 10]), np.array([[1.0], [2.0]]))
        >>> found.at(9).tolist(), found.at(10).tolist(), found.at(-1).tolist()
        ([1.0], [2.0], [1.0])
        """
        found: np.ndarray = self.values[max(0, int(np.searchsorted(self.steps, step, "right")) - 1)]
        return found

    def with_one(self, step: int, value: np.ndarray, oldest: int) -> Samples:
        """These and one more, without those that nothing after `oldest` needs."""
        first = max(0, int(np.searchsorted(self.steps, oldest, "right")) - 1)
        return Samples(np.append(self.steps[first:], step), np.vstack([self.values[first:], value]))

    def fits(self, channels: int) -> bool:
        """Whether it is that of a sensor with so many channels."""
        steps, values = self
        return bool(
            values.ndim == 2 and values.shape == (len(steps), channels) and len(steps) > 0 and (np.diff(steps) > 0).all()
        )


Held = Mapping[str, Samples]  # by the names of sensors
