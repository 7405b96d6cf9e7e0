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
from linkwork.codegen.struct import Bundle

REGULAR = 1e-9  # smallest eigenvalue of a pivot, relative to its rows, that counts as regular
COUPLED = 1e-6  # largest entry of a block, relative to its rows, that counts as none
LOADED = 1e-5  # smallest share of a pivot in what it is after its other bodies: in a row of n loops the share is about 1/n
SWEEPS = 30  # of rotations that diagonalise a matrix, at most; six or so are enough
OTHER, NEXT, BLOCK = 0, 1, 2  # of a link
NONE = -1
AHEAD, PRESENT, GONE = 0, 1, 2  # what a vertex can be
FIRST, LAST, DONE, LINKS, VALUES = 0, 1, 2, 3, 4  # counts: of those that wait, of the order, of links and values in use


class Graph(Bundle):
    """What is left of a graph. Vertices 0..n-1 are bodies, n.. constraints; a block of two of them is that of the lower
    vertex (rows) by the higher one (columns)."""

    sequence: np.ndarray  # (s,) bodies to be eliminated
    own_at: np.ndarray  # (s + 1,) where in `own` the constraints of each of these begin ...
    own: np.ndarray  # ... the one upwards last
    seats_at: np.ndarray  # (bodies + 1,) where in `seats` the constraints begin with which each body may be eliminated
    seats: np.ndarray
    ends_at: np.ndarray  # (constraints + 1,) where in `ends` the bodies of each constraint begin
    ends: np.ndarray
    blocks_at: np.ndarray  # (ends + 1,) where in `blocks` the derivative by each of these begins, (rows, dims of the body)
    blocks: np.ndarray
    many: np.ndarray  # (constraints,) whether it has more than two ends
    dims: np.ndarray  # (vertices,)
    pivots_at: np.ndarray  # (vertices,) where in `pivots` that of a vertex begins
    pivots: np.ndarray
    scale: np.ndarray  # (vertices,) of a constraint: the square of its largest derivative
    status: np.ndarray  # (vertices,)
    changed: np.ndarray  # (vertices,) whether it may have become ready since it was looked at
    heads: np.ndarray  # (vertices,) the first link of each
    links: np.ndarray  # (room, 3) another vertex, the next link, where in `values` the block begins
    values: np.ndarray  # (room,)
    block_of: np.ndarray  # (vertices,) of the vertex that was `spread`: where its block with each other one is
    counts: np.ndarray  # (5,)
    waiting: np.ndarray  # (2 constraints,)
    order: np.ndarray  # (vertices,)
    redundant: np.ndarray  # (constraints,) rows that depend on others


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
    """Everything ahead. `room`: for so many blocks a vertex."""
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
        if not (_take_up(g, i, seat) and _remove(g, g.sequence[i])):
            return False
        if not ((seat == NONE or _remove(g, g.dims.shape[0] - g.many.shape[0] + seat)) and _remove_ready(g)):
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
    """Whether no body of a constraint is gone."""
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
    """Constraint k and its blocks."""
    vertex, largest = n + k, 0.0
    begin, end = g.ends_at[k], g.ends_at[k + 1]
    if not _has_room(g, end - begin, g.blocks_at[end] - g.blocks_at[begin]):
        return False
    for j in range(begin, end):
        at, given, rows, columns = _linked(g, g.ends[j], vertex), g.blocks_at[j], g.dims[vertex], g.dims[g.ends[j]]
        for row in range(rows):
            for column in range(columns):
                entry = g.blocks[given + row * columns + column]
                g.values[at + column * rows + row] = entry
                largest = max(largest, abs(entry))
    g.scale[vertex] = largest * largest if largest > 0.0 else 1.0
    g.status[vertex], g.changed[vertex] = PRESENT, True
    return True


@jit_inner
def _has_room(g, blocks, entries):
    return g.counts[LINKS] + 2 * blocks <= g.links.shape[0] and g.counts[VALUES] + entries <= g.values.shape[0]


