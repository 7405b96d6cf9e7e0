"""Forces of stiff mechanisms: springs in what a joint leaves free, soft limits, soft contact, and springs that pull a body
along a motion.

Angles in radians, travels in metres, both zero as built; right-handed about the joint's axis. Any coefficient may be a
Parameter.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ForceElement, OpenVector, Vector
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.trajectory import Trajectory

WORDS = {1: "one", 2: "two", 3: "three"}


@dataclass(eq=False, repr=False)
class JointForce(ForceElement):
    """A force on the two bodies of a joint."""

    REFERENCES: ClassVar[dict] = {"joint": "joint"}

    joint: Joint | str


@dataclass(eq=False, repr=False)
class JointSpring(JointForce):
    """A spring and damper in what a joint leaves free; without a rest it is at rest as built.

    It turns hinges, screws, cylinders (about the axis, turns counted), planes (about the normal), universals (about both
    axes: two numbers, or one for both) and balls (N m/rad and N m s; the torque is along the rotation vector from `rest`,
    continuous up to a whole turn, and starts on the shorter way). A slider's is along the axis (N/m and N s/m).
    `rest` is the joint's angle (rad), its travel (m), two angles, or a ball's orientation of b relative to a, a quaternion
    (w, x, y, z) that is the identity as built, in the world's axes as built.
    A ball takes three numbers too: along those axes, which a carries. `travel_...` is for the travel of cylinders, and of
    planes, whose `travel_rest` is the vector (3, m, world as built) from a's anchor to b's.

    >>> JointSpring("knee", 20.0, damping=0.5, rest=0.3, name="tendon").rest
    0.3
    >>> JointSpring("neck", (5, 5, Parameter(1.0, name="twist")), rest=(1, 0, 0, 0)).stiffness[0]
    5.0
    """

    SIZES: ClassVar[dict] = {FreedomLaw.ROTATION: (1, 3), FreedomLaw.CROSS: (1, 2), FreedomLaw.AXIS: (1,)}
    REST_SIZES: ClassVar[dict] = {FreedomLaw.ROTATION: 4, FreedomLaw.CROSS: 2, FreedomLaw.AXIS: 1}

    stiffness: OpenVector  # N m/rad or N/m: one, or two or three
    damping: OpenVector = 0.0  # N m s or N s/m
    rest: OpenVector | None = None  # rad or m; (2,) rad; (4,) quaternion
    travel_stiffness: float | Parameter = field(default=0.0, kw_only=True)  # N/m
    travel_damping: float | Parameter = field(default=0.0, kw_only=True)  # N s/m
    travel_rest: OpenVector | None = field(default=None, kw_only=True)  # m, or (3,) m, world as built

    def __post_init__(self):
        super().__post_init__()
        for name in ("stiffness", "damping"):
            setattr(self, name, coefficients(self, name, getattr(self, name)))
        for name in ("travel_stiffness", "travel_damping"):
            setattr(self, name, checks.non_negative(self, name, getattr(self, name), parameter=True))
        self.rest = checks.optional(_rest, self, "rest", self.rest)
        self.travel_rest = checks.optional(_travel_rest, self, "travel_rest", self.travel_rest)

    def check_resolved(self, resolved):
        (joint,) = resolved
        kind = kind_of_joint(joint)
        if kind.law is FreedomLaw.NONE:
            checks.fail(self, f"{checks.label(joint)} leaves nothing that a spring could move", "give a joint with freedoms")
        for name in ("stiffness", "damping"):
            if size(getattr(self, name)) not in self.SIZES[kind.law]:
                wanted = " or ".join(WORDS[n] for n in self.SIZES[kind.law])
                given = checks.show(getattr(self, name))
                checks.fail(self, f"{name} is {given} on {checks.label(joint)}", f"give {wanted} of them")
        if self.rest is not None and size(self.rest) != self.REST_SIZES[kind.law]:
            problem = f"rest is {checks.show(self.rest)} on {checks.label(joint)}"
            rests = {FreedomLaw.ROTATION: "a quaternion (w, x, y, z)", FreedomLaw.CROSS: "two angles",
                     FreedomLaw.AXIS: "a travel" if kind.slides else "an angle"}  # fmt: skip
            checks.fail(self, problem, f"give {rests[kind.law]}")
        self._check_travel(joint, kind)

    def _check_travel(self, joint, kind):
        travels = kind.law is FreedomLaw.AXIS and {Freedom.TURN, Freedom.LENGTH} <= {*kind.freedoms}
        in_plane = travels and kind.lengths == 2
        for name in ("travel_stiffness", "travel_damping", "travel_rest"):
            value = getattr(self, name)
            if not travels and value is not None and not is_zero(value):
                checks.fail(self, f"{name} is {checks.show(value)} on {checks.label(joint)}",
                            "leave it out: it is for cylinders and planes")  # fmt: skip
        if self.travel_rest is None:
            return
        if size(self.travel_rest) != (3 if in_plane else 1):
            wanted = "a vector in the plane such as (0.1, 0, 0)" if in_plane else "metres along the axis"
            problem = f"travel_rest is {checks.show(self.travel_rest)} on {checks.label(joint)}"
            checks.fail(self, problem, f"give {wanted}")
        if in_plane and abs(self.travel_rest @ joint.normal) > 1e-9:
            problem = f"travel_rest {checks.show(self.travel_rest)} leaves the plane of {checks.label(joint)}"
            checks.fail(self, problem, "give a vector perpendicular to its normal")


@dataclass(eq=False, repr=False)
class TorsionSpring(ForceElement):
    """A spring and damper that keep the orientation of b relative to a: what JointSpring is to a ball, without a joint.

    >>> TorsionSpring("torso", "head", 30.0, damping=1.0, name="neck")
    <TorsionSpring "neck">
    """

    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}

    a: Body | str
    b: Body | str
    stiffness: OpenVector  # N m/rad: one, or three along the world's axes as built, which a carries
    damping: OpenVector = 0.0  # N m s
    rest: Vector | None = None  # (4,): b relative to a, the identity as built

    def __post_init__(self):
        super().__post_init__()
        for name in ("stiffness", "damping"):
            value = coefficients(self, name, getattr(self, name))
            if size(value) == 2:
                checks.fail(self, f"{name} is {checks.show(value)}", "give one or three of them")
            setattr(self, name, value)
        self.rest = checks.optional(checks.quaternion, self, "rest", self.rest)


@dataclass(eq=False, repr=False)
class JointLimit(JointForce):
    """A soft stop: a spring and damper that act only beyond `lower` or `upper`, of which one may be left out. The damper never
    pushes or pulls harder than the spring: the force begins without a jump, and a stop does not hold back what leaves it.

    They bound the angle of hinges and screws (turns counted; N m/rad), both angles of universals (two numbers each, or one for
    both), the travel of sliders and cylinders (N/m). A ball is
    bounded about an `axis` (world, as built): `cone` is the largest angle between that axis on a and on b, and
    `twist=(lower, upper)` bounds the turn about it. A cylinder may have a `twist` in the place of its travel. Of a planar joint
    `lower` and `upper` bound the angle about its normal (turns counted; N m/rad), or `reach` the distance in the plane
    from a's anchor to b's (m; N/m).

    >>> JointLimit("knee", 0.0, 2.4, stiffness=200.0, damping=1.0, name="kneecap").upper
    2.4
    >>> JointLimit("hip", cone=0.8, twist=(-0.3, 0.3), axis=(0, 0, -1), stiffness=200.0, name="socket").cone
    0.8
    >>> JointLimit("puck", reach=0.5, stiffness=1000.0, name="rim").reach
    0.5
    """

    lower: OpenVector | None = None  # rad or m; (2,) rad
    upper: OpenVector | None = None  # rad or m; (2,) rad
    stiffness: float | Parameter | None = None  # N m/rad or N/m
    damping: float | Parameter = 0.0  # N m s or N s/m
    cone: float | Parameter | None = field(default=None, kw_only=True)  # rad, at most pi
    twist: OpenVector | None = field(default=None, kw_only=True)  # (2,), rad
    axis: Vector | None = field(default=None, kw_only=True)  # (3,), unit, world
    reach: float | Parameter | None = field(default=None, kw_only=True)  # m

    def __post_init__(self):
        super().__post_init__()
        if self.stiffness is None:
            checks.fail(self, "stiffness is missing", "give a number such as stiffness=1000.0")
        self.stiffness = checks.non_negative(self, "stiffness", self.stiffness, parameter=True)
        self.damping = checks.non_negative(self, "damping", self.damping, parameter=True)
        for name in ("lower", "upper"):
            setattr(self, name, checks.optional(_bound, self, name, getattr(self, name)))
        if self.lower is not None and self.upper is not None:
            for k in range(max(size(self.lower), size(self.upper))):
                ends = [(f"{name}[{k}]", value[k]) if size(value) > 1 else (name, value)
                        for name, value in (("lower", self.lower), ("upper", self.upper))]  # fmt: skip
                _in_order(self, *ends[0], *ends[1])
        self.cone = checks.optional(checks.non_negative, self, "cone", self.cone, parameter=True)
        if self.cone is not None and float(self.cone) > math.pi:
            checks.fail(self, f"cone is {checks.show(self.cone)}", "give an angle of at most pi")
        self.reach = checks.optional(checks.non_negative, self, "reach", self.reach, parameter=True)
        if self.twist is not None:
            self.twist = checks.vector(self, "twist", self.twist, 2, parameter=True)
            _in_order(self, "twist[0]", self.twist[0], "twist[1]", self.twist[1])
            if max(abs(float(x)) for x in self.twist) > 2 * math.pi:
                checks.fail(self, f"twist is {checks.show(self.twist)}", "give angles of at most a turn, 2 pi")
        self.axis = checks.optional(checks.direction, self, "axis", self.axis)

    def given(self):
        """Which of its coordinates are bounded: "bounds" (lower, upper), "cone", "twist", "reach"."""
        found = {"bounds": self.lower is not None or self.upper is not None, "cone": self.cone is not None,
                 "twist": self.twist is not None, "reach": self.reach is not None}  # fmt: skip
        return tuple(name for name, there in found.items() if there)

    def check_resolved(self, resolved):
        (joint,) = resolved
        kind = kind_of_joint(joint)
        bounded = _bounded(kind)
        if not bounded:
            checks.fail(self, f"{checks.label(joint)} has no coordinate to bound",
                        "give a hinge, screw, slider, cylinder, universal or ball, or a planar joint")  # fmt: skip
        words = {"bounds": "lower= or upper=", "cone": "cone=", "twist": "twist=", "reach": "reach="}
        ways = " or ".join(words[name] for name in bounded)
        if not self.given():
            checks.fail(self, f"it bounds nothing of {checks.label(joint)}", f"give {ways}")
        for name in self.given():
            if name not in bounded:
                checks.fail(self, f"{checks.label(joint)} has no use for {words[name]}", f"give {ways}")
        for name in ("lower", "upper"):
            value = getattr(self, name)
            if value is not None and size(value) > 1 and kind.law is not FreedomLaw.CROSS:
                checks.fail(self, f"{name} is {checks.show(value)} on {checks.label(joint)}", "give one number")
        if "bounds" in bounded and "twist" in bounded and len(self.given()) > 1:
            checks.fail(self, "it bounds both travel and twist, with one stiffness", "give two limits, one for each")
        if "bounds" in bounded and "reach" in bounded and len(self.given()) > 1:
            checks.fail(self, "it bounds both angle and reach, with one stiffness", "give two limits, one for each")
        if (kind.law is FreedomLaw.ROTATION) != (self.axis is not None):
            problem = "axis is missing" if self.axis is None else f"{checks.label(joint)} has an axis of its own"
            checks.fail(self, problem, "give axis= for a ball, and only there")


def _bounded(kind):
    """What a soft limit may bound of a joint."""
    if kind.law is not FreedomLaw.AXIS:
        return {FreedomLaw.ROTATION: ("cone", "twist"), FreedomLaw.CROSS: ("bounds",), FreedomLaw.NONE: ()}[kind.law]
    more = {1: ("twist",), 2: ("reach",)} if Freedom.TURN in kind.freedoms else {}
    return ("bounds", *more.get(kind.lengths, ()))


@dataclass(eq=False, repr=False)
class Follow(ForceElement):
    """Springs and dampers that pull the point `at` of a body, and its orientation, along a motion.

    The motion is a Trajectory; without one it is live, at rest where the body is built until `sim.control[name]` is given a
    position, or (position, orientation). Orientations are taken the shorter way.

    >>> wave = Trajectory([0, 1, 2], [(0, 0, 1), (0.1, 0, 1), (0, 0, 1)])
    >>> Follow("hand", wave, stiffness=200.0, damping=10.0, at=(0, 0, 0.1), name="puppeteer")
    <Follow "puppeteer">
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}
    COEFFICIENTS: ClassVar[tuple] = ("stiffness", "damping", "angular_stiffness", "angular_damping")

    body: Body | str
    motion: Trajectory | None = None
    stiffness: float | Parameter = field(default=0.0, kw_only=True)  # N/m
    damping: float | Parameter = field(default=0.0, kw_only=True)  # N s/m
    angular_stiffness: float | Parameter = field(default=0.0, kw_only=True)  # N m/rad
    angular_damping: float | Parameter = field(default=0.0, kw_only=True)  # N m s
    at: Vector = field(default=checks.ZERO, kw_only=True)  # (3,), m, in the body's frame

    def __post_init__(self):
        super().__post_init__()
        if self.motion is not None and not isinstance(self.motion, Trajectory):
            remedy = "give a Trajectory, or leave it out and set sim.control"
            checks.fail(self, f"motion is {checks.show(self.motion)}", remedy)
        for name in self.COEFFICIENTS:
            setattr(self, name, checks.non_negative(self, name, getattr(self, name), parameter=True))
        if all(is_zero(getattr(self, name)) for name in self.COEFFICIENTS):
            checks.fail(self, "it has neither stiffness nor damping", "give stiffness= or angular_stiffness=")
        if self.turns and self.motion is not None and self.motion.orientations is None:
            checks.fail(self, f"{self.motion!r} has no orientations", "give some, or leave the angular coefficients out")
        self.at = checks.vector(self, "at", self.at)

    @property
    def turns(self):
        """Whether it takes hold of the body's orientation."""
        return not (is_zero(self.angular_stiffness) and is_zero(self.angular_damping))


