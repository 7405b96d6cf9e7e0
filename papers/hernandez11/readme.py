"""The numbers of README.md, from results.json: `python -m papers.hernandez11.readme` writes them between its markers."""

import json
from pathlib import Path

from benchmarks import machine
from benchmarks.tables import fill, markdown
from papers.hernandez11 import stability
from papers.hernandez11.growth import PAPER

FOLDER = Path(__file__).parent


def blocks(result):
    """Marker -> what stands below it."""
    found = {
        "machine": machine.sentence(result["machine"]),
        "claims": _claims(result),
        "derivative": _derivative(result["derivative"]),
        "figure 2": _roots(result["roots"]),
        "trees": _trees(result["roots"]["trees"]),
        "right-hand side": _right_hand_side(result["tangents"]["right_hand_side"]),
        "momentum": _momentum(result["tangents"]["momentum"]),
        "kept": _kept(result["tangents"]["kept"]),
        "iterations": _iterations(result["tangents"]["iterations"]),
        "drift": _drift(result["drift"]),
        "thin": _thin(result["drift"]["thin"]),
        "update set": _update_set(result["roots"]),
        "b terms": _b_terms(result["tangents"]["right_hand_side"]),
        "which tangent": _which_tangent(result["tangents"]["momentum"]),
        "who keeps": _who_keeps(result["tangents"]["kept"]),
        "spring": _spring(result["derivative"]),
        "curvature": _curvature(result["drift"]),
        "stability": _stability(result["stability"]),
        "growth": _growth(result["growth"]),
        "beyond the caches": _beyond(result["growth"]),
        "hand": _hand(result["hand"]),
        "recorded": _recorded(result["hand"]["recorded"]),
        "drag": _drag(result["drag"]),
    }
    return {f"results.json: {name}": text for name, text in found.items()}


def error(value):
    """Small ones in one digit, others in three."""
    return f"{value:.0e}" if 0 < abs(value) < 0.01 else f"{value:.3g}"


def milliseconds(seconds):
    """Three digits; microseconds below a tenth of one."""
    return f"{1e6 * seconds:.3g} us" if seconds < 1e-4 else f"{1e3 * seconds:.3g} ms"


def cell(growth, way, n):
    return next((row for row in growth["rows"] if row["way"] == way and row["n"] == n), None)


ROUNDING = 1e-9  # errors below are rounding, where the wrong ones are of the order of one
WRONG = 1e-2


def _claims(result):
    growth, hand = result["growth"], result["hand"]
    at = {n: cell(growth, "one iteration", n) for n in PAPER}
    times = ", ".join(f"{milliseconds(row['seconds'])} for {n:,}" for n, row in at.items() if row)
    slope, limit = growth["slopes"]["one iteration"], growth["explicit_limit"]
    one = next(row for row in hand["rows"] if row["way"].startswith("one"))
    drag = result["drag"]
    rows = [
        ("abstract, 4, fig. 4", "linear time: 22 ms a frame for 1,000 bones, 285 ms for 10,000", _linear(slope, times)),
        ("abstract", "stable with stiff joints and large steps",
         f"{_stable(result['stability'])} An explicit step of the chain with {growth['bones']} bones "
         f"may be {milliseconds(limit)} long"),
        ("3.2", "implicit position constraints avoid drift", _avoids(result["drift"])),
        ("3.3, fig. 2, eq. 5", "any body or joint may act as root", _any_root(result["roots"]["figure_2"])),
        ("4", "H = L D Lᵀ", _symmetric(result["roots"]["trees"], result["tangents"]["momentum"])),
        ("5, fig. 1, 5", "a hand, 16 bones, 15 joints: 0.36 ms a frame for the dynamics",
         f"{milliseconds(one['seconds'])} with one iteration, {milliseconds(hand['rows'][0]['seconds'])} until done, "
         "contact included"),
        ("5, fig. 3", "the user perceives the effect of joint stiffness",
         f"at most {drag['on']['largest']:.0f} N with the joints' torques, {drag['off']['largest']:.0f} N without"),
        ("App. A, eq. 7", "∂(φu)/∂θ = φ/(2 sin φ) (Rᵀ + I)", _appendix(result["derivative"]["errors"])),
    ]  # fmt: skip
    return markdown(["where", "the paper says", "we find"], rows)


