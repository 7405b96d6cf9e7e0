"""Bodies from a user's function q(u) (witkin97 section 5): all that mechanics needs of them, derived.

With the particles x = q(u), their masses m and J = dq/du (eq. 12), J' u' the bias of the particles,

    mass  J^T m J        inertial force  -J^T m J' u'        generalised force of a pull f on a particle  J^T f    (eq. 13)

An implicit step asks for J1^T m (J1 v1 - J0 v0) of momentum: what its tangent needs of q are second derivatives.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.traced import Traced
from linkwork.elements.lagrangian import LagrangianBody
from linkwork.symbolic import blocks
from linkwork.symbolic.bodies import BodyKind, Primitive

NAME = "LagrangianBody"
LOST = 1e-10  # of the mass along a coordinate as built: what must be left of it once the coordinates before it are held


class Lagrangian(BodyKind):
    """n: coordinates u | their rates. One for each function of users."""

    directions = False
    collapses = True
    iterated_flight = True
    may_be_flat = True

    def __init__(self, traced: Traced, energy: Traced | None, n: int, particles: int):
        self.traced, self.energy, self.particles = traced, energy, particles
        self.nq = self.nv = n
        self.components = tuple((f"rates[{k}]", "") for k in range(n))  # of what unit u is, its user knows
        self.numbered = len(traced.arguments) == 1  # points are particles, named by their numbers
        self.name = name_of(traced, energy, n, particles)
        self.elastic = energy is not None
        places = {} if self.numbered else {"points": 3 * particles}
        self.split = len(traced.parameters)  # of the numbers of Parameters: those of the function, then those of the energy
        self.user = self.split + (0 if energy is None else len(energy.parameters))
        self.record = self.layout(0, None, masses=particles, **places, friction=n, built=n, user=self.user)

    # -- the function ----------------------------------------------------------------------------------------
    def places(self, u, points, user) -> SX:
        """(3 k,): the particles; `points` (3 k,) where they are in the material, if that has places; `user`: the numbers of
        Parameters."""
        used = user[: self.split]
        if self.numbered:
            return self.traced.function(u, used)
        return ca.vertcat(*[self.traced.function(u, points[3 * k : 3 * k + 3], used) for k in range(self.particles)])

    def place(self, u, local, user) -> SX:
        """(3,): a point of the body. Numbered ones are chosen by their number."""
        if not self.numbered:
            return self.traced.function(u, local, user[: self.split])
        every = self.places(u, None, user)
        return sum((ca.if_else(local[0] == k, every[3 * k : 3 * k + 3], 0) for k in range(self.particles)), SX(3, 1))

    @cached_property
    def _derived(self) -> ca.Function:
        """(u, u', points, numbers of Parameters) -> the particles, J (3 k, n), J' u'."""
        sizes = {"u": self.nq, "rate": self.nq, "points": 3 * self.particles, "user": self.user}
        u, rate, points, user = (SX.sym(name, n) for name, n in sizes.items())
        value = self.places(u, points, user)
        J = ca.jacobian(value, u)
        return ca.Function("particles", [u, rate, points, user], [value, J, ca.jtimes(J @ rate, u, rate)])

    @cached_property
    def at(self) -> ca.Function:
        """(u, u', local, numbers of Parameters) -> value, jacobian, rate and bias of a point."""
        sizes = {"u": self.nq, "rate": self.nq, "local": 3, "user": self.user}
        u, rate, local, user = (SX.sym(name, n) for name, n in sizes.items())
        value = self.place(u, local, user)
        J = ca.jacobian(value, u)
        bias = ca.jtimes(J @ rate, u, rate)
        return ca.Function("point", [u, rate, local, user], [ca.densify(x) for x in (value, J, J @ rate, bias)])

    def _particles(self, view) -> tuple[SX, SX, SX, SX]:
        """Masses (3 k,), each three times; places, J and bias of the particles."""
        masses, points = view.field("masses"), SX(3 * self.particles, 1) if self.numbered else view.field("points")
        return ca.kron(masses, SX.ones(3, 1)), *self._derived(view.q, view.v, points, view.field("user"))

    # -- mechanics -------------------------------------------------------------------------------------------
    def mass(self, view):
        m, _, J, _ = self._particles(view)
        return blocks.symmetric(blocks.lower(J.T @ (m * J)), self.nv)

    def inertial(self, view):
        m, _, J, bias = self._particles(view)
        return -J.T @ (m * bias)

    def momentum_change(self, view, before, h):
        m, _, J, _ = self._particles(view)
        _, _, J0, _ = self._particles(before)
        return J.T @ (m * (J @ view.v - J0 @ before.v))

    def weight(self, view, gravity):
        m, _, J, _ = self._particles(view)
        force = J.T @ (m * ca.repmat(gravity, self.particles, 1)) - view.field("friction") * view.v
        if self.energy is not None:
            [gradient, _] = self._elastic(view)
            force -= gradient
        return force

    def _elastic(self, view) -> list[SX]:
        """Gradient and second derivatives of the elastic energy."""
        assert self.energy is not None
        u = SX.sym("u", self.nq)
        energy = self.energy.function(u, view.field("user")[self.split :])
        second, gradient = ca.hessian(energy, u)
        return ca.substitute([gradient, second], [u], [view.q])

    def elasticity(self, view):
        """Second derivatives of the energy, raised by what their rows lack of diagonal dominance."""
        [_, second] = self._elastic(view)
        lacking = [ca.sum2(ca.fabs(second[k, :])) - ca.fabs(second[k, k]) - second[k, k] for k in range(self.nq)]
        return second + ca.diag(ca.vertcat(*[ca.fmax(0, x) for x in lacking])), ca.diag(view.field("friction"))

    def potential(self, view, gravity):
        m, x, _, _ = self._particles(view)
        energy = -ca.dot(m * ca.repmat(gravity, self.particles, 1), x)
        return energy if self.energy is None else energy + self.energy.function(view.q, view.field("user")[self.split :])

    def volume(self, view):
        """The least part that is left of the mass as built along a coordinate, once those before it are held."""
        M = self.mass(view)
        _, reciprocal = blocks.ldl(M)
        least = SX(np.inf)
        for k in range(self.nv):
            least = ca.fmin(least, 1 / reciprocal[k] - LOST * ca.fmax(M[k, k], view.field("built")[k]))
        return least

    def coordinates(self, view):
        return Primitive(view.q, SX.eye(self.nv), view.v, SX(self.nv, 1))

    def point(self, view, local):
        return Primitive(*self.at(view.q, view.v, SX(local), view.field("user")))

    # -- numbers ---------------------------------------------------------------------------------------------
    def located(self, u: np.ndarray, rate: np.ndarray, local: np.ndarray, user: np.ndarray) -> list[np.ndarray]:
        """Value (k, 3), jacobian (k, 3, n), rate (k, 3) and bias (k, 3) of points of k bodies, or of k states of one; `user`:
        the numbers of Parameters, a row each."""
        found = self.at(u.T, rate.T, local.T, user.T)
        value, J, *rest = [np.array(x.full().T) for x in found]
        J = np.array(found[1].full()).reshape(3, len(value), self.nq).transpose(1, 0, 2)
        return [value, J, *rest]

    def mass_matrix(self, body: LagrangianBody, u: np.ndarray, user: np.ndarray) -> np.ndarray:
        """J^T m J (n, n) at u."""
        points = np.zeros(3 * self.particles) if self.numbered else body.points.ravel()
        J = self._derived(u, np.zeros(self.nv), points, user)[1].full()
        return J.T @ (np.repeat(body.masses, 3)[:, None] * J)

    def rank_left(self, body: LagrangianBody, u: np.ndarray, user: np.ndarray, built: np.ndarray) -> float:
        """The least eigenvalue of the mass matrix at u, each coordinate measured by its mass as built."""
        scale = np.sqrt(built)
        M = self.mass_matrix(body, u, user) / np.outer(scale, scale)
        return float(np.linalg.eigvalsh(M)[0]) if np.isfinite(M).all() else 0.0

    def is_point(self, local: np.ndarray) -> bool:
        """Whether some place of the body is called so."""
        if not self.numbered:
            return bool(np.isfinite(local).all())
        return not local[1:].any() and local[0] in range(self.particles)


_KNOWN: dict[str, Lagrangian] = {}


def name_of(traced: Traced, energy: Traced | None, n: int, particles: int) -> str:
    functions = ":".join(function.digest[:24] for function in (traced, energy) if function is not None)
    return f"{NAME}-{n}-{particles}-{functions}"


def parameters_of(body: LagrangianBody) -> list[Parameter]:
    """The Parameters that its functions speak of, in the order of their numbers in its record."""
    return [p for where in ("function", "energy") if getattr(body, where) is not None for p in body.traced(where).parameters]


def lagrangian(body: LagrangianBody) -> Lagrangian:
    """The kind of a body: the same for equal functions."""
    traced, energy = body.traced("function"), None if body.energy is None else body.traced("energy")
    key = name_of(traced, energy, body.dim, len(body.masses))
    if key not in _KNOWN:
        _KNOWN[key] = Lagrangian(traced, energy, body.dim, len(body.masses))
    return _KNOWN[key]
