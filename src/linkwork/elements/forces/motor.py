"""Motor: drives by command what has a length or a coordinate: a joint, a tendon, a frame, a body of your own coordinates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element, ForceElement
from linkwork.elements.core.field_types import OpenVectorField, OptionalOpenVectorField, default
from linkwork.elements.core.force_kind import AlongJoint, Coordinate, travelling, turning
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import Joint, has_coordinate, kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.core.transmission import Transmission
from linkwork.elements.forces.coefficients import check_coefficients, size
from linkwork.elements.forces.frame_motion import FrameMotion
from linkwork.elements.forces.motor_law import MotorLaw

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.elements.core.units import Quantity
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


ON_A_JOINT, ON_A_COORDINATE, ON_A_TENDON, ON_A_FRAME = "on a joint", "on a generalised coordinate", "on a tendon", "on a frame"


@dataclass(eq=False, repr=False)
class Motor(ForceElement):
    """Drives a hinge, slider or screw by its control u, `sim.control[name]`, with x the joint's coordinate. In the place of the
    joint may stand a FixedTendon or a Cable, of which x is the length; a Frame; or a LagrangianBody, of which x is the
    generalised coordinate with the number `coordinate` (0 unless told).

    The torque (N m; of a slider the force, N) is u for kind "torque", kp (u - x) - kd x' for "position", kd (u - x') for
    "velocity", -kd u x' for "damper" and u (g0 + g1 x + g2 x') + b0 + b1 x + b2 x' for "general", with `gain` g and `bias` b.
    It is never beyond +-limit, or the two of `limit`. What is commanded beyond `range` counts as its nearer end. With a `gear`
    the motor has gear x in the place of x, and the joint takes gear times the motor's torque, to which `limit` belongs.

    With a `filter` (s) the law takes in the place of u an activation a, for which a' = (u - a) / filter; it is zero at first,
    and part of the state (`sim.activation`).

    On a Frame the gear is six numbers: along the first three the motor pushes, about the others it turns, in the frame's axes.
    With a `reference`, another frame, it is in the axes of that one, on whose body the opposite acts; x is then the gear's part
    of where the frame is from there (m), and of how it is turned (a rotation vector).

    >>> Motor("axle", kind="velocity", kd=5.0, limit=20.0, name="drive")
    <Motor "drive">
    >>> Motor("knee", gear=100.0, range=(-1, 1), name="servo").range.tolist()
    [-1.0, 1.0]
    >>> Motor("grasp", "position", kp=100.0, kd=10.0, limit=(0, 50), filter=0.1, name="gripper").filter
    0.1
    >>> Motor("nozzle", gear=(0, 0, 1, 0, 0, 0), name="thruster").gear.tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
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

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "body, joint, frame or force", "reference": "frame"}
    OPTIONAL: ClassVar[tuple[str, ...]] = ("reference",)
    GAINS: ClassVar[dict[str, Any]] = {"torque": (), "position": ("kp", "kd"), "velocity": ("kd",), "damper": ("kd",),
                                       "general": ("gain", "bias")}  # fmt: skip

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {
        "range": ("N m", "N", "rad", "m", "rad/s", "m/s"),
        "filter": ("s",),
        "gain": (),
        "bias": (),
    }

    joint: Element | str  # a Joint, a FixedTendon, a Cable, a Frame or a LagrangianBody
    kind: str = "torque"
    kp: float | Parameter = 0.0  # N m/rad or N/m
    kd: float | Parameter = 0.0  # N m s/rad or N s/m
    limit: OptionalOpenVectorField = default(None)  # N m or N, of the motor; (2,): the lower and the upper one
    gear: OpenVectorField = field(default=default(1.0), kw_only=True)  # of a frame (6,)
    range: OptionalOpenVectorField = field(default=default(None), kw_only=True)  # (2,): of commands
    coordinate: int | None = field(default=None, kw_only=True)  # of a LagrangianBody: which of its coordinates, from 0
    filter: float | Parameter | None = field(default=None, kw_only=True)  # s
    gain: OptionalOpenVectorField = field(default=default(None), kw_only=True)  # (3,), or the first of them, of "general"
    bias: OptionalOpenVectorField = field(default=default(None), kw_only=True)  # (3,), of "general"
    reference: Frame | str | None = field(default=None, kw_only=True)

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        self.kind = checks.choice(self, "kind", self.kind, self.GAINS)
        check_coefficients(self, "kp", "kd")
        self._check_bounds()
        self._check_gear()
        self._check_gains()
        self.filter = checks.optional(checks.positive, self, "filter", self.filter, parameter=True)
        if self.coordinate is not None and (type(self.coordinate) is not int or self.coordinate < 0):
            checks.fail(self, f"coordinate is {checks.show(self.coordinate)}", "give a whole number from 0 on")

    def _check_bounds(self) -> None:
        if checks.entries(self.limit) is None:
            self.limit = checks.optional(checks.positive, self, "limit", self.limit, parameter=True)
        else:
            self.limit = _pair(self, "limit", self.limit)
        if self.range is not None:
            self.range = _pair(self, "range", self.range)

    def _check_gear(self) -> None:
        if checks.entries(self.gear) is None:
            self.gear = checks.number(self, "gear", self.gear, parameter=True)
        else:
            self.gear = checks.vector(self, "gear", self.gear, 6, parameter=True)
        if not any(isinstance(g, Parameter) or float(g) != 0.0 for g in ([self.gear] if size(self.gear) == 1 else self.gear)):
            checks.fail(self, "gear is 0", "give a number other than 0")

    def _check_gains(self) -> None:
        gains = self.GAINS[self.kind]
        for name in {"kp", "kd", "gain", "bias"}.difference(gains):
            if isinstance(getattr(self, name), Parameter) or getattr(self, name) not in (None, 0.0):
                checks.fail(self, f'kind "{self.kind}" has no {name}', f"leave {name}= out or give another kind")
        if self.kind == "general":
            for name, fallback in (("gain", (1.0, 0.0, 0.0)), ("bias", (0.0, 0.0, 0.0))):
                given = getattr(self, name)
                one = given is not None and checks.entries(given) is None
                whole = fallback if given is None else (given, 0.0, 0.0) if one else given
                setattr(self, name, checks.vector(self, name, whole, 3, parameter=True))
        elif gains and not isinstance(getattr(self, gains[0]), Parameter):  # a Parameter may start at zero
            remedy = f'give {gains[0]} > 0 for kind "{self.kind}"'
            checks.positive(self, gains[0], getattr(self, gains[0]), remedy=remedy)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        moved, *reference = resolved
        if self.coordinate is not None and not isinstance(moved, Body):
            what = "joint" if isinstance(moved, Joint) else type(moved).__name__
            checks.fail(self, f"coordinate is {self.coordinate}, and {checks.label(moved)} is a {what}", "leave it out")
        if isinstance(moved, Frame):
            self._check_frames(moved, *reference)
            return
        if reference:
            checks.fail(
                self, f"reference is {checks.label(reference[0])}, and {checks.label(moved)} is no frame", "leave it out"
            )
        if size(self.gear) != 1:
            checks.fail(self, f"gear is {checks.show(self.gear)} on {checks.label(moved)}", "give one number")
        if isinstance(moved, Joint):
            has_coordinate(self, moved)
        elif isinstance(moved, Body):
            self._check_body(moved)
        elif not hasattr(moved, "transmission"):
            checks.fail(self, f"{checks.label(moved)} has no length", "give a joint, a FixedTendon, a Cable or a Frame")

    def _check_body(self, moved: Any) -> None:
        if not moved.generalised:
            checks.fail(self, f"{checks.label(moved)} has no coordinates of its own", "give a joint, or a LagrangianBody")
        elif (self.coordinate or 0) >= moved.generalised:
            checks.fail(self, f"coordinate is {self.coordinate}, and {checks.label(moved)} has {moved.generalised}",
                        f"count from 0 to {moved.generalised - 1}")  # fmt: skip

    def _check_frames(self, moved: Frame, reference: Frame | None = None) -> None:
        if size(self.gear) != 6:
            checks.fail(self, f"gear is {checks.show(self.gear)} on {checks.label(moved)}",
                        "give six numbers: along and about the frame's axes, such as (0, 0, 1, 0, 0, 0)")  # fmt: skip
        bodies: list[Any] = [frame.body for frame in (moved, reference) if frame is not None]
        if len(bodies) == 2 and bodies[0] is bodies[1]:
            checks.fail(self, f"both of its frames are on {checks.label(bodies[0])}", "give a reference on another body")
        if not any(body.dim for body in bodies):
            checks.fail(self, "its frame stands still", "give a frame on a body that moves")
        if reference is None and self.kind == "position":
            checks.fail(self, f"{checks.label(moved)} has no coordinate to hold", "give reference=, a frame to tell it from")

    def variant(self) -> Hashable:
        if isinstance(self.joint, Joint):
            return ON_A_JOINT
        if isinstance(self.joint, Frame):
            return ON_A_FRAME
        return ON_A_COORDINATE if isinstance(self.joint, Body) else ON_A_TENDON


