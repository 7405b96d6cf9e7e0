"""ActuatorVelocitySensor: the velocity of a motor behind its gear. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.motored import ON_A_JOINT, ON_A_TENDON, MotorSensor, OnJointKind, OnTendonKind, moved_by


@dataclass(eq=False, repr=False)
class ActuatorVelocitySensor(MotorSensor):
    """The rate of the coordinate of a motor: its gear times that of its joint or tendon (rad/s or m/s).

    >>> ActuatorVelocitySensor("servo", name="servo speed")
    <ActuatorVelocitySensor "servo speed">
    """


@kind_of(ActuatorVelocitySensor, ON_A_JOINT)
class ActuatorVelocityOnJointKind(OnJointKind):
    """The rate of the coordinate of the joint."""

    rates = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("rate of the coordinate", moved_by(element).rate),)


@kind_of(ActuatorVelocitySensor, ON_A_TENDON)
class ActuatorVelocityOnTendonKind(OnTendonKind):
    """The rate of the coordinate of the tendon."""

    rates = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("rate of the coordinate", moved_by(element).rate),)


check_complete(ActuatorVelocitySensor, (ON_A_JOINT, ON_A_TENDON))
