"""One step of backward Euler of a whole world, straight from its definition, and its derivatives by finite differences.

    linear and angular momentum at the end - those at the start - h forces(end) + J(end)^T y = 0,   C(end) / h = 0,   g(end) = 0

in the bodies' velocity components; y is minus the impulses of the constraints. Bodies that stretch are clouds of points. Of the
package it takes only C and g themselves (`rows`), which tests/symbolic compares with tests/oracles/residuals.py.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.oracles.loads import generalised, point_jacobian
from tests.oracles.poses import (
    PLANE,
    Ground,
    Placed,
    as_built,
    flow,
    frame,
    quaternion_matrix,
    quaternion_product,
    skew,
)

STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
SHIFT = 3e-3  # of finite differences, m or rad, and of velocities


def derivative(function, size, among=None):
    """d function / dx at x = 0, of order four; `among`: the components on which it depends."""
    found = np.zeros((len(function(np.zeros(size))), size))
    for k in range(size) if among is None else among:
        found[:, k] = sum(w * function(j * SHIFT * np.eye(size)[k]) for j, w in STENCIL) / SHIFT
    return found


# -- how bodies move ---------------------------------------------------------------------------------------------------


def centre(body, kind, built):
    """The centre of mass in the package's own frame of a body (its origin may be anywhere)."""
    if kind != "RigidBody":
        return np.zeros(3)
    (x, F, _), (origin, _, axes) = as_built(body), frame(kind, built)
    return axes.T @ (x + F @ body.com - origin)


def has_quaternion(kind):
    return kind in ("RigidBody", "ScalableBody")


def displaced(kind, q, step, com):
    """q after a displacement: rotations by the angle 2 atan(|a|/2) about a, the centre of mass (local) moves straight on."""
    if not has_quaternion(kind):
        return q + step
    turn = np.array([1.0, *(0.5 * step[3:6])])
    turned = quaternion_product(turn / np.linalg.norm(turn), q[3:7])
    arm = quaternion_matrix(q[3:7]) @ com
    x = q[:3] + arm + step[:3] + np.cross(step[3:6], arm) - quaternion_matrix(turned) @ com
    return np.concatenate([x, turned, q[7:] + step[6:]])


def velocity_between(kind, q0, q1, h, com):
    """The velocity with which q1 is reached from q0 in h."""
    if not has_quaternion(kind):
        return (q1 - q0) / h
    turn = quaternion_product(q1[3:7], q0[3:7] * (1, -1, -1, -1))
    w = 2 * turn[1:] / turn[0]
    arms = [quaternion_matrix(q[3:7]) @ com for q in (q0, q1)]
    return np.concatenate([q1[:3] + arms[1] - q0[:3] - arms[0] - np.cross(w, arms[1]), w, q1[7:] - q0[7:]]) / h


# -- what a step asks of the forces on each body -------------------------------------------------------------------------


def cloud(body):
    """Six points, each a sixth of the mass, that have the body's second moment."""
    arms = np.sqrt(3 / body.mass) * np.linalg.cholesky(body.second_moment).T
    return np.vstack([arms, -arms])


def stretching(kind, q, v, p):
    """Jacobian of the point p of a body that stretches, and its acceleration where the velocity components stay."""
    x, F, R = frame(kind, q)
    if kind == "AffineBody":
        return np.hstack([np.eye(3), np.kron(np.eye(3), p)]), np.zeros(3)
    w, r, dr = v[3:6], F @ p, R @ (v[6:9] * p)
    return np.hstack([np.eye(3), -skew(r), R * p]), np.cross(w, np.cross(w, r)) + 2 * np.cross(w, dr)


def centre_as_built(body):
    x, F, _ = as_built(body)
    return x + F @ body.com


def centre_velocity(placed):
    return point_jacobian(placed, centre_as_built(placed.body)) @ placed.v


def angular_momentum(placed):
    """About the centre of mass."""
    R = placed.Q @ placed.R0
    return R @ placed.body.inertia @ R.T @ placed.v[3:6]


def momentum_change(start, end, h):
    """start, end: the body as it is placed then."""
    body, kind, change = end.body, end.kind, end.v - start.v
    if kind in ("ScalableBody", "AffineBody"):
        total = np.zeros(len(change))
        for p in cloud(body):
            J, bias = stretching(kind, end.q, end.v, p)
            total += body.mass / 6 * J.T @ (J @ change + h * bias)
        return total
    if kind == "RigidBody":
        linear = body.mass * (centre_velocity(end) - centre_velocity(start))
        turned = np.concatenate([np.zeros(3), angular_momentum(end) - angular_momentum(start)])
        return point_jacobian(end, centre_as_built(body)).T @ linear + turned
    masses = np.full(len(change), body.mass)
    if kind.startswith("PlanarBody"):
        masses[2] = body.inertia
    return masses * change


