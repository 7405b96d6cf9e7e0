"""Readings: the operations of a readout, and where each number is in the array that they fill.

They depend on the model alone, and not on the solver: with the same coordinates every solver reads the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwork.codegen.jit import OPERANDS, entry
from linkwork.codegen.kernel_table import Addresses
from linkwork.codegen.sweep_into import sweep_into
from linkwork.codegen.trace import Kernel
from linkwork.codegen.wide_operands import Gathered, gathered
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.units import ANGLE, TRAVEL
from linkwork.kernels.readings import (
    LOAD,
    acceleration_read_kernel,
    body_own_kernel,
    body_read_kernel,
    force_read_kernel,
    joint_read_kernel,
    reaction_read_kernel,
    reaction_size,
)
from linkwork.model.graph import GROUND
from linkwork.model.model import Model

WIDTHS = {"positions": 3, "orientations": 4, "velocities": 6, "frames": 9}  # entries of a body in each array


def beyond(entry_of_readout):
    """The offset of an operation that names an entry of the readout (codegen/sweep_into.py)."""
    return -1 - entry_of_readout


class JointAt(NamedTuple):
    """Where the coordinates of a joint are in a readout, and its velocities."""

    value: int
    rate: int
    names: tuple[str, ...]  # of its coordinates


def spans(n: int) -> dict[str, slice]:
    """Where the arrays of n bodies, or frames, are in a readout."""
    stops = np.cumsum([0, *(n * width for width in WIDTHS.values())]).tolist()
    return {name: slice(*pair) for name, pair in zip(WIDTHS, pairwise(stops), strict=True)}


class Readings(Addresses):
    """Operations of the readouts of one model. `poses` fills positions, orientations, velocities and frames of all bodies, in
    the order of the world; `joints` the angles and travels of all joints that have one, and their rates."""

    def __init__(self, model: Model):
        super().__init__()
        self.model = model
        self._fill: Callable | None = None
        self._gathered: dict[str, Gathered] = {}
        self._lists: dict[str, Any] = {}
        n = len(model.bodies.elements)
        self.span = spans(n)
        self.joint: dict[str, JointAt] = {}
        self.size, self.joints_size = sum(WIDTHS.values()) * n, 0
        for node in model.nodes:
            for element, part in zip(node.elements, node.kind.parts, strict=True):
                names = part.kind.read_names
                if names and names[0] in (ANGLE, TRAVEL):
                    first = self.joints_size
                    self.joint[str(element.name)] = JointAt(first, first + len(names), tuple(name.what for name in names))
                    self.joints_size += 2 * len(names)
        self.poses, self.joints = self._ready("poses", self._bodies()), self._ready("joints", self._joints())

    def fill(self, work: np.ndarray, operations: np.ndarray, out: np.ndarray) -> None:
        """Run operations: one compiled call."""
        if self._fill is None:
            self._fill = entry(sweep_into, work, self.table, operations, out)
        self._fill(work, self.table, operations, out)

    def own(self, number: int, q: int, qd: int) -> tuple[Kernel, tuple[int, ...]]:
        """The operation that reads the own coordinates and velocities of a body into these entries."""
        kind = self.model.bodies.kinds[number]
        return body_own_kernel(kind), (int(self.model.body_at[number]), beyond(q), beyond(qd))

    def floating(self, number: int, q: int, qd: int, spare: int) -> tuple[Kernel, tuple[int, ...]]:
        """The same of position and quaternion of a body; `spare`: nine entries that nobody needs."""
        kind = self.model.bodies.kinds[number]
        return body_read_kernel(kind), (int(self.model.body_at[number]), *map(beyond, (q, q + 3, qd, spare)))

    def coordinates(self, node: int, part: int, q: int, qd: int, constants: int) -> tuple[Kernel, tuple[int, ...]]:
        """The same of a joint, whose `read_fields` are at `constants`."""
        m, item = self.model, self.model.nodes[node]
        kernel = joint_read_kernel(item.kind, part, m.parameters_at(node) - int(m.node_at[node]))
        ends = (0 if end == GROUND else int(m.body_at[end]) for end in item.ends)
        return kernel, (int(m.node_at[node]), *ends, *map(beyond, (q, qd, constants)))

    def constants(self, joint: Any) -> np.ndarray:
        """What the coordinates of a joint need beside its parameters."""
        m = self.model
        _, node, part = m.names[str(joint.name)]
        element_kind = m.nodes[node].kind.parts[part].kind
        if not element_kind.read_fields:
            return np.zeros(0)
        frames = []
        for body in element_kind.bodies(joint):
            number = GROUND if body.dim == 0 else m.bodies.number[id(body)]
            batch = m.bodies.batch(None if number == GROUND else m.bodies.kinds[number], [number])
            frames.append(batch if number == GROUND else batch.put([joint.poses().get(body.name)]))
        found = element_kind.read_numbers([joint], *frames)
        return np.concatenate([found[name][0] for name in element_kind.read_fields])

    def listed(self, name: str, operations: list[tuple[Kernel, tuple[int, ...]]]) -> np.ndarray:
        """Operations as `fill` takes them, compiled; known by their name from now on."""
        return self._ready(name, [row for kernel, offsets in operations for row in self._wide(kernel, *offsets)])

    def _ready(self, name: str, rows: list[np.ndarray]) -> np.ndarray:
        whole = np.concatenate([np.zeros((0, 1 + OPERANDS)), *rows]).astype(np.int32)
        return self._sweep(name, lambda: np.ascontiguousarray(whole))

    def _bodies(self) -> list[np.ndarray]:
        found = []
        for members in self.model.bodies.members.values():
            numbers = np.array(members, dtype=np.int64)
            kind: BodyKind = self.model.bodies.kinds[numbers[0]]
            places = [beyond(span.start + WIDTHS[name] * numbers) for name, span in self.span.items()]
            found.append(self._rows(body_read_kernel(kind), self.model.body_at[numbers], *places))
        return found

    def _joints(self) -> list[np.ndarray]:
        m, groups = self.model, dict[tuple[int, int, int], list[tuple[int, JointAt]]]()
        for number, node in enumerate(m.nodes):
            for part, element in enumerate(node.elements):
                if (place := self.joint.get(str(element.name))) is not None:
                    key = id(node.kind), id(m.joint_pivot_of.get(number)), part
                    groups.setdefault(key, []).append((number, place))
        found = []
        for (_, _, part), members in groups.items():
            numbers = np.array([number for number, _ in members], dtype=np.int64)
            first = int(numbers[0])
            kernel = joint_read_kernel(m.nodes[first].kind, part, m.parameters_at(first) - int(m.node_at[first]))
            ends = np.array([m.nodes[number].ends for number in numbers], dtype=np.int64)
            bodies = [np.where(column == GROUND, 0, m.body_at[column]) for column in ends.T]
            places = np.array([(place.value, place.rate) for _, place in members]).T
            found.append(self._rows(kernel, m.node_at[numbers], *bodies, *beyond(places)))
        return found

    def forces(self) -> tuple[np.ndarray, int, dict[str, tuple[int, ...]]]:
        """Operations that read what every force puts on its bodies; the entries of their readout; and by the name of a force
        where LOAD entries for each of its bodies begin, in the order of the world."""
        if (known := self._lists.get("forces")) is None:
            m, rows, at, where = self.model, list[np.ndarray](), 0, dict[str, tuple[int, ...]]()
            number = {str(force.element.name): k for k, force in enumerate(m.forces)}
            for name in [str(element.name) for element in m.world.forces if element.name in number]:
                force = m.forces[number[name]]
                ends = (0 if end == GROUND else int(m.body_at[end]) for end in force.ends)
                rows += self._wide(force_read_kernel(force.kind), int(m.force_at[number[name]]), *ends, beyond(at))
                where[name] = tuple(range(at, at + LOAD * len(force.ends), LOAD))
                at += LOAD * len(force.ends)
            known = self._lists["forces"] = self._ready("forces", rows), at, where
        return known

    def reactions(self) -> tuple[np.ndarray, int, list[int]]:
        """Operations that read accelerations of all bodies, six entries each, and what every constraint puts on its bodies; the
        entries of their readout; and where those of each node begin (kernels/readings.py)."""
        if (known := self._lists.get("reactions")) is None:
            m, rows, at, where = self.model, list[np.ndarray](), 6 * len(self.model.bodies.kinds), list[int]()
            for members in m.bodies.members.values():
                numbers = np.array(members, dtype=np.int64)
                kernel = acceleration_read_kernel(m.bodies.kinds[numbers[0]])
                rows.append(self._rows(kernel, m.body_at[numbers], beyond(6 * numbers)))
            for number, node in enumerate(m.nodes):
                base, x = int(m.node_at[number]), m.field_of_node(number, "x").start
                kernel = reaction_read_kernel(node.kind, m.parameters_at(number) - base, x - base)
                ends = (0 if end == GROUND else int(m.body_at[end]) for end in node.ends)
                rows += self._wide(kernel, base, *ends, beyond(at))
                where.append(at)
                at += reaction_size(node.kind)
            known = self._lists["reactions"] = self._ready("reactions", rows), at, where
        return known

    def _wide(self, kernel: Kernel, *offsets: int) -> list[np.ndarray]:
        """One operation, or several where its kernel has more records than an operation can name."""
        if len(offsets) <= OPERANDS:
            return [self._row(kernel, *offsets)]
        whole, area = self._gathered.setdefault(kernel.key, gathered(kernel)), self.model.gathering
        assert whole.size <= self.model.response_at - area, kernel.key
        into = [self._row(copy, offsets[pointer - 1], area) for pointer, copy in whole.into]
        back = [self._row(copy, offsets[pointer - 1], area) for pointer, copy in whole.back]
        return [*into, self._row(whole.kernel, offsets[0], area), *back]

    def _row(self, kernel: Kernel, *offsets: int) -> np.ndarray:
        return np.array([(self._id(kernel), *offsets, *[0] * (OPERANDS - len(offsets)))], dtype=np.int64)

    def _rows(self, kernel: Kernel, *columns: np.ndarray) -> np.ndarray:
        rows = np.zeros((len(columns[0]), 1 + OPERANDS), dtype=np.int64)
        rows[:, 0] = self._id(kernel)
        for k, column in enumerate(columns, start=1):
            rows[:, k] = column
        return rows
