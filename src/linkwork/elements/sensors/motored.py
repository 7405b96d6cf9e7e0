"""Sensors of motors: what their elements and kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import ForceElement
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import JointSensorKind


@dataclass(eq=False, repr=False)
class MotorSensor(Sensor):
    """A sensor of a motor on a joint."""

    REFERENCES: ClassVar[dict[str, str]] = {"motor": "force"}

    motor: ForceElement | str

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        motor = resolved[0]
        if not isinstance(getattr(motor, "joint", None), Joint) or not kind_for(motor).drives:
            checks.fail(self, f"{checks.label(motor)} drives no joint", "give a Motor on a joint")
        if isinstance(motor.gear, Parameter):
            checks.fail(self, f"the gear of {checks.label(motor)} is a Parameter", "give it a number")
        super().check_resolved(resolved)


class MotorSensorKind(JointSensorKind):
    """What the joint reads, times the gear."""

    def joint(self, element: Any) -> Any:
        return element.motor.joint

    def scaling(self, element: Any) -> tuple[float, float]:
        return float(element.motor.gear), 0.0
