"""Sensors of motors: what their elements and kinds share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import ForceElement
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import JointSensorKind, LengthSensorKind
from linkwork.elements.sensors.cabled import is_tendon

ON_A_JOINT, ON_A_TENDON = "on a joint", "on a tendon"


@dataclass(eq=False, repr=False)
class MotorSensor(Sensor):
    """A sensor of a motor on a joint or tendon; what it reads is multiplied by `scale`."""

    REFERENCES: ClassVar[dict[str, str]] = {"motor": "force"}

    motor: ForceElement | str
    scale: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scale = checks.number(self, "scale", self.scale)

    def variant(self) -> Hashable:
        return ON_A_JOINT if isinstance(getattr(self.motor, "joint", None), Joint) else ON_A_TENDON

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        motor = resolved[0]
        moved = getattr(motor, "joint", None)
        if not (isinstance(moved, Joint) or is_tendon(moved)) or not kind_for(motor).drives:
            checks.fail(self, f"{checks.label(motor)} drives no joint or tendon", "give a Motor on one")
        if isinstance(motor.gear, Parameter):
            checks.fail(self, f"the gear of {checks.label(motor)} is a Parameter", "give it a number")
        super().check_resolved(resolved)


def moved_by(element: Any) -> Freedom:
    """The units of what the motor of a sensor moves."""
    moved = element.motor.joint
    found: Freedom = kind_of_joint(moved).freedoms[0] if isinstance(moved, Joint) else moved.transmission().freedom
    return found


class OnJointKind(JointSensorKind):
    """What the joint reads, times the gear."""

    def joint(self, element: Any) -> Any:
        return element.motor.joint

    def scaling(self, element: Any) -> tuple[float, float]:
        return element.scale * float(element.motor.gear), getattr(element, "offset", 0.0)


class OnTendonKind(LengthSensorKind):
    """What the tendon reads, times the gear."""

    def tendon(self, element: Any) -> Any:
        return element.motor.joint

    def scaling(self, element: Any) -> tuple[float, float]:
        return element.scale * float(element.motor.gear), getattr(element, "offset", 0.0)
