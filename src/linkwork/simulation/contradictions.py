"""Constraints that contradict each other, by name and by how much: as built, while a run goes on, and where it stops.

What prescribed motion asks for (`forcing`) is compared, not what bodies do: constraints that ask for nothing are met by bodies
at rest, so that mechanisms with redundant rows contradict nothing, however far they have drifted. Ranks are those of a nearby
place where the constraints hold, as well as they can, and a hard limit, a rope or a contact that is closed counts as a row
where prescribed motion alone decides on its rate.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import ConstraintElement, Element
from linkwork.elements.core.registry import kind_type
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model.agreement import DENSE, RowSystem, disputes
from linkwork.model.graph import GROUND, moving
from linkwork.model.nodes import blocks_of
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from linkwork.contact.contact_system import ContactSystem
    from linkwork.contact.rows import Rows
    from linkwork.model.agreement import Dispute
    from linkwork.model.model import Model
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray

DISAGREE = 1e-6  # of the fastest that is asked for (m/s, rad/s), and m or rad of places: less than that is no contradiction
SLOW = 1e-9  # m/s, rad/s: nor is that
MET = 1e-12  # m, rad: places that are as good as on the constraints
ROUNDS = 60  # of the search for such a place
LEAST = 1e-3  # of the largest residual: what is left of J^T C where the sum of squares is least, and a part that counts
CLOSED = 1e-9  # m, rad: a gap that is none
DEEP = 1e-4  # m, rad: by which something that is closed may overlap before somebody asks why
NEARLY = 1e-6  # of the largest singular value: rows that depend on each other as far as a step can tell
PART = 0.1  # of the largest part in that, from which on a constraint is named


@dataclass(frozen=True)
class Contradiction:
    """Elements (or words for a contact) that cannot all be obeyed, and by how much they disagree."""

    elements: tuple[Element | str, ...]
    off: float
    unit: str  # m/s, rad/s, m, rad; none of a user's function

    @property
    def key(self) -> frozenset[str]:
        return frozenset(checks.label(element) for element in self.elements)

    @property
    def of_several(self) -> bool:
        """Whether it can be one: what linkwork has written does not contradict itself, whatever rounding says of huge
        numbers."""
        first, *others = self.elements
        return bool(others) or _is_of_user(first)

    def __str__(self) -> str:
        how = "contradict each other" if len(self.elements) > 1 else "contradicts itself"
        return f"{checks.labels(self.elements)} {how} by {self.off:.3g}{self.unit and ' '}{self.unit}"


def _is_of_user(element: Element | str) -> bool:
    """Whether its rows are a user's function."""
    return isinstance(element, ConstraintElement) and kind_type(element).users_function


def _gives_way(element: Element | str) -> bool:
    return isinstance(element, ConstraintElement) and kind_type(element).gives_way


def trees_at_risk(model: Model, touches: bool) -> set[int]:
    """Trees of bodies with prescribed motion and another constraint, or, where something touches, without."""
    tree = [model.forest.tree[node.ends[-1]] for node in model.nodes]
    forced = {tree[k] for k, node in enumerate(model.nodes) if node.kind.forced}
    several = Counter(t for t, node in zip(tree, model.nodes, strict=True) for _ in node.elements)
    return {t for t in forced if touches or several[t] > 1}


def found(system: System) -> list[Contradiction]:
    """Constraints that contradict each other at this moment; the system is not changed. Hands are left out: they give way."""
    model = system.model
    trees = trees_at_risk(model, system.contact is not None)
    if not trees:
        return []
    kept, facts = system.work.copy(), system.validity.facts
    try:
        system.integrator.run(system.work, system.schedules.body(BodyKernel.UPDATE_POSE))
        system.validity.placed()
        told = list[Contradiction]()
        with np.errstate(over="ignore", invalid="ignore"):  # of a run that blows up
            for tree in sorted(trees):
                told += _Tree(system, tree).contradictions()
        return [one for one in told if one.of_several and not any(map(_gives_way, one.elements))]
    finally:
        system.work[:], system.validity.facts = kept, facts


