"""Motions, accelerations and reactions that are known in closed form (ALGORITHMS.md section 6), whatever the code says."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipk, roots_laguerre

import linkwork as lw

G = 9.81
SOLVERS = ["tree", "fronts", "dense"]
solvers = pytest.mark.parametrize("solver", SOLVERS)


def slender(mass, length, position, turned=0.0, kind="rigid", **rest):
    """A rod along its own x axis, turned right-handed about +y."""
    inertia = mass * length**2 / 12
    if kind == "planar":
        return lw.PlanarBody(mass=mass, inertia=inertia, position=(position[0], position[2]), angle=turned, **rest)
    spin = (0, rest.pop("angular_velocity", 0.0), 0)
    quaternion = (math.cos(turned / 2), 0, math.sin(turned / 2), 0)
    moments = np.array([1e-3 * inertia, inertia, inertia])
    return lw.RigidBody(mass, moments, position=position, orientation=quaternion, angular_velocity=spin, **rest)


def rods(angles, rates, mass, length, kind, joint=lw.Hinge):
    """A pendulum of rods that hang from the origin; angles from straight down, towards +x."""
    world = lw.World(gravity=(0, 0, -G))
    end, end_rate = np.zeros(3), np.zeros(3)
    before = world.ground
    for k, (angle, rate) in enumerate(zip(angles, rates, strict=True)):
        along = np.array([math.sin(angle), 0, -math.cos(angle)])
        change = rate * np.array([math.cos(angle), 0, math.sin(angle)])
        velocity = end_rate + change * length / 2
        velocity = velocity[[0, 2]] if kind == "planar" else velocity
        # the rod's x axis points along it: down is a right-handed quarter turn about y, towards +x is less
        body = slender(mass, length, end + along * length / 2, math.pi / 2 - angle, kind, name=f"rod{k}",
                       velocity=velocity, angular_velocity=-rate)  # fmt: skip
        world.add(body)
        axis = {} if joint is lw.Ball else {"axis": (0, 1, 0)}
        world.add(joint(before, body, at=end, name=f"pin{k}", **axis))
        end, end_rate, before = end + along * length, end_rate + change * length, body
    return world


# -- rods ---------------------------------------------------------------------------------------------------------
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


# -- bodies that spin ---------------------------------------------------------------------------------------------
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


# -- statics ------------------------------------------------------------------------------------------------------
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


# -- gears, screws, prescribed motion -----------------------------------------------------------------------------
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


# -- motors, springs, drag ----------------------------------------------------------------------------------------
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


# -- blows --------------------------------------------------------------------------------------------------------
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


# -- the other joints ---------------------------------------------------------------------------------------------
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
