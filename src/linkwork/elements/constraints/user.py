"""Constraint, VelocityConstraint: any function of a user. The elements and their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import BodyLike, ConstraintElement, bodies_and_function, body_arguments
from linkwork.elements.core.element_kind import asked_points
from linkwork.elements.core.functions import on_tape
from linkwork.elements.core.included import users_function_moved
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import POSITION, VELOCITY

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.expression import Expression
    from linkwork.elements.core.placement import Placement
    from linkwork.elements.core.traced import BodyProxy, Rows, Traced
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False, init=False)
class Constraint(ConstraintElement):
    """Any position-level constraint: one body or more, then a function of them and t that vanishes when it holds.

    The function gives one expression, or a list of them. Inside it a body b has, as expressions in the world frame,

    - `b.position` (3, m), `b.point(p)`: where its reference point and its local point p (three numbers) are,
    - `b.direction(d)` (3): where its local direction d points,
    - `b.orientation` (3 by 3): its axes as columns, `b.orientation[:, 0]` is `b.direction((1, 0, 0))`,
    - `b.coordinates` (n): of a LagrangianBody, its generalised coordinates u,

    and t is the time (s). `lw.dot`, `lw.norm`, `lw.where`, `lw.sin`, ... and numpy's functions take them; Parameters
    may stand among them. A function that speaks of velocities is for VelocityConstraint.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> rod = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.01), position=(0, 0, 1), name="rod"))
    >>> world.add(lw.Constraint(rod, lambda b, t: b.point((0, 0, -1))[2], name="foot"))  # it slides on the floor
    <Constraint "foot">
    >>> world.add(lw.Constraint(rod, lambda b, t: b.direction((0, 0, 1))[:2], name="upright"))
    <Constraint "upright">
    >>> world.add(lw.Constraint(rod, lambda b, t: b.orientation[1, 0] - lw.sin(t**2), name="turn"))
    <Constraint "turn">
    >>> bead = world.add(lw.Particle(0.2, position=(0, 1, 1), name="bead"))
    >>> world.add(lw.Constraint(rod, bead, lambda a, b, t: lw.norm(b.position - a.position) - 1, name="string"))
    <Constraint "string">
    >>> sim = lw.Simulation(world)
    >>> sim.step(500)
    >>> sim.angular_velocity("rod").round(6) + 0.0, bool(sim.drift() < 1e-10)
    (array([0., 0., 1.]), True)

    Three bodies on one rope, which runs over a pulley from the first to the second, and over another to the third:

    >>> world = lw.World(gravity=(0, 0, -10))
    >>> loads = [world.add(lw.PlanarParticle(m, position=(k, 0, 0))) for k, m in enumerate((1.0, 2.0, 1.0))]
    >>> rails = [world.add(lw.Constraint(load, lambda b, t, k=k: b.position[0] - k)) for k, load in enumerate(loads)]
    >>> rope = world.add(lw.Constraint(*loads, lambda a, b, c, t: a.position[2] + 2 * b.position[2] + c.position[2]))
    >>> sim = lw.Simulation(world)
    >>> float(sim.reaction(rope, loads[1]).force[2].round(9))
    20.0

    `force` names what holds the rows, if not forces along their own gradients: another function of the bodies and t, with a
    rate for each row, linear in velocities (see VelocityConstraint). The power of the row's force is its multiplier times that
    rate: b.spin(d) stands for a torque about d, lw.dot(d, b.point_velocity(p)) for a force along d at p. With it goes the
    solver "anticipation". An arm is held level by a torque on a flywheel:

    >>> world = lw.World(gravity=(0, 0, -10))
    >>> arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    >>> wheel = world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2), position=(1, 0, 0), name="wheel"))
    >>> for at, a, b in (((0, 0, 0), world.ground, arm), ((1, 0, 0), arm, wheel)):
    ...     added = world.add(lw.Hinge(a, b, at=at, axis=(0, 1, 0)))
    >>> level = lw.Constraint(arm, wheel, lambda a, w, t: a.point((1, 0, 0))[2], name="level",
    ...                       force=lambda a, w, t: w.spin((0, 1, 0)) - a.spin((0, 1, 0)))
    >>> world.add(level)
    <Constraint "level">
    >>> sim = lw.Simulation(world, solver="anticipation")
    >>> sim.reaction("level", "wheel").torque.round(9) + 0.0
    array([ 0., 20.,  0.])
    """

    REFERENCES: ClassVar[dict[str, str]] = {"bodies": "body"}
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"function": ("bodies", "t"), "force": ("bodies", "t")}

    bodies: tuple[BodyLike, ...]
    function: Callable[..., Any]
    force: Callable[..., Any] | None

    include_at = users_function_moved

    @overload
    def __init__(self, body: BodyLike, function: Callable[[BodyProxy, Expression], Rows], /, *,
                 force: Callable[..., Rows] | None = None,
                 name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, a: BodyLike, b: BodyLike, function: Callable[[BodyProxy, BodyProxy, Expression], Rows], /, *,
                 force: Callable[..., Rows] | None = None,
                 name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, a: BodyLike, b: BodyLike, c: BodyLike, /, *more: BodyLike | Callable[..., Rows],
                 force: Callable[..., Rows] | None = None, name: str | None = None) -> None: ...  # fmt: skip
    @overload
    def __init__(self, *bodies: BodyLike, function: Callable[..., Rows], force: Callable[..., Rows] | None = None,
                 name: str | None = None) -> None: ...  # fmt: skip
    def __init__(self, *bodies: Any, function: Callable[..., Any] | None = None, force: Callable[..., Any] | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        self.name = name
        self.bodies, self.function = bodies_and_function(self, bodies, function)
        self.force = checks.optional(checks.function, self, "force", force, body_arguments(len(self.bodies)))
        super().__post_init__()


@dataclass(eq=False, repr=False, init=False)
class VelocityConstraint(Constraint):
    """Any velocity-level (nonholonomic) constraint: as Constraint, its function may speak of velocities.

    Beside `b.position`, `b.point(p)`, `b.direction(d)`, `b.orientation` and `b.coordinates` (see Constraint) a body b has there

    - `b.velocity` (3, m/s), `b.point_velocity(p)`: of its reference point and of its local point p,
    - `b.angular_velocity` (3, rad/s), `b.spin(d)`: its part about the local direction d, a number,
    - `b.rates` (n): of a LagrangianBody, the rates u' of its generalised coordinates.

    >>> VelocityConstraint("a", "b", lambda a, b, t: a.spin((0, 0, 1)) - 2 * b.spin((0, 0, 1)), name="gear")
    <VelocityConstraint "gear">
    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, 0))
    >>> sled = world.add(lw.RigidBody(1.0, (1, 1, 1), velocity=(2, 0, 0), name="sled"))
    >>> def blade(b, t):  # its front does not go sideways
    ...     return lw.dot(b.point_velocity((1, 0, 0)), b.direction((0, 1, 0)))
    >>> world.add(lw.VelocityConstraint(sled, blade, name="blade"))
    <VelocityConstraint "blade">
    >>> world.add(lw.VelocityConstraint(sled, lambda b, t: b.angular_velocity - (0, 0, t), name="steered"))
    <VelocityConstraint "steered">
    >>> sim = lw.Simulation(world)
    >>> sim.step(500)
    >>> round(sim.drift(velocity=True), 9), round(float(sim.angular_velocity("sled")[2]), 6)
    (0.0, 0.5)
    """


@kind_of(Constraint)
class UserConstraintKind(ConstraintKind):
    """The user's function, and that of the forces which hold its rows, if there is one."""

    users_function = True
    level = POSITION

    def __init__(self, element: Any) -> None:
        traced = element.traced("function")
        if self.level == POSITION and traced.uses_velocity:
            checks.fail(element, "its function speaks of velocities", "use lw.VelocityConstraint")
        self._take(element, traced, None if element.force is None else _force(element, traced.size))
        self.levels = [self.level] * traced.size
        self.force_directed = self.force is not None
        self.forced = traced.uses_time or self.level == VELOCITY or self.force_directed

    def _take(self, element: Any, traced: Traced, force: Traced | None) -> None:
        """What follows from the functions of rows, and of rates beside them."""
        self.traced, self.force = traced, force
        both = [traced, *([force] if force else [])]
        self.user_parameters = tuple(parameter for function in both for parameter in function.parameters)
        self.key = f"{self.level}:{':'.join(function.digest for function in both)}"
        self.fields = {"user": len(self.user_parameters)}
        self.arity = len(element.bodies)
        self.nonlinear = traced.nonlinear
        turning = {number for function in both for number, what, _ in function.requests if what in ("axis", "spin")}
        ground = (False,) * (2 - self.arity)
        self.needs_directions = (*ground, *[k in turning for k in range(self.arity)])
        self.rigid_only = (False,) * len(self.needs_directions)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.bodies if len(element.bodies) > 1 else (None, *element.bodies)

    def points_of(self, end: int) -> list[tuple[float, ...]]:
        return asked_points(
            [f for f in (self.traced, self.force) if f is not None], end - len(self.needs_directions) + self.arity
        )

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        return {}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        rows = on_tape(self.traced, handles[-self.arity :], [t], p["user"][: len(self.traced.parameters)])
        return [(self.level, rows[i]) for i in range(rows.shape[0])]

    def rates(self, handles: Sequence[Handle], p: Params, t: SX) -> list[SX]:
        assert self.force is not None
        rates = on_tape(self.force, handles[-self.arity :], [t], p["user"][len(self.traced.parameters) :])
        return [rates[i] for i in range(rates.shape[0])]


@kind_of(VelocityConstraint)
class VelocityConstraintKind(UserConstraintKind):
    level = VELOCITY


def _force(element: Constraint, size: int) -> Traced:
    """The rates on which the multipliers of a user's constraint work, checked."""
    force = element.traced("force")
    if not force.uses_velocity:
        checks.fail(element, "its force speaks of no velocity", "give the rate that it works on, such as b.spin((0, 0, 1))")
    if force.nonlinear:
        checks.fail(element, "its force is not linear in velocities", "give rates such as b.spin((0, 0, 1))")
    if force.size != size:
        checks.fail(element, f"its force gives {force.size} numbers for {size} rows", "give one rate a row")
    return force
