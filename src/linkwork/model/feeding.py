"""Recorded motions that forces follow: where their targets lie in a workspace, and what stands there at which time."""

from __future__ import annotations

import numpy as np

from linkwork.model.types import Model
from linkwork.symbolic.kernels import parameter_record


class Feed:
    """All Trajectories of a model. False where it has none."""

    def __init__(self, model: Model):
        self.motions, parts = [], []
        for k, force in enumerate(model.forces):
            if getattr(force.element, "motion", None) is not None:
                layout = parameter_record(force.kind.law)
                self.motions.append(force.element.motion)
                parts.append(model.force_at[k] + np.arange(layout.offset("when"), layout.slice("spin").stop))
        self.where = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def __bool__(self) -> bool:
        return bool(self.motions)

    def rows(self, times: np.ndarray) -> np.ndarray:
        """(k, entries): what `where` holds at these times, a function of the times alone."""
        return np.hstack([part for motion in self.motions for part in (times[:, None], motion.at(times))])

    def put(self, work: np.ndarray, time: float) -> None:
        work[self.where] = self.rows(np.array([time]))[0]


def ends_of_steps(time: float, dt: float, steps: int) -> np.ndarray:
    """The times at which steps from now end, added up one by one as integrators do."""
    return np.cumsum(np.concatenate([[time], np.full(steps, dt)]))[1:]
