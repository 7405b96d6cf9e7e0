"""A named number that can change while a simulation runs."""

import operator
from collections.abc import Callable
from weakref import WeakValueDictionary

import numpy as np

_BY_SYMBOL: WeakValueDictionary = WeakValueDictionary()


class Parameter:
    """A named scalar that may stand for any number of a force or constraint, and inside a user's function.

    Its value may change while running without recompiling anything. Arithmetic gives CasADi expressions.

    >>> k = Parameter(20.0, name="k")
    >>> float(k)
    20.0
    >>> k + 1
    SX((k+1))
    """

    _symbol = None

    def __init__(self, value, name=None):
        from linkwork.elements.core import checks  # checks knows Parameter, so this import cannot stand at the top

        self.name = None
        self.name = checks.name(self, name)
        self.value = value

    @property
    def value(self):
        """The number it starts with, finite."""
        return self._value

    @value.setter
    def value(self, value):
        from linkwork.elements.core import checks

        self._value = checks.number(self, "value", value)

    @property
    def symbol(self):
        """Its CasADi symbol, made when first asked for and the same ever after."""
        if self._symbol is None:
            from linkwork.elements.core.expression import SX, Expression

            self._symbol = Expression(SX.sym(self.name or "parameter"))
            _BY_SYMBOL[self._symbol.element_hash()] = self
        return self._symbol

    def __SX__(self):  # CasADi's own protocol: casadi.sin(k), casadi.vertcat(k, 1), SX + k all work
        return self.symbol

    def __float__(self):
        return self.value

    def __repr__(self):
        return f"Parameter({self.value:g})" if self.name is None else f"Parameter({self.value:g}, name={self.name!r})"

    def __getstate__(self):  # a symbol is an identity within one process: a copy makes its own
        return {key: value for key, value in self.__dict__.items() if key != "_symbol"}

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """`array * k` and `numpy.sin(k)` give CasADi expressions, not arrays of objects."""
        import casadi

        from linkwork.elements.core.expression import wrapped

        function = _UFUNCS.get(ufunc.__name__) or getattr(casadi, ufunc.__name__, None)
        if method != "__call__" or options or function is None:
            return NotImplemented
        return wrapped(function(*(casadi.SX(x) for x in inputs)))


_UFUNCS: dict[str, Callable] = {
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


def _delegate(function):
    def method(self, *others):
        return function(self.symbol, *(_expression(other) for other in others))

    return method


def _reflect(function):
    def method(self, other):
        return function(_expression(other), self.symbol)

    return method


def _expression(value):
    return value.symbol if isinstance(value, Parameter) else value


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Parameter, f"__{_name}__", _delegate(getattr(operator, _name)))
    setattr(Parameter, f"__r{_name}__", _reflect(getattr(operator, _name)))
for _name in ("pos", "neg", "abs", "lt", "le", "gt", "ge"):
    setattr(Parameter, f"__{_name}__", _delegate(getattr(operator, _name)))


def parameter_of(symbol):
    """The Parameter whose symbol this is, or None: how the parameters of a user's function are found."""
    return _BY_SYMBOL.get(symbol.element_hash())


def parameters_in(values):
    """A list of every Parameter among values: bare, or a component of an array of objects."""
    found = []
    for value in values:
        if isinstance(value, Parameter):
            found.append(value)
        elif isinstance(value, np.ndarray) and value.dtype.hasobject:
            found += parameters_in(value.flat)
    return found
