"""Broken files by the thousand: each is loaded or refused in one sentence, in bounded time and memory.

    python -m tests.formats.fuzz --kind urdf --count 10000

Files in `seeds/` (their endings say of which format they are; meshes beside them) are mutated by rules that a number chooses, so
a file that does harm is made again by `--only NUMBER`.
"""

import argparse
import contextlib
import itertools
import json
import re
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import linkwork as lw

SEEDS = Path(__file__).parent / "seeds"
ENDINGS = {"urdf": (".urdf",), "mjcf": (".xml", ".mjcf"), "scene": (".yaml", ".yml")}
MESHES = (".stl", ".obj", ".dae")
OPTIONS = {".urdf": {"meshes": "as found"}}  # with which more of a broken file is read
CALLS = 10_000_000  # of functions, that one file may take: the same on every machine
GROWTH = 500  # MB that memory may grow in all
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "fuzz.json"

NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
ATTRIBUTE = re.compile(rb'([\w:]+)="([^"]*)"')
ODD_NUMBERS = (b"nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e-320", b"0", b"-1", b"", b"x", b"1 2", b"1e999", b"9" * 400,
               b"0x10", b"1_0", b"\xef\xbc\x91", b"--1", b"1e30", b"-0.0", b"99999999999")  # fmt: skip
ODD_TEXTS = (b"", b" ", b"../../../../etc/passwd", b"/etc/passwd", b"package://../x.stl", b"file:///dev/zero", b"http://x/y.stl",
             b"a" * 5000, b"\xc3\xa9\xe2\x82\xac", b"&lt;&amp;", b"base", b"world", b"${x}", b"*a", b"{}", b"[", b"!!python/none x")  # fmt: skip
DOCTYPES = (
    b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>',
    b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    b'<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd">',
)


class Hang(BaseException):
    """Raised by the alarm: no `except Exception` stops it."""


@dataclass
class Outcome:
    """What came of many files."""

    counts: Counter = field(default_factory=Counter)
    harmful: list = field(default_factory=list)  # (number, what happened)
    slowest: float = 0.0  # s
    grown: float = 0.0  # MB


def seeds(kind):
    """The seed files of a format."""
    return sorted(path for path in SEEDS.iterdir() if path.suffix in ENDINGS[kind])


def mutated(data, rng, is_xml):
    """Bytes with one to three things broken."""
    rules = [*ANY_RULES, *(XML_RULES if is_xml else TEXT_RULES)]
    for _ in range(int(rng.integers(1, 4))):
        data = rules[int(rng.integers(len(rules)))](data, rng)
    return data


def _between(data, rng):
    """Two places in the data, in order."""
    a, b = sorted(int(x) for x in rng.integers(0, len(data) + 1, 2))
    return a, b


def _flip(data, rng):
    if not data:
        return data
    broken = bytearray(data)
    for at in rng.integers(0, len(data), int(rng.integers(1, 6))):
        broken[at] = int(rng.integers(0, 256))
    return bytes(broken)


def _truncate(data, rng):
    return data[: int(rng.integers(0, len(data) + 1))]


def _remove(data, rng):
    a, b = _between(data, rng)
    return data[:a] + data[min(b, a + 200) :]


def _double(data, rng):
    a, b = _between(data, rng)
    return data[:b] + data[a:]


def _replace_one(pattern, choices, group=0):
    def rule(data, rng):
        found = list(pattern.finditer(data))
        if not found:
            return data
        match, new = found[int(rng.integers(len(found)))], choices[int(rng.integers(len(choices)))]
        return data[: match.start(group)] + new + data[match.end(group) :]

    return rule


def _swap_values(data, rng):
    found = list(ATTRIBUTE.finditer(data))
    if len(found) < 2:
        return data
    i, j = sorted(int(x) for x in rng.choice(len(found), 2, replace=False))
    a, b = found[i], found[j]
    return data[: a.start(2)] + b[2] + data[a.end(2) : b.start(2)] + a[2] + data[b.end(2) :]


def _lines(change):
    def rule(data, rng):
        lines = data.split(b"\n")
        return b"\n".join(change(lines, int(rng.integers(len(lines))), rng))

    return rule


def _swap_lines(lines, at, rng):
    other = int(rng.integers(len(lines)))
    lines[at], lines[other] = lines[other], lines[at]
    return lines


