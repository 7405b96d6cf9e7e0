"""Contact problems in coordinates of unit mass, which the solvers share.

A group of slots answers impulses P by velocities R P. R has as many independent directions as the group has freedoms. It is
split once, R = L L^T, and solvers work in coordinates y: u = u0 + L y, y = G^T f, G = J L, W = J R J^T = G G^T.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.codegen.simd import add_multiple, add_multiples, nine_products, six_products, three_products
from linkwork.contact.problem import approach, clear, law_residual, law_residual_of_companion

RANK = 1e-12  # part of a row's own response that must be new for it to count as another freedom
UNANSWERED = 1e-7  # part of a contact's mean response: a normal that answers less is held by joints, and answers nothing
ROUNDED = 1e-14  # part of what one body of a mechanism answers alone: less than that of two together is rounding


@jit_inner
def fits(problem, work):
    """Whether the workspace has room for the problem. Writes which group each slot belongs to."""
    if (
        len(problem.u) > len(work.group)
        or len(problem.first) > len(work.rank)
        or len(problem.mu) > len(work.scale)
        or len(problem.R) > len(work.L)
    ):
        return False
    for g in range(len(problem.first)):
        for slot in range(problem.first[g], problem.first[g] + problem.size[g]):
            work.group[slot] = g
    wide = 0
    for k in range(len(problem.mu)):
        for slot in (problem.slot_a[k], problem.slot_b[k]):
            if slot >= 0:
                wide += 18 * problem.size[work.group[slot]]
    return wide <= len(work.G)


@jit_inner
def _split(R, n, L, left):
    """R = L L^T by Cholesky, largest part of a row's own response first. L: n x rank, row stride n. Returns the rank."""
    for i in range(n):
        left[i] = R[i * n + i]
    rank = 0
    while rank < n:
        pivot, best = -1, RANK
        for i in range(n):
            own = R[i * n + i]
            if left[i] > best * own:
                pivot, best = i, left[i] / own
        if pivot < 0:
            break
        root = math.sqrt(left[pivot])
        for i in range(n):
            rest = R[i * n + pivot]
            for j in range(rank):
                rest -= L[i * n + j] * L[pivot * n + j]
            L[i * n + rank] = rest / root
        for i in range(n):
            left[i] -= L[i * n + rank] ** 2
        left[pivot] = 0.0
        rank += 1
    return rank


@jit_inline
def _project(J, L, row, n, rank, G, start):
    """G += J L of a slot: rows row .. row + 5 of L (row stride n), J (3, 6), G 3 x rank."""
    for i in range(3):
        factors = J[i, 0], J[i, 1], J[i, 2], J[i, 3], J[i, 4], J[i, 5]
        if factors != (0.0, 0.0, 0.0, 0.0, 0.0, 0.0):
            add_multiples(G, start + i * rank, L, row * n, n, rank, factors)


@jit
def prepare(problem, work, lazily):
    """Split the responses, and bring all contacts to coordinates of unit mass; lazily: those that have an impulse, and others
    when they approach. False: the workspace is too small. What is known (`work.known`) is known this once."""
    if work.known[0]:
        work.known[0] = 0
    elif not lay_out(problem, work):
        return False
    for k in range(len(problem.mu)):
        if work.there[k]:
            _approach_without(problem, work, k)
        elif not (lazily and is_idle(problem.impulse[k]) and problem.mu[k] >= 0.0):
            build(problem, work, k)
    return True


@jit_inner
def lay_out(problem, work):
    """Coordinates of all groups; no contact is brought to them yet. False: the workspace is too small."""
    if not fits(problem, work):
        return False
    work.y_at[0] = 0
    for g in range(len(problem.first)):
        n, at = 6 * problem.size[g], problem.at[g]
        if work.given[g] < 0:
            work.rank[g] = _split(problem.R[at : at + n * n], n, work.L[at : at + n * n], work.left)
        else:
            work.rank[g] = work.given[g]
        work.y_at[g + 1] = work.y_at[g] + work.rank[g]
        for k in range(problem.size[g]):
            slot = problem.first[g] + k
            work.reach[slot] = work.rank[g]
            if work.given[g] >= 0:
                work.reach[slot] = _reach(problem.R[at + 6 * k * n : at + 6 * (k + 1) * n], n, work.rank[g])
    work.end[0] = 0
    for k in range(len(problem.mu)):
        work.there[k] = 0
    return True


