"""From a workspace to what a person asks for: poses and velocities of bodies in the users' frames, by kind."""

from __future__ import annotations

import numpy as np

from linkwork.elements.core.placement import Poses as Poses
from linkwork.elements.core.placement import matrices as matrices
from linkwork.kernels.node import parameter_record
from linkwork.model.model import Model


def fields(model: Model, work: np.ndarray, kind, numbers: np.ndarray, *names: str) -> list[np.ndarray]:
    """Fields of bodies of one kind, (k, size) each."""
    base = model.body_at[numbers][:, None]
    spans = [kind.record.slice(name) for name in names]
    return [work[base + np.arange(where.start, where.stop)] for where in spans]


def poses(model: Model, work: np.ndarray, numbers) -> Poses:
    """Poses of the bodies with these numbers, in their order."""
    numbers = np.atleast_1d(np.asarray(numbers, dtype=np.int64))
    found = Poses.blank(len(numbers))
    names = np.array([model.bodies.kinds[b].name for b in numbers])
    for name in dict.fromkeys(names):
        where = np.flatnonzero(names == name)
        kind = model.bodies.kinds[numbers[where[0]]]
        found.put(where, kind.poses(*fields(model, work, kind, numbers[where], "q", "v", *kind.constants)))
    return found


def of_body(model: Model, work: np.ndarray, body: int, *names: str) -> list[np.ndarray]:
    """Fields of one body, and the constants of its kind."""
    return [work[model.field_of_body(body, name)] for name in (*names, *model.bodies.kinds[body].constants)]


def angle(Ra, Rb, p, turns) -> np.ndarray:
    """Counted angles (k,) of a joint with the numbers p, from internal axes (k, 3, 3) and turn counters (k, 2)."""
    ref = Rb @ p["ref_b"]
    s, c = np.sum((Ra @ p["side_a"]) * ref, axis=1), np.sum((Ra @ p["ref_a"]) * ref, axis=1)
    last = turns[:, 1]  # the sine when turns were counted last: half a turn may have been passed since
    passed = np.where(c >= 0, 0, ((last >= 0) & (s < 0)).astype(int) - ((last < 0) & (s >= 0)).astype(int))
    return np.arctan2(s, c) + 2 * np.pi * (turns[:, 0] + passed)


def point(model: Model, work: np.ndarray, body: int, local: np.ndarray) -> np.ndarray:
    """Where a point of the user's frame of a body is (3, m)."""
    if not model.bodies.kinds[body].framed:
        return located(model, work, body, local)[0]
    pose = poses(model, work, body)
    return pose.position[0] + pose.frame[0] @ local


def located(model: Model, work: np.ndarray, body: int, local: np.ndarray) -> list[np.ndarray]:
    """Value (3,), jacobian (3, n), rate (3,) and bias (3,) of a point of a body."""
    q, v, *constants = (x[None] for x in of_body(model, work, body, "q", "v"))
    return [x[0] for x in model.bodies.kinds[body].located(q, v, np.asarray(local, dtype=float)[None], *constants)]


def wrench(model: Model, work: np.ndarray, body: int, generalised: np.ndarray, at: np.ndarray):
    """A generalised force on a body as (force, torque about the world point `at`)."""
    q, *constants = of_body(model, work, body, "q")
    return model.bodies.kinds[body].wrench(q, generalised, at, *constants)


def numbers(model: Model, work: np.ndarray, node_number: int, part: int) -> dict[str, np.ndarray]:
    """Views of the parameters of one constraint in a workspace, by name."""
    parts = model.nodes[node_number].kind.parts
    start = model.parameters_at(node_number) + sum(parameter_record(other.kind).size for other in parts[:part])
    layout = parameter_record(parts[part].kind)
    return {name: work[start + o : start + o + size] for name, (o, size) in layout.fields.items()}
