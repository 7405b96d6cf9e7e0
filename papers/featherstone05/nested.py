"""Section 3: branch-induced sparsity is nested, doubly-bordered block-diagonal after a reordering, and its envelope is full."""

import numpy as np

from linkwork.reduced import cost
from linkwork.reduced.parent_array import ancestor_lists, sizes


def pattern(parents):
    """(n, n) where the matrix has numbers (eq. 6)."""
    n = len(parents)
    first, ancestors = ancestor_lists(parents)
    found = np.eye(n, dtype=bool)
    found[np.repeat(np.arange(n), np.diff(first)), ancestors] = True
    return found | found.T


def nested(parents):
    """The order of rows that gives eq. 7: depth first, then backwards."""
    children = {i: [] for i in range(-1, len(parents))}
    for i, parent in enumerate(parents):
        children[int(parent)].append(i)
    order, todo = [], [*reversed(children[-1])]
    while todo:
        i = todo.pop()
        order.append(i)
        todo += reversed(children[i])
    return np.array(order[::-1])


def envelope(filled):
    """Below the diagonal: each number, and whatever stands to the right of one. [(row, column)]"""
    rows = []
    for i, row in enumerate(filled):
        first = int(np.argmax(row))
        rows += [(i, j) for j in range(first, i)]
    return rows


def zeros_inside(filled):
    """Zeros within the envelope; a Cholesky factorisation would fill them."""
    return sum(not filled[i, j] for i, j in envelope(filled))


def blocks(parents):
    """[(first, last + 1)] of the diagonal blocks of the nested form: one for each row, its descendants and itself."""
    order = nested(parents)
    place = np.empty(len(parents), dtype=int)
    place[order] = np.arange(len(parents))
    return [(int(place[i]) - int(size) + 1, int(place[i]) + 1) for i, size in enumerate(sizes(parents))]


def summary(parents):
    """What section 3 claims, checked on one tree."""
    H = pattern(parents)
    order = nested(parents)
    permuted = H[order][:, order]
    return {
        "n": len(parents),
        "zeros": cost.zeros(parents),
        "envelope": len(envelope(permuted)),
        "numbers below the diagonal": cost.D1(parents),
        "zeros inside": zeros_inside(permuted),
        "zeros inside as numbered": zeros_inside(H),
    }
