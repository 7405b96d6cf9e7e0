"""CableLengthSensor: the length of a cable or rope. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.cabled import CableSensor, CableSensorKind, apart

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place


@dataclass(eq=False, repr=False)
class CableLengthSensor(CableSensor):
    """How far it is along a Cable from end to end (m), or from one end of a Rope to the other, taut or not.

    >>> CableLengthSensor("tendon", name="tendon length")
    <CableLengthSensor "tendon length">
    """


@kind_of(CableLengthSensor)
class CableLengthKind(CableSensorKind):
    """A sum of distances."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("length", "m"),)

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return apart(places)[1]
