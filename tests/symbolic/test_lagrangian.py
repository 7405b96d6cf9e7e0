"""Lagrangian bodies by themselves: what is derived from q(u) against differences of q(u), and against SymPy's mechanics."""

import casadi as ca
import numpy as np
import pytest
import sympy
from casadi import SX
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import linkwork as lw
from linkwork.codegen.trace import Trace
from linkwork.elements.core.registry import kind_for
from linkwork.symbolic.views import View
from tests.symbolic.probe import STENCIL, difference

H = 3e-4
CASES = 40  # random functions
G = np.array([0.3, -0.5, -9.0])


class Evaluated:
    """What a body's kind derives, as functions of u and u'."""

    def __init__(self, body, write):
        self.body, self.kind, self.trace = body, kind_for(body), Trace()
        results = write(self.kind, View(self.kind, self.trace, 1))
        self.function = ca.Function("f", self.trace.symbols, [ca.densify(SX(x)) for x in results])

    def __call__(self, u, v):
        record, kind, body = np.zeros(self.kind.record.span), self.kind, self.body
        fields = {"q": u, "v": v, "masses": body.masses, "friction": body.damping}
        if body.points is not None:
            fields["points"] = body.points.ravel()
        for name, value in fields.items():
            record[kind.record.slice(name)] = value
        found = self.function.call([ca.DM([record[k] for _, k in source]) for source in self.trace.sources])
        return [np.squeeze(x.full(), axis=1) if x.shape[1] == 1 else x.full() for x in found]


def random_body(rng):
    """(body, q): a made-up body of random size, and its particles (k, 3) as a function of numbers."""
    n, particles, material = int(rng.integers(1, 5)), int(rng.integers(2, 5)), bool(rng.integers(2))
    a, b = rng.normal(size=(3, n)), rng.normal(size=(3, n))
    points = rng.normal(size=(particles, 3)) if material else None
    shifts = rng.normal(size=(particles, 3))

    def one(u, p):
        return [sum(float(a[i, j]) * np.sin(u[j] + 0.3 * p[i]) + 0.4 * float(b[i, j]) * u[j] * u[(j + 1) % n] * p[(i + 1) % 3]
                    for j in range(n)) + p[i] for i in range(3)]  # fmt: skip

    def function(*given):
        return one(*given) if material else [one(given[0], shift) for shift in shifts.tolist()]

    def energy(u):
        return sum(np.cos(u[j]) * u[(j + 1) % n] ** 2 for j in range(n))

    body = lw.LagrangianBody(
        function, rng.uniform(0.2, 2.0, particles), coordinates=rng.normal(size=n), rates=rng.normal(size=n), points=points,
        energy=energy, damping=0.3,
    )  # fmt: skip
    return body, lambda u: np.array([one(u, p) for p in (points if material else shifts)])


@pytest.mark.parametrize("seed", range(CASES))
def test_mass_bias_and_forces_are_those_of_the_particles(seed):
    """witkin97 eqs. 12 and 13."""
    rng = np.random.default_rng([6, seed])
    body, q = random_body(rng)
    u, v = body.coordinates, body.rates
    n, m = len(u), np.repeat(body.masses, 3)
    call = Evaluated(body, lambda kind, view: [kind.mass(view), kind.inertial(view), kind.weight(view, SX(ca.DM(G))),
                                               kind.potential(view, SX(ca.DM(G))), kind.kinetic(view)])  # fmt: skip
    M, inertial, force, _, kinetic = call(u, v)
    J = np.array([difference([q(u + k * H * e).ravel() for k, _ in STENCIL], H) for e in np.eye(n)]).T
    second = (q(u - 1e-3 * v) - 2 * q(u) + q(u + 1e-3 * v)).ravel() / 1e-6
    np.testing.assert_allclose(np.reshape(M, (n, n)), J.T @ (m[:, None] * J), atol=1e-8 * (1 + np.abs(M).max()))
    np.testing.assert_allclose(inertial, -J.T @ (m * second), atol=1e-4 * (1 + np.abs(inertial).max()))
    np.testing.assert_allclose(kinetic, [0.5 * np.sum(m * (J @ v) ** 2)], rtol=1e-8)
    slope = [difference([call(u + k * H * e, v)[3] for k, _ in STENCIL], H)[0] for e in np.eye(n)]
    np.testing.assert_allclose(force, -np.array(slope) - 0.3 * v, atol=1e-7 * (1 + np.abs(force).max()))
    weight = call(u, 0 * v)[2] - Evaluated(body, lambda kind, view: [kind.weight(view, SX(3, 1))])(u, 0 * v)[0]
    pull = m * np.tile(G, len(body.masses))
    np.testing.assert_allclose(weight, J.T @ pull, atol=1e-7 * (1 + np.abs(weight).max()))


