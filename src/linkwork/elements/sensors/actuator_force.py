"""ActuatorForceSensor: what a motor does, before its gear. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.core.sensor_kind import EffortSensorKind
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.motored import ON_A_JOINT, ON_A_TENDON, MotorSensor, moved_by

if TYPE_CHECKING:
    from linkwork.elements.core.element import ForceElement


@dataclass(eq=False, repr=False)
class ActuatorForceSensor(MotorSensor):
    """The torque (N m; on what has a length the force, N) of a motor, within its limit and before its gear.

    >>> ActuatorForceSensor("servo", name="servo torque")
    <ActuatorForceSensor "servo torque">
    """


@kind_of(ActuatorForceSensor, ON_A_JOINT)
@kind_of(ActuatorForceSensor, ON_A_TENDON)
class ActuatorForceKind(EffortSensorKind):
    """What it puts along what it moves, over its gear."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        unit = moved_by(element).effort
        return (Quantity("torque" if unit == "N m" else "force", unit),)

    def share(self, element: Any, force: ForceElement) -> float:
        return 1.0 if force is element.motor else 0.0

    def scaling(self, element: Any) -> tuple[float, float]:
        return element.scale / float(element.motor.gear), 0.0


check_complete(ActuatorForceSensor, (ON_A_JOINT, ON_A_TENDON))
