"""A force that linkwork does not have, as another package would write it: two points attract each other as masses do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca
import numpy as np
from casadi import SX

import linkwork.kinds as lk


@dataclass(eq=False, repr=False)
class Attraction(lk.ForceElement):
    """A point of a and one of b attract each other with strength / r^2; `softening` keeps it finite where they meet.

    >>> Attraction("sun", "planet", 4.0, name="gravity").softening
    0.0
    """

    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}
    UNITS: ClassVar[dict] = {"strength": ("N m^2",), "softening": ("m",)}

    a: lk.Body | str
    b: lk.Body | str
    strength: float | lk.Parameter  # N m^2
    softening: float = 0.0  # m
    on_a: np.ndarray = field(default=lk.checks.ZERO, kw_only=True)  # (3,), m, in a's frame
    on_b: np.ndarray = field(default=lk.checks.ZERO, kw_only=True)  # (3,), m, in b's frame

    include_at = lk.carried_along

    def __post_init__(self):
        super().__post_init__()
        self.strength = lk.checks.non_negative(self, "strength", self.strength, parameter=True)
        self.softening = lk.checks.non_negative(self, "softening", self.softening)
        self.on_a = lk.checks.vector(self, "on_a", self.on_a)
        self.on_b = lk.checks.vector(self, "on_b", self.on_b)


@lk.kind_of(Attraction)
class AttractionKind(lk.ForceKind):
    """Potential -strength / sqrt(r^2 + softening^2)."""

    fields = {"on_a": 3, "on_b": 3, "strength": 1, "softening": 1}
    velocity_dependent = False
    relative = True

    def parameters(self, elements, A, B):
        anchors = {"on_a": lk.user_points(elements, A, "on_a"), "on_b": lk.user_points(elements, B, "on_b")}
        return {**anchors, **{name: lk.column(elements, name) for name in ("strength", "softening")}}

    def law(self, handles, p, t):
        d = lk.apart(handles, p)
        r = ca.sqrt(ca.sumsqr(d) + p["softening"] ** 2)
        pull = p["strength"] * d / r**3
        return [(0, "force", p["on_a"], pull), (1, "force", p["on_b"], -pull)], -p["strength"] / r

    def terms(self, handles, p, t):
        """Across the line it is stiff as a taut string is; along it the tangent is negative, and left out."""
        d = lk.apart(handles, p)
        square = ca.sumsqr(d)
        r = ca.sqrt(square + p["softening"] ** 2)
        across = SX.eye(3) - d @ d.T / ca.if_else(square > 0, square, 1)
        motion = [(0, "point", p["on_a"], -SX.eye(3)), (1, "point", p["on_b"], SX.eye(3))]
        return [lk.Term(motion, p["strength"] / r**3 * across, SX(3, 3))]
