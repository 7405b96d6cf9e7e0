"""Tops, and bodies that roll or slide on an edge, whose motion is known in closed form (docs/papers-errata.md)."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw

G = 9.81


@pytest.mark.parametrize(("integrator", "close"), [("rattle", 2e-3), ("rk4", 2e-6), ("dopri5", 1e-6)])
def test_a_free_symmetric_body_precesses(integrator, close):
    """In the body w_perp turns at (I3 - I1) w3 / I1; in the world the axis turns about L at |L| / I1."""
    I1, I3, w = 0.4, 0.7, np.array([1.5, 0.0, 6.0])
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(2.0, (I1, I1, I3), angular_velocity=w, name="top"))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    sim.step(3000)
    L = np.array([I1, I1, I3]) * w
    turning = (I3 - I1) / I1 * w[2] * sim.time
    R = sim.frame("top")
    np.testing.assert_allclose(R.T @ sim.angular_velocity("top"),
                               [w[0] * math.cos(turning), w[0] * math.sin(turning), w[2]], atol=close)  # fmt: skip
    n, angle = L / np.linalg.norm(L), np.linalg.norm(L) / I1 * sim.time
    axis = np.array([0, 0, 1.0])
    turned = axis * math.cos(angle) + np.cross(n, axis) * math.sin(angle) + n * (n @ axis) * (1 - math.cos(angle))
    np.testing.assert_allclose(R[:, 2], turned, atol=close)


@pytest.mark.parametrize("com", [False, True])
@pytest.mark.parametrize(("integrator", "close"), [("rattle", 3e-4), ("rk4", 1e-6)])
def test_a_heavy_top_precesses_steadily(com, integrator, close):
    """I1 W^2 cos(th) - I3 w3 W + m g d = 0, I1 about the pivot."""
    m, d, inertia, I3, th, W = 1.2, 0.3, 0.02, 0.015, 0.6, 4.0
    I1 = inertia + m * d**2
    w3 = (I1 * W**2 * math.cos(th) + m * G * d) / (I3 * W)
    axis, up = np.array([math.sin(th), 0, math.cos(th)]), np.array([0, 0, 1.0])
    w = W * up + (w3 - W * math.cos(th)) * axis
    pose = (math.cos(th / 2), 0, math.sin(th / 2), 0)
    world = lw.World(gravity=(0, 0, -G))
    if com:
        body = lw.RigidBody(m, (inertia, inertia, I3), orientation=pose, angular_velocity=w, com=(0, 0, d), name="top")
    else:
        body = lw.RigidBody(m, (inertia, inertia, I3), position=d * axis, orientation=pose, velocity=np.cross(w, d * axis),
                            angular_velocity=w, name="top")  # fmt: skip
    world.add(body)
    world.add(lw.Ball(world.ground, body, at=(0, 0, 0), name="tip"))
    sim = lw.Simulation(world, dt=2e-4, integrator=integrator)
    assert not sim.notes
    # the centre of mass goes round: the tip carries the weight and the pull inwards
    pull = -m * W**2 * d * math.sin(th)
    np.testing.assert_allclose(sim.reaction("tip").force, [pull, 0, m * G], atol=1e-9)
    sim.step(5000)
    np.testing.assert_allclose(sim.frame("top")[:, 2], [math.sin(th) * math.cos(W), math.sin(th) * math.sin(W), math.cos(th)],
                               atol=close)  # fmt: skip


# -- velocity rows ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["planar", "rigid", "rigid com"])
@pytest.mark.parametrize(("integrator", "close"), [("rattle", 2e-5), ("euler", 2e-2), ("rk4", 1e-10), ("dopri5", 1e-7)])
def test_a_knife_edge_on_an_incline_goes_along_a_cycloid(kind, integrator, close):
    a, w = G * math.sin(0.4), 3.0
    world = lw.World(gravity=(a, 0, -G * math.cos(0.4)))
    if kind == "planar":
        sled = world.add(lw.PlanarBody(1.5, 0.2, plane="xy", angular_velocity=w, name="sled"))
    else:
        # the blade is under the centre of mass, wherever the frame is
        where = {"com": (0.3, 0.1, 0.2), "position": (-0.3, -0.1, -0.2)} if kind == "rigid com" else {}
        v = np.cross((0, 0, w), where.get("position", (0, 0, 0)))
        sled = world.add(lw.RigidBody(1.5, (0.1, 0.15, 0.2), angular_velocity=(0, 0, w), velocity=v, name="sled", **where))
        world.add(lw.Planar(world.ground, sled, at=(0, 0, 0), normal=(0, 0, 1), name="ice"))
    world.add(lw.Skate(sled, (1, 0, 0), at=(0, 0, 0), name="blade"))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    assert not sim.notes
    sim.step(2000)
    turn = w * sim.time
    place = sim.point("sled", getattr(sled, "com", (0, 0, 0)))
    expected = a / (2 * w**2) * np.array([math.sin(turn) ** 2, turn - math.sin(2 * turn) / 2, 0])
    np.testing.assert_allclose(place, expected, atol=close)
    assert sim.drift(velocity=True) < 1e-8 or integrator == "euler"


@pytest.mark.parametrize("integrator", ["rattle", "rk4", "dopri5", "euler"])
def test_a_ball_rolls_down_at_five_sevenths(integrator):
    slope, r, m = 0.5, 0.1, 3.0
    normal, down = np.array([math.sin(slope), 0, math.cos(slope)]), np.array([math.cos(slope), 0, -math.sin(slope)])
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(m, shape=lw.Sphere(r), position=normal * r, name="ball"))
    world.add(lw.Rolling(world.ground, "ball", r, normal=normal, name="contact"))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    a = 5 / 7 * G * math.sin(slope)
    np.testing.assert_allclose(sim.acceleration("ball"), a * down, atol=1e-12)
    force = m * G * math.cos(slope) * normal - 2 / 7 * m * G * math.sin(slope) * down
    np.testing.assert_allclose(sim.reaction("contact").force, force, atol=1e-11)
    sim.step(500)
    np.testing.assert_allclose(sim.velocity("ball"), a * sim.time * down, atol=1e-10)
    close = 1e-3 * a if integrator == "euler" else 1e-10
    np.testing.assert_allclose(sim.position("ball"), normal * r + a / 2 * sim.time**2 * down, atol=close)


@pytest.mark.parametrize(("integrator", "close"), [("rattle", 1e-5), ("rk4", 1e-9)])
@pytest.mark.parametrize("driven", ["drive", "motion"])
def test_a_ball_on_a_turntable_circles_at_two_sevenths(integrator, close, driven):
    rate, r = 5.0, 0.04
    up, x, v = np.array([0, 0, 1.0]), np.array([0.3, 0.1, r]), np.array([0.1, -0.2, 0])
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(4.0, shape=lw.Disc(1, 0.1), position=(0, 0, -0.05), angular_velocity=rate * up, name="table"))
    spin = np.cross(up, v - rate * np.cross(up, x)) / r + 0.7 * up
    world.add(lw.RigidBody(0.2, shape=lw.Sphere(r), position=x, velocity=v, angular_velocity=spin, name="ball"))
    world.add(lw.Hinge(world.ground, "table", at=(0, 0, 0), axis=up, name="axle"))
    world.add(lw.Drive("axle", rate) if driven == "drive" else lw.Motion("axle", lambda t: rate * t))
    world.add(lw.Rolling("table", "ball", r, name="contact"))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    assert not sim.notes
    sim.step(3000)
    turning = 2 / 7 * rate
    centre = x[:2] + np.array([-v[1], v[0]]) / turning
    c, s = math.cos(turning * 3), math.sin(turning * 3)
    np.testing.assert_allclose(sim.position("ball")[:2], centre + np.array([[c, -s], [s, c]]) @ (x[:2] - centre), atol=close)
    assert sim.position("ball")[2] == pytest.approx(r, abs=1e-10)
    assert sim.angle("axle") == pytest.approx(rate * 3, abs=1e-8)


def test_a_hoop_circles_steadily():
    """I3 = m r^2, I1 = m r^2/2, leaning inwards by b at the rate W: 2 w3 W cos(b) = W^2 sin(b) cos(b)/2 - (g/r) sin(b)."""
    m, r, lean, W = 0.8, 0.35, 0.3, 2.5
    axle, up = np.array([math.cos(lean), 0, math.sin(lean)]), np.array([-math.sin(lean), 0, math.cos(lean)])
    w3 = (0.5 * W**2 * math.sin(lean) * math.cos(lean) - G / r * math.sin(lean)) / (2 * W * math.cos(lean))
    w = W * math.cos(lean) * up + w3 * axle
    v = np.cross(w, r * up)
    world = lw.World(gravity=(0, 0, -G))
    turn = math.pi / 2 - lean
    x = np.array([v[1] / W, -v[0] / W, r * math.cos(lean)])
    world.add(lw.RigidBody(m, (m * r**2 / 2, m * r**2 / 2, m * r**2), position=x, velocity=v, angular_velocity=w,
                           orientation=(math.cos(turn / 2), 0, math.sin(turn / 2), 0), name="hoop"))  # fmt: skip
    world.add(lw.Rolling(world.ground, "hoop", r, axis=axle, name="rim"))
    sim = lw.Simulation(world, dt=1e-3, integrator="rk4")
    assert not sim.notes
    before = sim.energy().total
    sim.step(1000)
    c, s = math.cos(W), math.sin(W)
    np.testing.assert_allclose(sim.position("hoop"), [c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]], atol=1e-8)
    assert sim.energy().total == pytest.approx(before, abs=1e-9)


def falling_disc(t, y, m, r, I1, I3):
    """A disc that rolls: its centre, rotation matrix and angular velocity, with the contact force eliminated by hand."""
    R, w, up = y[3:12].reshape(3, 3), y[12:], np.array([0, 0, 1.0])
    e = R[:, 2]
    de = np.cross(w, e)
    u = up - (up @ e) * e
    du = -(up @ de) * e - (up @ e) * de
    length = np.linalg.norm(u)
    c = r * u / length  # from the contact to the centre
    dc = r * (du / length - u * (u @ du) / length**3)

    def skew(a):
        return np.cross(np.eye(3), a)

    inertia = I1 * np.eye(3) + (I3 - I1) * np.outer(e, e)
    # m a = F + m g with a = w' x c + w x c';  I w' + w x I w = -c x F
    known = -np.cross(w, inertia @ w) - np.cross(c, m * np.cross(w, dc) + m * G * up)
    dw = np.linalg.solve(inertia - m * skew(c) @ skew(c), known)
    return np.concatenate([np.cross(w, c), (skew(w) @ R).ravel(), dw])


@pytest.mark.parametrize(("integrator", "close"), [("rattle", 2e-4), ("rk4", 1e-7), ("dopri5", 1e-6)])
def test_a_disc_that_wobbles_rolls_as_newton_and_euler_say(integrator, close):
    m, r, I1, I3, lean = 1.1, 0.3, 0.03, 0.055, 0.4
    turn = math.pi / 2 - lean
    R = np.array([[math.cos(turn), 0, math.sin(turn)], [0, 1, 0], [-math.sin(turn), 0, math.cos(turn)]])
    w, x = R @ np.array([0.8, -0.5, 9.0]), np.array([0.1, 0.2, r * math.cos(lean)])
    up = np.array([0, 0, 1.0])
    u = up - (up @ R[:, 2]) * R[:, 2]
    start = np.concatenate([x, R.ravel(), w])
    reference = solve_ivp(falling_disc, (0, 1.5), start, "DOP853", rtol=1e-11, atol=1e-11, args=(m, r, I1, I3)).y[:, -1]
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(m, (I1, I1, I3), position=x, velocity=np.cross(w, r * u / np.linalg.norm(u)), angular_velocity=w,
                           orientation=(math.cos(turn / 2), 0, math.sin(turn / 2), 0), name="disc"))  # fmt: skip
    world.add(lw.Rolling(world.ground, "disc", r, axis=R[:, 2]))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    assert not sim.notes
    sim.step(1500)
    np.testing.assert_allclose(sim.position("disc"), reference[:3], atol=close)
    np.testing.assert_allclose(sim.frame("disc"), reference[3:12].reshape(3, 3), atol=10 * close)