def _linear(slope, times):
    if slope is None:
        return times
    return f"{'linear' if 0.9 < slope < 1.15 else 'not linear'}: slope {slope:.2f}; {times}"


def _stable(result):
    """Of one iteration, in a sentence."""
    rows = result["rows"]
    steps = sorted({row["dt"] for row in rows}, reverse=True)
    over = f"with steps of {1e3 * steps[0]:.0f} to {1e3 * steps[-1]:.0f} ms"
    stopped = [row for row in rows if row["stopped"] is not None]
    if stopped:
        return f"no: {len(stopped)} of {len(rows)} runs {over} stopped."
    apart, won = max(row["apart"] for row in rows), max(row["won"] or 0.0 for row in rows)
    most = max(row["solves"] for row in rows)
    found = f"joints open by at most {error(apart)} m, at most {100 * won:.1g} % of the energy is won, "
    found += f"{most:.1f} solves a step or fewer"
    if stability.holds(result):
        return f"{over}, thin links and hair included, with a second solve where a linear step would not hold: {found}."
    return f"not everywhere {over}: {found}."


def _avoids(drift):
    order, coefficient = drift["orders"]["eq. (3), numpy"], drift["over_dt_squared"]
    if not order > 1.5:
        return f"they do not: C is of order {order:.2f}"
    return f"eq. (3) bounds it: C is at most {coefficient:.0f} dt² (order {order:.2f})"


def _any_root(rows):
    bodies = max(row["printed"] for row in rows if row["root"].startswith("body"))
    joints = min(row["printed"] for row in rows if row["root"].startswith("joint"))
    may = "bodies may" if bodies < ROUNDING else f"not even bodies may (error {error(bodies)})"
    return f"{may}; joints, as printed, {'may not' if joints > WRONG else 'may'}: the relative error is {error(joints)} or more"


def _symmetric(trees, momentum):
    found = {(row["tangent"], row["root"]): row["printed"] for row in trees}
    symmetric, springs = found["symmetric", "body"], found["springs", "body"]
    needs = "needs" if symmetric < ROUNDING and springs > WRONG else "does not depend on"
    return (
        f"{needs} a symmetric tangent: the error is {error(symmetric)} with one, {error(springs)} with that of torsion springs"
    )


def _appendix(rows):
    along = max(abs(row["along"] / row["phi over sin phi"] - 1) for row in rows)
    across, largest = max(row["across"] for row in rows), max(row["printed"] for row in rows)
    if largest < ROUNDING:
        return "right"
    how = "wrong along the axis by φ/sin φ" if along < ROUNDING else f"wrong by up to {error(largest)}"
    return f"{how}; {'right' if across < ROUNDING else 'wrong'} across it"


def _update_set(result):
    worst = max(row["printed"] for row in result["figure_2"] if row["root"].startswith("body"))
    said = "complete and in the right order" if worst < ROUNDING else "not complete"
    return f"Rooted at a body, the update set is {said}: the error is at most {error(worst)}."


def _b_terms(rows):
    printed = rows[0]["order"]
    said = "right as printed" if printed > 2.5 and all(row["order"] < 1.5 for row in rows[1:]) else "not confirmed"
    return (
        f"The b terms are {said}: what is left is of order {printed:.1f} with them, and of order "
        + " and ".join(f"{row['order']:.1f} with {row['b']}" for row in rows[1:])
        + "."
    )