@pytest.mark.parametrize("seed", range(CASES))
def test_points_and_their_derivatives(seed):
    rng = np.random.default_rng([7, seed])
    body, q = random_body(rng)
    k = int(rng.integers(len(body.masses)))
    local, n, kind = body.point(k), body.dim, kind_for(body)
    given = SX.sym("local", 3)
    call = Evaluated(body, lambda kind, view: [x for primitive in [view.point(SX(ca.DM(local)))]
                                               for x in (primitive.value, primitive.jacobian, primitive.rate, primitive.bias)])  # fmt: skip
    u, v = body.coordinates, body.rates
    value, J, rate, bias = call(u, v)
    np.testing.assert_allclose(value, q(u)[k], atol=1e-12)
    expected = np.array([difference([q(u + i * H * e)[k] for i, _ in STENCIL], H) for e in np.eye(n)]).T
    np.testing.assert_allclose(np.reshape(J, (3, n)), expected, atol=1e-8)
    np.testing.assert_allclose(rate, expected @ v, atol=1e-8)
    np.testing.assert_allclose(bias, difference([call(u + i * H * v, v)[2] for i, _ in STENCIL], H), atol=1e-7)
    by_name = (
        ca.Function("f", [given], [kind.place(SX(ca.DM(u)), given, SX(0, 1))])(local).full().ravel()
    )  # its number at run time
    np.testing.assert_array_equal(by_name, value)


def test_an_implicit_step_asks_for_the_change_of_the_particles_momentum():
    rng = np.random.default_rng(8)
    body, q = random_body(rng)
    before = (rng.normal(size=body.dim), rng.normal(size=body.dim))

    class At:
        def __init__(self, view, u, v):
            self.view, self.q, self.v, self.field = view, SX(ca.DM(u)), SX(ca.DM(v)), view.field

    call = Evaluated(body, lambda kind, view: [kind.momentum_change(view, At(view, *before), SX(0.01))])
    u, v = body.coordinates, body.rates
    J, J0 = (np.array([difference([q(x + k * H * e).ravel() for k, _ in STENCIL], H) for e in np.eye(body.dim)]).T
             for x in (u, before[0]))  # fmt: skip
    expected = J.T @ (np.repeat(body.masses, 3) * (J @ v - J0 @ before[1]))
    np.testing.assert_allclose(call(u, v)[0], expected, atol=1e-7)


# -- SymPy: the same mechanics from T - V alone ------------------------------------------------------------------------
def by_sympy(u, particles, masses, energy=0):
    """u'' as a function of (u, u'), from Lagrange's equations as SymPy derives them."""
    t, gravity = dynamicsymbols._t, sympy.Matrix([0, 0, -9.81])
    speeds = [x.diff(t) for x in u]
    T = sum(m * sum(sympy.diff(c, t) ** 2 for c in x) / 2 for x, m in zip(particles, masses, strict=True))
    V = energy - sum(m * gravity.dot(sympy.Matrix(x)) for x, m in zip(particles, masses, strict=True))
    method = LagrangesMethod(T - V, u)
    method.form_lagranges_equations()
    return sympy.lambdify([u, speeds], [method.mass_matrix, method.forcing])