def overlaps(system: System) -> bool:
    """Whether something that touches has gone far beyond its bound in the last step."""
    from linkwork.contact.rows import GAP

    steps = [] if system.contact is None else system.contact.steps()
    return any((rows.numbers[:m, GAP] < -DEEP).any() for rows, m in steps)


def singular(system: System) -> tuple[Element | str, ...]:
    """Constraints whose rows have come to depend on each other, in the first tree of bodies that has any."""
    trees = sorted({system.model.forest.tree[node.ends[-1]] for node in system.model.nodes})
    return next((found for tree in trees if (found := _Tree(system, tree).singular())), ())


class _Tree:
    """The rows of one tree of bodies."""

    def __init__(self, system: System, tree: int) -> None:
        self.system, self.model = system, system.model
        m = self.model
        self.nodes = [k for k, node in enumerate(m.nodes) if m.forest.tree[node.ends[-1]] == tree]
        self.bodies = sorted({b for k in self.nodes for b in moving(m.nodes[k].ends)})
        sizes = [m.bodies.kinds[b].nv for b in self.bodies]
        self.first = dict(zip(self.bodies, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        self.width = sum(sizes)
        self.elements: list[Element | str] = [e for k in self.nodes for e in m.nodes[k].elements]
        number = {id(e): i for i, e in enumerate(self.elements)}
        rows, owners, held = [], list[int](), list[bool]()  # (node, row of it) and whose it is
        for k in self.nodes:
            node = m.nodes[k]
            rows += [(k, row) for row in range(node.kind.size)]
            owners += [number[id(e)] for e in node.elements for _ in range(*node.rows_of(e).indices(node.kind.size))]
            held += [row not in node.kind.rotors for row in range(node.kind.size)]
        self.held = np.flatnonzero(held)  # rotors hold nothing
        self.owners = np.array(owners, dtype=np.int64)[self.held]
        node_of, row_of = (np.array(x, dtype=np.int64) for x in zip(*rows, strict=True))
        self.report = (m.report_at[node_of] + row_of)[self.held]
        self.sizes = np.array([m.nodes[k].kind.size for k in node_of])[self.held]
        self.placed = np.array([m.nodes[k].kind.levels[r] == POSITION for k, r in rows])[self.held]
        self.nonlinear = np.array([m.nodes[k].kind.nonlinear for k, _ in rows])[self.held]

    def contradictions(self) -> list[Contradiction]:
        J = self._on_constraints()
        work, v = self.system.work, self._of_bodies("v")
        forcing = work[self.report + 2 * self.sizes]
        if self.nonlinear.any():
            forcing = np.where(self.nonlinear, work[self.report + self.sizes] - J @ v, forcing)
        residual = np.where(self.placed, work[self.report], 0.0)
        if not (np.isfinite(forcing).all() and np.isfinite(residual).all() and np.isfinite(J.data).all()):
            return []
        fastest = max(SLOW, DISAGREE * float(np.abs(forcing).max(initial=0.0)))
        told = self._told(disputes(RowSystem(J, forcing, self.owners), fastest), J, "/s")
        apart = self._apart(J, residual)
        told += [apart] if apart is not None and apart.key not in {one.key for one in told} else []
        return told or self._stopped(J, forcing, fastest)

    def _apart(self, J: csr_matrix, residual: FloatArray) -> Contradiction | None:
        """Constraints of places that exclude each other: where the sum of squares of what they are off by is least, and not
        zero, J^T C vanishes, and C is the y that shows it."""
        largest = float(np.abs(residual).max(initial=0.0))
        if not largest > DISAGREE or not np.abs(J.T @ residual).max() < LEAST * largest:
            return None
        parts = {int(o): float(np.abs(residual[self.owners == o]).max()) for o in np.unique(self.owners)}
        owners = [o for o in parts if parts[o] > LEAST * largest]
        off, row = float(residual @ residual) / largest, int(np.argmax(np.abs(residual)))
        return Contradiction(tuple(self.elements[o] for o in owners), off, self._unit(J, row, ""))

    def singular(self) -> tuple[Element | str, ...]:
        """Elements whose rows depend on each other here, but not as built: with the largest part first."""
        if len(self.held) > DENSE:
            return ()
        here, work = self._null_space(), self.system.work
        now = work.copy()
        try:
            work[self.model.state_index] = self.system.schedules.workspace()[self.model.state_index]
            self.system.integrator.run(work, self.system.schedules.body(BodyKernel.UPDATE_POSE))
            built = self._null_space()
        finally:
            work[:] = now
        if not np.isfinite(here).all() or here.shape[1] <= built.shape[1]:
            return ()
        added = np.linalg.svd(here - built @ (built.T @ here), full_matrices=False)[0][:, 0]
        share = {int(o): float(np.abs(added[self.owners == o]).max()) for o in np.unique(self.owners)}
        counted = [o for o in share if share[o] > PART * max(share.values())]
        return tuple(self.elements[o] for o in sorted(counted, key=lambda o: -share[o]))

    def _null_space(self) -> FloatArray:
        """(rows, k): of J^T, where the bodies are."""
        J = self._jacobian().toarray()
        if not np.isfinite(J).all():
            return np.zeros((len(J), 0))
        U, s, _ = np.linalg.svd(J)
        return U[:, int((s > NEARLY * s.max(initial=0.0)).sum()) :]

    def _told(self, found: list[Dispute], J: csr_matrix, per: str) -> list[Contradiction]:
        return [
            Contradiction(tuple(self.elements[o] for o in one.owners), one.off, self._unit(J, one.row, per)) for one in found
        ]

    def _unit(self, J: csr_matrix, row: int, per: str) -> str:
        element = self.elements[self.owners[row]] if row < len(self.owners) else ""
        if _is_of_user(element):
            return ""
        entries = np.abs(np.asarray(J[[row]].todense()).ravel())
        for body, start in self.first.items():
            kind = self.model.bodies.kinds[body]
            along = entries[start : start + kind.nv].copy()
            along[kind.turning] = 0.0
            if along.max(initial=0.0) > 1e-9 * entries.max():
                return f"m{per}"
        return f"rad{per}"

    # -- places --------------------------------------------------------------------------------------------------------
    def _jacobian(self) -> csr_matrix:
        """(rows, velocities of the tree's bodies), sparse."""
        from scipy.sparse import csr_matrix

        rows, columns, values, row = [], [], [], 0
        for k in self.nodes:
            node = self.model.nodes[k]
            self.system.integrator.run(self.system.work, self.system.schedules.jacobian(k))
            widths = [kind.nv if kind else 0 for kind in node.kind.kinds]
            blocks = blocks_of(self.system.work[self.model.scratch :], node.kind.size, widths)
            for body, block in zip(node.ends, blocks, strict=True):
                if body != GROUND:
                    i, j = np.indices(block.shape)
                    rows.append((row + i).ravel())
                    columns.append((self.first[body] + j).ravel())
                    values.append(block.ravel().copy())
            row += node.kind.size
        index = np.concatenate(rows), np.concatenate(columns)
        return csr_matrix((np.concatenate(values), index), shape=(row, self.width))[self.held]

    def _on_constraints(self) -> csr_matrix:
        """J at a nearby place where the constraints hold as well as they can: Levenberg's method, whose damping falls with the
        square of the residual, so that it converges quadratically though rows depend on each other there (Yamashita and
        Fukushima, 2001). Reports are those of that place. Large systems stay where they are."""
        system = self.system
        J, C = self._linearised()
        if len(self.held) > DENSE or system.options.first_order:
            return J
        damping = 1.0  # in units of the residual's square
        for _ in range(ROUNDS):
            size = float(C @ C)
            if not MET**2 < size < np.inf or np.abs(J.T @ C).max() < MET * np.sqrt(size):
                break
            U, s, Vt = np.linalg.svd(np.where(self.placed[:, None], J.toarray(), 0.0), full_matrices=False)
            if not s[0] > 0.0:
                break
            before = system.work.copy()
            self._displace(-Vt.T @ (s / (s * s + damping * size) * (U.T @ C)))
            nearer = self._linearised()
            if nearer[1] @ nearer[1] < size:
                (J, C), damping = nearer, 0.3 * damping
            else:
                system.work[:], damping = before, 8 * damping
        return J

    def _linearised(self) -> tuple[csr_matrix, FloatArray]:
        """J and what position rows are off by; reports are up to date."""
        self.system.integrator.run(self.system.work, self.system.schedules.check())
        return self._jacobian(), np.where(self.placed, self.system.work[self.report], 0.0)

    def _displace(self, step: FloatArray) -> None:
        system, m = self.system, self.model
        for body in range(len(m.bodies.kinds)):
            own = self.first.get(body)
            where = m.field_of_body(body, "x")
            system.work[where] = 0.0 if own is None else step[own : own + where.stop - where.start]
        system.integrator.run(system.work, system.schedules.body(BodyKernel.CORRECT_POSITION, BodyKernel.NORMALISE))

    def _of_bodies(self, name: str) -> FloatArray:
        return np.concatenate([self.system.work[self.model.field_of_body(b, name)] for b in self.bodies])

    # -- what is closed ------------------------------------------------------------------------------------------------
    def _stopped(self, J: csr_matrix, forcing: FloatArray, tolerance: float) -> list[Contradiction]:
        """Limits, ropes and contacts that were closed in the last step, and that prescribed motion closes further."""
        touching = self.system.contact
        if touching is None or not forcing.any() or len(forcing) > DENSE:
            return []
        from scipy.sparse import csr_matrix, vstack

        from linkwork.contact.rows import BODY_A, BODY_B, GAP

        whole = J.toarray()
        moved = np.linalg.lstsq(whole, -forcing, rcond=1e-9)[0]
        worst: tuple[float, FloatArray, int, Any] = (tolerance, forcing, 0, None)
        for rows, m in touching.steps():
            for k in range(m):
                row = self._row(touching, (rows.labels[k, BODY_A], rows.Ja[k, 0]), (rows.labels[k, BODY_B], rows.Jb[k, 0]))
                if not rows.numbers[k, GAP] <= CLOSED or row is None:
                    continue
                share = np.linalg.lstsq(whole.T, row, rcond=1e-9)[0]
                closing = -float(row @ moved)
                if closing > worst[0] and np.abs(whole.T @ share - row).max() < 1e-6 * np.abs(row).max():
                    worst = closing, row, k, rows
        if worst[3] is None:
            return []
        _, row, k, closed = worst
        self.elements.append(self._whose(touching, closed, k))
        system = RowSystem(vstack([J, csr_matrix(row[None])]).tocsr(), np.append(forcing, 0.0),
                       np.append(self.owners, len(self.elements) - 1))  # fmt: skip
        return self._told(disputes(system, tolerance, most=1), system.jacobian, "/s")

    def _row(self, touching: ContactSystem, *ends: tuple[int, FloatArray]) -> FloatArray | None:
        """The rate of a gap by the velocities of this tree's bodies; None where others, or points of bodies, move it, too."""
        from linkwork.contact.delassus import PART

        row = np.zeros(self.width)
        for body, J in ends:
            if body == GROUND or not J.any():
                continue
            if body not in self.first:
                return None
            parts = touching.inverse_mass.bodies[body, PART : PART + 6]
            for part, value in zip(parts.tolist(), J.tolist(), strict=True):
                if part >= 0:
                    row[self.first[body] + part] += value
        return row if row.any() else None

    def _whose(self, touching: ContactSystem, rows: Rows, k: int) -> Element | str:
        from linkwork.contact.rows import COLLIDER_A, COLLIDER_B

        a, b = int(rows.labels[k, COLLIDER_A]), int(rows.labels[k, COLLIDER_B])
        if a >= len(touching.names):
            return touching.stops[a - len(touching.names)].element
        return f"the contact of {checks.label(touching.names[a])} with {checks.label(touching.names[b])}"
