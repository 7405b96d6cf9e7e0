"""From a workspace to what a person asks for: poses and velocities of bodies in the users' frames, by kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.model.frames import apply, matrices, polar, product, quaternions
from linkwork.model.types import Model
from linkwork.symbolic.bodies import HANDED, PLANES


@dataclass
class Poses:
    """Bodies in the world: k of them."""

    position: np.ndarray  # (k, 3) m
    orientation: np.ndarray  # (k, 4)
    velocity: np.ndarray  # (k, 3) m/s, of `position`
    angular_velocity: np.ndarray  # (k, 3) rad/s
    frame: np.ndarray  # (k, 3, 3): a local vector p is at position + frame @ p


def fields(model: Model, work: np.ndarray, kind, numbers: np.ndarray, *names: str):
    """Fields of bodies of one kind, (k, size) each."""
    base = model.body_at[numbers][:, None]
    for name in names:
        where = kind.record.slice(name)
        yield work[base + np.arange(where.start, where.stop)]


def poses(model: Model, work: np.ndarray, numbers) -> Poses:
    """Poses of the bodies with these numbers, in their order."""
    numbers = np.atleast_1d(np.asarray(numbers, dtype=np.int64))
    k = len(numbers)
    found = Poses(np.zeros((k, 3)), np.tile([1.0, 0, 0, 0], (k, 1)), np.zeros((k, 3)), np.zeros((k, 3)),
                  np.tile(np.eye(3), (k, 1, 1)))  # fmt: skip
    kinds = np.array([model.bodies.kinds[b].name for b in numbers])
    for name in dict.fromkeys(kinds):
        where = np.flatnonzero(kinds == name)
        kind = model.bodies.kinds[numbers[where[0]]]
        parts = _READERS[name.split("-")[0]](model, work, kind, numbers[where])
        for field, value in zip(("position", "orientation", "velocity", "angular_velocity", "frame"), parts, strict=True):
            if value is not None:
                getattr(found, field)[where] = value
    return found


def _rigid(model, work, kind, numbers):
    q, v, home, turn = fields(model, work, kind, numbers, "q", "v", "home", "turn")
    R, axes = matrices(q[:, 3:7]), turn.reshape(-1, 3, 3).transpose(0, 2, 1)
    arm = apply(R, home)
    conjugate = quaternions(axes) * np.array([1, -1, -1, -1])
    orientation = product(q[:, 3:7], conjugate)
    w = v[:, 3:6]
    return q[:, :3] + arm, orientation, v[:, :3] + np.cross(w, arm), w, R @ axes.transpose(0, 2, 1)


def _planar(model, work, kind, numbers):
    q, v = fields(model, work, kind, numbers, "q", "v")
    plane = kind.name.split("-")[1]
    first, second, normal = PLANES[plane]
    position, velocity, spin = np.zeros((len(q), 3)), np.zeros((len(q), 3)), np.zeros((len(q), 3))
    position[:, [first, second]], velocity[:, [first, second]] = q[:, :2], v[:, :2]
    if q.shape[1] == 2:
        return position, None, velocity, None, None
    spin[:, normal] = v[:, 2]
    orientation = np.zeros((len(q), 4))
    orientation[:, 0], orientation[:, 1 + normal] = np.cos(q[:, 2] / 2), np.sin(q[:, 2] / 2)
    assert HANDED[plane] in (-1.0, 1.0)
    return position, orientation, velocity, spin, matrices(orientation)


def _particle(model, work, kind, numbers):
    q, v = fields(model, work, kind, numbers, "q", "v")
    return q, None, v, None, None


def _scalable(model, work, kind, numbers):
    q, v = fields(model, work, kind, numbers, "q", "v")
    R = matrices(q[:, 3:7])
    return q[:, :3], q[:, 3:7], v[:, :3], v[:, 3:6], R * q[:, None, 7:10]


def _affine(model, work, kind, numbers):
    q, v = fields(model, work, kind, numbers, "q", "v")
    F, rate = q[:, 3:].reshape(-1, 3, 3), v[:, 3:].reshape(-1, 3, 3)
    R = polar(F)
    U, G = R.transpose(0, 2, 1) @ F, R.transpose(0, 2, 1) @ rate
    axial = np.stack([G[:, 2, 1] - G[:, 1, 2], G[:, 0, 2] - G[:, 2, 0], G[:, 1, 0] - G[:, 0, 1]], axis=1)
    trace = np.trace(U, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    spin = apply(R, np.linalg.solve(trace - U, axial[..., None])[..., 0])
    return q[:, :3], quaternions(R), v[:, :3], spin, F


_READERS = {"RigidBody": _rigid, "PlanarBody": _planar, "PlanarParticle": _planar, "Particle": _particle,
            "ScalableBody": _scalable, "AffineBody": _affine}  # fmt: skip


def wrench(model: Model, work: np.ndarray, body: int, generalised: np.ndarray, at: np.ndarray):
    """A generalised force on a body as (force, torque about the world point `at`)."""
    kind = model.bodies.kinds[body]
    q = work[model.field_of_body(body, "q")]
    if kind.name == "RigidBody":
        force, torque, about = generalised[:3], generalised[3:6], q[:3]
    elif kind.name == "ScalableBody":
        force, torque, about = generalised[:3], generalised[3:6], q[:3]
    elif kind.name == "AffineBody":
        F, Q = q[3:].reshape(3, 3), generalised[3:].reshape(3, 3)
        moment = Q @ F.T
        axial = np.array([moment[2, 1] - moment[1, 2], moment[0, 2] - moment[2, 0], moment[1, 0] - moment[0, 1]])
        force, torque, about = generalised[:3], axial, q[:3]
    elif kind.name == "Particle":
        force, torque, about = generalised, np.zeros(3), at
    else:
        first, second, normal = PLANES[kind.name.split("-")[1]]
        force, torque, about = np.zeros(3), np.zeros(3), np.zeros(3)
        force[[first, second]], about[[first, second]] = generalised[:2], q[:2]
        if kind.nv == 3:
            torque[normal] = generalised[2]
        else:
            about = at
        about = about.copy()
        about[normal] = at[normal]
    return np.array(force, dtype=float), np.asarray(torque - np.cross(at - about, force), dtype=float)
