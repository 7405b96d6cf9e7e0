"""Section 3.2: does J v1 = -C/dt avoid drift? The largest |C| of five swinging links without springs, by step."""

import math

import numpy as np

import linkwork as lw
from papers.baraff96.timing import slope
from papers.hernandez11.chain import Chain, linear_step
from papers.hernandez11.examples import quietly

STEPS = (1 / 60, 0.01, 0.005, 0.0025, 0.00125)  # s
SECONDS = 2.0
LINKS, LENGTH, MASS, SPEED = 5, 0.3, 1.0, 3.0  # m and kg of a link, m/s of the end
THICK, THIN = 0.1, 0.02  # m: across a link
EQUATION_3 = "eq. (3), numpy"
WAYS = {
    "linkwork, one iteration": {"solver": "implicit", "iterations": 1},
    "linkwork, until C(q1) = 0": {"solver": "implicit"},
    "accelerations, no feedback": {"integrator": "euler", "stiffness": 0.0, "damping": 0.0},
}


def of_linkwork(dt, width, options):
    """(largest |C|, gain of energy)."""
    world = lw.scenes.get("chain", n=LINKS, length=LENGTH, mass=MASS, width=width, speed=SPEED)
    sim = lw.Simulation(world, dt=dt, **options)
    worst, start = 0.0, sim.energy().total
    for _ in range(round(SECONDS / dt)):
        sim.step()
        worst = max(worst, sim.drift())
    return worst, sim.energy().total - start


def of_equation_3(dt, width):
    """The same for the same links, by eq. (3) as it stands."""
    across, along = MASS / 12 * (LENGTH**2 + width**2), MASS / 6 * width**2
    inertias = np.array([np.diag([across, across, along])] * LINKS)
    chain = Chain(np.full(LINKS, MASS), inertias, stiffness=0.0, damping=0.0, half=LENGTH / 2)
    R = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # its z points back to the anchor
    q = np.outer(np.arange(LINKS) + 0.5, (LENGTH, 0, 0)), np.array([R] * LINKS)
    rate = np.array([0.0, 0.0, SPEED / (LINKS * LENGTH)])
    v = np.concatenate([np.concatenate([np.cross(rate, x), rate]) for x in q[0]])
    worst, start = 0.0, chain.energy(q, v)
    for _ in range(round(SECONDS / dt)):
        v = linear_step(chain, q, v, dt)
        q = chain.moved(q, dt * v)
        worst = max(worst, float(np.abs(chain.constraints(q)[0]).max()))
    return worst, float(chain.energy(q, v) - start)


def by_way(way, dt, width):
    try:
        found = of_equation_3(dt, width) if way == EQUATION_3 else quietly(lambda: of_linkwork(dt, width, WAYS[way]))
    except lw.DivergenceError:
        found = math.nan, math.nan
    return {"way": way, "dt": dt, "width": width, "drift": found[0], "energy": float(found[1])}


def measure(report=lambda text: None, *, steps=STEPS):
    report("drift by step")
    rows = [by_way(way, dt, THICK) for way in (EQUATION_3, *WAYS) for dt in steps]
    thin = [by_way(way, steps[0], THIN) for way in (EQUATION_3, *WAYS)]
    orders = {}
    for way in (EQUATION_3, *WAYS):
        chosen = [r for r in rows if r["way"] == way]
        orders[way] = slope([r["dt"] for r in chosen], [r["drift"] for r in chosen])
    finest = next(r for r in rows if r["way"] == EQUATION_3 and r["dt"] == min(steps))
    return {"rows": rows, "thin": thin, "orders": orders, "over_dt_squared": finest["drift"] / finest["dt"] ** 2}
