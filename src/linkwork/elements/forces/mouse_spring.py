"""Pull: a hand pulls at the point of a body that it has taken hold of (`Simulation.grab`). The element and its law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ForceElement, Vector
from linkwork.elements.core.element_kind import column, vectors
from linkwork.elements.core.force_kind import ForceKind, Term
from linkwork.elements.core.functions import norm
from linkwork.elements.core.registry import kind_of


@dataclass(eq=False, repr=False)
class Pull(ForceElement):
    """A spring and a damper between the point `at` of a body and a goal in the world, never stronger than `limit`.

    >>> Pull("lamp", goal=(0, 0, 1), stiffness=100.0, limit=50.0, name="hand")
    <Pull "hand">
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}
    MOVING: ClassVar[tuple[str, ...]] = ("goal",)  # what changes while it is in force

    body: Body | str
    at: Vector = checks.ZERO  # (3,), m, in the body's frame
    goal: Vector = checks.ZERO  # (3,), m, world
    stiffness: float = 0.0  # N/m
    damping: float = 0.0  # N s/m
    limit: float = np.inf  # N


@kind_of(Pull)
class PullKind(ForceKind):
    """f = k (goal - x) - c x', cut to the length `limit`. It has no potential: a hand does work."""

    fields = {"on_b": 3, "goal": 3, "stiffness": 1, "damping": 1, "limit": 1}

    def __init__(self, element):
        self.velocity_dependent = element.damping != 0.0
        self.key = f"Pull-{self.velocity_dependent}"

    @staticmethod
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        found = {name: column(elements, name) for name in ("stiffness", "damping", "limit")}
        return found | {"on_b": B.user_point(vectors(elements, "at")), "goal": vectors(elements, "goal")}

    def _force(self, handles, p) -> tuple[SX, SX]:
        """The force without a limit, and the part of it that the limit leaves."""
        b = handles[1]
        force = p["stiffness"] * (p["goal"] - b.point(p["on_b"]))
        if self.velocity_dependent:
            force -= p["damping"] * b.point_rate(p["on_b"])
        return force, p["limit"] / ca.fmax(norm(force), p["limit"])

    def law(self, handles, p, t):
        force, part = self._force(handles, p)
        return [(1, "force", p["on_b"], part * force)], SX(0)

    def terms(self, handles, p, t):
        one, (_, part) = SX.eye(3), self._force(handles, p)
        return [Term([(1, "point", p["on_b"], one)], part * p["stiffness"] * one, part * p["damping"] * one)]
