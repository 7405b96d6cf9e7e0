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

    def _row_products(rows: int):
        def products(matrix, at, stride, vector, begin, count):
            part = vector[begin : begin + count]
            return tuple(matrix[at + k * stride : at + k * stride + count] @ part for k in range(rows))

        return products

    three_products, six_products = _row_products(3), _row_products(6)

    def nine_products(one, at, stride, other, begin, apart, count):
        """The products of three rows, `stride` numbers apart, with three of another flat array: rows of three."""
        return tuple(one[at + i * stride : at + i * stride + count] @ other[begin + j * apart : begin + j * apart + count]
                     for i in range(3) for j in range(3))  # fmt: skip

    def inner_product(one, at, other, begin, count):
        """The sum of products of two strips; flat arrays."""
        return one[at : at + count] @ other[begin : begin + count]

    def add_multiples(target, at, source, begin, stride, count, factors):
        """target[at : at + count] += the sum of factors times rows, `stride` numbers apart, of another array; flat arrays."""
        for k, factor in enumerate(factors):
            target[at : at + count] += factor * source[begin + k * stride : begin + k * stride + count]

    def set_multiples(target, at, source, begin, stride, count, factors):
        """The same with = in the place of +=."""
        target[at : at + count] = 0.0
        add_multiples(target, at, source, begin, stride, count, factors)

    def copy(target, at, source, begin, count):
        """target[at : at + count] = source[begin : begin + count]; flat arrays."""
        target[at : at + count] = source[begin : begin + count]

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    from linkwork.codegen.jit import jit_inline

    NUMBER = 8  # bytes
    SHORT = 8  # numbers with which vectors gain nothing

    def _fused(builder, kind, x, y, z):
        """x y + z, of numbers or vectors."""
        name = f"llvm.fma.v{kind.count}f64" if isinstance(kind, ir.VectorType) else "llvm.fma.f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, [x, y, z])

    def _spread(builder, kind, number):
        """A number in all lanes of a vector."""
        if not isinstance(kind, ir.VectorType):
            return number
        first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), lanes)

    def _strip(width: int):
        """An intrinsic (target, source, factor): `width` numbers at an address += factor times those at another one."""

        @intrinsic
        def add(typing_context, target, source, factor):
            def generate(context, builder, signature, arguments):
                kind = ir.VectorType(ir.DoubleType(), width) if width > 1 else ir.DoubleType()
                target, source = (builder.inttoptr(a, kind.as_pointer()) for a in arguments[:2])
                factor = _spread(builder, kind, arguments[2])
                value = _fused(builder, kind, factor, builder.load(source, align=NUMBER), builder.load(target, align=NUMBER))
                builder.store(value, target, align=NUMBER)
                return cgutils.get_null_value(context.get_value_type(types.none))

            return types.none(types.int64, types.int64, types.float64), generate

        return add

    _eight, _four, _one = _strip(8), _strip(4), _strip(1)

    def _strips(width: int, fresh: bool = False):
        """An intrinsic (target, source, stride, factors): `width` numbers at an address += the factors times those of as many
        rows, `stride` bytes apart: the target is read (unless `fresh`: it is set) and written once."""

        @intrinsic
        def add(typing_context, target, source, stride, factors):
            def generate(context, builder, signature, arguments):
                kind = ir.VectorType(ir.DoubleType(), width) if width > 1 else ir.DoubleType()
                target, row, stride, factors = arguments
                place = builder.inttoptr(target, kind.as_pointer())
                value = ir.Constant(kind, None if width > 1 else 0.0) if fresh else builder.load(place, align=NUMBER)
                for k in range(len(signature.args[3])):
                    factor = _spread(builder, kind, builder.extract_value(factors, k))
                    numbers = builder.load(builder.inttoptr(row, kind.as_pointer()), align=NUMBER)
                    value = _fused(builder, kind, factor, numbers, value)
                    row = builder.add(row, stride)
                builder.store(value, place, align=NUMBER)
                return cgutils.get_null_value(context.get_value_type(types.none))

            return types.none(types.int64, types.int64, types.int64, factors), generate

        return add

    _eights, _fours, _ones = _strips(8), _strips(4), _strips(1)
    _set_eights, _set_fours, _set_ones = _strips(8, True), _strips(4, True), _strips(1, True)

    def _products(rows: int, others: int = 1):
        """An intrinsic (matrix, stride, other, apart, count): the products of as many rows, `stride` bytes apart, with as many
        of another matrix, `apart` bytes apart."""

        @intrinsic
        def multiply(typing_context, matrix, stride, other, apart, count):
            def generate(context, builder, signature, arguments):
                matrix, stride, other, apart, count = arguments
                one, two = ([builder.add(start, builder.mul(step, ir.Constant(step.type, k))) for k in range(number)]
                            for start, step, number in ((matrix, stride, rows), (other, apart, others)))  # fmt: skip
                whole = builder.sub(count, builder.srem(count, ir.Constant(count.type, 4)))
                totals = []
                for total in _summed(builder, one, two, ir.Constant(count.type, 0), whole, 4, None):
                    low, high = (builder.shuffle_vector(total, total, ir.Constant(ir.VectorType(ir.IntType(32), 2), lanes))
                                 for lanes in ([0, 1], [2, 3]))  # fmt: skip
                    pair = builder.fadd(low, high)
                    parts = [builder.extract_element(pair, ir.Constant(ir.IntType(32), lane)) for lane in range(2)]
                    totals.append(builder.fadd(*parts))
                return context.make_tuple(builder, signature.return_type,
                                          _summed(builder, one, two, whole, count, 1, totals))  # fmt: skip

            return types.UniTuple(types.float64, rows * others)(*[types.int64] * 5), generate

        return multiply

    def _summed(builder, rows, others, begin, end, width, totals):
        """Sums of products of rows that start at addresses with others, from number `begin` on, `width` numbers at a time."""
        kind = ir.VectorType(ir.DoubleType(), width) if width > 1 else ir.DoubleType()
        places = [cgutils.alloca_once(builder, kind) for _ in range(len(rows) * len(others))]
        for k, place in enumerate(places):
            builder.store(ir.Constant(kind, None if width > 1 else 0.0) if totals is None else totals[k], place)
        with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, width), inc=True) as (i, _):
            shift = builder.mul(i, ir.Constant(i.type, NUMBER))

            def number(start):
                return builder.load(builder.inttoptr(builder.add(start, shift), kind.as_pointer()), align=NUMBER)

            known = [number(start) for start in others]
            for k, start in enumerate(rows):
                one = number(start)
                for l, other in enumerate(known):
                    place = places[k * len(others) + l]
                    builder.store(_fused(builder, kind, one, other, builder.load(place)), place)
        return [builder.load(place) for place in places]

    _single, _three, _six, _nine = _products(1), _products(3), _products(6), _products(3, 3)

    @jit_inline
    def inner_product(one, at, other, begin, count):
        """The sum of products of two strips; flat arrays."""
        return _single(one.ctypes.data + NUMBER * at, 0, other.ctypes.data + NUMBER * begin, 0, count)[0]

    @jit_inline
    def three_products(matrix, at, stride, vector, begin, count):
        """The products of three rows, `stride` numbers apart, of a flat array with a part of another one."""
        if count <= SHORT:
            rows, part, p0, p1, p2 = matrix[at : at + 2 * stride + count], vector[begin : begin + count], 0.0, 0.0, 0.0
            for k in range(count):
                p0 += rows[k] * part[k]
                p1 += rows[stride + k] * part[k]
                p2 += rows[2 * stride + k] * part[k]
            return p0, p1, p2
        return _three(matrix.ctypes.data + NUMBER * at, NUMBER * stride, vector.ctypes.data + NUMBER * begin, 0, count)

    @jit_inline
    def six_products(matrix, at, stride, vector, begin, count):
        return _six(matrix.ctypes.data + NUMBER * at, NUMBER * stride, vector.ctypes.data + NUMBER * begin, 0, count)

    @jit_inline
    def nine_products(one, at, stride, other, begin, apart, count):
        """The products of three rows, `stride` numbers apart, with three of another flat array: rows of three."""
        if count <= SHORT:
            p00 = p01 = p02 = p10 = p11 = p12 = p20 = p21 = p22 = 0.0
            rows, others = one[at : at + 2 * stride + count], other[begin : begin + 2 * apart + count]
            for k in range(count):
                a, b, c, d, e, f = (
                    rows[k],
                    rows[stride + k],
                    rows[2 * stride + k],
                    others[k],
                    others[apart + k],
                    others[2 * apart + k],
                )
                p00, p01, p02 = p00 + a * d, p01 + a * e, p02 + a * f
                p10, p11, p12 = p10 + b * d, p11 + b * e, p12 + b * f
                p20, p21, p22 = p20 + c * d, p21 + c * e, p22 + c * f
            return p00, p01, p02, p10, p11, p12, p20, p21, p22
        return _nine(one.ctypes.data + NUMBER * at, NUMBER * stride, other.ctypes.data + NUMBER * begin, NUMBER * apart, count)

    @jit_inline
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

    @jit_inline
    def add_multiples(target, at, source, begin, stride, count, factors):
        """target[at : at + count] += the sum of factors, a tuple, times rows, `stride` numbers apart, of another array."""
        to, of, apart = target.ctypes.data + NUMBER * at, source.ctypes.data + NUMBER * begin, NUMBER * stride
        for _ in range(count >> 3):
            _eights(to, of, apart, factors)
            to, of = to + 8 * NUMBER, of + 8 * NUMBER
        if count & 4:
            _fours(to, of, apart, factors)
            to, of = to + 4 * NUMBER, of + 4 * NUMBER
        for _ in range(count & 3):
            _ones(to, of, apart, factors)
            to, of = to + NUMBER, of + NUMBER

    @jit_inline
    def set_multiples(target, at, source, begin, stride, count, factors):
        """The same with = in the place of +=."""
        to, of, apart = target.ctypes.data + NUMBER * at, source.ctypes.data + NUMBER * begin, NUMBER * stride
        for _ in range(count >> 3):
            _set_eights(to, of, apart, factors)
            to, of = to + 8 * NUMBER, of + 8 * NUMBER
        if count & 4:
            _set_fours(to, of, apart, factors)
            to, of = to + 4 * NUMBER, of + 4 * NUMBER
        for _ in range(count & 3):
            _set_ones(to, of, apart, factors)
            to, of = to + NUMBER, of + NUMBER

    @jit_inline
    def copy(target, at, source, begin, count):
        """target[at : at + count] = source[begin : begin + count]; flat arrays."""
        to, of = target[at : at + count], source[begin : begin + count]
        for i in range(count):
            to[i] = of[i]
