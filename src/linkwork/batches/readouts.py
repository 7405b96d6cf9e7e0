"""Readouts of a batch: arrays with a row for each world, filled by one compiled call a thread when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from linkwork.batches.arrays import Arrays
    from linkwork.batches.lender import Lender
    from linkwork.batches.threads import Threads
    from linkwork.util.array_types import FloatArray, IntArray

OWN = 2  # references to an array that nobody else holds: an attribute, and the argument of getrefcount


class Source(NamedTuple):
    """What fills a readout: its operations in the table of a lender, and what a row begins with."""

    operations: FloatArray
    start: FloatArray


def coordinates(lender: Lender) -> Source:
    """q and qd, one after another; what stands behind them is scratch."""
    own = lender.reads.coordinates
    return Source(own.operations, own.start)


def bodies(lender: Lender) -> Source:
    """Poses and velocities of all bodies."""
    own = lender.reads.bodies
    return Source(own.operations, own.out)


class BatchReadout:
    """One array (n, entries). It is filled again in the same place where nobody else holds it, and in a new one where somebody
    does: arrays that were handed out never change."""

    def __init__(self, threads: Threads, arrays: Arrays, source: Callable[[Lender], Source]) -> None:
        self._threads, self._arrays, self._source = threads, arrays, source
        self._out: FloatArray | None = None
        self._stale = np.ones(arrays.n, dtype=bool)  # rows that are not of now

    def changed(self, chosen: IntArray) -> None:
        """Worlds have moved."""
        self._stale[chosen] = True

    def now(self) -> FloatArray:
        """The array, of now."""
        if self._out is None:
            start = self._source(self._threads.first).start
            self._out = np.empty((self._arrays.n, len(start)))  # which owns its memory: views of it are counted
            self._out[:] = start
        if self._stale.any():
            if getrefcount(self._out) > OWN:
                self._out = self._out.copy()
            out, chosen = self._out, np.flatnonzero(self._stale)

            def fill(lender: Lender, part: IntArray) -> None:
                lender.prepare(part)
                lender.read(part, self._source(lender).operations, out)

            self._threads.share(self._source.__name__, chosen, fill)
            self._stale[:] = False
        return self._out
