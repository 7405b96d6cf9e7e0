"""Distance: two points stay at a distance. The element and its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind, position_rows
from linkwork.elements.core.element import PairConstraint
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Distance(PairConstraint):
    """Two points stay at a distance; without a length, at that of the bodies as built.

    >>> Distance("bead", "ground", 0.5, on_b=(0, 0, 1)).length
    0.5
    """

    length: float | Parameter | None = None  # m
    on_a: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in a's frame
    on_b: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self) -> None:
        super().__post_init__()
        self.length = checks.optional(checks.positive, self, "length", self.length, parameter=True)
        self.on_a = checks.vector(self, "on_a", self.on_a)
        self.on_b = checks.vector(self, "on_b", self.on_b)


@kind_of(Distance)
class DistanceKind(ConstraintKind):
    fields = {"on_a": 3, "on_b": 3, "length": 1}
    levels = [POSITION]
    anchored = True

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_a = A.user_point(np.array([e.on_a for e in elements], dtype=float))
        on_b = B.user_point(np.array([e.on_b for e in elements], dtype=float))
        built = np.linalg.norm(B.world_point(on_b) - A.world_point(on_a), axis=1)
        for e, length in zip(elements, built, strict=True):
            if length < 1e-12:
                checks.fail(e, "its two points coincide as built", "move one of them, or use a Ball")
        length = column(elements, "length")
        missing = np.array([x is None for x in length[:, 0]])
        length[missing, 0] = built[missing]
        return {"on_a": on_a, "on_b": on_b, "length": length}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        return position_rows(ca.sqrt(ca.sumsqr(d)) - p["length"])
