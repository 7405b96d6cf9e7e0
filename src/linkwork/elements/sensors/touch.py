"""TouchSensor: how hard a body is touched in a zone. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import MeasuredSensorKind
from linkwork.elements.core.shape import Shape
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.framed import FrameSensor

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(eq=False, repr=False)
class TouchSensor(FrameSensor):
    """The sum of all normal forces (N) on the body of `frame`, as they were in the last step. With a `zone`, a shape where the
    frame is, of those alone that come through it: the ray from the contact point out of the body, along the normal, meets it.

    >>> from linkwork.elements import Sphere
    >>> TouchSensor("fingertip", Sphere(0.01), name="touch")
    <TouchSensor "touch">
    """

    REFERENCES: ClassVar[dict[str, str]] = FrameSensor.REFERENCES

    zone: Shape | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.zone is not None and not isinstance(self.zone, Shape):
            checks.fail(self, f"zone is {checks.show(self.zone)}", "give a shape such as Sphere(0.01), or none")

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        if _body(resolved[0]).dim == 0:
            checks.fail(
                self, "it is on the ground", "give a body that moves, or a ContactForceSensor on a Collider of the ground"
            )
        super().check_resolved(resolved)


def _body(frame: Any) -> Any:
    return frame.body if isinstance(frame, Frame) else frame


@kind_of(TouchSensor)
class TouchKind(MeasuredSensorKind):
    """Over the contacts of the last step."""

    positive = of_contact = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("force", "N"),)

    def measure(self, element: Any, now: Any) -> Any:
        total = 0.0
        for touched in now.touching(_body(element.frame)):
            if element.zone is None or now.meets(element.zone, element.frame, touched.point, -touched.normal):
                total += float(touched.normal @ touched.force)
        return total
