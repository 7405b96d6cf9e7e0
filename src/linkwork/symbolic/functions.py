"""Users' functions: what stands in their expressions, and the body that they see.

`dot`, `cross`, `norm`, `where`, ... take and give CasADi expressions. A user's function is traced once, with a
`BodyProxy` for each body; afterwards only the serialised CasADi function is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from hashlib import sha256

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements import checks
from linkwork.elements.expression import Expression, Misuse, NoSuchAttribute, wrapped
from linkwork.elements.parameter import Parameter, parameter_of
from linkwork.errors import ElementError, suggestion
from linkwork.symbolic.bodies import View
from linkwork.symbolic.tape import Handle


def _taking_expressions(function: Callable) -> Callable:
    """Gives an Expression where it was given one, so that what users make of bodies stays what they know."""

    @wraps(function)
    def call(*arguments):
        result = function(*arguments)
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


def vector(value) -> SX:
    """A column from an expression, a list of expressions, or numbers."""
    if isinstance(value, SX):
        return ca.vec(value) if value.shape[1] != 1 else value
    if isinstance(value, Parameter):
        return value.symbol
    if isinstance(value, (int, float, np.floating, np.integer)):
        return SX(float(value))
    if isinstance(value, ca.DM):
        return SX(value)
    return ca.vertcat(*[vector(item) for item in value])


class BodyProxy:
    """A body inside a user's function: world-frame vectors as expressions.

    What it offers is listed for users where they look: at Constraint, VelocityConstraint and Force.
    """

    def __init__(self, number: int):
        self._number = number
        self._requests: dict[tuple, SX] = {}

    def __getattr__(self, name: str):
        if not name.startswith("_"):
            hint = suggestion(name, OFFERS) or f"; there are {', '.join(OFFERS)}"
            raise NoSuchAttribute(f"asks a body for {name}, which none has{hint}")
        raise AttributeError(name)

    def _ask(self, what: str, local=None) -> SX:
        key = (what, None if local is None else tuple(float(x) for x in local))
        if key not in self._requests:
            self._requests[key] = SX.sym(f"b{self._number}_{what}{len(self._requests)}", 3)
        return self._requests[key]

    @property
    def position(self) -> Expression:
        return Expression(self._ask("point", (0.0, 0.0, 0.0)), "position")

    @property
    def velocity(self) -> Expression:
        return Expression(self._ask("point_rate", (0.0, 0.0, 0.0)), "velocity")

    @property
    def angular_velocity(self) -> Expression:
        return Expression(self._ask("spin"), "angular_velocity")

    @property
    def orientation(self) -> Expression:
        return Expression(ca.horzcat(*[self._ask("axis", axis) for axis in np.eye(3)]), "orientation")

    def point(self, local) -> Expression:
        return Expression(self._ask("point", _numbers("point", local)), "point(...)")

    def point_velocity(self, local) -> Expression:
        return Expression(self._ask("point_rate", _numbers("point_velocity", local)), "point_velocity(...)")

    def direction(self, local) -> Expression:
        return Expression(self._ask("axis", _numbers("direction", local)), "direction(...)")

    def spin(self, axis) -> Expression:
        given = _numbers("spin", axis)
        if not given.any():
            raise Misuse("asks for spin((0, 0, 0)), which is no axis; give a direction such as (0, 0, 1)")
        return Expression(ca.dot(self._ask("spin"), self._ask("axis", given / np.linalg.norm(given))), "spin(...)")


OFFERS = tuple(name for name in vars(BodyProxy) if not name.startswith("_"))


def _numbers(method: str, local) -> np.ndarray:
    """What is fixed in a body: three numbers."""
    try:
        return checks.vector(method, method, local)
    except ElementError:
        raise Misuse(f"asks for {method}({checks.show(local)}); give three finite numbers such as (0, 0, 1)") from None


VELOCITIES = ("point_rate", "spin")


class Traced:
    """A user's function after tracing: the requests it made of its bodies, its parameters, and a CasADi function."""

    def __init__(self, owner: str, function: Callable, bodies: int, size: int | None, extra: Sequence[SX] = ()):
        """`size` None: any number of rows. `extra`: symbols handed to the function in the place of bodies."""
        self.bodies = bodies
        proxies = [BodyProxy(i) for i in range(bodies)]
        time = SX.sym("t")
        given = [*proxies, *(Expression(symbol, "p") for symbol in extra)]
        if bodies or not extra:
            given.append(Expression(time, "t"))
        try:
            result = function(*given)
        except Exception as error:
            raise ElementError(f"{owner}: {_explain(error)}") from None
        self.expression = _column(owner, result, size)
        self.requests = [(p._number, *key) for p in proxies for key in p._requests]
        symbols = [s for p in proxies for s in p._requests.values()]
        known = {s.element_hash() for group in (*symbols, *extra, time) for s in ca.symvar(group)}
        free = [s for s in ca.symvar(self.expression) if s.element_hash() not in known]
        self.parameters = [parameter_of(s) for s in free]
        if None in self.parameters:
            stranger = free[self.parameters.index(None)]
            raise ElementError(f"{owner}: its function uses the symbol {stranger} that is no Parameter; use lw.Parameter")
        self.uses_velocity = any(what in VELOCITIES for _, what, _ in self.requests)
        rates = ca.vertcat(*[s for (_, what, _), s in zip(self.requests, symbols, strict=True) if what in VELOCITIES])
        self.nonlinear = self.uses_velocity and ca.depends_on(ca.jacobian(self.expression, rates), rates)
        self.uses_time = ca.depends_on(self.expression, time)
        self.function = ca.Function("user", [*symbols, *extra, time, ca.vertcat(*free) if free else SX(0, 1)],
                                    [self.expression])  # fmt: skip
        self.digest = sha256(f"{self.requests}{self.function.serialize()}".encode()).hexdigest()

    @property
    def size(self) -> int:
        return self.expression.shape[0]

    def __call__(self, handles: Sequence[Handle], time: SX, parameters: SX, extra: Sequence[SX] = ()) -> SX:
        """The rows, on the tape of these handles."""
        values = [_answer(handles[number], what, local) for number, what, local in self.requests]
        return self.function(*values, *extra, time, parameters)


