"""Points of bodies: where they are, how they move, and how that depends on the body's velocity components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.model import readout
from linkwork.model.graph import GROUND
from linkwork.model.model import Model

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, Vector


class Workspace(Protocol):
    """A model, and where its bodies are."""

    model: Model
    work: FloatArray


def local_point(system: Workspace, body: int, local: Vector) -> FloatArray:
    """A point of a body as a user names it."""
    found, kind = checks.vector("Simulation", "local", local), system.model.bodies.kinds[body]
    if (remedy := kind.unknown_point(found)) is not None:
        label = checks.label(system.model.bodies.elements[body])
        raise LinkworkError(f"{label}: it has no point {checks.show(found)}; {remedy}")
    return found


def point_jacobian(system: Workspace, body: int, local: FloatArray) -> FloatArray:
    """(3, nv) in the body's internal velocity components; `local` in the user's frame."""
    pose, kind = readout.poses(system.model, system.work, body), system.model.bodies.kinds[body]
    q, *constants = readout.of_body(system.model, system.work, body, "q")
    return kind.point_jacobian(q, pose, local, *constants)


def carried_point(system: Workspace, body: int, local: FloatArray) -> FloatArray:
    """Where a point of a body's internal frame is, m. Of bodies whose origin the compiler does not move, that is the user's."""
    if body == GROUND:
        return local
    m = system.model
    if not m.bodies.kinds[body].movable_origin:
        return readout.point(m, system.work, body, local)
    q = system.work[m.field_of_body(body, "q")]
    place: FloatArray = q[:3] + readout.matrices(q[None, 3:7])[0] @ local
    return place
