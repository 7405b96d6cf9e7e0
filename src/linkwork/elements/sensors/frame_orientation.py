"""FrameOrientationSensor: how a frame is turned. The element and its expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
from casadi import SX

from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.units import QUATERNION
from linkwork.elements.sensors.framed import RelativeSensor, RelativeSensorKind
from linkwork.symbolic import rotation

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor_kind import Place
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class FrameOrientationSensor(RelativeSensor):
    """How `frame` is turned (4: a unit quaternion w x y z) as `reference` sees it.

    >>> FrameOrientationSensor("hand", name="frame orientation")
    <FrameOrientationSensor "frame orientation">
    """


@kind_of(FrameOrientationSensor)
class FrameOrientationKind(RelativeSensorKind):
    """A product of quaternions, with w of the sign that it comes with."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return QUATERNION

    def reading(self, places: Sequence[Place], p: Params) -> SX:
        frame, reference = places
        q = reference.orientation
        return rotation.product(ca.vertcat(q[0], -q[1:4]), frame.orientation)
