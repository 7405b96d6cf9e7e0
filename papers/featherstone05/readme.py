"""The numbers of README.md, from results.json: `python -m papers.featherstone05.readme` writes them between its markers."""

# ruff: noqa: E501 (a sentence of the page is not broken where its numbers stand)
import json
from itertools import pairwise
from pathlib import Path

from benchmarks import machine
from benchmarks.tables import fill, markdown, microseconds
from papers.featherstone05.large import FROM
from papers.verdicts import said, span

FOLDER = Path(__file__).parent


def blocks(result):
    """Marker -> what stands below it."""
    found = {
        "machine": machine.sentence(result["machine"]),
        "claims": _claims(result["claims"]),
        "rule of thumb": _rule(result["rule_of_thumb"]),
        "nested": _nested(result["nested"]),
        "reversed Cholesky": _reversed(result["reversed_cholesky"], len(result["accuracy"])),
        "factor": _ways(result["times"]["ways"], "factor"),
        "solve": _ways(result["times"]["ways"], "solve"),
        "both": _ways(result["times"]["ways"], "both"),
        "maximal": _maximal(result["times"]["maximal"]),
        "rates": _rates(result["times"]["stages"]),
        "fitted": _fitted(result["times"]["stages"]),
        "dynamics": _dynamics(result["times"]["stages"]),
        "dynamics in words": _dynamics_in_words(result["times"]["stages"], result["claims"]),
        "own counts": _own_counts(result["own_counts"]),
        "large": _large(result["large"]),
        "large in words": _large_in_words(result["large"]),
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


def _reversed(worst, trees):
    return (
        f"Over random inertia matrices of {trees} trees `ltl` and R G R differ by at most {worst:.0e} of their largest number."
    )


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
    humanoid, chain = (times[name] for name in ("humanoid", "chain"))
    alike = said(0.9 < humanoid / chain < 1.1, ": it does not mind branches", "")
    return (
        f"M, J, factor and solve in maximal coordinates (solver `tree`): {microseconds(humanoid)} µs for the humanoid, "
        f"{microseconds(chain)} for the chain{alike}."
    )


def _dynamics(stages):
    """The two trees of the paper are the last samples of each stage: the humanoid, then the chain."""
    found = {stage: [sample["seconds"] for sample in stages[stage]["samples"][-2:]] for stage in stages}
    found["crba, rnea and solve"] = [sum(found[stage][k] for stage in ("crba", "rnea", "solve")) for k in (0, 1)]
    lines = [
        [stage, *(f"{1e6 * seconds:.2f}" for seconds in times), f"{times[1] / times[0]:.2f}"] for stage, times in found.items()
    ]
    return markdown(["µs a state", "humanoid", "chain", "chain / humanoid"], lines)


def _dynamics_in_words(stages, claims):
    """The paper's ratios (section 6) against those of the times above."""
    printed = {claim["what"]: claim["printed"] for claim in claims}
    humanoid, chain = ({stage: found["samples"][k]["seconds"] for stage, found in stages.items()} for k in (-2, -1))
    both = [sum(one[stage] for stage in ("crba", "rnea", "solve")) for one in (humanoid, chain)]
    slower = both[0] / humanoid["aba"] - 1
    return (
        f"Measured, the chain takes {chain['crba'] / humanoid['crba']:.2f} times as long by CRBA (the paper counts, for a = m and a = 0: "
        f"{printed['CRBA: chain over humanoid, a = m and a = 0']}) and\n{both[1] / both[0]:.2f} times in all "
        f"({printed['forward dynamics: chain over humanoid, a = m and a = 0']}). By the inertia matrix the humanoid takes "
        f"{abs(100 * slower):.0f} % {'more' if slower > 0 else 'less'} time than by ABA; the paper\ncounts "
        f"{printed['humanoid: slower than the ABA, a = m and a = 0']} more."
    )


def _fitted(stages):
    samples = next(iter(stages.values()))["samples"]
    rows = [sample["rows"] for sample in samples]
    return (
        f"All of it takes about so much, fitted to {len(samples)} trees of {min(rows)} to {max(rows)} freedoms, which is what\n"
        '`solver="auto"` goes by:'
    )


def _own_counts(rows):
    lines = [
        [
            r["stage"],
            r["tree"],
            *(f"{m:,}m + {a:,}a" for m, a in (r["paper"], r["own"])),
            f"{sum(r['own']) / sum(r['paper']):.2f}",
        ]
        for r in rows
    ]
    return markdown(["stage", "tree", "the paper's formulae", "linkwork's kernels", "ratio"], lines)


def _large(found):
    lines = [
        [r["family"], f"{r['n']:,}", r["way"], f"{r['operations']:,}", microseconds(r["seconds"]),
         f"{1e9 * r['seconds'] / r['operations']:.2f}", None if r["lapack"] is None else microseconds(r["lapack"])]
        for r in found["rows"]
    ]  # fmt: skip
    header = ["family", "n", "way", "operations", "`lw.reduced.ltdl`, µs", "ns an operation", "LAPACK dpotrf, µs"]
    return markdown(header, lines)


def _large_in_words(found):
    """Exponents, and the largest step in time per operation from one size to the next."""
    texts, steps = [], []
    for name, slopes in found["slopes"].items():
        own = [row for row in found["rows"] if row["family"] == name]
        if slopes["seconds"] is not None:
            texts.append(f"{name} {slopes['seconds']:.2f} ({slopes['operations']:.2f})")
        rates = [row["seconds"] / row["operations"] for row in own if row["n"] >= FROM]
        steps += [b / a for a, b in pairwise(rates)]
    text = f"From {FROM} rows on time grows with n to the power (and the operations): {', '.join(texts)}."
    if steps:
        text += f"\nFrom one size to the next, the time of an operation grows by {max(steps):.1f} times at most."
    return text


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
    """The paper's remark, tree by tree, and how far the errors lie from LAPACK's."""

    def ratios(way, part):
        return [row["errors"][way][part] / row["errors"]["LAPACK Cholesky"][part] for row in rows]

    zeros = [row for row in rows if row["density"] < 1]
    better = {
        part: [row["tree"] for row, ratio in zip(rows, ratios("LTDL", part), strict=True) if row in zeros and ratio < 1]
        for part in ("factor", "solution")
    }
    named = {part: f"{len(trees)} of {len(zeros)}{_named(trees)}" for part, trees in better.items()}
    least = min(zip(ratios("LTDL", "solution"), (row["tree"] for row in rows), strict=True))[1]
    sparsest = min(rows, key=lambda row: row["density"])["tree"]
    printed = [
        b / a
        for part in ("factor", "solution")
        for a, b in zip(ratios("LTDL", part), ratios("LTDL as printed", part), strict=True)
    ]
    return (
        f"More accurate than LAPACK's Cholesky are the factors of LTDL on {named['factor']} of the trees with zeros, its solutions on\n"
        f"{named['solution']}: {said(all(len(t) == len(zeros) for t in better.values()), 'as the remark says', 'the remark does not hold for the others')}.\n"
        f"Errors of LTDL are {span(ratios('LTDL', 'factor'))} of LAPACK's in the factors and {span(ratios('LTDL', 'solution'))} in the solutions"
        f"{said(least == sparsest, ', least on the tree with most zeros', '')}. Where every update is\n"
        f"taken off at once, as printed, they are {span(printed)} times those of linkwork, which first sums what a run of rows takes off."
    )


def _named(trees):
    return f" ({', '.join(trees)})" if trees else ""


def main():
    fill(FOLDER / "README.md", blocks(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
