"""Which solver and integrator can do what, found by trying: short runs against references that share nothing with linkwork."""

import math
import warnings
from dataclasses import replace

import numpy as np

import linkwork as lw
from linkwork.engines.traits import PAIRS
from tests.integrators.problems import FIRST_ORDER, PROBLEMS, Problem

SECONDS, DT = 0.2, 2e-3
CLOSE = {"rattle": 2e-3, "shake": 0.1, "euler": 0.1, "rk4": 1e-6, "dopri5": 1e-6, "first-order": 3e-2, "backward-euler": 0.1,
         "joint-rk4": 1e-6, "joint-euler": 0.3, "joint-implicit": 0.3}  # fmt: skip
YES, REFUSED, NO = "yes", "refused", "**no**"


def gears():
    """Two wheels under a torque: the angle of the second, past several turns."""
    ratio, T, I = -0.31, 90.0, 0.3

    def world():
        made = lw.World(gravity=(0, 0, 0))
        for k, name in enumerate("ab"):
            made.add(lw.RigidBody(1.0, (0.2, 0.2, I), position=(k, 0, 0), name=name))
            made.add(lw.Hinge(made.ground, name, at=(k, 0, 0), axis=(0, 0, 1), name=f"axle {name}"))
        made.add(lw.Gear("axle a", "axle b", ratio, name="mesh"))
        made.add(lw.Wrench("a", torque=(0, 0, T)))
        return made

    felt = I * (1 + 1 / ratio**2)
    return world, T / felt / ratio


def _gears(first_order):
    world, rate = gears()
    start, rates = (np.zeros(1), lambda t, y: [rate]) if first_order else (np.zeros(2), lambda t, y: [y[1], rate])
    scale = 10.0  # of some turns
    return Problem("gears", world, lambda sim: np.array([sim.angle("axle b")]) / scale, rates, start,
                   lambda t, y: [y[0] / scale], seconds=1.0)  # fmt: skip


def _work():
    """The energy that prescribed motion puts in, of the carried pivot: total - work stays."""
    p = PROBLEMS["carried pivot"]
    total = lw.Simulation(p.world()).energy().total
    return replace(p, observe=lambda sim: np.array([sim.energy().total - sim.energy().work]), told=lambda t, y: [total])


def _pulled():
    """First-order: a particle of mass m led at speed c costs the power m c^2."""
    m, c = 0.5, 2.0

    def world():
        made = lw.World(gravity=(0, 0, 0))
        made.add(lw.Particle(m, name="bead"))
        made.add(lw.Motion("bead", lambda t: (c * t, 0, 0), name="path"))
        return made

    return Problem("pulled", world, lambda sim: np.array([sim.energy().work]), lambda t, y: [m * c**2], np.zeros(1),
                   lambda t, y: y)  # fmt: skip


def _rolling_ball():
    """First-order: v = 5/7 g sin down an incline."""
    r, g = 0.1, 3.0

    def world():
        made = lw.World(gravity=(g, 0, -9.0))
        made.add(lw.RigidBody(1.0, shape=lw.Sphere(r), position=(0, 0, r), name="ball"))
        made.add(lw.Rolling(made.ground, "ball", r, name="contact"))
        return made

    return Problem("ball", world, lambda sim: sim.position("ball"), lambda t, y: [5 / 7 * g, 0, 0], np.array([0, 0, r]),
                   lambda t, y: y)  # fmt: skip


def _slipping_ball():
    """A ball that is thrown along a floor and slips."""
    r, mu, g, v0 = 0.1, 0.3, 9.81, 3.0

    def world():
        made = lw.World(gravity=(0, 0, -g))
        made.add(lw.Collider(made.ground, lw.Plane(), name="floor"))
        made.add(lw.RigidBody(1.0, shape=lw.Sphere(r), position=(0, 0, r), velocity=(v0, 0, 0), name="ball"))
        made.add(lw.Contact(friction=mu, name="rule"))
        return made

    def observe(sim):
        return np.array([*sim.position("ball"), r * sim.angular_velocity("ball")[1]])

    return Problem("slipping ball", world, observe, lambda t, y: [y[1], -mu * g, 2.5 * mu * g], np.array([0.0, v0, 0.0]),
                   lambda t, y: [y[0], 0, r, y[2]])  # fmt: skip


