"""Arrays that go through compiled code under one pointer.

numba passes every array as seven numbers, and a tuple of forty arrays as three hundred, through every call; compiling that
takes minutes. A `Struct` is a table of addresses and shapes in memory: compiled functions get the place of the table, and
read an array's address where they name it. `struct.field` reads the same in Python and in compiled code.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from linkwork.codegen.jit import INTERPRETED


class Struct:
    """The base of classes whose annotations name arrays (C-contiguous) or other structs, given in that order or by name.

    >>> class Pair(Struct):
    ...     first: np.ndarray
    ...     second: np.ndarray
    >>> pair = Pair(np.zeros(3), second=np.ones((2, 2)))
    >>> pair.second.shape
    (2, 2)
    """

    fields: tuple[str, ...] = ()
    table: np.ndarray  # int64: of each array its address and shape, of each inner struct the address of its table
    address: int  # of the table
    kind: Any  # for numba

    def __init_subclass__(cls):
        cls.fields = tuple(cls.__annotations__)

    def __init__(self, *given, **named):
        values = dict(zip(self.fields, given, strict=False)) | named
        if len(given) + len(named) != len(self.fields) or set(values) != set(self.fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.fields)}")
        self._take(values)
        if not INTERPRETED:
            _lay_out(self)

    def renew(self, **named) -> None:
        """Replace some fields by others of the same kinds, which compiled code that has the struct finds then."""
        self._take(named)
        if not INTERPRETED:
            kind, table = self.kind, self.table
            _lay_out(self)
            assert self.kind is kind
            table[:] = self.table
            self.table, self.address = table, table.ctypes.data

    def _take(self, values: dict) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
                raise TypeError(f"{type(self).__name__}: {name} is not contiguous")
        self.__dict__.update(values)

    def __iter__(self):
        return (getattr(self, name) for name in self.fields)


if not INTERPRETED:
    from llvmlite import ir
    from numba.core import cgutils, imputils, types
    from numba.core.datamodel import models, register_default
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, typeof_impl, unbox
    from numba.np import arrayobj
    from numba.np.numpy_support import from_dtype

    class BundleType(types.Type):
        """The fields of a struct: (name, type) each, and where in the table they begin."""

        def __init__(self, name, fields):
            self.title, self.fields = name, fields
            self.at, place = {}, 0
            for field, kind in fields:
                self.at[field] = place
                place += 1 + (kind.ndim if isinstance(kind, types.Array) else 0)
            super().__init__(name=f"{name}({', '.join(f'{field}: {kind}' for field, kind in fields)})")

        @property
        def key(self):
            return self.name  # which knows its hash: this is asked for in every call

        @property
        def mangling_args(self):
            return self.title, (crc32(self.name.encode()),)

    @register_default(BundleType)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, ir.IntType(64))

    @infer_getattr
    class _Attributes(AttributeTemplate):
        key = BundleType

        def generic_resolve(self, kind, name):
            return dict(kind.fields).get(name)

    @lower_getattr_generic(BundleType)
    def _read(context, builder, kind, value, name):
        """The array or the inner struct of a field."""
        field, at = dict(kind.fields)[name], kind.at[name]
        word = ir.IntType(64)
        table = builder.inttoptr(value, word.as_pointer())

        def entry(k):
            return builder.load(builder.gep(table, [ir.Constant(word, at + k)]))

        if isinstance(field, BundleType):
            return entry(0)
        array = arrayobj.make_array(field)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(field.dtype))
        shape = [entry(1 + axis) for axis in range(field.ndim)]
        strides = [ir.Constant(word, size)]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(length, strides[0]))
        data = builder.inttoptr(entry(0), context.get_data_type(field.dtype).as_pointer())
        arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=ir.Constant(word, size), meminfo=None)
        return imputils.impl_ret_borrowed(context, builder, field, array._getvalue())

    @typeof_impl.register(Struct)
    def _typeof(value, context):
        return value.kind

    @unbox(BundleType)
    def _unbox(kind, value, c):
        address = c.pyapi.object_getattr_string(value, "address")
        native = c.pyapi.long_as_longlong(address)
        c.pyapi.decref(address)
        return NativeValue(native, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))

    _KINDS: dict[tuple, BundleType] = {}

    def _lay_out(bundle):
        """Make the table: for an array its address and shape, for an inner struct the address of its table."""
        entries, kinds = [], []
        for name in bundle.fields:
            value = getattr(bundle, name)
            if isinstance(value, Struct):
                entries.append(value.address)
                kinds.append(value.kind)
            else:
                entries += (value.ctypes.data, *value.shape)
                kinds.append((value.dtype.num, value.ndim))
        key = (type(bundle), *kinds)
        if key not in _KINDS:
            fields = tuple(
                (name, kind if isinstance(kind, BundleType) else _array_type(getattr(bundle, name)))
                for name, kind in zip(bundle.fields, kinds, strict=True)
            )
            _KINDS[key] = BundleType(type(bundle).__name__, fields)
        bundle.kind, bundle.table = _KINDS[key], np.array(entries, dtype=np.int64)
        bundle.address = bundle.table.ctypes.data

    def _array_type(array):
        return types.Array(from_dtype(array.dtype), array.ndim, "C")
