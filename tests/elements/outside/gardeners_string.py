"""A constraint that linkwork does not have, as another package would write it: a pencil in a loop around two pegs draws an
ellipse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca
import numpy as np

import linkwork.kinds as lk


@dataclass(eq=False, repr=False)
class GardenersString(lk.PairConstraint):
    """A point of b is as far from two pegs of a, both taken together, as the string is long; without a length, as built.

    >>> GardenersString("ground", "pencil", peg_1=(-1, 0, 0), peg_2=(1, 0, 0), length=4.0, name="string").length
    4.0
    """

    ENDS: ClassVar[dict] = {"a": (("peg_1", "peg_2"), ()), "b": (("on_b",), ())}
    UNITS: ClassVar[dict] = {"peg_1": ("m",), "peg_2": ("m",)}

    peg_1: np.ndarray  # (3,), m, in a's frame
    peg_2: np.ndarray  # (3,), m, in a's frame
    length: float | lk.Parameter | None = None  # m
    on_b: np.ndarray = field(default=lk.checks.ZERO, kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self):
        super().__post_init__()
        for name in ("peg_1", "peg_2", "on_b"):
            setattr(self, name, lk.checks.vector(self, name, getattr(self, name)))
        self.length = lk.checks.optional(lk.checks.positive, self, "length", self.length, parameter=True)


@lk.kind_of(GardenersString)
class GardenersStringKind(lk.ConstraintKind):
    """One row: |p - p1| + |p - p2| - length."""

    fields = {"peg_1": 3, "peg_2": 3, "on_b": 3, "length": 1}
    levels = [lk.POSITION]

    def parameters(self, elements, A, B):
        found = {name: lk.user_points(elements, A, name) for name in ("peg_1", "peg_2")}
        found["on_b"] = lk.user_points(elements, B, "on_b")
        pencil = B.world_point(found["on_b"])
        built = sum(np.linalg.norm(pencil - A.world_point(found[name]), axis=1) for name in ("peg_1", "peg_2"))
        length = lk.column(elements, "length")
        missing = np.array([x is None for x in length[:, 0]])
        length[missing, 0] = built[missing]
        return {**found, "length": length}

    def rows(self, handles, p, t):
        a, b = handles
        ways = [b.point(p["on_b"]) - a.point(p[name]) for name in ("peg_1", "peg_2")]
        return lk.position_rows(sum(ca.sqrt(ca.sumsqr(way)) for way in ways) - p["length"])
