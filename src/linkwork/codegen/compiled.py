"""numba, in one place: the options of every driver, and the one call through which drivers reach kernels."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterable
from functools import cache

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from linkwork.codegen import interrupts
from linkwork.codegen.dispatch import ExactDispatcher, InnerDispatcher, dispatcher
from linkwork.codegen.interrupts import check_interrupt  # noqa: F401 (drivers take it by `jit`)
from linkwork.codegen.loader import LOADER
from linkwork.codegen.trace import COLD, OPERANDS, Kernel
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED

ON_X86 = platform.machine().lower() in ("x86_64", "amd64")
LARGE = 1 << 17  # entries of a workspace that is larger than a core's own cache: records are asked for ahead
LONG = 64  # operations of a sweep along which influence may fade below normal numbers, which are slow: they count as zero
FLUSH = 0x8040  # flush to zero, and denormals are zero
AHEAD, LINES = 3, 10  # operations ahead, cache lines of a record and what lies beside it


def jit(function):
    return dispatcher(function)


def jit_inner(function):
    """For functions that compiled code alone calls: compiled once for integers, not once for each one that is written in a
    call, and with nothing made for calls from Python, which are refused. Either is half of the time."""
    return dispatcher(function, InnerDispatcher, no_cpython_wrapper=True)


def jit_inline(function):
    """For small ones that take arrays: they become part of what calls them. An array is seven words, and a call moves each
    of them twice, which is ten nanoseconds."""
    return dispatcher(function, InnerDispatcher, no_cpython_wrapper=True, forceinline=True)


def jit_exactly(*signatures: str):
    """For arguments of these types alone: calls with others are refused with a TypeError, and at once."""

    def decorate(function):
        made = dispatcher(function, ExactDispatcher)
        made.signatures_wanted = signatures
        return made

    return decorate


def callback_address(function, signature, **options) -> int:
    """Where a function of C's calling convention is, compiled now or found on disk."""
    made = dispatcher(
        function, no_cpython_wrapper=True, no_cfunc_wrapper=False, **{"nogil": False, "error_model": "python", **options}
    )
    return made.driver(signature).c_address


def entry(function, *arguments):
    """A compiled function for arguments of these types alone, which it does not look at: several microseconds less for
    each bundle. Who calls it vouches for them."""
    return _driver(function, arguments).python


def compiled_address(function, *arguments) -> int:
    """Where a function is that returns an integer, compiled for arguments of these types, for `call_compiled`."""
    return _driver(function, arguments).address


def address_for(function, result, arguments) -> int:
    """Where a plain function is, compiled for these types; `call_conv` of numba calls it there."""
    with INTERRUPTS_DEFERRED:
        return dispatcher(function).driver(result(*arguments)).address


def _driver(function, arguments):
    return function.driver(tuple(map(numba.typeof, arguments)))


@intrinsic
def call_compiled(typing_context, address, arguments):
    """The integer that a compiled function returns, which is called by its address: who calls it is compiled without it,
    and vouches for the types of the arguments, a tuple."""
    kinds = [types.unliteral(kind) for kind in arguments]

    def generate(context, builder, signature, given):
        function = context.call_conv.get_function_type(types.int64, kinds)
        pointer = builder.inttoptr(given[0], function.as_pointer())
        values = [context.cast(builder, builder.extract_value(given[1], k), kind, plain)
                  for k, (kind, plain) in enumerate(zip(signature.args[1], kinds, strict=True))]  # fmt: skip
        status, result = context.call_conv.call_function(builder, pointer, types.int64, kinds, values)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.int64, arguments), generate


@intrinsic
def _call(typing_context, address, base, o1, o2, o3, o4, o5, o6, o7):
    """kernel(base, base + 8 o1, ..., base + 8 o7), by address."""

    def generate(context, builder, signature, arguments):
        pointer = ir.PointerType(ir.DoubleType())
        address, base, *offsets = arguments
        kernel_type = ir.FunctionType(ir.VoidType(), [pointer] * (1 + OPERANDS))
        kernel = builder.inttoptr(address, kernel_type.as_pointer())
        start = builder.inttoptr(base, pointer)
        records = [builder.gep(start, [builder.sext(o, ir.IntType(64))]) for o in offsets]
        builder.call(kernel, [start, *records])
        return cgutils.get_null_value(context.get_value_type(types.none))

    return types.none(types.int64, types.int64, *[types.int32] * OPERANDS), generate


@intrinsic
def _prefetch(typing_context, base, offset):
    """Ask for the cache lines of a record."""

    def generate(context, builder, signature, arguments):
        base, offset = arguments
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        start = builder.inttoptr(base, ir.PointerType(ir.DoubleType()))
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        for line in range(LINES):
            shift = ir.Constant(ir.IntType(64), 8 * line)
            entry = builder.gep(start, [builder.add(builder.sext(offset, ir.IntType(64)), shift)])
            builder.call(ask, [builder.bitcast(entry, byte), *(ir.Constant(word, k) for k in (0, 3, 1))])
        return cgutils.get_null_value(context.get_value_type(types.none))

    return types.none(types.int64, types.int32), generate


