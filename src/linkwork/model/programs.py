"""Programs: the sweeps over a workspace as tables of operations (kernel, offsets), made when first asked for.

*Up* goes in the order of elimination (leaves to roots), *down* in reverse. Operations on one vertex stand side by side,
so that its record is touched while it is in cache.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from linkwork.codegen.jit import OPERANDS, kernel_table
from linkwork.codegen.trace import Kernel
from linkwork.model.graph import GROUND
from linkwork.model.types import Item, Model
from linkwork.symbolic import kernels as k
from linkwork.symbolic.limbs import Limb

UNROLLED = 2500  # multiplications of a front that is unrolled whole
IMPLICIT_FLIGHT = 10  # sweeps of an implicit flight: bodies whose mass depends on their configuration


class Programs:
    """Operation tables of one model, and the table of kernel addresses that they index."""

    def __init__(self, model: Model):
        self.model = model
        self.kernels: list[Kernel] = []
        self._number: dict[str, int] = {}
        self._known: dict[str, np.ndarray] = {}
        self.table = np.zeros(0, dtype=np.int64)
        self._attached()

    # -- the sweeps --------------------------------------------------------------------------------------------
    def body(self, *what: str) -> np.ndarray:
        """Body kernels, one body after another."""
        return self._keep(f"body {what}", lambda: (op for item in reversed(self.model.items) if item.body >= 0
                                                   for op in self._body(item.body, what)))  # fmt: skip

    def up(self, mode: str) -> np.ndarray:
        """Forces, rows and blocks, factors, forward sweep."""
        return self._keep(f"up {mode}", lambda: self._up(mode))

    def forward(self, *, forces: bool = False, predict: bool = False, right: str | None = None) -> np.ndarray:
        """The forward sweep with factors that are there; before it forces are added, and right-hand sides of rows are
        extrapolated (predict) or computed (right: a mode)."""
        return self._keep(f"forward {forces} {predict} {right}", lambda: self._forward(forces, predict, right))

    def backward(self, *what: str, landing: bool = False) -> np.ndarray:
        """The backward sweep; then body kernels; then residuals of the position stage."""
        return self._keep(f"backward {what} {landing}", lambda: self._backward(what, landing))

    def check(self) -> np.ndarray:
        """Residual, rate and forcing of every node into the area of reports."""
        m = self.model
        return self._keep("check", lambda: (self._node_op(k.node_check_kernel(node.kind, self._start(i)), i,
                                            int(m.report_at[i])) for i, node in enumerate(m.nodes)))  # fmt: skip

    def count(self) -> np.ndarray:
        """Turn counters."""
        return self._keep("count", self._count)

    def work(self) -> np.ndarray:
        """Add the work of prescribed motion of the last solve."""
        return self._keep("work", self._work)

    def energy(self) -> np.ndarray:
        return self._keep("energy", self._energy)

    def jacobian(self, node: int) -> np.ndarray:
        """Blocks of one node into the scratch area."""
        kernel = k.node_jacobian_kernel(self.model.nodes[node].kind, self._start(node))
        return self._keep(f"jacobian {node}", lambda: [self._node_op(kernel, node, self.model.scratch)])

    def packed(self, what: str) -> np.ndarray:
        """pack, unpack, rates: between the bodies and the packed vectors."""
        shift = self.model.rates[0] - self.model.packed[0] if what == "rates" else 0
        return self._keep(f"packed {what}", lambda: (
            self._op(k.body_kernel(kind, what), self.model.body_at[i], self.model.packed_at[i] + shift)
            for i, kind in enumerate(self.model.bodies.kinds)))  # fmt: skip

    # -- how they are made -------------------------------------------------------------------------------------
    def _keep(self, name: str, make) -> np.ndarray:
        if name not in self._known:
            rows = list(make())
            known = len(self.table)
            self._known[name] = np.array(rows, dtype=np.int32).reshape(-1, 1 + OPERANDS)
            if len(self.kernels) > known:
                self.table = np.concatenate([self.table, kernel_table(self.kernels[known:])])
        return self._known[name]

    def replace(self, name: str, operations: np.ndarray) -> None:
        """Put another solver's operations in the place of a sweep."""
        self._known[name] = operations

    def add_routine(self, address: int) -> int:
        """A routine that is no kernel; returns its number in the table."""
        self.kernels.append(Kernel(f"routine {len(self.kernels)}", lambda trace: None))
        self.table = np.append(self.table, np.int64(address))
        return len(self.kernels) - 1

    def _op(self, kernel: Kernel, *offsets) -> tuple[int, ...]:
        number = self._number.get(kernel.key)
        if number is None:
            number = self._number[kernel.key] = len(self.kernels)
            self.kernels.append(kernel)
        return (number, *(int(o) for o in offsets), *(0,) * (OPERANDS - len(offsets)))

    def _attached(self) -> None:
        """Which forces and nodes come into play just before which body is eliminated."""
        m = self.model
        place = {item.body: i for i, item in enumerate(m.items) if item.body >= 0}
        self.forces_before: dict[int, list[int]] = {}
        self.nodes_before: dict[int, list[int]] = {}
        for number, force in enumerate(m.forces):
            first = min((b for b in force.ends if b != GROUND), key=place.__getitem__)
            self.forces_before.setdefault(first, []).append(number)
        for number, node in enumerate(m.nodes):
            if number not in m.limb_of:
                first = min((b for b in node.ends if b != GROUND), key=place.__getitem__)
                self.nodes_before.setdefault(first, []).append(number)
        self.place = place
        self.node_place = {item.node: i for i, item in enumerate(m.items) if item.node >= 0}
        self._halves = {b for node in m.nodes if any(level != "position" for level in node.kind.levels)
                        for b in node.ends if b != GROUND}  # fmt: skip
        self._by_kernel: dict[tuple, Kernel] = {}

    def _body(self, body: int, what: Iterable[str]):
        kind, at = self.model.bodies.kinds[body], self.model.body_at[body]
        for name in what:
            if name == "fly" and kind.name == "ScalableBody":
                for step in ("start-flight", *["refine-flight"] * IMPLICIT_FLIGHT, "end-flight"):
                    yield self._op(self._body_kernel(kind, step), at)
            elif name == "fly" and body in self._halves:
                yield self._op(self._body_kernel(kind, "fly-halves"), at)
            else:
                yield self._op(self._body_kernel(kind, name), at)

    def _body_kernel(self, kind, name) -> Kernel:
        key = (kind.name, name)
        kernel = self._by_kernel.get(key)
        if kernel is None:
            kernel = self._by_kernel[key] = k.body_kernel(kind, name)
        return kernel

    def _start(self, node: int) -> int:
        return self.model.parameters_at(node) - int(self.model.node_at[node])

    def _node_op(self, kernel: Kernel, node: int, *more) -> tuple[int, ...]:
        m = self.model
        bodies = [0 if b == GROUND else m.body_at[b] for b in m.nodes[node].ends]
        return self._op(kernel, m.node_at[node], *bodies, *more)

    def _force_op(self, kernel: Kernel, number: int) -> tuple[int, ...]:
        m = self.model
        bodies = [0 if b == GROUND else m.body_at[b] for b in m.forces[number].ends]
        return self._op(kernel, m.force_at[number], *bodies)

    def _limb_op(self, limb: Limb, what: str, item: Item) -> tuple[int, ...]:
        m = self.model
        key = (id(limb), what)
        kernel = self._by_kernel.get(key)
        if kernel is None:
            kernel = self._by_kernel[key] = limb.kernel(what)
        parent = m.nodes[item.node].ends[1 - limb.child]
        return self._op(kernel, m.node_at[item.node], m.body_at[item.body], 0 if parent == GROUND else m.body_at[parent])

    def _slot(self, vertex: int, other: int) -> int:
        """Offset of the block (vertex x other), vertex eliminated first."""
        offset = self.model.slot_at[vertex]
        for neighbour in self.model.later[vertex]:
            if neighbour == other:
                return offset
            offset += self._dim(vertex) * self._dim(neighbour)
        raise KeyError((vertex, other))

    def _dim(self, vertex: int) -> int:
        n = len(self.model.bodies.kinds)
        return self.model.bodies.kinds[vertex].nv if vertex < n else self.model.nodes[vertex - n].kind.size

    def _front_at(self, vertex: int) -> int:
        n = len(self.model.bodies.kinds)
        if vertex < n:
            return int(self.model.body_at[vertex]) + self.model.bodies.kinds[vertex].record.offset("D")
        return int(self.model.node_at[vertex - n]) + self.model.nodes[vertex - n].kind.record.offset("D")

    def _assemble(self, number: int, mode: str) -> tuple[int, ...]:
        m, n = self.model, len(self.model.bodies.kinds)
        node, vertex = m.nodes[number], n + number
        first, slots = [], []
        for body in node.ends:
            if body == GROUND:
                first.append(False)
                slots.append(0)
                continue
            before = self.place[body] < self.node_place[number]
            first.append(before)
            slots.append(self._slot(body, vertex) if before else self._slot(vertex, body))
        return self._node_op(k.node_kernel(node.kind, mode, tuple(first)), number, *slots)  # type: ignore[arg-type]

    def _up(self, mode: str):
        m, n = self.model, len(self.model.bodies.kinds)
        yield from self._clear_fill()
        for item in m.items:
            if item.body >= 0:
                for number in self.forces_before.get(item.body, ()):
                    yield self._force_op(k.force_kernel(m.forces[number].kind), number)
                for number in self.nodes_before.get(item.body, ()):
                    yield self._assemble(number, mode)
            if item.limb is not None:
                yield self._limb_op(item.limb, f"up-{mode}", item)
            else:
                yield from self._front(item.body if item.body >= 0 else n + item.node, "factor")

    def _clear_fill(self):
        """Blocks that only elimination fills start from zero."""
        m, n = self.model, len(self.model.bodies.kinds)
        given = {frozenset((b, n + i)) for i, node in enumerate(m.nodes) for b in node.ends if b != GROUND}
        for vertex, others in m.later.items():
            for other in others:
                if frozenset((vertex, other)) not in given:
                    size = self._dim(vertex) * self._dim(other)
                    yield self._op(k.zero_kernel(size), self._slot(vertex, other))

    def _forward(self, forces: bool, predict: bool, right: str | None):
        m, n = self.model, len(self.model.bodies.kinds)
        if right is not None:
            for i, node in enumerate(m.nodes):
                b = m.field_of_node(i, "b").start - int(m.node_at[i])
                yield self._node_op(k.node_right_kernel(node.kind, right, self._start(i), b), i)
        for item in m.items:
            if item.body >= 0:
                for number in self.forces_before.get(item.body, ()) if forces else ():
                    yield self._force_op(k.force_kernel(m.forces[number].kind), number)
                for number in self.nodes_before.get(item.body, ()) if predict else ():
                    yield self._predict(number)
            if item.limb is not None:
                if predict:
                    yield self._predict(item.node)
                yield self._limb_op(item.limb, "forward", item)
            else:
                yield from self._front(item.body if item.body >= 0 else n + item.node, "forward")

    def _predict(self, number: int) -> tuple[int, ...]:
        m = self.model
        record = (m.limb_of.get(number) or m.nodes[number].kind).record
        key = ("predict", id(record))
        kernel = self._by_kernel.get(key)
        if kernel is None:
            kernel = k.predict_kernel(m.nodes[number].kind.size, record.offset("b"), record.offset("history"))
            self._by_kernel[key] = kernel
        return self._op(kernel, m.node_at[number])

    def _backward(self, what: tuple[str, ...], landing: bool):
        m, n = self.model, len(self.model.bodies.kinds)
        for item in reversed(m.items):
            if item.limb is not None:
                yield self._limb_op(item.limb, "backward", item)
            else:
                yield from self._front(item.body if item.body >= 0 else n + item.node, "backward")
            if item.body >= 0:
                yield from self._body(item.body, what)
            if item.limb is not None and landing:
                yield self._limb_op(item.limb, "landing", item)
        if landing:
            for i, node in enumerate(m.nodes):
                if i not in m.limb_of:
                    yield self._node_op(k.node_landing_kernel(node.kind), i)

    def _front(self, vertex: int, what: str):
        """One front: unrolled whole where it is small and has at most two later neighbours, else in pieces."""
        others = self.model.later[vertex]
        d, sizes = self._dim(vertex), [self._dim(other) for other in others]
        at, slots = self._front_at(vertex), self.model.slot_at[vertex]
        total = sum(sizes)
        if len(others) <= 2 and d**3 / 3 + d * d * total + d * total**2 / 2 < UNROLLED:
            key = ("front", d, tuple(sizes), what)
            kernel = self._by_kernel.get(key)
            if kernel is None:
                kernel = self._by_kernel[key] = k.front_kernel(d, tuple(sizes), what)
            between = [self._slot(*others)] if len(others) == 2 else []
            yield self._op(kernel, at, slots, *[self._front_at(other) for other in others], *between)
            return
        yield from self._pieces(vertex, what, d, others, at)

    def _pieces(self, vertex: int, what: str, d: int, others: list[int], at: int):
        slot = {other: self._slot(vertex, other) for other in others}
        if what == "factor":
            yield self._op(k.piece_kernel("pivot", d), at)
            for other in others:
                yield self._op(k.piece_kernel("panel", d, self._dim(other)), at, slot[other])
            for i, other in enumerate(others):
                yield self._op(k.piece_kernel("update", d, self._dim(other)), at, slot[other], self._front_at(other))
                for third in others[i + 1 :]:
                    kernel = k.piece_kernel("cross", d, self._dim(other), self._dim(third))
                    yield self._op(kernel, at, slot[other], slot[third], self._slot(other, third))
        elif what == "forward":
            yield self._op(k.piece_kernel("solve", d), at)
            for other in others:
                yield self._op(k.piece_kernel("push", d, self._dim(other)), at, slot[other], self._front_at(other))
        else:
            yield self._op(k.piece_kernel("begin", d), at)
            for other in others:
                yield self._op(k.piece_kernel("pull", d, self._dim(other)), at, slot[other], self._front_at(other))
            yield self._op(k.piece_kernel("finish", d), at)

    def _count(self):
        m = self.model
        for i, node in enumerate(m.nodes):
            if node.kind.counters:
                yield self._node_op(k.node_count_kernel(node.kind, self._start(i)), i)
        for i, force in enumerate(m.forces):
            if force.kind.law.counters:
                yield self._force_op(k.force_count_kernel(force.kind), i)

    def _work(self):
        m = self.model
        for i, node in enumerate(m.nodes):
            if node.kind.forced:
                x = m.field_of_node(i, "x").start - int(m.node_at[i])
                yield self._node_op(k.node_work_kernel(node.kind, self._start(i), x), i)

    def _energy(self):
        m = self.model
        for i in range(len(m.bodies.kinds)):
            yield from self._body(i, ("energy",))
        for i, force in enumerate(m.forces):
            yield self._force_op(k.force_energy_kernel(force.kind), i)
