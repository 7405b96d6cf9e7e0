"""Newton's step over bodies: unknowns are the coordinates y of unit mass, however many contacts there are.

    A x = -r,   A = 1 + the sum of G_k^T rho F'_k G_k over contacts

couples groups that touch, so that redundant contacts, walls and heavy on light do no harm. Of a contact that slides F' has

    rho_n n n^T + h rho_t p p^T + mu rho_n e n^T,   p across e:

all but the last term is symmetric and goes into `upper` alone; where that is there, both halves are factored. Of a companion n
is that of the contact that it follows, which lies between the same bodies.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.codegen.simd import add_multiple, add_multiples
from linkwork.codegen.struct import Struct
from linkwork.contact.block_factors import BITS, Factors, connect, factor, factors, find, order, solve
from linkwork.contact.law import GIVING, HELD, RESTING, SLIDING, STUCK
from linkwork.contact.problem import clear
from linkwork.contact.unit_mass import is_idle, pull, push


class Over(Struct):
    """Scratch of steps over bodies."""

    factors: Factors
    ranked: np.ndarray  # (g,) int64: ranks that the factors were laid out for
    spot: np.ndarray  # (m, 6) int64: where a contact's blocks lie: aa, its stride, bb, its stride, ab, whether a comes first
    y: np.ndarray  # (6 s,) where the step is
    r: np.ndarray  # (6 s,) y - G^T F
    row: np.ndarray  # (6 s,) scratch


def over(slots: int, groups: int, contacts: int, panels: int) -> Over:
    return Over(factors(groups, 6 * slots, panels), np.full(groups, -1, dtype=np.int64),
                np.zeros((contacts, 6), dtype=np.int64), *(np.zeros(6 * slots) for _ in range(3)))  # fmt: skip


@jit_inner
def arrange(problem, base, over):
    """Order the groups for elimination, unless they touch as they did before. False: no room for the factors."""
    F, groups = over.factors, len(problem.first)
    words = (groups + BITS - 1) // BITS
    for g in range(groups):
        for w in range(words):
            F.filled[g, w] = 0
    for k in range(len(problem.mu)):
        a, b = problem.slot_a[k], problem.slot_b[k]
        if a >= 0 and b >= 0 and base.group[a] != base.group[b]:
            connect(F.filled, base.group[a], base.group[b])
    same = F.state[0] == groups
    for g in range(groups):
        same = same and over.ranked[g] == base.rank[g]
        over.ranked[g] = base.rank[g]
        for w in range(words):
            same = same and F.graph[g, w] == F.filled[g, w]
            F.graph[g, w] = F.filled[g, w]
    if not same:
        F.state[0] = -1
        if not order(F, groups, base.rank):
            return False
        F.state[0] = groups
    for k in range(len(problem.mu)):
        if base.there[k]:
            _place(F, base.group, problem.slot_a[k], problem.slot_b[k], base.side[k], over.spot[k])
    return True


@jit_inner
def _place(F, group, a, b, side, spot):
    """Where the blocks of a contact lie in the panels."""
    pa = F.place[group[a]] if side[2] > 0 else -1
    pb = F.place[group[b]] if side[4] > 0 else -1
    if pa >= 0:
        spot[0], spot[1] = F.panel_at[pa], F.width[pa]
    if pb >= 0:
        spot[2], spot[3] = F.panel_at[pb], F.width[pb]
    if pa >= 0 and pb >= 0:
        spot[4] = F.panel_at[pa] + F.offset[find(F, pa, pb)] if pa < pb else F.panel_at[pb] + F.offset[find(F, pb, pa)]
        spot[5] = pa < pb


@jit_inner
def start_over_bodies(problem, base, work, over, count):
    """The step begins at the impulses of the problem, of which y is known."""
    for i in range(base.y_at[len(problem.first)]):
        over.y[i] = base.y[i]
    for i in range(count):
        k = work.taken[i]
        c0, c1, c2 = pull(base.G, base.side[k], over.y)
        work.c[k, 0], work.c[k, 1], work.c[k, 2] = c0 + base.c0[k, 0], c1 + base.c0[k, 1], c2 + base.c0[k, 2]


@jit_inner
def differ_over_bodies(problem, base, work, over, count):
    """What F leaves: r . r, and the velocities G r, off those that F makes."""
    n, square = base.y_at[len(problem.first)], 0.0
    for i in range(n):
        over.r[i] = over.y[i]
    for i in range(count):
        k = work.taken[i]
        f = work.answer[k]
        if not is_idle(f):
            push(base.G, base.side[k], over.r, -f[0], -f[1], -f[2])
    for i in range(n):
        square += over.r[i] * over.r[i]
    for i in range(count):
        k = work.taken[i]
        off = work.off[k]
        off[0], off[1], off[2] = pull(base.G, base.side[k], over.r)
    return square


@jit_inner
def step_over_bodies(problem, base, work, over, count):
    """Newton's step x, and the change of velocities: (whether there is one, y . x, x . x)."""
    F, groups = over.factors, len(problem.first)
    symmetric = True
    for i in range(count):
        state = work.state[work.taken[i]]
        symmetric = symmetric and state != SLIDING and state != GIVING
    _assemble(problem, base, work, over, count, symmetric)
    n, x = base.y_at[groups], F.x
    for i in range(n):
        x[i] = -over.r[i]
    if not factor(F, groups, base.rank, symmetric):
        return False, 0.0, 0.0
    solve(F, groups, base.rank, base.y_at)
    yx = xx = 0.0
    for i in range(n):
        yx += over.y[i] * x[i]
        xx += x[i] * x[i]
    for i in range(count):
        k = work.taken[i]
        dc = work.dc[k]
        dc[0], dc[1], dc[2] = pull(base.G, base.side[k], x)
    return True, yx, xx


