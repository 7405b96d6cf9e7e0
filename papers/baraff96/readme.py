"""The numbers of README.md, from results.json: `python -m papers.baraff96.readme` writes them between its markers."""

import json
from pathlib import Path

from benchmarks.tables import fill, markdown
from papers.baraff96.auxiliary import ROUGH
from papers.baraff96.words import ACCURACY, CLAIMS, ERRATA, FOOTNOTE_8, NEAR_FOOTNOTE_8

FOLDER = Path(__file__).parent


def blocks(result):
    """Marker -> what stands below it."""
    known = numbers(result)
    claims = [[text.format(**known) for text in line] for line in CLAIMS]
    errata = [_erratum(found, known) for found in result["errata"]]
    accuracy = [[f"{row['ratio']:.0e}", *(one_digit(row[key]) for key in ACCURACY)] for row in result["accuracy"]]
    found = {
        "claims": markdown(["where", "the paper says", "we find"], claims),
        "errata": markdown(["place", "printed", "what it should be", "error as printed", "put right"], errata),
        "footnote 8": FOOTNOTE_8.format(**known),
        "near it": NEAR_FOOTNOTE_8.format(**known),
        "accuracy": markdown(["mass ratio", *ACCURACY.values()], accuracy),
    }
    return {f"results.json: {name}": text for name, text in found.items()}


def _erratum(found, known):
    words = [text.format(**known) for text in ERRATA[found["place"]]]
    return [*words, *(one_digit(found[key]) for key in ("error_printed", "error_right"))]


def one_digit(value):
    """Small errors in one digit, others in three, words as they are."""
    return value if isinstance(value, str) else f"{value:.0e}" if 0 < value < 0.1 else f"{value:.3g}"


def numbers(result):
    """Everything that the words name."""
    return {
        "worst_forest": result["worst_forest"],
        **_of_multipliers(result["multipliers"]),
        **_of_growth(result["growth"]),
        **_of_size("plane", result["sizes"]["plane"]),
        **_of_size("space", result["sizes"]["space"]),
        "faster": _times_faster(result["sizes"]["space"]),
        **_of_auxiliary(result["auxiliary"]),
        **_of_footnote_8(result),
    }


def cells(multipliers):
    """(structure, way, n) -> row."""
    return {(row["structure"], row["way"], row["n"]): row for row in multipliers["rows"]}


def _of_multipliers(multipliers):
    cell, slope = cells(multipliers), {(s["structure"], s["way"]): s["time"] for s in multipliers["slopes"]}
    ordered, linkwork = "H, SuperLU, tree's order", "H, linkwork"
    return {
        "banded_slope": slope["chain", "A, banded Cholesky"],
        "banded_ms": 1e3 * cell["chain", "A, banded Cholesky", 10_000]["seconds"],
        "linkwork_ms": 1e3 * cell["chain", linkwork, 10_000]["seconds"],
        "star_slope": slope["star", "A, SuperLU"],
        "ordered": sorted(
            cell[s, ordered, 10_000]["seconds"] / cell[s, linkwork, 10_000]["seconds"] for s in ("chain", "star")
        ),
        "chosen": cell["star", "H, SuperLU", 3000]["stored"] / 1e6,
        "given": cell["star", ordered, 3000]["stored"] / 1e6,
    }


def _of_growth(growth):
    slope = {(s["solver"], s["structure"]): s["slope"] for s in growth["slopes"]}
    dense = max((row for row in growth["rows"] if row["solver"] == "dense"), key=lambda row: row["n"])
    a_joint = [1e9 * row["seconds"] / row["n"] for row in growth["rows"] if row["solver"] == "tree" and row["n"] >= 100]
    return {
        "dense_seconds": dense["seconds"],
        "dense_joints": dense["n"],
        "dense_slope": slope["dense", "chain"],
        "chain_slope": slope["tree", "chain"],
        "hub_slope": slope["tree", "star"],
        "binary_slope": slope["tree", "binary tree"],
        "quickest": min(a_joint),
        "slowest": max(a_joint),
    }


def _of_size(name, size):
    return {
        f"{name}_ratio": size["seconds"]["factor_over_solve"],
        f"{name}_count": size["arithmetic"]["factor_over_solve"],
        f"{name}_printed": size["appendix"]["ratio"],
        **{f"{name}_{part}": 1e6 * size["seconds"][part] for part in ("total", "J", "M")},
        f"{name}_tree": 1e6 * size["tree"],
    }


def _times_faster(size):
    return size["dense_cholesky"] / (size["seconds"]["elimination"] + size["seconds"]["backward"])


def _of_auxiliary(auxiliary):
    tree, loops, contacts = (auxiliary[key] for key in ("108", "96+12", "96+3"))
    rough = f"{ROUGH:g}"
    return {
        "loops_more": 1e6 * (loops["anticipation"] - tree["anticipation"]),
        **{f"loops_{part}": 1e6 * loops["seconds"][part] for part in ("W", "divide")},
        "loops_tree": 1e6 * loops["tree"],
        "loops_tree_more": 1e6 * (loops["tree"] - tree["tree"]),
        "contacts_total": 1e6 * contacts["anticipation"],
        "contacts_W": 1e6 * contacts["seconds"]["W"],
        "contacts_tree": 1e6 * contacts["tree"],
        "contacts_faster": contacts["dense_cholesky"] / contacts["tree"],
        "cg_tree": tree["cg"][rough]["seconds"] / tree["tree"],
        "cg_iterations": tree["cg"][rough]["iterations"],
        "cg_anticipation": loops["cg"][rough]["seconds"] / loops["anticipation"],
        "cg_loops": loops["cg"][rough]["seconds"] / loops["tree"],
        "cg_space": auxiliary["381"]["cg"][rough]["seconds"] / auxiliary["381"]["tree"],
    }


def _of_footnote_8(result):
    near = {row["scale"]: row for row in result["near_footnote_8"]}
    found = {"condition": near[1e-4]["condition of A"], "near": [near[scale]["below"] for scale in (1e-2, 1e-4)]}
    for name, case in zip(("leaf", "puck"), result["footnote_8"], strict=True):
        found[name], found[f"{name}_reordered"] = (_listed(case[key]) for key in ("pivot", "pivot_reordered"))
    return found


def _listed(values):
    return ", ".join(f"{x:.0f}" for x in values)


def main():
    """Rewrite README.md between its markers."""
    fill(FOLDER / "README.md", blocks(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
