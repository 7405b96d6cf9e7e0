"""`implicit`: the matrix of backward Euler by the same elimination as `tree` (hernandez11, corrected:
docs/papers-errata.md, section 2).

Forces couple bodies directly: a body has its joint and its grandparent as later neighbours, and more where forces join
bodies that are no neighbours. `tangent="symmetric"` is L D L^T, `"exact"` L D U.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np

from linkwork.codegen.trace import Joining, Kernel
from linkwork.kernels import fronts, implicit_bodies, implicit_forces, implicit_rows, single_iteration
from linkwork.kernels.implicit_bodies import AGAIN, BEGIN, DRAW, FIRM
from linkwork.kernels.joint_elimination_implicit import HELD
from linkwork.kernels.vocabulary import ImplicitKernel, Iteration, PivotSweep, Sweep
from linkwork.model.graph import GROUND, moving
from linkwork.model.model import Model
from linkwork.schedules.assembly import BodyWord
from linkwork.schedules.operations import FIRST, LAST, OperationList
from linkwork.schedules.schedules import Schedules
from linkwork.schedules.solver_report import NewtonReport
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.views import GLOBALS

TANGENTS = ("symmetric", "exact")


class Implicit(Schedules):
    name, joint_pivots = "implicit", True
    counts_in_pivots = True

    @classmethod
    def layout(cls, tangent: str, iterations: int) -> dict:
        exact = tangent == "exact"  # by fronts alone; from the second iteration on constraints couple their bodies, too
        coupled = "forces and constraints" if exact and iterations != 1 else "forces"
        return {"limbs": not exact, "coupled": coupled, "pairs": exact}

    def __init__(self, model: Model):
        super().__init__(model)
        self.exact = model.pairs
        ends = {frozenset(model.nodes[number].ends): number for number, pivot in model.joint_pivot_of.items() if pivot.coupled}
        self.coupled_pivots = ends  # the bodies of a joint pivot whose turning is coupled -> its node

    def report(self, work: np.ndarray) -> NewtonReport:
        return NewtonReport(*(int(work[GLOBALS.offset(name)]) for name in ("iterations", "parts")))

    def assembly(self, what: Iteration) -> np.ndarray:
        """Matrix and right-hand side of an iteration."""
        return self._keep(f"assembly {what}", lambda ops: self._add_system(ops, what))

    def iteration(self, what: Iteration) -> np.ndarray:
        """The same, factors, forward sweep."""

        def make(ops: OperationList) -> None:
            self._add_system(ops, what)
            self._add_fronts(ops, Sweep.FACTOR, exact=self._exact(what))
            self._add_joint_pivots(ops, PivotSweep.UP, LAST, what)

        return self._keep(f"iteration {what}", make)

    def solution(self, what: ImplicitKernel) -> np.ndarray:
        """The backward sweep of an iteration, then a body kernel."""

        def make(ops: OperationList) -> None:
            self._add_fronts(ops, Sweep.BACKWARD, down=True, exact=self.exact)
            iteration = AGAIN if what == ImplicitKernel.ADVANCE else BEGIN
            self._add_joint_pivots(ops, PivotSweep.BACKWARD, 0, iteration, down=True)
            self._add_bodies(ops, (what,), 1)

        return self._keep(f"solution {what}", make)

    def _exact(self, what: BodyWord) -> bool:
        """Whether an iteration takes exact tangents; a firm one does not, since only positive ones bound its energy."""
        return self.exact and what not in (FIRM, DRAW)

    def solved(self, iteration: Iteration, what: Iteration | None = None) -> np.ndarray:
        """The backward sweep of an iteration alone."""

        def make(ops: OperationList) -> None:
            self._add_fronts(ops, Sweep.BACKWARD, down=True, exact=exact)
            self._add_joint_pivots(ops, PivotSweep.BACKWARD, 0, iteration, down=True)

        exact = self._exact(what or iteration)
        return self._keep(f"solved {iteration} {exact}", make)

    def strain(self) -> np.ndarray:
        """How far a linear step goes, in parts of what it bears, at all nodes."""

        def make(ops: OperationList) -> None:
            self._add_nodes(ops, lambda kind, start, b, x: single_iteration.strain_kernel(kind, start, x))

        return self._keep("strain", make)

    def drawn_in(self) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Displacements after which rows of places hold, as small as can be against inertia and the tangents of a firm
        iteration, and how large they are; bodies displaced by them."""

        def down(ops: OperationList) -> None:
            self._add_fronts(ops, Sweep.BACKWARD, down=True)
            self._add_joint_pivots(ops, PivotSweep.MOTION, 0, AGAIN, down=True)
            self._add_bodies(ops, (ImplicitKernel.REACH,), 1)

        return (self.iteration(DRAW), self._keep("drawn in", down)), self.body(ImplicitKernel.PLACE_FIRM)

    def recalled(self) -> np.ndarray:
        """Multipliers that were kept, where reports look for them; where pulls count in the projection, with its own: the
        impulses of the whole step, from which the next one takes its pulls."""

        def make(ops: OperationList) -> None:
            for number, node in enumerate(self.model.nodes):
                x, kept = (self._beside(number, name) for name in ("x", "history"))
                size = node.kind.size
                kernel = (
                    single_iteration.summed_kernel(size, x, kept)
                    if number in braced
                    else implicit_rows.copy_kernel(size, kept, x)
                )
                ops.add(number, 0, self._id(kernel), int(self.model.node_at[number]))

        braced = set(self._braced)
        return self._keep("recalled", make)

    def joined(self) -> np.ndarray:
        """Bodies put where the joints to their parents have them, from the ground on; in free trees from their roots."""

        def make(ops: OperationList) -> None:
            for place, (body, number, part) in enumerate(self._joints):
                node = self.model.nodes[number]
                kernel = single_iteration.joining_kernel(node.kind, part, node.ends.index(body), self._start(number))
                ops.add(place, 0, self._id(kernel), *self._node_offsets(number))

        return self._keep("joined", make)

    @cached_property
    def _joints(self) -> list[tuple[int, int, int]]:
        """(body, node, part of it) that place a body, parents first."""
        forest, found = self.model.forest, []
        for body in reversed(forest.order):
            grounded = forest.ground_nodes[body] if forest.parent[body] < 0 else ()
            for number in grounded or (forest.joint[body],):
                part = None if number < 0 else single_iteration.joint_of(self.model.nodes[number].kind)
                if part is not None:
                    found.append((body, number, part))
                    break
        return found

    @cached_property
    def holds_more_than_joints(self) -> bool:
        """Whether there are rows of places beside the joints that place bodies."""
        return bool(self._closing)

    @cached_property
    def _closing(self) -> list[int]:
        """Nodes with rows of places beside a joint that places a body: those that close loops, for one."""
        placed = {number: part for _, number, part in self._joints}
        return [
            number
            for number, node in enumerate(self.model.nodes)
            if any(POSITION in part.kind.levels and placed.get(number) != k for k, part in enumerate(node.kind.parts))
        ]

    @cached_property
    def _braced(self) -> list[int]:
        """Nodes of trees that hold more than their joints do. There the pulls of the step count in the projection, too: where
        a chain is drawn taut, J is nearly dependent, and what is smallest against inertia alone is a zigzag of the few bodies
        at its kinks. In other trees bodies would lag behind, and joints are closed by themselves."""
        tree, nodes = self.model.forest.tree, self.model.nodes
        held = {tree[body] for number in self._closing for body in moving(nodes[number].ends)}
        return [number for number, node in enumerate(nodes) if any(tree[body] in held for body in moving(node.ends))]

    def _add_system(self, ops: OperationList, what: Iteration) -> None:
        self._add_first(ops, (what,))
        self._add_cleared_fill(ops)
        self._add_tangents(ops, what)
        self._add_assembly(ops, what)
        add = {AGAIN: self._add_geometric, FIRM: self._add_firm, DRAW: self._add_firm}.get(what)
        if add is not None:
            for number in self._braced if what == DRAW else range(len(self.model.nodes)):
                add(ops, number)

    def _body_kernel(self, kind, name):
        if isinstance(name, (Iteration, ImplicitKernel)):
            return implicit_bodies.body_kernel(kind, name, self._exact(name) and name != ImplicitKernel.ADVANCE_FIRM)
        return super()._body_kernel(kind, name)

    def _node_kernel(self, kind, mode, bodies_first, soft):
        if isinstance(mode, Iteration):
            return implicit_rows.rows_kernel(kind, mode, bodies_first, self._exact(mode), soft)
        return super()._node_kernel(kind, mode, bodies_first, soft)

    def _between(self, ends: tuple[int, ...]) -> tuple[int, list[int]]:
        """Which of two bodies is eliminated first, and where the block between them lies (nowhere if one is the ground)."""
        if GROUND in ends:
            return 0, []
        first = int(self.place[ends[1]] < self.place[ends[0]])
        return first, [self._slot(ends[first], ends[1 - first])]

    def _add_tangents(self, ops: OperationList, what: Iteration) -> None:
        m = self.model
        for node in self.coupled_pivots.values():
            clear = fronts.zero_kernel(sum(HELD.values()), self._held(node), Joining.SMALL)
            ops.add(self.node_asked[node], FIRST, self._id(clear), m.node_at[node])
        for number, force in enumerate(m.forces):
            pivot_node = self.coupled_pivots.get(frozenset(force.ends))
            if pivot_node is None:
                pairs = [self._between(pair) for pair in combinations([b for b in force.ends if b != GROUND], 2)]
                kernel = implicit_forces.force_kernel(
                    force.kind, what, tuple(bool(first) for first, _ in pairs), self._exact(what)
                )
                where = [slot for _, slots in pairs for slot in slots]
            else:
                kernel, where = self._turning_kernel(force, pivot_node, what), [m.node_at[pivot_node]]
            self._add_wide(ops, self.force_asked[number], FIRST, kernel, *self._force_offsets(number), *where)

    def _turning_kernel(self, force, node: int, what: Iteration) -> Kernel:
        pivot = self.model.joint_pivot_of[node]
        child = int(self.place[force.ends[1]] < self.place[force.ends[0]])
        own = getattr(force.element, "joint", None) is self.model.nodes[node].elements[0]
        return implicit_forces.turning_kernel(
            force.kind, what, child, self._held(node), pivot.kind if own else None, pivot.start
        )

    def _held(self, node: int) -> int:
        """From the record of a joint pivot's joint to what holds the turn at it."""
        return self.model.joint_pivot_of[node].record.offset("A")

    def _add_geometric(self, ops: OperationList, number: int) -> None:
        """Before the node's rows are written: multipliers of the last iteration are still there."""
        node = self.model.nodes[number]
        pairs = [self._between(pair) for pair in combinations(moving(node.ends), 2)] if self.exact else []
        x = self.model.field_of_node(number, "x").start - int(self.model.node_at[number])
        turned = tuple(bool(first) for first, _ in pairs)
        kernel = implicit_rows.geometric_kernel(node.kind, self._start(number), x, turned, self.exact)
        slots = [slot for _, where in pairs for slot in where]
        self._add_wide(ops, self.node_asked[number], FIRST, kernel, *self._node_offsets(number), *slots)

    def remembered(self) -> np.ndarray:
        """Multipliers kept for the geometric stiffness of a firm iteration."""

        def make(ops: OperationList) -> None:
            for number, node in enumerate(self.model.nodes):
                kernel = implicit_rows.copy_kernel(node.kind.size, *(self._beside(number, name) for name in ("x", "history")))
                ops.add(number, 0, self._id(kernel), int(self.model.node_at[number]))

        return self._keep("remembered", make)

    def pulled_by(self, trees: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Where the multipliers of each of these trees that count in the projection begin, and their entries."""
        found: dict[int, list[int]] = {tree: [] for tree in trees}
        for number in self._braced:
            x = self.model.field_of_node(number, "x")
            found[self.model.forest.tree[moving(self.model.nodes[number].ends)[0]]] += range(x.start, x.stop)
        every = list(found.values())
        return np.cumsum([0, *map(len, every)]), np.array([entry for own in every for entry in own], dtype=np.int64)

    def _beside(self, number: int, name: str) -> int:
        """From the record of a node to one of its fields."""
        return self.model.field_of_node(number, name).start - int(self.model.node_at[number])

    def _add_firm(self, ops: OperationList, number: int) -> None:
        x = self._beside(number, "history")
        kernel = implicit_rows.firm_kernel(self.model.nodes[number].kind, self._start(number), x)
        self._add_wide(ops, self.node_asked[number], FIRST, kernel, *self._node_offsets(number))
