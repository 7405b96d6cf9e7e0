"""One state of a program, at once: arrays are read and written where Python has them (`codegen.objects`).

A plan says where all that a program needs is, in words of 64 bits: how arrays are known; address and size of workspace, table
of kernels, operations and index (`drivers`); the number of axes and the shape of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.codegen.jit import INTERPRETED, OPERANDS, sweep
from linkwork.codegen.objects import DIRECT, EXPECTED
from linkwork.reduced.drivers import HEAD

if TYPE_CHECKING:
    from linkwork.util.array_types import IntArray

WORD = 8  # bytes
WORK, TABLE, OPERATIONS, INDEX, AXES, SHAPE = (WORD * k for k in (3, 5, 7, 9, 11, 12))  # where they stand in a plan


def plan_of(prepared: tuple[Any, ...], shape: tuple[int, ...]) -> IntArray:
    """prepared: workspace, table, operations and index, which whoever has the plan keeps."""
    places = [number for array in prepared for number in (array.ctypes.data, len(array))]
    return np.array([*EXPECTED, *places, len(shape), *shape], dtype=np.int64)


def directly(plan: IntArray) -> Callable[..., bool]:
    """What runs the program of a plan: it takes three inputs (None: there is none) and the array for the result, and tells
    whether they are such as can be taken as they stand; if not, nothing has happened."""
    return partial(_compiled(), plan) if DIRECT else _never


def _never(*_given: object) -> bool:
    return False


@cache
def _compiled() -> Callable[..., bool]:
    from linkwork.codegen.objects import called_with_objects

    found: Callable[..., bool] = called_with_objects(_run, 5)
    return found


if not INTERPRETED:
    import numba

    from linkwork.codegen.jit import jit_inline
    from linkwork.codegen.objects import floats_at, indices_at, is_none, offsets_at, result, vector, word, words_at, words_of

    @jit_inline
    def _put(thing, plan, work, index, at, size):
        """Put an input into the workspace, if it is one of this size."""
        if size == 0 and is_none(thing, plan):
            return True
        place = vector(thing, plan, size)
        if place == 0:
            return False
        given = numba.carray(floats_at(place), size)
        for i in range(size):
            work[index[at + i]] = given[i]
        return True

    def _run(plan, a, b, c, out):
        words = words_of(plan)
        index = numba.carray(indices_at(word(words + INDEX)), word(words + INDEX + WORD))
        work = numba.carray(floats_at(word(words + WORK)), word(words + WORK + WORD))
        place = result(out, words, word(words + AXES), words + SHAPE)
        if place == 0:
            return False
        sizes = int(index[0]), int(index[1]), int(index[2])
        at = HEAD + sizes[0], HEAD + sizes[0] + sizes[1], HEAD + sizes[0] + sizes[1] + sizes[2]
        if not (_put(a, words, work, index, HEAD, sizes[0]) and _put(b, words, work, index, at[0], sizes[1])
                and _put(c, words, work, index, at[1], sizes[2])):  # fmt: skip
            return False
        table = numba.carray(words_at(word(words + TABLE)), word(words + TABLE + WORD))
        rows = word(words + OPERATIONS + WORD)
        sweep(work, table, numba.carray(offsets_at(word(words + OPERATIONS)), (rows, 1 + OPERANDS)))
        size, first = int(index[3]), at[2]
        count = (index.shape[0] - first) // 2
        found = numba.carray(floats_at(place), size)
        if count < size:
            found[:] = 0.0
        for i in range(first, first + count):
            found[index[i]] = work[index[i + count]]
        return True
