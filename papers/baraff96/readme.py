"""The numbers of README.md, from results.json: `python -m papers.baraff96.readme` writes them between its markers."""

import json
from pathlib import Path

from benchmarks.tables import fill, markdown
from papers.baraff96 import words
from papers.baraff96.auxiliary import ROUGH
from papers.baraff96.timing import slope
from papers.baraff96.words import ACCURACY, CLAIMS, ERRATA
from papers.verdicts import digits, linear, span

FOLDER = Path(__file__).parent


def blocks(result):
    """Marker -> what stands below it."""
    known = numbers(result)
    claims = [[_text(part, known) for part in line] for line in CLAIMS]
    errata = [_erratum(found, known) for found in result["errata"]]
    accuracy = [[f"{row['ratio']:.0e}", *(one_digit(row[key]) for key in ACCURACY)] for row in result["accuracy"]]
    found = {
        "claims": markdown(["where", "the paper says", "we find"], claims),
        "errata": markdown(["place", "printed", "what it should be", "error as printed", "put right"], errata),
        "call": f"The time of an empty table ({known['call']:.1f} us, a call from Python) is taken off each part.",
        "footnote 8": words.footnote_8(known),
        "near it": words.near_footnote_8(known),
        "accuracy": markdown(["mass ratio", *ACCURACY.values()], accuracy) + "\n\n" + words.accuracy(known),
        "inequalities": words.inequalities(known),
        "workless": words.workless(known),
    }
    return {f"results.json: {name}": text for name, text in found.items()}


def _text(part, known):
    """Words of a claim: text with names of numbers, or a function of them."""
    return part(known) if callable(part) else part.format(**known)


def _erratum(found, known):
    texts = [text.format(**known) for text in ERRATA[found["place"]]]
    return [*texts, *(one_digit(found[key]) for key in ("error_printed", "error_right"))]


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
        "largest_ratio": max(
            one[kind]["factor_over_solve"] for one in result["sizes"].values() for kind in ("seconds", "arithmetic")
        ),
        "call": 1e6 * result["sizes"]["space"]["call"],
        **_of_auxiliary(result["auxiliary"]),
        **_of_footnote_8(result),
        **_of_accuracy(result["accuracy"]),
        **_of_contacts(result["inequalities"]),
        "workless": result["workless"],
    }


def cells(multipliers):
    """(structure, way, n) -> row."""
    return {(row["structure"], row["way"], row["n"]): row for row in multipliers["rows"]}


def _lower_triangle(structure, n):
    """Numbers of the lower triangle of H in blocks: n balls of three rows, bodies of six; a star has a hub, a chain an end on
    the ground."""
    bodies, blocks = (n, 2 * n - 1) if structure == "chain" else (n + 1, 2 * n)
    return 21 * bodies + 6 * n + 18 * blocks


def _of_multipliers(multipliers):
    cell = cells(multipliers)
    time, stored = ({(s["structure"], s["way"]): s[key] for s in multipliers["slopes"]} for key in ("time", "stored"))
    ordered, linkwork, banded = "H, SuperLU, tree's order", "H, linkwork", "A, banded Cholesky"
    rivals = {way: row["seconds"] for (name, way, n), row in cell.items() if (name, n) == ("chain", 10_000) and way != linkwork}
    closest = min(rivals, key=rivals.get)
    ratios = [cell[s, ordered, 10_000]["seconds"] / cell[s, linkwork, 10_000]["seconds"] for s in ("chain", "star")]
    return {
        "banded_slope": time["chain", banded],
        "banded_is_linear": linear(time["chain", banded]),
        "closest": "it" if closest == banded else f"`{closest}`",
        "closest_ms": 1e3 * rivals[closest],
        "linkwork_ms": 1e3 * cell["chain", linkwork, 10_000]["seconds"],
        "star_slope": time["star", "A, SuperLU"],
        "star_is_dense": all(row["stored"] == 3 * n * (3 * n + 1) for (name, way, n), row in cell.items()
                             if (name, way) == ("star", "A, SuperLU")),
        "star_over_dense": cell["star", "A, SuperLU", 1000]["seconds"] / cell["star", "A, dense Cholesky", 1000]["seconds"],
        "no_fill": all(row["stored"] == _lower_triangle(name, n) for (name, way, n), row in cell.items() if way == linkwork),
        "ordered": span(ratios, ".0f"),
        "ordered_stored": stored["star", ordered],
        "chosen": cell["star", "H, SuperLU", 3000]["stored"] / 1e6,
        "given": cell["star", ordered, 3000]["stored"] / 1e6,
    }  # fmt: skip


