"""M, J, A = J M^-1 J^T and H of a linkwork model, and its linear-time elimination taken apart: assembly, factor, solve.

A `System` is assembled once. `assemble`, `factor_and_forward`, `forward` and `backward` are the sweeps of the solver
"fronts" (body, then joint: the paper's order), each as one table of operations, so that each can be timed alone.
"""

from functools import cached_property

import numpy as np
from scipy import sparse

import linkwork as lw
from linkwork.codegen.jit import sweep
from linkwork.engines.maximal.tree import TreeWithoutLimbs

ELIMINATION = ("front|", "piece|", "zero|")  # kernel keys: everything else of an upward sweep is assembly


class Fronts(TreeWithoutLimbs):
    """The sweeps of "fronts", its blocks within reach."""

    def part_of_up(self, *, elimination):
        """Operations of the upward sweep that are elimination, or those that are not, in their order."""
        operations = self.up("velocity")
        chosen = [self.kernels[row[0]].key.startswith(ELIMINATION) == elimination for row in operations]
        return np.ascontiguousarray(operations[np.array(chosen, dtype=bool)])

    def layout(self):
        """(vertices in the order of elimination, first row of each vertex in H with bodies before constraints)."""
        sizes = [self._dim(v) for v in range(len(self.model.bodies.kinds) + len(self.model.nodes))]
        return list(self.model.later), np.concatenate([[0], np.cumsum(sizes)]).astype(int)

    def entries(self, work):
        """Every assembled block as (vertex, other, array); vertex = other on the diagonal, else eliminated first."""
        for vertex, others in self.model.later.items():
            d, at = self._dim(vertex), self._front_at(vertex)
            lower = np.zeros((d, d))
            lower[np.tril_indices(d)] = work[at : at + d * (d + 1) // 2]
            yield vertex, vertex, lower + np.tril(lower, -1).T
            slot = self.model.slot_at[vertex]
            for other in others:
                m = self._dim(other)
                yield vertex, other, work[slot : slot + d * m].reshape(d, m)
                slot += d * m

    def places(self, field):
        """Entries of the workspace that hold `b` or `x` of all vertices, bodies before constraints."""
        m = self.model
        slices = [m.field_of_body(k, field) for k in range(len(m.bodies.kinds))]
        slices += [m.field_of_node(k, field) for k in range(len(m.nodes))]
        return np.concatenate([np.arange(s.start, s.stop) for s in slices])

    def stored(self):
        """Numbers that the factors hold: a triangle for each vertex, and its blocks to later neighbours."""
        m = self.model
        return sum(self._dim(v) * (self._dim(v) + 1) // 2 + self._dim(v) * sum(self._dim(o) for o in others)
                   for v, others in m.later.items())  # fmt: skip


class System:
    """M v' = F + J^T lambda, J v' + c = 0 for a world as built."""

    def __init__(self, world):
        self.sim = lw.Simulation(world, solver="fronts")
        model = self.sim.model
        self.programs = p = Fronts(model)
        self.mass_operations = p.body("place", "kick")
        self.row_operations = p.part_of_up(elimination=False)
        self.factor_operations = p.part_of_up(elimination=True)
        self.forward_operations, self.backward_operations = p.forward(), p.backward()
        self.velocities, self.rows = model.velocities, model.rows
        self.work = self.sim.work.copy()
        self.run(self.mass_operations, self.row_operations)
        self.assembled = self.work.copy()
        self._b, self._x = p.places("b"), p.places("x")

    def run(self, *operations):
        for part in operations:
            sweep(self.work, self.programs.table, part)

    @cached_property
    def _permutation_and_H(self):
        order, first = self.programs.layout()
        rows, columns, values = [], [], []
        for vertex, other, block in self.programs.entries(self.assembled):
            i, j = np.nonzero(block)
            pairs = [(i + first[vertex], j + first[other])]
            pairs += [] if vertex == other else [pairs[0][::-1]]
            for r, c in pairs:
                rows.append(r)
                columns.append(c)
                values.append(block[i, j])
        size = first[-1]
        index = (np.concatenate(rows), np.concatenate(columns))
        H = sparse.coo_matrix((np.concatenate(values), index), shape=(size, size)).tocsc()
        return np.concatenate([np.arange(first[v], first[v + 1]) for v in order]), H

    @property
    def H(self):
        """[[M, J^T], [J, 0]], sparse; bodies before constraints."""
        return self._permutation_and_H[1]

    @property
    def order(self):
        """Rows of H in the order of elimination."""
        return self._permutation_and_H[0]

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
        return [kind.nv for kind in self.sim.model.bodies.kinds]

    @property
    def row_sizes(self):
        return [node.kind.size for node in self.sim.model.nodes]

    def set_right_side(self, right):
        """Put the assembled blocks back, and this right-hand side (bodies before constraints) beside them."""
        self.work[:] = self.assembled
        self.work[self._b] = right

    def multipliers(self, b):
        """lambda of A lambda = b, by H x = (0, -b) (baraff96 eq. 8)."""
        return self.solution(np.concatenate([np.zeros(self.velocities), -np.asarray(b)]))[self.velocities :]

    def solution(self, right):
        """x of H x = right."""
        self.set_right_side(right)
        self.run(self.factor_operations, self.backward_operations)
        return self.work[self._x]


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
