"""Elimination with unit masses, vertex by vertex, to see which pivots are regular: what `graph.elimination_order` rests on.

Bodies are eliminated in a given sequence, a constraint as soon as its pivot is regular: it waits for its other bodies until
then, and one with many bodies until a single one is left. A body that can goes together with a joint (its seat), and what
closes loops on it waits for its other body, if that can go so too: rows fill less than bodies. Directions in which a pivot is
singular, and which no vertex left is coupled with, are redundant: they are counted, and the pivot is made regular there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.model.rank_elimination import (
    AHEAD,
    BLOCK,
    COUPLED,
    DONE,
    FIRST,
    GONE,
    LAST,
    LOADED,
    NEXT,
    NONE,
    OTHER,
    PRESENT,
    REGULAR,
    Graph,
    block_between,
    eigen,
    has_room,
    largest_entry,
    least_share,
    linked,
    pivot_of,
    remove,
    solved,
    update,
)


def eliminated(
    sequence: Sequence[int], own: Sequence[Sequence[int]], seats: Sequence[Sequence[int]], ends: Sequence[Sequence[int]],
    blocks: Sequence[Sequence[np.ndarray]], many: Sequence[bool], rotors: Sequence[tuple[int, int]], dims: Sequence[int],
) -> tuple[list[int], dict[int, int]]:  # fmt: skip
    """The vertices in the order of elimination, and {constraint: rows that depend on others}.

    own[i]: the constraints of sequence[i]; seats[b]: those with which body b may be eliminated. Of each constraint `ends` and
    `blocks`: its bodies and its derivatives by them; many: whether it has more than two, the ground included. rotors:
    (constraint, row) that turns something; dims: of all vertices.
    """
    room = 16
    while True:
        graph = _graph(sequence, own, seats, ends, blocks, many, rotors, np.array(dims, dtype=np.int64), room)
        if _eliminate(graph):
            counted = np.flatnonzero(graph.redundant)
            found = dict(zip(counted.tolist(), graph.redundant[counted].tolist(), strict=True))
            return graph.order[: graph.counts[DONE]].tolist(), found
        room *= 4


def _graph(sequence, own, seats, ends, blocks, many, rotors, dims: np.ndarray, room: int) -> Graph:
    """The graph before the first elimination, with room for `room` blocks a vertex."""
    total, constraints, pivots_at = len(dims), len(many), _starts(dims**2)
    pivots = np.zeros(pivots_at[-1])
    for k, row in rotors:
        v = total - constraints + k
        pivots[pivots_at[v] + row * (dims[v] + 1)] = -1.0
    flat = [block.ravel() for several in blocks for block in several]
    counts = np.array([constraints, constraints, 0, 0, 0], dtype=np.int64)
    return Graph(
        np.array(sequence, dtype=np.int64), _starts(list(map(len, own))), _joined(own),
        _starts(list(map(len, seats))), _joined(seats), _starts(list(map(len, ends))),
        _joined(ends), _starts([block.size for block in flat]), np.concatenate([np.zeros(0), *flat]),
        np.array(many, dtype=np.bool_), dims, pivots_at, pivots, np.ones(total), np.full(total, AHEAD),
        np.zeros(total, dtype=np.bool_), np.full(total, NONE), np.empty((room * total, 3), dtype=np.int64),
        np.empty(room * pivots_at[-1]), np.full(total, NONE), counts, np.empty(2 * constraints, dtype=np.int64),
        np.empty(total, dtype=np.int64), np.zeros(constraints, dtype=np.int64),
    )  # fmt: skip


def _starts(sizes) -> np.ndarray:
    """(k + 1,) where each of k runs begins, and the end of all."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _joined(several: Sequence[Sequence[int]]) -> np.ndarray:
    return np.array([x for one in several for x in one], dtype=np.int64)


@jit
def _eliminate(g):
    """Eliminate everything; false where there is no room for it."""
    for v in range(g.dims.shape[0] - g.many.shape[0]):
        for row in range(g.dims[v]):
            g.pivots[g.pivots_at[v] + row * (g.dims[v] + 1)] = 1.0
    for i in range(g.sequence.shape[0]):
        seat = _seat(g, g.sequence[i])
        if not (_take_up(g, i, seat) and remove(g, g.sequence[i])):
            return False
        if not ((seat == NONE or remove(g, g.dims.shape[0] - g.many.shape[0] + seat)) and _remove_ready(g)):
            return False
    return _remove_rest(g)


@jit_inner
def _seat(g, body):
    """Of the constraints that may go with a body, and that nothing else has touched, the one that leaves the fewest rows and
    velocities behind; none to a body that others couple with it."""
    n, found, least = g.dims.shape[0] - g.many.shape[0], NONE, 0
    for k in g.seats[g.seats_at[body] : g.seats_at[body + 1]]:
        if not _is_open(g, k):
            continue
        left, coupled = -g.dims[n + k], False
        for other in g.ends[g.ends_at[k] : g.ends_at[k + 1]]:
            if other != body:
                left, coupled = left + g.dims[other], _are_linked(g, body, other)
        if not coupled and (found == NONE or left < least):
            found, least = k, left
    return found


@jit_inner
def _is_open(g, k):
    """Whether none of the bodies of a constraint has been eliminated."""
    for body in g.ends[g.ends_at[k] : g.ends_at[k + 1]]:
        if g.status[body] == GONE:
            return False
    return True


