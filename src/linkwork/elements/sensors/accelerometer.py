"""AccelerometerSensor: what a mass on springs in a frame feels. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.framed import FrameSensor, FrameSensorKind, own_axes

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class AccelerometerSensor(FrameSensor):
    """The acceleration of the origin of `frame` less gravity (3, m/s^2), in the frame's axes: 9.81 upwards for what is at rest.

    >>> AccelerometerSensor("hand", name="accelerometer")
    <AccelerometerSensor "accelerometer">
    """


@kind_of(AccelerometerSensor)
class AccelerometerKind(FrameSensorKind):
    """The acceleration that was solved for, less gravity."""

    solved = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("acceleration", "m/s^2")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return own_axes(places[0], places[0].acceleration - p["gravity"])
