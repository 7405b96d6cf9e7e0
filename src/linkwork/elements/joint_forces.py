"""Forces of stiff joints: springs in what a joint leaves free, soft limits.

Angles in radians, travels in metres, both zero as built; right-handed about the joint's axis. Any coefficient may be a
Parameter.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from . import checks
from .base import Body, ForceElement, OpenVector, Vector
from .joints import Ball, Cylindrical, Hinge, Joint, Planar, Screw, Slider, Universal
from .parameter import Parameter

SIZES = {2: "two", 3: "three"}


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

    SIZES: ClassVar[dict] = {
        Ball: (1, 3),
        Universal: (1, 2),
        **dict.fromkeys((Hinge, Screw, Slider, Cylindrical, Planar), (1,)),
    }
    RESTS: ClassVar[dict] = {Ball: "a quaternion (w, x, y, z)", Universal: "two angles", Slider: "a travel",
                             **dict.fromkeys((Hinge, Screw, Cylindrical, Planar), "an angle")}  # fmt: skip

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
        if type(joint) not in self.SIZES:
            checks.fail(self, f"{checks.label(joint)} leaves nothing that a spring could move", "give a joint with freedoms")
        for name in ("stiffness", "damping"):
            if size(getattr(self, name)) not in self.SIZES[type(joint)]:
                wanted = " or ".join(SIZES.get(n, "one") for n in self.SIZES[type(joint)])
                given = checks.show(getattr(self, name))
                checks.fail(self, f"{name} is {given} on {checks.label(joint)}", f"give {wanted} of them")
        length = {Ball: 4, Universal: 2}.get(type(joint), 1)
        if self.rest is not None and size(self.rest) != length:
            problem = f"rest is {checks.show(self.rest)} on {checks.label(joint)}"
            checks.fail(self, problem, f"give {self.RESTS[type(joint)]}")
        self._check_travel(joint)

    def _check_travel(self, joint):
        for name in ("travel_stiffness", "travel_damping", "travel_rest"):
            value = getattr(self, name)
            if type(joint) not in (Cylindrical, Planar) and value is not None and not is_zero(value):
                checks.fail(self, f"{name} is {checks.show(value)} on {checks.label(joint)}",
                            "leave it out: it is for cylinders and planes")  # fmt: skip
        if self.travel_rest is None:
            return
        if size(self.travel_rest) != (3 if isinstance(joint, Planar) else 1):
            wanted = "a vector in the plane such as (0.1, 0, 0)" if isinstance(joint, Planar) else "metres along the axis"
            problem = f"travel_rest is {checks.show(self.travel_rest)} on {checks.label(joint)}"
            checks.fail(self, problem, f"give {wanted}")
        if isinstance(joint, Planar) and abs(self.travel_rest @ joint.normal) > 1e-9:
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
    if len(given) not in SIZES:
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


def _travel_rest(who, name, value):
    if checks.entries(value) is None:
        return checks.number(who, name, value, parameter=True)
    return checks.vector(who, name, value)
