"""Loops behind `sparse` over matrices that kernels of `tiles` eliminate: one by one, or four side by side.

Arrays are those of `sparse_drivers`, matrices as (k, n n).
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.reduced.sparse_drivers import DONE


@jit
def _last_bad(D):
    """The last pivot that is not positive: the first that elimination came upon."""
    fine = True
    for i in range(len(D)):
        fine &= (0 < D[i]) & (D[i] < np.inf)
    if not fine:
        for i in range(len(D) - 1, -1, -1):
            if not (0 < D[i] < np.inf):
                return i
    return DONE


@jit
def _ones(matrix, n):
    """On the diagonal of a matrix (n n,)."""
    place = np.uint64(0)
    for _ in range(n):
        matrix[place] = 1.0
        place += np.uint64(n + 1)


@jit
def ltdl_by_tiles(flat, pivots, table, operations, H, L, D):
    """One matrix after another; H and L as (k, n n)."""
    work = np.empty(len(flat))
    for b in range(H.shape[0]):
        matrix, factor, diagonal = H[b], L[b], D[b]
        for e in range(len(flat)):
            work[e] = matrix[flat[e]]
        sweep(work, table, operations)
        for e in range(len(flat)):
            factor[flat[e]] = work[e]
        for i in range(len(pivots)):
            diagonal[i] = work[pivots[i]]
        _ones(factor, len(pivots))
        bad = _last_bad(diagonal)
        if bad != DONE:
            return b * len(pivots) + bad
    return DONE


@jit
def ltdl_in_lanes(flat, pivots, table, operations, H, L, D):
    """Four matrices side by side; H and L as (k, n n), k a multiple of four."""
    work = np.empty((len(flat), 4))
    for b in range(0, H.shape[0], 4):
        H0, H1, H2, H3 = H[b], H[b + 1], H[b + 2], H[b + 3]
        for e in range(len(flat)):
            f, lanes = flat[e], work[e]
            lanes[0], lanes[1], lanes[2], lanes[3] = H0[f], H1[f], H2[f], H3[f]
        sweep(work.reshape(-1), table, operations)
        L0, L1, L2, L3 = L[b], L[b + 1], L[b + 2], L[b + 3]
        for e in range(len(flat)):
            f, lanes = flat[e], work[e]
            L0[f], L1[f], L2[f], L3[f] = lanes[0], lanes[1], lanes[2], lanes[3]
        for lane in range(4):
            diagonal = D[b + lane]
            for i in range(len(pivots)):
                diagonal[i] = work[pivots[i], lane]
            _ones(L[b + lane], len(pivots))
            bad = _last_bad(diagonal)
            if bad != DONE:
                return (b + lane) * len(pivots) + bad
    return DONE


@jit
def solve_by_tiles(flat, pivots, order, table, operations, H, x, D):
    """x = H^-1 x, one after another; H as (k, n n), x and D (k, n)."""
    m, n = len(flat), len(order)
    work = np.empty(m + n)
    behind = work[m:]
    for b in range(H.shape[0]):
        matrix, y, diagonal = H[b], x[b], D[b]
        for e in range(m):
            work[e] = matrix[flat[e]]
        for e in range(n):
            behind[e] = y[order[e]]
        sweep(work, table, operations)
        for e in range(n):
            y[order[e]] = behind[e]
        for i in range(n):
            diagonal[i] = work[pivots[i]]
        bad = _last_bad(diagonal)
        if bad != DONE:
            return b * n + bad
    return DONE


@jit
def solve_in_lanes(flat, pivots, order, table, operations, H, x, D):
    """The same with four side by side, k a multiple of four."""
    m, n = len(flat), len(order)
    work = np.empty((m + n, 4))
    behind = work[m:]
    for b in range(0, H.shape[0], 4):
        H0, H1, H2, H3 = H[b], H[b + 1], H[b + 2], H[b + 3]
        for e in range(m):
            f, lanes = flat[e], work[e]
            lanes[0], lanes[1], lanes[2], lanes[3] = H0[f], H1[f], H2[f], H3[f]
        for lane in range(4):
            for e in range(n):
                behind[e, lane] = x[b + lane, order[e]]
        sweep(work.reshape(-1), table, operations)
        for lane in range(4):
            diagonal = D[b + lane]
            for e in range(n):
                x[b + lane, order[e]] = behind[e, lane]
            for i in range(n):
                diagonal[i] = work[pivots[i], lane]
            bad = _last_bad(diagonal)
            if bad != DONE:
                return (b + lane) * n + bad
    return DONE
