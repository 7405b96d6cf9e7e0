"""Motor: drives the coordinate of a joint, or a generalised coordinate of a body, by command. The element and its laws."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ForceElement
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.field_types import OptionalOpenVectorField, default
from linkwork.elements.core.force_kind import AlongJoint, Coordinate, ForceKind, travelling, turning
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import Joint, has_coordinate, kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.core.units import Quantity
from linkwork.elements.forces.coefficients import check_coefficients

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load, Term
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


ON_A_JOINT, ON_A_COORDINATE = "on a joint", "on a generalised coordinate"


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

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "body or joint"}
    GAINS: ClassVar[dict[str, Any]] = {"torque": (), "position": ("kp", "kd"), "velocity": ("kd",)}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"range": ("N m", "N", "rad", "m", "rad/s", "m/s")}

    joint: Joint | Body | str
    kind: str = "torque"
    kp: float | Parameter = 0.0  # N m/rad or N/m
    kd: float | Parameter = 0.0  # N m s/rad or N s/m
    limit: float | Parameter | None = None  # N m or N, of the motor
    gear: float | Parameter = field(default=1.0, kw_only=True)
    range: OptionalOpenVectorField = field(default=default(None), kw_only=True)  # (2,): of commands
    coordinate: int | None = field(default=None, kw_only=True)  # of a LagrangianBody: which of its coordinates, from 0

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        self.kind = checks.choice(self, "kind", self.kind, self.GAINS)
        check_coefficients(self, "kp", "kd")
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

    def check_resolved(self, resolved: Sequence[Any]) -> None:
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

    def variant(self) -> Hashable:
        return ON_A_JOINT if isinstance(self.joint, Joint) else ON_A_COORDINATE


@kind_of(Motor, ON_A_JOINT)
class JointMotorKind(ForceKind):
    """A torque about (a force along) a joint's axis: given, or a servo on its coordinate or rate, within a limit."""

    needs_directions = (True, True)
    relative = axial = drives = True

    def __init__(self, element: Any) -> None:
        self.joint = kind_of_joint(element.joint)
        self.sliding = self.joint.slides
        self._manner(element, self.joint.key)
        self.counters = 1 if self.kind == "position" and not self.sliding else 0
        self.turns_only = not self.sliding
        self.fields = {**self.joint.fields, "axis_a": 3, **self.fields}

    def _manner(self, element: Motor, moved: str) -> None:
        """What does not depend on what it moves."""
        self.kind, self.limited = element.kind, element.limit is not None
        self.geared, self.ranged = isinstance(element.gear, Parameter) or element.gear != 1.0, element.range is not None
        self.key = f"Motor:{moved}-{self.kind}-{self.limited}-{self.geared}-{self.ranged}"
        self.velocity_dependent = self.yields = self.kind != "torque"
        self.fields = {"kp": 1, "kd": 1, "limit": 1, "command": 1}
        self.fields |= ({"gear": 1} if self.geared else {}) | ({"range": 2} if self.ranged else {})

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.joint.a, element.joint.b

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        of = [e.joint for e in elements]
        return {**self.joint.parameters(of, A, B), "axis_a": self.joint.frame(of, A, B)[0], **self._gains(elements)}

    def _gains(self, elements: Sequence[Any]) -> dict[str, AnyArray | FloatArray]:
        limit = np.array([0.0 if e.limit is None else e.limit for e in elements], dtype=object).reshape(-1, 1)
        found = {"kp": column(elements, "kp"), "kd": column(elements, "kd"), "limit": limit,
                 "command": np.zeros((len(elements), 1))}  # fmt: skip
        if self.geared:
            found["gear"] = column(elements, "gear")
        if self.ranged:
            found["range"] = np.array([list(e.range) for e in elements], dtype=object)
        return found

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        freedom = self.joint.freedoms[0]
        if self.kind == "torque":
            return {"command": (Quantity("force" if self.sliding else "torque", freedom.effort),)}
        return {"command": (Quantity(self.kind, freedom.unit if self.kind == "position" else freedom.rate),)}

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return self.joint.angles(handles, p)[: self.counters]

    def _coordinate(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        axis = handles[0].axis(p["axis_a"])
        if self.sliding:
            return travelling(handles, p, [axis])
        return turning(self.counted(handles, p)[0] if self.counters else SX(1, 1), [axis])

    def _gear(self, p: Params) -> SX:
        return p["gear"] if self.geared else SX(1)

    def _effort(self, handles: Sequence[Handle], p: Params, x: Coordinate | AlongJoint) -> SX:
        """Of the motor, before it is limited."""
        command, gear = p["command"], self._gear(p)
        if self.ranged:
            command = ca.fmin(ca.fmax(command, p["range"][0]), p["range"][1])
        if self.kind == "torque":
            return command
        if self.kind == "velocity":
            return p["kd"] * (command - gear * x.rate(handles))
        return p["kp"] * (command - gear * x.value) - p["kd"] * (gear * x.rate(handles))

    def _geared(self, handles: Sequence[Handle], p: Params, x: Coordinate | AlongJoint) -> SX:
        """Along the coordinate."""
        effort = self._effort(handles, p, x)
        if self.limited:
            effort = ca.fmin(ca.fmax(effort, -p["limit"]), p["limit"])
        return self._gear(p) * effort

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        x = self._coordinate(handles, p)
        return x.loads(self._geared(handles, p, x)), SX(0)

    def effort(self, handles: Sequence[Handle], p: Params) -> SX:
        return self._geared(handles, p, self._coordinate(handles, p))

    def along(self, x: AlongJoint, p: Params) -> SX:
        return self._geared((), p, x)

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        if self.kind == "torque":
            return []
        x = self._coordinate(handles, p)
        free, square = ca.fabs(self._effort(handles, p, x)) < p["limit"] if self.limited else 1, self._gear(p) ** 2
        stiffness = ca.if_else(free, square * p["kp"], 0) if self.kind == "position" else SX(1, 1)
        return [x.term(stiffness, ca.if_else(free, square * p["kd"], 0))]


@kind_of(Motor, ON_A_COORDINATE)
class CoordinateMotorKind(JointMotorKind):
    """The same on a generalised coordinate of a body."""

    needs_directions = (False, False)
    relative = axial = False

    def __init__(self, element: Any) -> None:
        self.coordinate, self.size = element.coordinate or 0, element.joint.generalised
        self._manner(element, f"coordinate-{self.coordinate}")

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.joint

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        return self._gains(elements)

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        """Only the user knows the unit of a generalised coordinate."""
        return {"command": (Quantity("generalised force" if self.kind == "torque" else self.kind, ""),)}

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return []

    def _coordinate(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        weight = SX(1, self.size)
        weight[0, self.coordinate] = 1
        return Coordinate(handles[1].coordinates()[self.coordinate], [(1, "coordinates", None, weight)])


check_complete(Motor, (ON_A_JOINT, ON_A_COORDINATE))
