"""The numbers of README.md, from results.json: `python -m papers.featherstone05.readme` writes them between its markers."""

import json
from pathlib import Path

from benchmarks import machine
from benchmarks.tables import fill, markdown, microseconds

FOLDER = Path(__file__).parent


def blocks(result):
    """Marker -> what stands below it."""
    found = {
        "machine": machine.sentence(result["machine"]),
        "claims": _claims(result["claims"]),
        "rule of thumb": _rule(result["rule_of_thumb"]),
        "nested": _nested(result["nested"]),
        "reversed Cholesky": _reversed(result["reversed_cholesky"]),
        "factor": _ways(result["times"]["ways"], "factor"),
        "solve": _ways(result["times"]["ways"], "solve"),
        "both": _ways(result["times"]["ways"], "both"),
        "maximal": _maximal(result["times"]["maximal"]),
        "rates": _rates(result["times"]["stages"]),
        "dynamics": _dynamics(result["times"]["stages"]),
        "accuracy": _accuracy(result["accuracy"]),
        "accuracy in words": _accuracy_in_words(result["accuracy"]),
    }
    return {f"results.json: {name}": text for name, text in found.items()}


def _claims(rows):
    lines = [[r["where"], r["what"], r["printed"], r["found"], "yes" if r["printed"] == r["found"] else "**no**"] for r in rows]
    return markdown(["where", "what", "printed", "found", "the same"], lines)


def _rule(rows):
    lines = [
        [r["tree"], r["n"], *(f"{x:.2f}" for x in (r["density"], r["density"] ** 2, r["factor"], r["solve"]))] for r in rows
    ]
    return markdown(["tree", "n", "α", "α²", "factor: part of dense", "solve: part of dense"], lines)


def _nested(trees):
    keys = ("n", "zeros", "numbers below the diagonal", "envelope", "zeros inside", "zeros inside as numbered")
    header = [
        "tree",
        "n",
        "zeros",
        "D₁",
        "numbers in the envelope, nested",
        "zeros among them",
        "zeros in the envelope as numbered",
    ]
    return markdown(header, [[name, *(found[key] for key in keys)] for name, found in trees.items()])


def _reversed(worst):
    return f"Over random inertia matrices of five trees `ltl` and R G R differ by at most {worst:.0e} of their largest number."


def _ways(trees, part):
    ways = list(trees["humanoid"][part])
    lines = []
    for way in ways:
        cells = [
            f"{microseconds(found[part][way])} ({found[part][way] / found[part][ways[0]]:.2f})" for found in trees.values()
        ]
        lines.append([way, *cells])
    return markdown(["µs a matrix (part of LAPACK's)", *trees], lines)


def _maximal(times):
    humanoid, chain = (microseconds(times[name]) for name in ("humanoid", "chain"))
    return (
        f"M, J, factor and solve in maximal coordinates (solver `tree`): {humanoid} µs for the humanoid, {chain} for the chain."
    )


def _dynamics(stages):
    """The two trees of the paper are the last samples of each stage: the humanoid, then the chain."""
    found = {stage: [sample["seconds"] for sample in stages[stage]["samples"][-2:]] for stage in stages}
    found["crba, rnea and solve"] = [sum(found[stage][k] for stage in ("crba", "rnea", "solve")) for k in (0, 1)]
    lines = [
        [stage, *(f"{1e6 * seconds:.2f}" for seconds in times), f"{times[1] / times[0]:.2f}"] for stage, times in found.items()
    ]
    return markdown(["µs a state", "humanoid", "chain", "chain / humanoid"], lines)


def _rates(stages):
    lines = [[stage, f"{1e9 * found['row']:.2f}", f"{1e9 * found['operation']:.3f}"] for stage, found in stages.items()]
    return markdown(["stage", "ns a freedom", "ns an operation"], lines)


def _accuracy(rows):
    ways = list(rows[0]["errors"])
    lines = [
        [r["tree"], f"{r['density']:.2f}", f"{r['condition']:.0e}",
         *(f"{r['errors'][way]['factor']:.1e}, {r['errors'][way]['solution']:.1e}" for way in ways)] for r in rows
    ]  # fmt: skip
    return markdown(["tree", "density", "condition", *ways], lines)


def _accuracy_in_words(rows):
    def against_lapack(way, part):
        found = [row["errors"][way][part] / row["errors"]["LAPACK Cholesky"][part] for row in rows]
        return f"{min(found):.1f} to {max(found):.1f}"

    factor, solution, factor_printed, solution_printed = (
        against_lapack(way, part) for way in ("LTDL", "LTDL as printed") for part in ("factor", "solution")
    )
    return (
        f"LTDL's errors are {factor} of LAPACK's in the factors and {solution} in the solutions, least on the tree with most\n"
        f"zeros. As printed they are {factor_printed} and {solution_printed}: there every update is taken off at once, and\n"
        "rounded at the size of the entry, where linkwork first sums what a run of rows takes off."
    )


def main():
    fill(FOLDER / "README.md", blocks(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
