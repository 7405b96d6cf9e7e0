"""Nets of particles joined by distances, a loop in every mesh: `cg`, `tree`, `dense` in turns, and a net of 10,000 particles.

    python -m benchmarks.nets --out benchmarks/results/nets.json

Writes JSON and, beside it, a Markdown page. What the numbers mean: README.md.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

for library in ("OMP", "OPENBLAS", "MKL"):  # LAPACK on one thread, like everything else
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import linkwork as lw  # noqa: E402
from benchmarks import machine, tables  # noqa: E402
from benchmarks.timing import Run, best_of_turns  # noqa: E402
from linkwork.codegen.jit import sweep  # noqa: E402
from linkwork.engines.solvers import SOLVERS  # noqa: E402
from linkwork.kernels.vocabulary import BodyKernel, RowMode  # noqa: E402
from linkwork.model.compile_model import compile  # noqa: E402
from linkwork.symbolic.views import GLOBALS  # noqa: E402

DT = 1e-3  # s
SIDES = (5, 10, 20, 30, 50)
DENSE_TURNS = 10  # knots a side up to which `dense` takes turns; beyond it makes one solve
TREE = 50  # knots a side up to which `tree` takes part: its operations, millions by then, grow with the cube of the side
STEPS = 20  # over which the motion of solvers is compared, and iterations are counted
LARGE = 100  # knots a side, in a process of its own
LARGE_STEPS = 50


class Net(Run):
    """A square net under one solver, with `euler`."""

    def __init__(self, side, solver):
        begin = time.perf_counter()
        world = lw.scenes.get("net", rows=side, columns=side)
        self.build_seconds = time.perf_counter() - begin
        super().__init__(lw.Simulation(world, dt=DT, solver=solver, integrator="euler"))
        self.compile_seconds = time.perf_counter() - begin - self.build_seconds
        self.last = f"knot{side - 1}-{side - 1}"

    def tip(self):
        return tuple(float(x) for x in self.sim.position(self.last))


def one_solve(side):
    """Seconds of the one solve that a step of `dense` makes."""
    model = compile(lw.scenes.get("net", rows=side, columns=side), limbs=False, gradients=True)  # no elimination, no order
    schedules = SOLVERS["dense"](model)
    work = schedules.workspace()
    work[GLOBALS.offset("kick")] = 1.0
    before = schedules.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE)
    solve = schedules.up(RowMode.ACCELERATION), schedules.backward()
    sweep(work, schedules.table, before)
    begin = time.perf_counter()
    for operations in solve:
        sweep(work, schedules.table, operations)
    return time.perf_counter() - begin


def measure(sides, rounds, most=TREE):
    """Rows {side, knots, rows, seconds of a step by solver, iterations a solve, how far motions are apart, ...}."""
    nets = {(side, "cg"): Net(side, "cg") for side in sides}
    nets |= {(side, "tree"): Net(side, "tree") for side in sides if side <= most}
    nets |= {(side, "dense"): Net(side, "dense") for side in sides if side <= DENSE_TURNS}
    best = best_of_turns(nets, rounds)
    found = []
    for side in sides:
        pair = [nets[side, solver] for solver in ("cg", "tree") if (side, solver) in nets]
        cg = pair[0]
        before = cg.sim.solver_report()
        for one in pair:
            one.reset()
            one.step(STEPS)
        after = cg.sim.solver_report()
        seconds = {solver: best.get((side, solver)) for solver in ("cg", "tree")}
        seconds["dense"] = best[side, "dense"] if side <= DENSE_TURNS else one_solve(side)
        found.append({
            "side": side, "knots": side**2, "rows": cg.sim.model.rows, "seconds": seconds,
            "iterations": (after.iterations - before.iterations) / (after.solves - before.solves),
            "apart": apart(*pair) if len(pair) == 2 else None,
            "compile": {solver: nets[side, solver].compile_seconds if (side, solver) in nets else None
                        for solver in ("cg", "tree")},
        })  # fmt: skip
        print(found[-1], flush=True)
    return found


def apart(one, other):
    """The largest difference of any coordinate, m."""
    return float(max(np.abs(one.sim.position(b.name) - other.sim.position(b.name)).max() for b in one.sim.world.bodies))


def alone(side, steps):
    """A large net in this process: seconds and the peak of its memory."""
    net = Net(side, "cg")
    net.step(1)
    begin = time.perf_counter()
    net.step(steps)
    seconds = (time.perf_counter() - begin) / steps
    report = net.sim.solver_report()
    return {"side": side, "knots": side**2, "rows": net.sim.model.rows, "build_seconds": net.build_seconds,
            "compile_seconds": net.compile_seconds, "seconds": seconds, "iterations": report.iterations / report.solves,
            "drift": net.sim.drift(), "bytes": net.sim.nbytes,
            "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}  # fmt: skip


def in_a_process(side, steps):
    command = [sys.executable, "-m", "benchmarks.nets", "--alone", str(side), str(steps)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def crossover(rows):
    """The first size from which on `cg` is faster than `tree`, if there is one."""
    both = [row for row in rows if row["seconds"]["tree"] is not None]
    slower = [row["side"] for row in both if row["seconds"]["cg"] > row["seconds"]["tree"]]
    return next((row["side"] for row in both if row["side"] > max(slower, default=0)), None)


def report(result):
    """The Markdown page."""
    header = ["knots", "rows", "`cg`, ms", "iterations a solve", "`tree`, ms", "`dense`, ms", "`tree` / `cg`", "`dense` / `cg`",
              f"motions apart after {STEPS} steps, m", "`cg` compiled, s", "`tree` compiled, s"]  # fmt: skip
    rows = [_line(row) for row in result["rows"]]
    first = crossover(result["rows"])
    where = f"`cg` is faster than `tree` from {first} x {first} on." if first else "`tree` is faster at each of these sizes."
    words = (
        f"A step of `euler`, dt = {1e3 * result['dt']:g} ms. {where} `dense` beyond {DENSE_TURNS} x {DENSE_TURNS}: one solve."
    )
    parts = [machine.sentence(result["machine"]), words, tables.markdown(header, rows), _large(result["large"])]
    return "\n\n".join(["# Nets", *parts])


def _line(row):
    cg, tree, dense = (row["seconds"][solver] for solver in ("cg", "tree", "dense"))
    times = [f"{1e3 * cg:.3g}", f"{row['iterations']:.0f}", tree and f"{1e3 * tree:.3g}", f"{1e3 * dense:.3g}"]
    compiled = [row["compile"][solver] and f"{row['compile'][solver]:.1f}" for solver in ("cg", "tree")]
    return [f"{row['side']} x {row['side']}", f"{row['rows']:,}", *times, tree and f"{tree / cg:.2f}", f"{dense / cg:,.0f}",
            None if row["apart"] is None else f"{row['apart']:.1e}", *compiled]  # fmt: skip


def _large(found):
    return (
        f"{found['knots']:,} knots, {found['rows']:,} rows, `cg`, in a process of its own: world built in "
        f"{found['build_seconds']:.1f} s, Simulation made in {found['compile_seconds']:.1f} s, "
        f"{1e3 * found['seconds']:.3g} ms a step ({found['iterations']:.0f} iterations a solve), "
        f"drift {found['drift']:.1e} m, {found['bytes'] / 1e6:.0f} MB of model, state and workspace, "
        f"at most {found['peak_bytes'] / 1e6:.0f} MB in all."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/nets.json")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sides", type=int, nargs="+", default=SIDES)
    parser.add_argument("--large", type=int, default=LARGE)
    parser.add_argument("--tree", type=int, default=TREE, help="knots a side up to which `tree` takes part")
    parser.add_argument("--alone", type=int, nargs=2, help="side and steps: a large net in this process, as JSON")
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(alone(*arguments.alone)))
        return
    large = in_a_process(arguments.large, LARGE_STEPS)
    rows = measure(arguments.sides, arguments.rounds, arguments.tree)
    result = {"machine": machine.describe(), "dt": DT, "rows": rows, "large": large}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