def _answer(handle: Handle, what: str, local) -> SX:
    if what == "spin":
        return handle.spin()
    p = SX(ca.DM(local))
    view: View | None = handle.view
    if view is not None and "home" in view.kind.record:  # the body's own frame may differ from the user's
        turn = ca.reshape(view.field("turn"), 3, 3).T
        p = turn @ p + (view.field("home") if what.startswith("point") else 0)
    return getattr(handle, what)(p)


def _column(owner: str, result, size: int | None) -> SX:
    try:
        column = vector(result)
    except Exception:
        raise ElementError(f"{owner}: its function gives {result!r}; give one expression, or a list of them") from None
    if size is not None and column.shape[0] != size:
        raise ElementError(f"{owner}: its function gives {column.shape[0]} numbers where {size} are needed")
    if column.shape[0] == 0:
        raise ElementError(f"{owner}: its function gives no rows; give at least one expression")
    numbers = [float(column[i]) for i in range(column.shape[0]) if column[i].is_constant()]
    if any(not np.isfinite(x) for x in numbers):
        raise ElementError(
            f"{owner}: its function gives {result}; give finite expressions, with lw.sin and the like for math.sin"
        )
    return ca.densify(column)


def _explain(error: Exception) -> str:
    if isinstance(error, Misuse):
        return f"its function {error}"
    text = str(error)
    if "truth value" in text or "__bool__" in text or "__nonzero__" in text or "Cannot compute the truth" in text:
        return "its function branches on an expression with a Python if; use lw.where(condition, a, b)"
    return f"its function failed with {type(error).__name__}: {_first_words(text) or 'no message'}"


def _first_words(text: str) -> str:
    """The first line that says something, without the place in CasADi's sources and the assertion that failed there."""
    lines = (re.sub(r"^\S*casadi\S*: *", "", line) for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith('Assertion "')), "")
