"""Blocks of the elimination with unit masses: pivots, their eigenvalues, what they leave."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.codegen.struct import Struct

REGULAR = 1e-9  # smallest eigenvalue of a pivot, relative to its rows, that counts as regular


COUPLED = 1e-6  # largest entry of a block, relative to its rows, that counts as none


LOADED = 1e-5  # smallest share of a pivot in what it is after its other bodies: in a row of n loops the share is about 1/n


SWEEPS = 30  # of rotations that diagonalise a matrix, at most; six or so are enough


OTHER, NEXT, BLOCK = 0, 1, 2  # of a link


NONE = -1


AHEAD, PRESENT, GONE = 0, 1, 2  # what a vertex can be


FIRST, LAST, DONE, LINKS, VALUES = 0, 1, 2, 3, 4  # counts: of those that wait, of the order, of links and values in use


class Graph(Struct):
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


@jit_inner
def linked(g, a, b):
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
def largest_entry(flat, block):
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
def block_between(g, vertex, other, at):
    """A copy of the block (dims of the other, dims of the vertex)."""
    rows, columns = g.dims[other], g.dims[vertex]
    found = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            found[i, j] = g.values[at + (i * columns + j if other < vertex else j * rows + i)]
    return found


@jit_inner
def solved(matrix, right):
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
def remove(g, vertex):
    """Eliminate one vertex: its neighbours are coupled with each other. False where there is no room for that."""
    others, starts, B = _row(g, vertex)
    if not has_room(g, len(others) * len(others) // 2, B.shape[1] * B.shape[1] // 2):
        return False
    U = solved(pivot_of(g, vertex), B)
    g.status[vertex] = GONE
    for a in range(len(others)):
        i = others[a]
        _spread(g, i)
        update(pivot_of(g, i), B, starts[a], U, starts[a])
        for b in range(a + 1, len(others)):
            j = others[b]
            at = g.block_of[j] if g.block_of[j] != NONE else linked(g, i, j)
            low, high = (a, b) if i < j else (b, a)
            rows, columns = g.dims[others[low]], g.dims[others[high]]
            update(g.values[at : at + rows * columns].reshape(rows, columns), B, starts[low], U, starts[high])
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
            row[:, width : width + g.dims[other]] = block_between(g, other, vertex, g.links[link, BLOCK])
            count, width = count + 1, width + g.dims[other]
        link = g.links[link, NEXT]
    return others, starts, row


@jit_inner
def update(target, B, i, U, j):
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
    values, vectors = eigen(whole)
    for c in range(len(values)):
        vectors[:, c] /= np.sqrt(max(values[c], 1e-14 * max(values.max(), 1e-300)))
    shares, _ = eigen(vectors.T @ part @ vectors)
    return shares.min()


@jit_inner
def eigen(matrix):
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


@jit_inner
def pivot_of(g, vertex):
    """(dims, dims), as it lies in the graph."""
    size = g.dims[vertex]
    return g.pivots[g.pivots_at[vertex] : g.pivots_at[vertex] + size * size].reshape(size, size)


@jit_inner
def has_room(g, blocks, entries):
    return g.counts[LINKS] + 2 * blocks <= g.links.shape[0] and g.counts[VALUES] + entries <= g.values.shape[0]