@jit_inline
def go_over_bodies(over, coordinates, along):
    add_multiple(over.y, 0, over.factors.x, 0, coordinates, along)


@jit_inner
def _assemble(problem, base, work, over, count, symmetric):
    """A into the panels."""
    F, groups = over.factors, len(problem.first)
    clear(F.upper, 0, F.panel_at[groups])
    for p in range(groups):
        for i in range(base.rank[F.turn[p]]):
            F.upper[F.panel_at[p] + i * (F.width[p] + 1)] = 1.0
    for i in range(count):
        k = work.taken[i]
        state, normal, rho, slip = work.state[k], work.rho[k, 0], work.rho[k, 1], work.slip[k]
        if state == HELD:
            _add(base.G, base.side[k], over.spot[k], (normal, 0.0, 0.0, 0.0), F.upper)
        elif state == STUCK:
            _add(base.G, base.side[k], over.spot[k], (normal, rho, 0.0, rho), F.upper)
        elif state == RESTING:
            _add(base.G, base.side[k], over.spot[k], (0.0, rho, 0.0, rho), F.upper)
        elif state == SLIDING or state == GIVING:
            h = rho * slip[2]
            normal = normal if state == SLIDING else 0.0
            _add(base.G, base.side[k], over.spot[k],
                 (normal, h * slip[1] * slip[1], -h * slip[0] * slip[1], h * slip[0] * slip[0]), F.upper)  # fmt: skip
    if symmetric:
        return
    for i in range(F.panel_at[groups]):
        F.lower[i] = F.upper[i]
    for i in range(count):
        k = work.taken[i]
        if work.state[k] == SLIDING or work.state[k] == GIVING:
            lead = k if work.state[k] == SLIDING else problem.follows[k]
            s = problem.mu[k] * work.rho[lead, 0]
            n = base.side[lead, 0]
            _add_friction(base.G, base.side[k], n, over.spot[k], s * work.slip[k, 0], s * work.slip[k, 1], over)


@jit_inner
def _add(G, side, spot, h, panels):
    """G_k^T h G_k into the panels; h: of the normal, and the entries 11 12 22 of tangents."""
    at, ra, rb = side[0], side[2], side[4]
    bt = at + 3 * ra
    if ra > 0:
        _add_block(G, at, ra, at, ra, h, panels, spot[0], spot[1], True)
    if rb > 0:
        _add_block(G, bt, rb, bt, rb, h, panels, spot[2], spot[3], True)
    if ra > 0 and rb > 0:
        if spot[5]:
            _add_block(G, at, ra, bt, rb, h, panels, spot[4], spot[1], False)
        else:
            _add_block(G, bt, rb, at, ra, h, panels, spot[4], spot[3], False)


@jit_inner
def _add_block(G, at, ra, to, rb, h, panels, spot, stride, upper):
    """A block += A^T h B; upper: from its diagonal on. A and B begin at `at` and `to`."""
    h00, h11, h12, h22 = h
    for i in range(ra):
        a1, a2, skip = G[at + ra + i], G[at + 2 * ra + i], i if upper else 0
        factors = h00 * G[at + i], h11 * a1 + h12 * a2, h12 * a1 + h22 * a2
        add_multiples(panels, spot + i * stride + skip, G, to + skip, rb, rb - skip, factors)


@jit_inner
def _add_friction(G, side, normal, spot, s1, s2, over):
    """The part of friction that follows the normal: e n^T times s into `upper`, n e^T into `lower`, which is transposed.
    normal: where G of the contact with that normal begins."""
    upper, lower, e, row = over.factors.upper, over.factors.lower, over.row, 0
    at, ra, rb = side[0], side[2], side[4]
    bt, nt = at + 3 * ra, normal + 3 * ra
    for i in range(ra):
        e[i] = s1 * G[at + ra + i] + s2 * G[at + 2 * ra + i]
    for i in range(rb):
        e[ra + i] = s1 * G[bt + rb + i] + s2 * G[bt + 2 * rb + i]
    for i in range(ra):
        row = spot[0] + i * (spot[1] + 1)
        add_multiple(upper, row, G, normal + i, ra - i, e[i])
        add_multiple(lower, row, e, i, ra - i, G[normal + i])
    for i in range(rb):
        row = spot[2] + i * (spot[3] + 1)
        add_multiple(upper, row, G, nt + i, rb - i, e[ra + i])
        add_multiple(lower, row, e, ra + i, rb - i, G[nt + i])
    if ra > 0 and rb > 0 and spot[5]:
        for i in range(ra):
            row = spot[4] + i * spot[1]
            add_multiple(upper, row, G, nt, rb, e[i])
            add_multiple(lower, row, e, ra, rb, G[normal + i])
    elif ra > 0 and rb > 0:
        for i in range(rb):
            row = spot[4] + i * spot[3]
            add_multiple(upper, row, G, normal, ra, e[ra + i])
            add_multiple(lower, row, e, 0, ra, G[nt + i])
