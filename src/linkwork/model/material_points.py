"""Points that contact can touch of bodies that move as no rigid one does: those of spheres around points of Lagrangian,
scalable and affine bodies, and those that ropes hold.

Each has a record of its own in the workspace: which point it is, where it is, and J of its velocity. A kernel of its body's
kind writes the last two (`kernels/body_kernels.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.kernels.body_kernels import point_record
from linkwork.model.graph import GROUND
from linkwork.model.nodes import Bodies, check_named


@dataclass(frozen=True)
class MaterialPoint:
    """A point of a body."""

    body: int
    local: tuple[float, ...]  # (3,) as users name it
    internal: tuple[float, ...]  # (3,) the same in its internal frame, if it has one
    at: int  # offset of its record
    record: Record

    @property
    def end(self) -> int:
        return self.at + self.record.size

    def field(self, name: str) -> int:
        """Where a field lies in the workspace."""
        return self.at + self.record.offset(name)


def material_points_of(world, bodies: Bodies, at: int) -> list[MaterialPoint]:
    """The points that colliders and ropes name, each once; records from `at` on."""
    found: dict[tuple[int, tuple[float, ...]], MaterialPoint] = {}
    for element, (body, local) in ((one, point) for one in world.contacts for point in one.points()):
        number = bodies.number.get(id(body), GROUND)
        kind = None if number == GROUND else bodies.kinds[number]
        if kind is None or (kind.framed and kind.contact is not None):
            continue
        if not kind.framed:
            check_named(element, kind, body, np.asarray(local, dtype=float))
        element.check_point(body)
        key = (number, tuple(float(x) for x in local))
        if key not in found:
            own = bodies.batch(kind, [number]).user_point(np.array([key[1]]))[0] if kind.framed else key[1]
            found[key] = MaterialPoint(*key, tuple(float(x) for x in own), at, point_record(kind))
            at = found[key].end
    return list(found.values())
