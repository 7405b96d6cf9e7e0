"""RangefinderSensor: how far it is to what a ray meets first. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import MeasuredSensorKind
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.framed import FrameSensor


@dataclass(eq=False, repr=False)
class RangefinderSensor(FrameSensor):
    """The distance (m) from the origin of `frame` along its `axis` (unless told z) to the first shape that can be touched: the
    shapes of bodies and all Colliders, but for those of the body that the frame is on, if that moves. -1 where there is none
    within `reach`.

    >>> RangefinderSensor("lidar", reach=10.0, name="distance")
    <RangefinderSensor "distance">
    """

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {**FrameSensor.UNITS, "reach": ("m",), "axis": ()}

    axis: VectorField = default((0.0, 0.0, 1.0))  # (3,), in the frame's axes
    reach: float | None = field(default=None, kw_only=True)  # m; None: however far

    def __post_init__(self) -> None:
        super().__post_init__()
        self.axis = checks.direction(self, "axis", self.axis)
        self.reach = checks.optional(checks.positive, self, "reach", self.reach)


@kind_of(RangefinderSensor)
class RangefinderKind(MeasuredSensorKind):
    """A ray against shapes."""

    positive = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("distance", "m"),)

    def measure(self, element: Any, now: Any) -> Any:
        frame: Any = element.frame
        body: Any = frame.body if isinstance(frame, Frame) else frame
        met = now.first_met(now.position(frame), now.rotation(frame) @ element.axis, body if body.dim else None)
        return met if met <= (float("inf") if element.reach is None else element.reach) and met != float("inf") else -1.0
