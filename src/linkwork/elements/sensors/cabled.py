"""Sensors of tendons and ropes: what their elements and kinds share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.contacts.rope import Rope
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import At, LengthSensorKind, PlaceSensorKind

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.freedom import Freedom
    from linkwork.elements.core.sensor_kind import Place

OF_A_TENDON, OF_A_ROPE = "of a tendon", "of a rope"


@dataclass(eq=False, repr=False)
class CableSensor(Sensor):
    """A sensor of a Cable, a FixedTendon or a Rope."""

    REFERENCES: ClassVar[dict[str, str]] = {"cable": "force or contact"}

    cable: Element | str

    def variant(self) -> Hashable:
        return OF_A_ROPE if isinstance(self.cable, Rope) else OF_A_TENDON

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        cable = resolved[0]
        if not is_tendon(cable) and not isinstance(cable, Rope):
            checks.fail(self, f"{checks.label(cable)} has no length", "give a Cable, a FixedTendon or a Rope")
        for body, _ in cable.points() if isinstance(cable, Rope) else ():
            if body.dim and not kind_for(body).framed:
                checks.fail(self, f"{checks.label(cable)} ends on {checks.label(body)}, which has no axes",
                            "give a rope between bodies with a frame")  # fmt: skip
        super().check_resolved(resolved)


def is_tendon(item: Any) -> bool:
    """Whether it is a force that acts along a length of its own."""
    return getattr(item, "sort", None) == "force" and hasattr(item, "transmission")


class TendonSensorKind(LengthSensorKind):
    """What the tendon acts along."""

    @staticmethod
    def freedom(tendon: Any) -> Freedom:
        """The units of its length and its rate."""
        found: Freedom = tendon.transmission().freedom
        return found


class RopeSensorKind(PlaceSensorKind):
    """From one end to the other."""

    def parts(self, element: Any) -> Sequence[tuple[At, ...]]:
        upright = np.array((1.0, 0.0, 0.0, 0.0))
        return [tuple(At(body, point, upright) for body, point in element.cable.points())]


def apart(places: Sequence[Place]) -> tuple[SX, SX]:
    """From one end to the other, and how far that is."""
    way = places[1].position - places[0].position
    return way, ca.norm_2(way)
