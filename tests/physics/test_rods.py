"""Rods and chains whose accelerations, reactions, periods and blows are known in closed form (docs/papers-errata.md)."""

import math

import numpy as np
import pytest
from scipy.special import ellipk, roots_laguerre

import linkwork as lw
from tests.physics.rods import G, rods, slender, solvers


@solvers
@pytest.mark.parametrize("kind", ["rigid", "planar"])
def test_a_rod_released_horizontally(solver, kind):
    m, l = 2.0, 0.7
    sim = lw.Simulation(rods([math.pi / 2], [0], m, l, kind), solver=solver)
    assert sim.angular_acceleration("rod0")[1] == pytest.approx(1.5 * G / l, rel=1e-12)
    np.testing.assert_allclose(sim.acceleration("rod0"), [0, 0, -0.75 * G], atol=1e-12)
    np.testing.assert_allclose(sim.reaction("pin0").force, [0, 0, m * G / 4], atol=1e-12)
    np.testing.assert_allclose(sim.reaction("pin0").at, 0, atol=1e-15)


@solvers
@pytest.mark.parametrize("kind", ["rigid", "planar"])
@pytest.mark.parametrize("joint", [lw.Hinge, lw.Ball])
def test_two_rods_released_horizontally(solver, kind, joint):
    m, l = 1.3, 0.4
    sim = lw.Simulation(rods([math.pi / 2] * 2, [0, 0], m, l, kind, joint), solver=solver)
    turning = [sim.angular_acceleration(f"rod{k}")[1] for k in (0, 1)]
    np.testing.assert_allclose(turning, np.array([9, -3]) / 7 * G / l, rtol=1e-11)
    np.testing.assert_allclose(sim.reaction("pin0").force, [0, 0, 2 * m * G / 7], atol=1e-11)
    np.testing.assert_allclose(sim.reaction("pin1").force, [0, 0, -m * G / 14], atol=1e-11)
    np.testing.assert_allclose(sim.reaction("pin1", body="rod0").force, [0, 0, m * G / 14], atol=1e-11)


def rods_by_lagrange(angles, rates, m, l):
    """Angular accelerations of n hanging rods: M_ij = m l^2 (n-1-max(i,j) + 1/2, or 1/3 where i = j)."""
    n = len(angles)
    i, j = np.indices((n, n))
    M = m * l**2 * (n - 1 - np.maximum(i, j) + np.where(i == j, 1 / 3, 1 / 2))
    apart = np.subtract.outer(angles, angles)
    load = -m * G * l * (n - np.arange(n) - 0.5) * np.sin(angles)
    return np.linalg.solve(M * np.cos(apart), load - (M * np.sin(apart)) @ np.square(rates))


