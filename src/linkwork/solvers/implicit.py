"""`implicit`: the matrix of backward Euler by the same elimination as `tree` (hernandez11, corrected:
docs/papers-errata.md, section 2).

Forces couple bodies directly: a body has its joint and its grandparent as later neighbours, and more where forces join
bodies that are no neighbours. `tangent="symmetric"` is L D L^T, `"exact"` L D U.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from linkwork.codegen.trace import Joining, Kernel
from linkwork.model.front_rows import Form
from linkwork.model.graph import GROUND, moving
from linkwork.model.programs import FIRST, LAST, Programs, Sheet
from linkwork.model.types import Model
from linkwork.symbolic import fronts, implicit
from linkwork.symbolic.coupled import HELD

TANGENTS = ("symmetric", "exact")
STEPS = ("begin", "again", "advance-once", "advance-first", "advance", "shift", "accept", "retry")


class Implicit(Programs):
    name, limbs = "implicit", True
    counts_limbs = True
    integrators = takes_contact = ("backward-euler",)

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

    def assembly(self, what: str) -> np.ndarray:
        """Matrix and right-hand side of an iteration ("begin" or "again")."""
        return self._keep(f"assembly {what}", lambda sheet: self._add_system(sheet, what))

    def iteration(self, what: str) -> np.ndarray:
        """The same, factors, forward sweep."""

        def make(sheet: Sheet) -> None:
            self._add_system(sheet, what)
            self._add_fronts(sheet, "exact-factor" if self.exact else "factor")
            self._add_limbs(sheet, f"up-{what}", LAST)

        return self._keep(f"iteration {what}", make)

    def solution(self, what: str, light: bool = False) -> np.ndarray:
        """The backward sweep of an iteration (light: without multipliers of limbs), then a body kernel."""

        def make(sheet: Sheet) -> None:
            self._add_fronts(sheet, "exact-backward" if self.exact else "backward", down=True)
            stage = implicit.AGAIN if what == "advance" else implicit.BEGIN
            self._add_limbs(sheet, f"{'motion' if light else 'backward'}-{stage}", 0, down=True)
            self._add_bodies(sheet, (what,), 1)

        return self._keep(f"solution {what} {light}", make)

    def solved(self, stage: str) -> np.ndarray:
        """The backward sweep of an iteration alone."""

        def make(sheet: Sheet) -> None:
            self._add_fronts(sheet, "backward", down=True)
            self._add_limbs(sheet, f"backward-{stage}", 0, down=True)

        return self._keep(f"solved {stage}", make)

    def multipliers(self) -> np.ndarray:
        """What a light solution leaves out."""
        return self._keep("multipliers", lambda sheet: self._add_limbs(sheet, f"multipliers-{implicit.BEGIN}", 0))

    def _add_system(self, sheet: Sheet, what: str) -> None:
        self._add_first(sheet, (what,))
        self._add_cleared_fill(sheet)
        self._add_tangents(sheet, what)
        self._add_assembly(sheet, f"implicit-{what}")
        if what == implicit.AGAIN:
            for number in range(len(self.model.nodes)):
                self._add_geometric(sheet, number)

    def _body_kernel(self, kind, name):
        return implicit.body_kernel(kind, name, self.exact) if name in STEPS else super()._body_kernel(kind, name)

    def _node_kernel(self, kind, mode, bodies_first, soft):
        if mode.startswith("implicit-"):
            return implicit.rows_kernel(kind, mode.removeprefix("implicit-"), bodies_first, self.exact, soft)
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
                kernel = implicit.force_kernel(force.kind, what, tuple(bool(first) for first, _ in pairs), self.exact)
                where = [slot for _, slots in pairs for slot in slots]
            else:
                kernel, where = self._turning_kernel(force, limb_node, what), [m.node_at[limb_node]]
            self._add_wide(sheet, self.force_asked[number], FIRST, kernel, *self._force_offsets(number), *where)

    def _turning_kernel(self, force, node: int, what: str) -> Kernel:
        limb = self.model.limb_of[node]
        child = int(self.place[force.ends[1]] < self.place[force.ends[0]])
        own = getattr(force.element, "joint", None) is self.model.nodes[node].elements[0]
        return implicit.turning_kernel(force.kind, what, child, self._held(node), limb.relation if own else None, limb.start)

    def _held(self, node: int) -> int:
        """From the record of a limb's joint to what holds the turn at it."""
        return self.model.limb_of[node].record.offset("A")

    def _add_geometric(self, sheet: Sheet, number: int) -> None:
        """Before the node's rows are written: multipliers of the last iteration are still there."""
        node = self.model.nodes[number]
        pairs = [self._between(pair) for pair in combinations(moving(node.ends), 2)] if self.exact else []
        x = self.model.field_of_node(number, "x").start - int(self.model.node_at[number])
        turned = tuple(bool(first) for first, _ in pairs)
        kernel = implicit.geometric_kernel(node.kind, self._start(number), x, turned, self.exact)
        slots = [slot for _, where in pairs for slot in where]
        self._add_wide(sheet, self.node_asked[number], FIRST, kernel, *self._node_offsets(number), *slots)

    def _front_kernel(self, what: str, piece: str, forms: list[Form]) -> Kernel:
        if not what.startswith("exact-"):
            return super()._front_kernel(what, piece, forms)
        own, other, third = (*forms, Form(0, 0), Form(0, 0))[:3]
        beyond = other.upper if piece == "update" else 0
        return fronts.exact_piece_kernel(piece, own.dim, own.upper, other.dim, beyond, third.dim)
