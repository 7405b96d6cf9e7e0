"""What touches what: colliders, contacts, and hard stops that act in one direction alone. SI units.

Without a `Contact` in the world no body touches another. Bodies that a joint or constraint connects never touch.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from . import checks
from .base import Body, Element, Scalar, Vector, check_ends
from .joints import Cylindrical, Hinge, Joint, Screw, Slider
from .shapes import Shape

FRICTION = 0.5  # of colliders and bodies' own shapes where nobody says anything else
BOUNCE_ABOVE = 0.1  # m/s, the speed of approach below which nothing bounces
RECOVERY = 1.0  # m/s, the largest speed at which penetration is taken back


@dataclass(eq=False, repr=False)
class ContactElement(Element):
    """What acts by impulses that only push."""

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
    `group` never touch each other.

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
        if not isinstance(self.shape, Shape):
            checks.fail(self, f"shape is {checks.show(self.shape)}", "give a shape such as lw.Sphere(0.1)")
        self.position = checks.vector(self, "position", self.position)
        self.orientation = checks.quaternion(self, "orientation", self.orientation)
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
    """Bodies that never touch one another, whatever Contacts say.

    >>> NoContact("thigh", "pelvis", name="hip clearance")
    <NoContact "hip clearance">
    """

    REFERENCES: ClassVar[dict] = {"bodies": "body"}
    acts: ClassVar[bool] = False

    bodies: tuple = ()

    def __init__(self, *bodies, name=None):
        self.bodies, self.name = bodies, name
        self.__post_init__()
        if len(bodies) < 2:
            checks.fail(self, f"it names {len(bodies)} bodies", "give at least two")

    def check_resolved(self, resolved):
        for k, body in enumerate(resolved):
            if body in resolved[:k]:
                checks.fail(self, f"it names {checks.label(body)} twice", "give different bodies")


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
    """A hard stop: the angle of a hinge or screw (rad, turns counted), or the travel of a slider or cylinder (m), stays between
    `lower` and `upper`, of which one may be left out. `JointLimit` is the soft one.

    >>> HardLimit("elbow", lower=0.0, upper=2.0, name="elbow stop").upper
    2.0
    """

    REFERENCES: ClassVar[dict] = {"joint": "joint"}
    JOINTS: ClassVar[tuple] = (Hinge, Screw, Slider, Cylindrical)

    joint: Joint | str
    lower: Scalar = None  # rad or m
    upper: Scalar = None  # rad or m
    restitution: float = field(default=0.0, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        self.lower = checks.optional(checks.number, self, "lower", self.lower)
        self.upper = checks.optional(checks.number, self, "upper", self.upper)
        if self.lower is None and self.upper is None:
            checks.fail(self, "it has neither a lower nor an upper bound", "give lower=, upper= or both")
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            checks.fail(self, f"lower is {self.lower:g} and upper {self.upper:g}", "give lower < upper")
        self._check_restitution()

    def check_resolved(self, resolved):
        if not isinstance(resolved[0], self.JOINTS):
            checks.fail(self, f"{checks.label(resolved[0])} has no single coordinate",
                        "give a hinge, screw, slider or cylinder")  # fmt: skip
