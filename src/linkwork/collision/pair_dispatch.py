"""Routines for pairs of kinds: compiled when a model has such a pair, called by address.

numba compiles a function together with all that it calls, and once more for each caller above it. So a routine ends at an
address: `detect` knows none of them, a model pays for the pairs of kinds that it has, and a new one costs the rest nothing.

A routine gets four flat arrays and returns how many contacts it wrote:
numbers, integers: the two colliders, and room (see `Pair`); shape_numbers, shape_integers: what hulls and surfaces are made
of, all colliders after each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from linkwork.codegen.jit import INTERPRETED, jit_inline, jit_inner

HITS = 64  # points of one pair before they are thinned out
SOLID = 15  # numbers of a collider: size (3), rotation (9), position (3)
MARGIN = 2 * SOLID  # place of the margin
AT_HITS = MARGIN + 1
AT_ROOM = AT_HITS + 7 * HITS
AT_SIMPLEX = AT_ROOM + 9 * HITS
AT_POLYTOPE = AT_SIMPLEX + 30
CORNERS, FACES = 192, 512  # of the polytope that grows between two solids that overlap
AT_OWN = AT_POLYTOPE + 6 * CORNERS + 4 * FACES
NUMBERS = AT_OWN + 64
AT_TAGS = 6  # before it: where the shapes of the two colliders begin, in numbers and integers, and their kinds
AT_LINES = AT_TAGS + HITS
AT_FACES = AT_LINES + 3 * HITS
AT_OWN_INTEGERS = AT_FACES + 5 * FACES
INTEGERS = AT_OWN_INTEGERS + 64

if INTERPRETED:

    def view(flat, begin, length):
        return flat[begin : begin + length]

    _ROUTINES: list[Callable] = []

    def address_of(routine: Callable) -> int:
        """What `call` takes for a routine."""
        if routine not in _ROUTINES:
            _ROUTINES.append(routine)
        return 1 + _ROUTINES.index(routine)

    def call(address, numbers, integers, shape_numbers, shape_integers):
        return _ROUTINES[address - 1](numbers, integers, shape_numbers, shape_integers)

else:
    from llvmlite import ir
    from numba import carray, types
    from numba.extending import intrinsic

    from linkwork.codegen.jit import callback_address

    _SIGNATURE = types.int64(
        types.CPointer(types.float64), types.CPointer(types.int64), types.CPointer(types.float64), types.CPointer(types.int64)
    )

    @jit_inline
    def view(flat, begin, length):
        """A part of an array that is given by its address."""
        return carray(flat, begin + length)[begin:]

    @cache
    def address_of(routine: Callable) -> int:
        """The address of a routine, compiled now or found on disk."""
        return callback_address(routine, _SIGNATURE, error_model="numpy")

    @intrinsic
    def _call(typing_context, address, numbers, integers, shape_numbers, shape_integers):
        def generate(context, builder, signature, arguments):
            word, number = ir.IntType(64), ir.DoubleType()
            kinds = [k.as_pointer() for k in (number, word, number, word)]
            routine = builder.inttoptr(arguments[0], ir.FunctionType(word, kinds).as_pointer())
            given = [builder.inttoptr(a, kind) for a, kind in zip(arguments[1:], kinds, strict=True)]
            return builder.call(routine, given)

        return types.int64(*[types.int64] * 5), generate

    @jit_inline
    def call(address, numbers, integers, shape_numbers, shape_integers):
        """Run a routine on arrays."""
        return _call(address, numbers.ctypes.data, integers.ctypes.data, shape_numbers.ctypes.data, shape_integers.ctypes.data)


@jit_inline
def collider(numbers, which):
    """Size (tuple), rotation (3, 3) and position (tuple) of the first (0) or second (1) collider of a pair."""
    c = view(numbers, which * SOLID, SOLID)
    return (c[0], c[1], c[2]), c[3:12].reshape(3, 3), (c[12], c[13], c[14])


@jit_inline
def results(numbers, integers):
    """Where contacts go: hits (HITS, 7): point, normal, gap; tags (HITS,): their features."""
    return view(numbers, AT_HITS, 7 * HITS).reshape(HITS, 7), view(integers, AT_TAGS, HITS)


@jit_inline
def polygons(numbers, integers):
    """Room for three polygons (3, HITS, 3) and their lines (3, HITS)."""
    return view(numbers, AT_ROOM, 9 * HITS).reshape(3, HITS, 3), view(integers, AT_LINES, 3 * HITS).reshape(3, HITS)


@jit_inline
def simplex_of(numbers):
    """Room for `gjk.distance`."""
    return view(numbers, AT_SIMPLEX, 30).reshape(5, 6)


@jit_inner
def polytope_of(numbers, integers):
    """Room for `epa.penetration`: corners (CORNERS, 6), planes (FACES, 4), faces (FACES, 5)."""
    flat = view(numbers, AT_POLYTOPE, 6 * CORNERS + 4 * FACES)
    corners, planes = flat[: 6 * CORNERS].reshape(CORNERS, 6), flat[6 * CORNERS :].reshape(FACES, 4)
    return corners, planes, view(integers, AT_FACES, 5 * FACES).reshape(FACES, 5)


@jit_inline
def margin_of(numbers):
    return view(numbers, MARGIN, 1)[0]


def pair_room() -> tuple[np.ndarray, np.ndarray]:
    """The arrays `numbers` and `integers` of a routine."""
    return np.zeros(NUMBERS), np.zeros(INTEGERS, dtype=np.int64)
