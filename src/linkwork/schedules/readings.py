"""Readings: the operations of a readout, and where each number is in the array that they fill.

They depend on the model alone, and not on the solver: with the same coordinates every solver reads the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.codegen.jit import OPERANDS, entry
from linkwork.codegen.kernel_table import Addresses
from linkwork.codegen.sweep_into import sweep_into
from linkwork.codegen.trace import Kernel
from linkwork.elements.core.units import ANGLE, TRAVEL
from linkwork.kernels.readings import body_own_kernel, body_read_kernel, joint_read_kernel
from linkwork.model.graph import GROUND
from linkwork.model.model import Model
from linkwork.symbolic.bodies import BodyKind

WIDTHS = {"positions": 3, "orientations": 4, "velocities": 6, "frames": 9}  # entries of a body in each array


def beyond(entry_of_readout):
    """The offset of an operation that names an entry of the readout (codegen/sweep_into.py)."""
    return -1 - entry_of_readout


class JointAt(NamedTuple):
    """Where the coordinates of a joint are in a readout, and its velocities."""

    value: int
    rate: int
    names: tuple[str, ...]  # of its coordinates


class Readings(Addresses):
    """Operations of the readouts of one model. `poses` fills positions, orientations, velocities and frames of all bodies, in
    the order of the world, and the angles and travels of all joints that have one."""

    def __init__(self, model: Model):
        super().__init__()
        self.model = model
        self._fill = None
        n = len(model.bodies.elements)
        stops = np.cumsum([0, *(n * width for width in WIDTHS.values())]).tolist()
        self.span = {name: slice(*pair) for name, pair in zip(WIDTHS, zip(stops, stops[1:], strict=False), strict=True)}
        self.joint: dict[str, JointAt] = {}
        self.size = stops[-1]
        for node in model.nodes:
            for element, part in zip(node.elements, node.kind.parts, strict=True):
                names = part.relation.read_names
                if names and names[0] in (ANGLE, TRAVEL):
                    place = JointAt(self.size, self.size + len(names), tuple(name.what for name in names))
                    self.joint[str(element.name)] = place
                    self.size += 2 * len(names)
        self.poses = self._ready("poses", [*self._bodies(), *self._joints()])

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

    def listed(self, name: str, operations: list[tuple[Kernel, tuple[int, ...]]]) -> np.ndarray:
        """Operations as `fill` takes them, compiled; known by their name from now on."""
        rows = [np.array([(self._id(kernel), *offsets, *[0] * (OPERANDS - len(offsets)))]) for kernel, offsets in operations]
        return self._ready(name, rows)

    def _ready(self, name: str, rows: list[np.ndarray]) -> np.ndarray:
        whole = np.concatenate([np.zeros((0, 1 + OPERANDS)), *rows]).astype(np.int32)
        return self._made(name, np.ascontiguousarray(whole))

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
                    key = id(node.kind), id(m.limb_of.get(number)), part
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

    def _rows(self, kernel: Kernel, *columns: np.ndarray) -> np.ndarray:
        rows = np.zeros((len(columns[0]), 1 + OPERANDS), dtype=np.int64)
        rows[:, 0] = self._id(kernel)
        for k, column in enumerate(columns, start=1):
            rows[:, k] = column
        return rows
