"""PointOnCurve, PointOnSurface: a point of b on a curve or surface of a. The elements, their rows where a function of the point
vanishes, and those where a function gives the points (own_coordinates.py)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.constraints.own_coordinates import OwnCoordinatesKind
from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind, position_rows
from linkwork.elements.core.element import PairConstraint
from linkwork.elements.core.field_types import OptionalVectorField, VectorField, default
from linkwork.elements.core.functions import on_tape
from linkwork.elements.core.included import carried_along, is_ground
from linkwork.elements.core.registry import check_complete, kind_of
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


IMPLICIT, OWN_COORDINATES = "implicit", "by its own coordinates"  # how a curve or surface is given


class LocusKind(ConstraintKind):
    """A point of b where expressions of its place in a's frame vanish."""

    function: ClassVar[str]  # the field that holds the function
    size: ClassVar[int]  # how many expressions there are

    needs_directions = (True, False)

    def __init__(self, element: Any) -> None:
        self.traced = element.traced(self.function, self.size)
        self.user_parameters = tuple(self.traced.parameters)
        self.key = f"locus:{self.traced.digest}"
        self.levels = [POSITION] * self.size
        self.fields = {"origin": 3, "axes": 9, "on_b": 3, "user": len(self.user_parameters)}

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        k = len(elements)
        axes = [A.user_normal(np.tile(e, (k, 1))) for e in np.eye(3)]
        on_b = B.user_point(np.array([e.on_b for e in elements], dtype=float))
        return {"origin": A.user_point(np.zeros((k, 3))), "axes": np.hstack(axes), "on_b": on_b}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["origin"])
        local = ca.vertcat(*[ca.dot(a.normal(p["axes"][3 * k : 3 * k + 3]), d) for k in range(3)])
        return position_rows(on_tape(self.traced, [], [local], p["user"]))


@dataclass(eq=False, repr=False)
class PointOnCurve(PairConstraint):
    """A point of b stays on a curve of a: a function of the point p in a's frame, two expressions that vanish on it.

    >>> PointOnCurve("ground", "bead", lambda p: (p[0]**2 + p[2]**2 - 1, p[1]), name="hoop")
    <PointOnCurve "hoop">

    Or, where a `start` is given, a function of the curve's own coordinate that gives the three coordinates of its points in a's
    frame: b's point is nearest to where that is `start`, and from then on the coordinate is found in each step
    (`sim.unknowns` tells it).

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bead = world.add(lw.Particle(0.2, position=(1, 0, 0)))
    >>> helix = world.add(PointOnCurve(world.ground, bead, lambda s: (lw.cos(s), lw.sin(s), 0.2 * s), start=0.1, name="helix"))
    >>> sim = lw.Simulation(world)
    >>> sim.step(500)
    >>> s = sim.unknowns("helix")[0]
    >>> bool(sim.drift() < 1e-10), bool(abs(sim.position(bead)[2] - 0.2 * s) < 1e-10), round(float(s), 2)
    (True, True, -0.24)
    """

    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"curve": ("p",)}

    curve: Callable[..., Any]  # p (3) -> two expressions; or u, a number -> three
    on_b: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in b's frame
    start: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.start = checks.optional(checks.number, self, "start", self.start)
        self.curve = checks.function(self, "curve", self.curve, self.arguments("curve"))
        self.on_b = checks.vector(self, "on_b", self.on_b)

    def arguments(self, where: str) -> tuple[str]:
        return ("p",) if self.start is None else ("u",)

    def include_at(self, move: Move) -> str | None:
        return "its surface is fixed to the ground" if is_ground(self.a) else carried_along(self, move)

    def variant(self) -> Hashable:
        return IMPLICIT if self.start is None else OWN_COORDINATES


@kind_of(PointOnCurve, IMPLICIT)
class CurveKind(LocusKind):
    function, size = "curve", 2


@kind_of(PointOnCurve, OWN_COORDINATES)
class OwnCurveKind(OwnCoordinatesKind):
    function, curved = "curve", True


@dataclass(eq=False, repr=False)
class PointOnSurface(PairConstraint):
    """A point of b stays on a surface of a: a function of the point p in a's frame, one expression that vanishes on it.

    >>> PointOnSurface("ground", "bead", lambda p: p[2] - p[0]**2, name="bowl")
    <PointOnSurface "bowl">

    Or, where a `start` is given (two numbers), a function of the surface's own two coordinates that gives the three coordinates
    of its points in a's frame; as for PointOnCurve.

    >>> PointOnSurface("ground", "bead", lambda u: (u[0], u[1], u[0] * u[1]), start=(0, 0), name="saddle")
    <PointOnSurface "saddle">
    """

    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"surface": ("p",)}

    surface: Callable[..., Any]  # p (3) -> one expression; or u (2) -> three
    on_b: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in b's frame
    start: OptionalVectorField = field(default=default(None), kw_only=True)  # (2,)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.start = checks.optional(checks.vector, self, "start", self.start, 2)
        self.surface = checks.function(self, "surface", self.surface, self.arguments("surface"))
        self.on_b = checks.vector(self, "on_b", self.on_b)

    def arguments(self, where: str) -> tuple[str]:
        return ("p",) if self.start is None else ("u",)

    def sizes(self) -> dict[str, int | None]:
        return {"u": 2}

    def include_at(self, move: Move) -> str | None:
        return "its surface is fixed to the ground" if is_ground(self.a) else carried_along(self, move)

    def variant(self) -> Hashable:
        return IMPLICIT if self.start is None else OWN_COORDINATES


@kind_of(PointOnSurface, IMPLICIT)
class SurfaceKind(LocusKind):
    function, size = "surface", 1


@kind_of(PointOnSurface, OWN_COORDINATES)
class OwnSurfaceKind(OwnCoordinatesKind):
    function, curved = "surface", False


for _element in (PointOnCurve, PointOnSurface):
    check_complete(_element, (IMPLICIT, OWN_COORDINATES))
