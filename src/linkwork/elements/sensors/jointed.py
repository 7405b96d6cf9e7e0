"""Sensors of joints: what their elements share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.joint import JointLike, kind_of_joint
from linkwork.elements.core.sensor import Sensor


@dataclass(eq=False, repr=False)
class JointSensor(Sensor):
    """A sensor of a joint that has coordinates."""

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint"}

    joint: JointLike

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        if not kind_of_joint(resolved[0]).read_names:
            checks.fail(self, f"{checks.label(resolved[0])} has no coordinates", "give a joint that moves")
        super().check_resolved(resolved)
