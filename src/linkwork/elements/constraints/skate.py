"""Skate: a knife edge. The element and its row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import Body, ConstraintElement, Vector
from linkwork.elements.core.functions import cross
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import VELOCITY


@dataclass(eq=False, repr=False)
class Skate(ConstraintElement):
    """A knife edge: the point `at` of a body moves along `direction` (which turns with it), never across.

    Across is normal x direction; without `at` the point is the body's `position`.

    >>> Skate("sled", (1, 0, 0), name="blade")
    <Skate "blade">
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}

    WORLD_POINTS: ClassVar[tuple[str, ...]] = ("at",)
    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("direction", "normal")

    body: Body | str
    direction: Vector  # (3,), unit, world
    at: Vector | None = field(default=None, kw_only=True)  # (3,), m, world
    normal: Vector = field(default=(0.0, 0.0, 1.0), kw_only=True)  # (3,), unit, world

    include_at = carried_along

    def __post_init__(self):
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
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        at = [B.point(e.at[None], np.array([k]))[0] if e.at is not None
              else B.user_point(np.zeros(3), np.array([k]))[0] for k, e in enumerate(elements)]  # fmt: skip
        blade = B.axis(np.array([e.direction for e in elements]))
        return {"on_b": np.array(at), "blade": blade, "normal": np.array([e.normal for e in elements])}

    def rows(self, handles, p, t):
        b = handles[1]
        across = cross(p["normal"], b.axis(p["blade"]))
        return [(VELOCITY, ca.dot(across, b.point_rate(p["on_b"])))]

    def remedy(self, element):
        return "keep its blade from standing along its normal, or remove it before that"
