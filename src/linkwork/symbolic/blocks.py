"""Block algebra of the elimination, as CasADi matrices: triangles, L D L^T, and one front's factor and solves.

A *front* is one node of the graph with its later neighbours (docs/papers-errata.md, section 2):

    D (d x d, symmetric)   b (d)   H_1 (d x m_1) ... H_k (d x m_k)

stored as lower triangle, vector, and blocks row by row. Factoring overwrites D by the unit triangle L below the
diagonal and the *reciprocal* pivots on it, b by z = L^-1 b, and H_j by Y_j = L^-1 H_j. Pivots may have either sign:
bodies give positive ones, constraints negative ones.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX


def triangle_size(n: int) -> int:
    return n * (n + 1) // 2


def symmetric(column: SX, n: int) -> SX:
    """The full symmetric matrix from its lower triangle, row by row."""
    full, k = SX(n, n), 0
    for i in range(n):
        for j in range(i + 1):
            full[i, j] = column[k]
            full[j, i] = column[k]
            k += 1
    return full


def lower(matrix: SX) -> SX:
    """The lower triangle, row by row."""
    n = matrix.shape[0]
    return ca.vertcat(*[matrix[i, j] for i in range(n) for j in range(i + 1)]) if n else SX(0, 1)


def upper(matrix: SX) -> SX:
    """What lies above the diagonal, column by column: the order of `lower` for the transposed matrix."""
    n = matrix.shape[0]
    return ca.vertcat(*[matrix[j, i] for i in range(n) for j in range(i)]) if n > 1 else SX(0, 1)


def full(low: SX, up: SX, n: int) -> SX:
    """A matrix from its `lower` and `upper` entries."""
    A, k, l = SX(n, n), 0, 0
    for i in range(n):
        for j in range(i + 1):
            A[i, j] = low[k]
            k += 1
        for j in range(i):
            A[j, i] = up[l]
            l += 1
    return A


def rows(column: SX, r: int, c: int) -> SX:
    """A column of entries as an r x c matrix, row by row."""
    return ca.reshape(column, c, r).T


def ldl(matrix: SX) -> tuple[SX, SX]:
    """L (unit lower triangle, strict part only) and the reciprocal pivots of A = L diag(1/p) L^T."""
    n, A, L, reciprocal = matrix.shape[0], SX(matrix), SX(matrix.shape[0], matrix.shape[0]), []
    for j in range(n):
        reciprocal.append(1 / A[j, j])
        for i in range(j + 1, n):
            L[i, j] = A[i, j] * reciprocal[j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                A[i, k] -= L[i, j] * A[k, j]
    return L, ca.vertcat(*reciprocal) if n else SX(0, 1)


def lu(matrix: SX) -> SX:
    """L (below the diagonal), the reciprocal pivots (on it) and U (above it) of A = L U, L of unit diagonal."""
    n, A = matrix.shape[0], SX(matrix)
    for j in range(n):
        A[j, j] = 1 / A[j, j]
        for i in range(j + 1, n):
            A[i, j] *= A[j, j]
            for k in range(j + 1, n):
                A[i, k] -= A[i, j] * A[j, k]
    return A


def upper_backward(LU: SX, right: SX) -> SX:
    """U^-1 right."""
    x = SX(right)
    for i in reversed(range(LU.shape[0])):
        for k in range(i + 1, LU.shape[0]):
            x[i, :] -= LU[i, k] * x[k, :]
        x[i, :] *= LU[i, i]
    return x


def upper_forward(LU: SX, right: SX) -> SX:
    """U^-T right."""
    x = SX(right)
    for i in range(LU.shape[0]):
        for k in range(i):
            x[i, :] -= LU[k, i] * x[k, :]
        x[i, :] *= LU[i, i]
    return x


def forward(L: SX, right: SX) -> SX:
    """L^-1 right."""
    x = SX(right)
    for i in range(L.shape[0]):
        for k in range(i):
            x[i, :] -= L[i, k] * x[k, :]
    return x


def backward(L: SX, right: SX) -> SX:
    """L^-T right."""
    x = SX(right)
    for i in reversed(range(L.shape[0])):
        for k in range(i + 1, L.shape[0]):
            x[i, :] -= L[k, i] * x[k, :]
    return x


def pack(L: SX, reciprocal: SX) -> SX:
    """The factor in the place of the triangle it came from."""
    n = L.shape[0]
    return ca.vertcat(*[reciprocal[i] if i == j else L[i, j] for i in range(n) for j in range(i + 1)])


def unpack(column: SX, n: int) -> tuple[SX, SX]:
    L, reciprocal, k = SX(n, n), [], 0
    for i in range(n):
        for j in range(i + 1):
            if i == j:
                reciprocal.append(column[k])
            else:
                L[i, j] = column[k]
            k += 1
    return L, ca.vertcat(*reciprocal)


def scale(reciprocal: SX, matrix: SX) -> SX:
    """diag(reciprocal) matrix."""
    return matrix * ca.repmat(reciprocal, 1, matrix.shape[1])


def cross(a: SX, b: SX) -> SX:
    return ca.cross(SX(a), SX(b))


def skew(a: SX) -> SX:
    return ca.skew(a)
