"""From starting Python to the first step: with empty caches, with warm ones, and with a constraint never seen before.

    python -m benchmarks.startup --out benchmarks/results/startup.json

Each run is a Python process of its own; the clock runs in the parent, from starting the process to reading that the
first step is done. The child reports where its time went. Python's own .pyc files are warm throughout, as after an
installation.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machine, tables

CLOCK = """
import json, sys, time
times = [time.perf_counter()]
def lap(): times.append(time.perf_counter())
"""

DONE = """
lap()
print(json.dumps([b - a for a, b in zip(times, times[1:])]), flush=True)
"""

# The scene of the front page.
LINKAGE = """
import linkwork as lw
lap()
world = lw.World(gravity=(0, 0, -9.81))
crank = world.add(lw.RigidBody(mass=1.0, shape=lw.Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank"))
rod = world.add(lw.RigidBody(mass=0.5, shape=lw.Capsule(0.02, 0.8), position=(0.8, 0, 0),
                             orientation=(0.7071, 0, 0.7071, 0), name="rod"))
world.add(lw.Hinge(world.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
world.add(lw.Ball(crank, rod, at=(0.4, 0, 0), name="pin"))
sim = lw.Simulation(world, dt=1e-3)
lap()
sim.step()
"""

# A bead on a sphere; the factor, from the command line, makes it an expression that no cache has seen.
BEAD = """
import linkwork as lw
lap()
factor = float(sys.argv[1])
world = lw.World(gravity=(0, 0, -9.81))
bead = world.add(lw.Particle(mass=0.1, position=(1, 0, 0), name="bead"))
world.add(lw.Constraint(bead, lambda b, t: factor * (lw.dot(b.position, b.position) - 1.0), name="track"))
sim = lw.Simulation(world, dt=1e-3)
lap()
sim.step()
"""

# What the libraries under linkwork take to import: no time to the first step can be below it.
LIBRARIES = "import numpy, casadi, numba, llvmlite.binding"

PHASES = ("import", "build and compile", "first step")


def first_step(scene, cache, *arguments):
    """Seconds from starting Python to the first step, and the child's own account of them."""
    environment = os.environ | {"LINKWORK_CACHE": str(cache)}
    command = [sys.executable, "-c", CLOCK + scene + DONE, *arguments]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as child:
        line = child.stdout.readline()
        seconds = time.perf_counter() - start
    if child.returncode or not line:
        raise SystemExit("the scene failed; its error stands above")
    return {"seconds": seconds} | dict(zip(PHASES, json.loads(line), strict=False))


def measure(repeats):
    """{case: the best of its runs}, each case with caches of its own making."""
    return {
        "libraries alone": _best(_libraries, repeats),
        "cold: empty caches": _best(_cold, repeats),
        "warm": _warm(repeats),
        "warm, a constraint never seen": _never_seen(repeats),
    }


def _libraries():
    with tempfile.TemporaryDirectory() as folder:
        return first_step(LIBRARIES, Path(folder))


def _cold():
    with tempfile.TemporaryDirectory() as folder:
        return first_step(LINKAGE, Path(folder))


def _warm(repeats):
    with tempfile.TemporaryDirectory() as folder:
        first_step(LINKAGE, Path(folder))
        return _best(lambda: first_step(LINKAGE, Path(folder)), repeats)


def _never_seen(repeats):
    with tempfile.TemporaryDirectory() as folder:
        first_step(BEAD, Path(folder), str(random.uniform(1, 2)))
        return _best(lambda: first_step(BEAD, Path(folder), str(random.uniform(1, 2))), repeats)


def _best(run, repeats):
    return min((run() for _ in range(repeats)), key=lambda case: case["seconds"])


def report(result):
    """The Markdown page."""
    rows = [
        [case, f"{found['seconds']:.2f}", *(f"{found[phase]:.2f}" if len(found) > 2 else None for phase in PHASES)]
        for case, found in result["cases"].items()
    ]
    table = tables.markdown(["case", "seconds to the first step", *PHASES], rows)
    return f"# Start-up\n\n{machine.sentence(result['machine'])}\n\nBest of {result['repeats']} processes.\n\n{table}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/startup.json")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    result = {"machine": machine.describe(), "repeats": arguments.repeats, "cases": measure(arguments.repeats)}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
