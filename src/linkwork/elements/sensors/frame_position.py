"""FramePositionSensor: where a frame is. The element and its expression."""

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
class FramePositionSensor(RelativeSensor):
    """Where the origin of `frame` is (3, m), from the origin of `reference` and in its axes.

    >>> FramePositionSensor("hand", name="frame position")
    <FramePositionSensor "frame position">
    """


@kind_of(FramePositionSensor)
class FramePositionKind(RelativeSensorKind):
    """A difference of places."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("position", "m")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        frame, reference = places
        return own_axes(reference, frame.position - reference.position)
