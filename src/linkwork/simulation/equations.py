"""Equations: what a solver assembles and factors at one moment, in a workspace of its own: the simulation does not change.

All of it is as the compiler has it: rows node after node, velocities of bodies at the origins that it chose.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.kernels.vocabulary import BodyKernel, NodeBlocks, RowMode
from linkwork.model import readout
from linkwork.model.least_norm import LeastNorm
from linkwork.simulation.system import System
from linkwork.symbolic.views import GLOBALS

Vector = NDArray[np.float64]
Places = NDArray[np.int64]


class Equations:
    """A copy of the workspace of a simulation, with room behind it for the blocks of all nodes."""

    def __init__(self, system: System) -> None:
        """`system`: with poses of now."""
        self.model, self.schedules = system.model, system.schedules
        self._integrator, self._contact, self._dt = system.integrator, system.contact, system.dt
        nodes = self.model.nodes
        self.first_row = np.cumsum([0, *(node.kind.size for node in nodes)]).tolist()
        size = np.array([node.kind.size for node in nodes], dtype=np.int64)
        whole = size * np.array([sum(kind.nv for kind in node.kind.kinds if kind) for node in nodes], dtype=np.int64)
        self._block_at: dict[NodeBlocks, Places] = {}
        end = len(system.work)
        room = {NodeBlocks.JACOBIAN: whole + size, NodeBlocks.RATE: whole, NodeBlocks.PULLS: whole}
        for what, sizes in room.items():  # behind the blocks of J is the bias
            stops = end + np.cumsum(sizes)
            self._block_at[what] = stops - sizes
            end = int(stops[-1]) if len(stops) else end
        self.work = np.concatenate([system.work, np.zeros(end - len(system.work))])
        for name, value in (("stiffness", 0.0), ("damping", 0.0), ("kick", 1.0)):
            self.work[GLOBALS.offset(name)] = value
        self._assembled: set[NodeBlocks] = set()  # blocks that are there
        self._factors: dict[str, Any] | None = None  # that a solver holds outside of the workspace; None: nothing is factored

    def run(self, *sweeps: NDArray[np.int32]) -> None:
        self._integrator.run(self.work, *sweeps)

    def blocks(self, what: NodeBlocks) -> Iterator[tuple[int, int, Vector]]:
        """(node, body, block) of J, of dJ/dt, or of how multipliers pull (of nodes that have other forces than J^T)."""
        self._assemble(what)
        for number, node in enumerate(self.model.nodes):
            at = int(self._block_at[what][number])
            if what == NodeBlocks.PULLS and not node.kind.force_directed:
                continue
            for end, kind in zip(node.ends, node.kind.kinds, strict=True):
                if kind is not None:
                    stop = at + node.kind.size * kind.nv
                    yield number, end, self.work[at:stop].reshape(node.kind.size, kind.nv)
                    at = stop

    def _assemble(self, what: NodeBlocks) -> None:
        if what not in self._assembled:
            self.run(self.schedules.all_blocks(what, self._block_at[what]))
            self._assembled.add(what)

    @cached_property
    def bias(self) -> Vector:
        """(rows,)"""
        self._assemble(NodeBlocks.JACOBIAN)
        found = [np.zeros(0)]
        for at, node in zip(self._block_at[NodeBlocks.JACOBIAN], self.model.nodes, strict=True):
            start = int(at) + node.kind.size * sum(kind.nv for kind in node.kind.kinds if kind)
            found.append(self.work[start : start + node.kind.size])
        return np.concatenate(found)

    @cached_property
    def residuals(self) -> Vector:
        """(2, rows) Residuals and rates."""
        self.run(self.schedules.check())
        found = [np.zeros((2, 0))]
        for at, node in zip(self.model.report_at, self.model.nodes, strict=True):
            found.append(self.work[int(at) : int(at) + 2 * node.kind.size].reshape(2, -1))
        return np.hstack(found)

    @cached_property
    def compliance(self) -> Vector:
        """(rows,) What rotors leave as the rows' own blocks, without the sign: 1/inertia."""
        found = np.zeros(self.first_row[-1])
        for number, node in enumerate(self.model.nodes):
            for part, element in enumerate(node.elements if node.kind.rotors else ()):
                own = node.rows_of(element)
                for row in set(range(own.start, own.stop)) & set(node.kind.rotors):
                    inertia = readout.numbers(self.model, self.work, number, part)["inertia"]
                    found[self.first_row[number] + row] = 1.0 / float(inertia[0])
        return found

    @cached_property
    def bodies(self) -> list[tuple[Vector, Vector]]:
        """(M, F) of every body, contact with its mean of the last step. They lie where factors will: those come after."""
        assert self._factors is None
        self.run(self.schedules.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE), self.schedules.forces())
        if self._contact is not None and self._contact.before_count:
            self._contact.add_forces(self.work, self._dt)
        found = []
        for number, kind in enumerate(self.model.bodies.kinds):
            M = np.zeros((kind.nv, kind.nv))
            M[np.tril_indices(kind.nv)] = self.field(number, "D")
            found.append((M + np.tril(M, -1).T, self.field(number, "b").copy()))
        return found

    def field(self, body: int, name: str) -> Vector:
        return self.work[self.model.field_of_body(body, name)]

    @cached_property
    def least_norm(self) -> LeastNorm | None:
        """Where rows depend on others."""
        if not (self.model.redundant or (self.model.soft and not self.model.ranked)):
            return None
        blocks: dict[int, dict[int, Vector]] = {}
        for number, body, block in self.blocks(NodeBlocks.JACOBIAN):
            blocks.setdefault(number, {})[body] = block
        nothing = np.zeros((0, 0))  # of the ground
        return LeastNorm(self.model, lambda k: [blocks[k].get(end, nothing) for end in self.model.nodes[k].ends])

    @cached_property
    def dependent_rows(self) -> Places:
        """The rows that `sharing` speaks of."""
        assert self.least_norm is not None
        row = {int(entry): k for k, entry in enumerate(self.entries["row x"])}
        return np.array([row[int(entry)] for entry in self.least_norm.entries], dtype=np.int64)

    @cached_property
    def entries(self) -> dict[str, Places]:
        """Entries of the workspace with right-hand sides (b) and solutions (x) of all bodies ("body b"), of all rows."""
        m, found = self.model, {}
        for name in ("b", "x"):
            spans = {
                "body": [m.field_of_body(k, name) for k in range(len(m.bodies.kinds))],
                "row": [m.field_of_node(k, name) for k in range(len(m.nodes))],
            }
            for whose, slices in spans.items():
                found[f"{whose} {name}"] = np.concatenate(
                    [np.zeros(0, np.int64), *(np.arange(s.start, s.stop) for s in slices)]
                )
        return found

    def solve(self, forces: Vector, rows: Vector) -> tuple[Vector, Vector]:
        """(accelerations, minus the multipliers) with the solver's factors, which are made at first; not refined."""
        entries, fresh = self.entries, self._factors is None
        assert len(self.bodies) == len(self.model.bodies.kinds)  # before there are factors
        with self._own_factors():
            if fresh:
                self.run(
                    self.schedules.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE), self.schedules.up(RowMode.ACCELERATION)
                )
            self.work[entries["body b"]], self.work[entries["row b"]] = forces, rows
            self.run(self.schedules.forward(), self.schedules.backward())
        return self.work[entries["body x"]], self.work[entries["row x"]]

    @contextmanager
    def _own_factors(self) -> Iterator[None]:
        """A solver that holds factors outside of the workspace has those of this moment meanwhile."""
        names = self.schedules.outside
        before = {name: getattr(self.schedules, name) for name in names}
        try:
            for name, value in (self._factors or {}).items():
                setattr(self.schedules, name, value)
            yield
            self._factors = {name: getattr(self.schedules, name) for name in names}
        finally:
            for name, value in before.items():
                setattr(self.schedules, name, value)


def span(at: slice) -> Places:
    """All places of a slice."""
    return np.arange(at.start, at.stop)
