"""ClockSensor: the time. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import MeasuredSensorKind
from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class ClockSensor(Sensor):
    """The time of the simulation (s).

    >>> ClockSensor(rate=100, name="clock")
    <ClockSensor "clock">
    """


@kind_of(ClockSensor)
class ClockKind(MeasuredSensorKind):
    """As it is."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("time", "s"),)

    def measure(self, element: Any, now: Any) -> Any:
        return now.time
