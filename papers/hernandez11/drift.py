"""Section 3.2: does J v1 = -C/dt avoid drift? The largest |C| of five swinging links, by step."""

import math

import linkwork as lw
from papers.baraff96.timing import slope

STEPS = (1 / 60, 0.01, 0.005, 0.0025, 0.00125)  # s
WAYS = {
    "one iteration, J v1 = -C/dt": {"solver": "implicit", "iterations": 1},
    "until C(q1) = 0": {"solver": "implicit"},
    "accelerations, no feedback": {"integrator": "euler", "stiffness": 0.0, "damping": 0.0},
}


def swinging():
    """Five slack links, let go from the horizontal with a spin."""
    return lw.scenes.get("chain", n=5, length=0.3, mass=1.0, speed=3.0)


def largest(dt, options, seconds=2.0):
    sim = lw.Simulation(swinging(), dt=dt, **options)
    worst, start = 0.0, sim.energy().total
    for _ in range(round(seconds / dt)):
        sim.step()
        worst = max(worst, sim.drift())
    return {"drift": worst, "energy": float(sim.energy().total - start)}


def measure(report=lambda text: None, *, steps=STEPS):
    report("drift by step")
    rows = []
    for way, options in WAYS.items():
        for dt in steps:
            try:
                found = largest(dt, options)
            except lw.DivergenceError:
                found = {"drift": math.inf, "energy": math.inf}
            rows.append({"way": way, "dt": dt, **found})
    first = next(iter(WAYS))
    chosen = [r for r in rows if r["way"] == first]
    order = slope([r["dt"] for r in chosen], [r["drift"] for r in chosen])
    return {"rows": rows, "order": order, "over_dt_squared": chosen[-1]["drift"] / chosen[-1]["dt"] ** 2}
