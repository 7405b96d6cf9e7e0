"""The numbers of README.md, from results.json: `python -m papers.witkin97.readme` writes them between its markers."""

import json
from pathlib import Path

from benchmarks import machine
from benchmarks.tables import fill, markdown
from papers.witkin97.figures import WAYS
from papers.witkin97.growth import SOLVERS

FOLDER = Path(__file__).parent


def blocks(result):
    """Marker -> what stands below it."""
    found = {
        "machine": machine.sentence(result["machine"]),
        "claims": _claims(result),
        "bead": _bead(result["bead"]),
        "springs": _springs(result["bead"]["springs"]),
        "tinkertoy": _tinkertoy(result["tinkertoy"]),
        "lagrangian": _lagrangian(result["lagrangian"]),
        "growth": _growth(result["growth"]),
    }
    return {f"results.json: {name}": text for name, text in found.items()}


def small(value):
    return "-" if value is None else f"{value:.1e}" if abs(value) < 0.01 else f"{value:.3g}"


def _claims(result):
    held, springs = result["bead"]["constraint"], result["bead"]["springs"]
    free, fed = (held[f"equation {k}"]["largest"] for k in ("10: no feedback", "11: feedback"))
    best = min((row for row in springs if not row["lost"]), key=lambda row: row["largest"])
    chain, net = (_largest(result["growth"], structure) for structure in ("chain", "net"))
    doubled = result["tinkertoy"]["stages"][-1]
    rows = [
        ("1", "penalty springs: accuracy only by stiffness, which is numerically intractable",
         f"off by {small(best['largest'])} m with the stiffest spring that dt allows ({best['stiffness']:.0e} N/m); ten times "
         "as stiff it diverges"),
        ("2.2", "without feedback the circle becomes an outward spiral",
         f"off by {small(free)} m after {result['bead']['seconds']:g} s; with feedback at most {small(fed)} m"),
        ("3", "k_s and k_d are not critical", "the default of `euler` is 0.04/dt² and 0.4/dt; `rattle` needs none: "
         f"{small(held['rattle']['largest'])} m"),
        ("4.4", "least-squares conjugate gradients take O(n) iterations", _compared(chain, net)),
        ("4.4", "it tolerates redundant constraints",
         f"a rod given twice: {doubled['redundant']} redundant row, drift {small(doubled['drift'])} m"),
    ]  # fmt: skip
    return markdown(["where", "the paper says", "we find"], rows)


def _compared(chain, net):
    words = [
        f"{_count(one['paper'])} for {one['rows']:,} rows of a {one['structure']} (on A itself {_count(one['plain'])}, "
        f"by blocks {one['ours']:,})"
        for one in (chain, net)
    ]
    return ", ".join(words)


def _count(value):
    return "none of those allowed" if value is None else f"{value:,}"


def _largest(rows, structure):
    return max((row for row in rows if row["structure"] == structure), key=lambda row: row["rows"])


def _bead(bead):
    rows = [[name, small(row["largest"]), small(row["end"]), small(row["energy"])] for name, row in bead["constraint"].items()]
    return markdown(
        ["the wire by", "largest \\| \\|x\\| - 1 \\|, m", f"after {bead['seconds']:g} s, m", "energy, of m g"], rows
    )


def _springs(springs):
    rows = [[f"{row['stiffness']:.0e}", f"{row['limit']:.2g}", "diverged" if row["lost"] else small(row["largest"]),
             small(row["energy"])] for row in springs]  # fmt: skip
    return markdown(["stiffness, N/m", "frequency times dt", "largest \\| \\|x\\| - 1 \\|, m", "energy, of m g"], rows)


def _tinkertoy(toy):
    rows = [[row["stage"], row["bodies"], row["rows"], row["redundant"], small(row["jump"]), small(row["drift"]),
             small(row["energy"]), f"{row['iterations']:.1f}"] for row in toy["stages"]]  # fmt: skip
    header = ["snapped on", "bodies", "rows", "redundant", "jump of velocities, m/s", "drift, m", "energy over the stage, J",
              "iterations a solve"]  # fmt: skip
    return markdown(header, rows)


def _lagrangian(pendulum):
    rows = [
        [row["integrator"], small(row["apart"]), *map(small, row["energy"]), small(row["drift"])] for row in pendulum["rows"]
    ]
    return markdown(["integrator", "apart, m", "energy of the body, J", "of the particles, J", "drift of the rods, m"], rows)


def _growth(rows):
    lines = [
        [row["structure"], f"{row['n']:,}", f"{row['rows']:,}", *(_milliseconds(row["seconds"].get(s)) for s in SOLVERS),
         *(_count(row[way]) for way in WAYS)]
        for row in rows
    ]  # fmt: skip
    header = ["", "n", "rows", "`cg`, ms", "`tree`, ms", "`dense`, ms", *WAYS.values()]
    return markdown(header, lines)


def _milliseconds(seconds):
    return None if seconds is None else f"{1e3 * seconds:.3g}"


def main():
    """Rewrite README.md between its markers."""
    fill(FOLDER / "README.md", blocks(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