def _which_tangent(rows):
    kept = [row["tangent"] for row in rows if row["gained"] < ROUNDING]
    positive = [row["tangent"] for row in rows if row["lowest"] > -ROUNDING]
    both = [name for name in kept if name in positive]
    lists = {"Angular momentum is kept by": kept, "Positive semidefinite are": positive, "Both": both}
    return " ".join(f"{words}: {'; '.join(names) or 'none'}." for words, names in lists.items())


def _who_keeps(rows):
    rounding = [f"{row['tangent']}, {row['iterations']}" for row in rows if row["all"] < ROUNDING]
    others = [f"{row['tangent']}, {row['iterations']} ({error(row['all'])})" for row in rows if not row["all"] < ROUNDING]
    return f"Kept to rounding by: {'; '.join(rounding) or 'none'}. Not by: {'; '.join(others) or 'none'}."


def _spring(result):
    first = result["first_step"]
    exact, printed = first["exact"], first["printed"]
    return (f"In its first step a spring let go at 2.5 rad turns at {abs(exact):.1f} rad/s with the exact derivative, at "
            f"{abs(printed):.1f} rad/s with the printed one (right).")  # fmt: skip


def _curvature(drift):
    found = {way: error(max(r["drift"] for r in drift["rows"] if r["way"] == way)) for way in drift["orders"]}
    return (f"Of all steps, the largest C is {found['eq. (3), numpy']} m with eq. (3) as it stands, "
            f"{found['linkwork, one iteration']} m with linkwork's one iteration and its second solve, and "
            f"{found['linkwork, until C(q1) = 0']} m where it is solved to the end.")  # fmt: skip


def _stability(result):
    lines = []
    for row in result["rows"]:
        if row["stopped"] is not None:
            lines.append(
                [row["case"], f"{1e3 * row['dt']:.3g} ms", row["tangent"], f"stopped at {row['stopped']:.3g} s", None, None]
            )
        else:
            won = None if row["won"] is None else f"{100 * row['won']:.2g} %"
            lines.append(
                [row["case"], f"{1e3 * row['dt']:.3g} ms", row["tangent"], error(row["apart"]), won, f"{row['solves']:.2f}"]
            )
    header = ["what", "step", "tangent", "largest C of any step, m", "energy won", "solves a step"]
    return (
        f"{markdown(header, lines)}\n\nHair has {result['strands']:,} strands; all run for 2 s. {_stable(result).capitalize()}"
    )


def _beyond(growth):
    found = {row["n"]: row["seconds"] / row["n"] for row in growth["rows"] if row["way"] == "one iteration"}
    few, many = min(found), max(found)
    return f"A bone of {many:,} takes {found[many] / found[few]:.2f} times as long as one of {few:,}."


def _recorded(found):
    return (f"`linkwork run hand-recorded` follows a motion of {found['keys']} keys for each of {found['bones']} bones from a "
            "CSV file (written by `recording.py` from sines; no glove was at hand): bones are at most "
            f"{1e3 * found['off']:.1f} mm from it, where the table holds the fingers, and {1e3 * found['mean']:.1f} mm on the "
            f"mean. Largest C: {error(found['drift'])} m with one iteration, steps of {1e3 * found['dt']:.0f} ms.")  # fmt: skip


def _derivative(result):
    header = ["angle, rad", "eq. (7): largest error", "eq. (7) along the axis (1 is right)", "φ/sin φ", "eq. (7) across it",
              "exact form: largest error"]  # fmt: skip
    keys = ("printed", "along", "phi over sin phi", "across", "exact")
    rows = [[f"{row['angle']:.3g}", *(error(row[key]) for key in keys)] for row in result["errors"][1::3]]
    return markdown(header, rows)


def _roots(result):
    rows = [[row["root"], error(row["printed"]), error(row["block LDU"])] for row in result["figure_2"]]
    rows.append(["joint 5, no force between bodies 5 and 6", error(result["uncoupled"]), None])
    return markdown(["root", "as printed", "block L D U"], rows)


