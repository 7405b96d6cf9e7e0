"""CableLengthSensor: the length of a tendon or rope. The element and its kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.cabled import (
    OF_A_ROPE,
    OF_A_TENDON,
    CableSensor,
    RopeSensorKind,
    TendonSensorKind,
    apart,
)

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place


@dataclass(eq=False, repr=False)
class CableLengthSensor(CableSensor):
    """How far it is along a Cable from end to end (m), or from one end of a Rope to the other, taut or not; of a FixedTendon
    its sum of coordinates (rad or m), zero as built. `offset` is added.

    >>> CableLengthSensor("tendon", name="tendon length")
    <CableLengthSensor "tendon length">
    """

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {**CableSensor.UNITS, "offset": ("m", "rad")}

    offset: float = 0.0  # m or rad

    def __post_init__(self) -> None:
        super().__post_init__()
        self.offset = checks.number(self, "offset", self.offset)


@kind_of(CableLengthSensor, OF_A_TENDON)
class TendonLengthKind(TendonSensorKind):
    """What the tendon acts along."""

    rates = False

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("length", self.freedom(element.cable).unit),)

    def scaling(self, element: Any) -> tuple[float, float]:
        return 1.0, element.offset


@kind_of(CableLengthSensor, OF_A_ROPE)
class RopeLengthKind(RopeSensorKind):
    """A distance."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("length", "m"),)

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return apart(places)[1]

    def scaling(self, element: Any) -> tuple[float, float]:
        return 1.0, element.offset


check_complete(CableLengthSensor, (OF_A_TENDON, OF_A_ROPE))
