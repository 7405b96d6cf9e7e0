"""Points on curves and surfaces with coordinates of their own, and surfaces that stay in touch (baraff96 section 2.2).

Where the touching point is, in coordinates y of a curve or surface, equations decide; y are unknowns of the tape (tape.py).
All is written with the frames of the bodies: an origin o and axes L, so that a place x of the body is at o + L x. With T the
derivative of places by y, N a normal, d = p - place:

    point p on a curve      T.d = 0                                   rows n.d, for two n across T
    point p on a surface    T1.d = T2.d = 0                           row N.d / |N|
    surface f = 0 on X(y)   T1.grad f = T2.grad f = 0, at X(y)        row f(X(y)): the extreme value of f on the other surface
    the same on g(y) = 0    g = 0, t1.grad f = t2.grad f = 0          row f(y), with t1 and t2 across grad g
    X(u) on Y(w)            T1.d = T2.d = 0, N.Y1 = N.Y2 = 0          row N.d / |N|, d = Y - X

All of these but the first are stationary: they do not change with y, to first order.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements import constraints
from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import Relation, position_rows
from linkwork.elements.core.traced import Traced
from linkwork.symbolic.autodiff import POSITION

SEARCH = 60  # steps towards unknowns as built
SHORTEST = 1e-6  # part of a step that is tried
FOUND = 1e-12  # what may be left of their equations, relative to where the search began or to one
SINGULAR = 1e-10  # of singular values: below this part of the largest the equations leave something open


def _unit(vector) -> SX:
    return vector / ca.sqrt(ca.sumsqr(vector))


def _frame(handle, origin, axes, what: str) -> tuple[SX, SX]:
    """Origin (3,) and axes (3, 3) of a user's frame, on the tape."""
    columns = [getattr(handle, what)(axes[3 * k : 3 * k + 3]) for k in range(3)]
    return handle.point(origin), ca.horzcat(*columns)


def _as_built(frames, pick) -> tuple[np.ndarray, np.ndarray]:
    """The same in numbers."""
    at = [frames.world_point(frames.user_point(p, pick), pick)[0] for p in (np.zeros(3), *np.eye(3))]
    return at[0], np.array([x - at[0] for x in at[1:]]).T


def _axes(frames, k: int, user: str) -> np.ndarray:
    """(k, 9): the users' axes in the internal frames."""
    return np.hstack([getattr(frames, user)(np.tile(e, (k, 1))) for e in np.eye(3)])


class Found(Relation):
    """What relations with unknowns share. `problem`: geometry, kept numbers, unknowns, Parameters -> equations, rows."""

    def problem(self, geometry: list[SX], basis: SX, y: SX, user: SX) -> tuple[SX, SX]:
        raise NotImplementedError

    def geometry(self, handles, p) -> list[SX]:
        """Vectors and matrices of the bodies, on the tape."""
        raise NotImplementedError

    def _posed(self, handles, p) -> tuple[SX, SX]:
        return self.problem(self.geometry(handles, p), p.get("basis", SX(3, 1)), p["unknowns"], p["user"])

    def equations(self, handles, p):
        return self._posed(handles, p)[0]

    def rows(self, handles, p, t):
        return position_rows(self._posed(handles, p)[1])

    def searched(self, element, geometry: list[np.ndarray], basis: np.ndarray, y: np.ndarray, user: np.ndarray) -> np.ndarray:
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

    def _is_nearer(self, given, y, user, bound: float) -> bool:
        left, _ = self._numeric(given, y, user)
        return bool(np.isfinite(left).all() and np.abs(left).max() < bound)

    def _numeric(self, given, y, user) -> tuple[np.ndarray, np.ndarray]:
        left, slopes = self._function(*given, y, user)
        return left.full().ravel(), slopes.full()

    @cached_property
    def _function(self) -> ca.Function:
        shapes = self.shapes()
        symbols = [SX.sym(f"g{k}", *shape) for k, shape in enumerate(shapes)]
        basis, y, user = SX.sym("h", 3), SX.sym("y", self.kept["unknowns"]), SX.sym("user", self.fields["user"])
        equations, _ = self.problem(symbols, basis, y, user)
        return ca.Function("equations", [*symbols, basis, y, user], [equations, ca.jacobian(equations, y)])

    def shapes(self) -> list[tuple[int, int]]:
        raise NotImplementedError

    def values(self, element) -> np.ndarray:
        """Of the element's own Parameters: others have the same function, and their own."""
        return np.array([float(p) for p in type(self)(element).parameters]) if self.parameters else np.zeros(0)


