"""Neighbouring operations of a sweep as one: a record's entries stay in registers between them.

Operations are joined where they stand at one position, one of them gathers (see `Joining`), they share a record, and all
their records together are not more than an operation can name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from linkwork.codegen.jit import OPERANDS, jit, jit_inner
from linkwork.codegen.trace import POINTERS, Joining, Kernel, joined

NEVER, GATHERS = int(Joining.NEVER), int(Joining.GATHERS)


def join(rows: np.ndarray, positions: np.ndarray, kernels: Sequence[Kernel], number: Callable[[Kernel], int]) -> np.ndarray:
    """Rows (kernel, offsets) with all pairs joined, again and again until none is left."""
    while True:
        roles = np.array([int(kernel.joining) for kernel in kernels], dtype=np.int64)
        place, codes, slots, records = _pairs(rows, positions, roles)
        if not len(place):
            return rows
        _, first, which = np.unique(codes, return_index=True, return_inverse=True)
        pairs = [(rows[place[k], 0], rows[place[k] + 1, 0], codes[k] % 2, slots[k]) for k in first]
        new = np.array([number(_kernel(kernels, *pair)) for pair in pairs])
        rows = rows.copy()
        rows[place, 0] = new[which]
        rows[place, 1:] = records
        left = np.ones(len(rows), dtype=bool)
        left[place + 1] = False
        rows, positions = rows[left], positions[left]


@jit
def _pairs(rows, positions, roles):
    """First rows of the pairs to be joined now, no two of which overlap; for each a number that pairs alike share, odd where
    the second one's records come first (it gathers, the other does not), which of all records the other one's are (0: none),
    and all records."""
    n, count, k = rows.shape[0], 0, 0
    place, codes = np.empty(n // 2, np.int64), np.empty(n // 2, np.int64)
    slots, records = np.zeros((n // 2, OPERANDS), np.int64), np.zeros((n // 2, OPERANDS), np.int32)
    while k < n - 1:
        a, b = roles[rows[k, 0]], roles[rows[k + 1, 0]]
        near = positions[k] == positions[k + 1] and a != NEVER and b != NEVER and (a == GATHERS or b == GATHERS)
        swapped = a != GATHERS
        if near and _unite(rows[k + swapped, 1:], rows[k + 1 - swapped, 1:], slots[count], records[count]):
            code = rows[k, 0] * len(roles) + rows[k + 1, 0]
            for slot in slots[count]:
                code = code * (1 + OPERANDS) + slot
            place[count], codes[count] = k, 2 * code + swapped
            count, k = count + 1, k + 1
        k += 1
    return place[:count], codes[:count], slots[:count], records[:count]


@jit_inner
def _unite(first, second, slots, records):
    """Records of both, the first one's in their places; where the second one's are among them; whether they share one and
    are not too many."""
    used, last, shared = 0, 0, False
    for k in range(OPERANDS):
        records[k] = first[k]
        if first[k] != 0:
            used, last = used + 1, k + 1
    own = used
    for k in range(OPERANDS):
        slots[k] = 0
        if second[k] == 0:
            continue
        where = 0
        while where < used and records[where] != second[k]:
            where += 1
        if where == OPERANDS:
            return False
        shared |= where < own
        records[where], slots[k] = second[k], where + 1
        used = max(used, where + 1)
    return shared and own == last


def _kernel(kernels: Sequence[Kernel], first: int, second: int, swapped: int, slots: np.ndarray) -> Kernel:
    everything, own = tuple(range(1, POINTERS)), tuple(map(int, slots))
    return joined(kernels[first], kernels[second], (own, everything) if swapped else (everything, own))
