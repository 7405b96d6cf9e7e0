"""Cable: a spring in the length of a path through points of bodies. The element and its law."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.field_types import GivenOpenVector, KeptVector
from linkwork.elements.core.included import is_ground
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.forces.coefficients import check_coefficients
from linkwork.elements.forces.path_length import PathLength
from linkwork.elements.forces.tendon_law import TendonKind, checked_rest

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Term
    from linkwork.elements.core.included import Move
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import Vector


@dataclass(eq=False, repr=False, init=False)
class Cable(ForceElement):
    """A spring and damper in the length of a cable that runs straight from point to point of bodies, freely through all but
    its ends: a tendon.

    `points`: (body, at) in turn, `at` in the body's frame. The tension is stiffness (l - rest) + damping l', with l the whole
    length; without a rest, that as built. Between the two of `rest=(lower, upper)` the spring is slack, and below them it
    pushes.

    >>> Cable([("ground", (0, 0, 1)), ("arm", (0.1, 0, 0)), ("hand", (0, 0, 0))], 200.0, rest=(0, 0.8), name="tendon")
    <Cable "tendon">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"bodies": "body"}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"rest": ("m",)}

    bodies: tuple[BodyLike, ...]
    at: KeptVector  # (n, 3), m, in the bodies' frames
    stiffness: float | Parameter  # N/m
    damping: float | Parameter  # N s/m
    rest: GivenOpenVector | None  # m, or (2,) m

    def __init__(self, points: Sequence[tuple[BodyLike, Vector]], stiffness: float | Parameter = 0.0,
                 damping: float | Parameter = 0.0, rest: GivenOpenVector | None = None, *,
                 name: str | None = None) -> None:  # fmt: skip
        self.name = name
        pairs = [checks.entries(point) or [] for point in checks.entries(points) or ()]
        if len(pairs) < 2 or any(len(pair) != 2 for pair in pairs):
            remedy = 'give two or more of (body, point), such as [("arm", (0, 0, 0)), ("hand", (0.1, 0, 0))]'
            checks.fail(self, f"points is {checks.show(points)}", remedy)
        self.bodies = tuple(body for body, _ in pairs)
        super().__post_init__()
        self.at = np.array([checks.vector(self, f"points[{k}]", at) for k, (_, at) in enumerate(pairs)])
        self.stiffness, self.damping = stiffness, damping
        check_coefficients(self, "stiffness", "damping")
        self.rest = checked_rest(self, rest, 0.0)

    def transmission(self) -> PathLength:
        """What a Motor, a HardLimit, a JointFriction or a Coupling of it acts along."""
        return PathLength(self)

    def include_at(self, move: Move) -> str | None:
        ends = zip(self.bodies, self.at, strict=True)
        vars(self)["at"] = np.array([move.point(at) if is_ground(body) else at for body, at in ends])
        return None

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        for one, other in itertools.pairwise(resolved):
            if one is other:
                checks.fail(self, f"it runs from {checks.label(one)} to itself", "give another body after each")
        if all(body.dim == 0 for body in resolved):
            checks.fail(self, "it acts on the ground alone", "give a body that moves")


@kind_of(Cable)
class CableKind(TendonKind):
    """The tension pulls along both parts that meet at a point."""

    transmission: PathLength

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        pull = ca.fmax(0, p["stiffness"] * self._stretch(self.coordinate(handles, p), p))
        return [*super().terms(handles, p, t), *self.transmission.across(handles, p, pull)]
