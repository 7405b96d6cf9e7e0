"""Constraints that are no joints: points on curves, gears, rolling, prescribed motion, and any function of a user.

`a` and `b` are bodies or their names; `at`, `axis`, `normal` are in the world as built, `on_a`, `on_b`, `axis_a`,
`normal_a` in the bodies' frames. Directions are unit vectors once made. Metres, seconds, radians.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ConstraintElement, Vector, body_arguments, check_ends
from linkwork.elements.core.joint import Joint, one_way
from linkwork.elements.core.parameter import Parameter

ORIGIN = checks.ZERO


@dataclass(eq=False, repr=False)
class PairConstraint(ConstraintElement):
    """A constraint between two bodies."""

    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}

    a: Body | str
    b: Body | str


@dataclass(eq=False, repr=False)
class Distance(PairConstraint):
    """Two points stay at a distance; without a length, at that of the bodies as built.

    >>> Distance("bead", "ground", 0.5, on_b=(0, 0, 1)).length
    0.5
    """

    length: float | Parameter | None = None  # m
    on_a: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in a's frame
    on_b: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self):
        super().__post_init__()
        self.length = checks.optional(checks.positive, self, "length", self.length, parameter=True)
        self.on_a = checks.vector(self, "on_a", self.on_a)
        self.on_b = checks.vector(self, "on_b", self.on_b)


@dataclass(eq=False, repr=False)
class PointOn(PairConstraint):
    """A point of b on a flat figure of a. The figure passes through `at` or `on_a`, else through b's point as built.

    b's point is `on_b`, else where `at` or `on_a` lies as built, else its `position`.
    """

    DIRECTION: ClassVar[str]

    at: Vector | None = None  # (3,), m, world
    on_a: Vector | None = field(default=None, kw_only=True)  # (3,), m, in a's frame
    on_b: Vector | None = field(default=None, kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self):
        super().__post_init__()
        self.at = checks.optional(checks.vector, self, "at", self.at)
        self.on_a = checks.optional(checks.vector, self, "on_a", self.on_a)
        self.on_b = checks.optional(checks.vector, self, "on_b", self.on_b)
        if self.at is not None and self.on_a is not None:
            checks.fail(self, "both at and on_a are given", "give at= or on_a=, not both")
        one_way(self, checks.direction, self.DIRECTION, (self.DIRECTION + "_a",), "a direction such as (0, 0, 1)")


@dataclass(eq=False, repr=False)
class PointOnLine(PointOn):
    """A point of b stays on a line of a (two rows).

    >>> PointOnLine("ground", "bead", at=(0, 0, 0), axis=(1, 0, 0), name="wire")
    <PointOnLine "wire">
    """

    DIRECTION: ClassVar[str] = "axis"

    axis: Vector | None = None  # (3,), unit, world
    axis_a: Vector | None = field(default=None, kw_only=True)  # (3,), unit, in a's frame


@dataclass(eq=False, repr=False)
class PointOnPlane(PointOn):
    """A point of b stays in a plane of a (one row).

    >>> PointOnPlane("ground", "table", normal=(0, 0, 1), on_b=(0, 0, -0.4), name="foot")
    <PointOnPlane "foot">
    """

    DIRECTION: ClassVar[str] = "normal"

    normal: Vector | None = None  # (3,), unit, world
    normal_a: Vector | None = field(default=None, kw_only=True)  # (3,), unit, in a's frame


@dataclass(eq=False, repr=False)
class PointOnCurve(PairConstraint):
    """A point of b stays on a curve of a: a function of the point p in a's frame, two expressions that vanish on it.

    >>> PointOnCurve("ground", "bead", lambda p: (p[0]**2 + p[2]**2 - 1, p[1]), name="hoop")
    <PointOnCurve "hoop">

    Or, where a `start` is given, a function of the curve's own coordinate that gives the three coordinates of its points in a's
    frame: b's point is nearest to where that is `start`, and from then on the coordinate is found in each step
    (`sim.unknowns` tells it).

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bead = world.add(lw.Particle(0.2, position=(1, 0, 0)))
    >>> helix = world.add(PointOnCurve(world.ground, bead, lambda s: (lw.cos(s), lw.sin(s), 0.2 * s), start=0.1, name="helix"))
    >>> sim = lw.Simulation(world)
    >>> sim.step(500)
    >>> s = sim.unknowns("helix")[0]
    >>> bool(sim.drift() < 1e-10), bool(abs(sim.position(bead)[2] - 0.2 * s) < 1e-10), round(float(s), 2)
    (True, True, -0.24)
    """

    FUNCTIONS: ClassVar[dict] = {"curve": ("p",)}

    curve: Callable  # p (3) -> two expressions; or u, a number -> three
    on_b: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in b's frame
    start: float | None = field(default=None, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        self.start = checks.optional(checks.number, self, "start", self.start)
        self.curve = checks.function(self, "curve", self.curve, self.arguments("curve"))
        self.on_b = checks.vector(self, "on_b", self.on_b)

    def arguments(self, where):
        return ("p",) if self.start is None else ("u",)


@dataclass(eq=False, repr=False)
class PointOnSurface(PairConstraint):
    """A point of b stays on a surface of a: a function of the point p in a's frame, one expression that vanishes on it.

    >>> PointOnSurface("ground", "bead", lambda p: p[2] - p[0]**2, name="bowl")
    <PointOnSurface "bowl">

    Or, where a `start` is given (two numbers), a function of the surface's own two coordinates that gives the three coordinates
    of its points in a's frame; as for PointOnCurve.

    >>> PointOnSurface("ground", "bead", lambda u: (u[0], u[1], u[0] * u[1]), start=(0, 0), name="saddle")
    <PointOnSurface "saddle">
    """

    FUNCTIONS: ClassVar[dict] = {"surface": ("p",)}

    surface: Callable  # p (3) -> one expression; or u (2) -> three
    on_b: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, in b's frame
    start: Vector | None = field(default=None, kw_only=True)  # (2,)

    def __post_init__(self):
        super().__post_init__()
        self.start = checks.optional(checks.vector, self, "start", self.start, 2)
        self.surface = checks.function(self, "surface", self.surface, self.arguments("surface"))
        self.on_b = checks.vector(self, "on_b", self.on_b)

    def arguments(self, where):
        return ("p",) if self.start is None else ("u",)

    def sizes(self):
        return {"u": 2}


@dataclass(eq=False, repr=False)
class Tangent(PairConstraint):
    """Two smooth surfaces, one of a and one of b, stay in contact at a point and slide freely: one freedom is taken (baraff96
    section 2.2). They neither part nor roll over each other by force: for what may part, take a Contact.

    A surface is a function of the point p in its body's frame that vanishes on it, but not its gradient; `at` is then a point
    in the world near where they touch. Or, where `start_a` or `start_b` is given, it is a function of two coordinates u that
    gives the three coordinates of its points in the body's frame, and they touch near those u. Where they touch is found in
    each step (`sim.unknowns` tells it).

    An ellipsoid that slides on the floor:

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> egg = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 0, 0.5), angular_velocity=(1, 0, 0), name="egg"))
    >>> touch = world.add(Tangent(world.ground, egg, lambda p: p[2], lambda p: p[0] ** 2 + p[1] ** 2 / 4 + p[2] ** 2 / 0.25 - 1,
    ...                           at=(0, 0, 0), name="touch"))
    >>> sim = lw.Simulation(world)
    >>> sim.step(200)
    >>> bool(sim.drift() < 1e-10), sim.unknowns("touch").shape
    (True, (3,))
    """

    FUNCTIONS: ClassVar[dict] = {"surface_a": ("p",), "surface_b": ("p",)}

    surface_a: Callable  # p (3) -> one expression; or u (2) -> three
    surface_b: Callable
    at: Vector | None = field(default=None, kw_only=True)  # (3,), m, world
    start_a: Vector | None = field(default=None, kw_only=True)  # (2,)
    start_b: Vector | None = field(default=None, kw_only=True)  # (2,)

    def __post_init__(self):
        super().__post_init__()
        for side in ("a", "b"):
            start, surface = f"start_{side}", f"surface_{side}"
            setattr(self, start, checks.optional(checks.vector, self, start, getattr(self, start), 2))
            setattr(self, surface, checks.function(self, surface, getattr(self, surface), self.arguments(surface)))
        self.at = checks.optional(checks.vector, self, "at", self.at)
        if self.at is None and self.start_a is None and self.start_b is None:
            checks.fail(self, "at is missing", "give at=, a point in the world near where they touch")

    def arguments(self, where):
        return ("p",) if getattr(self, where.replace("surface", "start")) is None else ("u",)

    def sizes(self):
        return {"u": 2}


@dataclass(eq=False, repr=False)
class Gear(ConstraintElement):
    """Couples two joints, each a hinge, slider or screw, anywhere: x_a = ratio * x_b + offset, with x their coordinates.

    Without an offset they keep the one they have as built. At the level "velocity" only the rates are coupled. Two meshing
    wheels on the ground turn opposite ways: a negative ratio.

    >>> Gear("axle1", "axle2", -2.0, name="mesh").level
    'position'
    >>> Gear("finger", "thumb", 1.0, 0.1, name="mimic").offset
    0.1
    """

    REFERENCES: ClassVar[dict] = {"a": "joint", "b": "joint"}

    a: Joint | str
    b: Joint | str
    ratio: float | Parameter  # of a hinge and a slider: rad/m or m/rad
    offset: float | Parameter | None = None  # rad or m
    level: str = field(default="position", kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        self.ratio = checks.number(self, "ratio", self.ratio, parameter=True)
        if float(self.ratio) == 0.0:
            checks.fail(self, "ratio is 0", "give a number other than 0")
        self.offset = checks.optional(checks.number, self, "offset", self.offset, parameter=True)
        self.level = checks.choice(self, "level", self.level, ("position", "velocity"))
        if self.offset is not None and self.level == "velocity":
            checks.fail(self, f"offset is {checks.show(self.offset)} but only rates are coupled", "leave offset= out")

    def check_resolved(self, resolved):
        check_ends(self, resolved)
        for joint in resolved:
            has_coordinate(self, joint)
        one, other = resolved
        if {id(one.a), id(one.b)} == {id(other.a), id(other.b)}:
            problem = f"both its joints are between {checks.label(one.a)} and {checks.label(one.b)}"
            checks.fail(self, problem, "give joints that do not hold the same two bodies")

    def poses(self):
        """An offset is that of the joints' own coordinates, whenever the gear was made."""
        if self.offset is None:
            return super().poses()
        return {name: pose for _, _, joint in self.references() for name, pose in (joint.built or {}).items()}