def _trees(trees):
    names = {"symmetric": "symmetric", "springs": "as torsion springs have it: A_ab = A_baᵀ, A_aa not symmetric", "any": "any"}
    rows = [[names[row["tangent"]], row["root"], error(row["printed"]), error(row["block LDU"])] for row in trees]
    return markdown(["tangent", "root", "as printed", "block L D U"], rows)


def _right_hand_side(rows):
    lines = [[row["b"], *(error(x) for x in row["left"]), f"{row['order']:.1f}"] for row in rows]
    return markdown(["b", "10 ms", "5 ms", "2.5 ms", "order"], lines)


def _momentum(rows):
    lines = [
        [row["tangent"], error(row["gained"]), "0" if abs(row["lowest"]) < 1e-9 else f"{row['lowest']:.2f}"] for row in rows
    ]
    return markdown(["tangent", "angular momentum gained in a step, kg m²/s", "lowest eigenvalue / k"], lines)


def _kept(rows):
    keys = ("first step", "all", "drift")
    lines = [[row["tangent"], row["iterations"], *(error(row[key]) for key in keys)] for row in rows]
    return markdown(["tangent", "iterations", "changed in the first step", "changed in 2 s", "largest C, m"], lines)


def _iterations(rows):
    lines = [[f"{row['stiffness']:.0e}", f"{row['symmetric']:.1f}", f"{row['exact']:.1f}"] for row in rows]
    return markdown(["stiffness, N m/rad", "symmetric", "exact"], lines)


def _drift(result):
    steps = sorted({row["dt"] for row in result["rows"]}, reverse=True)
    found = {(row["way"], row["dt"]): row["drift"] for row in result["rows"]}
    orders = {way: f"{order:.2f}" if found[way, steps[0]] > 1e-12 else None for way, order in result["orders"].items()}
    lines = [[way, *(error(found[way, dt]) for dt in steps), order] for way, order in orders.items()]
    return markdown(["largest C, m", *(f"{1e3 * dt:.3g} ms" for dt in steps), "order"], lines)


def _thin(rows):
    return markdown(
        ["way", "largest C, m", "energy gained, J"], [[r["way"], error(r["drift"]), error(r["energy"])] for r in rows]
    )


def _growth(growth):
    sizes = list(dict.fromkeys(row["n"] for row in growth["rows"]))
    lines = [["hernandez11", *(milliseconds(PAPER[n]) if n in PAPER else None for n in sizes), None]]
    for way, slope in growth["slopes"].items():
        rows = [cell(growth, way, n) for n in sizes]
        times = [milliseconds(row["seconds"]) if row else None for row in rows]
        lines.append([way, *times, None if slope is None else f"{slope:.2f}"])
    return markdown(["one step", *(f"{n:,}" for n in sizes), "slope"], lines)


def _hand(hand):
    lines = [
        [row["way"], milliseconds(row["seconds"]), ", ".join(f"{1e3 * x:.1f}" for x in row["ball"]), error(row["drift"])]
        for row in hand["rows"]
    ]
    table = markdown(["way", "time a step", "the ball in the end, mm", "largest C, m"], lines)
    bent = hand["most_backwards"]
    words = f"bends fingers backwards by {-bent['asked']:.2f} rad; their limits give way by {-bent['found']:.3f} rad."
    return f"{table}\n\nThe recorded motion {words}"


def _drag(drag):
    lines = [[name, f"{drag[name]['largest']:.0f} N", f"{drag[name]['held']:.0f} N"] for name in ("on", "off")]
    table = markdown(["joint torques", "largest force", "at rest in the end"], lines)
    times = ", ".join(f"{milliseconds(s)} {way}" for way, s in drag["seconds"].items())
    return f"{table}\n\nA step takes {times}."


def main():
    """Rewrite README.md between its markers."""
    fill(FOLDER / "README.md", blocks(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
