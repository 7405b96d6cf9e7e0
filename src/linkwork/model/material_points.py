"""Points that contact can touch of bodies that move as no rigid one does: those of spheres around points of Lagrangian,
scalable and affine bodies, those that ropes hold, and those where the shapes of scalable and affine bodies touch.

Each has a record of its own in the workspace: which point it is, where it is, and J of its velocity. A kernel of its body's
kind writes the last two (`kernels/body_kernels.py`). Shapes that stretch touch anywhere. All points of their bodies are linear
in the local place, so that four of them, the origin and one along each axis, tell where any other is and how it moves: contact
writes the records of those that touch (`contact/stretched.py`), of which each body has a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.kernels.body_kernels import point_record, touch_record
from linkwork.model.graph import GROUND
from linkwork.model.nodes import Bodies, check_named

FRAME = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
OF_PAIR, OF_SURFACE = 6, 24  # points at which a solid touches another one, or a surface of triangles, at most
LEAST_ROOM, MOST_ROOM = 8, 48  # points of a body that touch at once
HALVES = 2  # of a step: rows at its beginning and at its end have points of their own


@dataclass(frozen=True)
class MaterialPoint:
    """A point of a body."""

    body: int
    local: tuple[float, ...]  # (3,) as users name it; (1,) the number of one that contact chooses
    internal: tuple[float, ...]  # (3,) the same in its internal frame, if it has one
    at: int  # offset of its record
    record: Record

    @property
    def end(self) -> int:
        return self.at + self.record.size

    @property
    def chosen(self) -> bool:
        """Whether contact says where it is."""
        return len(self.local) == 1

    def field(self, name: str) -> int:
        """Where a field lies in the workspace."""
        return self.at + self.record.offset(name)


@dataclass(frozen=True)
class StretchedBody:
    """A body whose shapes stretch, and which of the material points are its own."""

    body: int
    frame: int  # the first of four: its origin, and one along each axis
    first: int  # of those that contact chooses
    room: int  # that many for each half of a step


def material_points_of(world: Any, bodies: Bodies, at: int) -> tuple[list[MaterialPoint], list[StretchedBody]]:
    """The points that colliders and ropes name, each once, then those of bodies whose shapes stretch; records from `at` on."""
    found: dict[tuple[int, tuple[float, ...]], MaterialPoint] = {}
    for element, (body, local) in ((one, point) for one in world.contacts for point in one.points()):
        number = bodies.number.get(id(body), GROUND)
        kind = None if number == GROUND else bodies.kinds[number]
        if kind is None or (kind.framed and kind.contact is not None) or (kind.framed and _stretches(element)):
            continue
        if not kind.framed:
            check_named(element, kind, body, np.asarray(local, dtype=float))
        element.check_point(body)
        key = (number, tuple(float(x) for x in local))
        if key not in found:
            own = bodies.batch(kind, [number]).user_point(np.array([key[1]]))[0] if kind.framed else key[1]
            found[key] = MaterialPoint(*key, tuple(float(x) for x in own), at, point_record(kind))
            at = found[key].end
    points, stretched = list(found.values()), list[StretchedBody]()
    for number, room in _rooms(world, bodies):
        kind, begin = bodies.kinds[number], len(points)
        stretched.append(StretchedBody(number, begin, begin + len(FRAME), room))
        frame = point_record(kind)
        points += [MaterialPoint(number, (*local, 0.0), local, at + k * frame.size, frame) for k, local in enumerate(FRAME)]
        at, own = points[-1].end, touch_record(kind)
        points += [MaterialPoint(number, (float(k),), (0.0,) * 3, at + k * own.size, own) for k in range(HALVES * room)]
        at = points[-1].end
    return points, stretched


def _stretches(element: Any) -> bool:
    """Whether a contact element is a shape that follows its body; spheres are carried by a point, and stay round."""
    return element.touched and not element.shape.isotropic


def shapes_of(world: Any, body: Any) -> list[Any]:
    """The shapes that follow a body which stretches: of its colliders, and its own, if it has no spheres around points."""
    own = [element for element in world.contacts if element.touched and element.body is body]
    found = [element.shape for element in own if _stretches(element)]
    if len(found) == len(own) and body.shape is not None:
        found.append(body.shape)
    return found


def _rooms(world: Any, bodies: Bodies) -> list[tuple[int, int]]:
    """The bodies whose shapes stretch and may touch, and at how many points each does at once."""
    rules = [element.bodies for element in world.contacts if element.acts and not element.is_stop]
    every_body, named = any(not rule for rule in rules), {id(body) for rule in rules for body in rule}
    shapes = {}
    for number, kind in enumerate(bodies.kinds):
        body = bodies.elements[number]
        if kind.stretches and (every_body or id(body) in named) and (own := shapes_of(world, body)):
            shapes[number] = own
    if not shapes:
        return []
    every = [(element.body, element.shape) for element in world.contacts if element.touched]
    every += [(body, body.shape) for body in bodies.elements if getattr(body, "shape", None) is not None]
    found = []
    for number, own in shapes.items():
        others = [shape for body, shape in every if body is not bodies.elements[number]]
        most = sum(OF_PAIR if shape.solid or not shape.bounded else OF_SURFACE for shape in others) * len(own)
        found.append((number, min(max(most, LEAST_ROOM), MOST_ROOM)))
    return found
