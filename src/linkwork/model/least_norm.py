"""How redundant constraints share what they hold: multipliers of least norm, and which rows are not determined at all.

The forces J^T y fix y up to the null space of J^T. Of all y the one in the range of J is the shortest: rows count in N and
N m alike, so a torque row weighs as a force row with an arm of one metre.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.model.graph import GROUND
from linkwork.model.model import Model

SMALL = 2000  # rows up to which the null space is found by dense algebra
NONE = 1e-9  # of the largest singular value: what counts as zero
FREE = 1e-6  # the share of a row in the null space from which on it is not determined


class LeastNorm:
    """The rows of all soft nodes at one configuration. `blocks(k)`: the derivatives of node k by its two bodies."""

    def __init__(self, model: Model, blocks: Callable[[int], list[np.ndarray]]):
        self.nodes = sorted(model.soft)
        sizes = [model.nodes[k].kind.size for k in self.nodes]
        held = [
            k not in model.nodes[node].kind.rotors for node, size in zip(self.nodes, sizes, strict=True) for k in range(size)
        ]
        self._held = np.flatnonzero(held)  # rotors know what turns them
        self.entries, self.rights = (  # of the multipliers, and of the rows' right-hand sides
            np.concatenate([np.arange(*_ends(model.field_of_node(k, name))) for k in self.nodes])[self._held] for name in "xb"
        )
        self.jacobian = _stacked(model, self.nodes, blocks)[self._held]
        self._rows = sum(sizes)
        self._first = dict(zip(self.nodes, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        if self.jacobian.shape[0] <= SMALL:
            U, values, _ = np.linalg.svd(self.jacobian.toarray(), full_matrices=False)
            self._range = U[:, values > NONE * values[0]]

    def shortest(self, multipliers: np.ndarray) -> np.ndarray:
        """The multipliers of least norm that give the same forces."""
        if self.jacobian.shape[0] <= SMALL:
            return self._range @ (self._range.T @ multipliers)
        from scipy.sparse.linalg import lsmr

        return self.jacobian @ lsmr(self.jacobian, multipliers, atol=1e-14, btol=1e-14, maxiter=20 * len(multipliers))[0]

    def determined(self, node: int, rows: slice) -> bool:
        """Whether the forces fix the multipliers of these rows of a node."""
        if node not in self._first:
            return True
        first = self._first[node]
        return bool(self._free[first + rows.start : first + rows.stop].max(initial=0.0) < FREE)

    @property
    def _free(self) -> np.ndarray:
        """The share of each row in the null space: exact where it is small, else of one vector that has no reason to miss
        any row."""
        found = np.zeros(self._rows)
        if self.jacobian.shape[0] <= SMALL:
            found[self._held] = 1.0 - np.einsum("ij,ij->i", self._range, self._range)
        else:
            probe = np.random.default_rng(0).normal(size=self.jacobian.shape[0])
            found[self._held] = np.abs(probe - self.shortest(probe))
        return found


def _ends(where: slice) -> tuple[int, int]:
    return where.start, where.stop


def _stacked(model: Model, nodes: list[int], blocks):
    """The derivatives of the nodes' rows by the velocities of all bodies, sparse."""
    from scipy.sparse import csr_matrix

    first = np.cumsum([0, *(kind.nv for kind in model.bodies.kinds)])
    rows, columns, values, row = [], [], [], 0
    for k in nodes:
        m = model.nodes[k].kind.size
        for body, block in zip(model.nodes[k].ends, blocks(k), strict=True):
            if body != GROUND:
                i, j = np.indices(block.shape)
                rows.append((row + i).ravel())
                columns.append((first[body] + j).ravel())
                values.append(block.ravel().copy())
        row += m
    return csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(row, int(first[-1])))
