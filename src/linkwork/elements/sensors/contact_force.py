"""ContactForceSensor: what a body or collider is given where it touches others. The element and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.elements.contacts.collider import Collider
from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, BodyLike
from linkwork.elements.core.frame import FrameLike
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.sensor_kind import MeasuredSensorKind, along_axes

if TYPE_CHECKING:
    from linkwork.elements.core.units import Quantity


@dataclass(eq=False, repr=False)
class ContactForceSensor(Sensor):
    """The sum of all contact forces (3, N) on `on`, a body or a Collider, as they were in the last step; of those from `by`
    alone, if that is given. They are told in the axes of `reference`, the world's unless told.

    >>> ContactForceSensor("foot", by="ground", name="sole")
    <ContactForceSensor "sole">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"on": "body or contact", "by": "body or contact", "reference": "body or frame"}
    OPTIONAL: ClassVar[tuple[str, ...]] = ("by",)

    on: BodyLike | Collider
    by: BodyLike | Collider | None = None
    reference: FrameLike = field(default="ground", kw_only=True)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        for one in resolved[:-1]:
            if not isinstance(one, Body | Collider):
                checks.fail(self, f"{checks.label(one)} does not touch", "give a body or a Collider")
        self.check_axes(resolved[-1])
        super().check_resolved(resolved)


@kind_of(ContactForceSensor)
class ContactForceKind(MeasuredSensorKind):
    """Over the contacts of the last step."""

    of_contact = True

    def channels(self, element: Any) -> tuple[Quantity, ...]:
        return along_axes("force", "N")

    def measure(self, element: Any, now: Any) -> Any:
        forces = [touched.force for touched in now.touching(element.on, element.by)]
        return now.rotation(element.reference).T @ np.sum([np.zeros(3), *forces], axis=0)
