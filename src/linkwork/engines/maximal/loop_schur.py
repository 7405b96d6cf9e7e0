"""`anticipation`: a tree by elimination, what closes its loops by response (baraff96 section 8). O(n k) + O(k^3) for k rows.

With the tree's matrix H and the auxiliary rows Ja, whose forces are along K (their own Ja^T unless they name another):

    W = Ja H^-1 K                      what each auxiliary row feels of a unit force along another (loop_responses.py); rotors
                                       add the inverse of their inertia on its diagonal
    y = -W^-1 (b - Ja H^-1 r)          minus their multipliers, by LAPACK
    x = H^-1 (r - K y)                 one more solve

The sweeps are those of `fronts` on the tree alone. Where others would end their way up, this one goes down for H^-1 r, finds y,
and goes up once more with -K y, which is added to what the first way up has left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.codegen.jit import jit
from linkwork.engines.maximal.loop_responses import LANES, Responses
from linkwork.engines.maximal.python_routines import WithRoutines
from linkwork.kernels.node_kernels import node_pulls_kernel
from linkwork.kernels.vocabulary import Iteration, RowMode, Sweep
from linkwork.model.graph import GROUND
from linkwork.model.model import Model
from linkwork.schedules.operations import AFTER, FIRST, LAST, OperationList

# A W that is not symmetric, and whose reciprocal condition is below REGULAR, is solved by singular values. Those below NONE
# times the largest count as zero. Where a row has more than LOST of what W cannot give, its force cannot hold it.
REGULAR, NONE, LOST = 1e-9, 1e-13, 1e-6


class Anticipation(WithRoutines):
    name, joint_pivots = "anticipation", False
    outside = ("divide",)

    @classmethod
    def layout(cls, tangent: str, iterations: int) -> dict:
        return {"limbs": False, "responses": LANES}

    def __init__(self, model: Model):
        super().__init__(model)
        self.factored, self.solved, self.added = self._add_routines(self._factor, self._solve, self._add_kept)
        self.responses = Responses(self, self.pull_slot) if model.auxiliary else None
        vertices = [vertex for _, vertex in self.fronts]
        self.b_at = np.concatenate([self._front_at(v) + self._b(v) + np.arange(self._dim(v)) for v in vertices])
        self.kept = np.zeros(len(self.b_at))
        self.divide: Callable[[np.ndarray], np.ndarray] | None = None  # by W, as it was factored last

    def finish(self, name: str, ops: OperationList) -> OperationList:
        """What comes after the way up."""
        if self.responses is None or not name.startswith(("up", "forward")):
            return ops
        n = len(self.fronts)
        for sweep, turn in ((Sweep.BACKWARD, 0), (Sweep.FORWARD, LAST)):
            rows, positions = self._front_table(sweep)
            ops.add_rows(AFTER + n + (2 + positions if sweep == Sweep.FORWARD else -positions), turn, rows)
        ops.add(AFTER + n + 1, 0, self.factored if name.startswith("up") else self.solved)
        ops.add(AFTER + 2 * n + 3, 0, self.added)
        return ops

    def _add_assembly(self, ops: OperationList, mode: RowMode | Iteration) -> None:
        super()._add_assembly(ops, mode)
        n = len(self.model.bodies.kinds)
        for number, node in enumerate(self.model.nodes):
            if node.kind.force_directed:
                slots = [0 if body == GROUND else self.pull_slot(n + number, body) for body in node.ends]
                kernel, offsets = node_pulls_kernel(node.kind), self._node_offsets(number)
                self._add_wide(ops, self.node_asked[number], FIRST + 1, kernel, *offsets, *slots)

    def pull_slot(self, vertex: int, body: int) -> int:
        """Where K of an auxiliary vertex is, transposed: behind all its blocks of J, if it is not J itself."""
        blocks = self._dim(vertex) * sum(self._dim(other) for other in self.model.later[vertex])
        return self._slot(vertex, body) + blocks * self.model.nodes[vertex - len(self.model.bodies.kinds)].kind.force_directed

    def _b(self, vertex: int) -> int:
        """From a front to its right-hand side."""
        d = self._dim(vertex)
        return d * (d + 1) // 2

    def _factor(self, work: np.ndarray) -> None:
        assert self.responses is not None
        r = self.responses
        self.divide = divider(lambda: r.matrix(work), r.named)
        self._solve(work)

    def _solve(self, work: np.ndarray) -> None:
        r = self.responses
        assert r is not None and self.divide is not None
        left = work[r.b_at]
        _take(left, work, r.row, r.J_at, r.column_x)
        y = -self.divide(left)
        work[r.x_at] = y
        self.kept[:] = work[self.b_at]
        work[self.b_at] = 0.0
        _put(work, r.column_b, r.K_at, y, r.row)

    def _add_kept(self, work: np.ndarray) -> None:
        work[self.b_at] += self.kept


@jit
def _take(left, work, row, J_at, column_x):
    """left -= Ja x, entry by entry."""
    for k in range(len(row)):
        left[row[k]] -= work[J_at[k]] * work[column_x[k]]


@jit
def _put(work, column_b, K_at, y, row):
    """b -= K y, entry by entry."""
    for k in range(len(row)):
        work[column_b[k]] -= work[K_at[k]] * y[row[k]]


def divider(make: Callable[[], np.ndarray], named: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The function that divides by W (k, k), which `make` gives and which is written over. Without rows that name their forces
    (named, (k,) bool) W is symmetric, and its lower triangle is enough. By factors if it has any, else so that the result is
    the shortest; where a named force cannot hold its row it is not a number."""
    from scipy.linalg import lapack  # a fifth of a second that other solvers need not wait for

    if named.any():
        W = make()
        norm = np.abs(W).sum(axis=0).max()
        factors, pivots, failed = lapack.dgetrf(W, overwrite_a=1)
        if not failed and lapack.dgecon(factors, norm)[0] > REGULAR:
            return lambda rows: lapack.dgetrs(factors, pivots, rows)[0]
    else:
        factors, failed = lapack.dpotrf(make(), lower=1, clean=0, overwrite_a=1)
        if not failed:
            return lambda rows: lapack.dpotrs(factors, rows, lower=1)[0]
    W = make()
    W = W if named.any() else np.tril(W) + np.tril(W, -1).T
    if not np.isfinite(W).all():
        return lambda rows: np.full_like(rows, np.nan)
    U, values, V = np.linalg.svd(W)
    kept = values > NONE * values[0]
    lost = named & ((U[:, ~kept] ** 2).sum(axis=1) > LOST)
    inverse = (V[kept].T / values[kept]) @ U[:, kept].T
    inverse[lost] = np.nan
    return lambda rows: inverse @ rows
