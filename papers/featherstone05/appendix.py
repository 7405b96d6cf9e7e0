"""The appendix in plain Python, as printed; rows count from 0, and -1 ends a walk to the root."""


def ltdl(parents, H):
    """A copy of H with D on the diagonal and L below it: every update is taken off at once."""
    A, parents = H.tolist(), [int(p) for p in parents]
    for k in reversed(range(len(A))):
        i = parents[k]
        while i >= 0:
            a = A[k][i] / A[k][k]
            j = i
            while j >= 0:
                A[i][j] -= A[k][j] * a
                j = parents[j]
            A[k][i] = a
            i = parents[i]
    return A