class PointOnOwnCoordinates(Found):
    """PointOnCurve and PointOnSurface with a start."""

    needs_directions = (True, False)

    def __init__(self, element):
        self.curved = isinstance(element, constraints.PointOnCurve)
        self.traced = element.traced("curve" if self.curved else "surface", 3)
        self.parameters = tuple(self.traced.parameters)
        self.key = f"own-coordinates:{self.curved}:{self.traced.digest}"
        self.levels = [POSITION] * (2 if self.curved else 1)
        self.fields = {"origin": 3, "axes": 9, "on_b": 3, "user": len(self.parameters)}
        self.kept = {"unknowns": 1, "basis": 3} if self.curved else {"unknowns": 2}
        self.stationary = not self.curved

    def shapes(self):
        return [(3, 1), (3, 3), (3, 1)]

    def geometry(self, handles, p):
        a, b = handles
        return [*_frame(a, p["origin"], p["axes"], "line"), b.point(p["on_b"])]

    def _across(self, axes, tangent, basis) -> SX:
        """A unit vector across the curve, from one that was so before."""
        h, along = axes @ basis, _unit(tangent)
        return _unit(h - ca.dot(h, along) * along)

    def problem(self, geometry, basis, y, user):
        origin, axes, point = geometry
        place = self.traced.function(y, user)
        tangents = axes @ self._tangents(y, user)
        d = point - origin - axes @ place
        if not self.curved:
            return tangents.T @ d, ca.dot(_unit(ca.cross(tangents[:, 0], tangents[:, 1])), d)
        first = self._across(axes, tangents, basis)
        second = ca.cross(_unit(tangents), first)
        return tangents.T @ d, ca.vertcat(ca.dot(first, d), ca.dot(second, d))

    def _tangents(self, y, user) -> SX:
        symbol = SX.sym("y", y.shape[0])
        return ca.substitute(ca.jacobian(self.traced.function(symbol, user), symbol), symbol, y)

    def brought(self, handles, p):
        found = {"unknowns": p["unknowns"]}
        if self.curved:
            _, axes, _ = self.geometry(handles, p)
            across = self._across(axes, axes @ self._tangents(p["unknowns"], p["user"]), p["basis"])
            found["basis"] = ca.solve(axes, across)
        return found

    def numbers(self, elements, A, B):
        k = len(elements)
        found = {"origin": A.user_point(np.zeros((k, 3))), "axes": _axes(A, k, "user_line"),
                 "on_b": B.user_point(np.array([e.on_b for e in elements], dtype=float))}  # fmt: skip
        y, basis = [], []
        for n, e in enumerate(elements):
            pick, user = np.array([n]), self.values(e)
            origin, axes = _as_built(A, pick)
            start = np.atleast_1d(np.asarray(e.start, dtype=float))
            y.append(self.searched(e, [origin, axes, B.world_point(found["on_b"][n][None], pick)[0]], np.zeros(3), start, user))
            if self.curved:
                tangent = np.array(ca.evalf(self._tangents(SX(ca.DM(y[-1])), SX(ca.DM(user)))).full()).ravel()
                basis.append(np.eye(3)[int(np.argmin(np.abs(tangent)))])
        return found | {"unknowns": np.array(y)} | ({"basis": np.array(basis)} if self.curved else {})


