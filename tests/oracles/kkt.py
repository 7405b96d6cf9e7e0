"""H x = r in extended precision: LU with partial pivoting in numpy's longdouble."""

import numpy as np


def solve(H, r):
    """x in longdouble: H's LU by rows, one step of refinement."""
    A = np.array(H, dtype=np.longdouble)
    b = np.array(r, dtype=np.longdouble)
    n = len(b)
    LU, order = A.copy(), np.arange(n)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(LU[k:, k])))
        LU[[k, pivot]], order[[k, pivot]] = LU[[pivot, k]], order[[pivot, k]]
        LU[k + 1 :, k] /= LU[k, k]
        LU[k + 1 :, k + 1 :] -= np.outer(LU[k + 1 :, k], LU[k, k + 1 :])

    def back(right):
        y = right[order].copy()
        for k in range(n):
            y[k] -= LU[k, :k] @ y[:k]
        for k in reversed(range(n)):
            y[k] = (y[k] - LU[k, k + 1 :] @ y[k + 1 :]) / LU[k, k]
        return y

    x = back(b)
    return x + back(b - A @ x)


def backward_error(H, x, r):
    """Relative residual of H x = r."""
    return float(np.abs(H @ x - r).max() / (np.abs(H).sum(axis=1).max() * np.abs(x).max() + np.abs(r).max()))
