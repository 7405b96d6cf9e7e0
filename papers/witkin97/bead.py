"""Sections 1 and 2: a bead on a circular wire. Drift without feedback, with it, and what penalty springs do instead."""

import math
import warnings

import numpy as np

import linkwork as lw

MASS, SPEED, GRAVITY = 1.0, 1.0, 9.81  # kg; m/s as it is let go at the side of the circle; m/s^2
SECONDS, DT = 10.0, 1e-3
STIFFNESSES = tuple(10.0**k for k in range(1, 9))  # N/m
LOST = 10.0  # m: a bead this far off has been thrown away
SAMPLES = 200


def circle(bead, time):
    """Equation 1."""
    return 0.5 * (lw.dot(bead.position, bead.position) - 1.0)


def world(wire):
    """A bead at (1, 0) of the unit circle in the x-z plane; `wire(world)` adds what holds it there."""
    made = lw.World(gravity=(0, 0, -GRAVITY))
    made.add(lw.PlanarParticle(MASS, position=(1.0, 0.0), velocity=(0.0, SPEED), name="bead"))
    wire(made)
    return made


def constrained(made):
    made.add(lw.Constraint("bead", circle, name="wire"))


def sprung(stiffness):
    return lambda made: made.add(lw.Spring(made.ground, "bead", stiffness, rest=1.0, name="wire"))


def drift(sim, seconds=SECONDS):
    """(times, | |x| - 1 |), until the bead is lost."""
    times, off = [sim.time], [0.0]
    chunk = max(1, round(seconds / sim.dt / SAMPLES))
    while sim.time < seconds - 0.5 * sim.dt and off[-1] < LOST:
        try:
            sim.step(chunk)
            off.append(abs(float(np.linalg.norm(sim.position("bead"))) - 1.0))
        except lw.DivergenceError:
            off.append(LOST)
        times.append(sim.time)
    return np.array(times), np.array(off)


def run(wire, dt=DT, **options):
    """One bead: its drift, and how much energy it has won or lost, as a part of m g."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world(wire), dt=dt, **options)
    start = sim.energy().total
    times, off = drift(sim)
    lost = bool(off.max() >= LOST)
    energy = None if lost else abs(sim.energy().total - start) / (MASS * GRAVITY)
    return {"dt": dt, "largest": float(off.max()), "end": float(off[-1]), "energy": energy, "lost": lost,
            "times": times.tolist(), "off": off.tolist()}  # fmt: skip


def limit(stiffness, dt=DT):
    """Of the spring's frequency times dt: beyond 2 semi-implicit Euler diverges."""
    return math.sqrt(stiffness / MASS) * dt


def measure(say):
    """The constraint by equation 10 and by equation 11, by `rattle`; springs over a sweep of stiffness."""
    say("with and without feedback")
    euler = {"solver": "cg", "integrator": "euler"}
    held = {
        "equation 10: no feedback": run(constrained, **euler, stiffness=0.0, damping=0.0),
        "equation 11: feedback": run(constrained, **euler),
        "rattle": run(constrained, solver="cg", integrator="rattle"),
    }
    springs = []
    for stiffness in STIFFNESSES:
        say(f"a spring of {stiffness:g} N/m")
        found = run(sprung(stiffness), solver="cg", integrator="euler")
        springs.append({"stiffness": stiffness, "limit": limit(stiffness), **found})
    return {"constraint": held, "springs": springs, "seconds": SECONDS}
