"""Rows without tangents, where they are all there is: limits of joints, ropes, dry friction. Proximal steps on numbers.

F of such a row is z clamped between two bounds, so that within a proximal step it is known which rows F holds where they are,
or the impulses are known. With the rows that are free, a symmetric system:

    (1 / rho + W) f = centre / rho - c0 - W f_bound   over free rows.

Its solution says anew which rows are free; where that is what was assumed, the step is solved exactly. Steps are as stiff as
any, since there is nothing to search for: one or two will do. What does not converge so, is singular or asks for more than can
be met, is left to `proximal`, which takes any problem.
"""

from __future__ import annotations

import math

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.codegen.simd import add_multiple, add_multiples, inner_product
from linkwork.contact.elimination import MOST, ROW, eliminate, padded
from linkwork.contact.problem import clear, law_residual
from linkwork.contact.unit_mass import ROUNDED, factor_of, lay_out, look, move

STIFF = 1e6  # rho times a row's own inverse mass
STEPS, GUESSES = 5, 12  # proximal steps, and sets of free rows in each; more are a sign of a problem for `proximal`


@jit_inner
def solve_rows(problem, base, few, tolerance):
    """Impulses to the tolerance (m/s), and velocities with them: (factorisations, residual); -1 of them where the problem is
    not of this kind, or not solved: nothing is changed then."""
    m = len(problem.mu)
    if m > MOST or not _have_no_tangents(problem):
        return -1, math.inf
    base.known[0] = 0  # what is left here is not what `proximal` needs
    if not lay_out(problem, base) or not _couple(problem, base, few):
        return -1, math.inf
    for k in range(m):
        few.a[k] = problem.impulse[k, 0]
    _go(base, few, m)
    steps, residual = 0, _off(problem, base, few)
    for _ in range(STEPS):
        if residual <= tolerance:
            break
        made = _step(problem, base, few)
        if made < 0:
            return -1, math.inf
        steps += made
        residual = _off(problem, base, few)
    if not residual <= tolerance:
        return -1, math.inf
    clear(base.y, 0, base.y_at[len(problem.first)])
    for k in range(m):
        problem.impulse[k, 0] = few.a[k]
        problem.impulse[k, 1] = problem.impulse[k, 2] = 0.0
        _push(base.G, base.side[k], base.y, few.a[k])
    look(problem, base)
    move(problem, base)
    return steps, residual


@jit_inner
def _have_no_tangents(problem):
    for k in range(len(problem.mu)):
        if problem.mu[k] > 0.0:
            return False
        for r in range(1, 3):
            for i in range(6):
                if problem.Ja[k, r, i] != 0.0 or problem.Jb[k, r, i] != 0.0:
                    return False
    return True


@jit_inner
def _couple(problem, base, few):
    """W of all rows, and c0, from their responses in coordinates of unit mass; False where a row answers nothing."""
    W, m = few.W, len(problem.mu)
    for k in range(m):
        own, alone = _respond(problem, base, k)
        if not own > ROUNDED * alone:
            return False
        base.scale[k], base.there[k] = own, 1
        W[k * ROW + k] = own
        for j in range(k):
            W[k * ROW + j] = W[j * ROW + k] = _product(base.G, base.side[k], base.side[j])
    for k in range(m):
        clear(W, k * ROW + m, k * ROW + padded(m))
    return True


@jit_inner
def _respond(problem, base, k):
    """G and c0 of a row: (its own response, that of one of its bodies where both are of one group)."""
    a, b, start = problem.slot_a[k], problem.slot_b[k], base.end[0]
    ga = base.group[a] if a >= 0 else -1
    gb = base.group[b] if b >= 0 else -1
    ra = base.reach[a] if ga >= 0 else 0
    rb = base.reach[b] if gb >= 0 else 0
    if ga >= 0 and gb == ga:
        ra, rb = max(ra, rb), 0
    side, G, c0, alone = base.side[k], base.G, -problem.target[k, 0], 0.0
    side[0], side[1], side[2] = start, base.y_at[ga] if ga >= 0 else 0, ra
    side[3], side[4] = base.y_at[gb] if gb >= 0 else 0, rb
    clear(G, start, start + ra + rb)
    if ga >= 0:
        c0 += _add_row(problem, base, problem.Ja[k, 0], a, ga, ra, start)
        if gb == ga:
            alone = inner_product(G, start, G, start, ra)
    if gb >= 0:
        to, width = (start, ra) if gb == ga else (start + ra, rb)
        c0 += _add_row(problem, base, problem.Jb[k, 0], b, gb, width, to)
    base.c0[k, 0], base.end[0] = c0, start + ra + rb
    return inner_product(G, start, G, start, ra + rb), alone


