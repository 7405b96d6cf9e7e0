"""results.md: the tables of results.json for people."""

from benchmarks import machine
from benchmarks.tables import markdown, microseconds
from papers.baraff96.auxiliary import PRECISE, ROUGH
from papers.baraff96.multipliers import WAYS
from papers.baraff96.sizes import PAPER_RATIO, PAPER_SPEEDUP


def page(result):
    quick = " A quick run: small sizes only." if result["quick"] else ""
    parts = [
        "# baraff96: results",
        f"Written by `python -m papers.baraff96`; what it means is in [README.md](README.md).{quick}",
        machine.sentence(result["machine"]) + " One thread; best of several.",
        "## Sparsity\n\n![Sparsity of A and H for a chain and a star](sparsity.png)",
        "## Solving for the multipliers\n\n![Time and fill against n](multipliers.png)",
        *_multipliers(result["multipliers"]),
        "## The paper's sizes\n\n![Shares of the time](sizes.png)",
        _sizes(result["sizes"]),
        "## Section 9, auxiliary constraints and conjugate gradients\n\n![Parts of the time, and other ways](auxiliary.png)",
        _auxiliary(result["auxiliary"]),
        "## Time against n\n\n![Time against n](growth.png)",
        _growth(result["growth"]),
        "## Errata",
        _errata(result["errata"]),
        '### Footnote 8: "always either positive or negative definite"',
        _footnote(result["footnote_8"]),
        "## Accuracy\n\n![Errors](accuracy.png)",
        _accuracy(result["accuracy"]),
        _near(result["near_footnote_8"]),
    ]
    return "\n\n".join(parts) + "\n"


def _number(value):
    """Errors in two digits, words as they are."""
    return value if isinstance(value, str) else "0" if value == 0 else f"{value:.1e}" if value < 0.1 else f"{value:.3g}"


def _multipliers(result):
    """One table a structure: microseconds (numbers stored)."""
    for name in ("chain", "star"):
        rows = [r for r in result["rows"] if r["structure"] == name]
        ways = [way for way in WAYS if any(r["way"] == way for r in rows)]
        sizes = list(dict.fromkeys(r["n"] for r in rows))
        cells = {(r["way"], r["n"]): f"{microseconds(r['seconds'])} ({r['stored']:,})" for r in rows}
        slopes = {s["way"]: s for s in result["slopes"] if s["structure"] == name}
        lines = [[way, *(cells.get((way, n), "-") for n in sizes), _slope(slopes[way])] for way in ways]
        worst = max(r["residual"] for r in rows)
        yield (f"A {name} of n joints, factor and solve, microseconds (numbers that the factor holds); the largest "
               f"residual |A λ - b|/|b| of all is {worst:.0e}:\n\n"
               + markdown(["way", *(f"{n:,}" for n in sizes), "slope: time, stored"], lines))  # fmt: skip


def _slope(found):
    return ", ".join("-" if found[key] is None else f"{found[key]:.2f}" for key in ("time", "stored"))


def _sizes(result):
    header = ["", *(one["paper_ms"]["what"] for one in result.values())]
    both = list(result.values())

    def line(name, value):
        return [name, *(value(one) for one in both)]

    def part(key):
        return line(
            f"linkwork: {key}",
            lambda one: f"{microseconds(one['seconds'][key])} us, {one['arithmetic'][key]:,} operations",
        )

    def solved(one):
        return one["seconds"]["elimination"] + one["seconds"]["backward"]

    lines = [
        line("paper: total", lambda one: f"{one['paper_ms']['total']} ms"),
        line("paper: J", lambda one: f"{one['paper_ms']['J']} ms"),
        line("paper: factor and solve (the rest)", lambda one: f"{_rest(one['paper_ms']):.2f} ms"),
        *(part(key) for key in ("J", "M", "factor", "forward", "backward", "solve", "total")),
        line("linkwork: all in one pass, body and joint together (`tree`)",
             lambda one: f"{microseconds(one['tree'])} us"),
        line("factor / solve: paper (8.2)", lambda one: f"about {PAPER_RATIO:g}"),
        line("factor / solve: linkwork, time", lambda one: f"{one['seconds']['factor_over_solve']:.2f}"),
        line("factor / solve: linkwork, operations", lambda one: f"{one['arithmetic']['factor_over_solve']:.2f}"),
        line("factor / solve: App. A as printed, multiply-adds", lambda one: f"{one['appendix']['ratio']:.2f}"),
        line("dense Cholesky of A, LAPACK", lambda one: f"{microseconds(one['dense_cholesky'])} us"),
        line(f"dense / linkwork, factor and solve (paper: {PAPER_SPEEDUP:g} for 381, whole method)",
             lambda one: f"{one['dense_cholesky'] / solved(one):.0f}"),
    ]  # fmt: skip
    return markdown(header, lines)


