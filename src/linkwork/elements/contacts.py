"""What touches what: colliders, contacts, hard stops that act in one direction alone, and dry friction. SI units.

Without a `Contact` in the world no body touches another. Bodies that a joint or constraint connects never touch.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from linkwork.elements.constraints import has_coordinate
from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element, Scalar, Vector, check_ends
from linkwork.elements.core.freedom import FreedomLaw
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.shape import Shape, check_placed

FRICTION = 0.5  # of colliders and bodies' own shapes where nobody says anything else
BOUNCE_ABOVE = 0.1  # m/s, the speed of approach below which nothing bounces
RECOVERY = 1.0  # m/s, the largest speed at which penetration is taken back


@dataclass(eq=False, repr=False)
class ContactElement(Element):
    """What acts by impulses within bounds."""

    sort: ClassVar[str] = "contact"
    acts: ClassVar[bool] = True  # without others: a world with one of these has contact

    def _check_restitution(self):
        value = checks.non_negative(self, "restitution", vars(self)["restitution"])
        if value > 1.0:
            checks.fail(self, f"restitution is {value:g}", "give a number from 0 (no bounce) to 1 (nothing lost)")
        vars(self)["restitution"] = value


@dataclass(eq=False, repr=False)
class Collider(ContactElement):
    """A shape on a body, or on the ground, that others can touch; a body's own `shape` is one already.

    `position` and `orientation` are those of the shape in the body's frame. `friction` and `restitution` make the values of
    a pair: the geometric mean of the one, the larger of the other, unless a Contact names them. Colliders of the same
    `group` never touch each other. On a LagrangianBody it is a Sphere around the point that `position` names, such as
    body.point(1): it does not turn, and what touches it pushes the point.

    >>> from linkwork.elements import Sphere
    >>> Collider("hand", Sphere(0.02), position=(0, 0, 0.1), friction=0.8, name="fingertip")
    <Collider "fingertip">
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}
    acts: ClassVar[bool] = False

    body: Body | str
    shape: Shape
    position: Vector = checks.ZERO  # (3,), m, in the body's frame
    orientation: Vector = checks.IDENTITY  # (4,): w, x, y, z, in the body's frame
    friction: float = FRICTION
    restitution: float = 0.0
    group: str | None = None

    def __post_init__(self):
        super().__post_init__()
        check_placed(self)
        self.friction = checks.non_negative(self, "friction", self.friction)
        self._check_restitution()
        if self.group is not None and not (isinstance(self.group, str) and self.group):
            checks.fail(self, f"group is {checks.show(self.group)}", 'give a string such as "left"')


@dataclass(eq=False, repr=False, init=False)
class Contact(ContactElement):
    """Bodies that touch each other, and the ground's colliders: all bodies that have a shape or a collider, or those that are
    named alone. Of several Contacts that speak of the same pair the last one counts.

    `friction` and `restitution` are those of all its pairs, where they are given. Nothing bounces that approaches more slowly
    than `bounce_above` (m/s). Bodies that are built one inside the other leave each other with at most `recovery` (m/s).

    >>> Contact(friction=0.6, restitution=0.1).bounce_above
    0.1
    >>> len(Contact("ball", "pin1", "pin2", friction=0.2).bodies)
    3
    """

    REFERENCES: ClassVar[dict] = {"bodies": "body"}

    bodies: tuple = ()
    friction: Scalar = None
    restitution: Scalar = None
    bounce_above: float = BOUNCE_ABOVE  # m/s
    recovery: float = RECOVERY  # m/s

    def __init__(self, *bodies, friction=None, restitution=None, bounce_above=BOUNCE_ABOVE, recovery=RECOVERY, name=None):
        self.bodies, self.name = bodies, name
        self.__post_init__()
        self.friction = checks.optional(checks.non_negative, self, "friction", friction)
        self.restitution = restitution
        if restitution is not None:
            self._check_restitution()
        self.bounce_above = checks.non_negative(self, "bounce_above", bounce_above)
        self.recovery = checks.non_negative(self, "recovery", recovery)

    def check_resolved(self, resolved):
        moving = [body for body in resolved if body.dim]
        if resolved and not moving:
            checks.fail(self, "it names the ground alone", "give a body that moves, or none for all of them")