@jit_inner
def _approach_without(problem, work, k):
    """c0 of a contact: its velocity without impulses, less its target."""
    a, b = problem.slot_a[k], problem.slot_b[k]
    for i in range(3):
        work.c0[k, i] = -problem.target[k, i]
    if a >= 0:
        _add_velocity(problem.Ja[k], problem.u[a], work.c0[k])
    if b >= 0:
        _add_velocity(problem.Jb[k], problem.u[b], work.c0[k])
    if work.scale[k] == 0.0:
        clear(problem.impulse[k], 0, 3)  # it would move nothing
        clear(work.c0[k], 0, 3)


@jit_inner
def _reach(L, n, rank):
    """How many columns of the six rows of a slot, from the first, are not zero; a multiple of four, or all of them."""
    for reach in range(rank, 0, -1):
        for i in range(6):
            if L[i * n + reach - 1] != 0.0:
                return min((reach + 3) & ~3, rank)
    return 0


@jit_inline
def factor_of(problem, work, g):
    """L of a group, with those of all that follow."""
    return problem.R[problem.at[g] :] if work.given[g] >= 0 else work.L[problem.at[g] :]


@jit_inline
def is_idle(f):
    return f[0] == 0.0 and f[1] == 0.0 and f[2] == 0.0


@jit_inner
def build(problem, work, k):
    """G, D and scale of one contact, of a companion after those of the contact that it follows."""
    lead = problem.follows[k]
    if lead >= 0 and not work.there[lead]:
        _build(problem, work, lead)
    _build(problem, work, k)


@jit_inner
def _build(problem, work, k):
    """G, D and scale of one contact. Where joints hold its bodies, so that no impulse along its normal moves them apart, all
    three are zero and the contact is left out: its D_nn is rounding, and must not be divided by."""
    a, b, start, alone = problem.slot_a[k], problem.slot_b[k], work.end[0], 0.0
    ga = work.group[a] if a >= 0 else -1
    gb = work.group[b] if b >= 0 else -1
    ra = work.reach[a] if ga >= 0 else 0
    rb = work.reach[b] if gb >= 0 else 0
    if ga >= 0 and gb == ga:
        ra, rb = max(ra, rb), 0
    side, G, D = work.side[k], work.G, work.D[k]
    side[0], side[1], side[2] = start, work.y_at[ga] if ga >= 0 else 0, ra
    side[3], side[4] = work.y_at[gb] if gb >= 0 else 0, rb
    clear(G, start, start + 3 * (ra + rb))
    if ga >= 0:
        L = factor_of(problem, work, ga)
        _project(problem.Ja[k], L, 6 * (a - problem.first[ga]), 6 * problem.size[ga], ra, G, start)
    if ga >= 0 and gb == ga:
        one = nine_products(G, start, ra, G, start, ra, ra)
        alone = one[0] + one[4] + one[8]
    if gb >= 0:
        L, place = factor_of(problem, work, gb), start if gb == ga else start + 3 * ra
        _project(problem.Jb[k], L, 6 * (b - problem.first[gb]), 6 * problem.size[gb], ra if gb == ga else rb, G, place)
    one, other = nine_products(G, start, ra, G, start, ra, ra), nine_products(G, start + 3 * ra, rb, G, start + 3 * ra, rb, rb)
    D[0, 0], D[0, 1], D[0, 2] = one[0] + other[0], one[1] + other[1], one[2] + other[2]
    D[1, 0], D[1, 1], D[1, 2] = one[3] + other[3], one[4] + other[4], one[5] + other[5]
    D[2, 0], D[2, 1], D[2, 2] = one[6] + other[6], one[7] + other[7], one[8] + other[8]
    own = D[0, 0]
    work.scale[k] = max(own, (own + D[1, 1] + D[2, 2]) / 3)
    unanswered = problem.mu[k] >= 0.0 and own <= max(UNANSWERED * work.scale[k], ROUNDED * alone)
    if problem.follows[k] >= 0:
        own, lead = max(D[1, 1], D[2, 2]), problem.follows[k]
        work.scale[k] = own
        unanswered = own <= max(UNANSWERED * work.scale[lead], ROUNDED * alone) or work.scale[lead] == 0.0
    if unanswered:
        work.scale[k], side[2], side[4], ra, rb = 0.0, 0, 0, 0, 0
        for i in range(3):
            D[i, 0] = D[i, 1] = D[i, 2] = 0.0
    _approach_without(problem, work, k)
    work.there[k], work.end[0] = 1, start + 3 * (ra + rb)


