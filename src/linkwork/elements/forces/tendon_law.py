"""The spring and damper of tendons: in the length of what they run along, slack between two lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.force_kind import Coordinate, ForceKind, Term
from linkwork.elements.core.transmission import Transmission, transmission_of
from linkwork.elements.forces.coefficients import is_zero

if TYPE_CHECKING:
    from linkwork.elements.core.element import ForceElement
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


def checked_rest(who: ForceElement, rest: Any, lowest: float) -> Any:
    """None, a length, or the two between which a tendon is slack; no length is below `lowest`."""
    if rest is None:
        return None
    if checks.entries(rest) is None:
        check = checks.non_negative if lowest == 0.0 else checks.number
        return check(who, "rest", rest, parameter=True)
    found = checks.vector(who, "rest", rest, 2, parameter=True)
    if not lowest <= float(found[0]) <= float(found[1]):
        checks.fail(who, f"rest is {checks.show(found)}", "give the shorter length, then the longer one")
    return found


class TendonKind(ForceKind):
    """The tension stiffness (x - rest) + damping x', with x what the tendon runs along; zero between the two lengths of its
    rest, and a push below them."""

    transmission: Transmission

    def __init__(self, element: Any) -> None:
        self.transmission = t = transmission_of(element)
        self.velocity_dependent = not is_zero(element.damping)
        self.key = f"{type(element).__name__}-{t.key}-{self.velocity_dependent}"
        self.fields = {**t.fields, "stiffness": 1, "damping": 1, "rest": 2}
        self.counters, self.relative = t.counters, t.relative
        self.needs_directions, self.rigid_only = t.needs_directions, (False,) * len(t.bodies)
        self.yields = not (is_zero(element.stiffness) and is_zero(element.damping))

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return transmission_of(element).bodies

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        built = self.transmission.as_built(elements, frames)
        rest = [(b, b) if e.rest is None else (e.rest, e.rest) if np.ndim(e.rest) == 0 else tuple(e.rest)
                for e, b in zip(elements, built, strict=True)]  # fmt: skip
        return {**self.transmission.parameters(elements, frames), "stiffness": column(elements, "stiffness"),
                "damping": column(elements, "damping"), "rest": np.array(rest, dtype=object)}  # fmt: skip

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return self.transmission.angles(handles, p)

    def coordinate(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        return self.transmission.coordinate(handles, p, self.counted(handles, p))

    @staticmethod
    def _stretch(x: Coordinate, p: Params) -> SX:
        return ca.fmax(0, x.value - p["rest"][1]) - ca.fmax(0, p["rest"][0] - x.value)

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        x = self.coordinate(handles, p)
        stretch = self._stretch(x, p)
        tension = p["stiffness"] * stretch
        if self.velocity_dependent:
            tension += p["damping"] * x.rate(handles)
        return x.loads(-tension), 0.5 * p["stiffness"] * stretch**2

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        x = self.coordinate(handles, p)
        stretch = self._stretch(x, p)
        return [x.term(ca.if_else(stretch == 0, 0, p["stiffness"]), p["damping"] if self.velocity_dependent else SX(1, 1))]