def double_pendulum():
    u = dynamicsymbols("a b")
    elbow = (1.3 * sympy.sin(u[0]), 0, -1.3 * sympy.cos(u[0]))
    tip = (elbow[0] + 0.6 * sympy.sin(u[1]), 0, elbow[2] - 0.6 * sympy.cos(u[1]))
    return lw.double_pendulum((1.3, 0.6), (0.8, 1.7)), by_sympy(u, [elbow, tip], (0.8, 1.7))


def helix():
    (s,) = u = [dynamicsymbols("s")]
    wire = (sympy.cos(s), sympy.sin(2 * s), sympy.sin(s) ** 2 - 0.2 * s)
    body = lw.bead_on_wire(lambda s: (lw.cos(s), lw.sin(2 * s), lw.sin(s) ** 2 - 0.2 * s), 0.4)
    return body, by_sympy(u, [wire], (0.4,))


def spherical():
    u = dynamicsymbols("theta phi r")
    theta, phi, r = u
    place = (r * sympy.sin(theta) * sympy.cos(phi), r * sympy.sin(theta) * sympy.sin(phi), -r * sympy.cos(theta))
    body = lw.LagrangianBody(
        lambda u: ((u[2] * lw.sin(u[0]) * lw.cos(u[1]), u[2] * lw.sin(u[0]) * lw.sin(u[1]), -u[2] * lw.cos(u[0])),),
        (0.7,), coordinates=(1.0, 0.3, 1.2), energy=lambda u: 20 * (u[2] - 1) ** 2,
    )  # fmt: skip
    return body, by_sympy(u, [place], (0.7,), 20 * (r - 1) ** 2)


def beam():
    """Its masses on a continuum: integrals by SymPy, not by points."""
    u, s, length = dynamicsymbols("a b"), sympy.Symbol("s"), sympy.Rational(3, 2)
    t, z = dynamicsymbols._t, u[0] * (s / length) ** 2 + u[1] * (s / length) ** 3
    T = sympy.integrate((sympy.Rational(4, 5) / length) * z.diff(t) ** 2 / 2, (s, 0, length))
    bent = sympy.integrate(25 * z.diff(s, 2) ** 2 / 2, (s, 0, length))
    fall = sympy.integrate(9.81 * (sympy.Rational(4, 5) / length) * z, (s, 0, length))
    method = LagrangesMethod(T - bent - fall, u)
    method.form_lagranges_equations()
    return lw.bending_beam(1.5, 0.8, 25.0), sympy.lambdify([u, [x.diff(t) for x in u]], [method.mass_matrix, method.forcing])


def ball():
    """A full ball: T of the whole from its second moments."""
    u = dynamicsymbols("x y z s")
    t, s = dynamicsymbols._t, u[3]
    moment = 0.6 * 0.5**2 / 5  # of mass times the square of one coordinate
    wide = (1 / sympy.sqrt(s)).diff(t)
    T = 0.6 * sum(x.diff(t) ** 2 for x in u[:3]) / 2 + moment * (2 * wide**2 + s.diff(t) ** 2) / 2
    method = LagrangesMethod(T - 0.6 * 9.81 * u[2] - 50 * sympy.log(s) ** 2 / 2, u)
    method.form_lagranges_equations()
    return (lw.squashing_ball(0.5, 0.6, 50.0),
            sympy.lambdify([u, [x.diff(t) for x in u]], [method.mass_matrix, method.forcing]))  # fmt: skip


@pytest.mark.parametrize("make", [double_pendulum, helix, spherical, beam, ball])
def test_accelerations_are_those_of_lagranges_equations(make):
    body, equations = make()
    rng = np.random.default_rng(9)
    call = Evaluated(
        body, lambda kind, view: [kind.mass(view), kind.inertial(view) + kind.weight(view, SX(ca.DM([0, 0, -9.81])))]
    )
    for _ in range(50):
        u, v = rng.uniform(0.4, 1.4, body.dim), rng.normal(size=body.dim)
        M, f = call(u, v)
        expected = [np.array(x, dtype=float) for x in equations(u, v)]
        found = np.linalg.solve(np.reshape(M, (body.dim, body.dim)), f)
        told = np.linalg.solve(expected[0], expected[1].ravel())
        np.testing.assert_allclose(found, told, rtol=1e-9, atol=1e-9)
