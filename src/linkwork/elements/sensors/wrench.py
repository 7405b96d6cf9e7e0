"""Sensors of what a joint transmits: what their elements and kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike
from linkwork.elements.core.frame import FrameLike
from linkwork.elements.core.joint import JointLike
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import MeasuredSensorKind

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


@dataclass(eq=False, repr=False)
class WrenchSensor(Sensor):
    """A sensor in a joint."""

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint", "frame": "body or frame", "body": "body"}
    OPTIONAL: ClassVar[tuple[str, ...]] = ("frame", "body")

    joint: JointLike
    frame: FrameLike | None = None  # None: the body's axes, at the joint's anchor
    body: BodyLike | None = field(default=None, kw_only=True)  # None: the second

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        joint, *others = resolved
        if self.frame is not None:
            self.check_axes(others[0])
        if self.body is not None and others[-1] not in (joint.a, joint.b):
            checks.fail(self, f"{checks.label(others[-1])} is no body of {checks.label(joint)}", "give one of the two, or none")
        super().check_resolved(resolved)


class WrenchSensorKind(MeasuredSensorKind):
    """What the joint and all that acts in it put on the body."""

    def wrench(self, element: Any, now: Any) -> tuple[FloatArray, FloatArray]:
        """Force and torque about the place of the sensor, in its axes."""
        body = element.body or element.joint.b
        force, torque, at = now.transmitted(element.joint, body)
        frame = element.frame or body
        R = now.rotation(frame)
        if element.frame is not None:
            torque = torque + now.arm(at, now.position(frame), force)
        return R.T @ force, R.T @ torque
