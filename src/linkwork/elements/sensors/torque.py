"""TorqueSensor: the torque that a joint transmits. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.wrench import WrenchSensor, WrenchSensorKind

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class TorqueSensor(WrenchSensor):
    """The torque (3, N m) that a joint transmits, as ForceTorqueSensor has it.

    >>> TorqueSensor("wrist", name="load cell")
    <TorqueSensor "load cell">
    """


@kind_of(TorqueSensor)
class TorqueKind(WrenchSensorKind):
    """The second half."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("torque", "N m")

    def measure(self, element: Any, now: Any) -> Any:
        return self.wrench(element, now)[1]
