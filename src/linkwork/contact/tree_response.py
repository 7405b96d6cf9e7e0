"""How bodies of a tree that are touched answer impulses, composed along the tree from the factors that are there.

A vertex of the tree is a body with what joins it to its parent, eliminated after all that hangs on it. Its velocity is

    v = K v_parent + T y,    T T^T = its response while its parent is held,

with y of unit mass, one for each freedom of the joint. Touched vertices, and those where ways from them to the root meet, are
*keys*. From a key up to the next one the product P of the K, and the P T, are made of a few numbers a vertex:

    alone: K = 0, T T^T = D^-1        with its joint: K = (1 - S L^-T Y) X, T = S L^-T p^(1/2)    (kernels/joint_elimination.py)
    and a joint behind it: K = Z p' Y', T T^T = D^-1 + Z p' Z^T, Z = L^-T p Y L'^-T               (fronts; ': of the joint)

with L diag(1/p) L^T the factored pivot. From the root outwards, M = P M_above, and the P T as columns of its own, are the rows
of L of R = L L^T. A way with more freedoms than a body has velocities has no more columns than those.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.codegen.simd import add_multiple, set_multiples
from linkwork.codegen.struct import Struct

ALONE, TURNS, AXES, WHOLE, FRONTS = range(5)  # forms of vertices: S = 1; all turns; turns about axes; any; body and joint apart
NONE = -1  # no position: above the root
NO_ROOM = -1  # of columns of L, more than there is room for
HELD = 1e-12  # part of a response below which it is rounding
UNMARKED, PASSED, KEY = range(3)
P, B, T, Q = 0, 36, 72, 108  # in `Composing.local`: rows of six
# columns of the table of positions in an elimination: the next one on the way to the root or NONE; the range of entries of b;
# and of bodies: how many velocities, freedoms of the joint, the position of the parent; the form; and where the factors lie: L;
# Y; S; e; of fronts in the place of the last two those of the joint, L' and Y', and its number of rows
ABOVE, RIGHT, WIDTH, FREEDOMS, PARENT, FORM, L_AT, Y_AT, S_AT, E_AT, ROWS = 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11
POSITION_COLUMNS = 12
MOST_MOTIONS = 4_000_000  # numbers: above that, columns of R come one by one


class Composing(Struct):
    """Scratch."""

    mark: np.ndarray  # (positions,) int8: UNMARKED between calls
    keys: np.ndarray  # (positions,) int64
    columns: np.ndarray  # (positions, 2) int64: of a key, where its motion lies; the end of its own columns
    stride: np.ndarray  # (1,) int64: how far rows of a motion are apart
    motions: np.ndarray  # rows of all keys
    row: np.ndarray  # one of them
    local: np.ndarray  # (8 x 36,): P; B = P T of a vertex; the columns of a way, and T T^T of it; four more


def composing(positions: np.ndarray, most: int) -> Composing:
    """`most`: numbers of motions of the largest tree."""
    n = len(positions)
    keys, columns, stride = (np.zeros(shape, dtype=np.int64) for shape in (n, (n, 2), 1))
    motions, row = np.zeros(min(most, MOST_MOTIONS)), np.zeros(int(positions[:, FREEDOMS].sum()) + 3)
    return Composing(np.zeros(n, dtype=np.int8), keys, columns, stride, motions, row, np.zeros(8 * 36))


@jit_inner
def mark_way(positions, scratch, item, count):
    """Mark the way from a touched vertex to the root, and what are keys; returns how many of these there are now."""
    mark, keys = scratch.mark, scratch.keys
    if mark[item] == KEY:
        return count
    met = mark[item] == PASSED
    mark[item], keys[count], count = KEY, item, count + 1
    while not met:
        item = positions[item, PARENT]
        if item < 0 or mark[item] == KEY:
            break
        met = mark[item] == PASSED
        mark[item] = PASSED
        if met:
            mark[item], keys[count], count = KEY, item, count + 1
    return count


@jit_inner
def compose(work, positions, scratch, count):
    """M of all keys, from the root outwards; returns how many columns there are, or NO_ROOM. Marks are taken back."""
    mark, keys, columns = scratch.mark, scratch.keys, scratch.columns
    _sort_outwards(keys, count)
    stride, rows, end, at = 0, 0, 0, 0
    for k in range(count):
        freedoms, item = 0, keys[k]
        width = positions[item, WIDTH]
        while True:
            freedoms += positions[item, FREEDOMS]
            item = positions[item, PARENT]
            if item < 0 or mark[item] == KEY:
                break
            mark[item] = UNMARKED
        columns[keys[k], 0], columns[keys[k], 1] = item, freedoms
        stride, rows = stride + min(freedoms, width), rows + width
    stride = whole(stride)
    scratch.stride[0] = stride
    fits = rows * stride <= len(scratch.motions)
    for k in range(count):
        item = keys[k]
        if fits:
            above, width = columns[item, 0], positions[item, WIDTH]
            own = _climb(work, positions, scratch, item, above, columns[item, 1])
            before = _carry(scratch, width, above, positions[above, WIDTH] if above >= 0 else 0, stride, at)
            _put_own(scratch.local, width, own, scratch.motions, at, stride, before, end)
            end += own
            columns[item, 0], columns[item, 1] = at, end
            at += width * stride
    for k in range(count):
        mark[keys[k]] = UNMARKED
    return end if fits else NO_ROOM


@jit_inline
def _sort_outwards(keys, count):
    """Sort positions in descending order, in place, so that parents come before children."""
    for k in range(1, count):
        key, i = keys[k], k
        while i > 0 and keys[i - 1] < key:
            keys[i] = keys[i - 1]
            i -= 1
        keys[i] = key


@jit_inline
def whole(count):
    """Numbers of whole vectors: behind the last column of a row there are zeros up to there."""
    return (count + 3) & ~3


@jit_inline
def _put_own(local, width, own, motions, at, stride, before, end):
    """Zeros for what is not on the way of a key, its own columns behind these, and zeros."""
    last = whole(end + own)
    for i in range(width):
        row = at + i * stride
        for c in range(row + before, row + last):
            motions[c] = 0.0
        for c in range(own):
            motions[row + end + c] = local[T + 6 * i + c]


@jit_inline
def _carry(scratch, width, above, height, stride, at):
    """M = P M_above, as far as that has columns; returns how many."""
    if above < 0:
        return 0
    local, motions, begin, count = scratch.local, scratch.motions, scratch.columns[above, 0], whole(scratch.columns[above, 1])
    for i in range(width):
        row, k = at + i * stride, P + 6 * i
        if height == 6:
            factors = local[k], local[k + 1], local[k + 2], local[k + 3], local[k + 4], local[k + 5]
            set_multiples(motions, row, motions, begin, stride, count, factors)
            continue
        for c in range(row, row + count):
            motions[c] = 0.0
        for j in range(height):
            add_multiple(motions, row, motions, begin + j * stride, count, local[k + j])
    return count


@jit_inner
def _climb(work, positions, scratch, item, last, freedoms):
    """From a key up to the next one (`last`): P, and the columns of the way, of which it returns the number."""
    local, width, own = scratch.local, positions[item, WIDTH], 0
    many = freedoms > width
    for i in range(P, P + 36):
        local[i] = 0.0
    for i in range(width):
        local[P + 7 * i] = 1.0
    for i in range(Q, Q + 36 if many else Q):
        local[i] = 0.0
    while item != last:
        above = positions[item, PARENT]
        if positions[item, FORM] == FRONTS:
            found = _through_fronts(work, positions[item], positions[above, WIDTH] if above >= 0 else 0, width, local)
        else:
            found = _through_pivot(work, positions, item, width, local)
        for i in range(0, 6 * width, 6):
            for c in range(found):
                if many:
                    for j in range(width):
                        local[Q + i + j] += local[B + i + c] * local[B + 6 * j + c]
                else:
                    local[T + i + own + c] = local[B + i + c]
        own, item = own + found, above
    if not many:
        return own
    squares, columns, scale = local[Q : Q + 36], local[T : T + 36], local[144:180]
    for i in range(width):
        scale[i] = squares[7 * i]
    return split(squares, scale, width, width, columns)


@jit_inline
def _through_pivot(work, positions, item, rows, local):
    """B = P T of one vertex, and P becomes P K; returns how many columns B has."""
    form, k, factor = positions[item, FORM], positions[item, FREEDOMS], positions[item, L_AT]
    if form == AXES:
        _through_axes(work, positions, item, rows, local)
    elif form == TURNS:
        _through_turns(work, positions, item, rows, local)
    elif form == WHOLE:
        _through_subspace(work, positions, item, rows, local)
    else:
        for i in range(6 * rows):
            local[B + i] = local[P + i]
        for i in range(rows):
            _past_factor(work, factor, k, local, B + 6 * i)
    for c in range(k):
        root = math.sqrt(work[factor + c * (c + 1) // 2 + c])
        for i in range(B + c, B + c + 6 * rows, 6):
            local[i] *= root
    return k


@jit_inline
def _past_factor(work, factor, k, local, row):
    """A row of B becomes that of B L^-T."""
    for c in range(1, k):
        left = local[row + c]
        for r in range(c):
            left -= local[row + r] * work[factor + c * (c + 1) // 2 + r]
        local[row + c] = left


@jit_inline
def _through_axes(work, positions, item, rows, local):
    k, factor, above = positions[item, FREEDOMS], positions[item, L_AT], positions[item, PARENT] >= 0
    s, y, e = positions[item, S_AT], positions[item, Y_AT], positions[item, E_AT]
    for i in range(0, 6 * rows, 6):
        p3, p4, p5 = local[P + i + 3], local[P + i + 4], local[P + i + 5]
        for c in range(k):
            at = s + 3 * c
            local[B + i + c] = p3 * work[at] + p4 * work[at + 1] + p5 * work[at + 2]
        _past_factor(work, factor, k, local, B + i)
        if above:
            _to_parent(work, y, e, k, local, i)


@jit_inline
def _through_subspace(work, positions, item, rows, local):
    k, factor, above = positions[item, FREEDOMS], positions[item, L_AT], positions[item, PARENT] >= 0
    s, y, e = positions[item, S_AT], positions[item, Y_AT], positions[item, E_AT]
    for i in range(0, 6 * rows, 6):
        p = P + i
        for c in range(k):
            at = s + c
            local[B + i + c] = (local[p] * work[at] + local[p + 1] * work[at + k] + local[p + 2] * work[at + 2 * k]
                                + local[p + 3] * work[at + 3 * k] + local[p + 4] * work[at + 4 * k]
                                + local[p + 5] * work[at + 5 * k])  # fmt: skip
        _past_factor(work, factor, k, local, B + i)
        if above:
            _to_parent(work, y, e, k, local, i)


@jit_inline
def _to_parent(work, y, e, k, local, i):
    """A row of P becomes that of (P - B Y) X."""
    p = P + i
    p0, p1, p2, p3, p4, p5 = local[p], local[p + 1], local[p + 2], local[p + 3], local[p + 4], local[p + 5]
    for c in range(k):
        b, at = local[B + i + c], y + 6 * c
        p0, p1, p2 = p0 - b * work[at], p1 - b * work[at + 1], p2 - b * work[at + 2]
        p3, p4, p5 = p3 - b * work[at + 3], p4 - b * work[at + 4], p5 - b * work[at + 5]
    e0, e1, e2 = work[e], work[e + 1], work[e + 2]
    local[p], local[p + 1], local[p + 2] = p0, p1, p2
    local[p + 3], local[p + 4], local[p + 5] = p3 + e1 * p2 - e2 * p1, p4 + e2 * p0 - e0 * p2, p5 + e0 * p1 - e1 * p0


@jit_inline
def _through_turns(work, positions, item, rows, local):
    """Of a ball: all turns of the body are its own."""
    y, e, factor, above = positions[item, Y_AT], positions[item, E_AT], positions[item, L_AT], positions[item, PARENT] >= 0
    for i in range(0, 6 * rows, 6):
        p, b = P + i, B + i
        local[b], local[b + 1], local[b + 2] = local[p + 3], local[p + 4], local[p + 5]
        _past_factor(work, factor, 3, local, b)
        if above:
            p0, p1, p2 = local[p], local[p + 1], local[p + 2]
            for c in range(3):
                at = y + 3 * c
                p0, p1, p2 = p0 - local[b + c] * work[at], p1 - local[b + c] * work[at + 1], p2 - local[b + c] * work[at + 2]
            e0, e1, e2 = work[e], work[e + 1], work[e + 2]
            local[p], local[p + 1], local[p + 2] = p0, p1, p2
            local[p + 3], local[p + 4], local[p + 5] = e1 * p2 - e2 * p1, e2 * p0 - e0 * p2, e0 * p1 - e1 * p0


@jit_inner
def _through_fronts(work, position, height, rows, local):
    """The same of a body and the joint behind it, eliminated one after the other; `height`: velocities of the parent."""
    held, columns, Z = local[144:180], local[180:216], local[216:252]
    width, m, joint = position[WIDTH], position[ROWS], position[S_AT]
    _through_body(work, position, Z)
    k = _held_response(work, position, Z, local[252:288], held, columns)
    for i in range(rows):
        p, b = local[P + 6 * i : P + 6 * i + 6], local[B + 6 * i : B + 6 * i + 6]
        for c in range(k):
            b[c] = 0.0
            for r in range(width):
                b[c] += p[r] * columns[6 * r + c]
        for c in range(m):
            held[c] = 0.0
            for r in range(width):
                held[c] += p[r] * Z[6 * r + c]
            held[c] *= work[joint + c * (c + 1) // 2 + c]
        for j in range(height):
            p[j] = 0.0
            for c in range(m):
                p[j] += held[c] * work[position[E_AT] + height * c + j]
        for j in range(height, 6):
            p[j] = 0.0
    return k


@jit_inner
def _through_body(work, position, Z):
    """Z = L^-T p Y L'^-T."""
    width, m, own, joint = position[WIDTH], position[ROWS], position[L_AT], position[S_AT]
    for c in range(m):
        for i in range(width - 1, -1, -1):
            left = work[own + i * (i + 1) // 2 + i] * work[position[Y_AT] + m * i + c]
            for r in range(i + 1, width):
                left -= work[own + r * (r + 1) // 2 + i] * Z[6 * r + c]
            Z[6 * i + c] = left
    for i in range(width):
        for c in range(m):
            for r in range(c):
                Z[6 * i + c] -= Z[6 * i + r] * work[joint + c * (c + 1) // 2 + r]


@jit_inner
def _held_response(work, position, Z, Q, free, T):
    """T of D^-1 + Z p' Z^T = T T^T; returns how many columns it has."""
    width, m, own, joint = position[WIDTH], position[ROWS], position[L_AT], position[S_AT]
    for j in range(width):
        for i in range(width - 1, -1, -1):
            left = 0.0
            if i == j:
                left = math.sqrt(work[own + i * (i + 1) // 2 + i])
            for r in range(i + 1, j + 1):
                left -= work[own + r * (r + 1) // 2 + i] * T[6 * r + j]
            T[6 * i + j] = left if i <= j else 0.0
    for i in range(width):
        for j in range(width):
            Q[6 * i + j] = 0.0
            for c in range(max(i, j), width):
                Q[6 * i + j] += T[6 * i + c] * T[6 * j + c]
        free[i] = Q[7 * i]
        for j in range(width):
            for c in range(m):
                Q[6 * i + j] += Z[6 * i + c] * work[joint + c * (c + 1) // 2 + c] * Z[6 * j + c]
    return split(Q, free, width, position[FREEDOMS], T)


@jit_inner
def split(Q, scale, width, most, T):
    """Q = T T^T, of at most so many columns; what is left of a row is rounding where it is a small part of `scale`. Returns how
    many there are. Rows of six."""
    rank = 0
    while rank < most:
        pivot, best, largest = -1, 0.0, HELD
        for i in range(width):
            left = Q[7 * i]
            for c in range(rank):
                left -= T[6 * i + c] ** 2
            if left > largest * scale[i]:
                pivot, best, largest = i, left, left / scale[i]
        if pivot < 0:
            break
        root = math.sqrt(best)
        for i in range(width):
            rest = Q[6 * i + pivot]
            for c in range(rank):
                rest -= T[6 * i + c] * T[6 * pivot + c]
            T[6 * i + rank] = rest / root
        rank += 1
    return rank
