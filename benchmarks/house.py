"""Two source trees, how fast? Steps, builds, first steps, imports, reads and states, in turns in one sitting.

    python -m benchmarks.house --base /path/to/old/src --new /path/to/new/src [--only TEXT ...] [--rounds 12] [--out FILE.json]

One process a tree; they are asked alternately, and the best turn of each counts. Prints old, new and their ratio; writes JSON
and, beside it, a Markdown page made from the JSON.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import children, machine, tables

ROUNDS = 12
LIMIT = 1200.0  # s for a turn: the first one may compile
IMPORT = "import linkwork"
FIRST_USE = "the first step of a pendulum, in a fresh process"
PROCESSES = {  # what a fresh process does
    IMPORT: "import linkwork",
    FIRST_USE: "import linkwork as lw; lw.Simulation(lw.scenes.get('pendulum')).step()",
}


def in_turns(ask, sides, rounds):
    """{side: the best seconds}, `ask(side)` once a round of each; who comes first changes from round to round."""
    best = dict.fromkeys(sides, math.inf)
    for k in range(rounds):
        for side in sides if k % 2 == 0 else sides[::-1]:
            best[side] = min(best[side], ask(side))
    return best


def process_seconds(tree, code):
    """Processor time of a fresh Python that runs some code."""
    process = subprocess.Popen([sys.executable, "-c", code], env=children.environment(tree))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{tree}: {code!r} failed")
    return used.ru_utime + used.ru_stime


def measured(base, new, only, rounds, folder):
    """Rows with seconds of both, and what is not installed; `folder`: for copies of the trees."""
    sides = children.pair("benchmarks.house_cases", base, new, folder)
    names, rows = list(sides), []

    def ask(side, **request):
        sides[side].ask(**request)
        return sides[side].answer(LIMIT)

    def prepare(case):
        count = ask("base", do="make", case=case, count=None)
        ask("new", do="make", case=case, count=count)

    def row(case, question, before=lambda: None):
        if not any(words in case for words in only):
            return
        try:
            before()
            found = {"case": case, **in_turns(question, names, rounds)}
        except (children.Lost, RuntimeError) as error:
            found = {"case": case, "failed": str(error).strip().splitlines()[-1]}
        rows.append(found | ({"ratio": found["new"] / found["base"]} if "new" in found else {}))
        print(line(rows[-1]), file=sys.stderr, flush=True)

    try:
        known = {side: ask(side, do="cases") for side in names}
        for case in known["base"]["cases"]:
            row(case, lambda side, case=case: ask(side, do="turn", case=case), lambda case=case: prepare(case))
        for case, code in PROCESSES.items():
            row(case, lambda side, code=code: process_seconds(sides[side].tree, code))
    finally:
        for child in sides.values():
            child.close()
    return rows, known["base"]["missing"]


def line(row):
    """A row in words."""
    if "ratio" not in row:
        return f"{row['case']}: failed, {row['failed']}"
    base, new = (tables.microseconds(row[side]) for side in ("base", "new"))
    return f"{row['case']}: {base} -> {new} us, {row['ratio']:.3f}"


def page(result):
    """The Markdown page of a result."""
    rows = [
        [row["case"], *(tables.microseconds(row[side]) for side in ("base", "new")), f"{row['ratio']:.3f}"]
        if "ratio" in row
        else [row["case"], None, None, row["failed"]]
        for row in result["rows"]
    ]
    missing = f"\n\nNot installed here: {', '.join(result['missing'])}." if result["missing"] else ""
    table = tables.markdown(["case", "old, us", "new, us", "new / old"], rows)
    return (
        f"# Two trees in turns\n\n{machine.sentence(result['machine'])}\n\nBest of {result['rounds']} turns, processor time. "
        f"Old: {result['base']}; new: {result['new']}.{missing}\n\n{table}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="the folder that holds the package linkwork as it was")
    parser.add_argument("--new", required=True, help="... and as it is")
    parser.add_argument("--only", nargs="+", default=[""], help="cases with one of these in their names")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", help="a JSON file; the page is written beside it")
    given = parser.parse_args()
    described = machine.describe()
    with tempfile.TemporaryDirectory(prefix="linkwork-house-") as folder:
        rows, missing = measured(given.base, given.new, given.only, given.rounds, folder)
    result = {"machine": described, "base": str(Path(given.base).resolve()), "new": str(Path(given.new).resolve()),
              "rounds": given.rounds, "missing": missing, "rows": rows}  # fmt: skip
    print(page(result))
    if given.out:
        tables.write(given.out, result, page(result))


if __name__ == "__main__":
    main()
