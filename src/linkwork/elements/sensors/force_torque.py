"""ForceTorqueSensor: the force and torque that a joint transmits. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import along_axes
from linkwork.elements.sensors.wrench import WrenchSensor, WrenchSensorKind

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class ForceTorqueSensor(WrenchSensor):
    """What a joint transmits to its second body (6): the force (N), then the torque (N m) about the origin of `frame`, in its
    axes; without a frame about the anchor of the joint, in the axes of that body. It has in it the reaction of the joint and
    all that acts in it: motors, springs, limits, friction. `body`: what the other body is given.

    >>> ForceTorqueSensor("wrist", name="load cell")
    <ForceTorqueSensor "load cell">
    """


@kind_of(ForceTorqueSensor)
class ForceTorqueKind(WrenchSensorKind):
    """Both."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (*along_axes("force", "N"), *along_axes("torque", "N m"))

    def measure(self, element: Any, now: Any) -> Any:
        return np.concatenate(self.wrench(element, now))
