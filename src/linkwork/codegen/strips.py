"""Short strips of numbers in vectors of the processor.

LLVM makes vectors of loops, but of many numbers at once and what is left over one by one: with strips of ten to forty numbers,
as in contact problems, nearly all of them. These are made of vectors of eight or four, and at most three single numbers; fused,
which is twice as fast, and gives the same bits however a strip is cut. Products are sums of four sums, each of every fourth
number.
"""

from __future__ import annotations

from linkwork.codegen.jit import INTERPRETED

if INTERPRETED:

    def add_multiple(target, at, source, begin, count, factor):
        """target[at : at + count] += factor * source[begin : begin + count]; flat arrays."""
        target[at : at + count] += factor * source[begin : begin + count]

    def _products(rows: int):
        def products(matrix, at, stride, vector, begin, count):
            part = vector[begin : begin + count]
            return tuple(matrix[at + k * stride : at + k * stride + count] @ part for k in range(rows))

        return products

    three_products, six_products = _products(3), _products(6)

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    from linkwork.codegen.jit import jit_inner

    NUMBER = 8  # bytes
    SHORT = 8  # numbers with which vectors gain nothing

    def _fused(builder, kind, x, y, z):
        """x y + z, of numbers or vectors."""
        name = f"llvm.fma.v{kind.count}f64" if isinstance(kind, ir.VectorType) else "llvm.fma.f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, [x, y, z])

    def _strip(width: int):
        """An intrinsic (target, source, factor): `width` numbers at an address += factor times those at another one."""

        @intrinsic
        def add(typing_context, target, source, factor):
            def generate(context, builder, signature, arguments):
                kind = ir.VectorType(ir.DoubleType(), width) if width > 1 else ir.DoubleType()
                target, source = (builder.inttoptr(a, kind.as_pointer()) for a in arguments[:2])
                factor = arguments[2]
                if width > 1:
                    first = builder.insert_element(ir.Constant(kind, ir.Undefined), factor, ir.Constant(ir.IntType(32), 0))
                    lanes = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
                    factor = builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), lanes)
                value = _fused(builder, kind, factor, builder.load(source, align=NUMBER), builder.load(target, align=NUMBER))
                builder.store(value, target, align=NUMBER)
                return cgutils.get_null_value(context.get_value_type(types.none))

            return types.none(types.int64, types.int64, types.float64), generate

        return add

    _eight, _four, _one = _strip(8), _strip(4), _strip(1)

    def _products(rows: int):
        """An intrinsic (matrix, stride, vector, count): the products of as many rows, `stride` bytes apart, with a vector."""

        @intrinsic
        def multiply(typing_context, matrix, stride, vector, count):
            def generate(context, builder, signature, arguments):
                matrix, stride, vector, count = arguments
                starts = [builder.add(matrix, builder.mul(stride, ir.Constant(stride.type, k))) for k in range(rows)]
                four = ir.Constant(count.type, 4)
                whole = builder.sub(count, builder.srem(count, four))
                sums = _summed(builder, starts, vector, ir.Constant(count.type, 0), whole, 4, None)
                totals = []
                for total in sums:
                    parts = [builder.extract_element(total, ir.Constant(ir.IntType(32), lane)) for lane in range(4)]
                    totals.append(builder.fadd(builder.fadd(parts[0], parts[1]), builder.fadd(parts[2], parts[3])))
                return context.make_tuple(builder, signature.return_type,
                                          _summed(builder, starts, vector, whole, count, 1, totals))  # fmt: skip

            return types.UniTuple(types.float64, rows)(types.int64, types.int64, types.int64, types.int64), generate

        return multiply

    def _summed(builder, starts, vector, begin, end, width, totals):
        """Sums of products of rows that start at addresses with a vector, from number `begin` on, `width` numbers at a time."""
        kind = ir.VectorType(ir.DoubleType(), width) if width > 1 else ir.DoubleType()
        places = [cgutils.alloca_once(builder, kind) for _ in starts]
        for k, place in enumerate(places):
            builder.store(ir.Constant(kind, None if width > 1 else 0.0) if totals is None else totals[k], place)
        with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, width), inc=True) as (i, _):
            shift = builder.mul(i, ir.Constant(i.type, NUMBER))

            def number(start):
                return builder.load(builder.inttoptr(builder.add(start, shift), kind.as_pointer()), align=NUMBER)

            other = number(vector)
            for start, place in zip(starts, places, strict=True):
                builder.store(_fused(builder, kind, number(start), other, builder.load(place)), place)
        return [builder.load(place) for place in places]

    _three, _six = _products(3), _products(6)

    @jit_inner
    def three_products(matrix, at, stride, vector, begin, count):
        """The products of three rows, `stride` numbers apart, of a flat array with a part of another one."""
        if count <= SHORT:
            rows, part, p0, p1, p2 = matrix[at : at + 2 * stride + count], vector[begin : begin + count], 0.0, 0.0, 0.0
            for k in range(count):
                p0 += rows[k] * part[k]
                p1 += rows[stride + k] * part[k]
                p2 += rows[2 * stride + k] * part[k]
            return p0, p1, p2
        return _three(matrix.ctypes.data + NUMBER * at, NUMBER * stride, vector.ctypes.data + NUMBER * begin, count)

    @jit_inner
    def six_products(matrix, at, stride, vector, begin, count):
        return _six(matrix.ctypes.data + NUMBER * at, NUMBER * stride, vector.ctypes.data + NUMBER * begin, count)

    @jit_inner
    def add_multiple(target, at, source, begin, count, factor):
        """target[at : at + count] += factor * source[begin : begin + count]; flat arrays."""
        to, of = target.ctypes.data + NUMBER * at, source.ctypes.data + NUMBER * begin
        for _ in range(count >> 3):
            _eight(to, of, factor)
            to, of = to + 8 * NUMBER, of + 8 * NUMBER
        if count & 4:
            _four(to, of, factor)
            to, of = to + 4 * NUMBER, of + 4 * NUMBER
        for _ in range(count & 3):
            _one(to, of, factor)
            to, of = to + NUMBER, of + NUMBER
