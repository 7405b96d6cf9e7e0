"""What linkwork does not take as written, over all models of example-robot-data, dm_control and gymnasium.

    python -m benchmarks.features [--out benchmarks/results/features.json]

Loads every URDF and MJCF with the default options (`root` is the package, so that meshes are found) and counts remarks and
refusals by feature: a sentence without its names and numbers. The counts of an earlier run, in features-before.json beside the
result, stand in the same table. Writes JSON and a Markdown page.
"""

import argparse
import json
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import linkwork as lw
from benchmarks import machine, tables

PATTERNS = {"example_robot_data": "*.urdf", "dm_control": "*.xml", "gymnasium": "*.xml"}
QUOTED = re.compile(r"\"[^\"]*\"")
SEVERAL = re.compile(r"^(\w+?)s? \.\.\.(?:, \.\.\.)*(?: and (\d+) more)?$")  # `geoms "a", "b" and 3 more`, without the names
COUNTED = re.compile(r" \((\d+) of them\)$")
NUMBER = re.compile(r"(?<![\w.#])[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf)(?!\w)")


def folder(module):
    """Where the models of an installed package are; None where it is not installed."""
    if module == "example_robot_data":
        from benchmarks.robots import FOLDER

        return Path(FOLDER)
    spec = find_spec(module)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def models():
    """{name: (path, the folder that may be read)} of all models that are installed."""
    found = {}
    for package, pattern in PATTERNS.items():
        root = folder(package)
        for path in sorted(root.rglob(pattern)) if root else ():
            if pattern == "*.urdf" or re.search(r"<mujoco[\s>]", path.read_text(encoding="utf-8", errors="replace")):
                found[f"{package}/{path.relative_to(root)}"] = path, root
    return found


def feature(remark):
    """(what it speaks of, why, how many of them), without names and numbers."""
    plain, times = QUOTED.sub("...", remark.what), 1
    names = len(QUOTED.findall(remark.what))
    if several := SEVERAL.match(plain):
        plain, times = several[1], names + int(several[2] or 0)
    elif counted := COUNTED.search(plain):
        plain, times = plain[: counted.start()], int(counted[1])
    if plain.startswith("<option "):
        plain = "<option>"
    why = re.sub(r"\.\.\.(?:, \.\.\.)+", "...", QUOTED.sub("...", remark.why))
    return NUMBER.sub("#", plain), NUMBER.sub("#", why), times


def told(path, root):
    """[(what, why, count)] of one model; a refusal is one of them."""
    options = {"meshes": "as found"} if path.suffix == ".urdf" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        try:
            world = lw.load(path, root=root, **options)
        except lw.LinkworkError as error:
            why = re.sub(r"^(/\S*\.(?:xml|urdf)(?::\d+)?: )", "", str(error))
            why = re.sub(r"/\S+", "...", QUOTED.sub("...", why))
            return [("refused", NUMBER.sub("#", why), 1)]
    return [feature(remark) for remark in world.remarks]


def count(only=""):
    """The result: per feature, how often it is told and by how many models."""
    features, seen = {}, 0
    for name, (path, root) in models().items():
        if only not in name:
            continue
        seen += 1
        for what, why, times in told(path, root):
            row = features.setdefault(f"{what}: {why}", {"count": 0, "models": []})
            row["count"] += times
            row["models"] = sorted({*row["models"], name})
    rows = [{"feature": key, "count": row["count"], "models": len(row["models"]), "first": row["models"][0]}
            for key, row in features.items()]  # fmt: skip
    return {"machine": machine.describe(), "models": seen,
            "rows": sorted(rows, key=lambda row: (-row["models"], -row["count"], row["feature"]))}  # fmt: skip


def page(result, before):
    """The result for people, beside an earlier one."""
    now = {row["feature"]: row for row in result["rows"]}
    then = {row["feature"]: row for row in before["rows"]} if before else {}
    rows = []
    for name in sorted({**then, **now}, key=lambda name: (-then.get(name, now.get(name))["models"], name)):
        cells = [
            found.get(name, {}).get(key, 0) for key in ("models", "count") for found in ((then, now) if before else (now,))
        ]
        rows.append([name.replace("|", "\\|"), *cells, (now.get(name) or then[name])["first"]])
    header = ["feature", *(["models before", "models", "told before", "told"] if before else ["models", "told"]), "such as"]
    lengths = f"{len(now)} features" + (f", where there were {len(then)}" if before else "")
    return "\n".join([
        "# What is not taken as written", "",
        f"{result['models']} models of example-robot-data, dm_control and gymnasium: {lengths}. A feature is a remark or a "
        "refusal without its names and numbers; `models` have it, and it is `told` so often.", "",
        tables.markdown(header, rows), "", machine.sentence(result["machine"]),
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/features.json")
    parser.add_argument("--only", default="", help="models whose name has this in it")
    given = parser.parse_args()
    earlier = Path(given.out).with_name("features-before.json")
    before = json.loads(earlier.read_text()) if earlier.is_file() and earlier != Path(given.out) else None
    result = count(given.only)
    if given.only:
        print(page(result, None))
    else:
        tables.write(given.out, result, page(result, before))


if __name__ == "__main__":
    main()
