"""Small motions with a reference that shares nothing with linkwork: each is an ordinary differential equation in
coordinates of its own (rotation matrices, angles), integrated by SciPy's DOP853.

A problem has `world()`, `observe(sim)` (a vector) and `reference` (that vector at `seconds`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.integrate import solve_ivp

import linkwork as lw

G = 9.81


def skew(a):
    return np.cross(np.eye(3), a)


def turn(axis, angle):
    """(quaternion, matrix) of a rotation."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    K = skew(axis)
    return (math.cos(angle / 2), *(math.sin(angle / 2) * axis)), np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


@dataclass
class Problem:
    name: str
    world: Callable
    observe: Callable
    rates: Callable  # t, y -> y'
    start: np.ndarray
    told: Callable  # t, y -> what `observe` gives
    seconds: float = 0.8
    features: tuple = ()
    dt: float = 0.01
    options: dict = field(default_factory=dict)

    @cached_property
    def reference(self):
        y = solve_ivp(self.rates, (0, self.seconds), self.start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        return np.asarray(self.told(self.seconds, y))

    def error(self, integrator, dt, solver="tree", **options):
        sim = lw.Simulation(self.world(), dt=dt, integrator=integrator, solver=solver, **options)
        assert integrator == "first-order" or not sim.notes, sim.notes
        sim.step(round(self.seconds / dt))
        return float(np.abs(self.observe(sim) - self.reference).max())


def rigid_view(name, velocity=True):
    def observe(sim):
        parts = [sim.position(name), sim.frame(name).ravel()]
        return np.concatenate([*parts, sim.velocity(name), sim.angular_velocity(name)] if velocity else parts)

    return observe


# -- holonomic: a spinning top with three different moments, with and without air ---------------------------------
def top(drag=0.0, com=True, spin=30.0, first_order=False):
    m, inertia, d = 1.3, np.diag([0.02, 0.03, 0.035]), np.array([0.02, -0.03, 0.25])
    pose, R0 = turn((1, 2, 0.5), 0.9)
    w0 = R0 @ np.array([1.0, -2.0, spin]) * (not first_order)
    about = inertia - m * skew(d) @ skew(d)

    def world():
        made = lw.World(gravity=(0, 0, -G))
        if com:
            place = {"com": d}
        else:
            place = {"position": R0 @ d, "velocity": np.cross(w0, R0 @ d)}
        made.add(lw.RigidBody(m, inertia, orientation=pose, angular_velocity=w0, name="top", **place))
        made.add(lw.Ball(made.ground, "top", at=(0, 0, 0), name="tip"))
        if drag:
            made.add(lw.Drag("top", linear=drag, quadratic=drag, angular=0.1 * drag, at=d if com else (0, 0, 0)))
        return made

    def rates(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        r, I = R @ d, R @ about @ R.T
        force = np.array([0, 0, -m * G])
        if first_order:
            w = np.linalg.solve(I, np.cross(r, force))
            return (skew(w) @ R).ravel()
        v = np.cross(w, r)
        force = force - drag * (1 + np.linalg.norm(v)) * v
        return np.concatenate([(skew(w) @ R).ravel(),
                               np.linalg.solve(I, np.cross(r, force) - 0.1 * drag * w - np.cross(w, I @ w))])  # fmt: skip

    def told(t, y):
        R = y[:9].reshape(3, 3)
        r = R @ d * (not com)
        return np.concatenate([r, R.ravel()] if first_order else [r, R.ravel(), np.cross(y[9:], r), y[9:]])

    start = R0.ravel() if first_order else np.concatenate([R0.ravel(), w0])
    features = ("holonomic", *(["velocity-dependent forces"] if drag else []))
    return Problem(f"top{' in air' if drag else ''}{'' if com else ', own centre'}", world, rigid_view("top", not first_order),
                   rates, start, told, 0.4, features, 0.004)  # fmt: skip


# -- holonomic: three rods on hinges ------------------------------------------------------------------------------
def pendulum(kind="rigid"):
    m, l, n = 0.6, 0.5, 3
    angles, speeds = np.array([1.2, 0.4, -0.9]), np.array([0.5, -1.0, 2.0])

    def world():
        made = lw.World(gravity=(0, 0, -G))
        end, change, before = np.zeros(3), np.zeros(3), made.ground
        for k, (a, s) in enumerate(zip(angles, speeds, strict=True)):
            along, across = np.array([math.sin(a), 0, -math.cos(a)]), s * np.array([math.cos(a), 0, math.sin(a)])
            x, v, I = end + l / 2 * along, change + l / 2 * across, m * l**2 / 12
            if kind == "rigid":
                body = lw.RigidBody(m, (I, I, I), position=x, velocity=v, angular_velocity=(0, -s, 0), name=f"rod{k}")
            else:
                body = lw.PlanarBody(m, I, position=x, velocity=v, angular_velocity=-s, name=f"rod{k}")
            made.add(body)
            made.add(lw.Hinge(before, body, at=end, axis=(0, 1, 0), name=f"pin{k}"))
            end, change, before = end + l * along, change + l * across, body
        return made

    def rates(t, y):
        th, om = y[:n], y[n:]
        i, j = np.indices((n, n))
        M = m * l**2 * (n - 1 - np.maximum(i, j) + np.where(i == j, 1 / 3, 1 / 2))
        apart = np.subtract.outer(th, th)
        load = -m * G * l * (n - np.arange(n) - 0.5) * np.sin(th)
        return np.concatenate([om, np.linalg.solve(M * np.cos(apart), load - (M * np.sin(apart)) @ om**2)])

    def observe(sim):
        return np.concatenate([[-sim.angle(f"pin{k}") for k in range(n)], [-sim.rate(f"pin{k}") for k in range(n)]])

    def told(t, y):
        th = y[:n] - angles
        return np.concatenate([np.diff(th, prepend=0), np.diff(y[n:], prepend=0)])

    return Problem(
        f"three {kind} rods", world, observe, rates, np.concatenate([angles, speeds]), told, 0.8, ("holonomic",), 1.25e-3
    )


# -- time-dependent: a pendulum whose pivot is carried about; a driven arm ----------------------------------------
def carried_pivot():
    l, A, W = 0.5, 0.2, 5.0

    def world():
        made = lw.World(gravity=(0, 0, -G))
        made.add(lw.Particle(1.0, velocity=(A * W, 0, 0), name="pivot"))
        made.add(lw.Motion("pivot", lambda t: (A * lw.sin(W * t), 0, 0.1 * t**2), name="path"))
        made.add(lw.Particle(0.7, position=l * np.array([math.sin(1), 0, -math.cos(1)]), velocity=(A * W, 0, 0), name="bob"))
        made.add(lw.Distance("pivot", "bob", name="string"))
        return made

    def rates(t, y):
        ax, az = -A * W**2 * math.sin(W * t), 0.2
        return [y[1], -((G + az) * math.sin(y[0]) + ax * math.cos(y[0])) / l]

    def told(t, y):
        return [A * math.sin(W * t) + l * math.sin(y[0]), 0, 0.1 * t**2 - l * math.cos(y[0])]

    return Problem("carried pivot", world, lambda sim: sim.position("bob"), rates, np.array([1.0, 0.0]), told, 0.8,
                   ("holonomic", "time-dependent", "prescribed work"))  # fmt: skip


def driven_arm(how):
    """The first of two rods is told how to turn: by its angle, or by its rate."""
    m, l = 0.8, 0.5
    I = m * l**2 / 12

    def told_angle(t):
        return 2 / 3 * (1 - math.cos(3 * t)), 2 * math.sin(3 * t), 6 * math.cos(3 * t)

    def world():
        made = lw.World(gravity=(0, 0, -G))
        for k in (0, 1):
            made.add(lw.RigidBody(m, (I, I, I), position=(0, 0, -l / 2 - k * l), name=f"rod{k}"))
        made.add(lw.Hinge(made.ground, "rod0", at=(0, 0, 0), axis=(0, -1, 0), name="shoulder"))
        made.add(lw.Hinge("rod0", "rod1", at=(0, 0, -l), axis=(0, -1, 0), name="elbow"))
        if how == "motion":
            made.add(lw.Motion("shoulder", lambda t: 2 / 3 * (1 - lw.cos(3 * t)), name="told"))
        else:
            made.add(lw.Drive("shoulder", lambda t: 2 * lw.sin(3 * t), name="told"))
        return made

    def rates(t, y):
        a, da, dda = told_angle(t)
        apart = y[0] - a
        return [y[1], (-m * G * l / 2 * math.sin(y[0]) - m * l**2 / 2 * (math.cos(apart) * dda + math.sin(apart) * da**2))
                / (m * l**2 / 3)]  # fmt: skip

    def observe(sim):
        return np.array([sim.angle("shoulder"), sim.angle("elbow"), sim.rate("elbow")])

    def told(t, y):
        a, da, _ = told_angle(t)
        return [a, y[0] - a, y[1] - da]

    level = "time-dependent" if how == "motion" else "velocity rows"
    return Problem(f"arm driven by a {how}", world, observe, rates, np.zeros(2), told, 0.8, (level, "prescribed work"))


# -- velocity rows: Chaplygin's sleigh on an incline --------------------------------------------------------------
def sleigh(kind, drag=0.0):
    """The blade is behind the centre of mass by a; along the blade u, turning at w."""
    m, I, a, g, u0, w0 = 1.5, 0.2, 0.3, 4.0, 0.5, 3.0

    def world():
        made = lw.World(gravity=(g, 0, -G))
        v, x = (u0, a * w0, 0), (a, 0, 0)
        if kind == "planar":
            body = lw.PlanarBody(m, I, position=x, velocity=v, angular_velocity=w0, plane="xy", name="sleigh")
        elif kind == "rigid":
            body = lw.RigidBody(m, (0.1, 0.15, I), position=x, velocity=v, angular_velocity=(0, 0, w0), name="sleigh")
        else:
            body = lw.RigidBody(m, (0.1, 0.15, I), velocity=(u0, 0, 0), angular_velocity=(0, 0, w0), com=x, name="sleigh")
        made.add(body)
        if kind != "planar":
            made.add(lw.Planar(made.ground, body, at=(0, 0, 0), normal=(0, 0, 1), name="ice"))
        made.add(lw.Skate(body, (1, 0, 0), at=(0, 0, 0), name="blade"))
        if drag:
            made.add(lw.Drag(body, linear=drag, at=(0, 0, 0) if kind == "com" else (-a, 0, 0)))
        return made

    def rates(t, y):
        _, _, phi, u, w = y
        along = m * g * math.cos(phi) - drag * u
        return [u * math.cos(phi), u * math.sin(phi), w, a * w**2 + along / m,
                (-m * a * u * w - a * m * g * math.sin(phi)) / (I + m * a**2)]  # fmt: skip

    def observe(sim):
        blade = (0, 0, 0) if kind == "com" else (-a, 0, 0)
        return np.concatenate([sim.point("sleigh", blade)[:2], sim.frame("sleigh")[:2, 0], sim.angular_velocity("sleigh")[2:]])

    def told(t, y):
        return [y[0], y[1], math.cos(y[2]), math.sin(y[2]), y[4]]

    features = ("velocity rows", *(["velocity-dependent forces"] if drag else []))
    return Problem(f"{kind} sleigh{' in water' if drag else ''}", world, observe, rates, np.array([0, 0, 0, u0, w0]), told, 1.0,
                   features)  # fmt: skip


def steady_speed():
    """A nonlinear velocity row: |v| = s(t), under gravity (the force is along dg/dv)."""

    def world():
        made = lw.World(gravity=(0, 0, -G))
        made.add(lw.Particle(0.5, velocity=(1.0, 0.5, math.sqrt(4 - 1.25)), name="bead"))
        made.add(
            lw.VelocityConstraint("bead", lambda b, t: lw.dot(b.velocity, b.velocity) - (2 + lw.sin(3 * t)) ** 2, name="pace")
        )
        return made

    def rates(t, y):
        v, s, ds = y[3:], 2 + math.sin(3 * t), 3 * math.cos(3 * t)
        g = np.array([0, 0, -G])
        return np.concatenate([v, g + (s * ds - g @ v) / (v @ v) * v])

    return Problem("a bead of given speed", world,
                   lambda sim: np.concatenate([sim.position("bead"), sim.velocity("bead")]), rates, np.array([0, 0, 0, 1.0, 0.5, math.sqrt(4 - 1.25)]), lambda t, y: y, 0.8,
                   ("velocity rows", "nonlinear velocity rows", "prescribed work"))  # fmt: skip


# -- mixed rows: a disc that wobbles ------------------------------------------------------------------------------
def disc():
    m, r, I1, I3, lean = 1.1, 0.3, 0.03, 0.055, 0.4
    pose, R0 = turn((0, 1, 0), math.pi / 2 - lean)
    w0, x0, up = R0 @ np.array([0.8, -0.5, 9.0]), np.array([0.1, 0.2, r * math.cos(lean)]), np.array([0, 0, 1.0])

    def arm(R, w):
        """From the contact to the centre, and its rate."""
        e = R[:, 2]
        de = np.cross(w, e)
        u, du = up - (up @ e) * e, -(up @ de) * e - (up @ e) * de
        length = np.linalg.norm(u)
        return r * u / length, r * (du / length - u * (u @ du) / length**3)

    def world():
        made = lw.World(gravity=(0, 0, -G))
        made.add(lw.RigidBody(m, (I1, I1, I3), position=x0, velocity=np.cross(w0, arm(R0, w0)[0]), angular_velocity=w0,
                              orientation=pose, name="disc"))  # fmt: skip
        made.add(lw.Rolling(made.ground, "disc", r, axis=R0[:, 2], name="rim"))
        return made

    def rates(t, y):
        R, w = y[3:12].reshape(3, 3), y[12:]
        c, dc = arm(R, w)
        I = I1 * np.eye(3) + (I3 - I1) * np.outer(R[:, 2], R[:, 2])
        known = -np.cross(w, I @ w) - np.cross(c, m * np.cross(w, dc) + m * G * up)
        return np.concatenate([np.cross(w, c), (skew(w) @ R).ravel(), np.linalg.solve(I - m * skew(c) @ skew(c), known)])

    def told(t, y):
        R, w = y[3:12].reshape(3, 3), y[12:]
        return np.concatenate([y[:12], np.cross(w, arm(R, w)[0]), w])

    return Problem("wobbling disc", world, rigid_view("disc"), rates, np.concatenate([x0, R0.ravel(), w0]), told, 0.8,
                   ("holonomic", "velocity rows", "mixed rows"), 0.005)  # fmt: skip


# -- bodies that stretch, nailed at a point -----------------------------------------------------------------------
def scalable():
    """A cloud of six points that lies at x + R diag(s) p; the nail by a multiplier."""
    m, sigma, k, nail = 1.2, np.array([0.05, 0.03, 0.02]), 6.0, np.array([0.2, -0.1, 0.3])
    pose, R0 = turn((1, -1, 2), 0.7)
    s0, w0, ds0 = np.array([1.2, 0.9, 1.0]), np.array([1.0, 2.0, -1.5]), np.array([0.3, -0.2, 0.4])
    cloud = np.vstack([np.diag(np.sqrt(3 * sigma / m)), -np.diag(np.sqrt(3 * sigma / m))])
    x0 = -R0 @ (s0 * nail)
    v0 = -(np.cross(w0, R0 @ (s0 * nail)) + R0 @ (ds0 * nail))

    def world():
        made = lw.World(gravity=(0, 0, -G))
        made.add(lw.ScalableBody(m, sigma, position=x0, orientation=pose, stretch=s0, velocity=v0, angular_velocity=w0,
                                 stretch_rate=ds0, stiffness=k, name="jelly"))  # fmt: skip
        made.add(lw.Ball(made.ground, "jelly", at=(0, 0, 0), name="nail"))
        return made

    def rates(t, y):
        R, s, v, w, ds = y[3:12].reshape(3, 3), y[12:15], y[15:18], y[18:21], y[21:24]

        def point(p):
            r, dr = R @ (s * p), R @ (ds * p)
            return np.hstack([np.eye(3), -skew(r), R * p]), np.cross(w, np.cross(w, r)) + 2 * np.cross(w, dr)

        M, f = np.zeros((9, 9)), np.concatenate([[0, 0, -m * G], np.zeros(3), -k * (s - 1)])
        for p in cloud:
            J, bias = point(p)
            M += m / 6 * J.T @ J
            f -= m / 6 * J.T @ bias
        J, bias = point(nail)
        H = np.block([[M, J.T], [J, np.zeros((3, 3))]])
        a = np.linalg.solve(H, np.concatenate([f, -bias]))[:9]
        return np.concatenate([v, (skew(w) @ R).ravel(), ds, a])

    def observe(sim):
        return np.concatenate([sim.position("jelly"), sim.frame("jelly").ravel(), sim.velocity("jelly")])

    def told(t, y):
        return np.concatenate([y[:3], (y[3:12].reshape(3, 3) * y[12:15]).ravel(), y[15:18]])

    start = np.concatenate([x0, R0.ravel(), s0, v0, w0, ds0])
    return Problem(
        "nailed jelly", world, observe, rates, start, told, 0.6, ("holonomic", "mass depends on configuration"), 0.01
    )


def affine():
    m, sigma, k, nail = 1.2, np.array([0.05, 0.03, 0.02]), 1.5, np.array([0.2, -0.1, 0.3])
    F0 = np.array([[1.1, 0.1, 0], [0, 0.9, 0.2], [-0.1, 0, 1.0]])
    dF0 = np.array([[0.3, -2, 1.0], [2, 0.1, -0.5], [-1, 0.5, 0.2]])

    def world():
        made = lw.World(gravity=(0, 0, -G))
        made.add(lw.AffineBody(m, sigma, position=-F0 @ nail, deformation=F0, velocity=-dF0 @ nail, deformation_rate=dF0,
                               stiffness=k, name="blob"))  # fmt: skip
        made.add(lw.Ball(made.ground, "blob", at=(0, 0, 0), name="nail"))
        return made

    def rates(t, y):
        F = y[3:12].reshape(3, 3)
        M = np.diag(np.concatenate([[m] * 3, np.tile(sigma, 3)]))
        J = np.hstack([np.eye(3), np.kron(np.eye(3), nail)])
        f = np.concatenate([[0, 0, -m * G], (-k * F @ (F.T @ F - np.eye(3))).ravel()])
        a = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((3, 3))]]), np.concatenate([f, np.zeros(3)]))[:12]
        return np.concatenate([y[12:], a])

    def observe(sim):
        return np.concatenate([sim.position("blob"), sim.frame("blob").ravel(), sim.velocity("blob")])

    start = np.concatenate([-F0 @ nail, F0.ravel(), -dF0 @ nail, dF0.ravel()])
    return Problem("nailed affine body", world, observe, rates, start, lambda t, y: y[:15], 0.6, ("holonomic",), 0.005)


