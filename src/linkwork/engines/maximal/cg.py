"""`cg`: conjugate gradients on J W J^T, matrix-free (witkin97). Iterations times O(n), whatever loops there are.

Bodies are factored one by one, and J stays in the blocks in which it was assembled; one operation at the end of a sweep up
solves for the multipliers (conjugate.py), and the sweep down divides by the masses.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import compiled_routine_address
from linkwork.codegen.trace import Kernel
from linkwork.elements.core import checks
from linkwork.engines.maximal import conjugate_residual
from linkwork.engines.maximal.cg_constants import NOTHING
from linkwork.model.cg_layout import COUNTS
from linkwork.model.graph import moving
from linkwork.model.model import Model
from linkwork.schedules.front_ops import Fronts
from linkwork.schedules.operations import AFTER, OperationList
from linkwork.schedules.schedules import Schedules
from linkwork.schedules.solver_report import IterativeReport

PRECISE = 1e-10  # |r| / |right-hand side|, of rows made orthonormal
ROUGH = 1e-4  # of corrections that are repeated until they are small enough
METHODS = ("least-residual", "least-squares")  # the default; conjugate gradients on |A x - b|^2, as witkin97 prints them


class ConjugateGradients(Schedules):
    name, joint_pivots = "cg", False
    iterates = True

    @classmethod
    def layout(cls, tangent: str, iterations: int) -> dict:
        return {"limbs": False, "gradients": True}

    def __init__(self, model: Model):
        super().__init__(model)
        self.solved = self._id(Kernel("cg step", lambda trace: None))
        self.table = np.append(self.table, np.int64(compiled_routine_address(conjugate_residual.step)))
        assert model.gradients is not None
        self.area = model.gradients

    def workspace(self) -> np.ndarray:
        work, area = super().workspace(), self.area
        printed = self.variant == "least-squares"
        head = [self.model.size, *(getattr(area, name) for name in COUNTS), printed, PRECISE, ROUGH]
        work[area["head"]] = head
        if not self.model.nodes:
            return work
        integers = np.zeros(2 * (area["integers"].stop - area["integers"].start), dtype=np.int32)
        integers[: area.integers] = np.concatenate(self._tables())
        work[area["integers"]] = integers.view(np.float64)
        return work

    def finish(self, name: str, ops: OperationList) -> OperationList:
        """What comes after the way up."""
        if self.model.nodes and name.startswith(("up", "forward")):
            head, warm = self.area["head"], self.area["warm"].start
            warm += self.area.memory * name.startswith("forward")
            rough = "rough" in name or "project" in name
            ops.add(AFTER, 0, self.solved, head.start, warm if "warm" in name else 0, head.stop - 2 + rough,
                      head.start * name.startswith("up"))  # fmt: skip
        return ops

    def _swept(self) -> Fronts:
        """Bodies by themselves; constraints not at all."""
        return Fronts(self.model, [front for front in self.fronts if front[1] < len(self.model.bodies.kinds)], {})

    def _node_kernel(self, kind, mode, bodies_first, soft):
        return super()._node_kernel(kind, mode, bodies_first, False)

    def _tables(self) -> list[np.ndarray]:
        """Where everything is, in the order of `conjugate.areas`."""
        m, n = self.model, len(self.model.bodies.kinds)
        rotors = [(k, row) for k, node in enumerate(m.nodes) for row in node.kind.rotors]
        numbers = {rotor: n + r for r, rotor in enumerate(rotors)}  # of rotors, behind those of bodies
        dims = np.array([*(kind.nv for kind in m.bodies.kinds), *(1 for _ in rotors)])
        own = [m.field_of_node(k, "D").start + row * (row + 3) // 2 for k, row in rotors]  # -1 / inertia
        body_D = np.array([*(m.field_of_body(k, "D").start for k in range(n)), *own])
        body_b = np.array([*(m.field_of_body(k, "b").start for k in range(n)), *(NOTHING for _ in rotors)])
        first_column = np.cumsum([0, *dims])
        sizes = np.array([node.kind.size for node in m.nodes], dtype=np.int64)
        links = [[*moving(node.ends), *(numbers[k, row] for row in node.kind.rotors)] for k, node in enumerate(m.nodes)]
        link_body = np.array([body for bodies in links for body in bodies], dtype=np.int64)
        first_link = np.cumsum([0, *map(len, links)])
        owner = np.repeat(np.arange(len(m.nodes)), np.diff(first_link))  # the node of each link
        width = dims[link_body]
        before = np.cumsum([0, *width])
        slot = m.slot_at[n + owner] + sizes[owner] * (before[:-1] - before[first_link[owner]])
        slot[link_body >= n] = [-1 - row for _, row in rotors]
        widths = before[first_link[1:]] - before[first_link[:-1]]  # of the rows of each node
        row_owner = np.repeat(np.arange(len(m.nodes)), sizes)
        b_at = np.concatenate([np.arange(*_ends(m.field_of_node(k, "b"))) for k in range(len(m.nodes))])
        columns = np.repeat(first_column[link_body], width) + np.arange(before[-1]) - np.repeat(before[:-1], width)
        column = [np.tile(columns[before[first_link[k]] : before[first_link[k + 1]]], sizes[k]) for k in range(len(m.nodes))]
        return [
            body_D, body_b, first_column, np.cumsum([0, *sizes]), first_link, np.cumsum([0, *(sizes * (sizes + 1) // 2)])[:-1],
            slot, link_body, b_at, m.multipliers, np.cumsum([0, *widths[row_owner]]), np.concatenate(column),
        ]  # fmt: skip

    # -- what is told -----------------------------------------------------------------------------------------------
    def report(self, work: np.ndarray) -> IterativeReport:
        solves, iterations, most, residual, worst, row, conflict = work[self.area["told"]].tolist()
        at = self._element_of_row(int(row)) if worst > 0 else None
        return IterativeReport(int(solves), int(iterations), int(most), residual, worst, at, bool(conflict))

    def complaint(self, work: np.ndarray) -> str | None:
        if work[self.area["told"]][conjugate_residual.WORST] == 0:
            return None
        found = self.report(work)
        if found.conflict:  # of constraints, or of rows that have drifted off them: `contradictions` tells which
            return None
        left = f"a residual of {found.worst:.3g} (m/s^2 or m/s, radians alike) is left"
        other = 'method="least-residual"' if self.variant == "least-squares" else 'solver="tree"'
        return (f"{checks.label(found.at)}: conjugate gradients did not converge in {found.most} iterations, and {left}; "
                f"use {other}, or masses that differ less")  # fmt: skip

    def _element_of_row(self, row: int):
        sizes = np.cumsum([node.kind.size for node in self.model.nodes])
        number = int(np.searchsorted(sizes, row, side="right"))
        node = self.model.nodes[number]
        inside = row - int(sizes[number]) + node.kind.size
        return next(e for e in node.elements if node.rows_of(e).start <= inside < node.rows_of(e).stop)


def _ends(where: slice) -> tuple[int, int]:
    return where.start, where.stop
