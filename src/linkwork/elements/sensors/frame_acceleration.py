"""FrameAccelerationSensor: how a frame accelerates. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core import checks
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.framed import FrameSensor, FrameSensorKind

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class FrameAccelerationSensor(FrameSensor):
    """The acceleration of the origin of `frame` (3, m/s^2) in the world, in the world's axes; less gravity, as an accelerometer
    feels it, where `felt` says so.

    >>> FrameAccelerationSensor("hand", name="frame acceleration")
    <FrameAccelerationSensor "frame acceleration">
    """

    felt: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.felt = checks.flag(self, "felt", self.felt)


@kind_of(FrameAccelerationSensor)
class FrameAccelerationKind(FrameSensorKind):
    """As it was solved for."""

    solved = True
    fields = {"felt": 1}

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("acceleration", "m/s^2")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return places[0].acceleration - p["felt"] * p["gravity"]