@jit_inner
def _are_linked(g, vertex, other):
    link = g.heads[vertex]
    while link != NONE:
        if g.links[link, OTHER] == other:
            return True
        link = g.links[link, NEXT]
    return False


@jit_inner
def _waits(g, vertex):
    """Whether a constraint would couple several, and may have fewer rows to couple them by once its other body is gone."""
    k, count, link = vertex - (g.dims.shape[0] - g.many.shape[0]), 0, g.heads[vertex]
    while link != NONE:
        count += g.status[g.links[link, OTHER]] != GONE
        link = g.links[link, NEXT]
    if count < 2:
        return False
    for body in g.ends[g.ends_at[k] : g.ends_at[k + 1]]:
        if g.status[body] == GONE:
            continue
        for other in g.seats[g.seats_at[body] : g.seats_at[body + 1]]:
            if other != k and _is_open(g, other):
                return True
    return False


@jit_inner
def _take_up(g, i, seat):
    """Put the constraints of the i-th body into the graph that are not there: the last behind all that wait, others before; the
    one that goes with it waits for nothing."""
    n, last = g.dims.shape[0] - g.many.shape[0], True
    for k in g.own[g.own_at[i] : g.own_at[i + 1]][::-1]:
        if g.status[n + k] == AHEAD:
            if not _put(g, n, k):
                return False
            if k == seat:
                continue
            g.counts[LAST if last else FIRST] += 1 if last else -1
            g.waiting[g.counts[LAST] - 1 if last else g.counts[FIRST]] = n + k
            last = False
    return True


@jit_inner
def _put(g, n, k):
    """Enter constraint k and its blocks into the graph; False where there is no room for them."""
    vertex, largest = n + k, 0.0
    begin, end = g.ends_at[k], g.ends_at[k + 1]
    if not has_room(g, end - begin, g.blocks_at[end] - g.blocks_at[begin]):
        return False
    for j in range(begin, end):
        at, given, rows, columns = linked(g, g.ends[j], vertex), g.blocks_at[j], g.dims[vertex], g.dims[g.ends[j]]
        for row in range(rows):
            for column in range(columns):
                entry = g.blocks[given + row * columns + column]
                g.values[at + column * rows + row] = entry
                largest = max(largest, abs(entry))
    g.scale[vertex] = largest * largest if largest > 0.0 else 1.0
    g.status[vertex], g.changed[vertex] = PRESENT, True
    return True


@jit_inner
def _remove_ready(g):
    """Remove constraints that wait, as long as one has become ready."""
    progress = True
    while progress:
        progress, kept = False, g.counts[FIRST]
        for place in range(g.counts[FIRST], g.counts[LAST]):
            vertex = g.waiting[place]
            looked_at = g.changed[vertex]
            g.changed[vertex] = False
            if looked_at and _ready(g, vertex):
                if not remove(g, vertex):
                    return False
                progress = True
            else:
                g.waiting[kept] = vertex
                kept += 1
        g.counts[LAST] = kept
    return True


@jit_inner
def _remove_rest(g):
    """Constraints that wait for each other when no body is left, being nearly redundant: the most regular ones first."""
    while g.counts[LAST] > g.counts[FIRST]:
        best, highest = g.counts[FIRST], -np.inf
        for place in range(g.counts[FIRST], g.counts[LAST]):
            values, _ = eigen(-pivot_of(g, g.waiting[place]))
            regular = values.min() / g.scale[g.waiting[place]]
            if regular > highest:
                best, highest = place, regular
        vertex = g.waiting[best]
        for place in range(best + 1, g.counts[LAST]):
            g.waiting[place - 1] = g.waiting[place]
        g.counts[LAST] -= 1
        _make_regular(g, vertex)
        if not remove(g, vertex):
            return False
    return True


@jit_inner
def _make_regular(g, vertex):
    """Count directions in which a pivot is singular as redundant, and make it regular there."""
    pivot = pivot_of(g, vertex)
    values, vectors = eigen(-pivot)
    for c in range(len(values)):
        if not values[c] > REGULAR * g.scale[vertex]:
            g.redundant[vertex - (g.dims.shape[0] - g.many.shape[0])] += 1
            for i in range(len(values)):
                for j in range(len(values)):
                    pivot[i, j] -= g.scale[vertex] * vectors[i, c] * vectors[j, c]


@jit_inner
def _ready(g, vertex):
    """Whether a constraint's pivot is regular, and not much better after the bodies that it still has, or singular where
    nothing left could make it regular."""
    if _waits(g, vertex):
        return False
    n, pivot = g.dims.shape[0] - g.many.shape[0], -pivot_of(g, vertex)
    values, vectors = eigen(pivot)
    flat = vectors[:, ~(values > REGULAR * g.scale[vertex])]
    whole, bodies, link = pivot.copy(), 0, g.heads[vertex]
    while link != NONE:
        other = g.links[link, OTHER]
        if g.status[other] != GONE:
            block = block_between(g, vertex, other, g.links[link, BLOCK])
            if flat.shape[1] and largest_entry(flat, block) > COUPLED * np.sqrt(g.scale[vertex]):
                return False
            if other < n and not flat.shape[1]:
                bodies += 1
                update(whole, block, 0, solved(-pivot_of(g, other), block), 0)
        link = g.links[link, NEXT]
    if flat.shape[1]:
        _make_regular(g, vertex)
        return True
    if bodies > 1 and g.many[vertex - n]:
        return False  # all of them would be coupled
    return bodies == 0 or least_share(pivot, whole) > LOADED
