"""Many worlds at once: batches beside one world at a time, and beside `mujoco.batch`.

    python -m benchmarks.batches --out benchmarks/results/batches.json

dm_control's humanoid in steps of 5 ms, in joint coordinates (`aba`, `joint-euler`), under random controls that are held for
HELD steps, the same in both, without contact and on the floor; limits of joints act. A chain of 100 links on ball joints, with
`euler` and `rattle`, beside one Simulation after another. Four-bars in loops. All take turns; the best of all rounds counts.

Writes JSON and, beside it, a Markdown page.
"""

import argparse
import time
import warnings

import mujoco
import numpy as np
from mujoco.batch import Batch as MujocoBatch

import linkwork as lw
from benchmarks import machine, tables
from benchmarks.humanoid import Theirs, model_path

HELD = 5  # steps between two draws of controls
DT = 0.005  # s, of the humanoid
GOALS = {"humanoid without contact": 4.0, "humanoid on the floor": 1.0}  # times the steps a second of mujoco.batch


def quietly(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return make()


class Humanoids:
    """n humanoids here and in mujoco.batch, with the same commands."""

    def __init__(self, n, threads, contact):
        self.theirs = Theirs(model_path())
        self.theirs.model.opt.timestep = DT
        if contact:
            self.theirs.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.batch_there = MujocoBatch(self.theirs.model, n, threads)
        self.controls_there = self.batch_there.bind("ctrl")
        world = quietly(lambda: lw.load(str(model_path()), **({} if contact else {"contact": "none"})))
        self.batch = quietly(lambda: lw.Batch(world, n, DT, "aba", "joint-euler", threads=threads))
        names = [name.of for name in self.batch.control_names]
        motors = [motor if motor in names else f"{motor} motor" for motor in self.theirs.motors]  # joints are called so, too
        self.order = [names.index(motor) for motor in motors]

    def there(self, drawn):
        for values in drawn:
            self.controls_there[:] = values
            self.batch_there.step(nstep=HELD)

    def here(self, drawn):
        for values in drawn:
            self.batch.controls[:, self.order] = values
            self.batch.step(HELD)


def seconds(do, *given):
    start = time.perf_counter()
    do(*given)
    return time.perf_counter() - start


def humanoids(n, threads, draws, rounds, contact):
    """Steps a second of both, and how many worlds failed here."""
    both, rng = Humanoids(n, threads, contact), np.random.default_rng(0)
    spent = {"linkwork": [], "mujoco.batch": []}
    for _ in range(rounds + 1):  # the first one warms up
        drawn = rng.uniform(-1.0, 1.0, (draws, n, len(both.order)))
        spent["linkwork"].append(seconds(both.here, drawn))
        spent["mujoco.batch"].append(seconds(both.there, drawn))
    found = {name: n * draws * HELD / min(times[1:]) for name, times in spent.items()}
    return {"rates": found, "failed": int(both.batch.failed.sum()), "bytes a world": both.batch.nbytes / n}


def alone(make, n, steps, rounds, threads):
    """Steps a second of a batch on one thread and on several, and of Simulations one after another."""
    sims = [quietly(make(lambda world, dt, *pair: lw.Simulation(world, dt, *pair))) for _ in range(min(n, 16))]
    batches = {t: quietly(make(lambda world, dt, *pair, t=t: lw.Batch(world, n, dt, *pair, threads=t))) for t in threads}

    def one_after_another():
        for sim in sims:
            sim.step(steps)

    spent = {}
    for _ in range(rounds + 1):
        spent.setdefault("simulations", []).append(seconds(one_after_another) * n / len(sims))
        for t, batch in batches.items():
            spent.setdefault(f"{t} threads" if t > 1 else "1 thread", []).append(seconds(batch.step, steps))
    return {name: n * steps / min(times[1:]) for name, times in spent.items()}


def chain(pair):
    return lambda make: lambda: make(lw.scenes.get("chain", n=100), 1e-3, *pair)


def four_bars(make):
    return lambda: make(lw.scenes.get("four-bars"), 1e-3, "tree", "rattle")


def measure(n, threads, draws, rounds):
    found = {name: humanoids(n, threads, draws, rounds, name.endswith("floor")) for name in GOALS}
    counts = (1, threads)
    others = {
        "chain of 100, euler": alone(chain(("tree", "euler")), n, 5, rounds, counts),
        "chain of 100, rattle": alone(chain(("tree", "rattle")), n, 5, rounds, counts),
        "four-bars": alone(four_bars, n, 20, rounds, counts),
    }
    return {"worlds": n, "threads": threads, "rounds": rounds, "humanoids": found, "alone": others}


def page(result):
    """The result for people."""
    rows = []
    for case, found in result["humanoids"].items():
        rates, goal = found["rates"], GOALS[case]
        ratio = rates["linkwork"] / rates["mujoco.batch"]
        rows.append([case, *(f"{rates[name]:,.0f}" for name in ("linkwork", "mujoco.batch")), f"{ratio:.2f}", f"{goal:.1f}",
                     "yes" if ratio >= goal else "no", found["failed"], f"{found['bytes a world'] / 1e3:.0f}"])  # fmt: skip
    header = ["", "linkwork, steps a second", "mujoco.batch", "ratio", "goal", "met", "worlds that failed", "kB a world"]
    names = list(next(iter(result["alone"].values())))
    alone_rows = [[case, *(f"{rates[name]:,.0f}" for name in names), f"{rates[names[-1]] / rates['1 thread']:.2f}"]
                  for case, rates in result["alone"].items()]  # fmt: skip
    return "\n\n".join([
        "# Batches of worlds",
        f"{result['worlds']} worlds, {result['threads']} threads, best of {result['rounds']} rounds in turns.",
        tables.markdown(header, rows),
        "Steps a second of single Simulations, one after another, and of a batch:",
        tables.markdown(["", *names, "threads against one"], alone_rows),
        machine.sentence(result["machine"]),
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="benchmarks/results/batches.json")
    parser.add_argument("--worlds", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    described = machine.describe()
    result = {"machine": described, **measure(options.worlds, options.threads, options.draws, options.rounds)}
    tables.write(options.out, result, page(result))
    print(page(result))


if __name__ == "__main__":
    main()
