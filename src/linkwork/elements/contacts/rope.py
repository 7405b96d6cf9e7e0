"""Rope: two points are never farther apart than its length. The element and its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ContactElement, check_ends
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint_kind import LimitSort
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.stop_kind import StopKind, StopRow
from linkwork.errors import ModelError

if TYPE_CHECKING:
    from linkwork.elements.core.stop_kind import Site
    from linkwork.util.array_types import FloatArray


@dataclass(eq=False, repr=False)
class Rope(ContactElement):
    """Two points are never farther apart than `length` (without one: than as built); it pulls and does not push.

    >>> Rope("balloon", "hand", length=1.5, on_a=(0, 0, -0.1), name="string").length
    1.5
    """

    REFERENCES: ClassVar[dict[str, str]] = {"a": "body", "b": "body"}

    is_stop: ClassVar[bool] = True

    a: BodyLike
    b: BodyLike
    length: float | None = None  # m
    on_a: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in a's frame
    on_b: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in b's frame
    restitution: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.length = checks.optional(checks.positive, self, "length", self.length)
        self.on_a = checks.vector(self, "on_a", self.on_a)
        self.on_b = checks.vector(self, "on_b", self.on_b)
        self._check_restitution()

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        check_ends(self, resolved)

    include_at = carried_along

    def points(self) -> list[Any]:
        return [(self.a, self.on_a), (self.b, self.on_b)]

    def made_at(self, place: Callable[..., FloatArray]) -> None:
        """Without a length, that of now."""
        if self.length is None:
            ends = [place(body, local) for body, local in self.points()]
            vars(self)["length"] = float(np.linalg.norm(ends[1] - ends[0]))


@kind_of(Rope)
class RopeKind(StopKind):
    """The distance of its ends."""

    def rows(self, element: Any, site: Site) -> list[StopRow]:
        a, b = (site.end(element, body, on) for body, on in element.points())
        built = float(np.linalg.norm(b.world - a.world))
        bound = built if element.length is None else element.length
        if not bound > 0.0:
            raise ModelError(f'Rope "{element.name}": its ends are at one place as built; give its length')
        zero = np.zeros(3)
        frame = a.local, b.local, zero, zero, zero
        return [StopRow(LimitSort.ROPE, (a.number, b.number), frame, 1.0, bound, element.restitution)]
