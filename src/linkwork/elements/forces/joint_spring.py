"""JointSpring: a spring and damper in what a joint leaves free. The element, and a law for each way in which joints measure
that (FreedomLaw)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.field_types import GivenOpenVector, OpenVectorField, OptionalOpenVectorField, default
from linkwork.elements.core.force_kind import Coordinate, travelling, turning
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.included import spring_moved
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.forces.coefficients import coefficients, is_zero, resting, size, wide
from linkwork.elements.forces.joint_law import JointForce, JointLawKind, UniversalLawKind, apart_as_built
from linkwork.elements.forces.rotation_law import RotationSpringKind

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import AlongJoint, Load, Term
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.joint_kind import JointKind
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


WORDS = {1: "one", 2: "two", 3: "three"}


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

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {
        "stiffness": ("N m/rad", "N/m"),
        "damping": ("N m s", "N s/m"),
        "rest": ("rad", "m"),
    }
    SIZES: ClassVar[dict[FreedomLaw, Any]] = {FreedomLaw.ROTATION: (1, 3), FreedomLaw.CROSS: (1, 2), FreedomLaw.AXIS: (1,)}
    REST_SIZES: ClassVar[dict[FreedomLaw, Any]] = {FreedomLaw.ROTATION: 4, FreedomLaw.CROSS: 2, FreedomLaw.AXIS: 1}

    stiffness: GivenOpenVector  # N m/rad or N/m: one, or two or three
    damping: OpenVectorField = default(0.0)  # N m s or N s/m
    rest: OptionalOpenVectorField = default(None)  # rad or m; (2,) rad; (4,) quaternion
    travel_stiffness: float | Parameter = field(default=0.0, kw_only=True)  # N/m
    travel_damping: float | Parameter = field(default=0.0, kw_only=True)  # N s/m
    travel_rest: OptionalOpenVectorField = field(default=default(None), kw_only=True)  # m, or (3,) m, world as built

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("stiffness", "damping"):
            setattr(self, name, coefficients(self, name, getattr(self, name)))
        for name in ("travel_stiffness", "travel_damping"):
            setattr(self, name, checks.non_negative(self, name, getattr(self, name), parameter=True))
        self.rest = checks.optional(_rest, self, "rest", self.rest)
        self.travel_rest = checks.optional(_travel_rest, self, "travel_rest", self.travel_rest)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
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

    def _check_travel(self, joint: Any, kind: JointKind) -> None:
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

    def include_at(self, move: Move) -> str | None:
        why = spring_moved(self, move)
        if why is None and self.travel_rest is not None and np.size(self.travel_rest) == 3:
            self.travel_rest = move.direction(self.travel_rest)
        return why

    def variant(self) -> Hashable:
        return self.law()


def _rest(who: JointSpring, name: str, value: Any) -> FloatArray | float | Parameter:
    given = checks.entries(value)
    if given is None:
        return checks.number(who, name, value, parameter=True)
    if len(given) == 4:
        return checks.quaternion(who, name, value)
    if len(given) == 2:
        return checks.vector(who, name, value, 2, parameter=True)
    checks.fail(who, f"{name} is {checks.show(value)}", "give an angle or a travel, two angles, or a quaternion (w, x, y, z)")


def _travel_rest(who: JointSpring, name: str, value: float | Parameter | tuple[float, ...]) -> FloatArray | float | Parameter:
    if checks.entries(value) is None:
        return checks.number(who, name, value, parameter=True)
    return checks.vector(who, name, value)


@kind_of(JointSpring, FreedomLaw.AXIS)
class AxisSpringKind(JointLawKind):
    """Springs of hinges, screws, cylinders and planes about the axis, of sliders, cylinders and planes along it."""

    def __init__(self, element: Any) -> None:
        super().__init__(element)
        self.sliding, self.planar = self.joint.slides, self.joint.lengths == 2
        self.travels = self.sliding or not (is_zero(element.travel_stiffness) and is_zero(element.travel_damping))
        self.counters = 0 if self.sliding else 1
        self.turns_only = not self.travels
        self.axial = self.sliding or self.turns_only
        self.velocity_dependent = not (is_zero(element.damping) and is_zero(element.travel_damping))
        self.key += f"-{self.travels}-{self.velocity_dependent}"
        fields = {"stiffness": 1, "damping": 1, "rest": 1}
        if self.travels and not self.sliding:
            fields |= {"travel_stiffness": 1, "travel_damping": 1, "travel_rest": 2 if self.planar else 1}
        self.fields = {**self.joint.fields, "axis_a": 3, **fields}

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        found = self.joint_parameters(elements, A, B)
        apart = apart_as_built(found, A, B)
        travel = np.sum(A.world_axis(found["axis_a"]) * apart, axis=1, keepdims=True)
        found |= {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        found["rest"] = resting(elements, "rest", travel if self.sliding else np.zeros_like(travel))
        if "travel_rest" in self.fields:
            found |= {name: wide(elements, name, 1) for name in ("travel_stiffness", "travel_damping")}
            if self.planar:
                shift = resting(elements, "travel_rest", apart)
                found["travel_rest"] = np.stack(
                    [np.sum(A.world_axis(found[n]) * shift, axis=1) for n in ("ref_a", "side_a")], 1
                )
            else:
                found["travel_rest"] = resting(elements, "travel_rest", travel)
        return found

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return [self.joint.angle(handles, p)][: self.counters]

    def springs(self, handles: Sequence[Handle], p: Params) -> list[tuple[Coordinate, SX, SX, SX]]:
        """(coordinate, stiffness, damping, rest) of each."""
        a, found = handles[0], []
        if not self.sliding:
            angle = turning(self.counted(handles, p)[0], [a.axis(p["axis_a"])])
            found.append((angle, p["stiffness"], p["damping"], p["rest"]))
        if self.travels:
            prefix = "" if self.sliding else "travel_"
            travel = travelling(handles, p, [a.axis(p[name]) for name in (("ref_a", "side_a") if self.planar else ("axis_a",))])
            k, c, rest = (p[prefix + name] for name in ("stiffness", "damping", "rest"))
            count = travel.value.shape[0]
            found.append((travel, ca.repmat(k, count, 1), ca.repmat(c, count, 1), rest))
        return found

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        loads: list[Load] = []
        energy = SX(0)
        for x, stiffness, damping, rest in self.springs(handles, p):
            effort = -stiffness * (x.value - rest)
            if self.velocity_dependent:
                effort -= damping * x.rate(handles)
            loads += x.loads(effort)
            energy += 0.5 * ca.dot(stiffness, (x.value - rest) ** 2)
        return loads, energy

    def along(self, x: AlongJoint, p: Params) -> SX:
        effort = -p["stiffness"] * (x.value - p["rest"])
        return effort - p["damping"] * x.rate(()) if self.velocity_dependent else effort

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        return [x.term(stiffness, damping) for x, stiffness, damping, _ in self.springs(handles, p)]


@kind_of(JointSpring, FreedomLaw.CROSS)
class UniversalSpringKind(UniversalLawKind, AxisSpringKind):
    """Springs about both axes."""

    def __init__(self, element: Any) -> None:
        UniversalLawKind.__init__(self, element)
        self.fields = {**self.joint.fields, **self.crosses, "stiffness": 2, "damping": 2, "rest": 2}

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        springs = {name: wide(elements, name, 2) for name in ("stiffness", "damping")}
        return {
            **self.cross_parameters(elements, A, B),
            **springs,
            "rest": resting(elements, "rest", np.zeros((len(elements), 2))),
        }

    def springs(self, handles: Sequence[Handle], p: Params) -> list[tuple[Coordinate, SX, SX, SX]]:
        angles = ca.vertcat(*self.counted(handles, p))
        return [(turning(angles, self.axes(handles, p)), p["stiffness"], p["damping"], p["rest"])]


@kind_of(JointSpring, FreedomLaw.ROTATION)
class BallSpringKind(RotationSpringKind):
    """About the rotation vector of a ball."""

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.joint.a, element.joint.b


check_complete(JointSpring, set(FreedomLaw) - {FreedomLaw.NONE})
