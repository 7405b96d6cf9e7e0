"""Skate: a knife edge. The element and its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import BodyLike, ConstraintElement
from linkwork.elements.core.field_types import GivenVector, OptionalVectorField, VectorField, default
from linkwork.elements.core.functions import cross
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import VELOCITY

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Skate(ConstraintElement):
    """A knife edge: the point `at` of a body moves along `direction` (which turns with it), never across.

    Across is normal x direction; without `at` the point is the body's `position`.

    >>> Skate("sled", (1, 0, 0), name="blade")
    <Skate "blade">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}

    WORLD_POINTS: ClassVar[tuple[str, ...]] = ("at",)
    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("direction", "normal")

    body: BodyLike
    direction: GivenVector  # (3,), unit, world
    at: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), m, world
    normal: VectorField = field(default=default((0.0, 0.0, 1.0)), kw_only=True)  # (3,), unit, world

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        self.direction = checks.direction(self, "direction", self.direction)
        self.at = checks.optional(checks.vector, self, "at", self.at)
        self.normal = checks.direction(self, "normal", self.normal)
        checks.not_parallel(self, "direction", self.direction, "normal", self.normal)


@kind_of(Skate)
class SkateKind(ConstraintKind):
    """A point of the body moves only along its blade, seen along the normal."""

    fields = {"on_b": 3, "blade": 3, "normal": 3}
    levels = [VELOCITY]
    needs_directions = (False, True)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.body

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        at = [B.point(e.at[None], np.array([k]))[0] if e.at is not None
              else B.user_point(np.zeros(3), np.array([k]))[0] for k, e in enumerate(elements)]  # fmt: skip
        blade = B.axis(np.array([e.direction for e in elements]))
        return {"on_b": np.array(at), "blade": blade, "normal": np.array([e.normal for e in elements])}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        b = handles[1]
        across = cross(p["normal"], b.axis(p["blade"]))
        return [(VELOCITY, ca.dot(across, b.point_rate(p["on_b"])))]

    def remedy(self, element: Any) -> Any:
        return "keep its blade from standing along its normal, or remove it before that"
