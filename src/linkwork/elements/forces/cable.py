"""Cable: a spring in the length of a path through points of bodies. The element and its law."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.field_types import GivenOpenVector, KeptVector
from linkwork.elements.core.force_kind import Coordinate, ForceKind, Term
from linkwork.elements.core.functions import norm
from linkwork.elements.core.included import is_ground
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.forces.coefficients import check_coefficients

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, Vector


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
        self.rest = rest
        if rest is not None and checks.entries(rest) is None:
            self.rest = checks.non_negative(self, "rest", rest, parameter=True)
        elif rest is not None:
            self.rest = checks.vector(self, "rest", rest, 2, parameter=True)
            if not 0.0 <= float(self.rest[0]) <= float(self.rest[1]):
                checks.fail(self, f"rest is {checks.show(self.rest)}", "give the shorter length, then the longer one")

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
class CableKind(ForceKind):
    """A spring in the length of a path through points of bodies: the tension pulls along both parts that meet at a point."""

    def __init__(self, element: Any) -> None:
        ends = self.bodies(element)
        self.places: list[int | None] = [
            ends.index(body) if body in ends else None for body in (b if b.dim else None for b in element.bodies)
        ]
        self.velocity_dependent = isinstance(element.damping, Parameter) or element.damping != 0.0
        self.key = f"Cable-{self.places}-{self.velocity_dependent}"
        self.fields = {"at": 3 * len(self.places), "stiffness": 1, "damping": 1, "rest": 2}
        self.needs_directions = self.rigid_only = (False,) * len(ends)
        self.relative = None not in self.places

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        """Those that move, each once; with a single one, the ground before it."""
        moving = tuple(dict.fromkeys(body for body in element.bodies if body.dim))
        return moving if len(moving) > 1 else (None, *moving)

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        at = [frames[0].ground() if place is None else frames[place] for place in self.places]
        local = [F.user_point(np.array([e.at[k] for e in elements])) for k, F in enumerate(at)]
        world = np.array([F.world_point(p) for F, p in zip(at, local, strict=True)])
        built = np.linalg.norm(np.diff(world, axis=0), axis=2).sum(axis=0)
        rest = [(b, b) if e.rest is None else (e.rest, e.rest) if np.ndim(e.rest) == 0 else tuple(e.rest)
                for e, b in zip(elements, built, strict=True)]  # fmt: skip
        return {"at": np.hstack(local), "stiffness": column(elements, "stiffness"), "damping": column(elements, "damping"),
                "rest": np.array(rest, dtype=object)}  # fmt: skip

    def locals_of(self, p: Params) -> list[SX]:
        """Local points, (3,) each."""
        return [p["at"][3 * k : 3 * k + 3] for k in range(len(self.places))]

    def _parts(self, handles: Sequence[Handle], p: Params) -> list[tuple[int, SX, SX]]:
        """Of each straight part: the number of its first point, its length and its direction."""
        at = self.locals_of(p)
        ways = [handles[0].ground() if place is None else handles[place] for place in self.places]
        found = []
        for k in range(len(at) - 1):
            d = ways[k + 1].point(at[k + 1]) - ways[k].point(at[k])
            length = norm(d)
            found.append((k, length, d / ca.if_else(length > 0, length, 1)))
        return found

    def _length(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        """The whole length, and how the points change it."""
        at, parts = self.locals_of(p), self._parts(handles, p)
        motion = [(place, "point", at[k + end], (2 * end - 1) * along.T)
                  for k, _, along in parts for end in (0, 1) if (place := self.places[k + end]) is not None]  # fmt: skip
        return Coordinate(sum((length for _, length, _ in parts), SX(0)), motion)

    @staticmethod
    def _stretch(x: Coordinate, p: Params) -> SX:
        return ca.fmax(0, x.value - p["rest"][1]) - ca.fmax(0, p["rest"][0] - x.value)

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        x = self._length(handles, p)
        stretch = self._stretch(x, p)
        tension = p["stiffness"] * stretch
        if self.velocity_dependent:
            tension += p["damping"] * x.rate(handles)
        return x.loads(-tension), 0.5 * p["stiffness"] * stretch**2

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        x, at = self._length(handles, p), self.locals_of(p)
        stretch = self._stretch(x, p)
        found = [x.term(ca.if_else(stretch == 0, 0, p["stiffness"]), p["damping"] if self.velocity_dependent else SX(1, 1))]
        pull = ca.fmax(0, p["stiffness"] * stretch)
        for k, length, along in self._parts(handles, p):
            across = ca.if_else(length > 0, pull / ca.if_else(length > 0, length, 1), 0) * (SX.eye(3) - along @ along.T)
            motion = [(place, "point", at[k + end], (2 * end - 1) * SX.eye(3))
                      for end in (0, 1) if (place := self.places[k + end]) is not None]  # fmt: skip
            found.append(Term(motion, across, SX(3, 3)))
        return found