@dataclass(eq=False, repr=False, init=False)
class NoContact(ContactElement):
    """Bodies that never touch one another, whatever Contacts say. A Collider in the place of a body speaks of itself alone.

    >>> NoContact("thigh", "pelvis", name="hip clearance")
    <NoContact "hip clearance">
    """

    REFERENCES: ClassVar[dict] = {"bodies": "body or contact collider"}
    acts: ClassVar[bool] = False

    bodies: tuple = ()

    def __init__(self, *bodies, name=None):
        self.bodies, self.name = bodies, name
        self.__post_init__()
        if len(bodies) < 2:
            checks.fail(self, f"it names {len(bodies)} bodies", "give at least two")

    def check_resolved(self, resolved):
        for k, item in enumerate(resolved):
            if isinstance(item, ContactElement) and not isinstance(item, Collider):
                checks.fail(self, f"it names {checks.label(item)}", "give bodies or Colliders")
            if item in resolved[:k]:
                checks.fail(self, f"it names {checks.label(item)} twice", "give different bodies")


@dataclass(eq=False, repr=False)
class Rope(ContactElement):
    """Two points are never farther apart than `length` (without one: than as built); it pulls and does not push.

    >>> Rope("balloon", "hand", length=1.5, on_a=(0, 0, -0.1), name="string").length
    1.5
    """

    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}

    a: Body | str
    b: Body | str
    length: Scalar = None  # m
    on_a: Vector = field(default=checks.ZERO, kw_only=True)  # (3,), m, in a's frame
    on_b: Vector = field(default=checks.ZERO, kw_only=True)  # (3,), m, in b's frame
    restitution: float = field(default=0.0, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        self.length = checks.optional(checks.positive, self, "length", self.length)
        self.on_a = checks.vector(self, "on_a", self.on_a)
        self.on_b = checks.vector(self, "on_b", self.on_b)
        self._check_restitution()

    def check_resolved(self, resolved):
        check_ends(self, resolved)


@dataclass(eq=False, repr=False)
class HardLimit(ContactElement):
    """A hard stop: what a joint leaves free stays between `lower` and `upper`, of which one may be left out. `JointLimit` is
    the soft one.

    They bound the angle of hinges and screws (rad, turns counted), the travel of sliders and cylinders (m), both angles of
    universals (two numbers each, or one for both) and the angle of a plane about its normal. Turns of these two are not
    counted: bounds are below pi, and with one alone what turns the other way goes round and past it. A ball is held within a
    `cone` (rad) about an `axis` (world, as built): the largest angle between that axis on a and on b. The turn of a cylinder
    stays between the two of `twist` (rad, turns counted).

    >>> HardLimit("elbow", lower=0.0, upper=2.0, name="elbow stop").upper
    2.0
    >>> HardLimit("hip", cone=0.8, axis=(0, 0, -1), name="socket").cone
    0.8
    """

    REFERENCES: ClassVar[dict] = {"joint": "joint"}

    joint: Joint | str
    lower: Scalar | Vector = None  # rad or m; (2,) rad
    upper: Scalar | Vector = None  # rad or m; (2,) rad
    restitution: float = field(default=0.0, kw_only=True)
    cone: Scalar = field(default=None, kw_only=True)  # rad, below pi
    twist: Vector | None = field(default=None, kw_only=True)  # (2,), rad
    axis: Vector | None = field(default=None, kw_only=True)  # (3,), unit, world

    def __post_init__(self):
        super().__post_init__()
        for name in ("lower", "upper"):
            value = getattr(self, name)
            pair = checks.entries(value) is not None
            setattr(
                self, name, checks.vector(self, name, value, 2) if pair else checks.optional(checks.number, self, name, value)
            )
        self.cone = checks.optional(checks.positive, self, "cone", self.cone)
        if self.cone is not None and not self.cone < math.pi:
            checks.fail(self, f"cone is {self.cone:g}", "give an angle below pi")
        self.twist = None if self.twist is None else checks.vector(self, "twist", self.twist, 2)
        self.axis = checks.optional(checks.direction, self, "axis", self.axis)
        if not self.given():
            checks.fail(self, "it has neither a lower nor an upper bound", "give lower=, upper= or both; of a ball, cone=")
        for lower, upper in [*self.bounds(2), *([] if self.twist is None else [tuple(self.twist.tolist())])]:
            if lower is not None and upper is not None and not lower < upper:
                checks.fail(self, f"lower is {lower:g} and upper {upper:g}", "give lower < upper")
        self._check_restitution()

    def given(self):
        """Which of a joint's coordinates are bounded: "bounds" (lower, upper), "cone", "twist"."""
        there = {"bounds": self.lower is not None or self.upper is not None, "cone": self.cone is not None,
                 "twist": self.twist is not None}  # fmt: skip
        return tuple(name for name, is_there in there.items() if is_there)

    def bounds(self, count):
        """(lower, upper), None where there is none, of so many coordinates."""
        ends = [[value] * count if checks.entries(value) is None else value.tolist() for value in (self.lower, self.upper)]
        return list(zip(*ends, strict=True))

    def check_resolved(self, resolved):
        (joint,) = resolved
        kind = kind_of_joint(joint)
        bounded = kind.bounded
        words = {"bounds": "lower= or upper=", "cone": "cone=", "twist": "twist="}
        if not bounded:
            checks.fail(self, f"{checks.label(joint)} has no coordinate to bound", "give another joint")
        for name in self.given():
            if name not in bounded:
                checks.fail(self, f"{checks.label(joint)} has no use for {words[name]}",
                            f"give {' or '.join(words[each] for each in bounded)}")  # fmt: skip
        for name in ("lower", "upper"):
            value = checks.entries(getattr(self, name))
            if value is not None and kind.law is not FreedomLaw.CROSS:
                checks.fail(self, f"{name} is {checks.show(value)} on {checks.label(joint)}", "give one number")
        if not kind.whole_turns:
            for bound in [end for pair in self.bounds(2) for end in pair if end is not None]:
                if not abs(bound) < math.pi:
                    checks.fail(self, f"a bound of {checks.label(joint)} is {bound:g}", "give angles between -pi and pi")
        if (kind.law is FreedomLaw.ROTATION) != (self.axis is not None):
            problem = "axis is missing" if self.axis is None else f"{checks.label(joint)} has an axis of its own"
            checks.fail(self, problem, "give axis= for a ball, and only there")


@dataclass(eq=False, repr=False)
class JointFriction(ContactElement):
    """Dry friction of a hinge, slider or screw: it sticks, exactly, until what drives the joint is larger than `friction`, and
    slips with that torque (N m; of a slider the force, N) against its motion.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    >>> world.add(JointFriction(axle, 6.0, name="brake"))
    <JointFriction "brake">
    >>> sim = lw.Simulation(world)
    >>> sim.step(100)
    >>> bool(abs(sim.angle(axle)) < 1e-9), sim.reaction("brake").generalised.round(6) + 0.0
    (True, array([-5.]))
    """

    REFERENCES: ClassVar[dict] = {"joint": "joint"}

    joint: Joint | str
    friction: float  # N m or N

    def __post_init__(self):
        super().__post_init__()
        self.friction = checks.positive(self, "friction", self.friction)

    def check_resolved(self, resolved):
        has_coordinate(self, resolved[0])
