"""Recorded motions that forces follow: where their targets lie in a workspace, and what stands there at which time."""

from __future__ import annotations

import numpy as np

from linkwork.kernels.node import parameter_record
from linkwork.model.model import Model


class TrajectoryInput:
    """All Trajectories of a model. False where it has none."""

    def __init__(self, model: Model):
        self.motions, parts = [], []
        for k, force in enumerate(model.forces):
            if (motion := force.kind.law.trajectory(force.element)) is not None:
                layout, target = parameter_record(force.kind.law), [*force.kind.law.target]
                self.motions.append(motion)
                parts.append(model.force_at[k] + np.arange(layout.offset(target[0]), layout.slice(target[-1]).stop))
        self.where = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def __bool__(self) -> bool:
        return bool(self.motions)

    def put(self, work: np.ndarray, time: float) -> None:
        """The targets of this moment."""
        work[self.where] = np.concatenate([np.append(time, motion.at(time)) for motion in self.motions])

    def rows(self, time: float, dt: float, steps: int) -> np.ndarray:
        """(steps, entries): what `where` holds in each step from this time on, given for its end; a function of time."""
        times = np.cumsum(np.concatenate([[time], np.full(steps, dt)]))  # one by one, as integrators count
        return np.hstack([part for motion in self.motions for part in (times[1:, None], motion.between(times))])