def _pushed_ball():
    """First-order: a ball that is pushed along a floor slips where the push is more than friction passes on, m v = F - mu m g."""
    r, mu, g, push = 0.1, 0.3, 9.81, 15.0

    def world():
        made = lw.World(gravity=(push, 0, -g))
        made.add(lw.Collider(made.ground, lw.Plane(), name="floor"))
        made.add(lw.RigidBody(1.0, shape=lw.Sphere(r), position=(0, 0, r), name="ball"))
        made.add(lw.Contact(friction=mu, name="rule"))
        return made

    return Problem("pushed ball", world, lambda sim: sim.position("ball"), lambda t, y: [push - mu * g, 0, 0],
                   np.array([0, 0, r]), lambda t, y: y)  # fmt: skip


def _relaxing():
    """First-order: a stretch relaxes, sigma s' = -k (s - 1)."""
    k, sigma = 0.2, np.array([0.05, 0.03, 0.02])

    def world():
        made = lw.World(gravity=(0, 0, 0))
        made.add(lw.ScalableBody(1.0, sigma, stretch=(1.2, 0.8, 1.1), stiffness=k, name="jelly"))
        return made

    return Problem("relaxing", world, lambda sim: sim.frame("jelly").diagonal(), lambda t, y: -k * (y - 1) / sigma,
                   np.array([1.2, 0.8, 1.1]), lambda t, y: y)  # fmt: skip


def features(first_order):
    """Feature -> problem."""
    if first_order:
        return {
            "holonomic rows": FIRST_ORDER["top"],
            "time-dependent rows": FIRST_ORDER["sinking bob"],
            "velocity rows": FIRST_ORDER["sinking sled"],
            "nonlinear velocity rows": PROBLEMS["a bead of given speed"],
            "mixed rows": _rolling_ball(),
            "mass depends on configuration": _relaxing(),
            "velocity-dependent forces": PROBLEMS["top in air"],
            "turns counted": _gears(True),
            "prescribed work": _pulled(),
            "contact": _pushed_ball(),
        }
    return {
        "holonomic rows": PROBLEMS["three rigid rods"],
        "time-dependent rows": PROBLEMS["arm driven by a motion"],
        "velocity rows": PROBLEMS["rigid sleigh"],
        "nonlinear velocity rows": PROBLEMS["a bead of given speed"],
        "mixed rows": PROBLEMS["wobbling disc"],
        "mass depends on configuration": PROBLEMS["nailed jelly"],
        "velocity-dependent forces": PROBLEMS["top in air"],
        "turns counted": _gears(False),
        "prescribed work": _work(),
        "contact": _slipping_ball(),
    }


FEATURES = tuple(features(False))


def attempt(solver, integrator, feature):
    """(verdict, what was said or the error)."""
    problem = features(integrator == "first-order")[feature]
    if feature != "turns counted":
        problem = replace(problem, seconds=SECONDS)
    dt = 5e-4 if feature == "velocity-dependent forces" else DT  # its spin is fast
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            error = problem.error(integrator, dt, solver)
    except lw.LinkworkError as refusal:
        world = problem.world()
        named = any(f'"{e.name}"' in str(refusal) for e in (*world.constraints, *world.forces, *world.bodies, *world.contacts))
        return (REFUSED if named and not isinstance(refusal, lw.DivergenceError) else NO), str(refusal)
    return (YES if error < CLOSE[integrator] and math.isfinite(error) else NO), error


def table():
    """Markdown."""
    lines = [f"| solver | integrator | {' | '.join(FEATURES)} |", f"|---|---|{'---|' * len(FEATURES)}"]
    for solver, integrator in PAIRS:
        cells = [attempt(solver, integrator, feature)[0] for feature in FEATURES]
        lines.append(f"| `{solver}` | `{integrator}` | {' | '.join(cells)} |")
    return "\n".join(lines)
