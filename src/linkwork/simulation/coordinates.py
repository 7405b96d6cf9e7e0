"""Coordinates of a whole simulation: q and qd, what each entry is, and the bodies that they mean.

Rigid bodies have the coordinates of the joints of a spanning tree, in the order of `lw.reduced.compile(world, loops=True)`, and
those that no joints connect with the ground position and quaternion; bodies of other kinds have their own. This is the same for
every solver, and stays while the world does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from linkwork.elements.bodies.rigid import is_rigid
from linkwork.elements.core.element import Body, Element
from linkwork.schedules.readings import Readings

if TYPE_CHECKING:
    from linkwork.codegen.trace import Kernel
    from linkwork.elements.core.joint import Joint
    from linkwork.model.active_world import ActiveWorld
    from linkwork.model.model import Model
    from linkwork.reduced.tree import Tree
    from linkwork.world import World

SPARE = 9  # entries of a frame that nobody needs


class Coordinate(NamedTuple):
    """What an entry of `sim.q` or `sim.qd` is.

    >>> str(Coordinate("shoulder", "angle", "rad"))
    'shoulder: angle, rad'
    """

    of: str  # the joint, or the body that floats or has coordinates of its own
    what: str
    unit: str  # "1" of numbers without one, "" where only the user knows

    def __str__(self) -> str:
        return f"{self.of}: {self.what}" + (f", {self.unit}" if self.unit else "")


class RigidPart:
    """The rigid bodies of a world, and what joins them: a world for `lw.reduced`."""

    def __init__(self, world: World | ActiveWorld) -> None:
        self.whole = getattr(world, "whole", world)
        self.ground, self.gravity, self.version = world.ground, world.gravity, world.version
        self.bodies = tuple(body for body in world.bodies if is_rigid(body))
        known = {self.ground, *self.bodies}
        self.constraints = tuple(c for c in world.constraints if _bodies(c) <= known)
        self.forces = world.forces

    def find(self, element: Any) -> Any:
        return self.whole.find(element)


def _bodies(element: Element) -> set[Body]:
    """Those that an element acts on, through other elements too."""
    found = set[Body]()
    for _, _, other in element.references():
        found |= {other} if isinstance(other, Body) else _bodies(other)
    return found


def declared(model: Model, element: Element) -> Any:
    """What says which coordinates an element has: its kind."""
    if isinstance(element, Body):
        return model.bodies.kinds[model.bodies.number[id(element)]]
    _, node, part = model.names[str(element.name)]
    return model.nodes[node].kind.parts[part].kind


class Coordinates:
    """Where each coordinate stands in q, and how all of them are read: into q, qd, constants of joints, and SPARE entries."""

    def __init__(self, model: Model, readings: Readings) -> None:
        self.model, rigid = model, RigidPart(model.world)
        self.tree: Tree | None = None
        if rigid.bodies:
            from linkwork.reduced.tree import compile  # as all of reduced: imported by those who use it

            self.tree = compile(cast("World", rigid), loops=True)  # it stands for one
        links = [] if self.tree is None else [link.element for link in self.tree.links]
        joined = set(rigid.bodies)
        self.others = [number for number, body in enumerate(model.bodies.elements) if body not in joined]
        self.elements = [*links, *(model.bodies.elements[number] for number in self.others)]
        q_names, qd_names = list[Coordinate](), list[Coordinate]()
        self.at: dict[str, tuple[slice, slice]] = {}  # by the name of a joint or body: where it stands in q and in qd
        for element in self.elements:
            first, own = (len(q_names), len(qd_names)), declared(model, element)
            q_names += [Coordinate(str(element.name), *name) for name in own.read_names]
            qd_names += [Coordinate(str(element.name), *name) for name in own.read_rates]
            self.at[str(element.name)] = slice(first[0], len(q_names)), slice(first[1], len(qd_names))
        self.q_names, self.qd_names = tuple(q_names), tuple(qd_names)
        self.nq, self.nv = len(q_names), len(qd_names)
        constants = [np.zeros(0) if isinstance(e, Body) else readings.constants(e) for e in self.elements]
        self.start = np.concatenate([np.zeros(self.nq + self.nv), *constants, np.zeros(SPARE)])
        places = self.nq + self.nv + np.cumsum([0, *map(len, constants)])
        operations = [self._operation(readings, element, int(at)) for element, at in zip(self.elements, places, strict=False)]
        self.operations = readings.listed("coordinates", operations)

    def _operation(self, readings: Readings, element: Joint, constants: int) -> tuple[Kernel, tuple[int, ...]]:
        q, qd = (where.start for where in self.at[str(element.name)])
        if not isinstance(element, Body):
            _, node, part = self.model.names[str(element.name)]
            return readings.coordinates(node, part, q, self.nq + qd, constants)
        number = self.model.bodies.number[id(element)]
        if number in self.others:
            return readings.own(number, q, self.nq + qd)
        return readings.floating(number, q, self.nq + qd, len(self.start) - SPARE)
