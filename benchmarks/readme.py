"""The README's table, from the committed results: `python -m benchmarks.readme` writes it between its two markers."""

import json
from pathlib import Path

from benchmarks import tables

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def table():
    """Microseconds a step of linkwork and its peers, and what a long chain and a start cost."""
    chains = json.loads((RESULTS / "chains.json").read_text())
    startup = json.loads((RESULTS / "startup.json").read_text())
    rows = chains["race"]
    labels = list(dict.fromkeys(row["contestant"] for row in rows))
    work = {row["contestant"]: row["work"] for row in rows}
    header = ["one step, microseconds", *(f"{label}{'' if work[label] == 'step' else ' `aba` alone'}" for label in labels)]
    cells = {(row["n"], row["joint"], row["contestant"]): row["seconds"] for row in rows}
    lines = []
    for n, joint in dict.fromkeys((row["n"], row["joint"]) for row in rows):
        seconds = [cells[n, joint, label] for label in labels]
        lines.append([f"chain of {n:,} {joint}s", *("-" if s is None else tables.microseconds(s) for s in seconds)])
    return f"{tables.markdown(header, lines)}\n\n{_sentence(chains, startup)}"


def _sentence(chains, startup):
    longest = {row["integrator"]: row for row in chains["growth"]}  # rows go from short to long
    euler, drift = longest["euler"], chains["drift"]
    spent = {name: f"{case['processor']:.1f} s" for name, case in startup["cases"].items()}
    return (
        f"{euler['n']:,} links: built and compiled in {euler['build_seconds'] + euler['compile_seconds']:.1f} s, "
        f"{1e9 * euler['seconds_a_link']:.0f} ns a link and step, {euler['nbytes'] / euler['n'] / 1e3:.1f} KB a link. "
        f"Drift of `rattle` over {drift['steps']:,} steps: {drift['largest']:.0e} m. "
        f"From starting Python to the first step, of processor time: {spent['cold: empty caches']} with empty caches, "
        f"{spent['warm']} with warm ones; of boxes in contact {spent['box-stack, clone, empty caches']} from a clone, "
        f"{spent['box-stack, wheel, empty caches']} from a wheel, {spent['box-stack, warm']} with warm caches."
    )


def blocks():
    """Marker -> what stands below it."""
    return {"benchmarks/results/chains.json": table()}


def main():
    """Rewrite the README between the markers."""
    tables.fill(ROOT / "README.md", blocks())


if __name__ == "__main__":
    main()