def _of_growth(growth):
    slopes = {(s["solver"], s["structure"]): s["slope"] for s in growth["slopes"]}
    trees = [value for (solver, _), value in slopes.items() if solver == "tree"]
    dense = max((row for row in growth["rows"] if row["solver"] == "dense"), key=lambda row: row["n"])
    a_joint = [1e9 * row["seconds"] / row["n"] for row in growth["rows"] if row["solver"] == "tree" and row["n"] >= 100]
    return {
        "dense_seconds": dense["seconds"],
        "dense_joints": dense["n"],
        "dense_slope": slopes["dense", "chain"],
        "chain_slope": slopes["tree", "chain"],
        "hub_slope": slopes["tree", "star"],
        "binary_slope": slopes["tree", "binary tree"],
        "trees_are_linear": all(map(linear, trees)),
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
        "loops_rest": 1e6 * (loops["anticipation"] - tree["anticipation"] - loops["seconds"]["W"] - loops["seconds"]["divide"]),
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
    rows, near = result["near_footnote_8"], {row["scale"]: row for row in result["near_footnote_8"]}
    scales = (1e-2, 1e-4, 1e-6)
    below = [near[scale]["below"] for scale in scales]
    found = {
        "condition": near[1e-4]["condition of A"],
        "near": below,
        "near_power": slope(scales, below),
        "near_above": max(row["above"] for row in rows),
        "near_linkwork": max(row["linkwork"] for row in rows),
        "full_rank": all(case["rank"] == case["rows"] for case in result["footnote_8"]),
        "counterexamples": all(case["rank"] == case["rows"] and min(map(abs, case["pivot"])) < 1e-12
                               for case in result["footnote_8"]),
    }  # fmt: skip
    for name, case in zip(("leaf", "puck"), result["footnote_8"], strict=True):
        found[name], found[f"{name}_reordered"] = (_listed(case[key]) for key in ("pivot", "pivot_reordered"))
        found[f"{name}_error"] = case["error_of_linkwork"]
    return found


def _of_accuracy(rows):
    worst, ours, dense = rows[-1], "LDL^T of blocks (linkwork)", "dense LU (LAPACK)"
    return {
        "digits_kept": digits(worst["explicit inverse (App. A)"], worst[ours]),
        "digits_lost": digits(worst[ours], worst[dense]),
        "digits_unpivoted": digits(worst["same order, no pivoting (SuperLU)"], worst[dense]),
        "digits_pivoted": digits(worst["same order, pivoting (SuperLU)"], worst[dense]),
        "price_from": next((f"{row['ratio']:.0e}" for row in rows if row[ours] > 1e-12), "no ratio tried"),
    }


def _of_contacts(found):
    def listed(values):
        return ", ".join(f"{abs(x) if abs(x) < 5e-4 else x:.3f}" for x in values)

    cases = {}
    for name, case in found["cases"].items():
        ours = case["by contact"]
        error = max(abs(x - y) for each in ours.values() for x, y in zip(each, case["mu"], strict=True)) / max(case["mu"])
        cases[name] = {"mu": listed(case["mu"]), "a": listed(case["a"]), "by contact": listed(ours["anticipation"]),
                       "held": listed(case["held"]), "error": error}  # fmt: skip
    seconds = found["seconds"]
    return {
        "contact_cases": cases,
        "contact_subsets": " and ".join(str(n) for n in sorted({case["subsets"] for case in found["cases"].values()})),
        **{f"touching_{solver}": 1e6 * seconds[solver]["contacts"] for solver in seconds},
        **{f"untouched_{solver}": 1e6 * seconds[solver]["none"] for solver in seconds},
    }


def _listed(values):
    return ", ".join(f"{x:.0f}" for x in values)


def main():
    """Rewrite README.md between its markers."""
    fill(FOLDER / "README.md", blocks(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
