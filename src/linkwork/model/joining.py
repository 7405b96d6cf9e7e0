"""Neighbouring operations of a sweep as one: a record's entries stay in registers between them.

Operations are joined where they stand at one position, one of them gathers (see `Joining`), they share a record, and all
their records together are not more than an operation can name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from linkwork.codegen.trace import POINTERS, Joining, Kernel, joined

OPERANDS = POINTERS - 1


def join(rows: np.ndarray, positions: np.ndarray, kernels: Sequence[Kernel], number: Callable[[Kernel], int]) -> np.ndarray:
    """Rows (kernel, offsets) with all pairs joined, again and again until none is left."""
    while True:
        roles = np.array([kernel.joining.value for kernel in kernels], dtype=np.int64)
        place, swapped, slots, records = _pairs(rows, positions, roles)
        if not len(place):
            return rows
        signature = np.column_stack([rows[place, 0], rows[place + 1, 0], swapped, slots])
        found, which = np.unique(signature, axis=0, return_inverse=True)
        new = np.array([number(_kernel(kernels, *map(int, entry))) for entry in found])
        rows = rows.copy()
        rows[place, 0] = new[which.ravel()]
        rows[place, 1:] = records
        rows, positions = np.delete(rows, place + 1, axis=0), np.delete(positions, place + 1)


def _pairs(rows: np.ndarray, positions: np.ndarray, roles: np.ndarray):
    """First rows of the pairs to be joined now, no two of which overlap; for each whether the second one's records come
    first (it gathers, the other does not), which of all records the other one's are (0: none), and all records."""
    a, b = roles[rows[:-1, 0]], roles[rows[1:, 0]]
    gathers, never = Joining.GATHERS.value, Joining.NEVER.value
    near = (positions[:-1] == positions[1:]) & (a != never) & (b != never)
    place = np.flatnonzero(near & ((a == gathers) | (b == gathers)))
    swapped = a[place] != gathers
    one, other = np.where(swapped[:, None], (rows[place + 1, 1:], rows[place, 1:]), (rows[place, 1:], rows[place + 1, 1:]))
    slots, records, fits = _union(one, other)
    place, swapped, slots, records = place[fits], swapped[fits], slots[fits], records[fits]
    begins = np.r_[True, np.diff(place) != 1][: len(place)]  # of runs of overlapping pairs: every second one is taken
    run = np.maximum.accumulate(np.where(begins, np.arange(len(place)), 0)) if len(place) else place
    taken = (np.arange(len(place)) - run) % 2 == 0
    return place[taken], swapped[taken], slots[taken], records[taken]


def _union(first: np.ndarray, second: np.ndarray):
    """Records of both, the first one's in their places; where the second one's are among them; whether they share one and
    are not too many."""
    records, slots = first.copy(), np.zeros_like(second)
    shared, fits = np.zeros(len(first), dtype=bool), np.ones(len(first), dtype=bool)
    used = (first != 0) @ np.ones(OPERANDS, dtype=int)
    gaps = (first != 0).cumsum(axis=1)[:, -1] != np.where(first != 0, np.arange(1, OPERANDS + 1), 0).max(axis=1, initial=0)
    for k in range(OPERANDS):
        wanted = second[:, k]
        there = records == wanted[:, None]
        known = there.any(axis=1) & (wanted != 0)
        shared |= known & (first == wanted[:, None]).any(axis=1)
        fresh = (wanted != 0) & ~known
        fits &= ~fresh | (used < OPERANDS)
        where = np.where(known, there.argmax(axis=1), np.minimum(used, OPERANDS - 1))
        rows = np.flatnonzero(fresh & fits)
        records[rows, where[rows]] = wanted[rows]
        used = used + fresh
        slots[:, k] = np.where(wanted != 0, where + 1, 0)
    return slots, records, fits & shared & ~gaps


def _kernel(kernels: Sequence[Kernel], first: int, second: int, swapped: int, *slots: int) -> Kernel:
    everything = tuple(range(1, POINTERS))
    return joined(kernels[first], kernels[second], (slots, everything) if swapped else (everything, slots))
