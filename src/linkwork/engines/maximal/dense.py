"""`dense`: the obvious reference. All of H = [[M, J^T], [J, 0]] as one matrix, by LAPACK's LU. O(n^3)."""

from __future__ import annotations

from functools import partial

import numpy as np

from linkwork.codegen.waiting import interruptible
from linkwork.engines.maximal.python_routines import WithRoutines
from linkwork.model.model import Model
from linkwork.schedules.front_ops import Fronts
from linkwork.schedules.operations import AFTER

SECONDS = 1500  # rows of a matrix from which on LAPACK may take so long that somebody loses patience


class Dense(WithRoutines):
    """The same assembly as `tree`, with one operation in the place of the elimination."""

    name, joint_pivots = "dense", False
    outside = ("factors",)

    @classmethod
    def layout(cls, tangent: str, iterations: int) -> dict:
        return super().layout(tangent, iterations) | {"whole": True}

    def __init__(self, model: Model):
        super().__init__(model)
        n = len(model.bodies.kinds)
        self.vertices = list(range(n + len(model.nodes)))
        sizes = [self._dim(vertex) for vertex in self.vertices]
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.b_at = np.concatenate([self._front_at(v) + d * (d + 1) // 2 + np.arange(d)
                                    for v, d in zip(self.vertices, sizes, strict=True)])  # fmt: skip
        self.x_at = np.concatenate([self._front_at(v) + d * (d + 1) // 2 + d + np.arange(d)
                                    for v, d in zip(self.vertices, sizes, strict=True)])  # fmt: skip
        self.factored, self.solved = self._add_routines(self._factor, self._solve)
        self.factors = None

    def matrix(self, work: np.ndarray) -> np.ndarray:
        """H from the assembled blocks."""
        H = np.zeros((self.first[-1], self.first[-1]))
        for vertex in self.vertices:
            d, at, rows = self._dim(vertex), self._front_at(vertex), self._rows(vertex)
            D = np.zeros((d, d))
            D[np.tril_indices(d)] = work[at : at + d * (d + 1) // 2]
            H[rows, rows] = D + np.tril(D, -1).T
            for other in self.model.later[vertex]:
                m, slot, columns = self._dim(other), self._slot(vertex, other), self._rows(other)
                H[rows, columns] = work[slot : slot + d * m].reshape(d, m)
                H[columns, rows] = H[rows, columns].T
        return H

    def _rows(self, vertex: int) -> slice:
        return slice(self.first[vertex], self.first[vertex + 1])

    def _factor(self, work: np.ndarray) -> None:
        from scipy.linalg import lu_factor  # a fifth of a second that other solvers need not wait for

        matrix = self.matrix(work)
        factored = partial(lu_factor, matrix, check_finite=False)
        self.factors = interruptible(factored, leave=True) if len(matrix) > SECONDS else factored()
        self._solve(work)

    def _solve(self, work: np.ndarray) -> None:
        from scipy.linalg import lu_solve

        work[self.x_at] = lu_solve(self.factors, work[self.b_at], check_finite=False)

    def finish(self, name, ops):
        """Where elimination would end, one operation solves."""
        if name.startswith(("up", "forward")):
            ops.add(AFTER, 0, self.factored if name.startswith("up") else self.solved)
        return ops

    def _swept(self):
        return Fronts(self.model, [], {})
