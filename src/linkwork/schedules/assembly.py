"""How sweeps are made of operations: which kernels bodies, constraints, forces and fronts get, and where in the elimination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np

from linkwork.codegen.fusion import join
from linkwork.codegen.jit import OPERANDS
from linkwork.codegen.kernel_table import Addresses
from linkwork.codegen.trace import Kernel
from linkwork.codegen.wide_operands import Gathered, gathered
from linkwork.kernels import body_kernels, force_kernels, fronts
from linkwork.kernels import node_kernels as k
from linkwork.kernels.joint_elimination import JointPivot
from linkwork.kernels.loop_coupling import LoopCoupling, coupling_rows
from linkwork.kernels.node import NodeKind
from linkwork.kernels.vocabulary import BodyKernel, ImplicitKernel, Iteration, Piece, PivotSweep, RowMode, Sweep
from linkwork.model.graph import GROUND, moving
from linkwork.model.model import Model
from linkwork.schedules.front_ops import Form, Fronts
from linkwork.schedules.operations import AFTER, FIRST, LAST, OperationList

DRIFT_SWEEPS = 10  # of a drift that is found by iteration; what the last one changes is noted as a residual
IMPLICIT_DRIFT = (BodyKernel.START_IMPLICIT_DRIFT, *[BodyKernel.REFINE_IMPLICIT_DRIFT] * (DRIFT_SWEEPS - 1),
                  BodyKernel.LAST_REFINEMENT, BodyKernel.END_IMPLICIT_DRIFT)  # fmt: skip

BodyWord = BodyKernel | ImplicitKernel | Iteration  # what `_body_kernel` of some solver knows


class Assembly(Addresses):
    """The operations on the bodies, constraints and forces of a model, and their positions in a sweep."""

    def __init__(self, model: Model):
        super().__init__()
        self.model = model
        self._gathered: dict[str, Gathered] = {}
        self._front_rows: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # operations of all fronts, and their positions
        self._find_places()

    def _keep(self, name: str, make: Callable[[OperationList], None]) -> np.ndarray:
        def operations() -> np.ndarray:
            ops = OperationList()
            make(ops)
            rows, positions = self.finish(name, ops).table()
            return join(rows, positions, self.kernels, self._id)

        return self._sweep(name, operations)

    def finish(self, name: str, ops: OperationList) -> OperationList:
        """The hook of solvers that add operations of their own."""
        return ops

    def _find_places(self) -> None:
        """Find positions in the elimination, bodies by kind, joint pivots by form, and where each body is first used."""
        m = self.model
        n = len(m.bodies.kinds)
        self.place = np.zeros(n, dtype=np.int64)  # of bodies in the elimination
        self.node_place = np.full(len(m.nodes), -1, dtype=np.int64)  # before all others where it is not eliminated
        forms: dict[int, tuple[JointPivot, list[int], list[int], list[int]]] = {}
        self.fronts: list[tuple[int, int]] = []  # (position, vertex)
        # (position, body, node, form) of the joint pivots that have later neighbours beside their parents
        self.loop_coupled: list[tuple[int, int, int, JointPivot]] = []
        for position, item in enumerate(m.items):
            if item.body >= 0:
                self.place[item.body] = position
            if item.node >= 0:
                self.node_place[item.node] = position
            if item.pivot is not None:
                members = forms.setdefault(id(item.pivot), (item.pivot, [], [], []))
                members[1].append(item.body)
                members[2].append(item.node)
                members[3].append(m.nodes[item.node].ends[1 - item.pivot.child])
                if item.body in m.later:
                    self.loop_coupled.append((position, item.body, item.node, item.pivot))
            else:
                self.fronts.append((position, item.body if item.body >= 0 else n + item.node))
        self.pivot_groups: list[tuple[JointPivot, np.ndarray, np.ndarray, np.ndarray]] = [
            (pivot, np.array(bodies, dtype=np.int64), np.array(nodes, dtype=np.int64), np.array(parents, dtype=np.int64))
            for pivot, bodies, nodes, parents in forms.values()
        ]
        self.by_kind = [(m.bodies.kinds[members[0]], np.array(members, dtype=np.int64))
                        for members in m.bodies.members.values()]  # fmt: skip
        self._fronts = Fronts(m, self.fronts, m.later, {body: coupling_rows(pivot) for _, body, _, pivot in self.loop_coupled})
        self.node_asked, self.force_asked = self._earliest(m.nodes), self._earliest(m.forces)
        self.asked = self._first_asked()
        self.front_nodes = [number for number in range(len(m.nodes)) if number not in m.joint_pivot_of]
        middle = [node for node in m.nodes if node.kind.moving_rows or node.kind.force_directed]
        self.halves = {b for node in middle for b in node.ends if b != GROUND}
        self.constrained = {b for node in m.nodes for b in node.ends}

    def _first_asked(self) -> np.ndarray:
        """The position at which each body is first asked for in a sweep upwards: by a neighbour that is eliminated before
        it, or by a force or constraint on such a neighbour."""
        m, asked = self.model, self.place.copy()
        for ends, positions in ((_padded(m.nodes), self.node_asked), (_padded(m.forces), self.force_asked)):
            for column in ends.T:
                known = column != GROUND
                np.minimum.at(asked, column[known], positions[known])
        position = np.full(len(self._fronts.dims), AFTER)
        for place, vertex in [*self.fronts, *[(place, body) for place, body, *_ in self.loop_coupled]]:
            position[vertex] = place
        of_bodies = self._fronts.others < len(asked)
        np.minimum.at(asked, self._fronts.others[of_bodies], position[self._fronts.owners[of_bodies]])
        return asked

    def _earliest(self, items: Sequence) -> np.ndarray:
        """The position at which the first of the bodies of each item is eliminated."""
        ends = _padded(items)
        return np.where(ends == GROUND, AFTER, self.place[ends]).min(axis=1, initial=AFTER)

    def _body_kernel(self, kind, name: BodyWord) -> Kernel:
        assert isinstance(name, BodyKernel)
        return body_kernels.body_kernel(kind, name)

    def _add_first(self, ops: OperationList, what: Iterable[BodyWord]) -> None:
        """Add body kernels just before each body is first used."""
        for name in what:
            for kind, numbers in self.by_kind:
                kernel = self._id(self._body_kernel(kind, name))
                ops.add(self.asked[numbers], 0, kernel, self.model.body_at[numbers])

    def _add_bodies(self, ops: OperationList, what: Iterable[BodyWord], turn: int) -> None:
        for step, name in enumerate(what):
            for kind, numbers in self.by_kind:
                drifts = name in (BodyKernel.DRIFT, BodyKernel.FIRST_DRIFT)
                if drifts and kind.implicit_drift:
                    for part in IMPLICIT_DRIFT:
                        self._add_body(ops, kind, part, numbers, turn + step)
                    continue
                halved = np.array([drifts and b in self.halves for b in numbers])
                # residuals of constraints show when a step turns a body too far; a free body needs a kernel that notes it
                alone = np.array([name == BodyKernel.FIRST_DRIFT and kind.turns and b not in self.constrained for b in numbers])
                self._add_body(ops, kind, BodyKernel.DRIFT_IN_HALVES, numbers[halved], turn + step)
                self._add_body(ops, kind, BodyKernel.FIRST_DRIFT, numbers[alone], turn + step)
                self._add_body(ops, kind, BodyKernel.DRIFT if drifts else name, numbers[~(halved | alone)], turn + step)

    def _add_body(self, ops: OperationList, kind, name: BodyWord, numbers: np.ndarray, turn: int) -> None:
        if len(numbers):
            ops.add(-self.place[numbers], turn, self._id(self._body_kernel(kind, name)), self.model.body_at[numbers])

    def _add_joint_pivots(self, ops: OperationList, sweep: PivotSweep, turn: int, mode: RowMode | Iteration | None = None, *,
                          light: bool = False, down: bool = False) -> None:  # fmt: skip
        m = self.model
        if sweep == PivotSweep.BACKWARD:
            self._add_couplings(ops, Sweep.BACKWARD, turn, light, down)
        for pivot, bodies, nodes, parents in self.pivot_groups:
            above = np.where(parents == GROUND, 0, m.body_at[parents])
            position = -self.place[bodies] if down else self.place[bodies]
            ops.add(position, turn, self._id(pivot.kernel(sweep, mode, light)), m.node_at[nodes], m.body_at[bodies], above)
        if sweep == PivotSweep.UP:
            self._add_couplings(ops, Sweep.FACTOR, turn, light)
        elif sweep == PivotSweep.FORWARD:
            self._add_couplings(ops, Sweep.FORWARD, turn)

    def _add_couplings(self, ops: OperationList, sweep: Sweep, turn: int, light: bool = False, down: bool = False) -> None:
        """Add the couplings of joint pivots with further neighbours: after the pivot upwards, before it downwards."""
        key = f"{sweep} of couplings, light: {light}"
        if key not in self._front_rows:
            own = OperationList()
            for position, body, node, pivot in self.loop_coupled:
                for kernel, *offsets in self._couplings_of(sweep, light, body, node, pivot):
                    own.add(position, 0, self._id(kernel), *offsets)
            self._front_rows[key] = own.table()
        rows, positions = self._front_rows[key]
        ops.add_rows(-positions if down else positions, turn, rows)

    def _couplings_of(self, sweep: Sweep, light: bool, body: int, node: int, pivot: JointPivot) -> Iterable[tuple]:
        """Operations of one joint pivot: one for each further neighbour, and one for each two of them."""
        m, others = self.model, self.model.later[body]
        parent = m.nodes[node].ends[1 - pivot.child]
        own, couplings = (int(m.node_at[node]), int(m.body_at[body])), []
        for other in others:
            record, front = self._record_at(other)
            couplings.append(LoopCoupling(pivot, self._dim(other), front))
            first, between = True, []
            if sweep == Sweep.FACTOR and parent != GROUND:
                first = (parent, other) in self._slots
                between = [self._slot(parent, other) if first else self._slot(other, parent)]
            yield couplings[-1].kernel(sweep, first, light), *own, self._slot(body, other), record, *between
        if sweep == Sweep.FACTOR:
            for (coupling, one), (_, other) in combinations(zip(couplings, others, strict=True), 2):
                slots = self._slot(body, one), self._slot(body, other), self._slot(one, other)
                yield coupling.cross(self._dim(other)), *own, *slots

    def _add_predictions(self, ops: OperationList) -> None:
        m, extrapolated = self.model, self._extrapolated()
        for pivot, bodies, nodes, _ in self.pivot_groups:
            for way in (True, False):
                chosen = extrapolated[nodes] == way
                kernel = k.predict_kernel(pivot.node.size, pivot.record.offset("b"), pivot.record.offset("history"), way)
                if chosen.any():
                    ops.add(self.place[bodies[chosen]], FIRST, self._id(kernel), m.node_at[nodes[chosen]])
        if m.rotors:
            self._add_nodes(ops, lambda kind, start, b, x: k.rotor_kernel(kind, start) if kind.rotors else None, first=True)
        for kind, numbers in self._by_kind(self.front_nodes):
            for way in (True, False):
                chosen = numbers[extrapolated[numbers] == way]
                kernel = k.predict_kernel(kind.size, kind.record.offset("b"), kind.record.offset("history"), way)
                if len(chosen):
                    ops.add(self.node_asked[chosen], FIRST, self._id(kernel), m.node_at[chosen])

    def _extrapolated(self) -> np.ndarray:
        """(nodes,) bool: whether right-hand sides are extrapolated. Not where rows of the component depend on others: no
        correction removes what they ask for and cannot get, and extrapolated it would grow with the square of the steps."""
        m = self.model
        tree = np.array([m.forest.tree[node.ends[-1]] for node in m.nodes], dtype=np.int64)
        doubtful = [*m.redundant, *(() if m.ranked else m.soft)]
        return ~np.isin(tree, tree[doubtful])

    def _add_forces(self, ops: OperationList) -> None:
        for number, force in enumerate(self.model.forces):
            kernel = force_kernels.force_kernel(force.kind)
            self._add_wide(ops, self.force_asked[number], FIRST, kernel, *self._force_offsets(number))

    def _add_nodes(
        self, ops: OperationList, kernel_of, report: bool = False, first: bool = False, into: np.ndarray | None = None
    ) -> None:
        """Add one kernel a node: kernel_of(kind, offset of parameters, of b, of x), or none. Its last record is that of reports
        (`report`) or the one at into[node]."""
        m = self.model
        told = m.report_at if report else into
        groups: dict[tuple[int, int], list[int]] = {}
        for number, node in enumerate(m.nodes):
            groups.setdefault((id(node.kind), id(m.joint_pivot_of.get(number))), []).append(number)
        for members in groups.values():
            number, numbers = members[0], np.array(members, dtype=np.int64)
            base = int(m.node_at[number])
            kernel = kernel_of(m.nodes[number].kind, self._start(number), m.field_of_node(number, "b").start - base,
                               m.field_of_node(number, "x").start - base)  # fmt: skip
            if kernel is None:
                continue
            more = [] if told is None else [told[numbers]]
            position = np.full(len(members), -1) if first else self.node_place[numbers]
            self._add_all(ops, position, 0, kernel, *self._offsets_of(numbers), *more)

    def _offsets_of(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Of nodes of one kind and of their bodies."""
        ends = np.array([self.model.nodes[number].ends for number in numbers], dtype=np.int64)
        return [self.model.node_at[numbers], *[np.where(column == GROUND, 0, self.model.body_at[column]) for column in ends.T]]

    def _by_kind(self, numbers: Iterable[int]) -> list[tuple[NodeKind, np.ndarray]]:
        """Nodes of each kind."""
        groups: dict[int, list[int]] = {}
        for number in numbers:
            groups.setdefault(id(self.model.nodes[number].kind), []).append(number)
        return [(self.model.nodes[members[0]].kind, np.array(members, dtype=np.int64)) for members in groups.values()]

    def _add_all(self, ops: OperationList, positions: np.ndarray, turn: int, kernel: Kernel, *offsets: np.ndarray) -> None:
        """Operations of one kernel, or of several each where it has more records than an operation can name."""
        if len(offsets) <= OPERANDS:
            ops.add(positions, turn, self._id(kernel), *offsets)
            return
        for position, *single in zip(positions, *offsets, strict=True):
            self._add_wide(ops, position, turn, kernel, *single)

    def _add_wide(self, ops: OperationList, position: int, turn: int, kernel: Kernel, *offsets: int) -> None:
        """One operation, or several where its kernel has more records than an operation can name."""
        if len(offsets) <= OPERANDS:
            ops.add(position, turn, self._id(kernel), *offsets)
            return
        if kernel.key not in self._gathered:
            self._gathered[kernel.key] = gathered(kernel)
        whole, area = self._gathered[kernel.key], self.model.gathering
        assert whole.size <= self.model.response_at - area, kernel.key
        for pointer, copy in whole.into:
            ops.add(position, turn, self._id(copy), offsets[pointer - 1], area)
        ops.add(position, turn, self._id(whole.kernel), offsets[0], area)
        for pointer, copy in whole.back:
            ops.add(position, turn, self._id(copy), offsets[pointer - 1], area)

    def _start(self, node: int) -> int:
        return self.model.parameters_at(node) - int(self.model.node_at[node])

    def _node_offsets(self, node: int) -> tuple[int, ...]:
        m = self.model
        return (m.node_at[node], *[0 if b == GROUND else m.body_at[b] for b in m.nodes[node].ends])

    def _force_offsets(self, number: int) -> tuple[int, ...]:
        m = self.model
        return (m.force_at[number], *[0 if b == GROUND else m.body_at[b] for b in m.forces[number].ends])

    # -- fronts ------------------------------------------------------------------------------------------------
    def _slot(self, vertex: int, other: int) -> int:
        """Offset of the block (vertex x other), vertex eliminated first."""
        return self._slots[vertex, other]

    @cached_property
    def _slots(self) -> dict[tuple[int, int], int]:
        blocks = self._fronts
        return dict(zip(zip(blocks.owners.tolist(), blocks.others.tolist(), strict=True), blocks.slots.tolist(), strict=True))

    def _dim(self, vertex: int) -> int:
        return int(self._fronts.dims[vertex])

    def _front_at(self, vertex: int) -> int:
        return int(self._fronts.at[vertex])

    def _record_at(self, vertex: int) -> tuple[int, int]:
        """Offset of the record of a vertex of a front, and from there to its D."""
        m, n = self.model, len(self.model.bodies.kinds)
        if vertex < n:
            return int(m.body_at[vertex]), m.bodies.kinds[vertex].record.offset("D")
        return int(m.node_at[vertex - n]), m.nodes[vertex - n].kind.record.offset("D")

    def _add_assembly(self, ops: OperationList, mode: RowMode | Iteration) -> None:
        """Rows and blocks of all nodes that are fronts."""
        for (kind, bodies_first, soft), numbers, slots in self._assemblies:
            kernel = self._node_kernel(kind, mode, bodies_first, soft)
            self._add_all(ops, self.node_asked[numbers], FIRST + 1, kernel, *self._offsets_of(numbers), *slots)

    @cached_property
    def _assemblies(self) -> list[tuple[tuple[NodeKind, tuple[bool, ...], bool], np.ndarray, list[np.ndarray]]]:
        """((kind of a node, which of its bodies are eliminated before it, whether it is soft), nodes, offsets of their blocks
        with each body) for all nodes that are fronts."""
        n, groups = len(self.model.bodies.kinds), dict[tuple, tuple]()
        for number in self.front_nodes:
            node, place = self.model.nodes[number], self.node_place[number]
            first = tuple(b != GROUND and bool(self.place[b] < place) for b in node.ends)
            slots = [0 if b == GROUND else self._slot(b, n + number) if before else self._slot(n + number, b)
                     for b, before in zip(node.ends, first, strict=True)]  # fmt: skip
            key = id(node.kind), first, number in self.model.soft
            groups.setdefault(key, ((node.kind, *key[1:]), [], []))
            groups[key][1].append(number)
            groups[key][2].append(slots)
        return [(what, np.array(numbers), list(np.array(slots).T)) for what, numbers, slots in groups.values()]

    def _node_kernel(self, kind, mode: RowMode | Iteration, bodies_first: tuple[bool, ...], soft: bool) -> Kernel:
        assert isinstance(mode, RowMode)
        return k.node_kernel(kind, mode, bodies_first, soft)

    def _add_cleared_fill(self, ops: OperationList) -> None:
        """Blocks that only elimination fills start from zero."""
        n, blocks = len(self.model.bodies.kinds), self._fronts
        total = len(blocks.dims)
        given = [(b, n + i) for i in self.front_nodes for b in moving(self.model.nodes[i].ends)]
        low, high = np.array(given, dtype=np.int64).reshape(-1, 2).T
        filled = ~np.isin(np.minimum(blocks.owners, blocks.others) * total + np.maximum(blocks.owners, blocks.others),
                          low * total + high)  # fmt: skip
        for size in np.unique(blocks.sizes[filled]):
            slots = blocks.slots[filled & (blocks.sizes == size)]
            ops.add(np.full(len(slots), -1), 0, self._id(fronts.zero_kernel(int(size))), slots)

    def _add_fronts(self, ops: OperationList, sweep: Sweep, down: bool = False, exact: bool = False) -> None:
        """What a sweep does at all fronts. Exact: matrices are not symmetric."""
        rows, positions = self._front_table(sweep, exact)
        ops.add_rows(-positions if down else positions, 0 if down else LAST, rows)

    def _front_table(self, sweep: Sweep, exact: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Operations of all fronts, and their positions."""
        key = f"{sweep} of fronts, exact: {exact}"
        if key not in self._front_rows:  # the same in many sweeps
            swept = self._swept()
            found = swept.operations(sweep)
            kernels = [self._id(self._front_kernel(sweep, exact, piece, forms)) for piece, forms in found.signatures]
            found.rows[:, 0] = np.array(kernels, dtype=np.int32)[found.rows[:, 0]]
            self._front_rows[key] = found.rows, swept.positions[found.fronts]
        return self._front_rows[key]

    def _swept(self) -> Fronts:
        """What elimination goes through vertex by vertex."""
        return self._fronts

    def _front_kernel(self, sweep: Sweep, exact: bool, piece: Piece, forms: list[Form]) -> Kernel:
        """One front whole, or a piece of one: of a vertex and up to two of its later neighbours."""
        if exact:
            first, other, third = (*forms, Form(0, 0), Form(0, 0))[:3]
            beyond = other.upper if piece == Piece.UPDATE else 0
            return fronts.exact_piece_kernel(piece, first.dim, first.upper, other.dim, beyond, third.dim)
        own, *others = (form.dim for form in forms)
        if piece == Piece.WHOLE:
            return fronts.front_kernel(own, tuple(others), sweep)
        return fronts.piece_kernel(piece, own, *others)


def _padded(items: Sequence) -> np.ndarray:
    """(items, most bodies of one): the bodies of nodes or forces, with the ground where there are fewer."""
    most = max((len(item.ends) for item in items), default=0)
    ends = [(*item.ends, *[GROUND] * (most - len(item.ends))) for item in items]
    return np.array(ends, dtype=np.int64).reshape(len(items), most)
