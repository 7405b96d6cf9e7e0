"""From starting Python to the first step: with empty caches, from a clone and from an installed wheel, with warm caches, and
with a constraint never seen before.

    python -m benchmarks.startup --out benchmarks/results/startup.json [--wheel linkwork.whl] [--repeats 5]

Each run is a Python process of its own; the clock runs in the parent, from starting the process to reading that the
first step is done. The child reports where its time went. Python's own .pyc files are warm throughout, as after an
installation. Processor time is that of the child and its threads: what other processes take of the machine counts less there.
"""

import argparse
import json
import os
import random
import resource
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

# A scene of the gallery: a pendulum of two links, and boxes that touch.
GALLERY = """
import linkwork as lw
lap()
sim = lw.Simulation(lw.scenes.get({name!r}))
lap()
sim.step()
"""

# What the libraries under linkwork take to import: no time to the first step can be below it.
LIBRARIES = "import numpy, casadi, numba, llvmlite.binding"

PHASES = ("import", "build and compile", "first step")
CLONE = Path(__file__).parents[1] / "src"
# seconds to the first step that each should take at most, on two cores of their own
LIMITS = {"box-stack, wheel, empty caches": 12.0, "box-stack, clone, empty caches": 40.0, "box-stack, warm": 2.0,
          "pendulum, wheel, empty caches": 3.0, "pendulum, clone, empty caches": 6.0}  # fmt: skip
SCENES = {"pendulum": GALLERY.format(name="double-pendulum"), "box-stack": GALLERY.format(name="box-stack")}


def first_step(scene, cache, *arguments, source=CLONE):
    """Seconds from starting Python to the first step, the child's processor time, and its own account of them."""
    environment = os.environ | {"LINKWORK_CACHE": str(cache), "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", CLOCK + scene + DONE, *arguments]
    before, start = _children(), time.perf_counter()
    with tempfile.TemporaryDirectory() as empty:
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True, cwd=empty) as child:
            line = child.stdout.readline()
            seconds = time.perf_counter() - start
    if child.returncode or not line:
        raise SystemExit("the scene failed; its error stands above")
    return {"seconds": seconds, "processor": _children() - before} | dict(zip(PHASES, json.loads(line), strict=False))


def _children():
    """Processor time (s) of processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def measure(repeats, wheel):
    """{case: the best of its runs}, each case with caches of its own making. `wheel`: the folder that one is installed in."""
    found = {"libraries alone": _cold(LIBRARIES, repeats), "cold: empty caches": _cold(LINKAGE, repeats)}
    found["warm"] = _cold_and_warm(LINKAGE, repeats)[1]
    found["warm, a constraint never seen"] = _never_seen(repeats)
    for name, scene in SCENES.items():
        found[f"{name}, clone, empty caches"], found[f"{name}, warm"] = _cold_and_warm(scene, repeats)
        found[f"{name}, wheel, empty caches"] = _cold(scene, repeats, wheel)
    return found


def _cold(scene, repeats, source=CLONE):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            return first_step(scene, Path(folder), source=source)

    return _best(run, repeats)


def _cold_and_warm(scene, repeats):
    """One run with an empty cache, and the best of those that follow."""
    with tempfile.TemporaryDirectory() as folder:
        return first_step(scene, Path(folder)), _best(lambda: first_step(scene, Path(folder)), repeats)


def _never_seen(repeats):
    with tempfile.TemporaryDirectory() as folder:
        first_step(BEAD, Path(folder), str(random.uniform(1, 2)))
        return _best(lambda: first_step(BEAD, Path(folder), str(random.uniform(1, 2))), repeats)


def installed(wheel, folder):
    """Where a wheel is installed, linkwork alone; made of this tree if none is given."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if wheel is None:
        made = folder / "wheel"
        subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", made, CLONE.parent], check=True)
        (wheel,) = made.iterdir()
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True)
    return folder / "site"


def _best(run, repeats):
    return min((run() for _ in range(repeats)), key=lambda case: case["seconds"])


def _verdict(case, seconds):
    if case not in LIMITS:
        return None, None
    return f"{LIMITS[case]:g}", "yes" if seconds <= LIMITS[case] else "**no**"


def report(result):
    """The Markdown page."""
    rows = [
        [case, *(f"{found[part]:.2f}" if part in found else None for part in ("seconds", "processor", *PHASES)),
         *_verdict(case, found["seconds"])]
        for case, found in result["cases"].items()
    ]  # fmt: skip
    table = tables.markdown(["case", "seconds to the first step", "processor time, s", *PHASES, "at most", "kept"], rows)
    best = f"Best of {result['repeats']} processes; scenes of the gallery from a clone with empty caches once."
    return f"# Start-up\n\n{machine.sentence(result['machine'])}\n\n{best}\n\n{table}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/startup.json")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--wheel", help="of this tree; made if it is left out, which takes some minutes")
    arguments = parser.parse_args()
    result = {"machine": machine.describe(), "repeats": arguments.repeats}
    with tempfile.TemporaryDirectory() as folder:
        result["cases"] = measure(arguments.repeats, installed(arguments.wheel, Path(folder)))
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