def _nest(data, rng):
    depth, at = int(rng.choice([3, 250, 20_000])), int(rng.integers(0, len(data) + 1))
    return data[:at] + b"<link>" * depth + b"</link>" * depth + data[at:]


def _nest_text(data, rng):
    depth, at = int(rng.choice([3, 250, 20_000])), int(rng.integers(0, len(data) + 1))
    return data[:at] + b"[" * depth + b"]" * depth + data[at:]


def _element(change):
    """A rule on two elements of a sound XML, which stays one."""

    def rule(data, rng):
        try:
            root = ElementTree.fromstring(data)
        except (ElementTree.ParseError, LookupError, ValueError):
            return data
        above = {child: parent for parent in root.iter() for child in parent}
        if not above:
            return data
        below = list(above)
        one, other = (below[int(k)] for k in rng.integers(0, len(below), 2))
        try:
            change(one, other, above, rng)
            return ElementTree.tostring(root)
        except RecursionError:  # another rule has nested it that deep
            return data

    return rule


def _drop(one, other, above, rng):
    above[one].remove(one)


def _copy(one, other, above, rng):
    above[other].insert(int(rng.integers(0, len(above[other]) + 1)), deepcopy(one))


def _replace(one, other, above, rng):
    above[other][list(above[other]).index(other)] = deepcopy(one)


def _rename(one, other, above, rng):
    one.tag = other.tag


def _take_attribute(one, other, above, rng):
    if other.attrib:
        name = sorted(other.attrib)[int(rng.integers(len(other.attrib)))]
        one.set(sorted(one.attrib)[0] if one.attrib and rng.random() < 0.5 else name, other.get(name))


def _lose_attribute(one, other, above, rng):
    if one.attrib:
        del one.attrib[sorted(one.attrib)[int(rng.integers(len(one.attrib)))]]


def _declare(data, rng):
    head = DOCTYPES[int(rng.integers(len(DOCTYPES)))]
    at = data.find(b"?>") + 2 if b"?>" in data else 0
    return data[:at] + head + data[at:]


def _alias(data, rng):
    bomb = b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (k, k, b",".join([b"*a%d" % (k - 1)] * 9)) for k in range(1, 12))
    return bomb + data if rng.random() < 0.5 else data + b"\n" + bomb


ANY_RULES = [
    _flip,
    _truncate,
    _remove,
    _double,
    _replace_one(NUMBER, ODD_NUMBERS),
    _replace_one(NUMBER, ODD_NUMBERS),
    _lines(lambda lines, at, rng: lines[:at] + lines[at + 1 :]),
    _lines(lambda lines, at, rng: lines[:at] + lines[at : at + 1] * 2 + lines[at + 1 :]),
    _lines(_swap_lines),
]
XML_RULES = [
    _replace_one(ATTRIBUTE, ODD_TEXTS, 2),
    _replace_one(ATTRIBUTE, (b"x", b"name", b"nan"), 1),
    _swap_values,
    _nest,
    _declare,
    *(_element(change) for change in (_drop, _copy, _replace, _rename, _take_attribute, _lose_attribute)),
]
TEXT_RULES = [_replace_one(re.compile(rb": *([^\n]+)"), (*ODD_TEXTS, *ODD_NUMBERS), 1), _nest_text, _alias,
              _replace_one(re.compile(rb"^ +", re.MULTILINE), (b"", b" ", b"\t", b"        "))]  # fmt: skip


def make(number, kind, folder, seed=0):
    """File `number` of a format in the folder, where the seeds' meshes lie already; returns its path."""
    rng = np.random.default_rng([seed, number])
    choices = seeds(kind)
    chosen = choices[number % len(choices)]
    path = folder / chosen.name
    data = chosen.read_bytes()
    meshes = sorted(mesh for mesh in SEEDS.iterdir() if mesh.suffix in MESHES and mesh.name.encode() in data)
    for mesh in meshes:
        shutil.copy(mesh, folder / mesh.name)
    if meshes and rng.random() < 0.25:  # the model is sound, and a mesh that it names is not
        mesh = meshes[int(rng.integers(len(meshes)))]
        (folder / mesh.name).write_bytes(mutated(mesh.read_bytes(), rng, mesh.suffix == ".dae"))
    else:
        data = mutated(data, rng, chosen.suffix not in (".yaml", ".yml"))
    path.write_bytes(data)
    return path


