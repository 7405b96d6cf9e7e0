"""The functions of formulas on CasADi's expressions: imported when a formula is first asked for one."""

import casadi as ca
from casadi import SX

from linkwork.elements.core import functions
from linkwork.elements.core.expression import Expression, Misuse, wrapped
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.traced import vector

SAME = ("sign", "floor", "ceil", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "log1p", "expm1", "erf")
UNARY = {"abs": ca.OP_FABS, "opposite": ca.OP_NOT, **{name: getattr(ca, f"OP_{name.upper()}") for name in SAME}}
BINARY = {"hypot": ca.OP_HYPOT, "copysign": ca.OP_COPYSIGN, "fmod": ca.OP_FMOD, "remainder": ca.OP_REMAINDER,
          "both": ca.OP_AND, "either": ca.OP_OR, "zero_unless": ca.OP_IF_ELSE_ZERO}  # fmt: skip
OFFERED = ("dot", "cross", "norm", "where", "minimum", "maximum", "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "atan2")

MOST_ENTRIES = 100_000  # of a vector: names for parts could double it line by line


def _sx(value):
    return value.symbol if isinstance(value, Parameter) else SX(value)


def _unary(code):
    return lambda x: Expression(SX.unary(code, _sx(x)))


def _binary(code):
    return lambda x, y: Expression(SX.binary(code, _sx(x), _sx(y)))


def column(values):
    """A vector of a list of expressions and numbers; lists in it one after the other."""
    entries = sum(value.numel() if isinstance(value, SX) else 1 for value in values)
    if entries > MOST_ENTRIES:
        raise Misuse(f"makes a vector of {entries} entries; give at most {MOST_ENTRIES}")
    return Expression(vector(values))


SYMBOLIC = {
    **{name: getattr(functions, name) for name in OFFERED},
    **{name: _unary(code) for name, code in UNARY.items()},
    **{name: _binary(code) for name, code in BINARY.items()},
    "sum": lambda a: wrapped(ca.sum1(vector(a))),
}
