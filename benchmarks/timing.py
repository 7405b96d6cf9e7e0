"""Interleaved timing: the contestants take turns, so that noise of the machine hits all alike."""

import math
import time

BATCH_STEPS = 200  # a batch starts from the released chain and goes on for 0.2 s of its time: nothing diverges by then
TURN_SECONDS = 0.1


class Run:
    """A simulation of linkwork that is stepped from its start again and again."""

    def __init__(self, sim):
        self.sim, self.start = sim, sim.state.copy()

    def step(self, k):
        self.sim.step(k)

    def reset(self):
        self.sim.state = self.start.copy()


class Timed:
    """One chain and the best time of a step that it has shown."""

    def __init__(self, chain, fewest):
        self.chain = chain
        self.best = math.inf  # seconds a step
        chain.step(1)  # warm: whatever is compiled or allocated at the first step
        self.batch = max(fewest, min(BATCH_STEPS, int(TURN_SECONDS / max(1e-9, self._batch(1)))))

    def turn(self):
        """Batches for about TURN_SECONDS, at least one; resets are not timed."""
        spent = 0.0
        while spent < TURN_SECONDS:
            seconds = self._batch(self.batch)
            self.best = min(self.best, seconds)
            spent += seconds * self.batch

    def _batch(self, steps):
        self.chain.reset()
        start = time.perf_counter()
        self.chain.step(steps)
        return (time.perf_counter() - start) / steps

    def finite(self):
        """Whether the chain still has numbers for positions: a diverged chain is no measurement."""
        return all(math.isfinite(x) for x in self.chain.tip())


def best_of_turns(chains, rounds, fewest=1):
    """{key: seconds a step} for {key: chain}, all taking turns for `rounds` rounds; `fewest`: steps of a batch."""
    timed = {key: Timed(chain, fewest) for key, chain in chains.items()}
    for _ in range(rounds):
        for one in timed.values():
            one.turn()
    for key, one in timed.items():
        if not one.finite():
            raise RuntimeError(f"{key}: the chain diverged while it was timed")
    return {key: one.best for key, one in timed.items()}