def _auxiliary(result):
    def line(name, value):
        return [name, *(value(one) for one in result.values())]

    def time(value):
        return f"{microseconds(value)} us"

    def gradients(one, tolerance):
        found = one["cg"][f"{tolerance:g}"]
        return f"{time(found['seconds'])}, {found['iterations']} iterations"

    def speed(value):
        return "-" if value is None else f"{value:g}"

    lines = [
        line("paper: total", lambda one: f"{one['paper']['total']:g} ms"),
        line("paper: J", lambda one: "-" if one["paper"]["J"] is None else f"{one['paper']['J']:g} ms"),
        *(line(f"linkwork: {what}", lambda one, key=key: time(one["seconds"][key]))
          for key, what in {"J": "J", "M": "M", "factor": "factor of the tree", "solve": "one solve", "W": "W",
                            "divide": "factor of W and multipliers"}.items()),
        line("linkwork: all in one pass (`anticipation`)", lambda one: time(one["anticipation"])),
        line("linkwork: all in one pass, loops by elimination (`tree`)", lambda one: time(one["tree"])),
        line("dense Cholesky of A, LAPACK", lambda one: time(one["dense_cholesky"])),
        line("dense / `tree` (paper: whole method)",
             lambda one: f"{one['dense_cholesky'] / one['tree']:.1f} ({speed(one['paper']['faster'])})"),
        *(line(f"conjugate gradients to {tolerance:g}", lambda one, t=tolerance: gradients(one, t))
          for tolerance in (ROUGH, PRECISE)),
        line(f"conjugate gradients to {ROUGH:g} / `tree` (paper)",
             lambda one: f"{one['cg'][f'{ROUGH:g}']['seconds'] / one['tree']:.1f} ({speed(one['paper']['cg'])})"),
    ]  # fmt: skip
    return markdown(
        ["multipliers, primary + auxiliary", *(f"{key}: {one['paper']['what']}" for key, one in result.items())], lines
    )


def _rest(paper):
    return paper["total"] - paper["J"]


def _growth(result):
    lines = [[r["solver"], r["structure"], f"{r['n']:,}", *(microseconds(r["seconds"] / k) for k in (1, r["n"]))]
             for r in result["rows"]]  # fmt: skip
    slopes = [[s["solver"], s["structure"], f"{s['from']:,}", "-" if s["slope"] is None else f"{s['slope']:.2f}"]
              for s in result["slopes"]]  # fmt: skip
    return (markdown(["solver", "structure", "fitted from n", "slope"], slopes) + "\n\n"
            + markdown(["solver", "structure", "n", "us", "us a joint"], lines))  # fmt: skip


def _errata(rows):
    lines = [[r["place"], r["printed"], r["right"], _number(r["error_printed"]), _number(r["error_right"])] for r in rows]
    return markdown(["place", "printed", "right", "error as printed", "error put right"], lines)


def _footnote(rows):
    def eigenvalues(values):
        return ", ".join(f"{x:.3g}" for x in values)

    lines = [[r["what"], f"{r['rank']} of {r['rows']}", f"{r['condition']:.1e}", eigenvalues(r["pivot"]),
              eigenvalues(r["pivot_reordered"]), _number(r["error_of_linkwork"])] for r in rows]  # fmt: skip
    return markdown(["structure and order", "rank of J", "condition of H", "the joint's pivot: eigenvalues",
                     "the same with the tree hung up the other way", "error of linkwork's λ"], lines)  # fmt: skip


def _accuracy(rows):
    keys = [key for key in rows[0] if key != "ratio"]
    lines = [[f"{row['ratio']:.0e}", *(_number(row[key]) for key in keys)] for row in rows]
    return ("Relative errors of the accelerations, a crooked chain of 50 links with a heavy tip:\n\n"
            + markdown(["mass ratio", *keys], lines))  # fmt: skip


def _near(rows):
    header = ["scale", "condition of A", "App. A, that body below", "App. A, that body above", "linkwork"]
    keys = ("below", "above", "linkwork")
    lines = [[f"{r['scale']:.0e}", f"{r['condition of A']:.1f}", *(_number(r[key]) for key in keys)] for r in rows]
    return ("Relative errors of λ, two bodies and three rows, the third row's block on one body scaled down:\n\n"
            + markdown(header, lines))  # fmt: skip