def attempt(path):
    """("loaded", "remarked", "refused" or "harmful", what was said)."""
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            world = lw.load(path, **OPTIONS.get(path.suffix, {}))
        strange = [str(note.message) for note in told if not issubclass(note.category, lw.Note)]
        if strange:
            return "harmful", f"it warns: {strange[0]}"
        return ("remarked" if world.remarks else "loaded"), ""
    except lw.LinkworkError as error:
        said = str(error)
        sound = "\n" not in said and len(said) < 1500 and said.startswith(str(path.parent))
        return ("refused", said) if sound else ("harmful", f"it is refused by no sentence about the file: {said[:300]!r}")
    except Hang:
        return "harmful", f"it takes more than {CALLS} calls"
    except Exception as error:
        return "harmful", f"{type(error).__name__}: {error}"


def run(kind, numbers, seed=0, told=None):
    """The Outcome of files with these numbers."""
    outcome, before = Outcome(), _memory()
    with tempfile.TemporaryDirectory() as name:
        for number in numbers:
            path = make(number, kind, Path(name), seed)
            began = time.process_time()
            with bounded(CALLS):
                what, said = attempt(path)
            outcome.slowest = max(outcome.slowest, time.process_time() - began)
            outcome.counts[what] += 1
            if what == "harmful":
                outcome.harmful.append((number, said))
            if told:
                told(number, what, said)
    outcome.grown = _memory() - before
    return outcome


@contextlib.contextmanager
def bounded(calls):
    """Raises Hang once so many functions have been called."""
    left = itertools.repeat(None, calls)

    def count(frame, event, argument):
        if event in ("call", "c_call") and next(left, left) is left:
            sys.setprofile(None)
            raise Hang

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def _memory():
    """The largest memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(kind, count, outcome, seconds):
    """Add the outcome of a format to benchmarks/results/fuzz.json and fuzz.md."""
    from benchmarks import machine, tables

    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results[kind] = {"files": count, **{word: outcome.counts[word] for word in ("loaded", "remarked", "refused", "harmful")},
                     "slowest_seconds": round(outcome.slowest, 3), "memory_grown_mb": round(outcome.grown, 1),
                     "seconds": round(seconds, 1), "machine": machine.describe()}  # fmt: skip
    header = [
        "format",
        "files",
        "loaded",
        "with remarks",
        "refused in a sentence",
        "crash, hang or warning",
        "slowest, s",
        "memory grown, MB",
    ]
    rows = [[name, r["files"], r["loaded"], r["remarked"], r["refused"], r["harmful"], r["slowest_seconds"], r["memory_grown_mb"]]
            for name, r in sorted(results.items())]  # fmt: skip
    text = "# Broken files\n\nWritten by `python -m tests.formats.fuzz`: small sound files (`tests/formats/seeds`), each broken in one to three places\n"
    text += "(bytes, lines, numbers, attributes, nesting, entities, the meshes they name), and loaded.\n\n"
    text += tables.markdown(header, rows) + "\n"
    for name, result in sorted(results.items()):
        text += f"\n{name}: {machine.sentence(result['machine'])}"
    tables.write(RESULTS, results, text)


def main():
    words = argparse.ArgumentParser(prog="python -m tests.formats.fuzz", description=__doc__.split("\n")[0])
    words.add_argument("--kind", choices=ENDINGS, default="urdf")
    words.add_argument("--count", type=int, default=1000)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", type=int, help="one file by its number; it is kept, and what is said of it is printed")
    words.add_argument("--write", action="store_true", help="add the outcome to benchmarks/results/fuzz.md")
    given = words.parse_args()
    if given.only is not None:
        path = make(given.only, given.kind, Path(tempfile.mkdtemp()), given.seed)
        print(path, *attempt(path))
        return
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    run(given.kind, range(10), given.seed + 1)  # what is imported once is no growth
    began = time.perf_counter()
    outcome = run(given.kind, range(given.count), given.seed)
    seconds = time.perf_counter() - began
    print(
        f"{given.kind}: {dict(outcome.counts)}, slowest {outcome.slowest:.2f} s, memory grown by {outcome.grown:.0f} MB, {seconds:.0f} s"
    )
    for number, said in outcome.harmful[:20]:
        print(f"  {number}: {said}")
    if given.write:
        report(given.kind, given.count, outcome, seconds)
    sys.exit(1 if outcome.harmful or outcome.grown > GROWTH else 0)


if __name__ == "__main__":
    main()
