"""Each kind of body by itself: primitives against finite differences, mass against point masses, free flight."""

import casadi as ca
import numpy as np
import pytest
from casadi import SX

from linkwork.codegen.trace import Trace
from linkwork.symbolic.views import View
from tests.oracles import poses
from tests.symbolic.kinds import KINDS
from tests.symbolic.probe import STENCIL, difference

PRIMITIVES = ("point", "axis", "line", "normal")
H = 3e-4


def sample(kind, rng):
    """(q, v): somewhere, somehow."""
    name = kind.name
    if name in ("RigidBody", "ScalableBody"):
        q = np.concatenate([rng.normal(size=3), rng.normal(size=4), rng.uniform(0.7, 1.4, size=kind.nq - 7)])
        q[3:7] /= np.linalg.norm(q[3:7])
    elif name == "AffineBody":
        q = np.concatenate([rng.normal(size=3), (poses.turn(rng.normal(size=3)) @ np.diag(rng.uniform(0.7, 1.4, 3))).ravel()])
        q[3:] += 0.1 * rng.normal(size=9)
    else:
        q = rng.normal(size=kind.nq)
    return q, rng.normal(size=kind.nv)


class Body:
    """Expressions of one kind, as functions of q, v and its constants."""

    def __init__(self, kind, rng):
        self.kind = kind
        self.constants = {"mass": [1.7], "com": 0.2 * rng.normal(size=3), "inertia": np.array([0.31, 0.22, 0.4]),
                          "sigma": np.array([0.2, 0.03, 0.25, -0.02, 0.04, 0.3]), "stiffness": [3.0], "damping": [0.4]}  # fmt: skip
        if kind.name.startswith("PlanarBody"):
            self.constants["inertia"] = [0.31]

    def function(self, write):
        trace = Trace()
        results = write(View(self.kind, trace, 1))
        f = ca.Function("f", trace.symbols, [ca.densify(SX(r)) for r in results])

        def call(q, v):
            record = np.zeros(self.kind.record.span)
            for name, value in {**self.constants, "q": q, "v": v, "R": poses.derived(self.kind.name, q)}.items():
                if name in self.kind.record and self.kind.record[name][1]:
                    record[self.kind.record.slice(name)] = value
            found = f.call([ca.DM([record[k] for _, k in source]) for source in trace.sources])
            return [x.full() if x.shape[1] > 1 else x.full().ravel() for x in found]

        return call


CASES = [(kind, what) for kind in KINDS.values() for what in PRIMITIVES if what == "point" or kind.directions]


@pytest.mark.parametrize("kind, what", CASES, ids=[f"{k.name}-{w}" for k, w in CASES])
def test_primitives_and_their_derivatives(kind, what):
    rng = np.random.default_rng(len(kind.name))
    body = Body(kind, rng)
    local = rng.normal(size=3)
    call = body.function(lambda view: [getattr(getattr(view, what)(SX(ca.DM(local))), name)
                                       for name in ("value", "jacobian", "rate", "bias")])  # fmt: skip
    q, v = sample(kind, rng)
    value, J, rate, bias = call(q, v)
    x, F, R = poses.frame(kind.name, q)
    own = {"point": x + (F @ local if kind.directions else 0), "axis": R @ local, "line": F @ local,
           "normal": np.linalg.inv(F).T @ local}[what]  # fmt: skip
    np.testing.assert_allclose(value, own, atol=1e-13)
    along = [call(poses.flow(kind.name, q, v, k * H), v) for k, _ in STENCIL]
    np.testing.assert_allclose(rate, difference([x[0] for x in along], H), atol=1e-8)
    np.testing.assert_allclose(bias, difference([x[2] for x in along], H), atol=1e-8)
    np.testing.assert_allclose(np.reshape(J, (3, -1)) @ v, rate, atol=1e-12)
    for j, e in enumerate(np.eye(kind.nv)):
        column = difference([call(poses.flow(kind.name, q, e, k * H), v)[0] for k, _ in STENCIL], H)
        np.testing.assert_allclose(np.reshape(J, (3, -1))[:, j], column, atol=1e-8)


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.directions], ids=lambda k: k.name)
def test_the_spin_is_how_the_axes_turn(kind):
    rng = np.random.default_rng(2)
    body = Body(kind, rng)
    call = body.function(lambda view: [getattr(view.spin(), name) for name in ("value", "jacobian", "bias")])
    q, v = sample(kind, rng)
    spin, J, bias = call(q, v)
    turning = difference([poses.frame(kind.name, poses.flow(kind.name, q, v, k * H))[2] for k, _ in STENCIL], H)
    R = poses.frame(kind.name, q)[2]
    np.testing.assert_allclose(poses.skew(spin), turning @ R.T, atol=1e-8)
    np.testing.assert_allclose(np.reshape(J, (3, -1)) @ v, spin, atol=1e-12)
    np.testing.assert_allclose(
        bias, difference([call(poses.flow(kind.name, q, v, k * H), v)[0] for k, _ in STENCIL], H), atol=1e-8
    )


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.directions], ids=lambda k: k.name)
def test_the_quaternion_is_the_orientation_and_goes_on_with_it(kind):
    rng = np.random.default_rng(4)
    body = Body(kind, rng)
    call = body.function(lambda view: [getattr(view.quaternion(), name) for name in ("value", "jacobian", "rate", "bias")])
    for _ in range(20):  # every component of the quaternion is the largest somewhere
        q, v = sample(kind, rng)
        value, J, rate, bias = call(q, v)
        np.testing.assert_allclose(poses.quaternion_matrix(value), poses.frame(kind.name, q)[2], atol=1e-12)
        if abs(value[0]) < 0.05 and not kind.counts_turns:
            continue  # its sign may change
        along = [call(poses.flow(kind.name, q, v, k * H), v) for k, _ in STENCIL]
        np.testing.assert_allclose(rate, difference([x[0] for x in along], H), atol=1e-8)
        np.testing.assert_allclose(bias, difference([x[2] for x in along], H), atol=1e-8)
        np.testing.assert_allclose(np.reshape(J, (4, -1)) @ v, rate, atol=1e-12)


