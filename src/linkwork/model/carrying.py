"""States of one model for another that has the same bodies and constraints, and other forces."""

from __future__ import annotations

import numpy as np

from linkwork.model.frames import apply, matrices
from linkwork.model.readout import fields
from linkwork.model.types import Model


def carried(old: Model, new: Model, values: np.ndarray) -> np.ndarray:
    """A state's values, of the old model, as the new one has them; the counters of its forces are zero."""
    work = new.workspace()
    common = len(old.state_index) - sum(2 * force.kind.law.counters for force in old.forces)
    work[new.state_index[:common]] = values[:common]
    _move_origins(old, new, work)
    return work[new.state_index]


def _move_origins(old: Model, new: Model, work: np.ndarray) -> None:
    """Rigid bodies whose origins are elsewhere now: forces may decide whether a body and its joint are a limb."""
    if "RigidBody" not in new.bodies.frames:
        return
    homes = [model.bodies.frames["RigidBody"].start()["home"] for model in (old, new)]  # (k, 3), from origin to user's
    moved = np.flatnonzero((homes[0] != homes[1]).any(axis=1))
    if not len(moved):
        return
    numbers = np.array(new.bodies.members["RigidBody"])[moved]
    kind = new.bodies.kinds[numbers[0]]
    q, v = fields(new, work, kind, numbers, "q", "v")
    arm = apply(matrices(q[:, 3:7]), (homes[0] - homes[1])[moved])
    q[:, :3] += arm
    v[:, :3] += np.cross(v[:, 3:6], arm)
    for name, values in (("q", q), ("v", v)):
        where = kind.record.slice(name)
        work[new.body_at[numbers][:, None] + np.arange(where.start, where.stop)] = values
