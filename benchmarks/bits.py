"""Two source trees, the same bits? Every scene with every solver and integrator; files, edits, grabs, resets, checkpoints.

    python -m benchmarks.bits --base /path/to/old/src --new /path/to/new/src [--only PATTERN] [--quick] [--out FILE.json]

One process a tree runs the same cases (bits_cases.py) at the same time; all that each can be asked is compared bit by bit, and
refusals word by word. Prints the cases that differ, by how much, and those that one tree alone has; exits 1 if there are any,
or if a case was lost. With --fresh each tree compiles all of its code anew, so that no stale machine code hides a change. All
cases take hours: --part K/N runs the K-th of every N, and FILE.json is written as the run goes on.
"""

import argparse
import base64
import fnmatch
import hashlib
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks import children, machine

STEPS, QUICK_STEPS = 200, 20
WHOLE = ("pair", "scene", "file", "reduced", "saved")  # cases of one run ...
EDIT_SHARE = 10  # ... others make several runs of steps / EDIT_SHARE
LIMIT = 300.0  # s for a case: with an empty cache, the code of contact is compiled in one of them
RENEWED = 400  # cases of a process, after which it is started anew: what it has compiled stays in memory
POSES = ("position", "orientation")
SHOWN = 40  # cases that are printed; all are in the file
WORDS = 2  # channels of words that are printed of a case
SLOW = 5.0  # s: a case worth a line while it goes on
SIDES = ("base", "new")
REPORTED = 100  # cases after which the file is written


def decoded(answer):
    """{channel: array} of an answer's numbers."""
    return {name: np.frombuffer(base64.b64decode(text)) for name, text in answer["numbers"].items()}


def digest(answer):
    """Of all that a case told."""
    return hashlib.blake2s(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:16]


def apart(old, new):
    """The largest difference of two arrays relative to the largest number of the first; None where the bits are the same."""
    if old.shape != new.shape:
        return float("inf")
    if old.tobytes() == new.tobytes():
        return None
    same = (old == new) | (np.isnan(old) & np.isnan(new))  # a zero with another sign, another NaN
    if same.all():
        return 0.0
    if not (np.isfinite(old[~same]).all() and np.isfinite(new[~same]).all()):
        return float("inf")
    return float(np.abs(new - old)[~same].max() / max(np.abs(old[np.isfinite(old)]).max(), np.finfo(float).tiny))


def difference(old, new):
    """What differs between two answers: {"numbers": {channel: relative}, "words": {channel: [old, new]}}, None if nothing does.
    A channel that one of them lacks is as far apart as can be."""
    numbers, words = {}, {}
    ours, theirs, nothing = decoded(old), decoded(new), np.zeros(0)
    for channel in sorted(ours.keys() | theirs.keys()):
        found = apart(ours.get(channel, nothing), theirs.get(channel, nothing))
        if found is not None or (channel in ours) != (channel in theirs):
            numbers[channel] = float("inf") if found is None else found
    for channel in sorted(old["words"].keys() | new["words"].keys()):
        pair = [old["words"].get(channel, []), new["words"].get(channel, [])]
        if pair[0] != pair[1]:
            k = next((k for k, (a, b) in enumerate(zip(*pair, strict=False)) if a != b), min(map(len, pair)))
            words[channel] = [texts[k] if k < len(texts) else None for texts in pair]  # the first ones that differ
    return {"numbers": numbers, "words": words} if numbers or words else None


def poses_apart(found):
    """The largest relative difference of poses in what `difference` found."""
    return max((found["numbers"][channel] for channel in POSES if channel in found["numbers"]), default=0.0)


def sentence(case, found):
    """One line for people: what ended first, then numbers by channel, then other words."""
    numbers, words = found["numbers"], dict(found["words"])
    far = [name for name, value in numbers.items() if value == float("inf")]
    parts = [f"poses {poses_apart(found):.1e} apart"]
    parts += [f"ends: {' -> '.join(map(_short, words.pop('ends')))}"] if "ends" in words else []
    parts += [f"{name} {value:.1e}" for name, value in numbers.items() if name not in far]
    parts += [f"not as many numbers, or not finite: {', '.join(far)}"] if far else []
    told = [f"{name}: {_short(old)} -> {_short(new)}" for name, (old, new) in words.items()]
    parts += told[:WORDS] + [f"{len(told) - WORDS} other channels of words"] * (len(told) > WORDS)
    return f"{case}: {'; '.join(parts)}"


def _short(text):
    return "nothing" if text is None else f'"{text if len(text) < 160 else text[:160] + " ..."}"'


