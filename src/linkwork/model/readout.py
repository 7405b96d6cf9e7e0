"""From a workspace to what a person asks for: poses and velocities of bodies in the users' frames, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.kernels.node import parameter_record
from linkwork.model.frames import apply, matrices, polar, polar_spin, product, quaternions
from linkwork.model.model import Model
from linkwork.symbolic.flat import PLANES
from linkwork.symbolic.lagrangian import Lagrangian


@dataclass
class Poses:
    """Bodies in the world: k of them."""

    position: np.ndarray  # (k, 3) m
    orientation: np.ndarray  # (k, 4)
    velocity: np.ndarray  # (k, 3) m/s, of `position`
    angular_velocity: np.ndarray  # (k, 3) rad/s
    frame: np.ndarray  # (k, 3, 3): a local vector p is at position + frame @ p

    def put(self, where: np.ndarray, others: Poses) -> None:
        """Put poses into some of the places."""
        for name, values in vars(others).items():
            getattr(self, name)[where] = values


def fields(model: Model, work: np.ndarray, kind, numbers: np.ndarray, *names: str) -> list[np.ndarray]:
    """Fields of bodies of one kind, (k, size) each."""
    base = model.body_at[numbers][:, None]
    spans = [kind.record.slice(name) for name in names]
    return [work[base + np.arange(where.start, where.stop)] for where in spans]


def constants(kind) -> tuple[str, ...]:
    """Fields besides q and v that a pose depends on."""
    if isinstance(kind, Lagrangian):
        return ("user",)
    return ("home", "turn") if kind.name == "RigidBody" else ()


def poses(model: Model, work: np.ndarray, numbers) -> Poses:
    """Poses of the bodies with these numbers, in their order."""
    numbers = np.atleast_1d(np.asarray(numbers, dtype=np.int64))
    found = blank(len(numbers))
    names = np.array([model.bodies.kinds[b].name for b in numbers])
    for name in dict.fromkeys(names):
        where = np.flatnonzero(names == name)
        kind = model.bodies.kinds[numbers[where[0]]]
        found.put(where, of_kind(kind, *fields(model, work, kind, numbers[where], "q", "v", *constants(kind))))
    return found


def blank(k: int) -> Poses:
    still = np.tile([1.0, 0, 0, 0], (k, 1))
    return Poses(np.zeros((k, 3)), still, np.zeros((k, 3)), np.zeros((k, 3)), np.tile(np.eye(3), (k, 1, 1)))


def of_kind(kind, q: np.ndarray, v: np.ndarray, *more: np.ndarray) -> Poses:
    """Poses from coordinates and velocities (k, nq), (k, nv) and the kind's constants."""
    found = blank(len(q))
    if isinstance(kind, Lagrangian):
        found.position[:], _, found.velocity[:], _ = kind.located(q, v, np.zeros((len(q), 3)), *more)
    elif kind.name == "RigidBody":
        home, turn = more
        R, axes = matrices(q[:, 3:7]), turn.reshape(-1, 3, 3).transpose(0, 2, 1)
        arm = apply(R, home)
        found.orientation[:] = product(q[:, 3:7], quaternions(axes) * np.array([1, -1, -1, -1]))
        found.position[:], found.velocity[:] = q[:, :3] + arm, v[:, :3] + np.cross(v[:, 3:6], arm)
        found.angular_velocity[:], found.frame[:] = v[:, 3:6], R @ axes.transpose(0, 2, 1)
    elif kind.name.startswith("Planar"):
        first, second, normal = PLANES[kind.name.split("-")[1]]
        found.position[:, [first, second]], found.velocity[:, [first, second]] = q[:, :2], v[:, :2]
        if kind.nv == 3:
            found.angular_velocity[:, normal] = v[:, 2]
            found.orientation[:, 0], found.orientation[:, 1 + normal] = np.cos(q[:, 2] / 2), np.sin(q[:, 2] / 2)
            found.frame[:] = matrices(found.orientation)
    elif kind.name == "Particle":
        found.position[:], found.velocity[:] = q, v
    elif kind.name == "ScalableBody":
        found.position[:], found.velocity[:] = q[:, :3], v[:, :3]
        found.orientation[:], found.angular_velocity[:] = q[:, 3:7], v[:, 3:6]
        found.frame[:] = matrices(q[:, 3:7]) * q[:, None, 7:10]
    else:
        F = q[:, 3:].reshape(-1, 3, 3)
        R = polar(F)
        found.position[:], found.velocity[:], found.frame[:] = q[:, :3], v[:, :3], F
        found.orientation[:], found.angular_velocity[:] = quaternions(R), polar_spin(F, R, v[:, 3:].reshape(-1, 3, 3))
    return found


def angle(Ra, Rb, p, turns) -> np.ndarray:
    """Counted angles (k,) of a joint with the numbers p, from internal axes (k, 3, 3) and turn counters (k, 2)."""
    ref = Rb @ p["ref_b"]
    s, c = np.sum((Ra @ p["side_a"]) * ref, axis=1), np.sum((Ra @ p["ref_a"]) * ref, axis=1)
    last = turns[:, 1]  # the sine when turns were counted last: half a turn may have been passed since
    passed = np.where(c >= 0, 0, ((last >= 0) & (s < 0)).astype(int) - ((last < 0) & (s >= 0)).astype(int))
    return np.arctan2(s, c) + 2 * np.pi * (turns[:, 0] + passed)


def point(model: Model, work: np.ndarray, body: int, local: np.ndarray) -> np.ndarray:
    """Where a point of the user's frame of a body is (3, m)."""
    if isinstance(model.bodies.kinds[body], Lagrangian):
        return located(model, work, body, local)[0]
    pose = poses(model, work, body)
    return pose.position[0] + pose.frame[0] @ local


def located(model: Model, work: np.ndarray, body: int, local: np.ndarray) -> list[np.ndarray]:
    """Value (3,), jacobian (3, n), rate (3,) and bias (3,) of a point of a Lagrangian body."""
    q, v, user = (work[model.field_of_body(body, name)][None] for name in ("q", "v", "user"))
    kind: Any = model.bodies.kinds[body]
    return [x[0] for x in kind.located(q, v, np.asarray(local, dtype=float)[None], user)]


def numbers(model: Model, work: np.ndarray, node_number: int, part: int) -> dict[str, np.ndarray]:
    """Views of the parameters of one constraint in a workspace, by name."""
    parts = model.nodes[node_number].kind.parts
    start = model.parameters_at(node_number) + sum(parameter_record(other.relation).size for other in parts[:part])
    layout = parameter_record(parts[part].relation)
    return {name: work[start + o : start + o + size] for name, (o, size) in layout.fields.items()}
