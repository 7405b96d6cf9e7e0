"""Joint coordinates: `aba`, `rnea` and `crba` of linkwork and of Pinocchio on four robots, in one thread.

    python -m benchmarks.reduced --out benchmarks/results/reduced.json

First both must agree at random states, then they are timed in turns. Writes JSON and, beside it, a Markdown page.
"""

import argparse
import math
import time
from dataclasses import dataclass
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks import machine, tables
from benchmarks.robots import ROBOTS, robot
from linkwork import reduced
from linkwork.reduced.cost.mechanisms import mechanism

STATES = 4096
PART = 256  # states that Pinocchio takes at once, which is no slower for it
TRIED = 20  # states at which both must agree
AGREEMENT = 1e-10  # relative to the largest number of a result
ALGORITHMS = ("aba", "rnea", "crba")
CHAINS = (10, 100, 1000, 10_000)  # balls in a row; Pinocchio runs out of memory at some hundreds
TURN = 5e-3  # s, of the thread: what else runs on the machine does not count
ONE = 50  # calls timed together, of one state each


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="benchmarks/results/reduced.json")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args(arguments)
    result = {"machine": machine.describe(), "states": STATES, "agreement": {}, "seconds": {}}
    for name in ROBOTS:
        pair = robot(name)
        result["agreement"][name] = agreement(pair)
        result["seconds"][name] = race(pair, options.rounds)
        print(name, {what: f"{ratio(times):.2f}" for what, times in result["seconds"][name].items()})
    result["chains"] = chains(options.rounds)
    tables.write(options.out, result, page(result))


def chains(rounds):
    """Rows {n, seconds a link, bytes a link}: `aba` of chains of balls, one state a call."""
    timed, rows = {}, []
    for n in CHAINS:
        tree = reduced.compile(mechanism(reduced.cost.chain(n), [3] * n))
        q, v = tree.start, np.full(tree.nv, 0.1)
        reduced.aba(tree, q, v, v)
        work, table, operations, index = tree.schedules.get(("aba", False)).alone
        timed[n] = Timed(partial(reduced.aba, tree, q, v, v), 1), sum(a.nbytes for a in (work, table, operations, index))
    for _ in range(rounds):
        for one, _ in timed.values():
            one.turn()
    for n, (one, size) in timed.items():
        rows.append({"n": n, "seconds": one.best / n, "bytes": size / n})
    return rows


