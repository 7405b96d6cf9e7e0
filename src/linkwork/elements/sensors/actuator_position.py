"""ActuatorPositionSensor: the position of a motor behind its gear. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.sensors.motored import MotorSensor, MotorSensorKind

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class ActuatorPositionSensor(MotorSensor):
    """The coordinate of a motor: its gear times that of its joint (rad or m), which is zero as built; `offset` is added.

    >>> ActuatorPositionSensor("servo", name="servo position")
    <ActuatorPositionSensor "servo position">
    """

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {**MotorSensor.UNITS, "offset": ("rad", "m")}

    offset: float = 0.0  # rad or m

    def __post_init__(self) -> None:
        super().__post_init__()
        self.offset = checks.number(self, "offset", self.offset)


@kind_of(ActuatorPositionSensor)
class ActuatorPositionKind(MotorSensorKind):
    """The joint's, times the gear."""

    rates = False

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return kind_of_joint(element.motor.joint).read_names[:1]

    def scaling(self, element: Any) -> tuple[float, float]:
        return super().scaling(element)[0], element.offset
