"""Which of three ways a matrix is factored, by its parent array alone: row by row, in tiles, or in packed rows.

All three do the elimination of featherstone05 on the numbers that the parent array allows, and on no others; they differ in
what they spend around it. Row by row an update takes one multiplication and one look at the parent array, and what is taken
off is summed in a matrix. In tiles a call of a kernel does many updates, and the list of calls is part of the plan. In packed
rows an update is a loop over neighbours, and every number is moved twice.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

import numpy as np

from linkwork.reduced.packed_drivers import PACKED_RUN
from linkwork.reduced.parent_array import Parents, depths, parent_array, runs
from linkwork.reduced.tiles import operation_count

WORTH = 8  # multiplications an operation, below which the calls of kernels cost more than they save
MOST = 5_000  # operations of a plan, beyond which packed rows are as fast: a chain of 180
SHORT = 8  # updates for each number below the diagonal, under which loops are too short to be worth packing ...
SMALL = 512  # ... while the matrix that sums what is taken off stays near the core


class Way(Enum):
    """How a matrix is factored.

    >>> [way.value for way in Way]
    ['row by row', 'in tiles', 'in packed rows']
    """

    ROWS = "row by row"
    TILES = "in tiles"
    PACKED = "in packed rows"


def factoring(parents: Parents) -> Way:
    """How `ltdl` factors a matrix with this parent array (from 0, with -1 for the ground).

    >>> factoring([-1, 0, 1, 1]), factoring(range(-1, 2999))
    (<Way.ROWS: 'row by row'>, <Way.PACKED: 'in packed rows'>)
    """
    return way(parent_array(parents))


def way(parents: np.ndarray) -> Way:
    """The way of a parent array that has been checked.

    >>> way(np.arange(30) - 1), way(np.arange(3000) - 1)
    (<Way.TILES: 'in tiles'>, <Way.PACKED: 'in packed rows'>)
    >>> way((np.arange(63) + 1) // 2 - 1), way((np.arange(1023) + 1) // 2 - 1)
    (<Way.ROWS: 'row by row'>, <Way.PACKED: 'in packed rows'>)
    """
    return _way(parents.tobytes())


@lru_cache(maxsize=256)
def _way(key: bytes) -> Way:
    parents = np.frombuffer(key, dtype=np.int64)
    d, operations = depths(parents), operation_count(parents)
    below, updates = int((d - 1).sum()), int((d * (d - 1) // 2).sum())
    if WORTH * operations <= updates and operations <= MOST:
        return Way.TILES
    return Way.ROWS if len(parents) <= SMALL and updates <= SHORT * below else Way.PACKED


Packing = tuple[np.ndarray, np.ndarray, np.ndarray]


def packing(parents: np.ndarray) -> Packing:
    """(first (n + 1,), runs, rows) of `eliminate_packed`, of a parent array that has been checked; kept for the next call.

    >>> first, begin, rows = packing(np.array([-1, 0, 0, 1]))
    >>> first, begin, rows
    (array([0, 1, 3, 5, 8]), array([0, 1, 3, 4]), array([0, 1, 3, 2]))
    """
    return _packing(parents.tobytes())


@lru_cache(maxsize=64)
def _packing(key: bytes) -> Packing:
    parents = np.frombuffer(key, dtype=np.int64)
    found = runs(parents, PACKED_RUN)
    first, begin = ([0, *np.cumsum(sizes).tolist()] for sizes in (depths(parents), [len(run) for run in found]))
    return tuple(np.array(a, dtype=np.int64) for a in (first, begin, [i for run in found for i in run]))  # type: ignore[return-value]
