"""Sensors of several bodies as a whole: what their elements share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwork.elements.bodies.particle import Particle
from linkwork.elements.bodies.rigid import RigidBody
from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, check_different
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import At, PlaceSensorKind


@dataclass(eq=False, repr=False)
class BodiesSensor(Sensor):
    """A sensor of bodies that do not stretch."""

    REFERENCES: ClassVar[dict[str, str]] = {"bodies": "body"}

    bodies: tuple[BodyLike, ...] | Sequence[BodyLike]

    def __post_init__(self) -> None:
        self.bodies = tuple(checks.several(self, "bodies", self.bodies, "bodies or their names"))
        if not self.bodies:
            checks.fail(self, "it has no bodies", "give one or more")
        super().__post_init__()

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        check_different(self, resolved)
        for body in resolved:
            if not isinstance(body, RigidBody | Particle):
                checks.fail(self, f"{checks.label(body)} is none that moves without stretching in space",
                            "give bodies of the kind RigidBody or Particle")  # fmt: skip
        if not any(body.mass for body in resolved):
            checks.fail(self, "none of its bodies has mass", "give one that has")
        super().check_resolved(resolved)


class CenterSensorKind(PlaceSensorKind):
    """Of the centres of mass of the bodies, each with its share of the mass."""

    fields = {"share": 1}

    def parts(self, element: Any) -> Sequence[tuple[At, ...]]:
        upright = np.array((1.0, 0.0, 0.0, 0.0))
        return [(At(body, getattr(body, "com", np.zeros(3)), upright),) for body in element.bodies]

    def numbers(self, element: Any, part: int) -> Mapping[str, Any]:
        return {"share": element.bodies[part].mass / sum(body.mass for body in element.bodies)}
