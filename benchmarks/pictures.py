"""An animation of a hundred bodies: seconds for each of its frames.

    python -m benchmarks.pictures --out benchmarks/results/pictures.json

A chain of capsules is simulated and drawn as a GIF of 50 frames; the best of some runs, in seconds of the processor.
"""

import argparse
import tempfile
import time
from pathlib import Path

import linkwork as lw
from benchmarks import machine, tables

FRAMES, FPS = 50, 50
SIZES = (10, 100)


def recorded(bodies):
    return lw.Simulation(lw.scenes.get("chain", n=bodies), dt=1e-3).run((FRAMES - 1) / FPS, record_every=1 / FPS)


def measure(repeats):
    """{bodies: seconds a frame}"""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for bodies in SIZES:
            rec, taken = recorded(bodies), []
            for _ in range(repeats):
                start = time.process_time()
                rec.animate(Path(folder) / "run.gif", fps=FPS)
                taken.append((time.process_time() - start) / len(rec))
            found[bodies] = min(taken)
    return found


def main():
    words = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__.split("\n")[0])
    words.add_argument("--out", default=Path(__file__).parent / "results" / "pictures.json")
    words.add_argument("--repeats", type=int, default=3)
    given = words.parse_args()
    about, found = machine.describe(), measure(given.repeats)
    rows = [[bodies, f"{1000 * seconds:.0f}"] for bodies, seconds in found.items()]
    text = f"# A GIF of a chain\n\n{machine.sentence(about)}\n\n{tables.markdown(['bodies', 'ms a frame'], rows)}"
    tables.write(given.out, {"machine": about, "seconds": {str(n): s for n, s in found.items()}}, text)
    print(text)


if __name__ == "__main__":
    main()
