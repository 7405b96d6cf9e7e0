"""Identities of physics on random trees of mixed joints."""

import numpy as np
import pytest

import linkwork as lw

from .forests import TURNING, random_state, random_world

R = lw.reduced
SEEDS = range(6)
H = 1e-6  # s: the step of central differences, whose errors are near 1e-9


def case(seed, **options):
    tree = R.compile(random_world(seed, **options))
    return tree, *random_state(tree, seed)


def along(tree, function, q, qd):
    """The derivative of a function of q when q moves with qd."""
    return (function(R.integrate(tree, q, qd, H)) - function(R.integrate(tree, q, qd, -H))) / (2 * H)


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_half_qd_H_qd(seed):
    tree, q, qd, _ = case(seed)
    assert np.isclose(0.5 * qd @ R.crba(tree, q) @ qd, R.energy(tree, q, qd)[0], rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_H_is_the_sum_of_what_the_bodies_bring(seed):
    tree, q, _, _ = case(seed)
    total = np.zeros((tree.nv, tree.nv))
    for body, rotation in zip(tree.world.bodies, R.forward_kinematics(tree, q).rotation, strict=True):
        J = R.jacobian(tree, q, body, body.com)
        total += body.mass * J[:3].T @ J[:3] + J[3:].T @ rotation @ body.inertia @ rotation.T @ J[3:]
    assert np.allclose(R.crba(tree, q), total, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_aba_undoes_rnea(seed):
    tree, q, qd, qdd = case(seed)
    wrenches = np.random.default_rng(seed).normal(size=(len(tree.bodies), 6))
    tau = R.rnea(tree, q, qd, qdd, wrenches=wrenches)
    assert np.allclose(R.aba(tree, q, qd, tau, wrenches=wrenches), qdd, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_rnea_is_H_qdd_and_the_bias(seed):
    tree, q, qd, qdd = case(seed)
    bias = R.rnea(tree, q, qd, np.zeros(tree.nv))
    assert np.allclose(R.rnea(tree, q, qd, qdd), R.crba(tree, q) @ qdd + bias, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_is_the_gradient_of_the_potential(seed):
    tree, q, _, _ = case(seed)
    rest = np.zeros(tree.nv)
    slopes = [along(tree, lambda at: R.energy(tree, at, rest)[1], q, e) for e in np.eye(tree.nv)]
    assert np.allclose(R.rnea(tree, q, rest, rest), slopes, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_the_change_of_energy(seed):
    """With any motion q', qdd: tau . qd = d(T + V)/dt."""
    tree, q, qd, qdd = case(seed)

    def total(step):
        return R.energy(tree, R.integrate(tree, q, qd + 0.5 * step * qdd, step), qd + step * qdd).sum()

    assert np.isclose(R.rnea(tree, q, qd, qdd) @ qd, (total(H) - total(-H)) / (2 * H), atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_H_rate_less_twice_C_is_skew(seed):
    """C(q, v) from Christoffel's symbols, which are the polar form of the bias; where qd = dq/dt."""
    tree, q, v, _ = case(seed, kinds=TURNING, floating=0, n=6)
    rest = np.zeros(tree.nv)
    weight = R.rnea(tree, q, rest, rest)

    def bias(qd):
        return R.rnea(tree, q, qd, rest) - weight

    C = np.array([0.5 * (bias(v + e) - bias(v) - bias(e)) for e in np.eye(tree.nv)]).T
    skew = along(tree, lambda at: R.crba(tree, at), q, v) - 2 * C
    assert np.allclose(C @ v, bias(v), atol=1e-10)
    assert np.allclose(skew, -skew.T, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_wrenches_do_the_work_of_their_forces(seed):
    tree, q, qd, _ = case(seed)
    rest = np.zeros(tree.nv)
    wrenches = np.random.default_rng(seed).normal(size=(len(tree.bodies), 6))
    pushed = R.rnea(tree, q, rest, rest) - R.rnea(tree, q, rest, rest, wrenches=wrenches)
    on_links = [k for k, (_, link, _) in enumerate(tree.bodies) if link >= 0]
    assert np.isclose(pushed @ qd, sum(wrenches[k] @ R.velocities(tree, q, qd)[k] for k in on_links))


@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_and_jacobians_are_derivatives(seed):
    tree, q, qd, _ = case(seed)
    moved = along(tree, lambda at: R.forward_kinematics(tree, at).position, q, qd)
    assert np.allclose(R.velocities(tree, q, qd)[:, :3], moved, atol=1e-7)
    turned = along(tree, lambda at: R.forward_kinematics(tree, at).rotation, q, qd)
    for body, rotation, rate, w in zip(
        tree.world.bodies, R.forward_kinematics(tree, q).rotation, turned, R.velocities(tree, q, qd)[:, 3:], strict=True
    ):
        assert np.allclose(np.cross(w, rotation.T).T, rate, atol=1e-7)
        J = R.jacobian(tree, q, body)
        assert np.allclose(J @ qd, R.velocities(tree, q, qd)[tree.body(body)], atol=1e-12)
        point = (0.1, -0.2, 0.3)
        change = along(tree, lambda at, body=body, point=point: R.jacobian(tree, at, body, point), q, qd)
        assert np.allclose(R.jacobian_rate(tree, q, qd, body, point), change, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_moves_the_centre_of_mass(seed):
    tree, q, qd, _ = case(seed)
    moving = [body for body, link, _ in tree.bodies if link >= 0]
    mass = sum(body.mass for body in moving)
    P = R.centroidal_momentum(tree, q, qd)
    assert np.allclose(P[:3], mass * along(tree, lambda at: R.centre_of_mass(tree, at), q, qd), atol=1e-6)
    poses, speeds, com = R.forward_kinematics(tree, q), R.velocities(tree, q, qd), R.centre_of_mass(tree, q)
    spin = np.zeros(3)
    for body in moving:
        k = tree.body(body)
        turn, w = poses.rotation[k], speeds[k, 3:]
        arm = poses.position[k] + turn @ body.com - com
        spin += turn @ body.inertia @ turn.T @ w + body.mass * np.cross(arm, speeds[k, :3] + np.cross(w, turn @ body.com))
    assert np.allclose(P[3:], spin, atol=1e-10)
    assert np.allclose(R.centroidal_momentum_matrix(tree, q) @ qd, P, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_on_the_manifold(seed):
    tree, q, qd, _ = case(seed)
    moved = R.integrate(tree, q, qd, 0.3)
    assert np.allclose(R.difference(tree, q, moved), 0.3 * qd, atol=1e-12)
    assert np.allclose(R.integrate(tree, q, R.difference(tree, q, moved)), moved, atol=1e-12)
    assert np.allclose(R.integrate(tree, R.neutral(tree), 0 * qd), R.neutral(tree), rtol=1e-15, atol=1e-15)


def test_armature_and_damping():
    world = random_world(1, kinds=("Hinge", "Ball"), floating=1)
    plain = R.compile(world)
    joints = [link.element for link in plain.links]
    armature, damping = {j: 0.1 + k for k, j in enumerate(joints)}, {j: 1.0 + k for k, j in enumerate(joints)}
    tree = R.compile(world, armature=armature, damping=damping)
    q, qd, qdd = random_state(tree, 1)
    each, slow = (
        np.concatenate([np.full(link.kind.nv, by[link.element]) for link in tree.links]) for by in (armature, damping)
    )
    assert np.allclose(R.crba(tree, q), R.crba(plain, q) + np.diag(each))
    tau = R.rnea(tree, q, qd, qdd)
    assert np.allclose(tau, R.rnea(plain, q, qd, qdd) + each * qdd + slow * qd)
    assert np.allclose(R.aba(tree, q, qd, tau), qdd, rtol=1e-10)
    assert np.isclose(0.5 * qd @ R.crba(tree, q) @ qd, R.energy(tree, q, qd)[0])
