"""Chains with stiff joints: implicit steps against explicit ones, and how stiff a joint may be.

    python -m benchmarks.stiff --out benchmarks/results/stiff.json

Writes JSON and, beside it, a Markdown page. What the numbers mean: README.md.
"""

import argparse
import math
import time

import numpy as np

import linkwork as lw
from benchmarks import machine, tables
from benchmarks.hand import Hand, MujocoHand
from benchmarks.peers.interface import GRAVITY, LENGTH, MASS, WIDTH
from benchmarks.timing import Run, best_of_turns

DT = 1e-3  # s, of the race
STIFFNESS, DAMPING = 10.0, 0.01  # N m/rad, N m s/rad, of the race
LENGTHS = (100, 1000, 100_000)
FEWEST = 20  # steps of a batch: what the first step after a reset does besides must not weigh on long chains alone
FRAME = 1 / 60  # s, of the stability runs
STABLE_LINKS = 5
POWERS = range(0, 11, 2)  # of ten: the stiffnesses of the stability runs, N m/rad


class Chain(Run):
    """n links on ball joints with springs between them, released horizontally."""

    def __init__(self, world, dt, **options):
        begin = time.perf_counter()
        super().__init__(lw.Simulation(world, dt=dt, **options))
        self.compile_seconds = time.perf_counter() - begin
        self.last = list(world.bodies)[-1].name

    def tip(self):
        return tuple(float(x) for x in self.sim.point(self.last, (LENGTH / 2, 0, 0)))


def springy_chain(n, stiffness, damping):
    world = lw.World(gravity=(0, 0, GRAVITY))
    box = lw.Box(LENGTH, WIDTH, WIDTH)
    links = world.add([lw.RigidBody(MASS, shape=box, position=(LENGTH * (i + 0.5), 0, 0), name=f"link{i}") for i in range(n)])
    ends = zip([world.ground, *links[:-1]], links, strict=True)
    balls = world.add([lw.Ball(a, b, at=(LENGTH * i, 0, 0)) for i, (a, b) in enumerate(ends)])
    world.add([lw.JointSpring(ball, stiffness, damping=damping) for ball in balls[1:]])
    return world


WAYS = {
    "explicit euler": {"integrator": "euler"},
    "implicit, one iteration": {"solver": "implicit", "iterations": 1},
    "implicit, converged": {"solver": "implicit"},
}


STABLE_WAYS = {
    "implicit, converged": {"solver": "implicit"},
    "implicit, exact tangent": {"solver": "implicit", "tangent": "exact"},
    "implicit, one iteration": {"solver": "implicit", "iterations": 1},
    "explicit (rattle)": {},
}


def race(lengths, rounds):
    """Rows {n, way, seconds a link, against explicit, against shortest}: all ways on all lengths, taking turns."""
    chains = {
        (n, way): Chain(springy_chain(n, STIFFNESS, DAMPING), DT, **options) for n in lengths for way, options in WAYS.items()
    }
    best = best_of_turns(chains, rounds, FEWEST)
    rows = []
    for (n, way), seconds in best.items():
        shortest = best[1000 if 1000 in lengths else min(lengths), way] / (1000 if 1000 in lengths else min(lengths))
        rows.append({"n": n, "way": way, "seconds_a_link": seconds / n, "against_explicit": seconds / best[n, "explicit euler"],
                     "against_1000": seconds / n / shortest})  # fmt: skip
    return rows


def stability(stiffness, steps, options, dt=FRAME):
    """A chain of STABLE_LINKS swings: the largest gain of energy over its scale, and the largest |C|, after any step; the
    step at which it left the finite numbers, if it did."""
    sim = lw.Simulation(springy_chain(STABLE_LINKS, stiffness, 0.0), dt=dt, **options)
    scale = STABLE_LINKS * MASS * -GRAVITY * STABLE_LINKS * LENGTH
    start, gain, drift = sim.energy().total, -math.inf, 0.0
    for done in range(steps):
        try:
            sim.step()
        except lw.DivergenceError as error:
            return {"stiffness": stiffness, "gain": math.inf, "drift": math.inf, "stopped_at": int(error.step)}
        gain, drift = max(gain, (sim.energy().total - start) / scale), max(drift, sim.drift())
        if not np.isfinite(gain):
            return {"stiffness": stiffness, "gain": math.inf, "drift": math.inf, "stopped_at": done}
    return {"stiffness": stiffness, "gain": gain, "drift": drift, "stopped_at": None}