def point_masses(body, kind):
    """(mass, local point): particles with the body's mass, centre and moments."""
    c = body.constants
    if kind.name == "RigidBody":
        I = np.asarray(c["inertia"])
        sigma, centre = np.diag([I.sum() / 2 - x for x in I]), np.asarray(c["com"])
    elif kind.name.startswith("PlanarBody"):
        plane = poses.PLANE[kind.name[-2:]]
        sigma, centre = np.zeros((3, 3)), np.zeros(3)
        sigma[plane[0], plane[0]] = c["inertia"][0]
    elif kind.directions:
        s = c["sigma"]
        sigma, centre = np.array([[s[0], s[1], s[3]], [s[1], s[2], s[4]], [s[3], s[4], s[5]]]), np.zeros(3)
    else:
        return [(c["mass"][0], np.zeros(3))]
    values, vectors = np.linalg.eigh(sigma)
    m = c["mass"][0] / 6
    arms = [np.sqrt(max(x, 0.0) / (2 * m)) * u for x, u in zip(values, vectors.T, strict=True)]
    return [(m, centre + sign * arm) for arm in arms for sign in (1, -1)]


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda k: k.name)
def test_mass_and_inertial_force_are_those_of_point_masses(kind):
    rng = np.random.default_rng(3)
    body = Body(kind, rng)
    call = body.function(lambda view: [kind.mass(view), kind.inertial(view), kind.kinetic(view)])
    q, v = sample(kind, rng)
    M, inertial, kinetic = call(q, v)
    total, bias, energy = np.zeros((kind.nv, kind.nv)), np.zeros(kind.nv), 0.0
    for m, local in point_masses(body, kind):

        def place(q, local=local):
            x, F, _ = poses.frame(kind.name, q)
            return x + (F @ local if kind.directions else 0)

        J = np.array(
            [difference([place(poses.flow(kind.name, q, e, k * H)) for k, _ in STENCIL], H) for e in np.eye(kind.nv)]
        ).T
        steps = (-1e-3, 0.0, 1e-3)
        before, now, after = (place(poses.flow(kind.name, q, v, h)) for h in steps)
        total += m * J.T @ J
        bias -= m * J.T @ (before - 2 * now + after) / 1e-6
        energy += 0.5 * m * (J @ v) @ (J @ v)
    np.testing.assert_allclose(M, total, atol=1e-9)
    np.testing.assert_allclose(inertial, bias, atol=1e-4)
    assert abs(float(np.ravel(kinetic)[0]) - energy) < 1e-8


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda k: k.name)
def test_weight_is_the_gradient_of_the_potential(kind):
    rng = np.random.default_rng(4)
    body = Body(kind, rng)
    body.constants["damping"] = [0.0]
    g = SX(ca.DM([0.3, -1.0, -9.0]))
    call = body.function(lambda view: [kind.weight(view, g), kind.potential(view, g)])
    q, v = sample(kind, rng)
    force = call(q, v)[0]
    for j, e in enumerate(np.eye(kind.nv)):
        slope = difference([np.ravel(call(poses.flow(kind.name, q, e, k * H), v)[1]) for k, _ in STENCIL], H)
        np.testing.assert_allclose(np.ravel(force)[j], -slope[0], atol=1e-7)


def drift(body, h):
    def write(view):
        return body.kind.drift(view, view.v, SX(h))

    return body.function(write)


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.name != "ScalableBody"], ids=lambda k: k.name)
def test_free_flight_keeps_momentum_is_reversible_and_of_second_order(kind):
    rng = np.random.default_rng(5)
    body = Body(kind, rng)
    q, v = sample(kind, rng)
    mass = body.function(lambda view: [kind.mass(view)])
    forth, back = drift(body, 0.02), drift(body, -0.02)
    q1, v1 = forth(q, v)
    q0, v0 = back(q1, v1)
    np.testing.assert_allclose(q0, q, atol=1e-13)
    np.testing.assert_allclose(v0, v, atol=1e-13)

    def momentum(q, v):
        p = np.reshape(mass(q, v)[0], (kind.nv, kind.nv)) @ v
        if kind.name != "RigidBody":
            return p
        return np.concatenate([p[:3], p[3:6] + np.cross(q[:3], p[:3])])

    np.testing.assert_allclose(momentum(q1, v1), momentum(q, v), atol=1e-12)
    if kind.name == "RigidBody":
        ends = []
        for n in (20, 40, 80):
            a, b = q, v
            step = drift(body, 0.4 / n)
            for _ in range(n):
                a, b = step(a, b)
            ends.append((np.concatenate([a, b]), b @ (np.reshape(mass(a, b)[0], (6, 6)) @ b) / 2))
        ratio = np.linalg.norm(ends[0][0] - ends[1][0]) / np.linalg.norm(ends[1][0] - ends[2][0])
        assert 3.5 < ratio < 4.5
        start = v @ (np.reshape(mass(q, v)[0], (6, 6)) @ v) / 2
        assert abs(ends[2][1] - start) < 0.3 * abs(ends[1][1] - start) + 1e-13
