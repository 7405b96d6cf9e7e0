"""From ropes, hard limits and dry friction to the arrays of contact stages: their kinds say what they bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from linkwork.contact.delassus_tables import refuse_stretching
from linkwork.contact.rows import CONE, FUNCTION, ROPE, TRAVEL, TURN, UNCOUNTED, Stops
from linkwork.elements.core.element import ContactElement
from linkwork.elements.core.joint_kind import LimitSort
from linkwork.elements.core.placement import Fixed
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.stop_kind import Component, JointSite, StopEnd
from linkwork.errors import ModelError
from linkwork.kernels.node import parameter_record
from linkwork.model.graph import GROUND
from linkwork.model.model import Model

SORTS = {LimitSort.TURN: TURN, LimitSort.TRAVEL: TRAVEL, LimitSort.CONE: CONE, LimitSort.ROPE: ROPE,
         LimitSort.FUNCTION: FUNCTION}  # fmt: skip
assert set(SORTS) == set(LimitSort)


@dataclass(frozen=True)
class Stop:
    """A rope, one bound of a hard limit, or dry friction."""

    element: ContactElement
    sign: float
    coordinate: int = 0  # of those that a hard limit bounds

    @property
    def told(self) -> float:
        """The sign with which its push is told: of a joint positive at the upper bound, of others always."""
        return self.sign if "joint" in self.element.REFERENCES else 1.0


@dataclass(frozen=True)
class ModelSite:
    """A compiled model as stops see it (`stop_kind.Site`)."""

    model: Model
    spot: Callable[[int, np.ndarray], int | None]  # body, point: the number of a point of a Lagrangian body, else None

    def end(self, element, body, on) -> StopEnd:
        bodies = self.model.bodies
        number = GROUND if body.dim == 0 else bodies.number[id(body)]
        spot = self.spot(number, on)
        if spot is None:
            refuse_stretching(self.model, element, number)
        frames = self._built(number)
        if number != GROUND and bodies.kinds[number].is_a_point and np.any(on):
            kind = type(element).__name__
            raise ModelError(f'{kind} "{element.name}": "{body.name}" is a point; leave on_a and on_b out for it')
        local = frames.user_point(on)[0]
        world = frames.world_point(local[None])[0]
        return StopEnd(number, local, world) if spot is None else StopEnd(spot, np.zeros(3), world)

    def functions(self, element) -> list[Component]:
        slot = len(self.model.bodies.kinds) + len(self.model.material_points)
        for measure in self.model.measures:
            if measure.element is element:
                value, parts = measure.field("value"), enumerate(measure.slots)
                return [Component(slot + number, row - rows.start, value + row) for number, rows in parts for row in rows]
            slot += len(measure.slots)
        raise AssertionError(element)

    def joint(self, element) -> JointSite:
        model = self.model
        _, number, part = model.names[str(element.joint.name)]
        node = model.nodes[number]
        piece = node.kind.parts[part]
        ends = node.ends[::-1] if piece.flipped else node.ends
        for end in ends:
            refuse_stretching(model, element, end)
        start = sum(parameter_record(other.kind).size for other in node.kind.parts[:part])
        layout = parameter_record(piece.kind)
        p = {name: node.values[start + at : start + at + size] for name, (at, size) in layout.fields.items()}
        turns = model.parameters_at(number) + start + layout.offset("turns") if "turns" in layout.fields else None
        a, b = map(self._built, ends)
        return JointSite(ends, p, turns, (a, b))

    def _built(self, number: int):
        bodies = self.model.bodies
        return Fixed(1) if number == GROUND else bodies.batch(bodies.kinds[number], [number])


def hard_stops(elements: Iterable[ContactElement], site: ModelSite) -> tuple[list[Stop], Stops]:
    """The stops of a world, and their arrays."""
    found = [(element, row) for element in elements if element.is_stop for row in kind_for(element).rows(element, site)]
    stops = [Stop(element, row.sign or 1.0, row.coordinate) for element, row in found]
    rows = [row for _, row in found]
    labels = [(SORTS[row.sort], *row.ends, UNCOUNTED if row.turns is None else row.turns) for row in rows]
    numbers = [np.hstack([*row.frame, row.sign, row.bound, row.restitution]) for row in rows]
    return stops, Stops(np.array(labels, dtype=np.int64).reshape(-1, 4), np.array(numbers, dtype=float).reshape(-1, 18),
                        np.zeros(len(rows), dtype=np.int8))  # fmt: skip