@jit_inner
def _linked(g, a, b):
    """Where a new block of two vertices is, all zero."""
    at, size = g.counts[VALUES], g.dims[a] * g.dims[b]
    for one, other in ((a, b), (b, a)):
        link = g.counts[LINKS]
        g.links[link, OTHER], g.links[link, NEXT], g.links[link, BLOCK] = other, g.heads[one], at
        g.heads[one] = link
        g.counts[LINKS] += 1
    g.values[at : at + size] = 0.0
    g.counts[VALUES] += size
    return at


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
                if not _remove(g, vertex):
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
            values, _ = _eigen(-_pivot(g, g.waiting[place]))
            regular = values.min() / g.scale[g.waiting[place]]
            if regular > highest:
                best, highest = place, regular
        vertex = g.waiting[best]
        for place in range(best + 1, g.counts[LAST]):
            g.waiting[place - 1] = g.waiting[place]
        g.counts[LAST] -= 1
        _make_regular(g, vertex)
        if not _remove(g, vertex):
            return False
    return True


@jit_inner
def _pivot(g, vertex):
    """(dims, dims), as it lies in the graph."""
    size = g.dims[vertex]
    return g.pivots[g.pivots_at[vertex] : g.pivots_at[vertex] + size * size].reshape(size, size)


@jit_inner
def _make_regular(g, vertex):
    """Count directions in which a pivot is singular as redundant, and make it regular there."""
    pivot = _pivot(g, vertex)
    values, vectors = _eigen(-pivot)
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
    n, pivot = g.dims.shape[0] - g.many.shape[0], -_pivot(g, vertex)
    values, vectors = _eigen(pivot)
    flat = vectors[:, ~(values > REGULAR * g.scale[vertex])]
    whole, bodies, link = pivot.copy(), 0, g.heads[vertex]
    while link != NONE:
        other = g.links[link, OTHER]
        if g.status[other] != GONE:
            block = _block(g, vertex, other, g.links[link, BLOCK])
            if flat.shape[1] and _largest(flat, block) > COUPLED * np.sqrt(g.scale[vertex]):
                return False
            if other < n and not flat.shape[1]:
                bodies += 1
                _update(whole, block, 0, _solved(-_pivot(g, other), block), 0)
        link = g.links[link, NEXT]
    if flat.shape[1]:
        _make_regular(g, vertex)
        return True
    if bodies > 1 and g.many[vertex - n]:
        return False  # all of them would be coupled
    return bodies == 0 or least_share(pivot, whole) > LOADED


@jit_inner
def _largest(flat, block):
    """The largest entry of flat^T block^T; flat: (rows, f), block: (columns, rows)."""
    found = 0.0
    for c in range(flat.shape[1]):
        for j in range(block.shape[0]):
            entry = 0.0
            for i in range(block.shape[1]):
                entry += flat[i, c] * block[j, i]
            found = max(found, abs(entry))
    return found


@jit_inner
def _block(g, vertex, other, at):
    """A copy of the block (dims of the other, dims of the vertex)."""
    rows, columns = g.dims[other], g.dims[vertex]
    found = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            found[i, j] = g.values[at + (i * columns + j if other < vertex else j * rows + i)]
    return found


@jit_inner
def _solved(matrix, right):
    """matrix^-1 right, for a definite matrix: by factors L D L^T."""
    n, L, x = matrix.shape[0], matrix.copy(), right.copy()
    for j in range(n):
        for i in range(j + 1, n):
            share = L[i, j] / L[j, j]
            for k in range(j + 1, i + 1):
                L[i, k] -= share * L[k, j]
            for c in range(x.shape[1]):
                x[i, c] -= share * x[j, c]
    for i in range(n - 1, -1, -1):
        for c in range(x.shape[1]):
            for k in range(i + 1, n):
                x[i, c] -= L[k, i] * x[k, c]
            x[i, c] /= L[i, i]
    return x


