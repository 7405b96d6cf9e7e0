"""Chains of n links: linkwork and its peers, the same mechanism, taking turns on one machine.

    python -m benchmarks.chains --out benchmarks/results/chains.json

Writes JSON and, beside it, a Markdown page. What the numbers mean: README.md.
"""

import argparse

from benchmarks import machine, tables
from benchmarks.contestants import contestants, linkwork
from benchmarks.peers.interface import Refused
from benchmarks.timing import best_of_turns

DT = 1e-3  # s
PEER_LENGTHS = (10, 100, 1000)
LONG_LENGTHS = (1000, 10_000, 100_000)


def race(lengths, rounds):
    """Every contestant on every chain: rows {n, joint, contestant, work, ours, seconds or refused, ratio}."""
    rows = []
    for joint in ("ball", "hinge"):
        for n in lengths:
            print(f"{joint} chain, {n} links", flush=True)
            rows += _with_ratios(_race_one(joint, n, rounds))
    return rows


def _race_one(joint, n, rounds):
    rows, chains = [], {}
    for who in contestants():
        row = {"n": n, "joint": joint, "contestant": who.label, "work": who.work, "ours": who.ours}
        rows.append(row)
        try:
            chains[who.label] = getattr(who, joint)(n, DT)
        except Refused as reason:
            row["refused"] = str(reason)
    best = best_of_turns(chains, rounds)
    return [row | {"seconds": best.get(row["contestant"])} for row in rows]


def _with_ratios(rows):
    """`ratio`: the time of the fastest peer over this one's; above 1 is faster than every peer."""
    peers = [row["seconds"] for row in rows if not row["ours"] and row["seconds"]]
    for row in rows:
        row["ratio"] = min(peers) / row["seconds"] if peers and row["seconds"] else None
    return rows


def report(result):
    """The Markdown page."""
    parts = ["# Chains", machine.sentence(result["machine"]), _race_table(result["race"])]
    refused = [f"- {r['contestant']}, {r['n']} {r['joint']}: {r['refused']}" for r in result["race"] if "refused" in r]
    if refused:
        parts += ["Not run:", "\n".join(refused)]
    if "growth" in result:
        parts += ["## Long chains", _growth_table(result["growth"])]
    if "drift" in result:
        drift = result["drift"]
        parts.append(
            f"Drift of `{drift['integrator']}` over {drift['steps']:,} steps of {drift['links']} ball links: "
            f"largest |C| seen {drift['largest']:.2e}, at the end {drift['at_end']:.2e}."
        )
    if "call" in result:
        parts.append(f"`sim.step()` from Python costs {1e6 * result['call']:.2f} us a call above its kernels (a pendulum).")
    return "\n\n".join(parts)


def _race_table(rows):
    """Chains down, contestants across: microseconds, and in brackets how many times the fastest peer's speed."""
    labels = list(dict.fromkeys(row["contestant"] for row in rows))
    work = {row["contestant"]: row["work"] for row in rows}
    header = ["links, joint", *(label if work[label] == "step" else f"{label} ({work[label]})" for label in labels)]
    cells = {(row["n"], row["joint"], row["contestant"]): row for row in rows}
    lines = []
    for n, joint in dict.fromkeys((row["n"], row["joint"]) for row in rows):
        lines.append([f"{n} {joint}", *(_cell(cells[n, joint, label]) for label in labels)])
    return "Microseconds a step (times the speed of the fastest peer):\n\n" + tables.markdown(header, lines)


def _cell(row):
    if not row["seconds"]:
        return "-"
    ratio = f" ({row['ratio']:.2f}x)" if row["ratio"] and row["ours"] else ""
    return tables.microseconds(row["seconds"]) + ratio


def _growth_table(rows):
    header = ["contestant", "links", "us a link and step", "against shortest", "bytes a link", "build, s", "compile, s"]
    lines = [
        [
            row["contestant"],
            f"{row['n']:,}",
            f"{1e6 * row['seconds_a_link']:.4f}",
            f"{row['against_shortest']:.2f}",
            row["nbytes"] and round(row["nbytes"] / row["n"]),
            f"{row['build_seconds']:.2f}",
            f"{row['compile_seconds']:.2f}",
        ]
        for row in rows
    ]
    return tables.markdown(header, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/chains.json")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lengths", type=int, nargs="+", default=PEER_LENGTHS, help="links, linkwork and peers")
    parser.add_argument("--long", type=int, nargs="*", default=LONG_LENGTHS, help="links, linkwork alone")
    arguments = parser.parse_args()

    result = {"machine": machine.describe(), "dt": DT, "rounds": arguments.rounds}
    result["race"] = race(arguments.lengths, arguments.rounds)
    if linkwork():
        from benchmarks import alone

        if arguments.long:
            result["growth"] = alone.growth(arguments.long, DT, arguments.rounds)
        result["drift"] = alone.drift(links=100, steps=100_000, dt=DT)
        result["call"] = alone.call_seconds(DT)
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
