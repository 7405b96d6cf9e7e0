"""Figure 4: the time of a step of a hanging chain against its bones, beside an explicit step of the same chain."""

import time

import linkwork as lw
from papers.baraff96.timing import best, slope

PAPER = {1000: 22e-3, 10_000: 285e-3}  # s a frame, 2.4 GHz
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
QUICK_SIZES = (10, 100, 1000)
LONGEST = {"until done": 10_000, "exact tangent, one iteration": 10_000}  # bones, of ways that take longer to compile
FRAME = 1 / 60  # s
EXPLICIT = 1e-4  # s
WAYS = {
    "one iteration": (FRAME, {"solver": "implicit", "iterations": 1}),
    "until done": (FRAME, {"solver": "implicit"}),
    "exact tangent, one iteration": (FRAME, {"solver": "implicit", "iterations": 1, "tangent": "exact"}),
    "explicit euler": (EXPLICIT, {"integrator": "euler"}),
}
STIFFNESS = 1.0  # N m/rad
PROBED = 100  # bones of the chain whose largest explicit step is sought


def chain(n):
    return lw.scenes.get("hanging-chain", n=n, stiffness=STIFFNESS)


def timed(world, way, seconds):
    """Seconds of one step, near the start of the motion, and of making the Simulation."""
    dt, options = WAYS[way]
    begin = time.perf_counter()
    sim = lw.Simulation(world, dt=dt, **options)
    made = time.perf_counter() - begin
    sim.step(3)
    start, batch = sim.state.copy(), max(1, min(50, 20_000 // len(world.bodies)))

    def again():
        sim.state = start.copy()
        sim.step(1)  # what is done anew after a change from outside

    return best(lambda: sim.step(batch), again, seconds=seconds, least=3) / batch, made


def largest_step(options, candidates, seconds=0.5):
    """The largest of these steps (s) with which the chain keeps its energy to a tenth of what its fall could give."""
    for dt in sorted(candidates, reverse=True):
        world = chain(PROBED)
        allowed = 0.1 * sum(body.mass * 9.81 * body.position[0] for body in world.bodies)
        sim = lw.Simulation(world, dt=dt, **options)
        try:
            sim.step(round(seconds / dt))
        except lw.DivergenceError:
            continue
        if abs(sim.energy().total) < allowed:  # it starts with none
            return dt
    return None


def measure(sizes=SIZES, report=lambda text: None, *, seconds=0.3):
    rows = []
    for n in sizes:
        report(f"{n:,} bones")
        world = chain(n)
        for way in WAYS:
            if n <= LONGEST.get(way, n):
                took, made = timed(world, way, seconds)
                rows.append({"way": way, "n": n, "seconds": took, "compile_seconds": made})
    slopes = {way: slope(*_columns(rows, way), above=100) for way in WAYS}
    report("the largest explicit step")
    limit = largest_step(WAYS["explicit euler"][1], [1e-2 / 2**k for k in range(14)])
    return {"rows": rows, "slopes": slopes, "explicit_limit": limit, "bones": PROBED}


def _columns(rows, way):
    chosen = [r for r in rows if r["way"] == way]
    return [r["n"] for r in chosen], [r["seconds"] for r in chosen]
