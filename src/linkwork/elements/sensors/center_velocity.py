"""CenterVelocitySensor: how the centre of mass of bodies moves. The element and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.gathered import BodiesSensor, CenterSensorKind

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class CenterVelocitySensor(BodiesSensor):
    """The velocity of the centre of mass of several bodies (3, m/s), in the world.

    >>> CenterVelocitySensor(["torso", "head"], name="center velocity")
    <CenterVelocitySensor "center velocity">
    """


@kind_of(CenterVelocitySensor)
class CenterVelocityKind(CenterSensorKind):
    """A mean, weighted by mass."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("velocity", "m/s")

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        return p["share"] * places[0].velocity
