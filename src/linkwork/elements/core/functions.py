"""Users' functions: what stands in their expressions, and their place on the tape of a constraint or force.

`dot`, `cross`, `norm`, `where`, ... take and give CasADi expressions. How a function is traced: elements/core/traced.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import casadi as ca
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.expression import Expression, wrapped
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.traced import Traced, vector
from linkwork.errors import ElementError, LinkworkError
from linkwork.symbolic.autodiff import Handle
from linkwork.symbolic.views import View


def _taking_expressions(function: Callable) -> Callable:
    """Gives an Expression where it was given one, so that what users make of bodies stays what they know."""

    @wraps(function)
    def call(*arguments):
        try:
            result = function(*arguments)
        except (NotImplementedError, TypeError) as error:  # CasADi lists all of its own kinds then
            if not arguments or isinstance(error, LinkworkError):
                raise
            shown = ", ".join(checks.show(a) for a in arguments)
            raise ElementError(f"lw.{function.__name__}: given {shown}; give numbers or expressions") from None
        return wrapped(result) if any(_has_expression(a) for a in arguments) else result

    return call


def _has_expression(value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_expression(item) for item in value)
    return isinstance(value, (Expression, Parameter))


@_taking_expressions
def dot(a, b) -> SX:
    """The scalar product."""
    return ca.dot(vector(a), vector(b))


@_taking_expressions
def cross(a, b) -> SX:
    """The vector product."""
    return ca.cross(vector(a), vector(b))


@_taking_expressions
def norm(a) -> SX:
    """The length of a vector; its derivative at zero is zero (plain square roots give NaN there)."""
    square = ca.sumsqr(vector(a))
    positive = square > 0
    return ca.if_else(positive, ca.sqrt(ca.if_else(positive, square, 1)), 0)


@_taking_expressions
def where(condition, a, b) -> SX:
    """a where the condition holds, else b; numbers, expressions, or lists of them."""
    a, b = (x if isinstance(x, SX) else vector(x) for x in (a, b))
    return ca.if_else(condition, a, b)


@_taking_expressions
def minimum(a, b) -> SX:
    return ca.fmin(a, b)


@_taking_expressions
def maximum(a, b) -> SX:
    return ca.fmax(a, b)


_CASADIS: tuple[Callable, ...] = (ca.sin, ca.cos, ca.tan, ca.exp, ca.log, ca.sqrt, ca.tanh, ca.atan2)
sin, cos, tan, exp, log, sqrt, tanh, atan2 = map(_taking_expressions, _CASADIS)


def on_tape(traced: Traced, handles: Sequence[Handle], others: Sequence[SX], parameters: SX) -> SX:
    """The rows of a user's function on the tape of these handles; `others`: its point or time."""
    values = [_answer(handles[number], what, local) for number, what, local in traced.requests]
    return traced.function(*values, *others, parameters)


def _answer(handle: Handle, what: str, local) -> SX:
    if what == "spin":
        return handle.spin()
    if what in ("coordinates", "coordinate_rates"):
        return getattr(handle, what)()
    p = SX(ca.DM(local))
    view: View | None = handle.view
    if view is not None and "home" in view.kind.record:  # the body's own frame may differ from the user's
        turn = ca.reshape(view.field("turn"), 3, 3).T
        p = turn @ p + (view.field("home") if what.startswith("point") else 0)
    return getattr(handle, what)(p)
