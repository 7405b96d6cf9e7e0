"""Gears, screws and prescribed motion: accelerations, torques and work in closed form."""

import math

import numpy as np
import pytest

import linkwork as lw
from tests.physics.rods import G, rods


def wheel(inertia, x=0.0, **rest):
    return lw.RigidBody(1.0, np.array([0.6, 0.6, 1.0]) * inertia, position=(x, 0, 0), **rest)


@pytest.mark.parametrize("level", ["position", "velocity"])
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("ratio", [-2.3, 0.71])
def test_geared_wheels_share_a_torque(level, flipped, ratio):
    """angle_a = ratio angle_b: the torque on a feels I_a + I_b / ratio^2."""
    Ia, Ib, T = 0.3, 0.5, 0.8
    world = lw.World(gravity=(0, 0, -G))
    for name, inertia, x in (("a", Ia, 0.0), ("b", Ib, 1.0)):
        world.add(wheel(inertia, x, name=name))
    world.add(lw.Hinge(world.ground, "a", at=(0, 0, 0), axis=(0, 0, 1), name="axle a"))
    ends = ("b", "ground") if flipped else ("ground", "b")
    world.add(lw.Hinge(*ends, at=(1, 0, 0), axis=(0, 0, 1), name="axle b"))
    world.add(lw.Gear("axle a", "axle b", ratio, level=level, name="mesh"))
    world.add(lw.Wrench("a", torque=(0, 0, T)))
    sim = lw.Simulation(world, dt=1e-3)
    alpha = T / (Ia + Ib / ratio**2)
    assert sim.angular_acceleration("a")[2] == pytest.approx(alpha, rel=1e-12)
    sim.step(6000)
    assert sim.angle("axle a") == pytest.approx(18 * alpha, rel=1e-9)
    assert sim.angle("axle b") == pytest.approx(18 * alpha / ratio, rel=1e-9)
    # seen from the ground the angle of a hinge whose second body is the ground runs the other way
    assert sim.angular_velocity("b")[2] == pytest.approx((-1 if flipped else 1) * sim.rate("axle b"), rel=1e-9)


@pytest.mark.parametrize("pitch", [0.05, -1.5])
@pytest.mark.parametrize("integrator", ["rattle", "rk4", "euler"])
def test_a_nut_falls_down_its_thread(pitch, integrator):
    m, I = 0.5, 2e-3
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(m, (I, I, I), position=(0.2, 0, 0), name="nut"))
    world.add(lw.Screw(world.ground, "nut", at=(0.2, 0, 0), axis=(0, 0, 1), pitch=pitch, name="thread"))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    a = -G / (1 + I * (2 * math.pi / pitch) ** 2 / m)
    np.testing.assert_allclose(sim.acceleration("nut"), [0, 0, a], atol=1e-11)
    sim.step(2000)
    close = 2e-3 if integrator == "euler" else 1e-9
    assert sim.position("nut")[2] == pytest.approx(2 * a, rel=close)
    assert sim.angle("thread") == pytest.approx(2 * a * 2 * math.pi / pitch, rel=close)


def test_a_drive_turns_as_told_and_says_the_torque():
    I = 0.4
    world = lw.World()
    world.add(wheel(I, name="wheel"))
    world.add(lw.Hinge(world.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.Drive("axle", lambda t: 2 * lw.sin(3 * t), name="drive"))
    sim = lw.Simulation(world, dt=1e-3)
    assert sim.reaction("drive").torque[2] == pytest.approx(I * 6, rel=1e-12)
    sim.step(1000)
    assert sim.rate("axle") == pytest.approx(2 * math.sin(3), abs=1e-10)
    assert sim.angle("axle") == pytest.approx(2 / 3 * (1 - math.cos(3)), abs=2e-6)
    assert sim.reaction("drive").torque[2] == pytest.approx(I * 6 * math.cos(3), rel=1e-9)
    assert sim.energy().work == pytest.approx(sim.energy().kinetic, abs=1e-5)


def test_a_prescribed_arm_lifts_its_weight():
    m, l = 2.0, 0.6
    world = rods([math.pi / 2], [0], m, l, "rigid")
    world.add(lw.Motion("pin0", lambda t: -0.5 * t**2, name="lift"))
    sim = lw.Simulation(world, dt=1e-3)
    for _ in range(2):
        t = sim.time
        up = 0.5 * t**2  # about -y, from horizontal
        torque = -(m * l**2 / 3 + m * G * l / 2 * math.cos(up))
        assert sim.reaction("lift").torque[1] == pytest.approx(torque, rel=1e-9)
        assert sim.angle("pin0") == pytest.approx(-up, abs=1e-10)
        sim.step(1500)
    rise = sim.energy().total
    assert sim.energy().work == pytest.approx(rise, rel=1e-5)


def test_a_carried_point_follows_its_path():
    """A particle on a prescribed circle: the force is m (a - g)."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Particle(0.5, position=(1, 0, 0), velocity=(0, 2, 0), name="bead"))
    world.add(lw.Motion("bead", lambda t: (lw.cos(2 * t), lw.sin(2 * t), t**3), name="path"))
    sim = lw.Simulation(world, dt=1e-2)
    sim.step(70)
    t = sim.time
    np.testing.assert_allclose(sim.position("bead"), [math.cos(2 * t), math.sin(2 * t), t**3], atol=1e-12)
    np.testing.assert_allclose(sim.velocity("bead"), [-2 * math.sin(2 * t), 2 * math.cos(2 * t), 3 * t**2], atol=1e-12)
    force = 0.5 * np.array([-4 * math.cos(2 * t), -4 * math.sin(2 * t), 6 * t + G])
    np.testing.assert_allclose(sim.reaction("path").force, force, rtol=1e-11)
