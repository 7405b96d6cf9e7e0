"""Expressions as users' functions see them: CasADi's, but numpy's functions take them silently and vectors can be unpacked.

Importing this imports CasADi, so nothing in `elements` does it before an expression is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from casadi import SX

from linkwork.errors import LinkworkError


class Misuse(LinkworkError, TypeError):
    """What a user's function may not do; the message goes on after "its function"."""


class NoSuchAttribute(Misuse, AttributeError):
    """An attribute that a body inside a user's function does not have."""


class Expression(SX):
    """A number, vector (3, a column) or matrix that depends on what is not known yet; what is made of it is one too."""

    called: str | None = None  # "position", for messages

    def __init__(self, value: Any, called: str | None = None) -> None:
        super().__init__(value)
        self.called = called

    def __iter__(self) -> Iterator[Expression]:
        self._refuse_rows_alone()
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, index: Any) -> Expression:
        self._check(index)
        return Expression(SX.__getitem__(self, index))

    def __float__(self) -> float:
        self._refuse_as_number()
        return SX.__float__(self)

    def __int__(self) -> int:
        self._refuse_as_number()
        return SX.__int__(self)

    @property
    def T(self) -> Expression:
        return Expression(SX(self).T)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        with _silent_casadi():
            return wrapped(SX.__array_ufunc__(self, ufunc, method, *map(_matrix, inputs), **options))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        with _silent_casadi():
            types = [SX if kind is Expression else kind for kind in types]
            return wrapped(SX.__array_function__(self, function, types, arguments, options))

    if TYPE_CHECKING:  # what is assigned below: CasADi's own, that take lists and arrays of expressions too

        def __add__(self, other: Any) -> Expression: ...
        def __radd__(self, other: Any) -> Expression: ...
        def __sub__(self, other: Any) -> Expression: ...
        def __rsub__(self, other: Any) -> Expression: ...
        def __mul__(self, other: Any) -> Expression: ...
        def __rmul__(self, other: Any) -> Expression: ...
        def __truediv__(self, other: Any) -> Expression: ...
        def __rtruediv__(self, other: Any) -> Expression: ...
        def __floordiv__(self, other: Any) -> Expression: ...
        def __rfloordiv__(self, other: Any) -> Expression: ...
        def __mod__(self, other: Any) -> Expression: ...
        def __rmod__(self, other: Any) -> Expression: ...
        def __pow__(self, other: Any, modulus: Any = None) -> Expression: ...
        def __rpow__(self, other: Any) -> Expression: ...
        def __matmul__(self, other: Any) -> Expression: ...
        def __rmatmul__(self, other: Any) -> Expression: ...
        def __neg__(self) -> Expression: ...
        def __pos__(self) -> Expression: ...
        def __abs__(self) -> Expression: ...
        def __lt__(self, other: Any) -> Expression: ...
        def __le__(self, other: Any) -> Expression: ...
        def __gt__(self, other: Any) -> Expression: ...
        def __ge__(self, other: Any) -> Expression: ...

    def _check(self, index: Any) -> None:
        """Whole numbers lie within the shape, and a matrix is asked for a row and a column."""
        name, (rows, columns) = self.called or "an expression", self.shape
        if not isinstance(index, tuple):
            if columns != 1 and _is_whole(index):
                self._refuse_rows_alone()
            index = (index,)
        for given, size in zip(index, (rows, columns), strict=False):
            if _is_whole(given) and not -size <= given < size:
                entries = f"{rows} {'entry' if rows == 1 else 'entries'}" if columns == 1 else f"{rows} by {columns} entries"
                asked = ", ".join(str(i) for i in index)
                raise Misuse(f"asks for {name}[{asked}], and {name} has {entries}; give an index from 0 to {size - 1}")

    def _refuse_rows_alone(self) -> None:
        if self.shape[1] != 1:
            name, (rows, columns) = self.called or "an expression", self.shape
            raise Misuse(f"takes {name}, {rows} by {columns}, for a list; write [i, j] for an entry and [:, j] for a column")

    def _refuse_as_number(self) -> None:
        if not self.is_constant():
            raise Misuse("makes a number of an expression; use lw.sin and the like for math.sin, and expressions for float()")


def wrapped(result: Any) -> Any:
    """CasADi's results as Expressions; anything else as it is."""
    return Expression(result) if type(result) is SX else result


def _is_whole(index: Any) -> bool:
    return isinstance(index, (int, np.integer)) and not isinstance(index, bool)


def _matrix(value: Any) -> Any:
    """Lists and arrays of expressions, which CasADi does not take, as columns; anything else as it is."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        column = SX(len(value), 1)
        for i, entry in enumerate(value):
            column[i] = SX(entry)
        return column
    return value


@contextmanager
def _silent_casadi() -> Iterator[None]:
    """CasADi warns that numpy's functions give its own expressions, as a future version may not: here they should."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*casadi: a numpy function", FutureWarning)
        yield


def _wrapping(method: Callable[..., Any]) -> Callable[..., Any]:
    def result(self: Expression, *others: Any) -> Any:
        return wrapped(method(self, *map(_matrix, others)))

    return result


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_OTHERS = ("neg", "pos", "abs", "lt", "le", "gt", "ge", "eq", "ne")
for _name in (*_BINARY, *(f"r{name}" for name in _BINARY), *_OTHERS):
    setattr(Expression, f"__{_name}__", _wrapping(getattr(SX, f"__{_name}__")))