def _pair(who: Motor, name: str, value: Any) -> Any:
    """A lower and an upper end."""
    found = checks.vector(who, name, value, 2, parameter=True)
    if not float(found[0]) <= float(found[1]):
        checks.fail(who, f"{name} is {checks.show(found)}", "give its lower end, then its upper one")
    return found


@kind_of(Motor, ON_A_JOINT)
class JointMotorKind(MotorLaw):
    """A torque about (a force along) a joint's axis."""

    needs_directions = (True, True)
    relative = True

    def __init__(self, element: Any) -> None:
        self.joint = kind_of_joint(element.joint)
        self.sliding = self.joint.slides
        self.take_manner(element, self.joint.key)
        self.counters = 1 if self.kind in ("position", "general") and not self.sliding else 0
        self.turns_only, self.axial = not self.sliding, not self.filtered  # along a joint nobody tells the time
        self.direct = self.axial and self.kind == "torque"
        self.fields = {**self.joint.fields, "axis_a": 3, **self.fields}

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.joint.a, element.joint.b

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        of = [e.joint for e in elements]
        return {**self.joint.parameters(of, A, B), "axis_a": self.joint.frame(of, A, B)[0], **self.gains(elements)}

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        return self.told(self.joint.freedoms[0])

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return self.joint.angles(handles, p)[: self.counters]

    def coordinate(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        axis = handles[0].axis(p["axis_a"])
        if self.sliding:
            return travelling(handles, p, [axis])
        return turning(self.counted(handles, p)[0] if self.counters else SX(1, 1), [axis])

    def along(self, x: AlongJoint, p: Params) -> SX:
        return self.geared_effort((), p, x, SX(0))


@kind_of(Motor, ON_A_TENDON)
class TendonMotorKind(MotorLaw):
    """A tension that draws in what it pulls at where it is negative."""

    def __init__(self, element: Any) -> None:
        self.transmission = t = self.moved(element)
        self.take_manner(element, t.key)
        self.counters = t.counters if self.kind in ("position", "general") else 0
        self.fields = {**t.fields, **self.fields}
        self.needs_directions, self.rigid_only, self.relative = t.needs_directions, (False,) * len(t.bodies), t.relative

    @staticmethod
    def moved(element: Any) -> Transmission:
        """What it acts along."""
        found: Transmission = element.joint.transmission()
        return found

    @classmethod
    def bodies(cls, element: Any) -> tuple[Any, ...]:
        return cls.moved(element).bodies

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        return {**self.transmission.parameters([e.joint for e in elements], frames), **self.gains(elements)}

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        return self.told(self.transmission.freedom)

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return self.transmission.angles(handles, p)[: self.counters]

    def coordinate(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        counted = self.counted(handles, p) if self.counters else [SX(1, 1)] * self.transmission.counters
        return self.transmission.coordinate(handles, p, counted)


@kind_of(Motor, ON_A_FRAME)
class FrameMotorKind(TendonMotorKind):
    """A force along and a torque about axes of a frame."""

    @staticmethod
    def moved(element: Any) -> FrameMotion:
        return FrameMotion(element)

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        return {**self.transmission.parameters(elements, frames), **self.gains(elements)}


@kind_of(Motor, ON_A_COORDINATE)
class CoordinateMotorKind(MotorLaw):
    """The same on a generalised coordinate of a body."""

    def __init__(self, element: Any) -> None:
        self.number, self.size = element.coordinate or 0, element.joint.generalised
        self.take_manner(element, f"coordinate-{self.number}")

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.joint

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        return self.gains(elements)

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        """Only the user knows the unit of a generalised coordinate."""
        return self.told(None)

    def coordinate(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        weight = SX(1, self.size)
        weight[0, self.number] = 1
        return Coordinate(handles[1].coordinates()[self.number], [(1, "coordinates", None, weight)])


check_complete(Motor, (ON_A_JOINT, ON_A_TENDON, ON_A_FRAME, ON_A_COORDINATE))
