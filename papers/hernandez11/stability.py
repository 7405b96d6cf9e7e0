"""The abstract's claim: one linear solve a step is stable at large steps. What holds together, and what energy does."""

import linkwork as lw
from linkwork.engines.scalars import ITERATIONS
from papers.hernandez11.examples import quietly

STEPS = (1 / 30, 1 / 60, 1 / 120)  # s
SECONDS = 2.0
TOGETHER = 1e-2  # m: joints that come apart by more do not hold
WON = 0.01  # of the largest kinetic energy: what may be won by nothing
STRANDS = 1000
CASES = {  # name -> scene, its options, whether nothing drives it
    "hair in the wind": ("hair", {}, False),
    "hair, limp (1e-5 N m/rad)": ("hair", {"stiffness": 1e-5, "damping": 0.0}, False),
    "5 links of 0.3 m, 2 cm thick": ("chain", {"n": 5, "length": 0.3, "mass": 1.0, "width": 0.02, "speed": 3.0}, True),
    "20 links of 5 cm, 2 mm thick": ("chain", {"n": 20, "length": 0.05, "mass": 0.01, "width": 0.002, "speed": 3.0}, True),
    "a rag doll": ("rag-doll", {}, True),
}


def run(name, dt, tangent, strands):
    scene, options, alone = CASES[name]
    world = lw.scenes.get(scene, **options, **({"strands": strands} if scene == "hair" else {}))
    sim = lw.Simulation(world, dt=dt, solver="implicit", iterations=1, tangent=tangent)
    start, steps, apart, won, fastest, solves = sim.energy().total, round(SECONDS / dt), 0.0, 0.0, 0.0, 0.0
    for _ in range(steps):
        sim.step()
        energy = sim.energy()
        apart, won, fastest = max(apart, sim.drift()), max(won, energy.total - start), max(fastest, energy.kinetic)
        solves += sim.work[ITERATIONS]
    return {"case": name, "dt": dt, "tangent": tangent, "apart": float(apart), "won": float(won / fastest) if alone else None,
            "solves": float(solves / steps), "stopped": None}  # fmt: skip


def attempt(*given):
    try:
        return quietly(lambda: run(*given))
    except lw.DivergenceError as error:
        name, dt, tangent, _ = given
        return {"case": name, "dt": dt, "tangent": tangent, "apart": None, "won": None, "solves": None, "stopped": error.time}


def measure(report=lambda text: None, *, steps=STEPS, strands=STRANDS):
    rows = []
    for name in CASES:
        report(name)
        rows += [attempt(name, dt, tangent, strands) for dt in steps for tangent in ("symmetric", "exact")]
    return {"rows": rows, "together": TOGETHER, "won": WON, "strands": strands}


def holds(result):
    """Whether everything was together at every moment, and nothing won energy."""
    return all(
        row["stopped"] is None and row["apart"] < result["together"] and (row["won"] or 0.0) < result["won"]
        for row in result["rows"]
    )
