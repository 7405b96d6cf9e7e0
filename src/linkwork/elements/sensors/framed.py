"""Sensors in a frame, alone or beside a reference frame: what their elements and kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core.frame import FrameLike
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import At, PlaceSensorKind, at

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.sensor_kind import Place


@dataclass(eq=False, repr=False)
class FrameSensor(Sensor):
    """A sensor where a frame is, or a body's own frame."""

    REFERENCES: ClassVar[dict[str, str]] = {"frame": "body or frame"}

    frame: FrameLike

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        for one in resolved:
            self.check_axes(one)
        super().check_resolved(resolved)


@dataclass(eq=False, repr=False)
class RelativeSensor(FrameSensor):
    """A sensor of a frame as another one sees it, in whose axes it tells: the world unless told."""

    REFERENCES: ClassVar[dict[str, str]] = {"frame": "body or frame", "reference": "body or frame"}

    reference: FrameLike = field(default="ground", kw_only=True)


class FrameSensorKind(PlaceSensorKind):
    """Of one frame."""

    def parts(self, element: Any) -> Sequence[tuple[At, ...]]:
        return [(at(element.frame),)]


class RelativeSensorKind(PlaceSensorKind):
    """Of a frame and its reference."""

    def parts(self, element: Any) -> Sequence[tuple[At, ...]]:
        return [(at(element.frame), at(element.reference))]


def own_axes(place: Place, vector: SX) -> SX:
    """A vector of the world in the axes of a place."""
    return place.axes.T @ vector
