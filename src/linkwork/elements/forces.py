"""Forces: springs, dampers, drag, loads, motors, and any function of a user.

`a`, `b` and `body` are bodies or their names; `on_a`, `on_b` and `at` are in the bodies' frames, metres. Any number may
be a Parameter.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from linkwork.elements.constraints import ORIGIN, bodies_and_function, has_coordinate
from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ForceElement, OpenVector, Vector
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.parameter import Parameter


@dataclass(eq=False, repr=False)
class PairForce(ForceElement):
    """A force along the line between a point of a and a point of b."""

    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}

    a: Body | str
    b: Body | str
    on_a: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in a's frame
    on_b: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self):
        super().__post_init__()
        self.on_a = checks.vector(self, "on_a", self.on_a)
        self.on_b = checks.vector(self, "on_b", self.on_b)


@dataclass(eq=False, repr=False)
class Spring(PairForce):
    """A spring, with a damper along it; without a rest length it is at rest as built.

    >>> Spring("ground", "mass", 100.0, rest=0.2, damping=Parameter(0.5, name="c"), on_a=(0, 0, 1)).stiffness
    100.0
    """

    stiffness: float | Parameter  # N/m
    rest: float | Parameter | None = None  # m
    damping: float | Parameter = 0.0  # N s/m

    def __post_init__(self):
        super().__post_init__()
        _check_coefficients(self, "stiffness", "damping")
        self.rest = checks.optional(checks.non_negative, self, "rest", self.rest, parameter=True)


@dataclass(eq=False, repr=False)
class Damper(PairForce):
    """A damper: a force against the rate at which two points draw apart.

    >>> Damper("ground", "door", 3.0, on_b=(0.4, 0, 0)).damping
    3.0
    """

    damping: float | Parameter  # N s/m

    def __post_init__(self):
        super().__post_init__()
        _check_coefficients(self, "damping")


@dataclass(eq=False, repr=False)
class Drag(ForceElement):
    """Resistance at the point `at`: -(linear + quadratic |v|) v, and the torque -angular w.

    >>> Drag("ball", quadratic=0.02).linear
    0.0
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}

    body: Body | str
    linear: float | Parameter = 0.0  # N s/m
    quadratic: float | Parameter = 0.0  # N s^2/m^2
    angular: float | Parameter = 0.0  # N m s
    at: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in the body's frame

    def __post_init__(self):
        super().__post_init__()
        _check_coefficients(self, "linear", "quadratic", "angular")
        self.at = checks.vector(self, "at", self.at)


