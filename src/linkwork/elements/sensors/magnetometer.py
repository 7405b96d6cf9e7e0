"""MagnetometerSensor: a field of the world in the axes of a frame. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.framed import FrameSensor, FrameSensorKind, own_axes

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class MagnetometerSensor(FrameSensor):
    """The magnetic `field` of the world, the same everywhere (3, T), in the axes of `frame`.

    >>> MagnetometerSensor("hand", name="magnetometer")
    <MagnetometerSensor "magnetometer">
    """

    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("field",)

    field: VectorField = default((0.0, -0.5e-4, 0.0))  # (3,), in the world's axes

    def __post_init__(self) -> None:
        super().__post_init__()
        self.field = checks.vector(self, "field", self.field)


@kind_of(MagnetometerSensor)
class MagnetometerKind(FrameSensorKind):
    """A direction of the world, turned."""

    fields = {"field": 3}

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("field", "T")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return own_axes(places[0], p["field"])
