"""python -m papers.NAME: what is common to the commands of all papers."""

import argparse
import json
import os
import time
from pathlib import Path

for library in ("OPENBLAS", "OMP", "MKL"):  # before numpy is imported: every way runs on one thread
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


class Progress:
    """Lines on stdout: what is being done, and for how long it has been going on."""

    def __init__(self):
        self.start = time.perf_counter()

    def part(self, name):
        return lambda text: print(f"{time.perf_counter() - self.start:6.1f} s  {name}: {text}", flush=True)


def run(name, description, measure, write, arguments=None):
    """measure(quick, progress) -> result, a dictionary that JSON can hold; write(result, folder, progress)."""
    parser = argparse.ArgumentParser(prog=f"python -m papers.{name}", description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    home = Path(__file__).parent / name
    parser.add_argument("--quick", action="store_true", help="small sizes, fewer repetitions")
    parser.add_argument("--out", type=Path, default=home, help="folder for results (default: beside this)")
    parser.add_argument("--draw", action="store_true", help="measure nothing; draw and tell from results.json in OUT")
    options = parser.parse_args(arguments)
    progress = Progress()
    if options.draw:
        result = json.loads((options.out / "results.json").read_text())
    else:
        result = measure(options.quick, progress)
    write(result, options.out, progress)