@jit_inline
def _add_row(problem, base, J, slot, group, width, start):
    """G += J L of a slot; returns J u. Rows that bound angles leave out half of both."""
    u, G, L, n = problem.u[slot], base.G, factor_of(problem, base, group), 6 * problem.size[group]
    at = 6 * n * (slot - problem.first[group])
    if J[0] != 0.0 or J[1] != 0.0 or J[2] != 0.0:
        add_multiples(G, start, L, at, n, width, (J[0], J[1], J[2]))
    if J[3] != 0.0 or J[4] != 0.0 or J[5] != 0.0:
        add_multiples(G, start, L, at + 3 * n, n, width, (J[3], J[4], J[5]))
    return J[0] * u[0] + J[1] * u[1] + J[2] * u[2] + J[3] * u[3] + J[4] * u[4] + J[5] * u[5]


@jit_inline
def _product(G, one, other):
    """What one row answers to another: freedoms of a group that both move are the first ones of it."""
    total, at, into, width = 0.0, one[0], one[1], one[2]
    for _ in range(2):
        to, there, wide = other[0], other[1], other[2]
        for _ in range(2):
            if into == there and width > 0 and wide > 0:
                total += inner_product(G, at, G, to, min(width, wide))
            to, there, wide = to + wide, other[3], other[4]
        at, into, width = at + width, one[3], one[4]
    return total


@jit_inline
def _push(G, side, y, f):
    """y += G^T f of a row."""
    add_multiple(y, side[1], G, side[0], side[2], f)
    add_multiple(y, side[3], G, side[0] + side[2], side[4], f)


@jit_inner
def _off(problem, base, few):
    """How far the worst row is from the law (m/s)."""
    worst = 0.0
    for k in range(len(problem.mu)):
        c = few.v[k] + problem.compliance[k] * few.a[k]
        off = law_residual(few.a[k], 0.0, 0.0, c, 0.0, 0.0, problem.mu[k], base.scale[k])
        base.residual[k] = off
        worst = max(worst, off) if off == off else math.inf
    return worst


@jit_inner
def _go(base, few, m):
    """v = c0 + W f."""
    for k in range(m):
        few.v[k] = base.c0[k, 0]
    for k in range(m):
        if few.a[k] != 0.0:
            add_multiple(few.v, 0, few.W, k * ROW, padded(m), few.a[k])


@jit_inline
def _bounds(mu):
    return (mu, -mu) if mu < 0.0 else (0.0, math.inf)


@jit_inner
def _step(problem, base, few):
    """A proximal step from the impulses, with the velocities of these: how many factorisations; -1: it was not solved."""
    m, f, centre, soft, free = len(problem.mu), few.a, few.d, few.w, few.chosen
    for k in range(m):
        rho, (low, high) = STIFF / base.scale[k], _bounds(problem.mu[k])
        soft[k], centre[k] = 1.0 / rho + problem.compliance[k], f[k] / rho
        z = f[k] - few.v[k] / base.scale[k]
        free[k] = low < z < high
        if not free[k]:
            f[k] = min(max(z, low), high)
    for made in range(1, GUESSES + 1):
        if not _solve(base, few, m):
            return -1
        _go(base, few, m)
        settled = True
        for k in range(m):
            z, (low, high) = f[k] if free[k] else (centre[k] - few.v[k]) / soft[k], _bounds(problem.mu[k])
            inside = low < z < high
            if inside and free[k]:
                continue
            bounded = min(max(z, low), high)
            settled = settled and not inside and not free[k] and bounded == f[k]
            f[k], free[k] = bounded, inside
        if settled:
            return made
    return -1


@jit_inner
def _solve(base, few, m):
    """Impulses of free rows, those of others as they are; whether there are such."""
    A, W, f, free, n = few.A, few.W, few.a, few.chosen, 0
    for k in range(m):
        if not free[k]:
            continue
        rest, at, columns = few.d[k] - base.c0[k, 0], n * ROW, 0
        for j in range(m):
            if free[j]:
                A[at + columns] = W[k * ROW + j]
                columns += 1
            else:
                rest -= W[k * ROW + j] * f[j]
        A[at + n] += few.w[k]
        A[at + columns] = rest
        clear(A, at + columns + 1, at + padded(columns + 1))
        n += 1
    if n > 0 and not eliminate(A, few.x, few.inverse, few.place, few.swapped, n):
        return False
    n = 0
    for k in range(m):
        if free[k]:
            f[k] = few.x[n]
            n += 1
    return True
