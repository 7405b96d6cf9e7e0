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
from linkwork.kernels.joint_elimination_implicit import HELD
from linkwork.model.graph import GROUND, moving
from linkwork.model.model import Model
from linkwork.schedules.front_ops import Form
from linkwork.schedules.operations import FIRST, LAST, Sheet
from linkwork.schedules.schedules import Programs
from linkwork.schedules.solver_report import NewtonReport
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.views import GLOBALS

TANGENTS = ("symmetric", "exact")
STEPS = (
    "begin",
    "firm",
    "draw",
    "again",
    "advance-once",
    "advance-firm",
    "advance-first",
    "advance",
    "shift",
    "place-firm",
    "lag",
    "reach",
    "accept",
    "retry",
)


class Implicit(Programs):
    name, limbs = "implicit", True
    counts_limbs = True

    @classmethod
    def layout(cls, tangent: str, iterations: int) -> dict:
        exact = tangent == "exact"  # by fronts alone; from the second iteration on constraints couple their bodies, too
        coupled = "forces and constraints" if exact and iterations != 1 else "forces"
        return {"limbs": not exact, "coupled": coupled, "pairs": exact}

    def __init__(self, model: Model):
        super().__init__(model)
        self.exact = model.pairs
        ends = {frozenset(model.nodes[number].ends): number for number, limb in model.limb_of.items() if limb.coupled}
        self.coupled_limbs = ends  # the bodies of a limb whose turning is coupled -> its node

    def report(self, work: np.ndarray) -> NewtonReport:
        return NewtonReport(*(int(work[GLOBALS.offset(name)]) for name in ("iterations", "parts")))

    def assembly(self, what: str) -> np.ndarray:
        """Matrix and right-hand side of an iteration ("begin" or "again")."""
        return self._keep(f"assembly {what}", lambda sheet: self._add_system(sheet, what))

    def iteration(self, what: str) -> np.ndarray:
        """The same, factors, forward sweep."""

        def make(sheet: Sheet) -> None:
            self._add_system(sheet, what)
            self._add_fronts(sheet, "exact-factor" if self._exact(what) else "factor")
            self._add_limbs(sheet, f"up-{what}", LAST)

        return self._keep(f"iteration {what}", make)

    def solution(self, what: str) -> np.ndarray:
        """The backward sweep of an iteration, then a body kernel."""

        def make(sheet: Sheet) -> None:
            self._add_fronts(sheet, "exact-backward" if self.exact else "backward", down=True)
            stage = implicit_bodies.AGAIN if what == "advance" else implicit_bodies.BEGIN
            self._add_limbs(sheet, f"backward-{stage}", 0, down=True)
            self._add_bodies(sheet, (what,), 1)

        return self._keep(f"solution {what}", make)

    def _exact(self, what: str) -> bool:
        """Whether an iteration takes exact tangents; a firm one does not, since only positive ones bound its energy."""
        return self.exact and what not in (implicit_bodies.FIRM, implicit_bodies.DRAW)

    def solved(self, stage: str, what: str | None = None) -> np.ndarray:
        """The backward sweep of an iteration alone."""

        def make(sheet: Sheet) -> None:
            self._add_fronts(sheet, "exact-backward" if self._exact(what or stage) else "backward", down=True)
            self._add_limbs(sheet, f"backward-{stage}", 0, down=True)

        return self._keep(f"solved {stage} {self._exact(what or stage)}", make)

    def strain(self) -> np.ndarray:
        """How far a linear step goes, in parts of what it bears, at all nodes."""

        def make(sheet: Sheet) -> None:
            self._add_nodes(sheet, lambda kind, start, b, x: single_iteration.strain_kernel(kind, start, x))

        return self._keep("strain", make)

    def drawn_in(self) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Displacements after which rows of places hold, as small as can be against inertia and the tangents of a firm
        iteration, and how large they are; bodies displaced by them."""

        def down(sheet: Sheet) -> None:
            self._add_fronts(sheet, "backward", down=True)
            self._add_limbs(sheet, f"motion-{implicit_bodies.AGAIN}", 0, down=True)
            self._add_bodies(sheet, ("reach",), 1)

        return (self.iteration(implicit_bodies.DRAW), self._keep("drawn in", down)), self.body("place-firm")

    def recalled(self) -> np.ndarray:
        """Multipliers that were kept, where reports look for them; where pulls count in the projection, with its own: the
        impulses of the whole step, from which the next one takes its pulls."""

        def make(sheet: Sheet) -> None:
            for number, node in enumerate(self.model.nodes):
                x, kept = (self._beside(number, name) for name in ("x", "history"))
                size = node.kind.size
                kernel = (
                    single_iteration.summed_kernel(size, x, kept)
                    if number in braced
                    else implicit_rows.copy_kernel(size, kept, x)
                )
                sheet.add(number, 0, self._id(kernel), int(self.model.node_at[number]))

        braced = set(self._braced)
        return self._keep("recalled", make)

    def joined(self) -> np.ndarray:
        """Bodies put where the joints to their parents have them, from the ground on; in free trees from their roots."""

        def make(sheet: Sheet) -> None:
            for place, (body, number, part) in enumerate(self._joints):
                node = self.model.nodes[number]
                kernel = single_iteration.joining_kernel(node.kind, part, node.ends.index(body), self._start(number))
                sheet.add(place, 0, self._id(kernel), *self._node_offsets(number))

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

    def _add_system(self, sheet: Sheet, what: str) -> None:
        self._add_first(sheet, (what,))
        self._add_cleared_fill(sheet)
        self._add_tangents(sheet, what)
        self._add_assembly(sheet, f"implicit-{what}")
        add = {
            implicit_bodies.AGAIN: self._add_geometric,
            implicit_bodies.FIRM: self._add_firm,
            implicit_bodies.DRAW: self._add_firm,
        }.get(what)
        if add is not None:
            for number in self._braced if what == implicit_bodies.DRAW else range(len(self.model.nodes)):
                add(sheet, number)

    def _body_kernel(self, kind, name):
        if name == "advance-firm":
            return implicit_bodies.body_kernel(kind, "advance-firm", False)
        return implicit_bodies.body_kernel(kind, name, self._exact(name)) if name in STEPS else super()._body_kernel(kind, name)

    def _node_kernel(self, kind, mode, bodies_first, soft):
        if mode.startswith("implicit-"):
            what = mode.removeprefix("implicit-")
            return implicit_rows.rows_kernel(kind, what, bodies_first, self._exact(what), soft)
        return super()._node_kernel(kind, mode, bodies_first, soft)

    def _between(self, ends: tuple[int, ...]) -> tuple[int, list[int]]:
        """Which of two bodies is eliminated first, and where the block between them lies (nowhere if one is the ground)."""
        if GROUND in ends:
            return 0, []
        first = int(self.place[ends[1]] < self.place[ends[0]])
        return first, [self._slot(ends[first], ends[1 - first])]

    def _add_tangents(self, sheet: Sheet, what: str) -> None:
        m = self.model
        for node in self.coupled_limbs.values():
            clear = fronts.zero_kernel(sum(HELD.values()), self._held(node), Joining.SMALL)
            sheet.add(self.node_asked[node], FIRST, self._id(clear), m.node_at[node])
        for number, force in enumerate(m.forces):
            limb_node = self.coupled_limbs.get(frozenset(force.ends))
            if limb_node is None:
                pairs = [self._between(pair) for pair in combinations([b for b in force.ends if b != GROUND], 2)]
                kernel = implicit_forces.force_kernel(
                    force.kind, what, tuple(bool(first) for first, _ in pairs), self._exact(what)
                )
                where = [slot for _, slots in pairs for slot in slots]
            else:
                kernel, where = self._turning_kernel(force, limb_node, what), [m.node_at[limb_node]]
            self._add_wide(sheet, self.force_asked[number], FIRST, kernel, *self._force_offsets(number), *where)

    def _turning_kernel(self, force, node: int, what: str) -> Kernel:
        limb = self.model.limb_of[node]
        child = int(self.place[force.ends[1]] < self.place[force.ends[0]])
        own = getattr(force.element, "joint", None) is self.model.nodes[node].elements[0]
        return implicit_forces.turning_kernel(force.kind, what, child, self._held(node), limb.kind if own else None, limb.start)

    def _held(self, node: int) -> int:
        """From the record of a limb's joint to what holds the turn at it."""
        return self.model.limb_of[node].record.offset("A")

    def _add_geometric(self, sheet: Sheet, number: int) -> None:
        """Before the node's rows are written: multipliers of the last iteration are still there."""
        node = self.model.nodes[number]
        pairs = [self._between(pair) for pair in combinations(moving(node.ends), 2)] if self.exact else []
        x = self.model.field_of_node(number, "x").start - int(self.model.node_at[number])
        turned = tuple(bool(first) for first, _ in pairs)
        kernel = implicit_rows.geometric_kernel(node.kind, self._start(number), x, turned, self.exact)
        slots = [slot for _, where in pairs for slot in where]
        self._add_wide(sheet, self.node_asked[number], FIRST, kernel, *self._node_offsets(number), *slots)

    def remembered(self) -> np.ndarray:
        """Multipliers kept for the geometric stiffness of a firm iteration."""

        def make(sheet: Sheet) -> None:
            for number, node in enumerate(self.model.nodes):
                kernel = implicit_rows.copy_kernel(node.kind.size, *(self._beside(number, name) for name in ("x", "history")))
                sheet.add(number, 0, self._id(kernel), int(self.model.node_at[number]))

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

    def _add_firm(self, sheet: Sheet, number: int) -> None:
        x = self._beside(number, "history")
        kernel = implicit_rows.firm_kernel(self.model.nodes[number].kind, self._start(number), x)
        self._add_wide(sheet, self.node_asked[number], FIRST, kernel, *self._node_offsets(number))

    def _front_kernel(self, what: str, piece: str, forms: list[Form]) -> Kernel:
        if not what.startswith("exact-"):
            return super()._front_kernel(what, piece, forms)
        own, other, third = (*forms, Form(0, 0), Form(0, 0))[:3]
        beyond = other.upper if piece == "update" else 0
        return fronts.exact_piece_kernel(piece, own.dim, own.upper, other.dim, beyond, third.dim)
