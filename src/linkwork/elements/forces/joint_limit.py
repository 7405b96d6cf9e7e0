"""JointLimit: soft stops of what a joint leaves free. The element, and a law for each way in which joints measure that
(FreedomLaw), and for the reach of planar ones."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.field_types import OptionalOpenVectorField, OptionalVectorField, default
from linkwork.elements.core.force_kind import Coordinate, ForceKind, travelling, turning
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.functions import cross
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.forces.coefficients import is_zero, size, table, wide
from linkwork.elements.forces.eased import eased, eased_shares
from linkwork.elements.forces.joint_law import JointForce, JointLawKind, UniversalLawKind
from linkwork.elements.forces.joint_spring import JointSpring
from linkwork.elements.forces.rotation_law import RotationLawKind
from linkwork.symbolic import rotation

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import AlongJoint, Load, Term
    from linkwork.elements.core.joint_kind import JointKind
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


REACH = "of the reach"
OPPOSITE = 1e-9  # of 1 + cos: axes so nearly opposite that no turn about them can be told from another


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

    bounds_joint: ClassVar[bool] = True
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {
        "stiffness": ("N m/rad", "N/m"),
        "damping": ("N m s", "N s/m"),
        "reach": ("m",),
    }

    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("axis",)

    lower: OptionalOpenVectorField = default(None)  # rad or m; (2,) rad
    upper: OptionalOpenVectorField = default(None)  # rad or m; (2,) rad
    stiffness: float | Parameter | None = None  # N m/rad or N/m
    damping: float | Parameter = 0.0  # N m s or N s/m
    cone: float | Parameter | None = field(default=None, kw_only=True)  # rad, at most pi
    twist: OptionalOpenVectorField = field(default=default(None), kw_only=True)  # (2,), rad
    axis: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, world
    reach: float | Parameter | None = field(default=None, kw_only=True)  # m

    include_at = carried_along

    def __post_init__(self) -> None:
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

    def given(self) -> tuple[str, ...]:
        """Which of its coordinates are bounded: "bounds" (lower, upper), "cone", "twist", "reach"."""
        found = {"bounds": self.lower is not None or self.upper is not None, "cone": self.cone is not None,
                 "twist": self.twist is not None, "reach": self.reach is not None}  # fmt: skip
        return tuple(name for name, there in found.items() if there)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
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

    def variant(self) -> Hashable:
        return self.law() if self.reach is None else REACH


def _bounded(kind: JointKind) -> tuple[str, ...]:
    """What a soft limit may bound of a joint."""
    if kind.law is not FreedomLaw.AXIS:
        return {FreedomLaw.ROTATION: ("cone", "twist"), FreedomLaw.CROSS: ("bounds",), FreedomLaw.NONE: ()}[kind.law]
    more = {1: ("twist",), 2: ("reach",)} if Freedom.TURN in kind.freedoms else {}
    return ("bounds", *more.get(kind.lengths, ()))


def _in_order(who: JointLimit, name: str, lower: float | Parameter, other: str, upper: float | Parameter) -> None:
    if float(lower) > float(upper):
        checks.fail(who, f"{name} {checks.show(lower)} lies above {other} {checks.show(upper)}", "exchange them")


def _bound(who: JointLimit, name: str, value: Any) -> float | Parameter | AnyArray:
    if checks.entries(value) is None:
        return checks.number(who, name, value, parameter=True)
    return checks.vector(who, name, value, 2, parameter=True)


class Stop:
    """A one-sided spring: bounds (lower, upper) on a coordinate (1,)."""

    def __init__(self, x: Any, lower: SX | int, upper: SX) -> None:
        """x: a Coordinate; where forces along a joint alone are asked for, AlongJoint."""
        self.x = x
        self.beyond = ca.fmax(x.value - upper, 0) + ca.fmin(x.value - lower, 0)


class LimitKind(ForceKind):
    """The base of limits: a spring and a damper, eased, beyond the bounds."""

    @abstractmethod
    def stops(self, handles: Sequence[Handle], p: Params) -> list[Stop]:
        """Those of each coordinate that it bounds."""

    def _efforts(self, stop: Stop, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """Of the spring, of the damper, against the motion beyond."""
        return p["stiffness"] * stop.beyond, p["damping"] * stop.x.rate(handles) if self.velocity_dependent else SX(0)

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        loads: list[Load] = []
        energy = SX(0)
        for stop in self.stops(handles, p):
            push, drag = self._efforts(stop, handles, p)
            loads += stop.x.loads(-(eased(push, drag) if self.velocity_dependent else push))
            energy += 0.5 * push * stop.beyond
        return loads, energy

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        found = []
        for stop in self.stops(handles, p):
            push, drag = self._efforts(stop, handles, p)
            shares = eased_shares(push, drag) if self.velocity_dependent else (push != 0, SX(0))
            found.append(stop.x.term(shares[0] * p["stiffness"], shares[1] * p["damping"]))
        return found

    def always_on(self, element: Any) -> Sequence[Any]:
        return [JointSpring(element.joint, element.stiffness, element.damping)]


@kind_of(JointLimit, FreedomLaw.AXIS)
class AxisLimitKind(JointLawKind, LimitKind):
    """Of the angle of hinges, screws and planes, of the travel of sliders, of either of cylinders."""

    axial = True

    def __init__(self, element: Any) -> None:
        super().__init__(element)
        self.angular = element.twist is not None or self.joint.lengths != 1
        self.counters = 1 if self.angular else 0
        self.turns_only = self.angular
        self.velocity_dependent = not is_zero(element.damping)
        self.key += f"-{self.angular}-{self.velocity_dependent}"
        self.fields = {**self.joint.fields, "axis_a": 3, "stiffness": 1, "damping": 1, "bounds": 2}

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        springs = {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        return {
            **self.joint_parameters(elements, A, B),
            **springs,
            "bounds": np.array([bounds(e) for e in elements], dtype=object),
        }

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return [self.joint.angle(handles, p)][: self.counters]

    def stops(self, handles: Sequence[Handle], p: Params) -> list[Stop]:
        axis = handles[0].axis(p["axis_a"])
        x = turning(self.counted(handles, p)[0], [axis]) if self.angular else travelling(handles, p, [axis])
        return [Stop(x, p["bounds"][0], p["bounds"][1])]

    def along(self, x: AlongJoint, p: Params) -> SX:
        push, drag = self._efforts(Stop(x, p["bounds"][0], p["bounds"][1]), (), p)
        return -(eased(push, drag) if self.velocity_dependent else push)


@kind_of(JointLimit, REACH)
class ReachLimitKind(JointLawKind, LimitKind):
    """Of the distance in its plane that a planar joint's anchors are apart."""

    def __init__(self, element: Any) -> None:
        super().__init__(element)
        self.velocity_dependent = not is_zero(element.damping)
        self.key += f"-reach-{self.velocity_dependent}"
        self.fields = {**self.joint.fields, "axis_a": 3, "stiffness": 1, "damping": 1, "reach": 1}

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        return self.joint_parameters(elements, A, B) | {
            name: wide(elements, name, 1) for name in ("stiffness", "damping", "reach")
        }

    def stops(self, handles: Sequence[Handle], p: Params) -> list[Stop]:
        apart, normal = self.joint.apart(handles, p), handles[0].axis(p["axis_a"])
        beside = apart - ca.dot(normal, apart) * normal
        return [Stop(travelling(handles, p, [beside / ca.sqrt(ca.sumsqr(beside) + rotation.TINY)]), 0, p["reach"])]


