"""Motors, springs, dampers, drag and forces of users: motion in closed form."""

import math

import numpy as np
import pytest

import linkwork as lw

G = 9.81


def motored(joint, I, **motor):
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(I, np.array([0.6, 0.6, 1.0]) * I, name="wheel"))
    world.add(joint(world.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.Motor("axle", name="motor", **motor))
    return lw.Simulation(world, dt=1e-3)


joints = pytest.mark.parametrize("joint", [lw.Hinge, lw.Slider])  # mass and inertia are the same number here


@joints
def test_a_torque_motor(joint):
    sim = motored(joint, 0.5, kind="torque", limit=2.0)
    sim.control["motor"] = 1.5
    sim.step(1000)
    assert sim.rate("axle") == pytest.approx(3.0, rel=1e-10) and sim.angle("axle") == pytest.approx(1.5, rel=1e-10)
    sim.control["motor"] = -50.0
    sim.step(1000)
    assert sim.rate("axle") == pytest.approx(3.0 - 4.0, rel=1e-9)


@joints
def test_a_velocity_motor(joint):
    sim = motored(joint, 0.5, kind="velocity", kd=1.0)
    sim.control["motor"] = 4.0
    sim.step(700)
    assert sim.rate("axle") == pytest.approx(4 * (1 - math.exp(-0.7 / 0.5)), abs=2e-6)


@joints
def test_a_position_motor(joint):
    """A damped oscillator: I x'' = kp (u - x) - kd x'."""
    I, kp, kd, u = 0.5, 40.0, 2.0, 9.0
    sim = motored(joint, I, kind="position", kp=kp, kd=kd)
    sim.control["motor"] = u
    decay, t = kd / (2 * I), 1.2
    w = math.sqrt(kp / I - decay**2)
    sim.step(1200)
    expected = u * (1 - math.exp(-decay * t) * (math.cos(w * t) + decay / w * math.sin(w * t)))
    assert sim.angle("axle") == pytest.approx(expected, abs=2e-4)
    sim.step(15000)
    assert sim.angle("axle") == pytest.approx(u, abs=1e-5)


def test_a_limited_velocity_motor_accelerates_evenly_at_first():
    sim = motored(lw.Hinge, 0.5, kind="velocity", kd=10.0, limit=2.0)
    sim.control["motor"] = 100.0
    sim.step(500)
    assert sim.rate("axle") == pytest.approx(2.0, rel=1e-10)


def test_a_mass_on_a_spring_between_bodies():
    """Two particles, a spring at rest as built, stretched by a push: w^2 = k (1/m1 + 1/m2); the centre goes straight."""
    m1, m2, k, l = 1.0, 3.0, 30.0, 0.5
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(m1, name="a", velocity=(-0.3, 0.1, 0)))
    world.add(lw.Particle(m2, position=(l, 0, 0), name="b", velocity=(0.1, 0.1, 0)))
    world.add(lw.Spring("a", "b", k))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(800)
    w, t = math.sqrt(k * (1 / m1 + 1 / m2)), 0.8
    apart = sim.position("b") - sim.position("a")
    assert apart[0] == pytest.approx(l + 0.4 / w * math.sin(w * t), abs=1e-5)
    np.testing.assert_allclose((m1 * sim.position("a") + m2 * sim.position("b")) / (m1 + m2), [0.375, 0.08, 0], atol=1e-12)
    assert sim.energy().potential == pytest.approx(k / 2 * (apart[0] - l) ** 2, rel=1e-12)


def test_a_damped_spring_and_a_damper():
    """m x'' = -k x - (c1 + c2) x' about the weight's rest."""
    m, k, c = 2.0, 50.0, 4.0
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Particle(m, position=(0, 0, -1), name="mass"))
    world.add(lw.Spring(world.ground, "mass", k, rest=1.0, damping=1.0))
    world.add(lw.Damper(world.ground, "mass", c - 1.0))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(1000)
    decay, sag, t = c / (2 * m), m * G / k, 1.0
    w = math.sqrt(k / m - decay**2)
    expected = -1 - sag * (1 - math.exp(-decay * t) * (math.cos(w * t) + decay / w * math.sin(w * t)))
    assert sim.position("mass")[2] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("integrator", ["rattle", "rk4", "dopri5"])
def test_drag_brings_a_fall_to_its_terminal_velocity(integrator):
    m, c1, c2 = 0.3, 0.6, 0.05
    world = lw.World(gravity=(0, 0, -G))
    for name, drag in (("slow", {"linear": c1}), ("fast", {"quadratic": c2})):
        world.add(lw.Particle(m, name=name))
        world.add(lw.Drag(name, **drag))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    sim.step(400)
    v1, v2 = m * G / c1, math.sqrt(m * G / c2)
    assert sim.velocity("slow")[2] == pytest.approx(-v1 * (1 - math.exp(-G / v1 * 0.4)), abs=1e-5)
    assert sim.velocity("fast")[2] == pytest.approx(-v2 * math.tanh(G / v2 * 0.4), abs=1e-5)
    sim.step(8000)
    assert sim.velocity("slow")[2] == pytest.approx(-v1, abs=1e-6)
    assert sim.velocity("fast")[2] == pytest.approx(-v2, abs=1e-6)


def test_angular_drag_and_a_force_off_centre():
    I, c, T = 0.2, 0.3, 0.9
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (I, I, I), name="fan"))
    world.add(lw.Hinge(world.ground, "fan", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.Drag("fan", angular=c))
    world.add(lw.Wrench("fan", force=(0, T / 0.5, 0), at=(0.5, 0, 0), frame="body"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(900)
    assert sim.rate("axle") == pytest.approx(T / c * (1 - math.exp(-c / I * 0.9)), abs=2e-6)


def test_a_users_force_pair():
    """Gravity between two particles: a circular orbit at w^2 = K (m1 + m2) / d^3."""
    m1, m2, d, K = 2.0, 3.0, 1.5, 4.0
    w = math.sqrt(K * (m1 + m2) / d**3)
    world = lw.World(gravity=(0, 0, 0))
    share = d / (m1 + m2)
    world.add(lw.Particle(m1, position=(-m2 * share, 0, 0), velocity=(0, -w * m2 * share, 0), name="a"))
    world.add(lw.Particle(m2, position=(m1 * share, 0, 0), velocity=(0, w * m1 * share, 0), name="b"))

    def pull(a, b, t):
        apart = b.position - a.position
        return -K * m1 * m2 * apart / lw.norm(apart) ** 3

    world.add(lw.Force("a", "b", pull))
    sim = lw.Simulation(world, dt=1e-3, integrator="rk4")
    sim.step(2000)
    np.testing.assert_allclose(sim.position("b"), m1 * share * np.array([math.cos(2 * w), math.sin(2 * w), 0]), atol=1e-9)