def mujoco_stability(stiffness, steps):
    """The same chain in MuJoCo (implicitfast): the gain of energy, or where it stopped."""
    try:
        import mujoco
    except ImportError:
        return None
    from benchmarks.peers.mujoco_peer import springy_ball_chain

    model = springy_ball_chain(STABLE_LINKS, FRAME, stiffness)
    data = mujoco.MjData(model)
    scale = STABLE_LINKS * MASS * -GRAVITY * STABLE_LINKS * LENGTH
    gain = -math.inf
    for done in range(steps):
        mujoco.mj_step(model, data)
        if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or not np.isfinite(data.qpos).all():
            return {"stiffness": stiffness, "gain": math.inf, "stopped_at": done}
        mujoco.mj_forward(model, data)
        gain = max(gain, float(np.sum(data.energy)) / scale)  # it starts with none
    return {"stiffness": stiffness, "gain": gain, "stopped_at": None}


def hands(rounds):
    """{who: seconds a step} of the hand's skeleton in linkwork (one iteration) and in MuJoCo, taking turns."""
    contestants = {"linkwork": Hand()}
    try:
        contestants["MuJoCo"] = MujocoHand()
    except ImportError:
        pass
    return best_of_turns(contestants, rounds)


def order(dts=(1 / 60, 1 / 120, 1 / 240, 1 / 480), seconds=0.5, stiffness=1.0):
    """The error of the tip after `seconds` against a small-step run, for each step, and the order that it shows."""
    world = springy_chain(STABLE_LINKS, stiffness, 0.01)
    reference = Chain(world, 1e-5, integrator="rattle")
    reference.step(round(seconds / 1e-5))
    errors = []
    for dt in dts:
        chain = Chain(world, dt, solver="implicit")
        chain.step(round(seconds / dt))
        errors.append(float(np.linalg.norm(np.subtract(chain.tip(), reference.tip()))))
    return {"dt": list(dts), "error": errors, "order": float(np.log2(errors[-2] / errors[-1]))}


def report(result):
    parts = ["# Stiff joints", machine.sentence(result["machine"])]
    header = ["way", "links", "us a link and step", "against explicit", "against 1,000 links"]
    lines = [[row["way"], f"{row['n']:,}", f"{1e6 * row['seconds_a_link']:.3f}", f"{row['against_explicit']:.2f}",
              f"{row['against_1000']:.2f}"] for row in result["race"]]  # fmt: skip
    parts += ["A chain of balls with springs, dt = 1 ms:", tables.markdown(header, lines)]
    header = ["stiffness, N m/rad", *result["stability"]]
    columns = list(result["stability"].values())
    lines = [[f"{columns[0][k]['stiffness']:g}", *(_gain(column[k]) for column in columns)] for k in range(len(columns[0]))]
    parts += [f"Five links, dt = 1/60 s, {result['steps']:,} steps: largest gain of energy over m g l, largest |C|:",
              tables.markdown(header, lines)]  # fmt: skip
    hand = ", ".join(f"{who} {1e6 * seconds:.2f} us" for who, seconds in result["hand"].items())
    parts.append(f"The hand's skeleton (16 bones, 15 joints with springs and limits), a step: {hand}.")
    shown = result["order"]
    errors = ", ".join(f"{error:.2e}" for error in shown["error"])
    parts.append(f"Error of the tip at dt = 1/60, 1/120, 1/240, 1/480 s: {errors} m; order {shown['order']:.2f}.")
    return "\n\n".join(parts)


def _gain(row):
    if row is None:
        return "-"
    if row["stopped_at"] is not None:
        return f"stopped in step {row['stopped_at']}"
    return f"{row['gain']:.1e}" + (f", {row['drift']:.0e}" if "drift" in row else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/stiff.json")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--steps", type=int, default=10_000, help="of the stability runs")
    arguments = parser.parse_args()

    stiffnesses = [10.0**power for power in POWERS]
    result = {"machine": machine.describe(), "steps": arguments.steps, "race": race(arguments.lengths, arguments.rounds)}
    result["stability"] = {
        way: [stability(k, arguments.steps, options) for k in stiffnesses] for way, options in STABLE_WAYS.items()
    }
    result["stability"]["MuJoCo implicitfast"] = [mujoco_stability(k, arguments.steps) for k in stiffnesses]
    result["hand"] = hands(arguments.rounds)
    result["order"] = order()
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