class Comparison:
    """Cases run on both sides, one after another, and what came of them."""

    def __init__(self, sides, steps, limit, folder):
        self.sides, self.steps, self.limit, self.folder = sides, steps, limit, Path(folder)
        self.digests, self.different, self.lost, self.broken = {}, {}, {}, {}
        self.counts: Counter[str] = Counter()

    def cases(self):
        """({case: sides that have it})."""
        for child in self.sides.values():
            child.ask(do="cases")
        lists = {side: child.answer(self.limit) for side, child in self.sides.items()}
        return {case: [side for side in SIDES if case in lists[side]] for case in dict.fromkeys(lists["base"] + lists["new"])}

    def run(self, case):
        """Both trees run it at the same time."""
        most = self.steps if case.split("/")[0] in WHOLE else max(2, self.steps // EDIT_SHARE)
        folders = {side: str(self.folder / side / "files") for side in SIDES}
        for side, child in self.sides.items():
            child.ask(do="run", case=case, most=most, written=folders[side], read=folders["base"])
        answers = {}
        for side, child in self.sides.items():
            try:
                answers[side] = child.answer(self.limit)
            except children.Lost as why:
                self.lost.setdefault(case, {})[side] = str(why)
        if len(answers) == len(SIDES):
            self._compare(case, *(answers[side] for side in SIDES))

    def _compare(self, case, old, new):
        self.digests[case] = [digest(old), digest(new)]
        found = difference(old, new)
        if found is not None:
            self.different[case] = found
        for side, answer in zip(SIDES, (old, new), strict=True):
            wrong = [text for texts in answer["words"].values() for text in texts if text.startswith(children.BROKEN)]
            if wrong:
                self.broken.setdefault(case, {})[side] = wrong[0]
        self.counts["refused or stopped" if "ends" in old["words"] else "ran to the end"] += 1


def compare(given, told=lambda result: None):
    """The result, as plain data; `told` gets what there is of it every REPORTED cases."""
    begin, seconds = time.perf_counter(), {}

    def result():
        return {
            "machine": machine.describe(),
            **{side: str(Path(getattr(given, side)).resolve()) for side in SIDES},
            "steps": run.steps,
            "seconds": time.perf_counter() - begin,
            "processor_seconds": sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]),  # of both trees
            "slowest": dict(sorted(seconds.items(), key=lambda item: -item[1])[:10]),
            "cases": len(both),
            "counts": dict(run.counts),
            "only": {side: [case for case, has in known.items() if has == [side]] for side in SIDES},
            "different": run.different,
            "lost": run.lost,
            "broken": run.broken,
            "digests": run.digests,
        }

    with tempfile.TemporaryDirectory(prefix="linkwork-bits-") as folder:
        sides = children.pair("benchmarks.bits_cases", given.base, given.new, folder, given.fresh)
        try:
            run = Comparison(sides, QUICK_STEPS if given.quick else STEPS, given.limit, folder)
            known = {case: has for case, has in run.cases().items() if fnmatch.fnmatch(case, f"*{given.only}*")}
            both = [case for case, has in known.items() if len(has) == len(SIDES)][part(given.part)]
            for k, case in enumerate(both):
                if k % RENEWED == RENEWED - 1:
                    for child in sides.values():
                        child.close()
                before = time.perf_counter()
                run.run(case)
                seconds[case] = time.perf_counter() - before
                if seconds[case] > SLOW:
                    print(f"{case}: {seconds[case]:.0f} s", file=sys.stderr, flush=True)
                if k % REPORTED == REPORTED - 1:
                    print(f"{k + 1} of {len(both)} cases, {len(run.different)} differ", file=sys.stderr, flush=True)
                    told(result())
        finally:
            for child in sides.values():
                child.close()
    return result()


def part(text):
    """The K-th of every N cases, as a slice, from "K/N"."""
    number, count = map(int, text.split("/"))
    return slice(number - 1, None, count)


def verdict(result):
    """Whether the trees are the same: something was compared, nothing differs, is lost, or is in one of them alone."""
    return bool(result["digests"]) and not (result["different"] or result["lost"] or any(result["only"].values()))


def page(result):
    """The result for people."""
    lines = [sentence(case, found) for case, found in result["different"].items()]
    lines = lines[:SHOWN] + [f"... and {len(lines) - SHOWN} more"] * (len(lines) > SHOWN)
    lines += [f"{case}: in the {side} tree alone" for side, cases in result["only"].items() for case in cases]
    lines += [f"{case}: lost, {side}: {why}" for case, sides in result["lost"].items() for side, why in sides.items()]
    broken = result["broken"]
    lines += [f"{case}: {side} is {text}" for case, sides in list(broken.items())[:SHOWN] for side, text in sides.items()]
    counts = ", ".join(f"{count} {what}" for what, count in sorted(result["counts"].items()))
    lines.append(
        f"{result['cases']} cases of {result['steps']} steps or fewer in {result['seconds']:.0f} s "
        f"({result['processor_seconds']:.0f} s of processor time; {counts}): "
        f"{len(result['different'])} differ, {sum(map(len, result['only'].values()))} in one tree alone, "
        f"{len(result['lost'])} lost, {len(broken)} with errors that are no refusals."
    )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="the folder that holds the package linkwork as it was")
    parser.add_argument("--new", required=True, help="... and as it is")
    parser.add_argument("--only", default="", help='cases with this in their names; * and ? are allowed: "scene/*/tree/rattle"')
    parser.add_argument("--part", default="1/1", help="K/N: the K-th of every N cases, for a run that is made in parts")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_STEPS} steps in the place of {STEPS}")
    parser.add_argument("--fresh", action="store_true", help="with empty caches of compiled code")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a case")
    parser.add_argument("--out", help="a JSON file")
    given = parser.parse_args()

    def keep(result):
        if given.out:
            Path(given.out).write_text(json.dumps(result, indent=1) + "\n")

    result = compare(given, keep)
    print(page(result))
    keep(result)
    return 0 if verdict(result) else 1


if __name__ == "__main__":
    sys.exit(main())
