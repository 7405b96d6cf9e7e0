"""A sweep whose kernels also have records in a second array: `sweep_into`, by which a readout is filled.

The offset o of a record is one of the workspace, or, where it is negative, the entry -1 - o of the other array.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import INTERPRETED, OPERANDS, jit

if INTERPRETED:
    from linkwork.codegen.interpreted import ROUTINES

    def sweep_into(work, table, operations, out):
        """Run operations in order: rows (kernel, offset, ...) on the workspace and the array `out`."""
        both, n = np.concatenate([work, out]), len(work)
        for row in operations:
            ROUTINES[table[row[0]]](both, np.where(row[1:] < 0, n - 1 - row[1:].astype(np.int64), row[1:]))
        work[:], out[:] = both[:n], both[n:]

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def _call_both(typing_context, address, base, other, o1, o2, o3, o4, o5, o6, o7):
        """kernel(base, r1, ..., r7), by address, with r = base + 8 o, or other + 8 (-1 - o) where o is negative."""

        def generate(context, builder, signature, arguments):
            pointer, wide = ir.PointerType(ir.DoubleType()), ir.IntType(64)
            address, base, other, *offsets = arguments
            kernel_type = ir.FunctionType(ir.VoidType(), [pointer] * (1 + OPERANDS))
            kernel = builder.inttoptr(address, kernel_type.as_pointer())
            starts = builder.inttoptr(base, pointer), builder.inttoptr(other, pointer)
            records = []
            for o in (builder.sext(o, wide) for o in offsets):
                beyond = builder.icmp_signed("<", o, ir.Constant(wide, 0))
                start = builder.select(beyond, starts[1], starts[0])
                records.append(builder.gep(start, [builder.select(beyond, builder.not_(o), o)]))  # not o is -1 - o
            builder.call(kernel, [starts[0], *records])
            return cgutils.get_null_value(context.get_value_type(types.none))

        return types.none(types.int64, types.int64, types.int64, *[types.int32] * OPERANDS), generate

    @jit
    def sweep_into(work, table, operations, out):
        """Run operations in order: rows (kernel, offset, ...) on the workspace and the array `out`."""
        base, other = work.ctypes.data, out.ctypes.data
        for i in range(operations.shape[0]):
            row = operations[i]
            _call_both(table[row[0]], base, other, row[1], row[2], row[3], row[4], row[5], row[6], row[7])
