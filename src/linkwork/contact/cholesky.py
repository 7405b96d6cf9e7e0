"""Cholesky factors of sparse symmetric matrices of blocks, one block row a group: H = U^T U, in an order of least degree.

`order` finds the elimination order and the fill from the graph of groups, `factor` and `solve` work on numbers. The row of
blocks of a group is a dense panel, rank x (rank + ranks of its later neighbours): inner loops run over contiguous numbers.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.codegen.struct import Bundle

BITS = 62  # of a word of a row of the graph, sign and one more left alone


class Factors(Bundle):
    """Room for the factors of matrices of up to g groups, y coordinates and `panels` numbers."""

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
    panels: np.ndarray  # H, then U
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
    real = {"panels": panels, "row": coordinates, "x": coordinates}
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
    return F.panel_at[groups] <= len(F.panels)


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
def factor(F, groups, rank):
    """U from H in place."""
    for p in range(groups):
        n, width = rank[F.turn[p]], F.width[p]
        panel = F.panels[F.panel_at[p] : F.panel_at[p] + n * width]
        for i in range(n):
            row = panel[i * width + i : (i + 1) * width]
            inverse = 1.0 / math.sqrt(row[0])
            for c in range(width - i):
                row[c] *= inverse
            for j in range(i + 1, n):
                below, entry = panel[j * width + j : (j + 1) * width], row[j - i]
                above = row[j - i :]
                for c in range(width - j):
                    below[c] -= entry * above[c]
        for i in range(F.later[p], F.later[p + 1]):
            _update(F, p, i, panel, n, width, rank)


@jit_inner
def _update(F, p, i, panel, n, width, rank):
    """Take what the panel of p adds to its neighbour number i off the neighbour's panel."""
    q, start = F.neighbours[i], F.offset[i]
    rows, wide, span = rank[F.turn[q]], F.width[q], width - start
    target = F.panels[F.panel_at[q] : F.panel_at[q] + rows * wide]
    for a in range(rows):
        update = F.row[:span]
        if n == 6:
            _six(panel, width, start, a, span, update)
        else:
            for c in range(span):
                update[c] = 0.0
            for k in range(n):
                entry, source = panel[k * width + start + a], panel[k * width + start : (k + 1) * width]
                for c in range(span):
                    update[c] += entry * source[c]
        into = F.later[q]
        for j in range(i, F.later[p + 1]):
            there = F.neighbours[j]
            count, begin = rank[F.turn[there]], F.offset[j] - start
            if j == i:
                place = 0
            else:
                while F.neighbours[into] != there:
                    into += 1
                place = F.offset[into]
            goal, source = target[a * wide + place : a * wide + place + count], update[begin : begin + count]
            for c in range(count):
                goal[c] -= source[c]


@jit_inner
def _six(panel, width, start, a, span, update):
    """One row of an update by a panel of six rows."""
    r0, r1, r2 = panel[start : start + span], panel[width + start :], panel[2 * width + start :]
    r3, r4, r5 = panel[3 * width + start :], panel[4 * width + start :], panel[5 * width + start :]
    e0, e1, e2, e3, e4, e5 = r0[a], r1[a], r2[a], r3[a], r4[a], r5[a]
    for c in range(span):
        update[c] = (e0 * r0[c] + e1 * r1[c]) + (e2 * r2[c] + e3 * r3[c]) + (e4 * r4[c] + e5 * r5[c])


@jit
def solve(F, groups, rank, y_at):
    """x = H^-1 x."""
    x = F.x
    for p in range(groups):
        g = F.turn[p]
        n, width, at = rank[g], F.width[p], F.panel_at[p]
        for i in range(n):
            value = x[y_at[g] + i] / F.panels[at + i * width + i]
            x[y_at[g] + i] = value
            for j in range(i + 1, n):
                x[y_at[g] + j] -= F.panels[at + i * width + j] * value
        for s in range(F.later[p], F.later[p + 1]):
            h = F.turn[F.neighbours[s]]
            for i in range(n):
                value, from_ = x[y_at[g] + i], at + i * width + F.offset[s]
                for c in range(rank[h]):
                    x[y_at[h] + c] -= F.panels[from_ + c] * value
    for p in range(groups - 1, -1, -1):
        g = F.turn[p]
        n, width, at = rank[g], F.width[p], F.panel_at[p]
        for i in range(n - 1, -1, -1):
            value, row = x[y_at[g] + i], at + i * width
            for s in range(F.later[p], F.later[p + 1]):
                h = F.turn[F.neighbours[s]]
                for c in range(rank[h]):
                    value -= F.panels[row + F.offset[s] + c] * x[y_at[h] + c]
            for j in range(i + 1, n):
                value -= F.panels[row + j] * x[y_at[g] + j]
            x[y_at[g] + i] = value / F.panels[row + i]
