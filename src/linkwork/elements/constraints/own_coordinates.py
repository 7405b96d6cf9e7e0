"""Points on curves and surfaces with coordinates of their own: what PointOnCurve and PointOnSurface with a `start` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.constraints.unknowns import UnknownsKind, frame_as_built, unit, user_axes, user_frame
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


class OwnCoordinatesKind(UnknownsKind):
    """A point of b on a curve or a surface of a that is a function of its own coordinates."""

    function: ClassVar[str]  # the field that holds the function
    curved: ClassVar[bool]  # one coordinate, two rows; else two coordinates, one row

    needs_directions = (True, False)

    def __init__(self, element: Any) -> None:
        self.traced = element.traced(self.function, 3)
        self.user_parameters = tuple(self.traced.parameters)
        self.key = f"own-coordinates:{self.curved}:{self.traced.digest}"
        self.levels = [POSITION] * (2 if self.curved else 1)
        self.fields = {"origin": 3, "axes": 9, "on_b": 3, "user": len(self.user_parameters)}
        self.state_fields = {"unknowns": 1, "basis": 3} if self.curved else {"unknowns": 2}
        self.stationary = not self.curved

    def shapes(self) -> list[tuple[int, int]]:
        return [(3, 1), (3, 3), (3, 1)]

    def geometry(self, handles: Sequence[Handle], p: Params) -> list[SX]:
        a, b = handles
        return [*user_frame(a, p["origin"], p["axes"], "line"), b.point(p["on_b"])]

    def _across(self, axes: SX, tangent: SX, basis: SX) -> SX:
        """A unit vector across the curve, from one that was so before."""
        h, along = axes @ basis, unit(tangent)
        return unit(h - ca.dot(h, along) * along)

    def problem(self, geometry: list[SX], basis: SX, y: SX, user: SX) -> tuple[SX, SX]:
        origin, axes, point = geometry
        place = self.traced.function(y, user)
        tangents = axes @ self._tangents(y, user)
        d = point - origin - axes @ place
        if not self.curved:
            return tangents.T @ d, ca.dot(unit(ca.cross(tangents[:, 0], tangents[:, 1])), d)
        first = self._across(axes, tangents, basis)
        second = ca.cross(unit(tangents), first)
        return tangents.T @ d, ca.vertcat(ca.dot(first, d), ca.dot(second, d))

    def _tangents(self, y: SX, user: SX) -> SX:
        symbol = SX.sym("y", y.shape[0])
        return ca.substitute(ca.jacobian(self.traced.function(symbol, user), symbol), symbol, y)

    def updated_state(self, handles: Sequence[Handle], p: Params) -> dict[str, SX]:
        found = {"unknowns": p["unknowns"]}
        if self.curved:
            _, axes, _ = self.geometry(handles, p)
            across = self._across(axes, axes @ self._tangents(p["unknowns"], p["user"]), p["basis"])
            found["basis"] = ca.solve(axes, across)
        return found

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        k = len(elements)
        found = {"origin": A.user_point(np.zeros((k, 3))), "axes": user_axes(A, k, "user_line"),
                 "on_b": B.user_point(np.array([e.on_b for e in elements], dtype=float))}  # fmt: skip
        y, basis = [], []
        for n, e in enumerate(elements):
            pick, user = np.array([n]), self.values(e)
            origin, axes = frame_as_built(A, pick)
            start = np.atleast_1d(np.asarray(e.start, dtype=float))
            y.append(self.searched(e, [origin, axes, B.world_point(found["on_b"][n][None], pick)[0]], np.zeros(3), start, user))
            if self.curved:
                tangent = np.array(ca.evalf(self._tangents(SX(ca.DM(y[-1])), SX(ca.DM(user)))).full()).ravel()
                basis.append(np.eye(3)[int(np.argmin(np.abs(tangent)))])
        return found | {"unknowns": np.array(y)} | ({"basis": np.array(basis)} if self.curved else {})
