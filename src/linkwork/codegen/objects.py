"""Python's objects as compiled code gets them: by address, without a look at their types.

numba looks up the types of all arguments of a call, makes seven words and a counted reference of every array, and looks for
code that suits read-only arrays anew each time. What `called_with_objects` makes gets addresses alone, which takes a tenth of
the time, and finds by `vector` and `result` whether they are arrays that it can use; where not, its caller makes such.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.codegen.jit import INTERPRETED

# The public layout of an array object (numpy's C API), behind the head that all objects have: bytes
HEAD = object.__basicsize__
DATA, NDIM, SHAPE, DTYPE, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48
KIND = HEAD - 8  # of each object: its type
CONTIGUOUS, READABLE, WRITABLE = 0x1, 0x101, 0x501  # in C's order; aligned, too; and may be written
EXPECTED = (
    id(np.ndarray),
    id(np.dtype(np.float64)),
    id(None),
)  # how arrays are known, and None: words with which a plan begins


def known_layout() -> bool:
    """Whether arrays of this Python and numpy lie in memory as is said above."""
    if INTERPRETED or sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    tried = np.zeros((2, 3))
    words = (ctypes.c_int64 * ((FLAGS + 8) // 8)).from_address(id(tried))
    flags, shape = words[FLAGS // 8] & 0xFFFFFFFF, (ctypes.c_int64 * 2).from_address(words[SHAPE // 8])
    return (words[KIND // 8], words[DTYPE // 8], words[DATA // 8]) == (*EXPECTED[:2], tried.ctypes.data) and (
        words[NDIM // 8] & 0xFFFFFFFF == 2 and flags & WRITABLE == WRITABLE and tuple(shape) == (2, 3)
    )


DIRECT = known_layout()

if not INTERPRETED:
    from llvmlite import ir
    from numba import types
    from numba.core.datamodel import models, register_default
    from numba.extending import NativeValue, intrinsic, unbox

    from linkwork.codegen.dispatch import dispatcher
    from linkwork.codegen.jit import jit_inline

    class ObjectType(types.Type):
        """An object of Python."""

        def __init__(self) -> None:
            super().__init__(name="Object")

    OBJECT = ObjectType()

    @register_default(ObjectType)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, ir.IntType(64))

    @unbox(ObjectType)
    def _unbox(kind, value, c):
        return NativeValue(c.builder.ptrtoint(value, ir.IntType(64)))

    @intrinsic
    def _address(typing_context, thing):
        """Where an object is."""

        def generate(context, builder, signature, arguments):
            return arguments[0]

        return types.int64(OBJECT), generate

    def _pointer_to(kind):
        """An intrinsic: an address as a pointer to numbers of this kind."""

        @intrinsic
        def pointer(typing_context, address):
            def generate(context, builder, signature, arguments):
                return builder.inttoptr(arguments[0], context.get_data_type(kind).as_pointer())

            return types.CPointer(kind)(types.int64), generate

        return pointer

    floats_at, words_at, offsets_at, indices_at = map(_pointer_to, (types.float64, types.int64, types.int32, types.uint32))

    @intrinsic
    def word(typing_context, address):
        """The 64 bits at an address."""

        def generate(context, builder, signature, arguments):
            return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

        return types.int64(types.int64), generate

    @jit_inline
    def words_of(thing):
        """Where the numbers of an array begin, which is known to be one."""
        return word(_address(thing) + DATA)

    @jit_inline
    def vector(thing, expected, size):
        """Where the numbers of a vector of this size begin; 0 if the object is none that can be read as it stands. expected:
        the words EXPECTED."""
        at = _address(thing)
        if word(at + KIND) != word(expected) or word(at + DTYPE) != word(expected + 8):
            return 0
        if word(at + NDIM) & 0xFFFFFFFF != 1 or word(at + FLAGS) & READABLE != READABLE or word(word(at + SHAPE)) != size:
            return 0
        return word(at + DATA)

    @jit_inline
    def is_none(thing, expected):
        return _address(thing) == word(expected + 16)

    @jit_inline
    def result(thing, expected, ndim, shape):
        """The same of an array that can be written; where its shape (ndim) is."""
        at = _address(thing)
        if word(at + KIND) != word(expected) or word(at + DTYPE) != word(expected + 8):
            return 0
        if word(at + NDIM) & 0xFFFFFFFF != ndim or word(at + FLAGS) & WRITABLE != WRITABLE:
            return 0
        for axis in range(ndim):
            if word(word(at + SHAPE) + 8 * axis) != word(shape + 8 * axis):
                return 0
        return word(at + DATA)

    def called_with_objects(function: Callable, count: int) -> Any:
        """What Python calls with that many objects; compiled by the first that asks. It keeps the lock of Python."""
        return dispatcher(function, nogil=False).driver((OBJECT,) * count).python
