"""Sensors of cables and ropes: what their elements and kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.contacts.rope import Rope
from linkwork.elements.core import checks
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import At, PlaceSensorKind
from linkwork.elements.forces.cable import Cable

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.sensor_kind import Place


@dataclass(eq=False, repr=False)
class CableSensor(Sensor):
    """A sensor of a Cable or Rope."""

    REFERENCES: ClassVar[dict[str, str]] = {"cable": "force or contact"}

    cable: Cable | Rope | str

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        cable = resolved[0]
        if not isinstance(cable, Cable | Rope):
            checks.fail(self, f"{checks.label(cable)} has no length", "give a Cable or a Rope")
        for body, _ in path(cable):
            if body.dim and not kind_for(body).framed:
                checks.fail(self, f"{checks.label(cable)} ends on {checks.label(body)}, which has no axes",
                            "give a cable between bodies with a frame")  # fmt: skip
        super().check_resolved(resolved)


def path(cable: Any) -> list[tuple[Any, Any]]:
    """(body, point in its frame) along a cable or rope."""
    if isinstance(cable, Rope):
        return cable.points()
    return list(zip(cable.bodies, cable.at, strict=True))


class CableSensorKind(PlaceSensorKind):
    """Of the straight pieces from point to point, all added up."""

    def parts(self, element: Any) -> Sequence[tuple[At, ...]]:
        upright = np.array((1.0, 0.0, 0.0, 0.0))
        return [(At(*one, upright), At(*other, upright)) for one, other in pairwise(path(element.cable))]


def apart(places: Sequence[Place]) -> tuple[SX, SX]:
    """From one end of a piece to the other, and its length."""
    way = places[1].position - places[0].position
    return way, ca.norm_2(way)
