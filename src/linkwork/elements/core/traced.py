"""Users' functions as expressions: what a function sees of its bodies, and what is kept of it.

A function is called once, with a `BodyProxy` for each body and symbols for the rest; from then on only the CasADi
function made of its result is used. That is also what is pickled and copied: expressions, never code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.expression import Expression, Misuse, NoSuchAttribute
from linkwork.elements.core.parameter import Parameter, parameter_of
from linkwork.errors import ElementError, suggestion

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, Vector

SYMBOLS = {"p": 3, "t": 1, "u": 1}  # arguments that are no bodies: a point, the time, coordinates (as many as the owner has)
Rows: TypeAlias = SX | float | Parameter | np.ndarray[Any, Any] | Sequence[Any]  # what a user's function gives
VELOCITIES = ("point_rate", "spin", "coordinate_rates")


def vector(value: Any) -> SX:
    """A column from an expression (a matrix row by row), a list of expressions, or numbers."""
    if isinstance(value, SX):
        return ca.vec(value.T) if value.shape[1] != 1 else value
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

    def __init__(self, number: int, coordinates: int | None = 0) -> None:
        """`coordinates`: how many generalised coordinates it has; None: not known, since the body is only a name yet."""
        self._number, self._coordinates = number, coordinates
        self._requests: dict[tuple[str, tuple[float, ...] | None], SX] = {}

    if not TYPE_CHECKING:  # checkers refuse what is not there by themselves

        def __getattr__(self, name: str) -> NoReturn:
            if not name.startswith("_"):
                hint = suggestion(name, OFFERS) or f"; there are {', '.join(OFFERS)}"
                raise NoSuchAttribute(f"asks a body for {name}, which none has{hint}")
            raise AttributeError(name)

    def _ask(self, what: str, local: Iterable[float] | None = None, size: int = 3) -> SX:
        key = (what, None if local is None else tuple(float(x) for x in local))
        if key not in self._requests:
            self._requests[key] = SX.sym(f"b{self._number}_{what}{len(self._requests)}", size)
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

    def point(self, local: Vector) -> Expression:
        return Expression(self._ask("point", _numbers("point", local)), "point(...)")

    def point_velocity(self, local: Vector) -> Expression:
        return Expression(self._ask("point_rate", _numbers("point_velocity", local)), "point_velocity(...)")

    def direction(self, local: Vector) -> Expression:
        return Expression(self._ask("axis", _numbers("direction", local)), "direction(...)")

    def spin(self, axis: Vector) -> Expression:
        given = _numbers("spin", axis)
        if not given.any():
            raise Misuse("asks for spin((0, 0, 0)), which is no axis; give a direction such as (0, 0, 1)")
        return Expression(ca.dot(self._ask("spin"), self._ask("axis", given / np.linalg.norm(given))), "spin(...)")

    def _generalised(self, what: str, name: str) -> Expression:
        if self._coordinates is None:
            raise Misuse(f"asks for {name} of a body that is only a name yet; add the element to the body's world first")
        if not self._coordinates:
            raise Misuse(f"asks for {name} of a body that has none of its own; a LagrangianBody has, others have a position")
        return Expression(self._ask(what, size=self._coordinates), name)

    @property
    def coordinates(self) -> Expression:
        return self._generalised("coordinates", "coordinates")

    @property
    def rates(self) -> Expression:
        return self._generalised("coordinate_rates", "rates")


OFFERS = tuple(name for name in vars(BodyProxy) if not name.startswith("_"))


def _numbers(method: str, local: Vector) -> FloatArray:
    """What is fixed in a body: three numbers."""
    try:
        return checks.vector(method, method, local)
    except ElementError:
        raise Misuse(f"asks for {method}({checks.show(local)}); give three finite numbers such as (0, 0, 1)") from None


class Traced:
    """A user's function after tracing: what it asked of its bodies, its Parameters, and a CasADi function of these.

    It can stand wherever the function stood: called with the same arguments it gives the same expression.

    >>> k = Parameter(3.0, name="k")
    >>> pull = Traced("pull", lambda b, t: -k * b.position, ("b", "t"))
    >>> pull.parameters
    [Parameter(3, name='k')]
    >>> pull(BodyProxy(0), 0.0)
    SX([(-(k*b0_point0_0)), (-(k*b0_point0_1)), (-(k*b0_point0_2))])
    """

    def __init__(self, owner: str, function: Callable[..., Any], arguments: Sequence[str],
                 sizes: Mapping[str, int | None] | None = None) -> None:  # fmt: skip
        """`owner`: the element, for messages. `arguments`: p (a point), t (the time) or u (coordinates); others are bodies.
        `sizes`: of arguments that do not always have the same; of bodies, how many generalised coordinates they have."""
        self.arguments = tuple(arguments)
        sizes = {**SYMBOLS, **(sizes or {})}
        proxies = [BodyProxy(k, sizes.get(name, 0)) for k, name in enumerate(self.arguments[: self.bodies])]
        others = [SX.sym(name, sizes[name] or 0) for name in self.arguments[self.bodies :]]
        named = [Expression(symbol, name) for symbol, name in zip(others, self.arguments[self.bodies :], strict=True)]
        try:
            result = function(*proxies, *named)
        except Exception as error:
            raise ElementError(f"{owner}: {_explain(error)}") from None
        expression = _column(owner, result)
        self.requests = [(p._number, *key) for p in proxies for key in p._requests]
        asked = [s for p in proxies for s in p._requests.values()]
        known = {s.element_hash() for group in (*asked, *others) for s in ca.symvar(group)}
        free = [s for s in ca.symvar(expression) if s.element_hash() not in known]
        self.parameters = [_parameter(owner, s) for s in free]
        rates = ca.vertcat(*[s for (_, what, _), s in zip(self.requests, asked, strict=True) if what in VELOCITIES])
        self.nonlinear = self.uses_velocity and ca.depends_on(ca.jacobian(expression, rates), rates)
        self.uses_time = "t" in self.arguments and ca.depends_on(expression, others[-1])
        self.function = ca.Function("user", [*asked, *others, ca.vertcat(*free) if free else SX(0, 1)], [expression])

    @property
    def bodies(self) -> int:
        return sum(name not in SYMBOLS for name in self.arguments)

    @property
    def size(self) -> int:
        return self.function.size1_out(0)

    @property
    def uses_velocity(self) -> bool:
        return any(what in VELOCITIES for _, what, _ in self.requests)

    @cached_property
    def digest(self) -> str:
        """Names the expression: equal ones share kernels."""
        return sha256(f"{self.requests}{self.function.serialize()}".encode()).hexdigest()

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in self.arguments])

    def __call__(self, *arguments: Any) -> SX:
        bodies, others = arguments[: self.bodies], arguments[self.bodies :]
        sizes = [self.function.size1_in(k) for k in range(len(self.requests))]
        values = [bodies[n]._ask(what, local, size) for (n, what, local), size in zip(self.requests, sizes, strict=True)]
        return self.function(*values, *others, ca.vertcat(*[p.symbol for p in self.parameters]))

    def __repr__(self) -> str:
        return f"<Traced function of {', '.join(self.arguments)}>"


def traced(
    owner: str,
    function: Callable[..., Any],
    arguments: Sequence[str],
    size: int | None = None,
    sizes: Mapping[str, int | None] | None = None,
) -> Traced:
    """The function after tracing, which is done if it has not been; `size`: how many numbers it must give; `sizes`: how many
    it is given."""
    ready = isinstance(function, Traced) and function.arguments == tuple(arguments)
    found: Traced = function if ready else Traced(owner, function, arguments, sizes)  # type: ignore[assignment]
    if size is not None and found.size != size:
        raise ElementError(f"{owner}: its function gives {found.size} numbers where {size} are needed")
    return found


def _parameter(owner: str, symbol: SX) -> Parameter:
    found = parameter_of(symbol)
    if found is None:
        raise ElementError(f"{owner}: its function uses the symbol {symbol} that is no Parameter; use lw.Parameter")
    return found


def _column(owner: str, result: Any) -> SX:
    try:
        column = vector(result)
    except Exception:
        raise ElementError(f"{owner}: its function gives {result!r}; give one expression, or a list of them") from None
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
