"""Drag: resistance to the motion of a body. The element and its law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.element_kind import column, user_points
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.force_kind import ForceKind, Term
from linkwork.elements.core.functions import norm
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.forces.coefficients import check_coefficients

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Drag(ForceElement):
    """Resistance at the point `at`: -(linear + quadratic |v|) v, and the torque -angular w.

    >>> Drag("ball", quadratic=0.02).linear
    0.0
    """

    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}

    body: BodyLike
    linear: float | Parameter = 0.0  # N s/m
    quadratic: float | Parameter = 0.0  # N s^2/m^2
    angular: float | Parameter = 0.0  # N m s
    at: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in the body's frame

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        check_coefficients(self, "linear", "quadratic", "angular")
        self.at = checks.vector(self, "at", self.at)


@kind_of(Drag)
class DragKind(ForceKind):
    """f = -(c1 + c2 |v|) v at a point; torque -c w."""

    def __init__(self, element: Any) -> None:
        self.turning = not (isinstance(element.angular, float) and element.angular == 0.0)
        self.key = f"Drag-{self.turning}"
        self.fields = {"on_b": 3, "linear": 1, "quadratic": 1, "angular": 1}
        self.needs_directions = (False, self.turning)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.body

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        scalars = {name: column(elements, name) for name in ("linear", "quadratic", "angular")}
        return {"on_b": user_points(elements, B, "at"), **scalars}

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        b = handles[1]
        v = b.point_rate(p["on_b"])
        loads: list[Load] = [(1, "force", p["on_b"], -(p["linear"] + p["quadratic"] * norm(v)) * v)]
        if self.turning:
            loads.append((1, "torque", None, -p["angular"] * b.spin()))
        return loads, SX(0)

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        v, one = handles[1].point_rate(p["on_b"]), SX.eye(3)
        speed = norm(v)
        line = v @ v.T / ca.if_else(speed > 0, speed, 1)
        damping = (p["linear"] + p["quadratic"] * speed) * one + p["quadratic"] * line
        found = [Term([(1, "point", p["on_b"], one)], SX(3, 3), damping)]
        if self.turning:
            found.append(Term([(1, "spin", None, one)], SX(3, 3), p["angular"] * one))
        return found
