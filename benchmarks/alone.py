"""What only linkwork is asked: very long chains, memory, drift over a long run, the cost of a call from Python."""

import gc
import time

from benchmarks.peers import linkwork_peer
from benchmarks.timing import best_of_turns

FEWEST = 20  # steps of a batch: what the first step after a reset does besides must not weigh on long chains alone


def growth(lengths, dt, rounds, integrators=("euler", "rattle")):
    """Ball chains of all lengths taking turns: rows with seconds a link and step, against the shortest chain's."""
    rows, chains = [], {}
    for integrator in integrators:
        for n in lengths:
            print(f"linkwork {integrator}, {n} links", flush=True)
            gc.freeze()  # as in a process of its own: the collector does not look at what others have built
            chain = linkwork_peer.ball_chain(n, dt, integrator)
            chains[integrator, n] = chain
            rows.append(
                {
                    "contestant": f"linkwork {integrator}",
                    "integrator": integrator,
                    "n": n,
                    "build_seconds": chain.build_seconds,
                    "compile_seconds": chain.compile_seconds,
                }
            )
    gc.unfreeze()
    best = best_of_turns(chains, rounds, FEWEST)
    shortest = min(lengths)
    for row in rows:
        row["nbytes"] = chains[row["integrator"], row["n"]].sim.nbytes  # with the tables that stepping has made
        row["seconds_a_link"] = best[row["integrator"], row["n"]] / row["n"]
        row["against_shortest"] = row["seconds_a_link"] / (best[row["integrator"], shortest] / shortest)
    return rows


def drift(links, steps, dt, integrator="rattle", samples=100):
    """The largest |C| at `samples` moments of a long run, and at its end (metres, or radians times a metre)."""
    sim = linkwork_peer.ball_chain(links, dt, integrator).sim
    seen = []
    for _ in range(samples):
        sim.step(steps // samples)
        seen.append(float(sim.drift()))
    return {"integrator": integrator, "links": links, "steps": steps, "largest": max(seen), "at_end": seen[-1]}


def call_seconds(dt, calls=1000, rounds=7):
    """What `sim.step(1)` costs above the step itself: 1,000 calls of one step less one call of 1,000, per call."""
    chain = linkwork_peer.hinge_chain(1, dt)
    chain.step(calls)
    best_many = best_one = float("inf")
    for _ in range(rounds):
        chain.reset()
        start = time.perf_counter()
        for _ in range(calls):
            chain.sim.step(1)
        best_many = min(best_many, time.perf_counter() - start)
        chain.reset()
        start = time.perf_counter()
        chain.sim.step(calls)
        best_one = min(best_one, time.perf_counter() - start)
    return (best_many - best_one) / calls
