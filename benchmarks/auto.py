"""solver="auto" beside all pairs of solver and integrator: the time that each takes to come to equal error.

A pair makes the same stretch of motion with several steps; its error is how far bodies end from a reference, and its time is
interpolated to the error that `auto` has with the step that the scene suggests. Where motion is decided by contact, paths of
all pairs part after the first touch: there the time of a step counts.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import linkwork as lw
from benchmarks import machine, tables
from linkwork.engines.traits import PAIRS

ORACLES = ("dense", "anticipation", "fronts", "cg")  # references, and parts of others
SHRUNK = {"hair": {"strands": 20}, "net": {"n": 8}, "wall": {"n": 3}, "chain": {"n": 20}}
PARTS = (8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625)
WHERE = "benchmarks/results/auto.json"


def pairs():
    return [(s, i) for s, i in PAIRS if s not in ORACLES and i != "first-order"]


def stretch(scene):
    return min(scene.seconds, 0.4)


def simulated(make, dt, solver, integrator, seconds, **options):
    """(positions at the end, seconds of the processor a second of motion), or None where it cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sim = lw.Simulation(make(), dt=dt, solver=solver, integrator=integrator, **options)
            start = sim.state.copy()
            steps = max(1, round(seconds / dt))
            sim.step(min(3, steps))
            best = np.inf
            for _ in range(3):
                sim.state = start.copy()
                begun = time.process_time()
                sim.step(steps)
                best = min(best, time.process_time() - begun)
            end = sim.positions.copy()
        except lw.LinkworkError as error:
            return str(error)
    return (end, best / seconds) if np.isfinite(end).all() else "not finite"
