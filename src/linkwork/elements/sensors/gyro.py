"""GyroSensor: how a frame turns, in its own axes. The element and its expression."""

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
class GyroSensor(FrameSensor):
    """The angular velocity of `frame` in the world (3, rad/s), in the frame's axes.

    >>> GyroSensor("hand", name="gyro")
    <GyroSensor "gyro">
    """


@kind_of(GyroSensor)
class GyroKind(FrameSensorKind):
    """An angular velocity, turned."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("angular velocity", "rad/s")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return own_axes(places[0], places[0].angular_velocity)
