"""FrameAxisSensor: where an axis of a frame points. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core import checks
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.framed import RelativeSensor, RelativeSensorKind, own_axes

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class FrameAxisSensor(RelativeSensor):
    """Where the direction `axis` of `frame` (unless told its z) points (3), in the axes of `reference`.

    >>> FrameAxisSensor("hand", name="frame axis")
    <FrameAxisSensor "frame axis">
    """

    axis: VectorField = default((0.0, 0.0, 1.0))  # (3,), in the frame's axes

    def __post_init__(self) -> None:
        super().__post_init__()
        self.axis = checks.direction(self, "axis", self.axis)


@kind_of(FrameAxisSensor)
class FrameAxisKind(RelativeSensorKind):
    """A direction that is carried along."""

    fields = {"axis": 3}

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("direction", "1")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        frame, reference = places
        return own_axes(reference, frame.axes @ p["axis"])