def bounds(element: Any, count: int = 1) -> list[Any]:
    """[lower, upper] of each of `count` coordinates, infinite where there is none."""
    if element.twist is not None:
        return list(element.twist)
    ends = [(element.lower, -np.inf), (element.upper, np.inf)]
    wides = [[none] * count if x is None else list(x) if size(x) > 1 else [x] * count for x, none in ends]
    return [x for pair in zip(*wides, strict=True) for x in pair]

    def always_on(self, element: Any) -> Sequence[Any]:
        return [JointSpring(element.joint, 0.0, travel_stiffness=element.stiffness, travel_damping=element.damping)]


@kind_of(JointLimit, FreedomLaw.CROSS)
class UniversalLimitKind(UniversalLawKind, LimitKind):
    """Of the turns about both axes."""

    def __init__(self, element: Any) -> None:
        UniversalLawKind.__init__(self, element)
        self.fields = {**self.joint.fields, **self.crosses, "stiffness": 1, "damping": 1, "bounds": 4}

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        springs = {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        limits = np.array([bounds(e, 2) for e in elements], dtype=object)
        return {**self.cross_parameters(elements, A, B), **springs, "bounds": limits}

    def stops(self, handles: Sequence[Handle], p: Params) -> list[Stop]:
        turns = zip(self.counted(handles, p), self.axes(handles, p), strict=True)
        return [Stop(turning(x, [axis]), p["bounds"][2 * k], p["bounds"][2 * k + 1]) for k, (x, axis) in enumerate(turns)]


@kind_of(JointLimit, FreedomLaw.ROTATION)
class BallLimitKind(RotationLawKind, LimitKind):
    """Of the angle between an axis on a and on b (cone), and of the turn about it (twist)."""

    def __init__(self, element: Any) -> None:
        self.coned, self.twisted = element.cone is not None, element.twist is not None
        self.velocity_dependent = not is_zero(element.damping)
        self.key = f"BallLimit-{self.coned}-{self.twisted}-{self.velocity_dependent}"
        self.fields = {**self.turns, "axis_a": 3, "axis_b": 3, "stiffness": 1, "damping": 1, "cone": 1, "bounds": 2}

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.joint.a, element.joint.b

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        along = np.array([e.axis for e in elements])
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(elements), 1))
        cone = table([[0.0 if e.cone is None else e.cone] for e in elements])
        twist = table([[0.0, 0.0] if e.twist is None else list(e.twist) for e in elements])
        springs = {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        return {**self.turn_parameters(still, A, B), "axis_a": A.axis(along), "axis_b": B.axis(along), **springs,
                "cone": cone, "bounds": twist}  # fmt: skip

    def stops(self, handles: Sequence[Handle], p: Params) -> list[Stop]:
        a, b = handles
        axes, found = (a.axis(p["axis_a"]), b.axis(p["axis_b"])), []
        if self.coned:
            found.append(Stop(swing(*axes), 0, p["cone"]))
        if self.twisted:
            found.append(Stop(twist(self.turn(handles, p)[0], *axes), p["bounds"][0], p["bounds"][1]))
        return found


def swing(axis_a: SX, axis_b: SX) -> Coordinate:
    """The angle from an axis of a to one of b; its rate is the turn about what is perpendicular to both."""
    across = cross(axis_a, axis_b)
    sine = ca.sqrt(ca.sumsqr(across) + rotation.TINY)
    return turning(ca.atan2(sine, ca.dot(axis_a, axis_b)), [across / sine])


def twist(turn: SX, axis_a: SX, axis_b: SX) -> Coordinate:
    """The turn about an axis, of which the rest is a swing from a's axis to b's; without meaning where they are opposite."""
    sine, cosine = ca.dot(turn[1:4], axis_a), turn[0]
    return turning(2 * ca.atan2(sine, cosine), [(axis_a + axis_b) / ca.fmax(1 + ca.dot(axis_a, axis_b), OPPOSITE)])


check_complete(JointLimit, {REACH, *FreedomLaw} - {FreedomLaw.NONE})
