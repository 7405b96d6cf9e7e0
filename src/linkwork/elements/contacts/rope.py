"""Rope: two points are never farther apart than its length."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ContactElement, Scalar, Vector, check_ends
from linkwork.elements.core.included import carried_along


@dataclass(eq=False, repr=False)
class Rope(ContactElement):
    """Two points are never farther apart than `length` (without one: than as built); it pulls and does not push.

    >>> Rope("balloon", "hand", length=1.5, on_a=(0, 0, -0.1), name="string").length
    1.5
    """

    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}

    is_stop: ClassVar[bool] = True

    a: Body | str
    b: Body | str
    length: Scalar = None  # m
    on_a: Vector = field(default=checks.ZERO, kw_only=True)  # (3,), m, in a's frame
    on_b: Vector = field(default=checks.ZERO, kw_only=True)  # (3,), m, in b's frame
    restitution: float = field(default=0.0, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        self.length = checks.optional(checks.positive, self, "length", self.length)
        self.on_a = checks.vector(self, "on_a", self.on_a)
        self.on_b = checks.vector(self, "on_b", self.on_b)
        self._check_restitution()

    def check_resolved(self, resolved):
        check_ends(self, resolved)

    include_at = carried_along

    def points(self):
        return [(self.a, self.on_a), (self.b, self.on_b)]

    def made_at(self, place):
        """Without a length, that of now."""
        if self.length is None:
            ends = [place(body, local) for body, local in self.points()]
            vars(self)["length"] = float(np.linalg.norm(ends[1] - ends[0]))