@dataclass(eq=False, repr=False)
class ContactSpring(ForceElement):
    """Soft contact of a point of b, or of a sphere around it, with a plane or a sphere of a.

    `plane=(point, normal)`, the normal towards b, or `sphere=(centre, radius)`, in a's frame; `at` and `radius` of b. While
    they overlap, the force along the normal is stiffness * depth + damping * its rate, where the damper has at most the force
    of the spring: it begins without a jump and never pulls. Friction is `friction` times that force, against the slip; it is
    softened below the speed `slip`.

    >>> ContactSpring("ground", "finger", 1e4, damping=10.0, plane=((0, 0, 0), (0, 0, 1)), at=(0, 0, 0.1), radius=0.01)
    <ContactSpring>
    >>> ContactSpring("ball", "bead", 1e4, sphere=((0, 0, 0), 0.05), friction=0.3).sphere[1]
    0.05
    """

    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}

    a: Body | str
    b: Body | str
    stiffness: float | Parameter  # N/m
    damping: float | Parameter = 0.0  # N s/m
    plane: tuple | None = field(default=None, kw_only=True)  # ((3,), m; (3,), unit), in a's frame
    sphere: tuple | None = field(default=None, kw_only=True)  # ((3,), m; m), in a's frame
    at: Vector = field(default=checks.ZERO, kw_only=True)  # (3,), m, in b's frame
    radius: float | Parameter = field(default=0.0, kw_only=True)  # m, around `at`
    friction: float | Parameter = field(default=0.0, kw_only=True)  # of the normal force
    slip: float | Parameter = field(default=1e-3, kw_only=True)  # m/s

    def __post_init__(self):
        super().__post_init__()
        for name in ("stiffness", "damping", "radius", "friction"):
            setattr(self, name, checks.non_negative(self, name, getattr(self, name), parameter=True))
        self.slip = checks.positive(self, "slip", self.slip, parameter=True)
        self.at = checks.vector(self, "at", self.at)
        if (self.plane is None) == (self.sphere is None):
            problem = "it has neither a plane nor a sphere" if self.plane is None else "it has both a plane and a sphere"
            checks.fail(self, problem, "give plane=(point, normal) or sphere=(centre, radius)")
        if self.plane is not None:
            point, normal = self._two("plane", self.plane, "(point, normal)")
            self.plane = checks.vector(self, "plane[0]", point), checks.direction(self, "plane[1]", normal)
        else:
            centre, radius = self._two("sphere", self.sphere, "(centre, radius)")
            self.sphere = checks.vector(self, "sphere[0]", centre), checks.non_negative(self, "sphere[1]", radius)
            if self.sphere[1] == 0.0 and is_zero(self.radius):
                checks.fail(self, "two points never touch", "give radius= or a sphere with a radius")

    def _two(self, name, value, shape):
        given = checks.entries(value)
        if given is None or len(given) != 2:
            checks.fail(self, f"{name} is {checks.show(value)}", f"give {name}={shape}")
        return given


