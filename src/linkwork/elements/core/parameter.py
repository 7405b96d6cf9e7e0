"""A named number that can change while a simulation runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.expression import Expression

_BY_SYMBOL: WeakValueDictionary[int, Parameter] = WeakValueDictionary()


class Parameter:
    """A named scalar that may stand for any number of a force or constraint, and inside a user's function.

    Its value may change while running without recompiling anything. Arithmetic gives CasADi expressions.

    >>> k = Parameter(20.0, name="k")
    >>> float(k)
    20.0
    >>> k + 1
    SX((k+1))
    """

    _symbol: Expression | None = None
    name: str | None

    def __init__(self, value: float, name: str | None = None) -> None:
        from linkwork.elements.core import checks  # checks knows Parameter, so this import cannot stand at the top

        self.name = None
        self.name = checks.name(self, name)
        self.value = value

    @property
    def value(self) -> float:
        """The number it starts with, finite."""
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        from linkwork.elements.core import checks

        self._value = checks.number(self, "value", value)

    @property
    def symbol(self) -> Expression:
        """Its CasADi symbol, made when first asked for and the same ever after."""
        if self._symbol is None:
            from casadi import SX

            from linkwork.elements.core.expression import Expression

            self._symbol = Expression(SX.sym(self.name or "parameter"))
            _BY_SYMBOL[self._symbol.element_hash()] = self
        return self._symbol

    def __SX__(self) -> Expression:  # CasADi's own protocol: casadi.sin(k), casadi.vertcat(k, 1), SX + k all work
        return self.symbol

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"Parameter({self.value:g})" if self.name is None else f"Parameter({self.value:g}, name={self.name!r})"

    def __getstate__(self) -> dict[str, Any]:  # a symbol is an identity within one process: a copy makes its own
        return {key: value for key, value in self.__dict__.items() if key != "_symbol"}

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """`array * k` and `numpy.sin(k)` give CasADi expressions, not arrays of objects."""
        import casadi

        from linkwork.elements.core.expression import wrapped

        function = _UFUNCS.get(ufunc.__name__) or getattr(casadi, ufunc.__name__, None)
        if method != "__call__" or options or function is None:
            return NotImplemented
        return wrapped(function(*(casadi.SX(x) for x in inputs)))

    if TYPE_CHECKING:  # what is assigned below

        def __add__(self, other: Any) -> Expression: ...
        def __radd__(self, other: Any) -> Expression: ...
        def __sub__(self, other: Any) -> Expression: ...
        def __rsub__(self, other: Any) -> Expression: ...
        def __mul__(self, other: Any) -> Expression: ...
        def __rmul__(self, other: Any) -> Expression: ...
        def __truediv__(self, other: Any) -> Expression: ...
        def __rtruediv__(self, other: Any) -> Expression: ...
        def __pow__(self, other: Any) -> Expression: ...
        def __rpow__(self, other: Any) -> Expression: ...
        def __pos__(self) -> Expression: ...
        def __neg__(self) -> Expression: ...
        def __abs__(self) -> Expression: ...
        def __lt__(self, other: Any) -> Expression: ...
        def __le__(self, other: Any) -> Expression: ...
        def __gt__(self, other: Any) -> Expression: ...
        def __ge__(self, other: Any) -> Expression: ...


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "negative": operator.neg,
    "absolute": abs,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def _delegate(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Parameter, *others: Any) -> Any:
        return function(self.symbol, *(_expression(other) for other in others))

    return method


def _reflect(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Parameter, other: Any) -> Any:
        return function(_expression(other), self.symbol)

    return method


def _expression(value: Any) -> Any:
    return value.symbol if isinstance(value, Parameter) else value


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Parameter, f"__{_name}__", _delegate(getattr(operator, _name)))
    setattr(Parameter, f"__r{_name}__", _reflect(getattr(operator, _name)))
for _name in ("pos", "neg", "abs", "lt", "le", "gt", "ge"):
    setattr(Parameter, f"__{_name}__", _delegate(getattr(operator, _name)))


def parameter_of(symbol: SX) -> Parameter | None:
    """The Parameter whose symbol this is, or None: how the parameters of a user's function are found."""
    return _BY_SYMBOL.get(symbol.element_hash())


def parameters_in(values: Iterable[Any]) -> list[Parameter]:
    """A list of every Parameter among values: bare, or a component of an array of objects."""
    found: list[Parameter] = []
    for value in values:
        if isinstance(value, Parameter):
            found.append(value)
        elif isinstance(value, np.ndarray) and value.dtype.hasobject:
            found += parameters_in(value.flat)
    return found
