"""AngularMomentumSensor: the angular momentum of bodies. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import MeasuredSensorKind, along_axes
from linkwork.elements.sensors.gathered import BodiesSensor

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class AngularMomentumSensor(BodiesSensor):
    """The angular momentum of several bodies about their centre of mass (3, N m s), in the world's axes.

    >>> AngularMomentumSensor(["torso", "head"], name="angular momentum")
    <AngularMomentumSensor "angular momentum">
    """


@kind_of(AngularMomentumSensor)
class AngularMomentumKind(MeasuredSensorKind):
    """From the motion of all of them."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("angular momentum", "N m s")

    def measure(self, element: Any, now: Any) -> Any:
        return now.angular_momentum(element.bodies)