@jit_inner
def _remove(g, vertex):
    """Eliminate one vertex: its neighbours are coupled with each other. False where there is no room for that."""
    others, starts, B = _row(g, vertex)
    if not _has_room(g, len(others) * len(others) // 2, B.shape[1] * B.shape[1] // 2):
        return False
    U = _solved(_pivot(g, vertex), B)
    g.status[vertex] = GONE
    for a in range(len(others)):
        i = others[a]
        _spread(g, i)
        _update(_pivot(g, i), B, starts[a], U, starts[a])
        for b in range(a + 1, len(others)):
            j = others[b]
            at = g.block_of[j] if g.block_of[j] != NONE else _linked(g, i, j)
            low, high = (a, b) if i < j else (b, a)
            rows, columns = g.dims[others[low]], g.dims[others[high]]
            _update(g.values[at : at + rows * columns].reshape(rows, columns), B, starts[low], U, starts[high])
        _gather(g, i)
    g.order[g.counts[DONE]] = vertex
    g.counts[DONE] += 1
    return True


@jit_inner
def _row(g, vertex):
    """The neighbours of a vertex, its blocks by them side by side (dims, width), and where each begins in that."""
    count, width, link = 0, 0, g.heads[vertex]
    while link != NONE:
        other = g.links[link, OTHER]
        if g.status[other] != GONE:
            count, width = count + 1, width + g.dims[other]
        link = g.links[link, NEXT]
    others, starts, row = np.empty(count, np.int64), np.empty(count, np.int64), np.empty((g.dims[vertex], width))
    count, width, link = 0, 0, g.heads[vertex]
    while link != NONE:
        other = g.links[link, OTHER]
        if g.status[other] != GONE:
            others[count], starts[count] = other, width
            row[:, width : width + g.dims[other]] = _block(g, other, vertex, g.links[link, BLOCK])
            count, width = count + 1, width + g.dims[other]
        link = g.links[link, NEXT]
    return others, starts, row


@jit_inner
def _update(target, B, i, U, j):
    """target -= B_i^T U_j, of the columns from i and j on."""
    for row in range(target.shape[0]):
        for column in range(target.shape[1]):
            total = 0.0
            for k in range(B.shape[0]):
                total += B[k, i + row] * U[k, j + column]
            target[row, column] -= total


@jit_inner
def _spread(g, vertex):
    """Note where the blocks of a vertex are, by other vertex. Links to those that are gone are taken out."""
    before, link = NONE, g.heads[vertex]
    while link != NONE:
        other, after = g.links[link, OTHER], g.links[link, NEXT]
        if g.status[other] != GONE:
            g.block_of[other] = g.links[link, BLOCK]
            before = link
        elif before == NONE:
            g.heads[vertex] = after
        else:
            g.links[before, NEXT] = after
        link = after


@jit_inner
def _gather(g, vertex):
    """Take back what `_spread` noted; constraints beside a vertex, or itself, may have become ready."""
    n = g.dims.shape[0] - g.many.shape[0]
    g.changed[vertex] |= vertex >= n
    link = g.heads[vertex]
    while link != NONE:
        other = g.links[link, OTHER]
        g.block_of[other] = NONE
        g.changed[other] |= vertex < n <= other
        link = g.links[link, NEXT]


@jit
def least_share(part, whole):
    """The smallest eigenvalue of the pivot `part` relative to the pivot `whole`, both positive semidefinite."""
    values, vectors = _eigen(whole)
    for c in range(len(values)):
        vectors[:, c] /= np.sqrt(max(values[c], 1e-14 * max(values.max(), 1e-300)))
    shares, _ = _eigen(vectors.T @ part @ vectors)
    return shares.min()


@jit_inner
def _eigen(matrix):
    """Eigenvalues and eigenvectors (columns) of a symmetric matrix, in no order, by Jacobi's rotations."""
    n, A, V = matrix.shape[0], matrix.copy(), np.eye(matrix.shape[0])
    tiny = 1e-17 * np.abs(A).max() if n else 0.0
    for _ in range(SWEEPS):
        largest = 0.0
        for p in range(n):
            for q in range(p + 1, n):
                largest = max(largest, abs(A[p, q]))
                if abs(A[p, q]) > tiny:
                    _rotate(A, V, p, q)
        if not largest > tiny:
            break
    return np.diag(A).copy(), V


@jit_inner
def _rotate(A, V, p, q):
    """Turn rows and columns p and q such that A[p, q] vanishes."""
    cotangent = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
    t = (1.0 if cotangent >= 0.0 else -1.0) / (abs(cotangent) + np.sqrt(1.0 + cotangent * cotangent))
    c = 1.0 / np.sqrt(1.0 + t * t)
    s = t * c
    for k in range(A.shape[0]):
        A[k, p], A[k, q] = c * A[k, p] - s * A[k, q], s * A[k, p] + c * A[k, q]
    for k in range(A.shape[0]):
        A[p, k], A[q, k] = c * A[p, k] - s * A[q, k], s * A[p, k] + c * A[q, k]
        V[k, p], V[k, q] = c * V[k, p] - s * V[k, q], s * V[k, p] + c * V[k, q]
    A[p, q] = A[q, p] = 0.0
