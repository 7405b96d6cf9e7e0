"""Neighbouring operations of a sweep as one: a record's entries stay in registers between them.

Operations are joined where they stand at one position, one of them gathers (see `Joining`), and the other works on one
of its records, or on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from linkwork.codegen.trace import POINTERS, Joining, Kernel, joined

ALL = tuple(range(1, POINTERS))
SMALL_FIRST, SMALL_SECOND, SAME = range(3)


def join(rows: np.ndarray, positions: np.ndarray, kernels: Sequence[Kernel], number: Callable[[Kernel], int]) -> np.ndarray:
    """Rows (kernel, offsets) with all pairs joined, again and again until none is left."""
    while True:
        place, form, slot = _pairs(rows, positions, np.array([kernel.joining.value for kernel in kernels], dtype=np.int64))
        if not len(place):
            return rows
        rows, positions = rows.copy(), positions.copy()
        signature = np.column_stack([rows[place, 0], rows[place + 1, 0], form, slot])
        found, which = np.unique(signature, axis=0, return_inverse=True)
        new = np.array([number(_kernel(kernels, *map(int, entry))) for entry in found])
        kept = np.where(form == SMALL_FIRST, place + 1, place)  # the one that names all records
        rows[kept, 0] = new[which.ravel()]
        gone = np.where(form == SMALL_FIRST, place, place + 1)
        rows, positions = np.delete(rows, gone, axis=0), np.delete(positions, gone)


def _pairs(rows: np.ndarray, positions: np.ndarray, roles: np.ndarray):
    """First rows of the pairs to be joined now, no two of which overlap; how each is joined, and by which record."""
    a, b = roles[rows[:-1, 0]], roles[rows[1:, 0]]
    gathers, small = Joining.GATHERS.value, Joining.SMALL.value
    near = positions[:-1] == positions[1:]
    place = np.flatnonzero(near & (((a == gathers) & (b != Joining.NEVER.value)) | ((a == small) & (b == gathers))))
    first, second = rows[place, 1:], rows[place + 1, 1:]
    form = np.where(a[place] == small, SMALL_FIRST, np.where(b[place] == small, SMALL_SECOND, SAME))
    one, all_of = np.where((form == SMALL_FIRST)[:, None], (first, second), (second, first))
    at = all_of == one[:, :1]
    fits = np.where(form == SAME, (first == second).all(axis=1), at.any(axis=1))
    place, form, slot = place[fits], form[fits], np.where(form == SAME, 0, 1 + at.argmax(axis=1))[fits]
    begins = np.r_[True, np.diff(place) != 1][: len(place)]  # of runs of overlapping pairs: every second one is taken
    run = np.maximum.accumulate(np.where(begins, np.arange(len(place)), 0)) if len(place) else place
    taken = (np.arange(len(place)) - run) % 2 == 0
    return place[taken], form[taken], slot[taken]


def _kernel(kernels: Sequence[Kernel], first: int, second: int, form: int, slot: int) -> Kernel:
    pointers = {SMALL_FIRST: ((slot,), ALL), SMALL_SECOND: (ALL, (slot,)), SAME: (ALL, ALL)}[form]
    return joined(kernels[first], kernels[second], pointers)