def agreement(pair):
    """The largest difference between both at random states, relative to the largest number of the result."""
    worst = dict.fromkeys(ALGORITHMS, 0.0)
    model, data, tree = pair.model, pair.data, pair.tree
    for q, v, x in zip(*pair.states(TRIED, seed=1), strict=True):
        at = pair.coordinates(q)
        speed, force, T = pair.velocities(at, v), pair.velocities(at, x), pair.turned(at)
        upper = np.triu(pin.crba(model, data, q))
        H = (upper + np.triu(upper, 1).T)[np.ix_(pair.v_order, pair.v_order)]
        found = {
            "aba": (reduced.aba(tree, at, speed, force), pair.accelerations(at, v, pin.aba(model, data, q, v, x))),
            "rnea": (
                reduced.rnea(tree, at, speed, pair.accelerations(at, v, x)),
                pair.velocities(at, pin.rnea(model, data, q, v, x)),
            ),
            "crba": (reduced.crba(tree, at), T @ H @ T.T),
        }
        for what, (ours, theirs) in found.items():
            worst[what] = max(worst[what], float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    if max(worst.values()) > AGREEMENT:
        raise RuntimeError(f"{pair.name}: linkwork and Pinocchio differ by {max(worst.values()):g}, more than {AGREEMENT:g}")
    return worst


@dataclass
class Timed:
    """Something to time: `call` handles `states` states."""

    call: object
    states: int
    best: float = math.inf  # seconds a state

    def turn(self):
        end = time.thread_time() + TURN
        while True:
            start = time.thread_time()
            self.call()
            now = time.thread_time()
            self.best = min(self.best, (now - start) / self.states)
            if now > end:
                return


def race(pair, rounds):
    """{what: {who: seconds a state}}, all taking turns."""
    timed = {what: {who: Timed(*given) for who, given in calls.items()} for what, calls in contest(pair).items()}
    every = [one for calls in timed.values() for one in calls.values()]
    for one in every:
        one.call()  # whatever is compiled or allocated at first
    for _ in range(rounds):
        for one in every:
            one.turn()
    return {what: fastest({who: one.best for who, one in calls.items()}) for what, calls in timed.items()}


def fastest(times):
    """Pinocchio's ways as one."""
    theirs = min(times[who] for who in times if who.startswith("Pinocchio"))
    return {"Pinocchio": theirs, **{who: one for who, one in times.items() if not who.startswith("Pinocchio")}}


def contest(pair):
    """{what: {who: (call, states)}}: one state a call, and arrays of states."""
    model, data, tree = pair.model, pair.data, pair.tree
    q, v, x = pair.states(STATES)
    ours = [pair.coordinates(q), v, x]  # the same work whatever the axes of the velocities
    first, mine = [given[0].copy() for given in (q, v, x)], [given[0].copy() for given in ours]
    contest = {}
    for name in ALGORITHMS:
        inputs = 1 if name == "crba" else 3
        own = partial(getattr(reduced, name), tree, *mine[:inputs])
        calls = {who: partial(getattr(pin, name), model, data, *first[:inputs], *how) for who, how in ways(name).items()}
        contest[f"{name}, one"] = {who: (partial(repeat, call), ONE) for who, call in {**calls, "linkwork": own}.items()}
    contest |= {f"{name}, many": many(pair, name, (q, v, x), ours) for name in ("aba", "rnea")}
    rows = [row.copy() for row in q[:PART]]
    packed, dense = np.zeros((STATES, tree.pattern.shape[1])), np.zeros((STATES, tree.nv, tree.nv))
    loops = {who: (partial(each, pin.crba, model, data, rows, how), PART) for who, how in ways("crba").items()}
    contest["crba, many"] = {
        **loops,
        "linkwork": (partial(reduced.crba, tree, ours[0], packed=True, out=packed), STATES),
        "linkwork, whole matrices": (partial(reduced.crba, tree, ours[0], out=dense), STATES),
    }
    return contest


def many(pair, name, theirs, ours):
    """Pinocchio's own loop over an array of states, in one thread and in parts."""
    pool, columns = pin.ModelPool(pair.model, 1), [np.asfortranarray(given[:PART].T) for given in theirs]
    found = np.zeros((pair.model.nv, PART), order="F")
    loop = partial(getattr(pin, f"{name}InParallel"), 1, pool, *columns, found)
    own = partial(getattr(reduced, name), pair.tree, *ours, out=np.zeros((STATES, pair.tree.nv)))
    return {"Pinocchio": (loop, PART), "linkwork": (own, STATES)}


def repeat(call):
    for _ in range(ONE):
        call()


def each(call, model, data, rows, how):
    for row in rows:
        call(model, data, row, *how)


def ways(name):
    """Pinocchio's conventions, where an algorithm has several: the faster one counts."""
    other = {} if name == "rnea" else {"Pinocchio, world": [pin.Convention.WORLD]}
    return {"Pinocchio": [], **other}


def ratio(times):
    return times["linkwork"] / times["Pinocchio"]


def page(result):
    """The Markdown page."""
    rows = []
    for name, contests in result["seconds"].items():
        for what, times in contests.items():
            for who in [who for who in times if who != "Pinocchio"]:
                mine, theirs = times[who], times["Pinocchio"]
                label = what + who.removeprefix("linkwork")
                rows.append([name, label, tables.microseconds(mine), tables.microseconds(theirs), f"{mine / theirs:.2f}"])
    worst = max(value for by in result["agreement"].values() for value in by.values())
    header = ["robot", "algorithm", "linkwork, us a state", "Pinocchio, us a state", "ratio"]
    return "\n\n".join([
        "# Joint coordinates beside Pinocchio",
        f"`python -m benchmarks.reduced`. {machine.sentence(result['machine'])}",
        f"*one*: one state a call, from Python. *many*: linkwork {result['states']} states a call in one thread; Pinocchio "
        f"{PART} a call by `abaInParallel` and `rneaInParallel` with one thread, and in a Python loop over `crba`, which has "
        "no such form. linkwork writes for every state all entries of H that can differ from zero (*whole matrices*: all of "
        "it, where memory is what takes the time), Pinocchio's `crba` overwrites one matrix. Of Pinocchio's conventions the "
        "faster one counts. Best times of turns, in the thread's own time.",
        tables.markdown(header, rows),
        "Chains of ball joints, `aba` of one state a call (Pinocchio's memory ends at some hundreds):",
        tables.markdown(["links", "us a link", "bytes a link"],
                        [[f"{r['n']:,}", f"{1e6 * r['seconds']:.3f}", f"{r['bytes']:.0f}"] for r in result["chains"]]),
        f"Both agree to {worst:.1e} at {TRIED} random states of each robot, relative to the largest number of a result.",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
