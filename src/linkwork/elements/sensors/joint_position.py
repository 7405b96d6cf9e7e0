"""JointPositionSensor: the coordinates of a joint. The element and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import JointSensorKind
from linkwork.elements.sensors.jointed import JointSensor

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class JointPositionSensor(JointSensor):
    """The coordinates of a joint, as `sim.q` has them: the angle of a hinge with its turns (rad), the travel of a slider (m),
    the quaternion of a ball. They are zero as built; `offset` is added to them.

    >>> JointPositionSensor("knee", offset=0.3, name="knee encoder")
    <JointPositionSensor "knee encoder">
    """

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {**JointSensor.UNITS, "offset": ("rad", "m")}

    offset: float = 0.0  # rad or m

    def __post_init__(self) -> None:
        super().__post_init__()
        self.offset = checks.number(self, "offset", self.offset)


@kind_of(JointPositionSensor)
class JointPositionKind(JointSensorKind):
    """As the joint's kind reads them."""

    rates = False

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        found: tuple[Quantity, ...] = kind_of_joint(element.joint).read_names
        return found

    def scaling(self, element: Any) -> tuple[float, float]:
        return 1.0, element.offset
