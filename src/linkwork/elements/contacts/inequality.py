"""Inequality: a function of bodies that does not become negative. The element and its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

from linkwork.elements.constraints.user import UserConstraintKind
from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ContactElement, bodies_and_function, body_arguments, check_ends
from linkwork.elements.core.included import users_function_moved
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.stop_kind import StopKind, StopRow, function_row
from linkwork.symbolic.autodiff import POSITION, VELOCITY

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.constraint_kind import ConstraintKind
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.expression import Expression
    from linkwork.elements.core.stop_kind import Site
    from linkwork.elements.core.traced import BodyProxy, Rows, Traced
    from linkwork.symbolic.autodiff import Handle


@dataclass(eq=False, repr=False, init=False)
class Inequality(ContactElement):
    """Any inequality a >= 0 (baraff96 section 8): one body or more, then a function of them and t that does not become
    negative. Its force is along its gradient, pushes and does not pull, and acts where a is zero.

    What the function may speak of is what Constraint offers, and with velocities what VelocityConstraint offers. It gives one
    expression, or a list of them, each of which is bounded by itself; in metres or radians, or m/s or rad/s. A function that is
    negative as built is taken back as an overlap is: a fifth of it a step, and no faster than 1 m/s (or rad/s).

    `restitution`: what becomes negative faster than 0.1 m/s leaves with that part of its rate; of a function of positions.
    `slip`: a function of the same bodies that gives the speed of sliding, or two of them along perpendicular directions (m/s);
    it goes with `friction`, which is at most that part of the push.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bead = world.add(lw.Particle(1.0, position=(0, 0, 1), name="bead"))
    >>> world.add(lw.Inequality(bead, lambda b, t: b.position[2] - 0.5, name="table"))
    <Inequality "table">
    >>> sim = lw.Simulation(world)
    >>> sim.step(1000)
    >>> round(float(sim.position(bead)[2]), 6), sim.reaction("table").force.round(6) + 0.0
    (0.5, array([0.  , 0.  , 9.81]))

    A crate that slides on a table, and a chain of three weights that is never longer than 2 m:

    >>> world = lw.World(gravity=(0, 0, -10))
    >>> crate = world.add(lw.Particle(1.0, velocity=(2, 0, 0), name="crate"))
    >>> world.add(lw.Inequality(crate, lambda b, t: b.position[2], slip=lambda b, t: b.velocity[:2], friction=0.5, name="top"))
    <Inequality "top">
    >>> beads = [world.add(lw.Particle(0.1, position=(k, 5, 0))) for k in range(3)]
    >>> def slack(a, b, c, t):
    ...     return 2 - lw.norm(b.position - a.position) - lw.norm(c.position - b.position)
    >>> world.add(lw.Inequality(*beads, slack, name="tether"))
    <Inequality "tether">
    >>> sim = lw.Simulation(world)
    >>> sim.step(200)
    >>> sim.velocity("crate").round(4) + 0.0
    array([1., 0., 0.])
    """

    REFERENCES: ClassVar[dict[str, str]] = {"bodies": "body"}
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"function": ("bodies", "t"), "slip": ("bodies", "t")}
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"friction": ("",)}
    is_stop: ClassVar[bool] = True
    refuses_violation: ClassVar[bool] = True

    bodies: tuple[BodyLike, ...]
    function: Callable[..., Any]
    slip: Callable[..., Any] | None
    friction: float
    restitution: float

    include_at = users_function_moved

    @overload
    def __init__(self, body: BodyLike, function: Callable[[BodyProxy, Expression], Rows], /, *,
                 slip: Callable[..., Rows] | None = None, friction: float = 0.0, restitution: float = 0.0,
                 name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, a: BodyLike, b: BodyLike, function: Callable[[BodyProxy, BodyProxy, Expression], Rows], /, *,
                 slip: Callable[..., Rows] | None = None, friction: float = 0.0, restitution: float = 0.0,
                 name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, a: BodyLike, b: BodyLike, c: BodyLike, /, *more: BodyLike | Callable[..., Rows],
                 slip: Callable[..., Rows] | None = None, friction: float = 0.0, restitution: float = 0.0,
                 name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, *bodies: BodyLike, function: Callable[..., Rows], slip: Callable[..., Rows] | None = None,
                 friction: float = 0.0, restitution: float = 0.0, name: str | None = None) -> None: ...  # fmt: skip
    def __init__(self, *bodies: Any, function: Callable[..., Any] | None = None, slip: Callable[..., Any] | None = None,
                 friction: float = 0.0, restitution: float = 0.0, name: str | None = None) -> None:  # fmt: skip
        self.name = name
        self.bodies, self.function = bodies_and_function(self, bodies, function)
        self.slip = checks.optional(checks.function, self, "slip", slip, body_arguments(len(self.bodies)))
        self.friction, self.restitution = checks.non_negative(self, "friction", friction), restitution
        super().__post_init__()
        self._check_restitution()
        if self.slip is None and self.friction > 0.0:
            checks.fail(self, f"friction is {self.friction:g} and slip is missing", "give the speed that it acts on: slip=")
        if self.slip is not None and self.friction == 0.0:
            checks.fail(self, "slip is there and friction is missing", "give friction=, such as 0.5")

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        check_ends(self, resolved)


class InequalityRows(UserConstraintKind):
    """The user's function, and the speeds of sliding behind it."""

    def __init__(self, element: Inequality) -> None:
        traced = element.traced("function")
        self.level = VELOCITY if traced.uses_velocity else POSITION
        if element.restitution > 0.0 and self.level == VELOCITY:
            checks.fail(element, "its function speaks of velocities, and restitution is of positions", "leave restitution out")
        if element.slip is not None and traced.size > 1:
            checks.fail(
                element, f"its function gives {traced.size} numbers, and slip goes with one", "make an Inequality of each"
            )
        self._take(element, traced, None if element.slip is None else _slip(element))
        self.bounded = traced.size
        self.levels = [*[self.level] * traced.size, *[VELOCITY] * (self.force.size if self.force else 0)]
        self.forced = True

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        slips = self.rates(handles, p, t) if self.force is not None else []
        return [*super().rows(handles, p, t), *[(VELOCITY, slip) for slip in slips]]


@kind_of(Inequality)
class InequalityKind(StopKind):
    """A row for each number of the function."""

    def measured(self, element: Any) -> ConstraintKind:
        return InequalityRows(element)

    def rows(self, element: Any, site: Site) -> list[StopRow]:
        found = site.functions(element)
        bounded = len(found) if element.slip is None else 1
        return [function_row(found[k], -1.0, 0.0, element.restitution, k, element.friction, len(found) - bounded)
                for k in range(bounded)]  # fmt: skip


def _slip(element: Inequality) -> Traced:
    """The speeds of sliding, checked."""
    slip = element.traced("slip")
    if slip.size > 2:
        checks.fail(element, f"its slip gives {slip.size} numbers", "give one speed, or two along perpendicular directions")
    if not slip.uses_velocity:
        checks.fail(element, "its slip speaks of no velocity", "give a speed such as b.velocity[0]")
    if slip.nonlinear:
        checks.fail(element, "its slip is not linear in velocities", "give a speed such as b.velocity[0]")
    return slip
