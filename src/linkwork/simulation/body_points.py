"""Points of bodies: where they are, how they move, and how that depends on the body's velocity components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.model import readout
from linkwork.model.graph import GROUND
from linkwork.symbolic.lagrangian import Lagrangian

if TYPE_CHECKING:
    from linkwork.simulation.system import System


def local_point(system: System, body: int, local) -> np.ndarray:
    """A point of a body as a user names it."""
    found, kind = checks.vector("Simulation", "local", local), system.model.bodies.kinds[body]
    if isinstance(kind, Lagrangian) and not kind.is_point(found):
        label = checks.label(system.model.bodies.elements[body])
        raise LinkworkError(f"{label}: it has no point {checks.show(found)}; name one by its point(k), k from 0 to "
                            f"{kind.particles - 1}")  # fmt: skip
    return found


def point_jacobian(system: System, body: int, local: np.ndarray) -> np.ndarray:
    """(3, nv) in the body's internal velocity components; `local` in the user's frame."""
    m = system.model
    kind = m.bodies.kinds[body]
    if isinstance(kind, Lagrangian):
        return readout.located(m, system.work, body, local)[1]
    pose = readout.poses(m, system.work, body)
    world = pose.position[0] + pose.frame[0] @ local
    q = system.work[m.field_of_body(body, "q")]
    if kind.name == "RigidBody":
        return np.hstack([np.eye(3), -skew(world - q[:3])])
    if kind.name == "Particle":
        return np.eye(3)
    if kind.name == "ScalableBody":
        R = readout.matrices(q[None, 3:7])[0]
        return np.hstack([np.eye(3), -skew(world - q[:3]), R * local])
    if kind.name == "AffineBody":
        return np.hstack([np.eye(3), np.kron(np.eye(3), local)])
    first, second, normal = readout.PLANES[kind.name.split("-")[1]]
    J = np.zeros((3, kind.nv))
    J[first, 0] = J[second, 1] = 1.0
    if kind.nv == 3:
        J[:, 2] = np.cross(np.eye(3)[normal], world - pose.position[0])
    return J


def _pose_of(system: System, body: int):
    """(axes, origin, velocity, spin) of a body's internal frame; the ground's is the world."""
    if body == GROUND:
        return np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    m = system.model
    pose = readout.poses(m, system.work, body)
    if m.bodies.kinds[body].name == "RigidBody":
        q, v = system.work[m.field_of_body(body, "q")], system.work[m.field_of_body(body, "v")]
        return readout.matrices(q[None, 3:7])[0], q[:3], v[:3], v[3:6]
    return readout.matrices(pose.orientation)[0], pose.position[0], pose.velocity[0], pose.angular_velocity[0]


def carried_point(system: System, body: int, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a point (internal coordinates) of a body is, and its velocity."""
    R, x, v, w = _pose_of(system, body)
    if body == GROUND or system.model.bodies.kinds[body].name == "RigidBody":
        return x + R @ local, v + np.cross(w, R @ local)
    rate = point_jacobian(system, body, local) @ system.work[system.model.field_of_body(body, "v")]
    return readout.point(system.model, system.work, body, local), rate


def skew(a: np.ndarray) -> np.ndarray:
    """The matrix of a cross product."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