@dataclass(eq=False, repr=False)
class Rolling(PairConstraint):
    """b rolls without slip on the plane of a through `at` with `normal` (one position row, two velocity rows).

    Without an axis b is a ball; with one it is a disc with that axle.

    >>> Rolling("ground", "wheel", 0.3, axis=(0, 1, 0)).radius
    0.3
    """

    radius: float | Parameter  # m
    at: Vector = field(default=ORIGIN, kw_only=True)  # (3,), m, world: a point of the plane
    normal: Vector = field(default=(0.0, 0.0, 1.0), kw_only=True)  # (3,), unit, world: towards b
    axis: Vector | None = field(default=None, kw_only=True)  # (3,), unit, world

    def __post_init__(self):
        super().__post_init__()
        self.radius = checks.positive(self, "radius", self.radius, parameter=True)
        self.at = checks.vector(self, "at", self.at)
        self.normal = checks.direction(self, "normal", self.normal)
        self.axis = checks.optional(checks.direction, self, "axis", self.axis)
        if self.axis is not None:
            checks.not_parallel(self, "axis", self.axis, "normal", self.normal)


@dataclass(eq=False, repr=False)
class Skate(ConstraintElement):
    """A knife edge: the point `at` of a body moves along `direction` (which turns with it), never across.

    Across is normal x direction; without `at` the point is the body's `position`.

    >>> Skate("sled", (1, 0, 0), name="blade")
    <Skate "blade">
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}

    body: Body | str
    direction: Vector  # (3,), unit, world
    at: Vector | None = field(default=None, kw_only=True)  # (3,), m, world
    normal: Vector = field(default=(0.0, 0.0, 1.0), kw_only=True)  # (3,), unit, world

    def __post_init__(self):
        super().__post_init__()
        self.direction = checks.direction(self, "direction", self.direction)
        self.at = checks.optional(checks.vector, self, "at", self.at)
        self.normal = checks.direction(self, "normal", self.normal)
        checks.not_parallel(self, "direction", self.direction, "normal", self.normal)


@dataclass(eq=False, repr=False)
class Drive(ConstraintElement):
    """Prescribes the rate of a hinge or screw (rad/s) or slider (m/s): a number, a Parameter or a function of t.

    >>> Drive("axle", lambda t: 2 * t, name="spin-up")
    <Drive "spin-up">
    """

    REFERENCES: ClassVar[dict] = {"joint": "joint"}
    FUNCTIONS: ClassVar[dict] = {"rate": ("t",)}

    joint: Joint | str
    rate: float | Parameter | Callable

    def __post_init__(self):
        super().__post_init__()
        if callable(self.rate):
            self.rate = checks.function(self, "rate", self.rate, ("t",))
        else:
            self.rate = checks.number(self, "rate", self.rate, parameter=True)

    def check_resolved(self, resolved):
        has_coordinate(self, resolved[0])


@dataclass(eq=False, repr=False)
class Motion(ConstraintElement):
    """Prescribes a motion in time.

    Of a joint: t -> its angle or travel. Of a body: t -> the three world coordinates of its point `at` (in its own
    frame; its `position` if not given).

    Without a function it is live: a rigid body is where and how it was built until `sim.control[name]` is given a position, or
    (position, orientation). It goes there in `within` seconds, but no less than four steps, from the velocity that it has to
    rest (a cubic in time; orientations the shorter way), whatever pushes it. In first-order motion, which knows no velocity at
    the beginning, it slows down all the way.

    >>> Motion("hand", lambda t: (0.1 * t, 0, 1), at=(0, 0, 0.2), name="path")
    <Motion "path">
    >>> Motion("gripper", within=0.1, name="hand of the user").live
    True
    """

    REFERENCES: ClassVar[dict] = {"target": "body or joint"}
    FUNCTIONS: ClassVar[dict] = {"function": ("t",)}

    target: Body | Joint | str
    function: Callable | None = None
    at: Vector | None = field(default=None, kw_only=True)  # (3,), m, in the body's frame
    within: float = field(default=0.02, kw_only=True)  # s, of a live one

    def __post_init__(self):
        super().__post_init__()
        if not self.live:
            self.function = checks.function(self, "function", self.function, ("t",))
        self.at = checks.optional(checks.vector, self, "at", self.at)
        self.within = checks.non_negative(self, "within", self.within)

    @property
    def live(self):
        """Whether commands move it."""
        return self.function is None

    def check_resolved(self, resolved):
        check_ends(self, resolved)
        if self.live:
            if getattr(resolved[0], "kind", None) != "rigid":
                checks.fail(self, f"{checks.label(resolved[0])} takes no commands as a whole", "give a function of t")
            if self.at is not None:
                checks.fail(self, f"at is {checks.show(self.at)} but the whole body is commanded", "leave at= out")
        if isinstance(resolved[0], Joint):
            has_coordinate(self, resolved[0])
            if self.at is not None:
                checks.fail(self, f"at is {checks.show(self.at)} but the target is a joint", "leave at= out")


def has_coordinate(who, joint):
    """A joint with one angle or travel."""
    if not joint.has_coordinate:
        checks.fail(who, f"{checks.label(joint)} has no single coordinate", "give a hinge, a slider or a screw")


@dataclass(eq=False, repr=False, init=False)
class Constraint(ConstraintElement):
    """Any position-level constraint: one body or more, then a function of them and t that vanishes when it holds.

    The function gives one expression, or a list of them. Inside it a body b has, as expressions in the world frame,

    - `b.position` (3, m), `b.point(p)`: where its reference point and its local point p (three numbers) are,
    - `b.direction(d)` (3): where its local direction d points,
    - `b.orientation` (3 by 3): its axes as columns, `b.orientation[:, 0]` is `b.direction((1, 0, 0))`,

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

    REFERENCES: ClassVar[dict] = {"bodies": "body"}
    FUNCTIONS: ClassVar[dict] = {"function": ("bodies", "t"), "force": ("bodies", "t")}

    bodies: tuple
    function: Callable
    force: Callable | None

    def __init__(self, *bodies, function=None, force=None, name=None):
        self.name = name
        self.bodies, self.function = bodies_and_function(self, bodies, function)
        self.force = checks.optional(checks.function, self, "force", force, body_arguments(len(self.bodies)))
        super().__post_init__()


@dataclass(eq=False, repr=False, init=False)
class VelocityConstraint(Constraint):
    """Any velocity-level (nonholonomic) constraint: as Constraint, its function may speak of velocities.

    Beside `b.position`, `b.point(p)`, `b.direction(d)` and `b.orientation` (see Constraint) a body b has there

    - `b.velocity` (3, m/s), `b.point_velocity(p)`: of its reference point and of its local point p,
    - `b.angular_velocity` (3, rad/s), `b.spin(d)`: its part about the local direction d, a number.

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


def bodies_and_function(who, arguments, function, most=None):
    """(bodies, function) from the positional arguments: the function is the last of them unless given by its name. `most`: how
    many bodies there may be."""
    bodies = tuple(arguments)
    if function is None and bodies:
        bodies, function = bodies[:-1], bodies[-1]
    if not 1 <= len(bodies) <= (most or len(bodies)):
        checks.fail(
            who, f"it has {len(bodies)} bodies", f"give one {'or two bodies' if most else 'body or more'}, then the function"
        )
    return bodies, checks.function(who, "function", function, body_arguments(len(bodies)))
