"""Factors of sparse matrices of blocks with a symmetric pattern, one block row a group: A = L U, in an order of least degree.

`order` finds the elimination order and the fill from the graph of groups, `factor` and `solve` work on numbers. The row of
blocks of a group is a dense panel, rank x (rank + ranks of its later neighbours); `upper` holds these of A, then of U, and
`lower` the columns of A, transposed, then of L. Of a symmetric matrix `upper` says all, and half of the work is done.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.codegen.simd import add_multiple, add_multiples, inner_product
from linkwork.codegen.struct import Struct
from linkwork.contact.problem import clear

BITS = 62  # of a word of a row of the graph, sign and one more left alone


class Factors(Struct):
    """Room for the factors of matrices of up to g groups, y coordinates and `panels` numbers a half."""

    graph: np.ndarray  # (g, words) bits: groups that a group is coupled with
    filled: np.ndarray  # (g, words) the same while groups are eliminated
    degree: np.ndarray  # (g,) neighbours left; -1: eliminated
    place: np.ndarray  # (g,) number of a group in the order of elimination
    turn: np.ndarray  # (g,) group that is eliminated then
    later: np.ndarray  # (g + 1,) where the later neighbours of the group at a place begin in `neighbours`
    neighbours: np.ndarray  # places of later neighbours, ascending
    offset: np.ndarray  # where a neighbour's columns begin in the panel
    panel_at: np.ndarray  # (g + 1,) where the panel of a place begins in `panels`
    width: np.ndarray  # (g,) columns of the panel
    upper: np.ndarray  # A, then U
    lower: np.ndarray  # A transposed, without its diagonal; then L transposed, with the inverse pivots on its diagonal
    row: np.ndarray  # (y,) one row of an update
    x: np.ndarray  # (y,) right-hand side and solution, in the order of y
    state: (
        np.ndarray
    )  # (3,) groups of the graph that was ordered last; entries of `neighbours` and numbers in `panels` that were needed


def factors(groups: int, coordinates: int, panels: int) -> Factors:
    """Room for factors; `panels` numbers of fill."""
    words = (groups + BITS - 1) // BITS
    index = {
        "graph": (groups, words), "filled": (groups, words), "degree": groups, "place": groups, "turn": groups,
        "later": groups + 1, "neighbours": panels // 9, "offset": panels // 9, "panel_at": groups + 1, "width": groups,
        "state": 3,
    }  # fmt: skip
    real = {"upper": panels, "lower": panels, "row": coordinates, "x": coordinates}
    return Factors(**{k: np.zeros(n, dtype=np.int64) for k, n in index.items()}, **{k: np.zeros(n) for k, n in real.items()})


@jit_inner
def _count(word):
    bits = 0
    while word != 0:
        word &= word - 1
        bits += 1
    return bits


@jit
def connect(graph, g, h):
    """Mark that two groups are coupled; True if that is new."""
    bit = 1 << (h % BITS)
    if graph[g, h // BITS] & bit:
        return False
    graph[g, h // BITS] |= bit
    graph[h, g // BITS] |= 1 << (g % BITS)
    return True


@jit
def order(F, groups, rank):
    """Order of elimination and layout of panels for `F.graph`. False: not enough room, `F.state` says how much is needed."""
    words = (groups + BITS - 1) // BITS
    for g in range(groups):
        F.degree[g] = 0
        for w in range(words):
            F.filled[g, w] = F.graph[g, w]
            F.degree[g] += _count(F.graph[g, w])
    entries = 0
    for p in range(groups):
        g = -1
        for h in range(groups):
            if F.degree[h] >= 0 and (g < 0 or F.degree[h] < F.degree[g]):
                g = h
        F.turn[p], F.place[g] = g, p
        F.later[p] = entries
        entries += F.degree[g]
        _eliminate(F.filled, F.degree, g, groups, words)
    F.later[groups] = entries
    F.state[1], F.state[2] = entries, 0
    if entries > len(F.neighbours):
        F.state[2] = 36 * (entries + groups)
        return False
    _lay_out(F, groups, rank)
    F.state[2] = F.panel_at[groups]
    return F.panel_at[groups] <= len(F.upper)


@jit_inner
def _eliminate(filled, degree, g, groups, words):
    """Couple all neighbours of a group with each other and take it out of their rows; its own row keeps them."""
    degree[g] = -1
    for w in range(words):
        word = filled[g, w]
        for b in range(BITS):
            if word >> b == 0:
                break
            if (word >> b) & 1:
                h = w * BITS + b
                count = 0
                for v in range(words):
                    filled[h, v] |= filled[g, v]
                filled[h, h // BITS] &= ~(1 << (h % BITS))
                filled[h, g // BITS] &= ~(1 << (g % BITS))
                for v in range(words):
                    count += _count(filled[h, v])
                degree[h] = count


@jit_inner
def _lay_out(F, groups, rank):
    """Sort later neighbours by place, and give every panel its room."""
    words = (groups + BITS - 1) // BITS
    total = 0
    for p in range(groups):
        g = F.turn[p]
        count, first = 0, F.later[p]
        for w in range(words):
            word = F.filled[g, w]
            for b in range(BITS):
                if word >> b == 0:
                    break
                if (word >> b) & 1:
                    there = F.place[w * BITS + b]
                    i = first + count
                    while i > first and F.neighbours[i - 1] > there:
                        F.neighbours[i] = F.neighbours[i - 1]
                        i -= 1
                    F.neighbours[i] = there
                    count += 1
        columns = rank[g]
        for i in range(first, first + count):
            F.offset[i] = columns
            columns += rank[F.turn[F.neighbours[i]]]
        F.width[p], F.panel_at[p] = columns, total
        total += rank[g] * columns
    F.panel_at[groups] = total


@jit
def find(F, p, there):
    """The number in `neighbours` of a later neighbour of place p."""
    low, high = F.later[p], F.later[p + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if F.neighbours[middle] <= there:
            low = middle
        else:
            high = middle
    return low


@jit
def factor(F, groups, rank, symmetric):
    """L and U from A, in place; symmetric: `lower` is not read. False: a pivot is zero, or no number."""
    for p in range(groups):
        n, width, begin = rank[F.turn[p]], F.width[p], F.panel_at[p]
        for i in range(n):
            row, count = begin + i * width + i, width - i
            pivot = F.upper[row]
            if not abs(pivot) > 0.0 or abs(pivot) == math.inf:
                return False
            inverse = 1.0 / pivot
            if symmetric:
                for c in range(1, count):
                    F.lower[row + c] = inverse * F.upper[row + c]
            else:
                for c in range(1, count):
                    F.lower[row + c] *= inverse
            F.lower[row] = inverse
            for j in range(1, n - i):
                below = row + j * (width + 1)
                add_multiple(F.upper, below, F.upper, row + j, count - j, -F.lower[row + j])
                if not symmetric:
                    add_multiple(F.lower, below + 1, F.lower, row + j + 1, count - j - 1, -F.upper[row + j])
        for i in range(F.later[p], F.later[p + 1]):
            _update(F, p, i, F.lower, F.upper, n, rank)
            if not symmetric:
                _update(F, p, i, F.upper, F.lower, n, rank)
    return True


@jit_inner
def _update(F, p, i, factors, rows, n, rank):
    """Take what the panel of p adds to its neighbour number i off the neighbour's panel: `factors` times `rows`."""
    q, start, width = F.neighbours[i], F.offset[i], F.width[p]
    begin, wide, goal, span = F.panel_at[p], F.width[q], F.panel_at[q], width - start
    for a in range(rank[F.turn[q]]):
        clear(F.row, a, span)
        first, source = begin + start + a, begin + start + a
        for k in range(0, n - 2, 3):
            at, of = first + k * width, source + k * width
            add_multiples(F.row, a, rows, of, width, span - a, (factors[at], factors[at + width], factors[at + 2 * width]))
        for k in range(n - n % 3, n):
            add_multiple(F.row, a, rows, source + k * width, span - a, factors[first + k * width])
        into = F.later[q]
        for j in range(i, F.later[p + 1]):
            there = F.neighbours[j]
            count, from_ = rank[F.turn[there]], F.offset[j] - start
            skip = a if j == i else 0
            if j == i:
                place = 0
            else:
                while F.neighbours[into] != there:
                    into += 1
                place = F.offset[into]
            add_multiple(rows, goal + a * wide + place + skip, F.row, from_ + skip, count - skip, -1.0)


@jit
def solve(F, groups, rank, y_at):
    """x = A^-1 x."""
    x = F.x
    for p in range(groups):
        g = F.turn[p]
        n, width, at = rank[g], F.width[p], F.panel_at[p]
        for i in range(n):
            row, value = at + i * width, x[y_at[g] + i]
            add_multiple(x, y_at[g] + i + 1, F.lower, row + i + 1, n - i - 1, -value)
            for s in range(F.later[p], F.later[p + 1]):
                h = F.turn[F.neighbours[s]]
                add_multiple(x, y_at[h], F.lower, row + F.offset[s], rank[h], -value)
    for p in range(groups - 1, -1, -1):
        g = F.turn[p]
        n, width, at = rank[g], F.width[p], F.panel_at[p]
        for i in range(n - 1, -1, -1):
            row = at + i * width
            value = x[y_at[g] + i] - inner_product(F.upper, row + i + 1, x, y_at[g] + i + 1, n - i - 1)
            for s in range(F.later[p], F.later[p + 1]):
                h = F.turn[F.neighbours[s]]
                value -= inner_product(F.upper, row + F.offset[s], x, y_at[h], rank[h])
            x[y_at[g] + i] = value * F.lower[row + i]
