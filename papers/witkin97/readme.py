"""The numbers of README.md, from results.json: `python -m papers.witkin97.readme` writes them between its markers."""

# ruff: noqa: E501 (a sentence of the page is not broken where its numbers stand)
import json
from pathlib import Path

from benchmarks import machine
from benchmarks.tables import fill, markdown
from papers.baraff96.timing import slope
from papers.verdicts import said, verdict
from papers.witkin97.feedback import ALIKE, DAMPINGS, DEFAULT, STIFFNESSES
from papers.witkin97.figures import WAYS
from papers.witkin97.growth import SOLVERS

FOLDER = Path(__file__).parent
POWER_FROM = 30  # rows from which on an exponent of iterations is fitted


def blocks(result):
    """Marker -> what stands below it."""
    found = {
        "machine": machine.sentence(result["machine"]),
        "claims": _claims(result),
        "bead": _bead(result["bead"]),
        "springs in words": _springs_in_words(result["bead"]["springs"]),
        "springs": _springs(result["bead"]["springs"]),
        "feedback": _feedback(result["feedback"]),
        "drawn": _drawn(result["feedback"]),
        "growth in words": _growth_in_words(result["growth"]),
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
    lost = [row["stiffness"] for row in springs if row["lost"]]
    beyond = f"; from {min(lost):.0e} N/m on it diverges" if lost else ""
    rows = [
        ("1", "penalty springs: accuracy only by stiffness, which is numerically intractable",
         f"off by {small(best['largest'])} m with {best['stiffness']:.0e} N/m, the best of those tried{beyond}"),
        ("2.2", "without feedback the circle becomes an outward spiral",
         f"off by {small(free)} m after {result['bead']['seconds']:g} s; with feedback at most {small(fed)} m"),
        ("3", "k_s and k_d are not critical", _not_critical(result["feedback"], held["rattle"]["largest"])),
        ("4.4", "least-squares conjugate gradients take O(n) iterations", _compared(result["growth"], chain, net)),
        ("4.4", "it tolerates redundant constraints",
         f"{verdict(not doubled['conflict'] and doubled['drift'] < 1e-9)}: a rod given twice has {doubled['redundant']} redundant row, "
         f"drift {small(doubled['drift'])} m"),
    ]  # fmt: skip
    return markdown(["where", "the paper says", "we find"], rows)


def _not_critical(found, rattle):
    """How far the drift moves with k_s and k_d, and where the bead is thrown off."""
    kept = [row for row in found["varied"] if row["largest"] is not None]
    (default,) = (row["largest"] for row in kept if (row["stiffness"], row["damping"]) == DEFAULT)
    alike = [row for row in kept if row["largest"] <= ALIKE * default]
    low, high = min(row["stiffness"] for row in alike), max(row["stiffness"] for row in alike)
    drifts = [row["largest"] for row in kept]
    return (
        f"{verdict(max(drifts) <= ALIKE * default)}: over k_s dt² from {min(STIFFNESSES):g} to {max(STIFFNESSES):g} and k_d dt from "
        f"{min(DAMPINGS):g} to {max(DAMPINGS):g} the drift goes from {small(min(drifts))} to {small(max(drifts))} m. At most {ALIKE:g} times "
        f"that of the default (0.04/dt² and 0.4/dt: {small(default)} m) it is in {len(alike)} of {len(found['varied'])} pairs, with k_s dt² "
        f"from {low:g} to {high:g}; {len(found['varied']) - len(kept)} pairs throw the bead off. `rattle` needs none: {small(rattle)} m"
    )


def _compared(rows, chain, net):
    parts = [
        f"{_count(one['paper'])} for {one['rows']:,} rows of a {one['structure']} (on A itself {_count(one['plain'])}, "
        f"by blocks {one['ours']:,})"
        for one in (chain, net)
    ]
    own = [row for row in rows if row["structure"] == "chain" and row["paper"] is not None]
    power = slope([row["rows"] for row in own], [row["paper"] for row in own], above=POWER_FROM)
    grown = "" if power is None else f"; on chains they grow with the rows to the power {power:.1f}"
    return f"{verdict(power is None or power < 1.2)}: {', '.join(parts)}{grown}"


def _springs_in_words(springs):
    kept = [row for row in springs if not row["lost"]]
    firm = [row for row in kept if row["largest"] < 0.1]
    power = slope([row["stiffness"] for row in firm], [row["largest"] for row in firm])
    bound = said(
        all(row["lost"] == (row["limit"] > 2) for row in springs),
        "; where its frequency is beyond 2/dt the bead flies off",
    )
    return (
        "The same by a spring in the place of the constraint. The error goes with the stiffness to the power "
        f"{power:.2f}{bound}:"
    )


def _feedback(found):
    header = ["k_d dt \\ k_s dt²", *(f"{k:g}" for k in STIFFNESSES)]
    cells = {(row["damping"], row["stiffness"]): row["largest"] for row in found["varied"]}
    rows = [[f"{d:g}", *("thrown off" if cells[d, k] is None else small(cells[d, k]) for k in STIFFNESSES)] for d in DAMPINGS]
    return markdown(header, rows)


def _drawn(found):
    rows = [[f"{row['stiffness']:g}", f"{row['damping']:g}",
             f"not in {found['seconds']:g}" if row["arrived"] is None else f"{row['arrived']:.3f}", small(row["off"][-1])]
            for row in found["drawn"]]  # fmt: skip
    return markdown(["k_s dt²", "k_d dt", f"within {found['enough']:g} m after, s", "at the end, m"], rows)


def _growth_in_words(rows):
    """What the last lines of the chains and of the nets say."""
    chain, nets = _largest(rows, "chain"), [row for row in rows if row["structure"] == "net"]
    slower = chain["seconds"]["cg"] / chain["seconds"]["tree"]
    power = slope([row["n"] for row in nets], [row["ours"] for row in nets])
    net = _largest(rows, "net")
    ratio = net["seconds"]["cg"] / net["seconds"]["tree"]
    saved = max(abs(row["ours"] - row["plain"]) / row["plain"] for row in rows if row["plain"])
    return (
        f"Scaling by blocks changes iterations by at most {100 * saved:.0f} % here, where all particles are alike. On the chain of "
        f"{chain['rows']:,} rows `cg` takes {slower:.0f} times as long as\n`tree`: a push travels link by link. On nets its iterations grow with the "
        f"side to the power {power:.2f}, and at {net['rows']:,} rows a step takes {ratio:.2f} of that of `tree`,\nwhich fills in "
        "([larger nets](../../benchmarks/results/nets.md))."
    )


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
