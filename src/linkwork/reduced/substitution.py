"""H x = b in tiles, beside the elimination of `tiles`: x lies behind the matrix in a workspace, run by run.

L^T y = b, the last run first;   z = D^-1 y;   L x = z, the first run first        (featherstone05, appendix)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from casadi import SX

from linkwork.codegen.trace import Kernel, Trace
from linkwork.reduced.tiles import Layout, Program, factors
from linkwork.symbolic.blocks import rows


@cache
def up(s: int) -> Kernel:
    """L^-T within a run (1) on its part of x (2)."""

    def write(trace: Trace) -> None:
        (L, _), x = factors(trace, s), SX(trace.load(2, 0, s))
        for i in reversed(range(s - 1)):
            x[i] -= L[i + 1 :, i].T @ x[i + 1 :]
        trace.store(2, 0, x)

    return Kernel(f"ltdl up {s}", write, pairs=True)


@cache
def up_tile(s: int, m: int) -> Kernel:
    """What a run's tile (1) and its part of x (2) take off the part of a run above it (3)."""

    def write(trace: Trace) -> None:
        T, x = rows(trace.load(1, 0, s * m), s, m), trace.load(2, 0, s)
        trace.store(3, 0, trace.load(3, 0, m) - T.T @ x)

    return Kernel(f"ltdl up tile {s} {m}", write, pairs=True)


@cache
def scale(s: int) -> Kernel:
    """D^-1 of a run (1) on its part of x (2)."""

    def write(trace: Trace) -> None:
        _, reciprocal = factors(trace, s)
        trace.store(2, 0, trace.load(2, 0, s) * reciprocal)

    return Kernel(f"ltdl scale {s}", write)


@cache
def down_tile(s: int, m: int) -> Kernel:
    """What the part of a run above (3) takes, through a tile (1), off a run's part of x (2)."""

    def write(trace: Trace) -> None:
        T = rows(trace.load(1, 0, s * m), s, m)
        trace.store(2, 0, trace.load(2, 0, s) - T @ trace.load(3, 0, m))

    return Kernel(f"ltdl down tile {s} {m}", write, pairs=True)


@cache
def down(s: int) -> Kernel:
    """L^-1 within a run (1) on its part of x (2)."""

    def write(trace: Trace) -> None:
        (L, _), x = factors(trace, s), SX(trace.load(2, 0, s))
        for i in range(1, s):
            x[i] -= L[i, :i] @ x[:i]
        trace.store(2, 0, x)

    return Kernel(f"ltdl down {s}", write, pairs=True)


@cache
def up_front(s: int, m: int) -> Kernel:
    """Up within a run (1, x 3) and through its tile (2) to the nearest above (x 4)."""
    return Kernel(f"ltdl up front {s} {m}", lambda t: t.write_all([(up(s), (1, 3)), (up_tile(s, m), (2, 3, 4))]), pairs=True)


@cache
def down_root(s: int) -> Kernel:
    """Down within a run (1, x 2) that has none above."""
    return Kernel(f"ltdl down root {s}", lambda t: t.write_all([(scale(s), (1, 2)), (down(s), (1, 2))]), pairs=True)


@cache
def down_front(s: int, m: int) -> Kernel:
    """Down to a run (1, x 3) that has one run above (x 4), through its tile (2)."""
    parts = [(scale(s), (1, 3)), (down_tile(s, m), (2, 3, 4)), (down(s), (1, 3))]
    return Kernel(f"ltdl down front {s} {m}", lambda t: t.write_all(parts), pairs=True)


@dataclass(frozen=True)
class Solving:
    """Elimination and substitution of one parent array."""

    order: np.ndarray  # (n,) rows in the order of x in the workspace, behind the matrix
    program: Program


class Substitution:
    """Operations on the parts of x, for a layout of tiles."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.sizes = [len(run) for run in layout.runs]
        self.part = (len(layout.places) + np.cumsum([0, *self.sizes])).tolist()

    def upwards(self) -> Iterator[tuple[Kernel, tuple[int, ...]]]:
        for s, record, x, above in self._runs(reversed(range(len(self.sizes)))):
            if not above:
                yield up(s), (record, x)
                continue
            (m, tile, other), *further = above
            yield up_front(s, m), (record, tile, x, other)
            for m, tile, other in further:
                yield up_tile(s, m), (tile, x, other)

    def downwards(self) -> Iterator[tuple[Kernel, tuple[int, ...]]]:
        for s, record, x, above in self._runs(range(len(self.sizes))):
            if not above:
                yield down_root(s), (record, x)
            elif len(above) == 1:
                (m, tile, other), *_ = above
                yield down_front(s, m), (record, tile, x, other)
            else:
                yield scale(s), (record, x)
                for m, tile, other in above:
                    yield down_tile(s, m), (tile, x, other)
                yield down(s), (record, x)

    def _runs(self, numbers):
        """(length, record, part of x, [(length, tile, part of x) of each run above]) of runs by number."""
        layout = self.layout
        for R in numbers:
            above = [(self.sizes[P], layout.tile[R, P], self.part[P]) for P in layout.above[R]]
            yield self.sizes[R], layout.record[R], self.part[R], above


def solving(parents: np.ndarray) -> Solving:
    """Of a parent array that has been checked; kept for the next call."""
    return _solving(parents.tobytes())


@lru_cache(maxsize=64)
def _solving(key: bytes) -> Solving:
    layout = Layout(np.frombuffer(key, dtype=np.int64))
    steps = Substitution(layout)
    order = np.array([i for run in layout.runs for i in run], dtype=np.uint32)
    return Solving(order, Program([*layout.operations(), *steps.upwards(), *steps.downwards()]))
