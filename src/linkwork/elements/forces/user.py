"""Force: any function of a user. The element and its law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement, bodies_and_function
from linkwork.elements.core.element_kind import asked_points, user_points
from linkwork.elements.core.field_types import KeptVector
from linkwork.elements.core.force_kind import ForceKind
from linkwork.elements.core.functions import on_tape
from linkwork.elements.core.included import users_function_moved
from linkwork.elements.core.registry import kind_of

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.expression import Expression
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.placement import Placement
    from linkwork.elements.core.traced import BodyProxy, Rows
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, Vector


@dataclass(eq=False, repr=False, init=False)
class Force(ForceElement):
    """Any force: one or two bodies, then a function of them and t that gives the force (3, N, world) on the last one.

    It acts at the point `at` (or `on_b`) of that body; with two bodies the opposite acts on the first, at `on_a`. With
    torque=True the function gives a torque (N m) instead; with generalised=True, on a LagrangianBody alone, a number for each
    of its coordinates, whose power is that number times the coordinate's rate.

    Inside the function a body b has, as expressions in the world frame, `b.position` and `b.velocity` of its reference
    point, `b.point(p)` and `b.point_velocity(p)` of its local point p, `b.direction(d)` of its local direction d,
    `b.orientation` (3 by 3, its axes as columns), `b.angular_velocity`, and `b.spin(d)`, the part of it about d. t is
    the time (s); Parameters may be used, and numpy's functions beside `lw.dot`, `lw.norm`, `lw.where`, `lw.sin`, ...
    A LagrangianBody has `b.coordinates` and `b.rates` beside its points.

    >>> Force("sail", lambda s, t: -0.4 * s.velocity, at=(0, 0, 0.1), name="wind")
    <Force "wind">
    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, 0))
    >>> rocket = world.add(lw.RigidBody(2.0, (1, 1, 1), angular_velocity=(0, 0, 3), name="rocket"))
    >>> def thrust(b, t):  # along its own axis, for a second
    ...     return lw.where(t < 1, 10 * b.direction((1, 0, 0)), (0, 0, 0))
    >>> world.add(lw.Force(rocket, thrust, name="thrust"))
    <Force "thrust">
    >>> world.add(lw.Force(rocket, lambda b, t: -0.5 * b.spin((0, 0, 1)) * b.direction((0, 0, 1)), torque=True, name="fins"))
    <Force "fins">
    >>> sim = lw.Simulation(world)
    >>> sim.acceleration("rocket"), sim.angular_acceleration("rocket")
    (array([5., 0., 0.]), array([ 0. ,  0. , -1.5]))
    >>> arms = world.add(lw.double_pendulum(angles=(0.3, 0.3), name="arms"))
    >>> world.add(lw.Force(arms, lambda b, t: (0, -2.0 * b.coordinates[1] - 0.1 * b.rates[1]), generalised=True, name="elbow"))
    <Force "elbow">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"bodies": "body"}
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"function": ("bodies", "t")}

    bodies: tuple[BodyLike, ...]
    function: Callable[..., Any]
    at: KeptVector  # (3,), m, in the last body's frame
    on_a: KeptVector  # (3,), m, in the first body's frame; of no meaning with one body
    torque: bool
    generalised: bool = False

    include_at = users_function_moved

    @overload
    def __init__(self, body: BodyLike, function: Callable[[BodyProxy, Expression], Rows], /, *,
                 at: Vector | None = None, torque: bool = False,
                 generalised: bool = False,
                 name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, a: BodyLike, b: BodyLike, function: Callable[[BodyProxy, BodyProxy, Expression], Rows], /, *,
                 at: Vector | None = None, on_a: Vector | None = None, on_b: Vector | None = None, torque: bool = False,
                 generalised: bool = False,
                 name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, *bodies: BodyLike, function: Callable[..., Rows],
                 at: Vector | None = None, on_a: Vector | None = None, on_b: Vector | None = None, torque: bool = False,
                 generalised: bool = False,
                 name: str | None = None) -> None: ...  # fmt: skip
    def __init__(self, *bodies: Any, function: Callable[..., Any] | None = None, at: Vector | None = None,
                 on_a: Vector | None = None, on_b: Vector | None = None, torque: bool = False, generalised: bool = False,
                 name: str | None = None) -> None:  # fmt: skip
        self.name = name
        self.bodies, self.function = bodies_and_function(self, bodies, function, most=2)
        super().__post_init__()
        if len(self.bodies) == 1 and not (on_a is None and on_b is None):
            checks.fail(self, "on_a and on_b are for two bodies", "give at=")
        if at is not None and on_b is not None:
            checks.fail(self, "both at and on_b are given", "give at= or on_b=, not both")
        if not isinstance(torque, bool):
            checks.fail(self, f"torque is {checks.show(torque)}", "give True or False")
        if torque and not (at is None and on_a is None and on_b is None):
            checks.fail(self, "a torque acts at no point", "leave at=, on_a= and on_b= out")
        self.generalised = checks.flag(self, "generalised", generalised)
        if generalised and (torque or len(self.bodies) > 1 or not (at is None and on_a is None and on_b is None)):
            checks.fail(self, "a generalised force acts along the coordinates of one body", "give that body and the function")
        at = on_b if at is None else at
        self.at = checks.vector(self, "at", checks.ZERO if at is None else at)
        self.on_a = checks.vector(self, "on_a", checks.ZERO if on_a is None else on_a)
        self.torque = torque

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        super().check_resolved(resolved)
        if self.generalised and not resolved[-1].generalised:
            checks.fail(self, f"{checks.label(resolved[-1])} has no coordinates of its own", "give a LagrangianBody")

    def follows(self, name: str) -> bool:
        return name in ("at", "on_a") and not getattr(self, name).any()


@kind_of(Force)
class UserForceKind(ForceKind):
    """The user's function: a force on the last body at a point, the opposite on the first, or a torque; or a generalised force
    along the coordinates of its only body."""

    users_function = True

    def __init__(self, element: Any) -> None:
        self.arity, self.torque, self.generalised = len(element.bodies), element.torque, element.generalised
        self.traced = element.traced("function", element.bodies[-1].generalised if self.generalised else 3)
        self.user_parameters = tuple(self.traced.parameters)
        self.velocity_dependent = self.traced.uses_velocity
        self.key = f"Force-{self.arity}-{self.torque}{'-generalised' if self.generalised else ''}-{self.traced.digest}"
        self.fields = {"on_a": 3, "on_b": 3, "user": len(self.user_parameters)}
        asked = [any(what in ("axis", "spin") and n == k for n, what, _ in self.traced.requests) for k in (0, 1)]
        both = (asked[0] or self.torque, asked[1] or self.torque)
        self.needs_directions = (False, both[0]) if self.arity == 1 else both

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return (None, *element.bodies)[-2:]

    def points_of(self, end: int) -> list[tuple[float, ...]]:
        return asked_points([self.traced], end - len(self.needs_directions) + self.arity)

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        return {"on_a": user_points(elements, A, "on_a"), "on_b": user_points(elements, B, "at")}

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        f = on_tape(self.traced, handles[2 - self.arity :], [t], p["user"])
        if self.generalised:
            return [(1, "generalised", None, f)], SX(0)
        kind = "torque" if self.torque else "force"
        loads: list[Load] = [(1, kind, p["on_b"], f)]
        if self.arity == 2:
            loads.append((0, kind, p["on_a"], -f))
        return loads, SX(0)