@solvers
@pytest.mark.parametrize("kind", ["rigid", "planar"])
def test_n_rods_accelerate_as_lagrange_says(solver, kind):
    rng = np.random.default_rng(3)
    angles, rates, m, l = rng.uniform(-3, 3, 9), rng.normal(0, 2, 9), 0.6, 0.35
    sim = lw.Simulation(rods(angles, rates, m, l, kind), solver=solver)
    assert not sim.notes
    found = [-sim.angular_acceleration(f"rod{k}")[1] for k in range(9)]
    np.testing.assert_allclose(found, rods_by_lagrange(angles, rates, m, l), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_hanging_chain_swings_at_the_roots_of_laguerre(n):
    """Accelerations at small angles are those of omega^2 = (g/l) x roots of L_n."""
    l, small = 0.25, 1e-4
    A = np.zeros((n, n))
    for k in range(n):
        world = lw.World(gravity=(0, 0, -G))
        at, before = np.zeros(3), world.ground
        for i in range(n):
            angle = small if i == k else 0.0
            at = at + l * np.array([math.sin(angle), 0, -math.cos(angle)])
            bead = world.add(lw.Particle(0.1, position=at, name=f"bead{i}"))
            world.add(lw.Distance(before, bead))
            before = bead
        sim = lw.Simulation(world)
        x = np.array([0, *[sim.acceleration(f"bead{i}")[0] for i in range(n)]])
        A[:, k] = -np.diff(x) / l / small
    found = np.sort(np.linalg.eigvals(A).real)
    np.testing.assert_allclose(found, G / l * roots_laguerre(n)[0], rtol=1e-6)


@pytest.mark.parametrize("amplitude", [0.3, 1.5, 2.9])
def test_large_swings_take_the_time_of_the_elliptic_integral(amplitude):
    m, l = 1.0, 0.5
    period = 4 * math.sqrt(2 * l / (3 * G)) * ellipk(math.sin(amplitude / 2) ** 2)
    sim = lw.Simulation(rods([amplitude], [0], m, l, "rigid"), dt=period / 2000, integrator="rk4")
    sim.step(500)
    assert sim.angle("pin0") == pytest.approx(amplitude, abs=1e-6)  # the angle is zero as built: now straight down
    sim.step(500)
    assert sim.angle("pin0") == pytest.approx(2 * amplitude, abs=1e-6)
    sim.step(1000)
    assert sim.angle("pin0") == pytest.approx(0, abs=1e-6) and sim.rate("pin0") == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(("integrator", "dt", "close"), [("rk4", 1e-3, 4e-8), ("dopri5", 1e-2, 1e-6), ("rattle", 5e-4, 2e-5)])
@pytest.mark.parametrize("held", ["distance", "constraint", "hinge"])
def test_iftomm_a01(integrator, dt, close, held):
    """REFERENCES.md section 1: m = L = 1, starts at (-1, 0) at rest, 10 s."""
    world = lw.World(gravity=(0, 0, -9.81))
    if held == "hinge":
        bob = world.add(lw.PlanarBody(1.0, 1e-9, position=(-1, 0), name="bob"))
        world.add(lw.Hinge(world.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    else:
        bob = world.add(lw.PlanarParticle(1.0, position=(-1, 0), name="bob"))
        rod = lw.Distance(world.ground, bob)
        world.add(rod if held == "distance" else lw.Constraint(bob, lambda b, t: lw.dot(b.position, b.position) - 1.0))
    sim = lw.Simulation(world, dt=dt, integrator=integrator)
    sim.step(round(10 / dt))
    np.testing.assert_allclose(sim.position("bob"), [-0.2750874626, 0, -0.9614192051], atol=close)


@solvers
def test_a_chain_in_the_shape_of_the_catenary_rests(solver):
    """tan th_{i+1} - tan th_i = m g / H, between two nails: no acceleration, tension H / cos(th)."""
    m, H, links = 0.3, 5.0, 8
    tangents = (np.arange(links) - (links - 1) / 2) * m * G / H
    directions = np.column_stack([np.ones(links), np.zeros(links), tangents])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    knots = np.vstack([np.zeros(3), np.cumsum(0.2 * directions, axis=0)])
    world = lw.World(gravity=(0, 0, -G))
    beads = [world.add(lw.Particle(m, position=knot, name=f"bead{i}")) for i, knot in enumerate(knots[1:-1])]
    for i in range(links):
        on = {"on_a": knots[0]} if i == 0 else {"on_b": knots[-1]} if i == links - 1 else {}
        ends = [world.ground, *beads, world.ground][i : i + 2]
        world.add(lw.Distance(*ends, name=f"link{i}", **on))
    sim = lw.Simulation(world, solver=solver)
    for i in range(links - 1):
        np.testing.assert_allclose(sim.acceleration(f"bead{i}"), 0, atol=1e-11)
    tension = [abs(float(sim.reaction(f"link{i}").generalised[0])) for i in range(links)]
    np.testing.assert_allclose(tension, H * np.hypot(1, tangents), rtol=1e-11)
    sim.step(200)
    np.testing.assert_allclose(sim.position("bead3"), knots[4], atol=1e-9)


@pytest.mark.parametrize("kind", ["rigid", "planar"])
def test_a_free_rod_struck_at_its_end(kind):
    m, l, J = 0.8, 0.6, 0.5
    world = lw.World()
    world.add(slender(m, l, (0, 0, 0), kind=kind, name="rod"))
    sim = lw.Simulation(world)
    sim.strike("rod", (0, 0, J), at=(l / 2, 0, 0))
    np.testing.assert_allclose(sim.velocity("rod"), [0, 0, J / m], atol=1e-12)
    np.testing.assert_allclose(sim.angular_velocity("rod"), [0, -6 * J / (m * l), 0], atol=1e-11)


@solvers
@pytest.mark.parametrize("integrator", ["rattle", "rk4"])
def test_a_hinged_rod_struck_at_its_centre_of_percussion(solver, integrator):
    m, l, J = 0.8, 0.6, 0.5
    sim = lw.Simulation(rods([0.0], [0], m, l, "rigid"), solver=solver, integrator=integrator)
    for s in (2 * l / 3, l):
        sim.reset()
        sim.strike("rod0", (J, 0, 0), at=(s - l / 2, 0, 0))
        assert sim.angular_velocity("rod0")[1] == pytest.approx(-3 * J * s / (m * l**2), rel=1e-11)
        felt = -J * (1 - 1.5 * s / l)  # what the hinge gives: nothing at two thirds
        np.testing.assert_allclose(sim.impulse("pin0")[:3], [felt, 0, 0], atol=1e-12)
        np.testing.assert_allclose(sim.velocity("rod0"), [1.5 * J * s / (m * l), 0, 0], atol=1e-11)
