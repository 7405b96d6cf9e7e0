"""Tangent: two smooth surfaces stay in contact and slide. The element, and its row with unknowns that say where they touch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.constraints.unknowns import UnknownsKind, frame_as_built, unit, user_axes, user_frame
from linkwork.elements.core import checks
from linkwork.elements.core.element import PairConstraint
from linkwork.elements.core.field_types import OptionalVectorField, default
from linkwork.elements.core.included import carried_along, is_ground
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.traced import Traced
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


@dataclass(eq=False, repr=False)
class Tangent(PairConstraint):
    """Two smooth surfaces, one of a and one of b, stay in contact at a point and slide freely: one freedom is taken (baraff96
    section 2.2). They neither part nor roll over each other by force: for what may part, take a Contact.

    A surface is a function of the point p in its body's frame that vanishes on it, but not its gradient; `at` is then a point
    in the world near where they touch. Or, where `start_a` or `start_b` is given, it is a function of two coordinates u that
    gives the three coordinates of its points in the body's frame, and they touch near those u. Where they touch is found in
    each step (`sim.unknowns` tells it). The surface of a body that stretches follows it.

    An ellipsoid that slides on the floor:

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> egg = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 0, 0.5), angular_velocity=(1, 0, 0), name="egg"))
    >>> touch = world.add(Tangent(world.ground, egg, lambda p: p[2], lambda p: p[0] ** 2 + p[1] ** 2 / 4 + p[2] ** 2 / 0.25 - 1,
    ...                           at=(0, 0, 0), name="touch"))
    >>> sim = lw.Simulation(world)
    >>> sim.step(200)
    >>> bool(sim.drift() < 1e-10), sim.unknowns("touch").shape
    (True, (3,))
    """

    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"surface_a": ("p",), "surface_b": ("p",)}

    WORLD_POINTS: ClassVar[tuple[str, ...]] = ("at",)

    surface_a: Callable[..., Any]  # p (3) -> one expression; or u (2) -> three
    surface_b: Callable[..., Any]
    at: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), m, world
    start_a: OptionalVectorField = field(default=default(None), kw_only=True)  # (2,)
    start_b: OptionalVectorField = field(default=default(None), kw_only=True)  # (2,)

    def __post_init__(self) -> None:
        super().__post_init__()
        for side in ("a", "b"):
            start, surface = f"start_{side}", f"surface_{side}"
            setattr(self, start, checks.optional(checks.vector, self, start, getattr(self, start), 2))
            setattr(self, surface, checks.function(self, surface, getattr(self, surface), self.arguments(surface)))
        self.at = checks.optional(checks.vector, self, "at", self.at)
        if self.at is None and self.start_a is None and self.start_b is None:
            checks.fail(self, "at is missing", "give at=, a point in the world near where they touch")

    def arguments(self, where: str) -> tuple[str]:
        return ("p",) if getattr(self, where.replace("surface", "start")) is None else ("u",)

    def sizes(self) -> dict[str, int | None]:
        return {"u": 2}

    def include_at(self, move: Move) -> str | None:
        return "its surface is fixed to the ground" if is_ground(self.a) or is_ground(self.b) else carried_along(self, move)


@kind_of(Tangent)
class TangentKind(UnknownsKind):
    """Surfaces of two bodies in sliding contact. The *base* is the one on which the point is sought."""

    needs_directions = (True, True)
    levels = [POSITION]
    stationary = True

    def __init__(self, element: Any) -> None:
        self.surfaces: list[Traced] = []
        for side in ("a", "b"):
            own = getattr(element, f"start_{side}") is not None
            self.surfaces.append(element.traced(f"surface_{side}", 3 if own else 1))
        self.own = [surface.arguments == ("u",) for surface in self.surfaces]  # has coordinates of its own
        self.base = int(not self.own[0] and self.own[1])
        self.user_parameters = tuple(p for surface in self.surfaces for p in surface.parameters)
        self.key = f"Tangent:{self.own}:{':'.join(surface.digest for surface in self.surfaces)}"
        self.fields = {"origin_a": 3, "axes_a": 9, "origin_b": 3, "axes_b": 9, "scale": 1, "user": len(self.user_parameters)}
        self.state_fields = (
            {"unknowns": 4} if all(self.own) else {"unknowns": 2} if any(self.own) else {"unknowns": 3, "basis": 3}
        )

    def shapes(self) -> list[tuple[int, int]]:
        return [(3, 1), (3, 3), (3, 1), (3, 3), (1, 1), (3, 3), (3, 3)]

    def geometry(self, handles: Sequence[Handle], p: Params) -> list[SX]:
        ends = zip(handles, ("a", "b"), strict=True)
        frames = [x for handle, side in ends for x in user_frame(handle, p[f"origin_{side}"], p[f"axes_{side}"],
                                                                 "line" if handle.stretches else "axis")]  # fmt: skip
        return [*frames, p["scale"], *[rotation.inverse_transpose(axes) if handle.stretches else axes
                                       for handle, axes in zip(handles, frames[1::2], strict=True)]]  # fmt: skip

    def _surface(self, which: int, y: SX, user: SX) -> tuple[SX, SX]:
        """Places or value of a surface at y, and their derivatives by it."""
        surface, before = self.surfaces[which], len(self.surfaces[0].parameters) if which else 0
        own = user[before : before + len(surface.parameters)]
        symbol = SX.sym("y", y.shape[0])
        value = surface.function(symbol, own)
        found = ca.substitute([value, ca.jacobian(value, symbol)], [symbol], [y])
        return found[0], found[1]

    def problem(self, geometry: list[SX], basis: SX, y: SX, user: SX) -> tuple[SX, SX]:
        oa, La, ob, Lb, scale, Na, Nb = geometry  # N = L^-T takes gradients to the world
        if all(self.own):
            (xa, ta), (xb, tb) = self._surface(0, y[:2], user), self._surface(1, y[2:], user)
            ta, tb, d = La @ ta, Lb @ tb, ob + Lb @ xb - oa - La @ xa
            normal = unit(ca.cross(ta[:, 0], ta[:, 1]))
            return ca.vertcat(ta.T @ d, tb.T @ normal), ca.dot(normal, d)
        (o, L, _), (oo, _, No) = ((oa, La, Na), (ob, Lb, Nb))[:: 1 if self.base == 0 else -1]
        place, tangents = self._surface(self.base, y, user)
        if not self.own[self.base]:
            value, normal, place = place, tangents.T, y
            first = ca.cross(normal, basis)
            tangents = ca.horzcat(first, ca.cross(normal, first))
        other, slope = self._surface(1 - self.base, No.T @ (o + L @ place - oo), user)
        left = tangents.T @ (L.T @ (No @ slope.T))
        return left if self.own[self.base] else ca.vertcat(value, left), scale * other

    def updated_state(self, handles: Sequence[Handle], p: Params) -> dict[str, SX]:
        found = {"unknowns": p["unknowns"]}
        if "basis" in self.state_fields:
            _, slope = self._surface(self.base, p["unknowns"], p["user"])
            found["basis"] = unit(ca.cross(slope.T, p["basis"]))
        return found

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        k = len(elements)
        found = {"origin_a": A.user_point(np.zeros((k, 3))), "axes_a": user_axes(A, k, "user_axis"),
                 "origin_b": B.user_point(np.zeros((k, 3))), "axes_b": user_axes(B, k, "user_axis")}  # fmt: skip
        scale, y, basis = np.ones((k, 1)), [], []
        for n, e in enumerate(elements):
            user = self.values(e)
            frames = [*frame_as_built(A, np.array([n])), *frame_as_built(B, np.array([n]))]
            start = self._start(e, frames)
            h = np.zeros(3)
            if "basis" in self.state_fields:
                h = np.eye(3)[int(np.argmin(np.abs(self._slope(self.base, start, user))))]
            gradients = [np.linalg.inv(frames[k]).T if side.stretches else frames[k] for k, side in ((1, A), (3, B))]
            y.append(self.searched(e, [*frames, np.ones((1, 1)), *gradients], h, start, user))
            basis.append(h)
            if not all(self.own):
                scale[n] = 1 / self._steepness(e, frames, gradients, y[-1], user)
        found |= {"scale": scale, "unknowns": np.array(y)}
        return found | ({"basis": np.array(basis)} if "basis" in self.state_fields else {})

    def touching_point(self, p: dict[str, FloatArray]) -> tuple[int, FloatArray]:
        return self.base, self._place(p["unknowns"], p["user"])

    def _place(self, y: FloatArray, user: FloatArray) -> FloatArray:
        """(3,): where on the base they touch, in its body's frame."""
        if not self.own[self.base]:
            return y
        part = y[: len(y) // 2] if all(self.own) else y
        return np.array(ca.evalf(self._surface(self.base, SX(ca.DM(part)), SX(ca.DM(user)))[0]).full()).ravel()

    def _start(self, element: Any, frames: list[FloatArray]) -> FloatArray:
        if all(self.own):
            return np.concatenate([element.start_a, element.start_b])
        if any(self.own):
            start: FloatArray = element.start_a if self.base == 0 else element.start_b
            return start
        return np.linalg.solve(frames[1], element.at - frames[0])

    def _slope(self, which: int, y: FloatArray, user: FloatArray) -> FloatArray:
        return np.array(ca.evalf(self._surface(which, SX(ca.DM(y)), SX(ca.DM(user)))[1]).full()).ravel()

    def _steepness(
        self, element: Tangent, frames: list[FloatArray], gradients: list[FloatArray], y: FloatArray, user: FloatArray
    ) -> float:
        """How fast the function that vanishes on the other surface grows: a row counts metres."""
        both = [frames[:2], frames[2:]]
        (o, L), (oo, Lo), No = both[self.base], both[1 - self.base], gradients[1 - self.base]
        slope = self._slope(1 - self.base, No.T @ (o + L @ self._place(y, user) - oo), user)
        found = float(np.linalg.norm(slope if No is Lo else No @ slope))
        if not 1e-9 < found < 1e9:
            checks.fail(element, f"its surface_{'ba'[self.base]} has a gradient of {found:.3g} where they touch",
                        "write it so that it passes through zero there")  # fmt: skip
        return found