def _control_word(builder, name: str, place) -> None:
    """Store or load the word that controls floating-point arithmetic, where the processor has one that is known here."""
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.sse.{name}"), [place])


@intrinsic
def _flush_tiny(typing_context):
    """Numbers too small to be normal count as zero from now on; returns the word to restore."""

    def generate(context, builder, signature, arguments):
        word = ir.IntType(32)
        place = cgutils.alloca_once(builder, word)
        builder.store(ir.Constant(word, 0), place)
        if ON_X86:
            pointer = builder.bitcast(place, ir.IntType(8).as_pointer())
            _control_word(builder, "stmxcsr", pointer)
            before = builder.load(place)
            builder.store(builder.or_(before, ir.Constant(word, FLUSH)), place)
            _control_word(builder, "ldmxcsr", pointer)
            return before
        return builder.load(place)

    return types.int32(), generate


@intrinsic
def _restore(typing_context, word):
    def generate(context, builder, signature, arguments):
        if ON_X86:
            place = cgutils.alloca_once(builder, ir.IntType(32))
            builder.store(arguments[0], place)
            _control_word(builder, "ldmxcsr", builder.bitcast(place, ir.IntType(8).as_pointer()))
        return cgutils.get_null_value(context.get_value_type(types.none))

    return types.none(types.int32), generate


@jit
def sweep(work, table, operations, cold=False):
    """Run operations in order: rows (kernel, offset, ...) on the workspace. `cold`: they touch cold fields."""
    base = work.ctypes.data
    n = operations.shape[0]
    long = n > LONG
    control = _flush_tiny() if long else 0
    begin = 0
    if work.shape[0] > LARGE:
        begin = max(0, n - AHEAD)
        for i in range(begin):
            row = operations[i + AHEAD]
            first = row[1] if row[2] == 0 else min(row[1], row[2])
            _prefetch(base, first)
            if cold:
                _prefetch(base, first + COLD)
            row = operations[i]
            _call(table[row[0]], base, row[1], row[2], row[3], row[4], row[5], row[6], row[7])
    for i in range(begin, n):
        row = operations[i]
        _call(table[row[0]], base, row[1], row[2], row[3], row[4], row[5], row[6], row[7])
    if long:
        _restore(control)


@jit
def sweep_some(work, table, operations, chosen):
    """Run the chosen ones of operations in order."""
    base = work.ctypes.data
    for k in chosen:
        row = operations[k]
        _call(table[row[0]], base, row[1], row[2], row[3], row[4], row[5], row[6], row[7])


def kernel_table(kernels: Iterable[Kernel], lanes: int = 1) -> np.ndarray:
    return np.array(LOADER.addresses_of(kernels, lanes), dtype=np.int64)


_KEPT: list[object] = []  # callbacks must outlive every table that names them


def routine_address(routine: Callable[[np.ndarray, np.ndarray], None]) -> int:
    """A Python routine (work, offsets) that stands in a table like a kernel; `work` is a view of all memory."""

    @ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (1 + OPERANDS))
    def callback(base, *records):
        if interrupts.stopped():
            return
        try:
            routine(base, np.array([(r - base) // 8 for r in records], dtype=np.int64))
        except KeyboardInterrupt:
            interrupts.stop()

    _KEPT.append(callback)
    return ctypes.cast(callback, ctypes.c_void_p).value or 0


@intrinsic
def _pointer(typing_context, address):
    """The address as a pointer to numbers."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.PointerType(ir.DoubleType()))

    return types.CPointer(types.float64)(types.int64), generate


@jit
def opened(base, record, *others):
    """The workspace and the offsets with which a compiled routine was called, from the addresses that it got; the first
    record begins with the size of the workspace."""
    size = int(numba.carray(_pointer(record), 1)[0])
    work = numba.carray(_pointer(base), size)
    return work, (record - base) // 8, (others[0] - base) // 8, (others[1] - base) // 8, (others[2] - base) // 8


@jit_inner
def uncounted(work):
    """The same workspace as an array whose references nobody counts, for functions that are called by address in every
    step: each would count up and down, which takes ten nanoseconds. Whoever calls keeps the workspace."""
    return numba.carray(_pointer(work.ctypes.data), work.shape[0])


@cache
def compiled_routine_address(routine: Callable) -> int:
    """A routine of six addresses, which `opened` makes sense of, that stands in a table like a kernel. Compiled when it
    is first asked for."""
    return callback_address(routine, types.void(*[types.int64] * (1 + OPERANDS)))
