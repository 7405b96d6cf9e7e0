"""FrameVelocitySensor: how a frame moves. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.framed import RelativeSensor, RelativeSensorKind, own_axes
from linkwork.symbolic.blocks import cross

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class FrameVelocitySensor(RelativeSensor):
    """The velocity of the origin of `frame` (3, m/s) as `reference` sees it: in its axes, and without its own motion.

    >>> FrameVelocitySensor("hand", name="frame velocity")
    <FrameVelocitySensor "frame velocity">
    """


@kind_of(FrameVelocitySensor)
class FrameVelocityKind(RelativeSensorKind):
    """A difference of velocities at one point."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("velocity", "m/s")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        frame, reference = places
        carried = reference.velocity + cross(reference.angular_velocity, frame.position - reference.position)
        return own_axes(reference, frame.velocity - carried)