def _in_order(who, name, lower, other, upper):
    if float(lower) > float(upper):
        checks.fail(who, f"{name} {checks.show(lower)} lies above {other} {checks.show(upper)}", "exchange them")


def size(value):
    """The number of numbers in one that is a number, or in a vector."""
    return len(value) if hasattr(value, "__len__") else 1


def is_zero(value):
    """Whether a number is zero for good: a Parameter may change."""
    return not isinstance(value, Parameter) and size(value) == 1 and float(value) == 0.0


def coefficients(who, name, value):
    """One that is at least zero, or two or three of them."""
    given = checks.entries(value)
    if given is None:
        return checks.non_negative(who, name, value, parameter=True)
    if len(given) not in (2, 3):
        checks.fail(who, f"{name} is {checks.show(value)}", "give one number, or two or three")
    result = checks.vector(who, name, value, len(given), parameter=True)
    for item in result:
        checks.non_negative(who, name, item, parameter=True)
    return result


def _rest(who, name, value):
    given = checks.entries(value)
    if given is None:
        return checks.number(who, name, value, parameter=True)
    if len(given) == 4:
        return checks.quaternion(who, name, value)
    if len(given) == 2:
        return checks.vector(who, name, value, 2, parameter=True)
    checks.fail(who, f"{name} is {checks.show(value)}", "give an angle or a travel, two angles, or a quaternion (w, x, y, z)")


def _bound(who, name, value):
    if checks.entries(value) is None:
        return checks.number(who, name, value, parameter=True)
    return checks.vector(who, name, value, 2, parameter=True)


def _travel_rest(who, name, value):
    if checks.entries(value) is None:
        return checks.number(who, name, value, parameter=True)
    return checks.vector(who, name, value)
