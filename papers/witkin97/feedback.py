"""Section 3, k_s and k_d "are not critical": the bead's drift with both varied over decades, and beads that
start off the wire."""

import warnings

import numpy as np

import linkwork as lw
from papers.witkin97 import bead

STIFFNESSES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.04, 0.1, 0.3, 1.0, 2.0, 4.0)  # k_s dt^2
DAMPINGS = (0.0, 0.02, 0.1, 0.4, 1.0, 1.6)  # k_d dt
DEFAULT = (0.04, 0.4)  # of `euler`
ALIKE = 10.0  # times the drift of the default
OFF = 0.3  # m from the wire, at rest
RATES = ((0.04, 0.4), (0.0025, 0.1), (0.0001, 0.02), (0.0001, 0.004), (0.0025, 0.01))  # k_s dt^2, k_d dt of these
ARRIVED, SECONDS = 1e-3, 1.0  # m, s


def drift(stiffness, damping, seconds):
    """The largest distance from the wire; None where the bead is thrown away."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(bead.world(bead.constrained), dt=bead.DT, solver="cg", integrator="euler",
                            stiffness=stiffness / bead.DT**2, damping=damping / bead.DT)  # fmt: skip
    _, off = bead.drift(sim, seconds)
    largest = float(off.max())
    return largest if largest < bead.LOST else None


def drawn_in(stiffness, damping):
    """A bead that starts off the wire: (times, | |x| - 1 |)."""
    world = lw.World(gravity=(0, 0, -bead.GRAVITY))
    world.add(lw.PlanarParticle(bead.MASS, position=(1.0 + OFF, 0.0), name="bead"))
    bead.constrained(world)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=bead.DT, solver="cg", integrator="euler", stiffness=stiffness / bead.DT**2,
                            damping=damping / bead.DT)  # fmt: skip
    times, off = [0.0], [OFF]
    for _ in range(round(SECONDS / bead.DT / 2)):
        sim.step(2)
        times.append(sim.time)
        off.append(abs(float(np.linalg.norm(sim.position("bead"))) - 1.0))
    return times, off


def measure(say, seconds=bead.SECONDS):
    """{varied: [{stiffness, damping, largest}], drawn: [{stiffness, damping, times, off, arrived}]}"""
    varied = []
    for damping in DAMPINGS:
        say(f"k_d dt = {damping:g}")
        for stiffness in STIFFNESSES:
            varied.append({"stiffness": stiffness, "damping": damping, "largest": drift(stiffness, damping, seconds)})
    drawn = []
    for stiffness, damping in RATES:
        say(f"from {OFF:g} m off, k_s dt^2 = {stiffness:g}")
        times, off = drawn_in(stiffness, damping)
        outside = [t for t, x in zip(times, off, strict=True) if x > ARRIVED]
        arrived = max(outside) if max(outside) < times[-1] else None
        drawn.append({"stiffness": stiffness, "damping": damping, "times": times, "off": off, "arrived": arrived})
    return {"varied": varied, "drawn": drawn, "off": OFF, "enough": ARRIVED, "seconds": SECONDS}
