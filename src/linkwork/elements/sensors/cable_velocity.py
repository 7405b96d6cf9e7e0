"""CableVelocitySensor: the rate of the length of a tendon or rope. The element and its kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

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
class CableVelocitySensor(CableSensor):
    """The rate of what a CableLengthSensor tells (m/s or rad/s).

    >>> CableVelocitySensor("tendon", name="tendon speed")
    <CableVelocitySensor "tendon speed">
    """


@kind_of(CableVelocitySensor, OF_A_TENDON)
class TendonVelocityKind(TendonSensorKind):
    """The rate of what the tendon acts along."""

    rates = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("rate of the length", self.freedom(element.cable).rate),)


@kind_of(CableVelocitySensor, OF_A_ROPE)
class RopeVelocityKind(RopeSensorKind):
    """From one end to the other; 0 where the two are at one point."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("rate of the length", "m/s"),)

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        way, length = apart(places)
        along = ca.dot(way, places[1].velocity - places[0].velocity)
        return ca.if_else(length > 0, along / ca.if_else(length > 0, length, 1), 0)


check_complete(CableVelocitySensor, (OF_A_TENDON, OF_A_ROPE))
