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


def run(name, description, measure, write, arguments=None, parts=None):
    """measure(quick, progress) -> result, a dictionary that JSON can hold; write(result, folder, progress).

    `parts(quick, progress)`: key of the result -> function that measures it, for papers of which one part may be measured
    again while the rest of results.json stays."""
    parser = argparse.ArgumentParser(prog=f"python -m papers.{name}", description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    home = Path(__file__).parent / name
    parser.add_argument("--quick", action="store_true", help="small sizes, fewer repetitions")
    parser.add_argument("--out", type=Path, default=home, help="folder for results (default: beside this)")
    parser.add_argument("--draw", action="store_true", help="measure nothing; draw and tell from results.json in OUT")
    if parts is not None:
        parser.add_argument("--only", default="", help="measure these parts again, by commas; the rest is as it was in OUT")
    options = parser.parse_args(arguments)
    progress = Progress()
    only = [part for part in getattr(options, "only", "").split(",") if part]
    if options.draw or only:
        result = json.loads((options.out / "results.json").read_text())
    if only:
        known = parts(options.quick, progress)
        for part in only:
            if part not in known:
                parser.error(f"there is no part {part!r}; parts are {', '.join(known)}")
            result[part] = known[part]()
    elif not options.draw:
        result = measure(options.quick, progress)
    write(result, options.out, progress)
