"""Points of Lagrangian bodies that contact can touch: those of spheres around them, and those that ropes hold.

Each has a record of its own in the workspace: which point it is, where it is, and J = dq/du there. A kernel of its body's kind
writes the last two (`kernels/body_kernels.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.kernels.body_kernels import spot_record
from linkwork.model.graph import GROUND
from linkwork.model.nodes import Bodies, check_named


@dataclass(frozen=True)
class Spot:
    """A point of a body."""

    body: int
    local: tuple[float, ...]  # (3,) as users name it
    at: int  # offset of its record
    record: Record

    @property
    def end(self) -> int:
        return self.at + self.record.size


def spots_of(world, bodies: Bodies, at: int) -> list[Spot]:
    """The points that colliders and ropes name, each once; records from `at` on."""
    found: dict[tuple[int, tuple[float, ...]], Spot] = {}
    for element, (body, local) in ((one, point) for one in world.contacts for point in one.points()):
        number = bodies.number.get(id(body), GROUND)
        kind = None if number == GROUND else bodies.kinds[number]
        if kind is None or kind.framed:
            continue
        check_named(element, kind, body, np.asarray(local, dtype=float))
        element.check_point(body)
        key = (number, tuple(float(x) for x in local))
        if key not in found:
            found[key] = Spot(*key, at, spot_record(kind))
            at = found[key].end
    return list(found.values())
