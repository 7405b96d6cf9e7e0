"""Loops over packed rows behind `sparse` and `packed`: featherstone05's elimination where each row's numbers lie side by side.

Arrays are those of `sparse_drivers`. Packed row i lies in `[first[i]:first[i + 1]]`: ancestors from the root on, then i.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import check_interrupt, jit, jit_inline
from linkwork.reduced.sparse_drivers import DONE

PACKED_RUN = 8  # rows that are eliminated at once in packed rows


@jit_inline
def _carry(parents, first, matrix, work, back):
    """The numbers of a matrix (n, n) that the parent array allows, into packed rows, or `back` into the matrix."""
    for i in range(len(parents)):
        row, e, j = matrix[i], first[i + 1] - 1, i
        while j >= 0:
            if back:
                row[j] = work[e]
            else:
                work[e] = row[j]
            e -= 1
            j = parents[j]


@jit_inline
def _add_rows(total, work, at, factors, count):
    """total += the sum over k < count of factors[k] times the numbers of `work` from at[k] on; four of them for each time that
    a total is loaded and stored."""
    n, k = len(total), 0
    while k + 4 <= count:
        a, b, c, d = at[k], at[k + 1], at[k + 2], at[k + 3]
        A, B, C, D = work[a : a + n], work[b : b + n], work[c : c + n], work[d : d + n]
        p, q, r, s = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        for j in range(n):
            total[j] += (A[j] * p + B[j] * q) + (C[j] * r + D[j] * s)
        k += 4
    while k < count:
        A, p = work[at[k] : at[k] + n], factors[k]
        for j in range(n):
            total[j] += A[j] * p
        k += 1


@jit
def eliminate_packed(parents, first, runs, rows, work, taken, D):
    """L and D of one matrix in packed rows, in its place; `taken` (as long as `work`) must be zero, and is zero afterwards.

    Row i lies in work[first[i]:first[i + 1]], its ancestors from the root on, then itself: what an ancestor has is the
    beginning of what i has, so that the innermost loop is one over neighbours. A run (`rows[runs[r]:runs[r + 1]]`, each the
    parent of the next) is eliminated at once. What is taken off an entry is summed first, as row by row.
    """
    at, factors = np.empty(PACKED_RUN, np.int64), np.empty(PACKED_RUN)
    for r in range(len(runs) - 2, -1, -1):
        run = rows[runs[r] : runs[r + 1]]
        count, above = len(run), first[run[0] + 1] - first[run[0]] - 1
        check_interrupt(above * above)
        for k in range(count - 1, -1, -1):
            begin, own = first[run[k]], above + k
            at[k] = begin
            row, less = work[begin : begin + own + 1], taken[begin : begin + own + 1]
            for j in range(own + 1):
                row[j] -= less[j]
                less[j] = 0.0
            pivot = row[own]
            D[run[k]] = pivot
            if not (0 < pivot < np.inf):
                return run[k]
            for h in range(k - 1, -1, -1):
                a, n = row[above + h] / pivot, above + h + 1
                total = taken[first[run[h]] : first[run[h]] + n]
                for j in range(n):
                    total[j] += row[j] * a
                row[above + h] = a
            row[own] = 1.0
        p, i = above - 1, parents[run[0]]
        while i >= 0:
            for k in range(count):
                factors[k] = work[at[k] + p] / D[run[k]]
            _add_rows(taken[first[i] : first[i] + p + 1], work, at, factors, count)
            for k in range(count):
                work[at[k] + p] = factors[k]
            p -= 1
            i = parents[i]
    return DONE


@jit
def ltdl_packed(parents, first, runs, rows, H, L, D):
    """Packed rows, one matrix after another."""
    n = len(parents)
    work, taken = np.empty(first[n]), np.zeros(first[n])
    for b in range(H.shape[0]):
        _carry(parents, first, H[b], work, False)
        bad = eliminate_packed(parents, first, runs, rows, work, taken, D[b])
        if bad != DONE:
            return b * n + bad
        _carry(parents, first, L[b], work, True)
    return DONE


@jit
def substitute_packed(parents, first, L, D, x):
    """x = (L^T D L)^-1 x with L in packed rows; x (n,)."""
    n = len(parents)
    for i in range(n - 1, -1, -1):
        e, j = first[i + 1] - 2, parents[i]
        while j >= 0:
            x[j] -= L[e] * x[i]
            e -= 1
            j = parents[j]
    for i in range(n):
        x[i] /= D[i]
        e, j = first[i + 1] - 2, parents[i]
        while j >= 0:
            x[i] -= L[e] * x[j]
            e -= 1
            j = parents[j]


@jit
def pack_all(parents, first, H, numbers):
    """Matrices (k, n, n) into packed rows (k, numbers)."""
    for b in range(H.shape[0]):
        _carry(parents, first, H[b], numbers[b], False)


@jit
def unpack_all(parents, first, numbers, H):
    """And back, the lower triangle."""
    for b in range(H.shape[0]):
        _carry(parents, first, H[b], numbers[b], True)


@jit
def factor_packed(parents, first, runs, rows, L, D):
    """L (k, numbers) in packed rows and D (k, n), in the place of H."""
    taken = np.zeros(first[len(parents)])
    for b in range(L.shape[0]):
        bad = eliminate_packed(parents, first, runs, rows, L[b], taken, D[b])
        if bad != DONE:
            return b * len(parents) + bad
    return DONE


@jit
def substitute_all(parents, first, L, D, x):
    """x (k, m, n): m right-hand sides for each matrix."""
    for b in range(x.shape[0]):
        for c in range(x.shape[1]):
            substitute_packed(parents, first, L[b], D[b], x[b, c])


@jit
def solve_packed(parents, first, runs, rows, H, x, D):
    """x = H^-1 x, one after another; H (k, n, n), x and D (k, n)."""
    n = len(parents)
    work, taken = np.empty(first[n]), np.zeros(first[n])
    for b in range(H.shape[0]):
        _carry(parents, first, H[b], work, False)
        bad = eliminate_packed(parents, first, runs, rows, work, taken, D[b])
        if bad != DONE:
            return b * n + bad
        substitute_packed(parents, first, work, D[b], x[b])
    return DONE
