"""FrameAngularVelocitySensor: how a frame turns. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.framed import RelativeSensor, RelativeSensorKind, own_axes

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class FrameAngularVelocitySensor(RelativeSensor):
    """The angular velocity of `frame` (3, rad/s) as `reference` sees it, in its axes.

    >>> FrameAngularVelocitySensor("hand", name="frame angular velocity")
    <FrameAngularVelocitySensor "frame angular velocity">
    """


@kind_of(FrameAngularVelocitySensor)
class FrameAngularVelocityKind(RelativeSensorKind):
    """A difference of angular velocities."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("angular velocity", "rad/s")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        frame, reference = places
        return own_axes(reference, frame.angular_velocity - reference.angular_velocity)
