"""JointVelocitySensor: the velocities of a joint. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import JointSensorKind
from linkwork.elements.sensors.jointed import JointSensor

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class JointVelocitySensor(JointSensor):
    """The velocities of a joint, as `sim.qd` has them: rates of angles (rad/s) and travels (m/s), the angular velocity of a
    ball in the axes of its first body.

    >>> JointVelocitySensor("knee", name="knee speed")
    <JointVelocitySensor "knee speed">
    """


@kind_of(JointVelocitySensor)
class JointVelocityKind(JointSensorKind):
    """As the joint's kind reads them."""

    rates = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        found: tuple[Quantity, ...] = kind_of_joint(element.joint).read_rates
        return found
