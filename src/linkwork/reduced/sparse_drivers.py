"""Loops over matrices and rows behind `sparse`: featherstone05, section 2 and appendix. All return or change arrays in place.

H, L (k, n, n) and D (k, n) in double precision, contiguous; only the numbers of the lower triangle that the parent array
allows are read or written. Vectors are the rows of x (k, m, n): m right-hand sides for each of k matrices, or for the one.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit

DONE = -1  # else: number of the matrix * n + the row whose pivot is not positive


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
