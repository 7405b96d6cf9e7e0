"""Things that roll and spin on a floor by contact: a coin and a rattleback against their own equations of motion, a tippe top
against Jellett's integral."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw

G = 9.81
UP = np.array([0.0, 0.0, 1.0])


def rolling(t, y, mass, inertia, arm):
    """A body that rolls: its centre, rotation matrix and angular velocity. arm(R): from the centre of mass to where it touches.

    v = -w x r, so m a = F - m g = -m (w' x r + w x r'), and I w' + w x I w = r x F."""
    R, w, step = y[3:12].reshape(3, 3), y[12:], 1e-6
    turning = np.cross(np.eye(3), w) @ R
    r, rate = arm(R), (arm(R + step * turning) - arm(R - step * turning)) / (2 * step)
    I, across = R @ inertia @ R.T, np.cross(np.eye(3), arm(R))
    torque = -np.cross(w, I @ w) + np.cross(r, mass * (G * UP - np.cross(w, rate)))
    return np.concatenate([-np.cross(w, r), turning.ravel(), np.linalg.solve(I - mass * across @ across, torque)])


def reference(centre, R, w, mass, inertia, arm, times):
    start = np.concatenate([centre, R.ravel(), w])
    return solve_ivp(
        rolling, (0, times[-1]), start, "DOP853", rtol=1e-10, atol=1e-10, args=(mass, inertia, arm), t_eval=times
    ).y


def on_a_floor(body, collider, friction):
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(body)
    shape, place = collider
    world.add(lw.Collider(body, shape, position=place))
    world.add(lw.Contact(friction=friction))
    return world


def errors(world, steps, times, seen, wanted):
    """The largest difference at these times, with as many steps between two of them."""
    sim, worst = lw.Simulation(world, dt=(times[1] - times[0]) / steps), 0.0
    for k in range(1, len(times)):
        sim.step(steps)
        worst = max(worst, np.abs(seen(sim) - wanted[k]).max())
    assert not sim.notes
    return worst


def test_a_coin_that_rolls_in_a_circle_goes_where_newton_and_euler_say():
    """The lower rim lies in the plane of the centre of mass, so that it is a disc without thickness. First order in dt."""
    mass, radius, thick, lean = 0.1, 0.1, 0.01, 0.4
    inertia = mass * radius**2 * np.diag([0.25, 0.25, 0.5])
    turn = np.pi / 2 - lean
    R = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    centre, w = radius * np.cos(lean) * UP, R @ np.array([0.8, -0.5, 15.0])

    def arm(R):
        down = (UP @ R[:, 2]) * R[:, 2] - UP
        return radius * down / np.linalg.norm(down)

    times = np.linspace(0, 1.5, 16)
    wanted = reference(centre, R, w, mass, inertia, arm, times)[:3].T

    def off(steps):
        coin = lw.RigidBody(mass, inertia, position=centre, orientation=(np.cos(turn / 2), 0, np.sin(turn / 2), 0),
                            velocity=-np.cross(w, arm(R)), angular_velocity=w, name="coin")  # fmt: skip
        world = on_a_floor(coin, (lw.Cylinder(radius, thick), (0, 0, thick / 2)), 3.0)
        return errors(world, steps, times, lambda sim: sim.position("coin"), wanted)

    coarse, fine = off(100), off(400)
    assert coarse < 5e-3 and fine < 0.5 * coarse


@pytest.mark.parametrize("spin", [-4.0, 4.0])
def test_a_rattleback_turns_round_in_one_direction_alone(spin):
    """An ellipsoid whose axes of inertia are turned by 5 degrees against its own: it rattles, stops and spins the other way when
    spun clockwise, and spins on when not. First order in dt."""
    axes, mass, skew = np.array([0.10, 0.02, 0.015]), 0.2, np.radians(5)
    Q = np.array([[np.cos(skew), -np.sin(skew), 0], [np.sin(skew), np.cos(skew), 0], [0, 0, 1]])
    inertia = Q @ np.diag([2.5e-5, 4.2e-4, 4.3e-4]) @ Q.T
    centre, w = axes[2] * UP, np.array([0.02, 0, spin])

    def arm(R):
        d = -R.T @ UP
        return R @ (axes**2 * d / np.sqrt(axes**2 * d @ d))

    times = np.linspace(0, 4, 41)
    wanted = reference(centre, np.eye(3), w, mass, inertia, arm, times)[14]
    assert wanted[-1] == pytest.approx(4.0, rel=1e-2), "reversed, or kept"

    def off(steps):
        body = lw.RigidBody(mass, inertia, position=centre, velocity=-np.cross(w, -centre), angular_velocity=w, name="stone")
        world = on_a_floor(body, (lw.Ellipsoid(*(2 * axes)), (0, 0, 0)), 3.0)
        return errors(world, steps, times, lambda sim: sim.angular_velocity("stone")[2], wanted)

    coarse, fine = off(100), off(400)
    assert coarse < 0.25 and fine < 0.06
    assert spin > 0 or fine < 0.35 * coarse


def test_a_tippe_top_turns_over_and_keeps_jelletts_integral():
    """Friction at a spherical foot leaves L . r unchanged, r from where it touches to the centre of mass, whatever its law: so it
    ends upside down with the spin w (cos th - a) / (1 + a)."""
    radius, low, mass, tilt, spin = 0.02, 0.2, 0.01, 0.2, 150.0
    inertia = 0.4 * mass * radius**2 * np.diag([0.95, 0.95, 1.0])
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    top = lw.RigidBody(mass, inertia, position=radius * UP - low * radius * axis, orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
                       angular_velocity=spin * axis, name="top")  # fmt: skip
    sim = lw.Simulation(on_a_floor(top, (lw.Sphere(radius), (0, 0, low * radius)), 0.3), dt=1e-3)

    def jellett():
        R = sim.frame("top")
        return R @ inertia @ R.T @ sim.angular_velocity("top") @ (UP - low * R[:, 2])

    start, energies = jellett(), [sim.energy().total]
    for _ in range(40):
        sim.step(100)
        energies.append(sim.energy().total)
        assert jellett() == pytest.approx(start, rel=2e-4)
    assert np.diff(energies).max() < 0
    assert sim.frame("top")[2, 2] < np.cos(np.radians(170))
    assert sim.angular_velocity("top")[2] == pytest.approx(spin * (np.cos(tilt) - low) / (1 + low), rel=1e-2)
