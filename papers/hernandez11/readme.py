"""The numbers of README.md, from results.json: `python -m papers.hernandez11.readme` writes them between its markers."""

import json
from pathlib import Path

from benchmarks import machine
from benchmarks.tables import fill, markdown
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
        "growth": _growth(result["growth"]),
        "hand": _hand(result["hand"]),
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


def _claims(result):
    growth, hand = result["growth"], result["hand"]
    at = {n: cell(growth, "one iteration", n) for n in PAPER}
    times = ", ".join(f"{milliseconds(row['seconds'])} for {n:,}" for n, row in at.items() if row)
    slope, limit = growth["slopes"]["one iteration"], growth["explicit_limit"]
    fifth = next(row for row in result["roots"]["figure_2"] if row["root"] == "joint 5")
    one = next(row for row in hand["rows"] if row["way"].startswith("one"))
    drag, drift = result["drag"], result["drift"]
    rows = [
        ("abstract, 4, fig. 4", "linear time: 22 ms a frame for 1,000 bones, 285 ms for 10,000",
         f"linear: slope {slope:.2f}; {times}" if slope else times),
        ("abstract", "stable with stiff joints and large steps",
         f"with steps of 10 to 17 ms, thin links included. An explicit step of the chain with {growth['bones']} bones "
         f"may be {milliseconds(limit)} long"),
        ("3.2", "implicit position constraints avoid drift",
         f"they bound it: C is at most {drift['over_dt_squared']:.0f} dt² (order {drift['orders']['eq. (3), numpy']:.2f})"),
        ("3.3, fig. 2, eq. 5", "any body or joint may act as root", f"bodies may. Joint 5, as printed: the relative error is "
         f"{error(fifth['printed'])}"),
        ("4", "H = L D Lᵀ", "needs a symmetric tangent, and the exact one of a torsion spring is not symmetric"),
        ("5, fig. 1, 5", "a hand, 16 bones, 15 joints: 0.36 ms a frame for the dynamics",
         f"{milliseconds(one['seconds'])} with one iteration, {milliseconds(hand['rows'][0]['seconds'])} until done, "
         "contact included"),
        ("5, fig. 3", "the user perceives the effect of joint stiffness",
         f"at most {drag['on']['largest']:.0f} N with the joints' torques, {drag['off']['largest']:.0f} N without"),
        ("App. A, eq. 7", "∂(φu)/∂θ = φ/(2 sin φ) (Rᵀ + I)", "wrong along the axis by φ/sin φ; right across it"),
    ]  # fmt: skip
    return markdown(["where", "the paper says", "we find"], rows)


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
