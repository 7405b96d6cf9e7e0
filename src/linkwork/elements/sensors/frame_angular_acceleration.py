"""FrameAngularAccelerationSensor: how fast a frame comes to turn. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.framed import FrameSensor, FrameSensorKind

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class FrameAngularAccelerationSensor(FrameSensor):
    """The angular acceleration of `frame` (3, rad/s^2) in the world, in the world's axes.

    >>> FrameAngularAccelerationSensor("hand", name="frame angular acceleration")
    <FrameAngularAccelerationSensor "frame angular acceleration">
    """


@kind_of(FrameAngularAccelerationSensor)
class FrameAngularAccelerationKind(FrameSensorKind):
    """As it was solved for."""

    solved = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("angular acceleration", "rad/s^2")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return places[0].angular_acceleration