@dataclass(eq=False, repr=False)
class Wrench(ForceElement):
    """A force at the point `at` and a torque, each of three numbers or Parameters, or a function of t that gives them.

    Their components are along the axes of the world, or of the body with frame="body".

    >>> Wrench("rocket", force=lambda t: (0, 0, 10 - t), frame="body").torque.tolist()
    [0.0, 0.0, 0.0]
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}
    FUNCTIONS: ClassVar[dict] = {"force": ("t",), "torque": ("t",)}

    body: Body | str
    force: OpenVector | Callable = ORIGIN  # (3,), N
    torque: OpenVector | Callable = ORIGIN  # (3,), N m
    at: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in the body's frame
    frame: str = field(default="world", kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        for name in ("force", "torque"):
            value = getattr(self, name)
            if callable(value):
                checks.function(self, name, value, ("t",))
            else:
                setattr(self, name, checks.vector(self, name, value, parameter=True))
        self.at = checks.vector(self, "at", self.at)
        self.frame = checks.choice(self, "frame", self.frame, ("world", "body"))


@dataclass(eq=False, repr=False)
class Motor(ForceElement):
    """Drives a hinge, slider or screw by its control u, `sim.control[name]`, with x the joint's coordinate; or the generalised
    coordinate x with the number `coordinate` (0 unless told) of a LagrangianBody, given in the place of the joint.

    The torque (N m; of a slider the force, N) is u for kind "torque", kp (u - x) - kd x' for "position" and kd (u - x')
    for "velocity", and never beyond +-limit. What is commanded beyond `range` counts as its nearer end. With a `gear` the motor
    has gear x in the place of x, and the joint takes gear times the motor's torque, to which `limit` belongs.

    >>> Motor("axle", kind="velocity", kd=5.0, limit=20.0, name="drive")
    <Motor "drive">
    >>> Motor("knee", gear=100.0, range=(-1, 1), name="servo").range.tolist()
    [-1.0, 1.0]
    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, 0))
    >>> arms = world.add(lw.double_pendulum(angles=(0.5, 0.5), name="arms"))
    >>> elbow = world.add(Motor(arms, "position", kp=40.0, kd=8.0, coordinate=1, name="elbow"))
    >>> sim = lw.Simulation(world)
    >>> sim.control["elbow"] = 1.0
    >>> sim.step(5000)
    >>> float(sim.coordinates(arms)[1].round(3))
    1.0
    """

    REFERENCES: ClassVar[dict] = {"joint": "body or joint"}
    GAINS: ClassVar[dict] = {"torque": (), "position": ("kp", "kd"), "velocity": ("kd",)}

    joint: Joint | Body | str
    kind: str = "torque"
    kp: float | Parameter = 0.0  # N m/rad or N/m
    kd: float | Parameter = 0.0  # N m s/rad or N s/m
    limit: float | Parameter | None = None  # N m or N, of the motor
    gear: float | Parameter = field(default=1.0, kw_only=True)
    range: OpenVector | None = field(default=None, kw_only=True)  # (2,): of commands
    coordinate: int | None = field(default=None, kw_only=True)  # of a LagrangianBody: which of its coordinates, from 0

    def __post_init__(self):
        super().__post_init__()
        self.kind = checks.choice(self, "kind", self.kind, self.GAINS)
        _check_coefficients(self, "kp", "kd")
        self.limit = checks.optional(checks.positive, self, "limit", self.limit, parameter=True)
        self.gear = checks.number(self, "gear", self.gear, parameter=True)
        if float(self.gear) == 0.0:
            checks.fail(self, "gear is 0", "give a number other than 0")
        if self.range is not None:
            self.range = checks.vector(self, "range", self.range, 2, parameter=True)
            if not float(self.range[0]) <= float(self.range[1]):
                checks.fail(self, f"range is {checks.show(self.range)}", "give its lower end, then its upper one")
        gains = self.GAINS[self.kind]
        for name in {"kp", "kd"}.difference(gains):
            if isinstance(getattr(self, name), Parameter) or getattr(self, name) != 0.0:
                checks.fail(self, f'kind "{self.kind}" has no {name}', f"leave {name}= out or give another kind")
        if gains and not isinstance(getattr(self, gains[0]), Parameter):  # a Parameter may start at zero
            remedy = f'give {gains[0]} > 0 for kind "{self.kind}"'
            checks.positive(self, gains[0], getattr(self, gains[0]), remedy=remedy)
        if self.coordinate is not None and (type(self.coordinate) is not int or self.coordinate < 0):
            checks.fail(self, f"coordinate is {checks.show(self.coordinate)}", "give a whole number from 0 on")

    def check_resolved(self, resolved):
        moved = resolved[0]
        if isinstance(moved, Joint):
            has_coordinate(self, moved)
            if self.coordinate is not None:
                checks.fail(self, f"coordinate is {self.coordinate}, and {checks.label(moved)} is a joint", "leave it out")
        elif not moved.generalised:
            checks.fail(self, f"{checks.label(moved)} has no coordinates of its own", "give a joint, or a LagrangianBody")
        elif (self.coordinate or 0) >= moved.generalised:
            checks.fail(self, f"coordinate is {self.coordinate}, and {checks.label(moved)} has {moved.generalised}",
                        f"count from 0 to {moved.generalised - 1}")  # fmt: skip


@dataclass(eq=False, repr=False, init=False)
class Cable(ForceElement):
    """A spring and damper in the length of a cable that runs straight from point to point of bodies, freely through all but
    its ends: a tendon.

    `points`: (body, at) in turn, `at` in the body's frame. The tension is stiffness (l - rest) + damping l', with l the whole
    length; without a rest, that as built. Between the two of `rest=(lower, upper)` the spring is slack, and below them it
    pushes.

    >>> Cable([("ground", (0, 0, 1)), ("arm", (0.1, 0, 0)), ("hand", (0, 0, 0))], 200.0, rest=(0, 0.8), name="tendon")
    <Cable "tendon">
    """

    REFERENCES: ClassVar[dict] = {"bodies": "body"}

    bodies: tuple
    at: Vector  # (n, 3), m, in the bodies' frames
    stiffness: float | Parameter  # N/m
    damping: float | Parameter  # N s/m
    rest: OpenVector | None  # m, or (2,) m

    def __init__(self, points, stiffness=0.0, damping=0.0, rest=None, *, name=None):
        self.name = name
        pairs = [checks.entries(point) or [] for point in checks.entries(points) or ()]
        if len(pairs) < 2 or any(len(pair) != 2 for pair in pairs):
            remedy = 'give two or more of (body, point), such as [("arm", (0, 0, 0)), ("hand", (0.1, 0, 0))]'
            checks.fail(self, f"points is {checks.show(points)}", remedy)
        self.bodies = tuple(body for body, _ in pairs)
        super().__post_init__()
        self.at = np.array([checks.vector(self, f"points[{k}]", at) for k, (_, at) in enumerate(pairs)])
        self.stiffness, self.damping = stiffness, damping
        _check_coefficients(self, "stiffness", "damping")
        self.rest = rest
        if rest is not None and checks.entries(rest) is None:
            self.rest = checks.non_negative(self, "rest", rest, parameter=True)
        elif rest is not None:
            self.rest = checks.vector(self, "rest", rest, 2, parameter=True)
            if not 0.0 <= float(self.rest[0]) <= float(self.rest[1]):
                checks.fail(self, f"rest is {checks.show(self.rest)}", "give the shorter length, then the longer one")

    def check_resolved(self, resolved):
        for one, other in itertools.pairwise(resolved):
            if one is other:
                checks.fail(self, f"it runs from {checks.label(one)} to itself", "give another body after each")
        if all(body.dim == 0 for body in resolved):
            checks.fail(self, "it acts on the ground alone", "give a body that moves")


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

    REFERENCES: ClassVar[dict] = {"bodies": "body"}
    FUNCTIONS: ClassVar[dict] = {"function": ("bodies", "t")}

    bodies: tuple
    function: Callable
    at: Vector  # (3,), m, in the last body's frame
    on_a: Vector  # (3,), m, in the first body's frame; of no meaning with one body
    torque: bool
    generalised: bool = False

    def __init__(self, *bodies, function=None, at=None, on_a=None, on_b=None, torque=False, generalised=False, name=None):
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
        self.at = checks.vector(self, "at", ORIGIN if at is None else at)
        self.on_a = checks.vector(self, "on_a", ORIGIN if on_a is None else on_a)
        self.torque = torque

    def check_resolved(self, resolved):
        super().check_resolved(resolved)
        if self.generalised and not resolved[-1].generalised:
            checks.fail(self, f"{checks.label(resolved[-1])} has no coordinates of its own", "give a LagrangianBody")

    def follows(self, name):
        return name in ("at", "on_a") and not getattr(self, name).any()


def _check_coefficients(force, *names):
    for name in names:
        setattr(force, name, checks.non_negative(force, name, getattr(force, name), parameter=True))
