"""The joints beside hinges and balls, and beads on curves: accelerations, reactions and motion in closed form."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwork as lw
from tests.physics.rods import G, rods, solvers


def test_a_cardan_shaft_turns_unevenly():
    """Shafts at the angle b: tan(out) = cos(b) tan(in)."""
    b, rate = 0.5, 2.0
    out = np.array([math.cos(b), math.sin(b), 0])
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(-0.5, 0, 0), name="in"))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=0.5 * out, name="out"))
    world.add(lw.Hinge(world.ground, "in", at=(-0.5, 0, 0), axis=(1, 0, 0), name="axle"))
    world.add(lw.Universal("in", "out", at=(0, 0, 0), first=(0, 0, 1), second=(-math.sin(b), math.cos(b), 0), name="cross"))
    world.add(lw.PointOnLine(world.ground, "out", at=out, axis=out, name="bearing"))
    world.add(lw.Drive("axle", rate))
    with pytest.warns(lw.Note):
        sim = lw.Simulation(world, dt=1e-3, integrator="rk4")
    for _ in range(4):
        sim.step(300)
        turn = rate * sim.time
        speed = rate * math.cos(b) / (1 - (math.sin(b) * math.sin(turn)) ** 2)
        np.testing.assert_allclose(sim.angular_velocity("out"), speed * out, atol=1e-7)


@solvers
def test_a_block_slides_down_and_swings_a_pendulum(solver):
    """Slider on an incline; then the cart and pendulum of Lagrange."""
    M, m, l, th = 2.0, 0.7, 0.5, 0.8
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(M, (0.1, 0.1, 0.1), name="cart"))
    world.add(lw.Slider(world.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0), name="rail"))
    end = np.array([math.sin(th), 0, -math.cos(th)])
    world.add(lw.Particle(m, position=l * end, velocity=1.3 * l * np.array([math.cos(th), 0, math.sin(th)]), name="bob"))
    world.add(lw.Distance("cart", "bob", name="string"))
    sim = lw.Simulation(world, solver=solver)
    A = np.array([[M + m, m * l * math.cos(th)], [m * l * math.cos(th), m * l**2]])
    x, turn = np.linalg.solve(A, [m * l * 1.3**2 * math.sin(th), -m * G * l * math.sin(th)])
    np.testing.assert_allclose(sim.acceleration("cart"), [x, 0, 0], atol=1e-11)
    bob = [x + l * (turn * math.cos(th) - 1.3**2 * math.sin(th)), 0, l * (turn * math.sin(th) + 1.3**2 * math.cos(th))]
    np.testing.assert_allclose(sim.acceleration("bob"), bob, atol=1e-11)
    held = sim.reaction("rail").force  # carries both weights and what the bob takes up
    assert held[2] == pytest.approx((M + m) * G + m * bob[2], rel=1e-11) and held[0] == pytest.approx(0, abs=1e-11)


def test_a_slider_on_an_incline():
    slope = 0.6
    along = np.array([math.cos(slope), 0, -math.sin(slope)])
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.5, (0.1, 0.2, 0.3), position=(0.3, 0.1, 0.2), name="block"))
    world.add(lw.Slider(world.ground, "block", at=(0, 0, 0), axis=along, name="rail"))
    sim = lw.Simulation(world, dt=1e-3)
    a = G * math.sin(slope)
    normal = np.array([math.sin(slope), 0, math.cos(slope)])
    np.testing.assert_allclose(sim.reaction("rail").force, 1.5 * G * math.cos(slope) * normal, atol=1e-12)
    sim.step(400)
    assert sim.angle("rail") == pytest.approx(a * 0.08, rel=1e-10) and sim.rate("rail") == pytest.approx(a * 0.4, rel=1e-10)
    np.testing.assert_allclose(sim.orientation("block"), [1, 0, 0, 0], atol=1e-12)


def test_a_cylinder_falls_along_and_spins_about():
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.2, 0.1, 0.3), angular_velocity=(0, 0, 40.0), name="sleeve"))
    world.add(lw.Cylindrical(world.ground, "sleeve", at=(0, 0, 0), axis=(0, 0, 1), name="pole"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(1000)
    np.testing.assert_allclose(sim.position("sleeve"), [0, 0, -G / 2], atol=1e-10)
    assert sim.angle("pole") == pytest.approx(40.0, rel=2e-8)  # a flight turns by a series to the 6th power


def test_a_puck_slides_and_turns_in_its_plane():
    world = lw.World(gravity=(0.5, 0, -G))
    world.add(lw.RigidBody(2.0, (0.2, 0.1, 0.3), velocity=(0, 1, 0), angular_velocity=(0, 0, 3.0), name="puck"))
    world.add(lw.Planar(world.ground, "puck", at=(0, 0, 0), normal=(0, 0, 1), name="ice"))
    sim = lw.Simulation(world, dt=1e-3)
    np.testing.assert_allclose(sim.reaction("ice").force, [0, 0, 2 * G], atol=1e-12)
    sim.step(1000)
    np.testing.assert_allclose(sim.position("puck"), [0.25, 1, 0], atol=1e-10)
    np.testing.assert_allclose(sim.angular_velocity("puck"), [0, 0, 3], atol=1e-10)


@solvers
def test_welded_rods_are_one_rod(solver):
    m, l, angle, steps = 0.7, 0.4, 1.1, 700
    one = lw.Simulation(rods([angle], [0.5], 2 * m, 2 * l, "rigid"), solver=solver)
    world = rods([angle, angle], [0.5, 0.5], m, l, "rigid")
    world.remove("pin1")
    world.add(lw.Weld("rod0", "rod1", name="weld"))
    two = lw.Simulation(world, solver=solver)
    np.testing.assert_allclose(two.reaction("pin0").force, one.reaction("pin0").force, atol=1e-11)
    one.step(steps)
    two.step(steps)
    # the same up to the flights of the parts: both are of second order
    np.testing.assert_allclose(two.orientation("rod1"), one.orientation("rod0"), atol=2e-6)
    for body in ("rod0", "rod1"):
        np.testing.assert_allclose(two.angular_acceleration(body), one.angular_acceleration("rod0"), atol=2e-4)


def test_a_bracket_carries_a_weight():
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(3.0, (0.2, 0.1, 0.25), position=(0.5, 0.2, 0), name="bracket"))
    world.add(lw.Weld(world.ground, "bracket", at=(0, 0, 0), name="bolts"))
    sim = lw.Simulation(world)
    np.testing.assert_allclose(sim.reaction("bolts").force, [0, 0, 3 * G], atol=1e-11)
    np.testing.assert_allclose(sim.reaction("bolts").torque, np.cross((0.5, 0.2, 0), (0, 0, 3 * G)), atol=1e-11)
    sim.step(100)
    np.testing.assert_allclose(sim.position("bracket"), [0.5, 0.2, 0], atol=1e-12)


# -- beads --------------------------------------------------------------------------------------------------------
def test_a_bead_on_a_cycloid_takes_the_same_time_from_anywhere():
    """x = r (s + sin s), z = -r cos s: the period is 4 pi sqrt(r / g) whatever the height (Huygens)."""
    r = 0.3
    quarter = math.pi * math.sqrt(r / G)

    def curve(p):  # on the side x > 0
        c = -p[2] / r
        sine = lw.sqrt(1 - c * c)
        return (p[0] - r * (lw.atan2(sine, c) + sine), p[1])

    for start in (0.9, 1.3):
        world = lw.World(gravity=(0, 0, -G))
        x = np.array([r * (start + math.sin(start)), 0, -r * math.cos(start)])
        world.add(lw.Particle(1.0, position=x, name="bead"))
        world.add(lw.PointOnCurve(world.ground, "bead", curve, name="wire"))
        sim = lw.Simulation(world, dt=quarter / 1000, integrator="rk4")
        sim.step(700)
        # sin(s/2) swings harmonically at sqrt(g / 4r)
        half = math.sin(start / 2) * math.cos(math.sqrt(G / (4 * r)) * sim.time)
        s = 2 * math.asin(half)
        np.testing.assert_allclose(sim.position("bead"), [r * (s + math.sin(s)), 0, -r * math.cos(s)], atol=1e-8)


def test_a_bead_on_a_turning_hoop_rests_where_it_should():
    """cos(th) = g / (w^2 r), on a curve that a driven body carries."""
    r, w = 0.4, 9.0
    th = brentq(lambda x: math.cos(x) - G / (w**2 * r), 0, math.pi / 2)
    x = r * np.array([math.sin(th), 0, -math.cos(th)])
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, w), name="hoop"))
    world.add(lw.Hinge(world.ground, "hoop", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.Drive("axle", w))
    world.add(lw.Particle(0.2, position=x, velocity=(0, w * x[0], 0), name="bead"))
    world.add(lw.PointOnCurve("hoop", "bead", lambda p: ((lw.dot(p, p) - r**2) / (2 * r), p[1]), name="wire"))
    sim = lw.Simulation(world, dt=1e-3, integrator="rk4")
    assert not sim.notes
    sim.step(500)
    turned = w * sim.time
    np.testing.assert_allclose(sim.position("bead"), [x[0] * math.cos(turned), x[0] * math.sin(turned), x[2]], atol=1e-8)
