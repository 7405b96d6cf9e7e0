"""Coupling: a sum of coordinates and lengths is held. The element and its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import ConstraintElement, Element
from linkwork.elements.core.field_types import OpenVectorField, default
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import Joint, has_coordinate
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.transmission import moving_bodies, places_of, transmission_of
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Coupling(ConstraintElement):
    """Holds a sum at a value: coefficient times the coordinate of a hinge, slider or screw, or the length of a FixedTendon or
    a Cable, over all `of` these. Without a value it is held as built. A Gear is one of two joints.

    >>> Coupling(("left finger", "right finger"), (1.0, -1.0), name="both alike").coefficients.tolist()
    [1.0, -1.0]
    """

    REFERENCES: ClassVar[dict[str, str]] = {"of": "joint or force"}
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"coefficients": ("", "m/rad", "rad/m"), "value": ("m", "rad")}

    of: tuple[Element | str, ...]
    coefficients: OpenVectorField = default(())  # (n,), m/rad or rad/m, or without a unit
    value: float | Parameter | None = field(default=None, kw_only=True)  # m or rad

    include_at = carried_along

    def __post_init__(self) -> None:
        given = checks.entries(self.of)
        if not given:
            checks.fail(self, f"of is {checks.show(self.of)}", 'give one or more, such as ("left finger", "right finger")')
        self.of = tuple(given)
        super().__post_init__()
        self.coefficients = checks.vector(self, "coefficients", self.coefficients, len(self.of), parameter=True)
        if not any(isinstance(c, Parameter) or float(c) != 0.0 for c in self.coefficients):
            checks.fail(self, "its coefficients are 0", "give numbers other than 0")
        self.value = checks.optional(checks.number, self, "value", self.value, parameter=True)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        for k, item in enumerate(resolved):
            if isinstance(item, Joint):
                has_coordinate(self, item)
            elif not hasattr(item, "transmission"):
                checks.fail(self, f"{checks.label(item)} has no length", "give joints, FixedTendons and Cables")
            if any(item is other for other in resolved[:k]):
                checks.fail(self, f"it names {checks.label(item)} twice", "add its coefficients")


@kind_of(Coupling)
class CouplingKind(ConstraintKind):
    """One row over all bodies that its parts move."""

    couples_joints = True
    levels = [POSITION]

    def __init__(self, element: Any) -> None:
        self.parts = [transmission_of(item) for item in element.of]
        moving = self.bodies(element)
        self.places = [places_of(part.bodies, moving) for part in self.parts]
        self.key = f"Coupling-{[part.key for part in self.parts]}-{self.places}"
        self.counters = sum(part.counters for part in self.parts)
        self.fields = {f"p{k}_{name}": size for k, part in enumerate(self.parts) for name, size in part.fields.items()}
        self.fields |= {"coefficients": len(self.parts), "value": 1}
        self.needs_directions = tuple(any(part.needs_directions[places.index(n)] for part, places in
                                          zip(self.parts, self.places, strict=True) if n in places)
                                      for n in range(len(moving)))  # fmt: skip
        self.rigid_only = (False,) * len(moving)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return moving_bodies([body for item in element.of for body in transmission_of(item).bodies])

    def _frames(self, k: int, frames: Sequence[Placement]) -> list[Placement]:
        return [frames[0].ground() if place is None else frames[place] for place in self.places[k]]

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        found: dict[str, AnyArray] = {"coefficients": np.array([list(e.coefficients) for e in elements], dtype=object)}
        built = np.zeros(len(elements))
        for k, part in enumerate(self.parts):
            items, own = [e.of[k] for e in elements], self._frames(k, frames)
            found |= {f"p{k}_{name}": values for name, values in part.parameters(items, own).items()}
            built += np.array([float(e.coefficients[k]) for e in elements]) * part.as_built(items, own)
        values = [b if e.value is None else e.value for e, b in zip(elements, built, strict=True)]
        return {**found, "value": np.array(values, dtype=object).reshape(-1, 1)}

    def _of(self, k: int, handles: Sequence[Handle], p: Params) -> tuple[list[Handle], dict[str, SX]]:
        """The bodies of a part, and its numbers."""
        own = {name: p[f"p{k}_{name}"] for name in self.parts[k].fields}
        return [handles[0].ground() if place is None else handles[place] for place in self.places[k]], own

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return [pair for k, part in enumerate(self.parts) for pair in part.angles(*self._of(k, handles, p))]

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        counted, total = self.counted(handles, p), -p["value"]
        for k, part in enumerate(self.parts):
            own, counted = counted[: part.counters], counted[part.counters :]
            total = total + p["coefficients"][k] * part.coordinate(*self._of(k, handles, p), own).value
        return [(POSITION, total)]