def own_force(placed, gravity):
    """Weight, and what holds a body that stretches in shape."""
    body, kind, q, v = placed.body, placed.kind, placed.q, placed.v
    f = np.zeros(len(v))
    if kind.startswith("Planar"):
        f[:2] = body.mass * gravity[list(PLANE[kind.partition("-")[2]][:2])]
        return f
    if kind == "RigidBody":
        return point_jacobian(placed, centre_as_built(body)).T @ (body.mass * gravity)
    f[:3] = body.mass * gravity
    if kind == "ScalableBody":
        f[6:] = -body.stiffness * (q[7:] - 1) - body.damping * v[6:]
    if kind == "AffineBody":
        F, dF = q[3:].reshape(3, 3), v[3:].reshape(3, 3)
        f[3:] = -(body.stiffness * F @ (F.T @ F - np.eye(3)) + body.damping * F @ (dF.T @ F + F.T @ dF)).ravel()
    return f


# -- the whole world -----------------------------------------------------------------------------------------------------


@dataclass
class Step:
    """A step from (q0, v0), lists over the bodies, to the time t1. `rows(k, samples)` gives C and g of node k at t1 for many
    samples (q, v); `levels[k]` are "position" or "velocity"."""

    bodies: list  # elements
    kinds: list  # names
    built: list  # q of each body as built
    q0: list
    v0: list
    h: float
    t1: float
    gravity: np.ndarray
    forces: list  # (element, ends, command)
    ends: list  # of each node; -1 is the ground
    levels: list
    rows: Callable

    def __post_init__(self):
        sizes = [len(v) for v in self.v0]
        self.n, first = sum(sizes), np.concatenate([[0], np.cumsum(sizes)])
        self.parts = [np.arange(*pair) for pair in itertools.pairwise(first)]  # of each body
        self.nodes = range(len(self.ends))
        self.centres = [centre(*each) for each in zip(self.bodies, self.kinds, self.built, strict=True)]

    def split(self, x):
        return [np.asarray(x)[part] for part in self.parts]

    def moving(self, k):
        return [b for b in self.ends[k] if b >= 0]

    def placed(self, b, q, v):
        return Ground() if b < 0 else Placed(self.bodies[b], self.kinds[b], self.built[b], q[b], v[b])

    def moved(self, q, step):
        each = zip(self.kinds, q, self.split(step), self.centres, strict=True)
        return [displaced(kind, a, s, com) if s.any() else a for kind, a, s, com in each]

    def reached(self, q):
        """(q, the velocities with which it is reached)."""
        each = zip(self.kinds, self.q0, q, self.centres, strict=True)
        return q, [velocity_between(kind, a, b, self.h, com) for kind, a, b, com in each]

    def terms(self):
        """(bodies, function of (q, v) that gives something on these): together, momentum change less impulses of forces."""
        return [*[((b,), self._own_term(b)) for b in range(len(self.bodies))],
                *[([b for b in force[1] if b >= 0], self._force_term(*force)) for force in self.forces]]  # fmt: skip

    def _own_term(self, b):
        start = self.placed(b, self.q0, self.v0)

        def term(q, v):
            end = self.placed(b, q, v)
            return [momentum_change(start, end, self.h) - self.h * own_force(end, self.gravity)]

        return term

    def _force_term(self, element, ends, command):
        def term(q, v):
            found = generalised(*[self.placed(b, q, v) for b in ends], element, self.t1, command)
            return [-self.h * f for b, f in zip(ends, found, strict=True) if b >= 0]

        return term

    def lacking(self, q, v, terms=None):
        total = np.zeros(self.n)
        for bodies, term in self.terms() if terms is None else terms:
            for b, part in zip(bodies, term(q, v), strict=True):
                total[self.parts[b]] += part
        return total

    def derivative_of_lacking(self, at):
        """at(x): (q, v) of all bodies."""
        total = np.zeros((self.n, self.n))
        for term in self.terms():
            among = np.concatenate([self.parts[b] for b in term[0]])
            total += derivative(lambda x, term=term: self.lacking(*at(x), [term]), self.n, among)
        return total

    def at_position(self, k):
        return np.array([level == "position" for level in self.levels[k]])

    def off(self, k, q, v):
        """Residuals of the rows of node k: C / h, or g."""
        found = self.rows(k, [(q, v)])[0]
        return np.where(self.at_position(k), found / self.h, found)

    def directions(self, k, q, v):
        """J of node k on all bodies: dC/dq along velocities, dg/dv."""
        J = np.zeros((len(self.levels[k]), self.n))
        for b in self.moving(k):
            steps = [j * SHIFT * e for e in np.eye(len(self.parts[b])) for j, _ in STENCIL]
            carried = [(replaced(q, b, flow(self.kinds[b], q[b], x, 1.0)), v) for x in steps]
            kicked = [(q, replaced(v, b, v[b] + x)) for x in steps]
            values = np.where(self.at_position(k), self.rows(k, carried), self.rows(k, kicked))
            weights = np.array([w for _, w in STENCIL]) / SHIFT
            J[:, self.parts[b]] = np.einsum("nsm,s->mn", values.reshape(len(self.parts[b]), len(STENCIL), -1), weights)
        return J

    def jacobian(self, q, v):
        return np.vstack([np.zeros((0, self.n)), *[self.directions(k, q, v) for k in self.nodes]])

    def mass(self, q):
        """All bodies' masses at q."""
        M = np.zeros((self.n, self.n))
        for b, part in enumerate(self.parts):
            end = [Placed(self.bodies[b], self.kinds[b], self.built[b], q[b], e) for e in np.eye(len(part))]
            rest = Placed(self.bodies[b], self.kinds[b], self.built[b], q[b], np.zeros(len(part)))
            M[np.ix_(part, part)] = np.column_stack([momentum_change(rest, each, 0.0) for each in end])
        return M

    def of_centres(self, x):
        """Velocities x at the beginning, those of rigid bodies at their centres of mass."""
        found = self.split(np.array(x))
        for b, com in enumerate(self.centres):
            if self.kinds[b] == "RigidBody":
                found[b][:3] += np.cross(found[b][3:6], quaternion_matrix(self.q0[b][3:7]) @ com)
        return np.concatenate(found)

    def lack(self, q):
        """Minus the residual of a step that ends at q, without the pulls of constraints."""
        at = self.reached(q)
        return -np.concatenate([self.lacking(*at), *[self.off(k, *at) for k in self.nodes]])

    # -- the two linear systems: matrix, right-hand side -----------------------------------------------------------------
    def begin(self):
        """Linearised at (q0, v0): the unknown is the velocity at the end."""
        q, v, flat = self.q0, self.v0, np.concatenate(self.v0)
        by_shift = self.derivative_of_lacking(lambda x: (self.moved(q, x), v))
        by_kick = self.derivative_of_lacking(lambda x: (q, self.split(flat + x)))
        J = self.jacobian(q, v)
        off = np.concatenate([self.off(k, q, v) for k in self.nodes] or [np.zeros(0)])
        known = np.concatenate([self.at_position(k) for k in self.nodes] or [np.zeros(0, dtype=bool)])
        right = np.concatenate([by_kick @ flat - self.lacking(q, v), np.where(known, 0, J @ flat) - off])
        moved = [derivative(lambda x, k=k: self.off(k, self.moved(q, x), v), self.n) for k in self.nodes]
        slopes = np.where(known[:, None], 0, J) + self.h * np.vstack([np.zeros((0, self.n)), *moved])
        return _whole(by_kick + self.h * by_shift, J.T, slopes), right

    def again(self, q, y):
        """Linearised at q, reached with velocities of its own, and multipliers y of each node: the unknowns are the
        displacement that is still lacking, divided by h, and new multipliers."""

        def at(x):
            return self.reached(self.moved(q, x))

        here = at(np.zeros(self.n))
        A, rows, off = self.derivative_of_lacking(at), [np.zeros((0, self.n))], [self.lacking(*here)]
        for k in self.nodes:
            among = np.concatenate([self.parts[b] for b in self.moving(k)])
            A += derivative(lambda x, k=k: self.directions(k, *at(x)).T @ y[k], self.n, among)
            rows.append(derivative(lambda x, k=k: self.off(k, *at(x)), self.n, among))
            off.append(self.off(k, *here))
        return _whole(self.h * A, self.jacobian(*here).T, self.h * np.vstack(rows)), -np.concatenate(off)


def replaced(values, b, value):
    return [value if k == b else x for k, x in enumerate(values)]


def _whole(A, columns, rows):
    return np.block([[A, columns], [rows, np.zeros((len(rows), len(rows)))]])
