"""L^T D L in tiles: the paper's elimination on short chains of rows at once, as straight-line kernels.

Rows that follow each other without a branch form a *run* of at most LONGEST. A run with its ancestors is a triangle, the
reciprocals of its pivots, and one tile for each run above it:

    1/D (s)   D and L of the run (triangle, row by row)   L to each run above (s x m, row by row), the nearest first

Runs are eliminated last to first, like the rows in featherstone05's LTDL. Kernels depend on lengths of runs alone, never
on the tree. Memory and work are those of the sparse factor: structural zeros have no place here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.codegen.jit import OPERANDS, kernel_table
from linkwork.codegen.loader import LOADER
from linkwork.codegen.trace import Kernel, Trace
from linkwork.reduced.parent_array import runs
from linkwork.symbolic.blocks import lower, rows, symmetric, triangle_size

LONGEST = 6  # rows of a run, at most: the freedoms of a floating base or of a limb
LANES = 4  # matrices side by side


def factors(trace: Trace, s: int) -> tuple[SX, SX]:
    """L and 1/D of the run at pointer 1; D lies on the diagonal of L."""
    return symmetric(trace.load(1, s, triangle_size(s)), s), trace.load(1, 0, s)


@cache
def pivot(s: int) -> Kernel:
    """Factor the triangle of a run (pointer 1)."""

    def write(trace: Trace) -> None:
        A, reciprocal = symmetric(trace.load(1, s, triangle_size(s)), s), SX(s, 1)
        for k in reversed(range(s)):
            reciprocal[k] = 1 / A[k, k]
            for i in range(k):
                a = A[k, i] * reciprocal[k]
                for j in range(i + 1):
                    A[i, j] -= A[k, j] * a
            for i in range(k):
                A[k, i] *= reciprocal[k]
        trace.store(1, 0, reciprocal)
        trace.store(1, s, lower(A))

    return Kernel(f"ltdl pivot {s}", write, pairs=True)


@cache
def panel(s: int, m: int) -> Kernel:
    """Rows of the run towards a run above it (pointer 2): eliminated, divided by their pivots."""

    def write(trace: Trace) -> None:
        L, reciprocal = factors(trace, s)
        T = rows(trace.load(2, 0, s * m), s, m)
        for k in reversed(range(s)):
            for i in range(k):
                T[i, :] -= L[k, i] * T[k, :]
        for k in range(s):
            T[k, :] *= reciprocal[k]
        trace.store(2, 0, T)

    return Kernel(f"ltdl panel {s} {m}", write, pairs=True)


@cache
def update_triangle(s: int, m: int) -> Kernel:
    """What the run (1) takes, through its tile (2), off the triangle of a run above it (3)."""

    def write(trace: Trace) -> None:
        L, _ = factors(trace, s)
        T, A = rows(trace.load(2, 0, s * m), s, m), symmetric(trace.load(3, m, triangle_size(m)), m)
        U = ca.diag(ca.diag(L)) @ T
        for i in range(m):
            for j in range(i + 1):
                A[i, j] -= ca.dot(U[:, i], T[:, j])  # summed first: rounded once at the size of A
        trace.store(3, m, lower(A))

    return Kernel(f"ltdl update {s} {m}", write, pairs=True)


@cache
def update_tile(s: int, m: int, q: int) -> Kernel:
    """What the run (1) takes, through its tiles (2, 3), off the tile (4) of one run above it towards another."""

    def write(trace: Trace) -> None:
        L, _ = factors(trace, s)
        T, U = rows(trace.load(2, 0, s * m), s, m), rows(trace.load(3, 0, s * q), s, q)
        A = rows(trace.load(4, 0, m * q), m, q)
        trace.store(4, 0, A - (ca.diag(ca.diag(L)) @ T).T @ U)

    return Kernel(f"ltdl update {s} {m} {q}", write, pairs=True)


@cache
def front(s: int, m: int) -> Kernel:
    """Pivot, panel and update towards the nearest run above, in one."""
    parts = [(pivot(s), (1,)), (panel(s, m), (1, 2)), (update_triangle(s, m), (1, 2, 3))]
    return Kernel(f"ltdl front {s} {m}", lambda trace: trace.write_all(parts), pairs=True)


class Program:
    """Operations on a workspace: (table of kernels, rows of (kernel, offset, ...)), compiled when first asked for."""

    def __init__(self, steps: Iterable[tuple[Kernel, tuple[int, ...]]]):
        steps = [*steps]
        self.kernels = list(dict.fromkeys(kernel for kernel, _ in steps))
        number = {kernel: k for k, kernel in enumerate(self.kernels)}
        padded = [(number[kernel], *offsets, *[0] * (OPERANDS - len(offsets))) for kernel, offsets in steps]
        self.operations = np.array(padded, dtype=np.int32).reshape(-1, 1 + OPERANDS)

    @cached_property
    def single(self) -> tuple[np.ndarray, np.ndarray]:
        return kernel_table(self.kernels), self.operations

    @cached_property
    def lanes(self) -> tuple[np.ndarray, np.ndarray]:
        """For LANES matrices side by side."""
        addresses = np.array(LOADER.addresses_of(self.kernels, LANES), dtype=np.int64)
        return addresses, self.operations * np.array([1] + [LANES] * OPERANDS, dtype=np.int32)


@dataclass(frozen=True)
class Plan:
    """The elimination of one parent array."""

    flat: np.ndarray  # (entries of a workspace,) which number of a matrix lies there: row * n + column; 1/D beside its D
    pivots: np.ndarray  # (n,) places of D in the workspace
    program: Program


class Layout:
    """Where runs and tiles lie."""

    def __init__(self, parents: np.ndarray):
        self.runs = runs(parents, LONGEST)
        home = {i: number for number, run in enumerate(self.runs) for i in run}
        self.above: list[list[int]] = []  # runs above each, the nearest first
        self.record: list[int] = []
        self.tile: dict[tuple[int, int], int] = {}
        self.places: list[tuple[int, int]] = []  # (row, column) of the matrix, for each entry of a workspace
        for number, run in enumerate(self.runs):
            parent = home.get(int(parents[run[0]]), -1)
            self.above.append([parent, *self.above[parent]] if parent >= 0 else [])
            self.record.append(len(self.places))
            self.places += [(i, i) for i in run]
            self.places += [(i, j) for a, i in enumerate(run) for j in run[: a + 1]]
            for other in self.above[number]:
                self.tile[number, other] = len(self.places)
                self.places += [(i, j) for i in run for j in self.runs[other]]

    def operations(self) -> Iterator[tuple[Kernel, tuple[int, ...]]]:
        """The elimination, the last run first."""
        for R in reversed(range(len(self.runs))):
            s, record = len(self.runs[R]), self.record[R]
            above = [(P, len(self.runs[P]), self.tile[R, P]) for P in self.above[R]]
            if not above:
                yield pivot(s), (record,)
                continue
            nearest, m, tile = above[0]
            yield front(s, m), (record, tile, self.record[nearest])
            for P, m, tile in above[1:]:
                yield panel(s, m), (record, tile)
                yield update_triangle(s, m), (record, tile, self.record[P])
            for place, (P, m, tile) in enumerate(above):
                for Q, q, other in above[place + 1 :]:
                    yield update_tile(s, m, q), (record, tile, other, self.tile[P, Q])


def operation_count(parents: np.ndarray) -> int:
    """How many operations a plan has."""
    above: dict[int, int] = {-1: 0}  # the last row of a run -> runs from there to the ground
    total = 0
    for run in runs(parents, LONGEST):
        a = above[int(parents[run[0]])]
        above[run[-1]] = a + 1
        total += 1 if a == 0 else 2 * a - 1 + a * (a - 1) // 2
    return total


def plan(parents: np.ndarray) -> Plan:
    """The plan of a parent array that has been checked; kept for the next call."""
    return _plan(parents.tobytes())


@lru_cache(maxsize=64)
def _plan(key: bytes) -> Plan:
    parents = np.frombuffer(key, dtype=np.int64)
    layout = Layout(parents)
    row, column = np.array(layout.places, dtype=np.int64).reshape(-1, 2).T
    pivots = np.empty(len(parents), np.int64)
    pivots[row[row == column]] = np.flatnonzero(row == column)  # of 1/D and D, D comes later
    flat = (row * len(parents) + column).astype(np.uint32)
    return Plan(flat, pivots.astype(np.uint32), Program(layout.operations()))
