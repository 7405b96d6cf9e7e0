"""Measures: numbers that inequalities bound and that a kernel writes, each between its bodies, with records of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.elements.core import checks
from linkwork.elements.core.element import ContactElement
from linkwork.elements.core.registry import kind_for
from linkwork.kernels.measure_kernels import measure_record
from linkwork.kernels.node import NodeKind
from linkwork.kernels.node_kernels import node_jacobian_kernel
from linkwork.model.graph import GROUND
from linkwork.model.nodes import Bodies, Node, blocks_of, evaluator, grouped, numbers_of, renumber, stacked

WIDEST = 6  # rows that share a slot of the contact solver
FLAT = 1e-9  # a derivative that is none


@dataclass
class Measure:
    """What one element bounds."""

    node: Node  # its kind, bodies and parameters
    at: int = 0  # offset of its record

    @property
    def element(self) -> ContactElement:
        found: ContactElement = self.node.elements[0]
        return found

    @property
    def kind(self) -> NodeKind:
        return self.node.kind

    @property
    def ends(self) -> tuple[int, ...]:
        return self.node.ends

    @property
    def record(self) -> Record:
        return measure_record(self.kind)

    @property
    def slots(self) -> list[range]:
        """The rows in groups of at most `WIDEST`: each group has a slot of contact."""
        return [range(k, min(k + WIDEST, self.kind.size)) for k in range(0, self.kind.size, WIDEST)]

    @property
    def members(self) -> list[tuple[int, int]]:
        """The bodies, and where J on each of them lies."""
        return [(body, self.field(f"J{k}")) for k, body in enumerate(self.ends) if body != GROUND]

    @property
    def slopes(self) -> list[tuple[int, int]]:
        """Where J on each body lies in the workspace, and how many numbers it has."""
        return [(self.field(f"J{k}"), self.kind.size * body.nv) for k, body in enumerate(self.kind.kinds) if body]

    def field(self, name: str) -> int:
        """Where a field lies in the workspace."""
        return self.at + self.record.offset(name)


def measures_of(world, bodies: Bodies, records) -> list[Measure]:
    """Of all elements that have something to measure; records(body, jitter) is a body's record."""
    found = []
    for element in world.contacts:
        if element.is_stop and (kind := kind_for(element).measured(element)) is not None:
            [group] = grouped([element], bodies, kind=kind)
            whole = tuple(range(len(kind.levels)))
            [node] = stacked([group], [numbers_of(group, bodies)], [[whole]], 1)
            _refuse_flat(node, records)
            found.append(Measure(node))
    return found


def renumber_measures(measures: list[Measure], bodies: Bodies) -> None:
    """Compute their parameters once more: origins of bodies have moved."""
    for measure in measures:
        kind = measure.kind.parts[0].kind
        [group] = grouped([measure.element], bodies, kind=kind)
        renumber([measure.node], [numbers_of(group, bodies)])


def place_measures(measures: list[Measure], at: int) -> int:
    """Give them records from `at` on; returns where they end."""
    for measure in measures:
        measure.at, at = at, at + measure.record.size
    return at


def _refuse_flat(node: Node, records) -> None:
    """Each row has a derivative somewhere: as built or nearby."""
    kind, steepest = node.kind, np.zeros(node.kind.size)
    widths = [body.nv if body else 0 for body in kind.kinds]
    evaluate = evaluator(node_jacobian_kernel(kind, 0), kind.behind)
    for jitter in (0, 1, 2):
        given = {1: node.values, **{2 + k: records(end, jitter) for k, end in enumerate(node.ends) if end != GROUND}}
        for block in blocks_of(evaluate(given), kind.size, widths):
            steepest = np.maximum(steepest, np.nan_to_num(np.abs(block), nan=np.inf).max(axis=1, initial=0.0))
    for row in np.flatnonzero(steepest < FLAT).tolist():
        checks.fail(node.elements[0], f"row {row + 1} does not change when its bodies move, so that no force can hold it",
                    "write it as an expression of its bodies that has a derivative")  # fmt: skip
