"""M, J, A = J M^-1 J^T and H of a linkwork model, and its linear-time elimination taken apart: assembly, factor, solve.

A `System` is assembled once, from `sim.matrices` of the solver "fronts" (body, then joint: the order of the paper). The sweeps
of that solver are `stages`, so that each can be timed alone.
"""

from functools import cached_property

import numpy as np
from scipy import sparse

import linkwork as lw


class System:
    """M v' = F + J^T lambda, J v' + c = 0 for a world as built."""

    def __init__(self, world):
        self.sim = lw.Simulation(world, solver="fronts")
        self.matrices = m = self.sim.matrices
        self.velocities, self.rows = len(m.columns), len(m.rows)
        self.elimination, self.stages = m.elimination, m.stages

    @cached_property
    def H(self):
        """[[M, J^T], [J, 0]], sparse; bodies before constraints."""
        H = self.matrices.KKT.tocsc()
        H.eliminate_zeros()
        return H

    @property
    def order(self):
        """Rows of H in the order of elimination."""
        return self.elimination.order

    @property
    def M(self):
        return self.H[: self.velocities, : self.velocities]

    @property
    def J(self):
        return self.H[self.velocities :, : self.velocities]

    @cached_property
    def A(self):
        """J M^-1 J^T, sparse (baraff96 eq. 7)."""
        A = (self.J @ block_inverse(self.M, self.body_sizes) @ self.J.T).tocsc()
        A.sort_indices()
        return A

    @property
    def body_sizes(self):
        return [at.stop - at.start for at in self.matrices.bodies.values()]

    @property
    def row_sizes(self):
        return [at.stop - at.start for at in self.matrices.constraints.values()]

    def ends(self, constraint):
        """The bodies that a constraint acts on: those with blocks of J in its rows."""
        return ends(self.matrices, constraint)

    def set_right_side(self, right):
        """Put the assembled blocks back, and this right-hand side (bodies before constraints) beside them."""
        self.stages.reset(right[: self.velocities], right[self.velocities :])

    def multipliers(self, b):
        """lambda of A lambda = b, by H x = (0, -b) (baraff96 eq. 8)."""
        return self.solution(np.concatenate([np.zeros(self.velocities), -np.asarray(b)]))[self.velocities :]

    def solution(self, right):
        """x of H x = right."""
        self.set_right_side(right)
        self.stages.eliminate()
        self.stages.backward()
        return self.stages.solution


def ends(matrices, constraint):
    """The numbers of the bodies with blocks in the rows of a constraint."""
    columns = matrices.J[matrices.constraints[constraint]].indices
    return [k for k, at in enumerate(matrices.bodies.values()) if at.start in columns]


def block_inverse(M, sizes):
    """The inverse of a block-diagonal sparse matrix."""
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    blocks = np.zeros((len(sizes), max(sizes), max(sizes)))
    body = np.repeat(np.arange(len(sizes)), sizes)
    M = M.tocoo()
    blocks[body[M.row], M.row - first[body[M.row]], M.col - first[body[M.row]]] = M.data
    spare = np.arange(max(sizes)) >= np.asarray(sizes)[:, None]
    blocks[spare[:, :, None] & np.eye(max(sizes), dtype=bool)] = 1.0  # smaller blocks are filled up by an identity
    inverse = np.linalg.inv(blocks)
    return sparse.block_diag([inverse[k, :d, :d] for k, d in enumerate(sizes)], format="csr")
