"""Pull: a hand pulls at the point of a body that it has taken hold of (`Simulation.grab`). The element and its law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.element_kind import column, vectors
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.force_kind import ForceKind, Term
from linkwork.elements.core.functions import norm
from linkwork.elements.core.registry import kind_of

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Pull(ForceElement):
    """A spring and a damper between the point `at` of a body and a goal in the world, never stronger than `limit`.

    >>> Pull("lamp", goal=(0, 0, 1), stiffness=100.0, limit=50.0, name="hand")
    <Pull "hand">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}
    MOVING: ClassVar[tuple[str, ...]] = ("goal",)  # what changes while it is in force

    body: BodyLike
    at: VectorField = default(checks.ZERO)  # (3,), m, in the body's frame
    goal: VectorField = default(checks.ZERO)  # (3,), m, world
    stiffness: float = 0.0  # N/m
    damping: float = 0.0  # N s/m
    limit: float = np.inf  # N


@kind_of(Pull)
class PullKind(ForceKind):
    """f = k (goal - x) - c x', cut to the length `limit`. It has no potential: a hand does work."""

    fields = {"on_b": 3, "goal": 3, "stiffness": 1, "damping": 1, "limit": 1}

    def __init__(self, element: Any) -> None:
        self.velocity_dependent = element.damping != 0.0
        self.key = f"Pull-{self.velocity_dependent}"

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.body

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        found = {name: column(elements, name) for name in ("stiffness", "damping", "limit")}
        return found | {"on_b": B.user_point(vectors(elements, "at")), "goal": vectors(elements, "goal")}

    def _force(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """The force without a limit, and the part of it that the limit leaves."""
        b = handles[1]
        force = p["stiffness"] * (p["goal"] - b.point(p["on_b"]))
        if self.velocity_dependent:
            force -= p["damping"] * b.point_rate(p["on_b"])
        return force, p["limit"] / ca.fmax(norm(force), p["limit"])

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        force, part = self._force(handles, p)
        return [(1, "force", p["on_b"], part * force)], SX(0)

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        one, (_, part) = SX.eye(3), self._force(handles, p)
        return [Term([(1, "point", p["on_b"], one)], part * p["stiffness"] * one, part * p["damping"] * one)]
