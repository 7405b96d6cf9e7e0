"""Spring, Damper: forces along the line between two points. The elements and their law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
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
    from linkwork.util.array_types import AnyArray, FloatArray


@dataclass(eq=False, repr=False)
class PairForce(ForceElement):
    """A force along the line between a point of a and a point of b."""

    REFERENCES: ClassVar[dict[str, str]] = {"a": "body", "b": "body"}

    a: BodyLike
    b: BodyLike
    on_a: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in a's frame
    on_b: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in b's frame

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        self.on_a = checks.vector(self, "on_a", self.on_a)
        self.on_b = checks.vector(self, "on_b", self.on_b)


@dataclass(eq=False, repr=False)
class Spring(PairForce):
    """A spring, with a damper along it; without a rest length it is at rest as built.

    >>> Spring("ground", "mass", 100.0, rest=0.2, damping=Parameter(0.5, name="c"), on_a=(0, 0, 1)).stiffness
    100.0
    """

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"rest": ("m",)}

    stiffness: float | Parameter  # N/m
    rest: float | Parameter | None = None  # m
    damping: float | Parameter = 0.0  # N s/m

    def __post_init__(self) -> None:
        super().__post_init__()
        check_coefficients(self, "stiffness", "damping")
        self.rest = checks.optional(checks.non_negative, self, "rest", self.rest, parameter=True)


@dataclass(eq=False, repr=False)
class Damper(PairForce):
    """A damper: a force against the rate at which two points draw apart.

    >>> Damper("ground", "door", 3.0, on_b=(0.4, 0, 0)).damping
    3.0
    """

    damping: float | Parameter  # N s/m

    def __post_init__(self) -> None:
        super().__post_init__()
        check_coefficients(self, "damping")


@kind_of(Spring)
class SpringKind(ForceKind):
    """f = -(k (l - l0) + c l') along the line of its points."""

    fields = {"on_a": 3, "on_b": 3, "stiffness": 1, "rest": 1, "damping": 1}
    relative = True

    def __init__(self, element: Any) -> None:
        self.velocity_dependent = not (isinstance(element.damping, float) and element.damping == 0.0)
        self.key = f"{self.element.__name__}-{self.velocity_dependent}"

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_a, on_b = user_points(elements, A, "on_a"), user_points(elements, B, "on_b")
        built = np.linalg.norm(B.world_point(on_b) - A.world_point(on_a), axis=1)
        rest = np.array(self.rests(elements, built), dtype=object)
        return {"on_a": on_a, "on_b": on_b, "stiffness": self.stiffnesses(elements), "rest": rest.reshape(-1, 1),
                "damping": column(elements, "damping")}  # fmt: skip

    def rests(self, elements: Sequence[Any], built: FloatArray) -> list[Any]:
        """The lengths at rest; `built`: those as built."""
        return [b if e.rest is None else e.rest for e, b in zip(elements, built, strict=True)]

    def stiffnesses(self, elements: Sequence[Any]) -> FloatArray:
        return column(elements, "stiffness")

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        length = norm(d)
        along = d / ca.if_else(length > 0, length, 1)
        stretch = length - p["rest"]
        tension = p["stiffness"] * stretch
        if self.velocity_dependent:
            tension += p["damping"] * ca.dot(along, b.point_rate(p["on_b"]) - a.point_rate(p["on_a"]))
        loads: list[Load] = [(0, "force", p["on_a"], tension * along), (1, "force", p["on_b"], -tension * along)]
        return loads, 0.5 * p["stiffness"] * stretch**2

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        length = norm(d)
        known = length > 0
        along = d / ca.if_else(known, length, 1)
        across = ca.if_else(known, ca.fmax(0, 1 - p["rest"] / ca.if_else(known, length, 1)), 0)
        line, one = along @ along.T, SX.eye(3)
        stiffness = p["stiffness"] * (line + across * (one - line))
        motion = [(0, "point", p["on_a"], -one), (1, "point", p["on_b"], one)]
        return [Term(motion, stiffness, p["damping"] * line if self.velocity_dependent else SX(3, 3))]


@kind_of(Damper)
class DamperKind(SpringKind):
    """A spring without stiffness."""

    def rests(self, elements: Sequence[Any], built: Any) -> Any:
        return list(built)

    def stiffnesses(self, elements: Sequence[Any]) -> Any:
        return np.zeros((len(elements), 1))
