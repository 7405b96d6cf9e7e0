"""CableVelocitySensor: the rate of the length of a cable or rope. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.cabled import CableSensor, CableSensorKind, apart

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place


@dataclass(eq=False, repr=False)
class CableVelocitySensor(CableSensor):
    """The rate of what a CableLengthSensor tells (m/s).

    >>> CableVelocitySensor("tendon", name="tendon speed")
    <CableVelocitySensor "tendon speed">
    """


@kind_of(CableVelocitySensor)
class CableVelocityKind(CableSensorKind):
    """Along each piece, from one end to the other; 0 where the two are at one point."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("rate of the length", "m/s"),)

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        way, length = apart(places)
        along = ca.dot(way, places[1].velocity - places[0].velocity)
        return ca.if_else(length > 0, along / ca.if_else(length > 0, length, 1), 0)
