"""ActuatorForceSensor: what a motor does, before its gear. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import EffortSensorKind
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.motored import MotorSensor

if TYPE_CHECKING:
    from linkwork.elements.core.element import ForceElement


@dataclass(eq=False, repr=False)
class ActuatorForceSensor(MotorSensor):
    """The torque (N m; on a slider the force, N) of a motor, within its limit and before its gear.

    >>> ActuatorForceSensor("servo", name="servo torque")
    <ActuatorForceSensor "servo torque">
    """


@kind_of(ActuatorForceSensor)
class ActuatorForceKind(EffortSensorKind):
    """What it puts along the joint, over its gear."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        kind = kind_of_joint(element.motor.joint)
        return (Quantity("force" if kind.slides else "torque", kind.freedoms[0].effort),)

    def drives(self, element: Any, force: ForceElement) -> bool:
        return force is element.motor

    def scaling(self, element: Any) -> tuple[float, float]:
        return 1.0 / float(element.motor.gear), 0.0