@jit_inline
def _add_velocity(J, u, c):
    for i in range(3):
        for j in range(6):
            c[i] += J[i, j] * u[j]


@jit_inline
def push(G, side, y, f0, f1, f2):
    """y += G_k^T f: what an impulse of one contact moves."""
    at, into, width = side[0], side[1], side[2]
    for _ in range(2):
        add_multiple(y, into, G, at, width, f0)
        add_multiple(y, into, G, at + width, width, f1)
        add_multiple(y, into, G, at + 2 * width, width, f2)
        at, into, width = at + 3 * width, side[3], side[4]


@jit_inline
def pull(G, side, y):
    """G_k y: the part of a contact's velocity that y makes."""
    c0, c1, c2 = three_products(G, side[0], side[2], y, side[1], side[2])
    if side[4] > 0:
        d0, d1, d2 = three_products(G, side[0] + 3 * side[2], side[4], y, side[3], side[4])
        return c0 + d0, c1 + d1, c2 + d2
    return c0, c1, c2


@jit_inline
def pull_normal(G, side, y):
    """The first entry of G_k y."""
    at, into, width = side[0], side[1], side[2]
    c = 0.0
    for _ in range(2):
        rows, part = G[at : at + width], y[into : into + width]
        for r in range(width):
            c += rows[r] * part[r]
        at, into, width = at + 3 * width, side[3], side[4]
    return c


@jit_inner
def push_all(problem, work):
    """y of all impulses."""
    clear(work.y, 0, work.y_at[len(problem.first)])
    for k in range(len(problem.mu)):
        if not work.there[k]:
            continue
        push(work.G, work.side[k], work.y, problem.impulse[k, 0], problem.impulse[k, 1], problem.impulse[k, 2])


@jit_inline
def _is_still(y, begin, end):
    for i in range(begin, end):
        if y[i] != 0.0:
            return False
    return True


@jit_inner
def look(problem, work):
    """now = u + L y: velocities with the impulses."""
    for g in range(len(problem.first)):
        n, L = 6 * problem.size[g], factor_of(problem, work, g)
        still = _is_still(work.y, work.y_at[g], work.y_at[g + 1])
        for k in range(problem.size[g]):
            slot = problem.first[g] + k
            if still:
                for i in range(6):
                    work.now[slot, i] = problem.u[slot, i]
                continue
            c0, c1, c2, c3, c4, c5 = six_products(L, 6 * k * n, n, work.y, work.y_at[g], work.reach[slot])
            u, now = problem.u[slot], work.now[slot]
            now[0], now[1], now[2], now[3], now[4], now[5] = u[0] + c0, u[1] + c1, u[2] + c2, u[3] + c3, u[4] + c4, u[5] + c5


@jit_inner
def move(problem, work):
    """The velocities after all impulses, as of the last look."""
    for slot in range(len(problem.u)):
        for i in range(6):
            problem.u[slot, i] = work.now[slot, i]


