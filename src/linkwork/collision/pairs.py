"""Which colliders may touch: other bodies, other groups, a common rule, and not on the list of exceptions."""

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.collision.layout import BODY, GROUP, KIND, PLANE, RULES


@jit_inner
def may_touch(labels, apart, a, b):
    """Whether colliders a < b make a pair; apart: a n + b of those that never do, ascending."""
    if labels[a, BODY] == labels[b, BODY]:
        return False
    if labels[a, GROUP] >= 0 and labels[a, GROUP] == labels[b, GROUP]:
        return False
    shared = False
    for word in range(RULES, labels.shape[1]):
        if labels[a, word] & labels[b, word]:
            shared = True
    return shared and not _listed(apart, a * labels.shape[0] + b)


@jit_inner
def _listed(keys, key):
    """Whether a key is in a sorted array."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < keys.shape[0] and keys[low] == key


@jit
def all_pairs(labels, apart):
    """All pairs a < b of colliders that may touch, (k, 3), ascending, and whether one of them is a plane."""
    n, count = labels.shape[0], 0
    found = np.zeros((n * n, 3), dtype=np.int64)
    for a in range(n):
        for b in range(a + 1, n):
            planes = (1 if labels[a, KIND] == PLANE else 0) + (1 if labels[b, KIND] == PLANE else 0)
            if planes < 2 and may_touch(labels, apart, a, b):
                found[count, 0], found[count, 1], found[count, 2] = a, b, planes
                count += 1
    return found[:count].copy()
