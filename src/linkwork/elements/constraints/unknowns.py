"""What constraints with unknowns share: where curves and surfaces touch is in coordinates y, which equations decide.

y are unknowns of the tape (symbolic/autodiff.py). All is written with the frames of the bodies: an origin o and axes L, so
that a place x of the body is at o + L x. With T the derivative of places by y, N a normal, d = p - place (baraff96 sec. 2.2):

    point p on a curve      T.d = 0                                   rows n.d, for two n across T
    point p on a surface    T1.d = T2.d = 0                           row N.d / |N|
    surface f = 0 on X(y)   T1.grad f = T2.grad f = 0, at X(y)        row f(X(y)): the extreme value of f on the other surface
    the same on g(y) = 0    g = 0, t1.grad f = t2.grad f = 0          row f(y), with t1 and t2 across grad g
    X(u) on Y(w)            T1.d = T2.d = 0, N.Y1 = N.Y2 = 0          row N.d / |N|, d = Y - X

All of these but the first are stationary: they do not change with y, to first order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind, position_rows

if TYPE_CHECKING:
    from linkwork.elements.constraints import PairConstraint
    from linkwork.elements.core.element_kind import Params
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import FloatArray, IntArray


SEARCH = 60  # steps towards unknowns as built
SHORTEST = 1e-6  # part of a step that is tried
FOUND = 1e-12  # what may be left of their equations, relative to where the search began or to one
SINGULAR = 1e-10  # of singular values: below this part of the largest the equations leave something open


def unit(vector: Any) -> SX:
    found: SX = vector / ca.sqrt(ca.sumsqr(vector))
    return found


def user_frame(handle: Any, origin: Any, axes: Any, what: str) -> tuple[SX, SX]:
    """Origin (3,) and axes (3, 3) of a user's frame, on the tape."""
    columns = [getattr(handle, what)(axes[3 * k : 3 * k + 3]) for k in range(3)]
    return handle.point(origin), ca.horzcat(*columns)


def frame_as_built(frames: Any, pick: IntArray | None) -> tuple[FloatArray, FloatArray]:
    """The same in numbers."""
    at = [frames.world_point(frames.user_point(p, pick), pick)[0] for p in (np.zeros(3), *np.eye(3))]
    return at[0], np.array([x - at[0] for x in at[1:]]).T


def user_axes(frames: Any, k: int, user: str) -> FloatArray:
    """(k, 9): the users' axes in the internal frames."""
    return np.hstack([getattr(frames, user)(np.tile(e, (k, 1))) for e in np.eye(3)])


class UnknownsKind(ConstraintKind):
    """The base of kinds with unknowns. `problem`: geometry, kept numbers, unknowns, Parameters -> equations, rows."""

    @abstractmethod
    def problem(self, geometry: list[SX], basis: SX, y: SX, user: SX) -> tuple[SX, SX]:
        """Equations of the unknowns y, and rows."""

    @abstractmethod
    def geometry(self, handles: Sequence[Handle], p: Params) -> list[SX]:
        """Vectors and matrices of the bodies, on the tape."""

    def _posed(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        return self.problem(self.geometry(handles, p), p.get("basis", SX(3, 1)), p["unknowns"], p["user"])

    def equations(self, handles: Sequence[Handle], p: Params) -> SX:
        return self._posed(handles, p)[0]

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return position_rows(self._posed(handles, p)[1])

    def searched(
        self, element: PairConstraint, geometry: list[FloatArray], basis: FloatArray, y: FloatArray, user: FloatArray
    ) -> FloatArray:
        """The unknowns as built, by Newton's method with shorter steps where whole ones lead away."""
        given = [*geometry, basis]
        left, slopes = self._numeric(given, y, user)
        first = max(1.0, float(np.abs(left).max(initial=0.0)))
        for _ in range(SEARCH):
            if not (np.isfinite(left).all() and np.isfinite(slopes).all()):
                checks.fail(element, f"its function, or a derivative, is not finite at {checks.show(y)}", "start it elsewhere")
            if np.abs(left).max() <= FOUND * first:
                break
            step, size = np.linalg.lstsq(slopes, left, rcond=None)[0], 1.0
            while size > SHORTEST and not self._is_nearer(given, y - size * step, user, (1 - 0.1 * size) * np.abs(left).max()):
                size /= 2
            y = y - size * step
            left, slopes = self._numeric(given, y, user)
        values = np.linalg.svd(slopes, compute_uv=False)
        if not np.abs(left).max() <= FOUND * first or values[-1] <= SINGULAR * values[0]:
            checks.fail(element, f"no single point where it holds was found near {checks.show(y)}",
                        "start it nearer, and where what touches is curved")  # fmt: skip
        return y

    def _is_nearer(self, given: list[FloatArray], y: FloatArray, user: FloatArray, bound: float) -> bool:
        left, _ = self._numeric(given, y, user)
        return bool(np.isfinite(left).all() and np.abs(left).max() < bound)

    def _numeric(self, given: list[FloatArray], y: FloatArray, user: FloatArray) -> tuple[FloatArray, FloatArray]:
        left, slopes = self._function(*given, y, user)
        return left.full().ravel(), slopes.full()

    @cached_property
    def _function(self) -> ca.Function:
        shapes = self.shapes()
        symbols = [SX.sym(f"g{k}", *shape) for k, shape in enumerate(shapes)]
        basis, y, user = SX.sym("h", 3), SX.sym("y", self.state_fields["unknowns"]), SX.sym("user", self.fields["user"])
        equations, _ = self.problem(symbols, basis, y, user)
        return ca.Function("equations", [*symbols, basis, y, user], [equations, ca.jacobian(equations, y)])

    @abstractmethod
    def shapes(self) -> list[tuple[int, int]]:
        """Those of `geometry`."""

    def values(self, element: PairConstraint) -> FloatArray:
        """Of the element's own Parameters: others have the same function, and their own."""
        kind: Any = type(self)
        return np.array([float(p) for p in kind(element).user_parameters]) if self.user_parameters else np.zeros(0)
