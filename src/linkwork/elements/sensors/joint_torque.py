"""JointTorqueSensor: what motors do along the coordinate of a joint. The element and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.elements.core.joint import has_coordinate, kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor_kind import EffortSensorKind
from linkwork.elements.core.units import Quantity
from linkwork.elements.forces.fixed_tendon import FixedTendon
from linkwork.elements.sensors.jointed import JointSensor

if TYPE_CHECKING:
    from linkwork.elements.core.element import ForceElement


@dataclass(eq=False, repr=False)
class JointTorqueSensor(JointSensor):
    """The torque (N m; of a slider the force, N) that all motors of a joint with one coordinate put along it now, behind their
    gears, those on a FixedTendon of it by its coefficient. What a joint transmits in all is what a ForceTorqueSensor tells.

    >>> JointTorqueSensor("knee", name="knee torque")
    <JointTorqueSensor "knee torque">
    """

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        has_coordinate(self, resolved[0])
        super().check_resolved(resolved)


@kind_of(JointTorqueSensor)
class JointTorqueKind(EffortSensorKind):
    """The efforts of the motors on the joint."""

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        kind = kind_of_joint(element.joint)
        return (Quantity("force" if kind.slides else "torque", kind.freedoms[0].effort),)

    def share(self, element: Any, force: ForceElement) -> float:
        moved = getattr(force, "joint", None)
        if isinstance(moved, FixedTendon):
            pairs = zip(moved.joints, moved.coefficients, strict=True)
            return sum(float(coefficient) for joint, coefficient in pairs if joint is element.joint)
        return 1.0 if moved is element.joint else 0.0
