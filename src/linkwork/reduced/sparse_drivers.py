"""Loops over matrices and rows behind `sparse`: featherstone05, section 2 and appendix. All return or change arrays in place.

H, L (k, n, n) and D (k, n) in double precision, contiguous; only the numbers of the lower triangle that the parent array
allows are read or written. Vectors are the rows of x (k, m, n): m right-hand sides for each of k matrices, or for the one.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import heed, jit, jit_inline, sweep

DONE = -1  # else: number of the matrix * n + the row whose pivot is not positive
PACKED_RUN = 8  # rows that are eliminated at once in packed rows


@jit
def ltdl_by_rows(parents, H, L, D):
    """The algorithm of the appendix, but that what is taken off an entry is summed first: rounded once at the entry's size."""
    n = H.shape[1]
    taken = np.zeros((n, n))
    for b in range(H.shape[0]):
        A = L[b]
        for k in range(n - 1, -1, -1):
            j = k
            while j >= 0:
                A[k, j] = H[b, k, j] - taken[k, j]
                taken[k, j] = 0.0
                j = parents[j]
            pivot = A[k, k]
            D[b, k] = pivot
            if not (0 < pivot < np.inf):
                return b * n + k
            i = parents[k]
            while i >= 0:
                a = A[k, i] / pivot
                j = i
                while j >= 0:
                    taken[i, j] += A[k, j] * a
                    j = parents[j]
                A[k, i] = a
                i = parents[i]
            A[k, k] = 1.0
    return DONE


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
        heed(above * above)
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


@jit
def scale_rows(first, ancestors, L, D):
    """L of H = L^T D L becomes L of H = L^T L."""
    for b in range(L.shape[0]):
        for i in range(L.shape[1]):
            root = math.sqrt(D[b, i])
            L[b, i, i] = root
            for e in range(first[i], first[i + 1]):
                L[b, i, ancestors[e]] *= root


@jit
def mul_L(first, ancestors, L, x):
    """x = L x."""
    for b in range(x.shape[0]):
        A = L[b]
        for c in range(x.shape[1]):
            y = x[b, c]
            for i in range(len(y) - 1, -1, -1):
                total = A[i, i] * y[i]
                for e in range(first[i], first[i + 1]):
                    total += A[i, ancestors[e]] * y[ancestors[e]]
                y[i] = total


@jit
def mul_LT(first, ancestors, L, x):
    """x = L^T x, in place too: a row has done its part before it is changed by those below."""
    for b in range(x.shape[0]):
        A = L[b]
        for c in range(x.shape[1]):
            y = x[b, c]
            for i in range(len(y)):
                t = y[i]
                y[i] = A[i, i] * t
                for e in range(first[i], first[i + 1]):
                    y[ancestors[e]] += A[i, ancestors[e]] * t


@jit
def solve_L(first, ancestors, L, x):
    """x = L^-1 x."""
    for b in range(x.shape[0]):
        A = L[b]
        for c in range(x.shape[1]):
            y = x[b, c]
            for i in range(len(y)):
                total = y[i]
                for e in range(first[i], first[i + 1]):
                    total -= A[i, ancestors[e]] * y[ancestors[e]]
                y[i] = total if A[i, i] == 1 else total / A[i, i]  # the next row would wait for a division


@jit
def solve_LT(first, ancestors, L, x):
    """x = L^-T x."""
    for b in range(x.shape[0]):
        A = L[b]
        for c in range(x.shape[1]):
            y = x[b, c]
            for i in range(len(y) - 1, -1, -1):
                t = y[i] if A[i, i] == 1 else y[i] / A[i, i]
                y[i] = t
                for e in range(first[i], first[i + 1]):
                    y[ancestors[e]] -= A[i, ancestors[e]] * t


@jit
def solve(first, ancestors, L, D, x):
    """x = (L^T D L)^-1 x."""
    solve_LT(first, ancestors, L, x)
    for b in range(x.shape[0]):
        for c in range(x.shape[1]):
            for i in range(x.shape[2]):
                x[b, c, i] /= D[b, i]
    solve_L(first, ancestors, L, x)


@jit
def inverse(first, ancestors, L, D, out):
    """Y = (L^T D L)^-1 row by row: L Y = D^-1 L^-T, and the right-hand side is upper triangular."""
    for b in range(L.shape[0]):
        A, Y = L[b], out[b]
        for i in range(L.shape[1]):
            for j in range(i):
                Y[i, j] = 0.0
            for e in range(first[i], first[i + 1]):
                p, a = ancestors[e], A[i, ancestors[e]] / A[i, i]
                for j in range(i):
                    Y[i, j] -= a * Y[p, j]
            diagonal = 1 / (D[b, i] * A[i, i] * A[i, i])
            for e in range(first[i], first[i + 1]):
                diagonal -= A[i, ancestors[e]] / A[i, i] * Y[i, ancestors[e]]
            Y[i, i] = diagonal
            for j in range(i):
                Y[j, i] = Y[i, j]
