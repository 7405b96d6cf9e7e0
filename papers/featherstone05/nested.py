"""Section 3: branch-induced sparsity is nested, doubly-bordered block-diagonal after a reordering, and its envelope is full."""

import numpy as np

from linkwork.reduced import cost, envelope, nested_form, pattern


def entries(filled):
    """The envelope below the diagonal: each number, and whatever stands to the right of one. [(row, column)]"""
    return [(i, j) for i, first in enumerate(envelope(filled).tolist()) for j in range(first, i)]


def zeros_inside(filled):
    """Zeros within the envelope; a Cholesky factorisation would fill them."""
    return sum(not filled[i, j] for i, j in entries(filled))


def summary(parents):
    """What section 3 claims, checked on one tree."""
    H, order = pattern(parents), nested_form(parents).order
    permuted = H[np.ix_(order, order)]
    return {
        "n": len(parents),
        "zeros": cost.zeros(parents),
        "envelope": len(entries(permuted)),
        "numbers below the diagonal": cost.D1(parents),
        "zeros inside": zeros_inside(permuted),
        "zeros inside as numbered": zeros_inside(H),
    }
