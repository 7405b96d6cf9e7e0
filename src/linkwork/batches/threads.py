"""Threads: who steps and reads the worlds of a batch. Each has a Lender, and takes parts of the worlds until none is left.

Worlds do not know of each other, so that neither the number of threads nor who takes which part changes any bit.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from linkwork.batches.arrays import Arrays
from linkwork.batches.lender import Lender
from linkwork.errors import Note

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import IntArray

PARTS = 8  # of the worlds for each thread, so that none waits long for another one's last part
MOST = 1024  # threads

Deed = Callable[[Lender, "IntArray"], object]


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ended(one: Future[None]) -> BaseException | None:
    """What a thread failed with, once it has ended. Ctrl-C meanwhile counts then: until it has, worlds are in its hands."""
    stopped: KeyboardInterrupt | None = None
    while True:
        try:
            return one.exception() or stopped
        except KeyboardInterrupt as error:
            stopped = error


class Threads:
    """Lenders, and a pool of threads for all but the first, which works on the thread that calls."""

    def __init__(self, number: int, make: Callable[[], Simulation], first: Simulation, arrays: Arrays) -> None:
        self.number, self._make, self._arrays = number, make, arrays
        self.lenders = [Lender(first, arrays)]
        self._pool: ThreadPoolExecutor | None = None
        self._begun: set[tuple[str, int]] = set()  # what which lender has done once

    @property
    def first(self) -> Lender:
        """The one of the thread that calls."""
        return self.lenders[0]

    def share(self, what: str, chosen: IntArray, deed: Deed) -> None:
        """Let threads do something with parts of the chosen worlds; `what` names it. What a lender does for the first time is
        done on the thread that calls, since it may compile."""
        self._arrays.make_room()
        number = min(self.number, len(chosen)) if self._arrays.compiled else 1
        lenders = self._lenders(number)
        parts = np.array_split(chosen, min(len(chosen), PARTS * number)) if number > 1 else [chosen]
        remaining = count()

        def work(lender: Lender) -> None:
            while (k := next(remaining)) < len(parts):
                deed(lender, parts[k])

        others: list[Future[None]] = []
        failures: list[BaseException | None] = []
        try:
            for k, lender in enumerate(lenders):
                if (what, k) not in self._begun and (part := next(remaining)) < len(parts):
                    deed(lender, parts[part])
                    self._begun.add((what, k))
            others = [self._threads().submit(work, lender) for lender in lenders[1:]]
            work(lenders[0])
        finally:
            while next(remaining) < len(parts):  # where something failed no other part is begun
                pass
            failures = [_ended(one) for one in others]
            self._arrays.make_room()
        for failure in failures:
            if failure is not None:
                raise failure

    def _lenders(self, number: int) -> list[Lender]:
        while len(self.lenders) < number:
            self.lenders.append(Lender(self.make_quietly(), self._arrays))
        return self.lenders[:number]

    def make_quietly(self) -> Simulation:
        """Another simulation with the same options: the first one has told what there is to tell."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Note)
            return self._make()

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.number - 1, thread_name_prefix="linkwork-batch")
        return self._pool
