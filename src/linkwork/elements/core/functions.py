"""Users' functions: what stands in their expressions, and their place on the tape of a constraint or force.

`dot`, `cross`, `norm`, `where`, ... take and give CasADi expressions. How a function is traced: elements/core/traced.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Protocol, TypeAlias, TypeVar, cast, overload

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.expression import Expression, wrapped
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.traced import Traced, vector
from linkwork.errors import ElementError, LinkworkError
from linkwork.symbolic.autodiff import Handle
from linkwork.symbolic.views import View

F = TypeVar("F", bound=Callable[..., Any])
Symbolic: TypeAlias = SX | Parameter | np.ndarray[Any, Any] | Sequence[Any]  # sequences and arrays: of numbers and expressions
Operand: TypeAlias = float | Symbolic


class OfOne(Protocol):
    """A function of one number or expression."""

    @overload
    def __call__(self, x: float, /) -> float: ...
    @overload
    def __call__(self, x: Symbolic, /) -> SX: ...


class OfTwo(Protocol):
    """A function of two numbers or expressions."""

    @overload
    def __call__(self, a: float, b: float, /) -> float: ...
    @overload
    def __call__(self, a: Symbolic, b: Operand, /) -> SX: ...
    @overload
    def __call__(self, a: float, b: Symbolic, /) -> SX: ...


def _taking_expressions(function: F) -> F:
    """Gives an Expression where it was given one, so that what users make of bodies stays what they know."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            result = function(*arguments)
        except (NotImplementedError, TypeError) as error:  # CasADi lists all of its own kinds then
            if not arguments or isinstance(error, LinkworkError):
                raise
            shown = ", ".join(checks.show(a) for a in arguments)
            raise ElementError(f"lw.{function.__name__}: given {shown}; give numbers or expressions") from None
        return wrapped(result) if any(_has_expression(a) for a in arguments) else result

    return cast(F, call)


def _has_expression(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_expression(item) for item in value)
    return isinstance(value, (Expression, Parameter))


@_taking_expressions
def dot(a: Operand, b: Operand) -> SX:
    """The scalar product."""
    return ca.dot(vector(a), vector(b))


@_taking_expressions
def cross(a: Operand, b: Operand) -> SX:
    """The vector product."""
    return ca.cross(vector(a), vector(b))


@_taking_expressions
def norm(a: Operand) -> SX:
    """The length of a vector; its derivative at zero is zero (plain square roots give NaN there)."""
    square = ca.sumsqr(vector(a))
    positive = square > 0
    return ca.if_else(positive, ca.sqrt(ca.if_else(positive, square, 1)), 0)


@_taking_expressions
def where(condition: SX | bool, a: Operand, b: Operand) -> SX:
    """a where the condition holds, else b; numbers, expressions, or lists of them."""
    a, b = (x if isinstance(x, SX) else vector(x) for x in (a, b))
    return ca.if_else(condition, a, b)


@_taking_expressions
def minimum(a: Operand, b: Operand) -> SX:
    return ca.fmin(a, b)


@_taking_expressions
def maximum(a: Operand, b: Operand) -> SX:
    return ca.fmax(a, b)


sin: OfOne = _taking_expressions(ca.sin)
cos: OfOne = _taking_expressions(ca.cos)
tan: OfOne = _taking_expressions(ca.tan)
exp: OfOne = _taking_expressions(ca.exp)
log: OfOne = _taking_expressions(ca.log)
sqrt: OfOne = _taking_expressions(ca.sqrt)
tanh: OfOne = _taking_expressions(ca.tanh)
atan2: OfTwo = _taking_expressions(ca.atan2)


def on_tape(traced: Traced, handles: Sequence[Handle], others: Sequence[SX], parameters: SX) -> SX:
    """The rows of a user's function on the tape of these handles; `others`: its point or time."""
    values = [_answer(handles[number], what, local) for number, what, local in traced.requests]
    return traced.function(*values, *others, parameters)


def _answer(handle: Handle, what: str, local: Any) -> SX:
    if what in ("spin", "coordinates", "coordinate_rates"):
        return cast(SX, getattr(handle, what)())
    p = SX(ca.DM(local))
    view: View | None = handle.view
    if view is not None and "home" in view.kind.record:  # the body's own frame may differ from the user's
        turn = ca.reshape(view.field("turn"), 3, 3).T
        p = turn @ p + (view.field("home") if what.startswith("point") else 0)
    return cast(SX, getattr(handle, what)(p))
