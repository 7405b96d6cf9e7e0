"""ActuatorVelocitySensor: the velocity of a motor behind its gear. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.sensors.motored import MotorSensor, MotorSensorKind

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class ActuatorVelocitySensor(MotorSensor):
    """The rate of the coordinate of a motor: its gear times that of its joint (rad/s or m/s).

    >>> ActuatorVelocitySensor("servo", name="servo speed")
    <ActuatorVelocitySensor "servo speed">
    """


@kind_of(ActuatorVelocitySensor)
class ActuatorVelocityKind(MotorSensorKind):
    """The joint's, times the gear."""

    rates = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return kind_of_joint(element.motor.joint).read_rates[:1]
