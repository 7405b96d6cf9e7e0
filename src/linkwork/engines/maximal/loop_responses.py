"""W: what auxiliary rows feel of unit forces along each other, in lanes.

A batch of forces goes up its paths to the root and down to whatever auxiliary rows feel there; all that is left out is zero, or
known by symmetry: rows far from the root come first, so that what feels the later ones is near it. Which operations that takes
is found once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.codegen.jit import INTERPRETED, jit, kernel_table, sweep_some
from linkwork.codegen.trace import Kernel
from linkwork.kernels import fronts
from linkwork.kernels.vocabulary import Piece, Sweep
from linkwork.schedules.schedules import Schedules

LANES = 1 if INTERPRETED else 8  # responses that one kernel takes at once


class Responses:
    """Of one model that has auxiliary nodes. Columns are auxiliary rows; entries are in a workspace."""

    def __init__(self, schedules: Schedules, pull_slot: Callable[[int, int], int]):
        self.schedules, m = schedules, schedules.model
        self.n = len(m.bodies.kinds)
        depth = _depths([vertex for _, vertex in schedules.fronts], m.later)
        self.nodes = sorted(m.auxiliary, key=lambda k: (-max(depth[b] for b in m.later[self.n + k]), k))
        self.sizes = np.array([m.nodes[k].kind.size for k in self.nodes], dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.sizes)])  # row of each node
        self.named = np.repeat([m.nodes[k].kind.force_directed for k in self.nodes], self.sizes)  # rows that name their forces
        self.symmetric = not self.named.any()
        dims = [schedules._dim(v) for v in range(self.n + len(m.nodes))]
        self.at = m.response_at + LANES * np.concatenate([[0], np.cumsum(dims)[:-1]])  # (vertices,)
        self._find_rows()
        self._find_entries(pull_slot)
        self._make_operations()
        self._choose()

    @property
    def count(self) -> int:
        return int(self.first[-1])

    def _find_rows(self) -> None:
        """Where the right-hand side, the multiplier and the own block's diagonal of each row are."""
        m = self.schedules.model
        b, x, diagonal = [], [], []
        for k, size in zip(self.nodes, self.sizes, strict=True):
            where, row = {name: m.field_of_node(k, name).start for name in ("D", "b", "x")}, np.arange(size)
            b.append(where["b"] + row)
            x.append(where["x"] + row)
            diagonal.append(where["D"] + row * (row + 3) // 2)
        self.b_at, self.x_at, self.diagonal = (np.concatenate(each) for each in (b, x, diagonal))

    def _find_entries(self, pull_slot) -> None:
        """All entries of Ja and of K transposed, row by row: where they are, in which row, and where the x, b and response of
        their column are."""
        p, m = self.schedules, self.schedules.model
        found: list[tuple[np.ndarray, ...]] = []
        for number, (k, size) in enumerate(zip(self.nodes, self.sizes, strict=True)):
            row = np.arange(size)[:, None]
            for body in m.later[self.n + k]:
                d, slot, front = p._dim(body), p._slot(self.n + k, body), p._front_at(body)
                column = np.arange(d)[None, :]
                b = front + d * (d + 1) // 2
                K = pull_slot(self.n + k, body)
                each = (self.first[number] + row, slot + d * row + column, K + d * row + column, b + d + column, b + column,
                        self.at[body] + LANES * column)  # fmt: skip
                found.append(tuple(np.broadcast_to(x, (size, d)).ravel() for x in each))
        row, *others = (np.concatenate(each) for each in zip(*found, strict=True))
        order = np.argsort(row, kind="stable")
        found_in_order = (x[order] for x in (row, *others))
        self.row, self.J_at, self.K_at, self.column_x, self.column_b, self.column_response = found_in_order
        self.entries_of = np.searchsorted(self.row, np.arange(self.count + 1))  # of each row: its first entry

    def _make_operations(self) -> None:
        """Tables of operations: of the sweeps, vertex after vertex, and of what nodes feel of their bodies, for each as the
        first of these and as a further one."""
        p, m = self.schedules, self.schedules.model
        kernels: list[Kernel] = []
        number: dict[str, int] = {}

        def row(kernel: Kernel, *offsets: int) -> tuple[int, ...]:
            if kernel.key not in number:
                number[kernel.key] = len(kernels)
                kernels.append(kernel)
            return (number[kernel.key], *offsets, *[0] * (5 - len(offsets)))

        self.vertices = [vertex for _, vertex in p.fronts]  # in the order of elimination
        tables: dict[Sweep, list] = {Sweep.FORWARD: [], Sweep.BACKWARD: []}
        starts: dict[Sweep, list[int]] = {sweep: [0] for sweep in tables}
        felt: list[tuple[int, ...]] = []
        for vertex in self.vertices:
            for sweep, rows in tables.items():
                rows += [row(*operation) for operation in self._front(vertex, sweep)]
                starts[sweep].append(len(rows))
        for k in self.nodes:
            for body in m.later[self.n + k]:
                slot, size, d = p._slot(self.n + k, body), m.nodes[k].kind.size, p._dim(body)
                for first in (True, False):
                    felt.append(row(fronts.felt_kernel(size, d, first), slot, self.at[body], self.at[self.n + k]))
        self.forward, self.backward, self.felt = (
            np.array(rows, dtype=np.int32).reshape(-1, 6) for rows in (*tables.values(), felt)
        )
        self.starts = {sweep: np.array(start, dtype=np.int64) for sweep, start in starts.items()}
        self.table = kernel_table(kernels, LANES)

    def _front(self, vertex: int, sweep: Sweep):
        p = self.schedules
        others, d, at, own = p.model.later[vertex], p._dim(vertex), p._front_at(vertex), self.at[vertex]
        if len(others) <= 2:
            kernel = fronts.response_kernel(d, tuple(p._dim(other) for other in others), sweep)
            return [(kernel, at, p.model.slot_at[vertex], own, *[self.at[other] for other in others])]
        piece, alone = (Piece.PUSH, Piece.SOLVE) if sweep == Sweep.FORWARD else (Piece.PULL, Piece.FINISH)
        pieces = [(fronts.response_piece_kernel(piece, d, p._dim(other)), at, p._slot(vertex, other), own, self.at[other])
                  for other in others]  # fmt: skip
        single = [(fronts.response_piece_kernel(alone, d), at, 0, own)]
        return [*single, *pieces] if sweep == Sweep.FORWARD else [*pieces, *single]

    def _choose(self) -> None:
        """For each batch of columns the operations of its sweeps, what is to be zero before them, and the rows it finds."""
        m, position = self.schedules.model, np.full(len(self.at), -1, dtype=np.int64)
        position[self.vertices] = np.arange(len(self.vertices))
        later, later_at = _packed([position[m.later[v]] for v in self.vertices])
        ends, ends_at = _packed([position[m.later[self.n + k]] for k in self.nodes])
        self.batches = _choices(
            len(self.vertices), later, later_at, ends, ends_at, self.first, *self.starts.values(), LANES, self.symmetric,
        )  # fmt: skip
        dims = np.array([self.schedules._dim(v) for v in self.vertices], dtype=np.int64)
        self.places, self.widths = self.at[self.vertices], LANES * dims
        self.felt_at = np.repeat(self.at[[self.n + k for k in self.nodes]], self.sizes)
        self.felt_at += LANES * (np.arange(self.count) - np.repeat(self.first[:-1], self.sizes))
        self.W = np.zeros((self.count, self.count))  # transposed: what is felt of one force lies side by side
        self.full = self.symmetric and len(self.batches[4]) >= sum(self.count - k for k in range(0, self.count, LANES))

    def matrix(self, work: np.ndarray) -> np.ndarray:
        """W (k, k), of which the lower triangle alone is complete if it is symmetric; the rows' own blocks are taken off. Until
        the next call."""
        W = self.W
        if not self.full:  # some entries that were zero have been written over by factors
            W.fill(0.0)
        _respond(work, self.table, self.forward, self.backward, self.felt, *self.batches, self.places, self.widths,
                 self.entries_of, self.K_at, self.column_response, self.felt_at, W, LANES)  # fmt: skip
        W[np.diag_indices(self.count)] -= work[self.diagonal]
        return W.T


def _depths(order: list[int], later: dict[int, list[int]]) -> dict[int, int]:
    """Of each vertex: how many come after it on its path to the root."""
    depth: dict[int, int] = {}
    for vertex in reversed(order):
        depth[vertex] = max((1 + depth[other] for other in later[vertex]), default=0)
    return depth


def _packed(lists) -> tuple[np.ndarray, np.ndarray]:
    """Lists one after another, and where each begins."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *lists]).astype(np.int64), np.cumsum([0, *map(len, lists)])


@jit
def _choices(n, later, later_at, ends, ends_at, first, forward_at, backward_at, lanes, symmetric):
    """Batch by batch, each as (entries, where each batch begins): forward operations, backward ones, vertices touched,
    operations of what is felt, rows that feel."""
    nodes, columns = len(first) - 1, first[-1]
    batches = (columns + lanes - 1) // lanes
    tree = _trees(n, later, later_at)
    node_of = np.zeros(columns, dtype=np.int64)
    for i in range(nodes):
        node_of[first[i] : first[i + 1]] = i
    forward, backward, touched, felt, rows = [0], [0], [0], [0], [0]
    begins = np.zeros((5, batches + 1), dtype=np.int64)
    last_asked = np.full(n, -1, dtype=np.int64)  # the last node whose paths go through a vertex
    for i in range(nodes):
        _climb(n, ends[ends_at[i] : ends_at[i + 1]], later, later_at, last_asked, i)
    own, reached = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for batch in range(batches):
        low, high = node_of[batch * lanes], node_of[min((batch + 1) * lanes, columns) - 1]
        for i in range(low, high + 1):
            _climb(n, ends[ends_at[i] : ends_at[i + 1]], later, later_at, own, batch)
            for e in range(ends_at[i], ends_at[i + 1]):
                reached[tree[ends[e]]] = batch
        for p in range(n):
            if own[p] == batch:
                for k in range(forward_at[p], forward_at[p + 1]):
                    forward.append(k)
        lowest = low if symmetric else 0
        for p in range(n - 1, -1, -1):
            if last_asked[p] >= lowest and reached[tree[p]] == batch:
                touched.append(p)
                for k in range(backward_at[p], backward_at[p + 1]):
                    backward.append(k)
        for i in range(lowest, nodes):
            alone = True
            for e in range(ends_at[i], ends_at[i + 1]):
                if reached[tree[ends[e]]] == batch:
                    felt.append(2 * e if alone else 2 * e + 1)
                    alone = False
            if not alone:
                for row in range(first[i], first[i + 1]):
                    rows.append(row)
        begins[0, batch + 1], begins[1, batch + 1] = len(forward) - 1, len(backward) - 1
        begins[2, batch + 1], begins[3, batch + 1], begins[4, batch + 1] = len(touched) - 1, len(felt) - 1, len(rows) - 1
    word = np.int32
    return (np.array(forward[1:], dtype=word), np.array(backward[1:], dtype=word), np.array(touched[1:], dtype=word),
            np.array(felt[1:], dtype=word), np.array(rows[1:], dtype=word), begins)  # fmt: skip


@jit
def _trees(n, later, later_at):
    """Of each vertex: the last one that it is connected with by later neighbours."""
    tree = np.arange(n)
    for p in range(n - 1, -1, -1):
        for e in range(later_at[p], later_at[p + 1]):
            tree[p] = tree[later[e]]
    return tree


@jit
def _climb(n, starts, later, later_at, mark, name):
    """Mark vertices and all that come later on their paths with a name."""
    lowest = n
    for p in starts:
        mark[p] = name
        lowest = min(lowest, p)
    for p in range(lowest, n):
        if mark[p] == name:
            for e in range(later_at[p], later_at[p + 1]):
                mark[later[e]] = name


@jit
def _respond(work, table, forward, backward, felt, forward_of, backward_of, touched, felt_of, rows, begins, places, widths,
             entries_of, K_at, column_response, felt_at, W, lanes):  # fmt: skip
    columns = W.shape[0]
    for batch in range(begins.shape[1] - 1):
        low, high = batch * lanes, min((batch + 1) * lanes, columns)
        for p in touched[begins[2, batch] : begins[2, batch + 1]]:
            work[places[p] : places[p] + widths[p]] = 0.0
        for column in range(low, high):
            for e in range(entries_of[column], entries_of[column + 1]):
                work[column_response[e] + column - low] = work[K_at[e]]
        sweep_some(work, table, forward, forward_of[begins[0, batch] : begins[0, batch + 1]])
        sweep_some(work, table, backward, backward_of[begins[1, batch] : begins[1, batch + 1]])
        sweep_some(work, table, felt, felt_of[begins[3, batch] : begins[3, batch + 1]])
        for row in rows[begins[4, batch] : begins[4, batch + 1]]:
            start = felt_at[row]
            for lane in range(high - low):
                W[low + lane, row] = work[start + lane]