@jit_inner
def _radius(problem, work, k):
    """The largest impulse of a companion by the push that its contact asks for, as velocity (m/s)."""
    lead = problem.follows[k]
    c = pull_normal(work.G, work.side[lead], work.y) + work.c0[lead, 0] + problem.compliance[lead] * problem.impulse[lead, 0]
    asked = max(0.0, problem.impulse[lead, 0] - c / work.scale[lead])
    return problem.mu[k] * work.scale[k] * asked


@jit_inner
def _companion_residual(problem, work, k):
    """How far a companion is from the law (m/s); -1 where nothing presses or turns, and it is left alone."""
    lead, f = problem.follows[k], problem.impulse[k]
    if is_idle(f) and is_idle(problem.impulse[lead]) and not work.residual[lead] > 0.0:
        return -1.0
    if not work.there[k]:
        build(problem, work, k)
    if work.scale[k] == 0.0:
        return -1.0
    c0, c1, c2 = pull(work.G, work.side[k], work.y)
    c1, c2 = c1 + work.c0[k, 1], c2 + work.c0[k, 2]
    return law_residual_of_companion(f[1], f[2], c1, c2, _radius(problem, work, k), work.scale[k])


@jit_inner
def _activate(active, count, k):
    """A contact among those that are active, if it is not there; returns how many there are."""
    at = count
    while at > 0 and active[at - 1] > k:
        at -= 1
    if at > 0 and active[at - 1] == k:
        return count
    for i in range(count, at, -1):
        active[i] = active[i - 1]
    active[at] = k
    return count + 1


@jit_inner
def residuals(problem, work):
    """The distance of every contact from the law as impulses and y stand, into `work.residual`, and which are active; returns
    (the largest, how many are)."""
    worst, count = 0.0, 0
    f = problem.impulse
    look(problem, work)
    for k in range(len(problem.mu)):
        if problem.follows[k] >= 0:
            off = _companion_residual(problem, work, k)
            work.residual[k] = max(off, 0.0) if off == off else off
            if not off < 0.0:
                count = _activate(work.active, count, problem.follows[k])
                work.active[count] = k
                count += 1
                worst = max(worst, off) if off == off else np.inf
            continue
        if is_idle(f[k]) and problem.mu[k] >= 0.0:
            if work.there[k] and work.scale[k] > 0.0:
                c0 = pull_normal(work.G, work.side[k], work.y) + work.c0[k, 0]
            else:
                c0 = approach(problem, k, work.now) - problem.target[k, 0]
            if c0 >= 0.0:
                work.residual[k] = 0.0
                continue
            if not work.there[k]:
                build(problem, work, k)
            if work.scale[k] == 0.0:
                work.residual[k] = 0.0
                if work.unanswered[0] == 0:
                    work.unanswered[0] = k + 1
                continue
        work.active[count] = k
        count += 1
        c0, c1, c2 = pull(work.G, work.side[k], work.y)
        c0, c1, c2 = c0 + work.c0[k, 0], c1 + work.c0[k, 1], c2 + work.c0[k, 2]
        c0 += problem.compliance[k] * f[k, 0]
        off = law_residual(f[k, 0], f[k, 1], f[k, 2], c0, c1, c2, problem.mu[k], work.scale[k])
        work.residual[k] = off
        worst = max(worst, off) if off == off else np.inf
    return worst, count


@jit
def dense(problem, work, W, q):
    """W (3 m, 3 m) and q (3 m) of a prepared problem: c = W f + q."""
    contacts = len(problem.mu)
    coordinates = work.y_at[len(problem.first)]
    clear(work.y, 0, coordinates)
    for k in range(contacts):
        for i in range(3):
            q[3 * k + i] = work.c0[k, i]
            push(work.G, work.side[k], work.y, 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
            for j in range(k, contacts):
                c0, c1, c2 = pull(work.G, work.side[j], work.y)
                W[3 * j, 3 * k + i] = W[3 * k + i, 3 * j] = c0
                W[3 * j + 1, 3 * k + i] = W[3 * k + i, 3 * j + 1] = c1
                W[3 * j + 2, 3 * k + i] = W[3 * k + i, 3 * j + 2] = c2
            clear(work.y, 0, coordinates)
