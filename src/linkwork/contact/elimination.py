"""Small dense systems of equations, by elimination of four rows at a time."""

from __future__ import annotations

from linkwork.codegen.jit import jit, jit_inline
from linkwork.codegen.simd import add_multiples, inner_product

MOST = 24  # contacts
SIZE, ROW = 3 * MOST, 88  # unknowns; numbers of a row: whole vectors, and an odd number of cache lines
SINGULAR = 1e-14  # of the largest one: a pivot that counts as none
LEFT = 1e-3  # of its diagonal: if no more than that is left of it, another entry of a row becomes its pivot


@jit_inline
def padded(n):
    return (n + 7) & ~7


@jit
def eliminate(A, x, inverse, place, swapped, n):
    """x = A^-1 times the column behind it; whether A has an inverse. The pivot of a row is its diagonal, unless little is left
    of that: then columns change places. A: flat, rows of ROW numbers, which end with zeros up to `padded(n + 1)`. x, inverse,
    place, swapped: room for n and three more."""
    largest, width, some = 0.0, padded(n + 1), False
    for j in range(n):
        place[j] = j
    for begin in range(0, n, 4):
        end = min(begin + 4, n)
        for i in range(begin, end):
            x[i] = LEFT * abs(A[i * ROW + i])
            if some:  # columns have changed places
                for j in range(begin):
                    _swap(A, i, j, swapped[j])
        for k in range(0, begin, 4):
            for i in range(begin, end):  # which do not wait for each other
                _take_out(A, inverse, i, k, 4, width)
        for i in range(begin, end):
            _take_out(A, inverse, i, begin, i - begin, width)
            row, pivot = i * ROW, i
            if not abs(A[row + i]) > x[i]:
                for j in range(i + 1, n):
                    if abs(A[row + j]) > abs(A[row + pivot]):
                        pivot = j
                some = some or pivot != i
                for k in range(end):
                    _swap(A, k, i, pivot)
                place[i], place[pivot] = place[pivot], place[i]
            swapped[i] = pivot
            largest = max(largest, abs(A[row + i]))
            if not abs(A[row + i]) > SINGULAR * largest:
                return False
            inverse[i] = 1.0 / A[row + i]
    for i in range(n - 1, -1, -1):
        inverse[i] *= A[i * ROW + n] - inner_product(A, i * ROW + i + 1, inverse, i + 1, n - i - 1)
    for i in range(n):
        x[place[i]] = inverse[i]
    return True


@jit_inline
def _swap(A, row, i, j):
    A[row * ROW + i], A[row * ROW + j] = A[row * ROW + j], A[row * ROW + i]


@jit_inline
def _take_out(A, inverse, i, k, rows, width):
    """Take up to four rows from k on, of which the pivots are known, out of row i."""
    if rows == 0:
        return
    at, of = i * ROW + k, k * ROW + k
    one, two, three = A[at + 1], A[at + 2], A[at + 3]
    f0 = A[at] * inverse[k]
    one, two, three = one - f0 * A[of + 1], two - f0 * A[of + 2], three - f0 * A[of + 3]
    f1 = one * inverse[k + 1] if rows > 1 else 0.0
    two, three = two - f1 * A[of + ROW + 2], three - f1 * A[of + ROW + 3]
    f2 = two * inverse[k + 2] if rows > 2 else 0.0
    three -= f2 * A[of + 2 * ROW + 3]
    f3 = three * inverse[k + 3] if rows > 3 else 0.0
    A[at + 1], A[at + 2], A[at + 3] = one, two, three
    add_multiples(A, at + 4, A, of + 4, ROW, width - k - 4, (-f0, -f1, -f2, -f3))
