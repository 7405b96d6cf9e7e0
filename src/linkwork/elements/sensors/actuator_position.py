"""ActuatorPositionSensor: the position of a motor behind its gear. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.elements.core.units import Quantity
from linkwork.elements.sensors.motored import ON_A_JOINT, ON_A_TENDON, MotorSensor, OnJointKind, OnTendonKind, moved_by


@dataclass(eq=False, repr=False)
class ActuatorPositionSensor(MotorSensor):
    """The coordinate of a motor: its gear times that of its joint, which is zero as built, or times the length of its tendon
    (rad or m); `offset` is added.

    >>> ActuatorPositionSensor("servo", name="servo position")
    <ActuatorPositionSensor "servo position">
    """

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {**MotorSensor.UNITS, "offset": ("rad", "m")}

    offset: float = 0.0  # rad or m

    def __post_init__(self) -> None:
        super().__post_init__()
        self.offset = checks.number(self, "offset", self.offset)


@kind_of(ActuatorPositionSensor, ON_A_JOINT)
class ActuatorPositionOnJointKind(OnJointKind):
    """The coordinate of the joint."""

    rates = False

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("coordinate", moved_by(element).unit),)


@kind_of(ActuatorPositionSensor, ON_A_TENDON)
class ActuatorPositionOnTendonKind(OnTendonKind):
    """The coordinate of the tendon."""

    rates = False

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return (Quantity("coordinate", moved_by(element).unit),)


check_complete(ActuatorPositionSensor, (ON_A_JOINT, ON_A_TENDON))