class Tangent(Found):
    """Surfaces of two bodies in sliding contact. The *base* is the one on which the point is sought."""

    needs_directions = (True, True)
    rigid_only = (True, True)
    levels = [POSITION]
    stationary = True

    def __init__(self, element):
        self.surfaces: list[Traced] = []
        for side in ("a", "b"):
            own = getattr(element, f"start_{side}") is not None
            self.surfaces.append(element.traced(f"surface_{side}", 3 if own else 1))
        self.own = [surface.arguments == ("u",) for surface in self.surfaces]  # has coordinates of its own
        self.base = int(not self.own[0] and self.own[1])
        self.parameters = tuple(p for surface in self.surfaces for p in surface.parameters)
        self.key = f"Tangent:{self.own}:{':'.join(surface.digest for surface in self.surfaces)}"
        self.fields = {"origin_a": 3, "axes_a": 9, "origin_b": 3, "axes_b": 9, "scale": 1, "user": len(self.parameters)}
        self.kept = {"unknowns": 4} if all(self.own) else {"unknowns": 2} if any(self.own) else {"unknowns": 3, "basis": 3}

    def shapes(self):
        return [(3, 1), (3, 3), (3, 1), (3, 3), (1, 1)]

    def geometry(self, handles, p):
        ends = zip(handles, ("a", "b"), strict=True)
        frames = [x for handle, side in ends for x in _frame(handle, p[f"origin_{side}"], p[f"axes_{side}"], "axis")]
        return [*frames, p["scale"]]

    def _surface(self, which: int, y, user) -> tuple[SX, SX]:
        """Places or value of a surface at y, and their derivatives by it."""
        surface, before = self.surfaces[which], len(self.surfaces[0].parameters) if which else 0
        own = user[before : before + len(surface.parameters)]
        symbol = SX.sym("y", y.shape[0])
        value = surface.function(symbol, own)
        found = ca.substitute([value, ca.jacobian(value, symbol)], [symbol], [y])
        return found[0], found[1]

    def problem(self, geometry, basis, y, user):
        oa, La, ob, Lb, scale = geometry
        if all(self.own):
            (xa, ta), (xb, tb) = self._surface(0, y[:2], user), self._surface(1, y[2:], user)
            ta, tb, d = La @ ta, Lb @ tb, ob + Lb @ xb - oa - La @ xa
            normal = _unit(ca.cross(ta[:, 0], ta[:, 1]))
            return ca.vertcat(ta.T @ d, tb.T @ normal), ca.dot(normal, d)
        (o, L), (oo, Lo) = ((oa, La), (ob, Lb))[:: 1 if self.base == 0 else -1]
        place, tangents = self._surface(self.base, y, user)
        if not self.own[self.base]:
            value, normal, place = place, tangents.T, y
            first = ca.cross(normal, basis)
            tangents = ca.horzcat(first, ca.cross(normal, first))
        other, slope = self._surface(1 - self.base, Lo.T @ (o + L @ place - oo), user)
        left = tangents.T @ (L.T @ (Lo @ slope.T))
        return left if self.own[self.base] else ca.vertcat(value, left), scale * other

    def brought(self, handles, p):
        found = {"unknowns": p["unknowns"]}
        if "basis" in self.kept:
            _, slope = self._surface(self.base, p["unknowns"], p["user"])
            found["basis"] = _unit(ca.cross(slope.T, p["basis"]))
        return found

    def numbers(self, elements, A, B):
        k = len(elements)
        found = {"origin_a": A.user_point(np.zeros((k, 3))), "axes_a": _axes(A, k, "user_axis"),
                 "origin_b": B.user_point(np.zeros((k, 3))), "axes_b": _axes(B, k, "user_axis")}  # fmt: skip
        scale, y, basis = np.ones((k, 1)), [], []
        for n, e in enumerate(elements):
            user = self.values(e)
            frames = [*_as_built(A, np.array([n])), *_as_built(B, np.array([n]))]
            start = self._start(e, frames)
            h = np.zeros(3)
            if "basis" in self.kept:
                h = np.eye(3)[int(np.argmin(np.abs(self._slope(self.base, start, user))))]
            y.append(self.searched(e, [*frames, np.ones((1, 1))], h, start, user))
            basis.append(h)
            if not all(self.own):
                scale[n] = 1 / self._steepness(e, frames, y[-1], user)
        found |= {"scale": scale, "unknowns": np.array(y)}
        return found | ({"basis": np.array(basis)} if "basis" in self.kept else {})

    def place(self, p):
        return self.base, self._place(p["unknowns"], p["user"])

    def _place(self, y: np.ndarray, user: np.ndarray) -> np.ndarray:
        """(3,): where on the base they touch, in its body's frame."""
        if not self.own[self.base]:
            return y
        part = y[: len(y) // 2] if all(self.own) else y
        return np.array(ca.evalf(self._surface(self.base, SX(ca.DM(part)), SX(ca.DM(user)))[0]).full()).ravel()

    def _start(self, element, frames) -> np.ndarray:
        if all(self.own):
            return np.concatenate([element.start_a, element.start_b])
        if any(self.own):
            return element.start_a if self.base == 0 else element.start_b
        return np.linalg.solve(frames[1], element.at - frames[0])

    def _slope(self, which: int, y: np.ndarray, user: np.ndarray) -> np.ndarray:
        return np.array(ca.evalf(self._surface(which, SX(ca.DM(y)), SX(ca.DM(user)))[1]).full()).ravel()

    def _steepness(self, element, frames, y: np.ndarray, user: np.ndarray) -> float:
        """How fast the function that vanishes on the other surface grows: a row counts metres."""
        frames = [frames[:2], frames[2:]]
        (o, L), (oo, Lo) = frames[self.base], frames[1 - self.base]
        found = float(np.linalg.norm(self._slope(1 - self.base, Lo.T @ (o + L @ self._place(y, user) - oo), user)))
        if not 1e-9 < found < 1e9:
            checks.fail(element, f"its surface_{'ba'[self.base]} has a gradient of {found:.3g} where they touch",
                        "write it so that it passes through zero there")  # fmt: skip
        return found
