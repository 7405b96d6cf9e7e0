"""Scene files of a long chain: seconds to load, to compile, to save; beside the same chain built in Python.

    python -m benchmarks.scene_files --links 10000

Writes results/scene_files.json and scene_files.md. Each case is a process of its own, with warm caches; the best of some runs,
by the clock and in seconds of the processor.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import machine, tables

RESULTS = Path(__file__).parent / "results" / "scene_files.json"

REPEATED = """linkwork: 1
parameters: {{n: {links}}}
elements:
  - RigidBody: {{name: link0, mass: 1, shape: {{Capsule: [1 cm, 10 cm]}}, position: [0, 0, -0.05]}}
  - Ball: [ground, link0, [0, 0, 0]]
  - repeat: n - 1
    elements:
      - RigidBody: {{name: "link{{i + 1}}", mass: 1, shape: {{Capsule: [1 cm, 10 cm]}}, position: [0, 0, "{{-i / 10 - 0.15}}"]}}
      - Ball: ["link{{i}}", "link{{i + 1}}", [0, 0, "{{-0.1 * (i + 1)}}"]]
"""

CLOCK = """
import json, sys, time
import linkwork as lw
from linkwork.simulation import Simulation
import linkwork.formats.scene, linkwork.formats.writing
times = []
def lap(): times.append((time.perf_counter(), time.process_time()))
lap()
"""
LOAD = "world = lw.load(sys.argv[1])\n"
BUILD = """
world, below = lw.World(), None
for i in range(int(sys.argv[2])):
    link = world.add(lw.RigidBody(1.0, shape=lw.Capsule(0.01, 0.1), position=(0, 0, -0.1 * i - 0.05), name=f"link{i}"))
    world.add(lw.Ball(below or world.ground, link, (0, 0, -0.1 * i)))
    below = link
"""
REST = """
lap()
sim = Simulation(world)
lap()
lw.save(world, sys.argv[3])
lap()
print(json.dumps([[y[k] - x[k] for x, y in zip(times, times[1:])] for k in (0, 1)]))
"""
PHASES = ("load", "compile", "save")


def one(first, path, links, out):
    """{phase: {"clock": s, "processor": s}} of one process."""
    command = [sys.executable, "-c", CLOCK + first + REST, str(path), str(links), str(out)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    clock, processor = json.loads(found)
    return {phase: {"clock": a, "processor": b} for phase, a, b in zip(PHASES, clock, processor, strict=True)}


def best(first, path, links, out, repeats):
    runs = [one(first, path, links, out) for _ in range(repeats)]
    return min(runs, key=lambda run: run["load"]["processor"] + run["compile"]["processor"])


def measure(links, repeats):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        short, full, out = folder / "repeated.yaml", folder / "full.yaml", folder / "saved.yaml"
        short.write_text(REPEATED.format(links=links))
        one(LOAD, short, links, full)  # caches
        sizes = {"repeated": short.stat().st_size, "in full": full.stat().st_size}
        return {
            "a file with a repetition": best(LOAD, short, links, out, repeats) | {"bytes": sizes["repeated"]},
            "a file in full": best(LOAD, full, links, out, repeats) | {"bytes": sizes["in full"]},
            "Python alone": best(BUILD, full, links, out, repeats) | {"bytes": None},
        }


def report(result):
    rows = []
    for case, found in result["cases"].items():
        size = "" if found["bytes"] is None else f"{found['bytes'] / 1024:.1f}"
        whole = sum(found[phase]["clock"] for phase in ("load", "compile"))
        cells = [f"{found[phase]['clock']:.2f} ({found[phase]['processor']:.2f})" for phase in PHASES]
        rows.append([case, size, *cells[:2], f"{whole:.2f}", cells[2]])
    table = tables.markdown(["a chain from", "kB", "load or build, s", "compile, s", "both, s", "save, s"], rows)
    head = (
        f"Written by `python -m benchmarks.scene_files`: a chain of {result['links']} links on balls, warm caches, the best of"
    )
    tail = f"{result['repeats']} processes; by the clock, and in seconds of the processor."
    return f"# Scene files\n\n{machine.sentence(result['machine'])}\n\n{head} {tail}\n\n{table}"


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--links", type=int, default=10_000)
    words.add_argument("--repeats", type=int, default=3)
    given = words.parse_args()
    result = {
        "machine": machine.describe(),
        "links": given.links,
        "repeats": given.repeats,
        "cases": measure(given.links, given.repeats),
    }
    text = report(result)
    print(text)
    tables.write(RESULTS, result, text)


if __name__ == "__main__":
    main()