# -- first-order motion, M v = F + J^T lambda ---------------------------------------------------------------------
def sinking():
    """A sled with a blade and a torque: w = T / I, u = g cos(phi)."""
    m, I, g, T = 1.5, 0.2, 4.0, 0.5

    def world():
        made = lw.World(gravity=(g, 0, 0))
        made.add(lw.PlanarBody(m, I, plane="xy", name="sled"))
        made.add(lw.Skate("sled", (1, 0, 0), name="blade"))
        made.add(lw.Wrench("sled", torque=(0, 0, T)))
        return made

    def rates(t, y):
        u = g * math.cos(y[2])
        return [u * math.cos(y[2]), u * math.sin(y[2]), T / I]

    def observe(sim):
        return np.concatenate([sim.position("sled")[:2], sim.frame("sled")[:2, 0]])

    return Problem("sinking sled", world, observe, rates, np.zeros(3),
                   lambda t, y: [y[0], y[1], math.cos(y[2]), math.sin(y[2])], 0.8, ("velocity rows",))  # fmt: skip


def sinking_bob():
    """A bob on a string whose pivot is carried: th' = -(g sin(th) + X' cos(th)) / l."""
    l, A, W = 0.5, 0.2, 5.0

    def world():
        made = lw.World(gravity=(0, 0, -G))
        made.add(lw.Particle(1.0, name="pivot"))
        made.add(lw.Motion("pivot", lambda t: (A * lw.sin(W * t), 0, 0), name="path"))
        made.add(lw.Particle(0.7, position=l * np.array([math.sin(1), 0, -math.cos(1)]), name="bob"))
        made.add(lw.Distance("pivot", "bob", name="string"))
        return made

    def rates(t, y):
        return [-(G * math.sin(y[0]) + A * W * math.cos(W * t) * math.cos(y[0])) / l]

    def told(t, y):
        return [A * math.sin(W * t) + l * math.sin(y[0]), 0, -l * math.cos(y[0])]

    return Problem("sinking bob", world, lambda sim: sim.position("bob"), rates, np.array([1.0]), told, 0.6,
                   ("holonomic", "time-dependent", "prescribed work"), 0.005)  # fmt: skip


PROBLEMS = {p.name: p for p in (
    top(), top(com=False), top(drag=0.2), pendulum("rigid"), pendulum("planar"), carried_pivot(), driven_arm("motion"),
    driven_arm("drive"), sleigh("planar"), sleigh("rigid"), sleigh("com"), sleigh("rigid", 0.8), steady_speed(), disc(),
    scalable(), affine(),
)}  # fmt: skip
FIRST_ORDER = {p.name: p for p in (top(first_order=True), sinking(), sinking_bob())}
