"""Gauss-Seidel and Newton's method on the law of contact itself, for few contacts that press.

With W of the contacts that press or approach, c = W f + q, and the natural map of the law (`problem.law_residual`)

    F_n = f_n - max(0, f_n - c_n),   F_t = f_t - the point next to f_t - c_t of the disc of radius mu max(0, f_n - c_n),

f times the contact's own inverse mass, is zero where the law holds. F is smooth but for the borders between open, stuck and
sliding, and Newton's method with whole steps finds the right side of them in two or three steps from a fair guess, as of the
last step of a simulation. There is no proof that it does. So the best of its steps counts, and where that is not good enough
others go on from it.

The impulses of a contact that is open at f - c are none, and rows without friction have one, so that systems are small.
Redundant contacts make W singular. What is added to its diagonal changes steps, not where they end: with much of it, steps that
begin far off do not swing from one set of stuck contacts to another; it fades as they come near.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.codegen.simd import add_multiples, copy, inner_product, nine_products
from linkwork.codegen.struct import Bundle
from linkwork.collision.vectors import long
from linkwork.contact.one_contact import one_contact, slide
from linkwork.contact.problem import law_residual, push_all, residuals

MOST = 24  # contacts
SIZE, ROW = 3 * MOST, 88  # numbers; and those of a row of matrices, which ends with zeros: whole vectors, odd cache lines
SMALL = 8  # contacts with which a step costs little
STEPS, STEPS_OF_MANY = 12, 7  # most of them, with so few contacts or more; they often go far away before they come near
STEPS_AT_REST, POLISH = 3, 3  # of them, from the impulses of the last step; where all is nearly solved
POLISHED = 0.1  # of the residual: a step that leaves more is not one of those that square it
SWEEPS, MOST_SWEEPS = 3, 48  # of Gauss-Seidel, from one look to the next
TRIES = 60  # of Newton's method after sweeps, as long as each gains: then others go on
WORTH, BRISK = 0.7, 0.3  # of the residual: sweeps that leave more are not worth another go; that gain briskly
SOFTENED, CENTRES = 1e-2, 5  # part of inverse masses, in proximal steps; how many of these
WITHIN, MUCH_WORSE = 0.3, 3.0  # of what is enough: how near each of them is solved; of the best of them: one that is the last
ROUNDS = 8  # times that other contacts are found to approach
SOFT, FADE = 3e-3, 3.0  # part of a contact's inverse mass, on the diagonal; times the residual over the speed of bodies
SOFTER, SOFTEST_TRIED = 3.0, 0.03  # times that, from one try to the next; the last of them
REGULAR = 1e-6  # of the product of its diagonal: a determinant with which a block has an inverse
SINGULAR = 1e-14  # of the largest one: a pivot that counts as none
LEFT = 1e-3  # of its diagonal: if no more than that is left of it, another entry of a row becomes its pivot


class Few(Bundle):
    """Scratch of `solve_few`."""

    W: np.ndarray  # (SIZE, ROW) 1/kg
    A: np.ndarray  # (SIZE * ROW,) of the unknowns, and then their factors; behind these the right-hand side
    D: np.ndarray  # (MOST, 3, 3) diagonal blocks of W
    E: np.ndarray  # (MOST, 6) their inverses
    f: np.ndarray  # (ROW,) N s
    c: np.ndarray  # (ROW,) m/s
    q: np.ndarray  # (ROW,) m/s
    best: np.ndarray  # (ROW,) N s
    x: np.ndarray  # (ROW,) the step (N s)
    unknown: np.ndarray  # (SIZE,) int64: which entries of f are unknowns
    state: np.ndarray  # (MOST,) int64: OPEN, STUCK, SLIDING
    chosen: np.ndarray  # (MOST,) int64: which contacts these are, ascending
    gathered: np.ndarray  # (1,) int64: how many of them W is of
    inverse: np.ndarray  # (SIZE,) of pivots
    swapped: np.ndarray  # (SIZE,) int64: the column with which that of each row has changed places
    place: np.ndarray  # (SIZE,) int64: which column stands where


OPEN, STUCK, SLIDING = range(3)


def few() -> Few:
    numbers = [np.zeros(ROW) for _ in range(5)]
    whole = [np.zeros(length, dtype=np.int64) for length in (SIZE, MOST, MOST, 1)]
    pivots = np.zeros(SIZE), np.zeros(SIZE, dtype=np.int64), np.zeros(SIZE, dtype=np.int64)
    return Few(
        np.zeros((SIZE, ROW)), np.zeros(SIZE * ROW), np.zeros((MOST, 3, 3)), np.zeros((MOST, 6)), *numbers, *whole, *pivots
    )


@jit_inner
def solve_few(problem, base, work, residual, active, tolerance, speed, soft, steps, gain):
    """From the impulses of a prepared problem, whose y and active contacts are known, to better ones by Newton's method alone:
    (residual, active contacts). base: its `Workspace`; work: a `Few`; speed: m/s, of the bodies; soft: the most of it; steps:
    the most of them; gain: part of the residual, a step that leaves more is the last one. The impulses are left as they are
    where nothing better is found."""
    for _ in range(ROUNDS):
        if residual <= tolerance or active == 0 or active > MOST:
            break
        count = _gather(problem, base, work, active)
        found = _newton(problem, base, work, count, tolerance, speed, soft, steps, gain)
        if not found < residual:
            break
        residual, active = _give_back(problem, base, work, count)
        if not _others_press(base, work, active, count):
            break
    return residual, active


@jit_inner
def sweep_and_solve_few(problem, base, work, residual, active, tolerance, enough, speed):
    """Sweeps of Gauss-Seidel, and Newton's method: (residual, active contacts), for very few. Where neither gains, sweeps are
    doubled: they bring Newton's method to where it converges; then what is enough will do."""
    for _ in range(ROUNDS):
        if residual <= tolerance or active == 0 or active > SMALL:
            break
        count = _gather(problem, base, work, active)
        before, sweeps = _look(problem, base, work, count), SWEEPS
        now = _sweep(problem, base, work, count, tolerance, sweeps)
        if now > tolerance:
            residual, active = _give_back(problem, base, work, count)
            if _others_press(base, work, active, count):
                continue
        for _ in range(TRIES):
            if not now > tolerance:
                break
            now = _newton(problem, base, work, count, tolerance, speed, SOFT, STEPS, np.inf)
            if not now < WORTH * before:
                sweeps *= 2
                if now <= enough or not sweeps <= MOST_SWEEPS:
                    break
            before = now
            if now > tolerance:
                now = _sweep(problem, base, work, count, tolerance, sweeps)
        residual, active = _give_back(problem, base, work, count)
        if not _others_press(base, work, active, count):
            break
    return residual, active


@jit_inner
def approach_few(problem, base, work, residual, active, tight, enough):
    """Proximal steps: (residual, active contacts), for more than very few. W has SOFTENED of each contact's inverse mass on its
    diagonal, times the change of impulses since the last of them: impulses that are not determined stay where they are, the
    softened law has one solution, and sweeps and a few of Newton's steps find it. What it is off the law fades with the change
    of impulses: it is nothing where bodies rest. Before, plain sweeps go to `tight` as long as they gain briskly."""
    for _ in range(ROUNDS):
        if residual <= tight or active == 0 or active > MOST:
            break
        count = _gather(problem, base, work, active)
        before = _look(problem, base, work, count)
        now = _sweep(problem, base, work, count, tight, SWEEPS)
        for _ in range(MOST_SWEEPS):
            if not tight < now <= BRISK * before < np.inf:  # an infinite residual is no gain on an infinite one
                break
            before = now
            now = _sweep(problem, base, work, count, tight, SWEEPS)
        residual, active = _give_back(problem, base, work, count)
        others = _others_press(base, work, active, count)
        if others:
            continue
        if residual <= enough:
            break
        best = residual
        _soften(problem, base, work, count, SOFTENED)
        for _ in range(CENTRES):
            for i in range(count):
                k = work.chosen[i]
                for r in range(3):
                    work.q[3 * i + r] = base.c0[k, r] - SOFTENED * base.scale[k] * work.f[3 * i + r]
            _look(problem, base, work, count)
            now = _sweep(problem, base, work, count, WITHIN * enough, SWEEPS)
            if now > WITHIN * enough:
                _newton(problem, base, work, count, WITHIN * enough, 1.0, 0.0, STEPS_OF_MANY, np.inf)
            residual, active = _give_back(problem, base, work, count)
            others = _others_press(base, work, active, count)
            if residual <= enough or others or not residual < MUCH_WORSE * best:
                break
            best = min(best, residual)
        _soften(problem, base, work, count, 0.0)
        if not others:
            break
    return residual, active


@jit_inner
def _soften(problem, base, work, count, part):
    """The diagonal blocks of W, with a part of each contact's inverse mass on the diagonal, and their inverses."""
    for i in range(count):
        k = work.chosen[i]
        for r in range(3):
            for s in range(3):
                work.D[i, r, s] = base.D[k, r, s] + (part * base.scale[k] if r == s else 0.0)
                work.W[3 * i + r, 3 * i + s] = work.D[i, r, s]
        _invert(work.D[i], problem.mu[k], work.E[i])


@jit_inner
def _give_back(problem, base, work, count):
    """Impulses become the problem's: (residual, active contacts) of all."""
    for i in range(count):
        _scatter(problem.impulse[work.chosen[i]], problem.mu[work.chosen[i]], work.f[3 * i : 3 * i + 3])
    push_all(problem, base)
    return residuals(problem, base)


@jit_inner
def _others_press(base, work, active, count):
    """Whether contacts press or approach that are not among those which were gathered. Both ascend."""
    i = 0
    for k in range(active):
        while i < count and work.chosen[i] < base.active[k]:
            i += 1
        if i == count or work.chosen[i] != base.active[k]:
            return True
    return False


@jit_inner
def _sweep(problem, base, work, count, tolerance, sweeps):
    """Each contact solved exactly with the others held, forwards and backwards in turn; returns the residual. c follows f."""
    W, width = work.W.reshape(-1), _padded(3 * count)
    for turn in range(sweeps):
        change = 0.0
        for i in range(count):
            at = 3 * (i if turn % 2 == 0 else count - 1 - i)
            k, f, c = work.chosen[at // 3], work.f[at : at + 3], work.c[at : at + 3]
            mu, D = problem.mu[k], work.D[at // 3]
            if f[0] == 0.0 and c[0] >= 0.0 and mu >= 0.0:
                continue
            n, t1, t2 = _alone(D, work.E[at // 3], mu, f, c)
            d0, d1, d2 = n - f[0], t1 - f[1], t2 - f[2]
            f[0], f[1], f[2] = n, t1, t2
            add_multiples(work.c, 0, W, at * ROW, ROW, width, (d0, d1, d2))
            change = max(change, base.scale[k] * max(abs(d0), abs(d1), abs(d2)))
        if change <= tolerance:
            break
    return _worst(problem, base, work, count)


@jit_inline
def _alone(D, E, mu, f, c):
    """The impulses of a contact with which the law holds while the others are held. E: the inverse of D, if there is one."""
    q0 = c[0] - D[0, 0] * f[0] - D[0, 1] * f[1] - D[0, 2] * f[2]
    q1 = c[1] - D[1, 0] * f[0] - D[1, 1] * f[1] - D[1, 2] * f[2]
    q2 = c[2] - D[2, 0] * f[0] - D[2, 1] * f[1] - D[2, 2] * f[2]
    if E[0] == 0.0:
        return one_contact(D, q0, q1, q2, mu, f[1], f[2])
    if q0 >= 0.0:
        return 0.0, 0.0, 0.0
    n = -E[0] * q0 - E[1] * q1 - E[2] * q2
    t1 = -E[1] * q0 - E[3] * q1 - E[4] * q2
    t2 = -E[2] * q0 - E[4] * q1 - E[5] * q2
    if n >= 0.0 and t1 * t1 + t2 * t2 <= mu * mu * n * n:
        return n, t1, t2
    return slide(D, q0, q1, q2, mu, f[1], f[2], t1, t2)


@jit_inline
def _invert(D, mu, E):
    """E becomes the inverse of a block D, 00 01 02 11 12 22; or all zero, where it has none, or there is no friction."""
    a, b, c = D[1, 1] * D[2, 2] - D[1, 2] ** 2, D[0, 2] * D[1, 2] - D[0, 1] * D[2, 2], D[0, 1] * D[1, 2] - D[0, 2] * D[1, 1]
    determinant = D[0, 0] * a + D[0, 1] * b + D[0, 2] * c
    fine = mu > 0.0 and determinant > REGULAR * D[0, 0] * D[1, 1] * D[2, 2]
    scale = 1.0 / determinant if fine else 0.0
    E[0], E[1], E[2] = scale * a, scale * b, scale * c
    E[3], E[4] = scale * (D[0, 0] * D[2, 2] - D[0, 2] ** 2), scale * (D[0, 1] * D[0, 2] - D[0, 0] * D[1, 2])
    E[5] = scale * (D[0, 0] * D[1, 1] - D[0, 1] ** 2)


@jit_inner
def _scatter(f, mu, found):
    """An impulse, within the cone: it may be off by rounding."""
    if mu < 0.0:
        f[0], f[1], f[2] = min(max(found[0], mu), -mu), 0.0, 0.0
        return
    normal, length = max(0.0, found[0]), long(found[1], found[2])
    shrink = mu * normal / length if length > mu * normal else 1.0
    f[0], f[1], f[2] = normal, shrink * found[1], shrink * found[2]


@jit_inner
def _gather(problem, base, work, active):
    """W, q and f of the contacts that are active now; returns how many."""
    same = work.gathered[0] == active
    for i in range(active):
        k = base.active[i]
        same = same and work.chosen[i] == k
        work.chosen[i] = k
        for r in range(3):
            work.q[3 * i + r], work.f[3 * i + r] = base.c0[k, r], problem.impulse[k, r]
    if not same:
        _couple_all(problem, base, work, active)
        work.gathered[0] = active
    return active


@jit_inner
def _couple_all(problem, base, work, count):
    """W, and the inverses of its diagonal blocks."""
    for i in range(count):
        k = work.chosen[i]
        for j in range(i):
            _couple(base.G, base.side[k], base.side[work.chosen[j]], work.W, 3 * i, 3 * j)
    _soften(problem, base, work, count, 0.0)
    for r in range(3 * count):
        for s in range(3 * count, _padded(3 * count)):
            work.W[r, s] = 0.0


@jit_inline
def _padded(n):
    return (n + 7) & ~7


@jit_inner
def _couple(G, one, other, W, i, j):
    """The blocks G_k G_l^T of two contacts: freedoms of a group that both move are the first ones of it."""
    for r in range(3):
        for s in range(3):
            W[i + r, j + s] = 0.0
    at, into, width = one[0], one[1], one[2]
    for _ in range(2):
        to, there, wide = other[0], other[1], other[2]
        for _ in range(2):
            if into == there and width > 0 and wide > 0:
                p = nine_products(G, at, width, G, to, wide, min(width, wide))
                W[i, j], W[i, j + 1], W[i, j + 2] = W[i, j] + p[0], W[i, j + 1] + p[1], W[i, j + 2] + p[2]
                W[i + 1, j], W[i + 1, j + 1], W[i + 1, j + 2] = (
                    W[i + 1, j] + p[3],
                    W[i + 1, j + 1] + p[4],
                    W[i + 1, j + 2] + p[5],
                )
                W[i + 2, j], W[i + 2, j + 1], W[i + 2, j + 2] = (
                    W[i + 2, j] + p[6],
                    W[i + 2, j + 1] + p[7],
                    W[i + 2, j + 2] + p[8],
                )
            to, there, wide = to + 3 * wide, other[3], other[4]
        at, into, width = at + 3 * width, one[3], one[4]
    for r in range(3):
        for s in range(3):
            W[j + s, i + r] = W[i + r, j + s]


@jit_inline
def _add_to_row(row, at, x, y, z):
    row[at], row[at + 1], row[at + 2] = row[at] + x, row[at + 1] + y, row[at + 2] + z


@jit_inner
def _newton(problem, base, work, count, tolerance, speed, soft, steps, gain):
    """Whole steps from f, at most so many, to the best f of all; returns its residual. gain: part of the residual, a step that
    leaves more is the last one."""
    best, before, step = np.inf, np.inf, 0
    while True:
        residual = _look(problem, base, work, count)
        if residual < best:
            best = residual
            for i in range(3 * count):
                work.best[i] = work.f[i]
        if best <= tolerance or step == steps or not residual <= gain * before:
            break
        before = residual
        n = _system(problem, base, work, count, min(soft, FADE * best / speed))
        if not _solve(work, n):
            break
        for i in range(n):
            work.f[work.unknown[i]] += work.x[i]
        step += 1
    for i in range(3 * count):
        work.f[i] = work.best[i]
    return _look(problem, base, work, count) if residual > best else best


@jit_inner
def _look(problem, base, work, count):
    """Velocities c of the contacts that were gathered, and the largest distance from the law."""
    n, c, W, width = 3 * count, work.c, work.W.reshape(-1), _padded(3 * count)
    for i in range(n):
        c[i] = work.q[i]
    for j in range(0, n, 3):
        f = work.f[j : j + 3]
        if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
            add_multiples(c, 0, W, j * ROW, ROW, width, (f[0], f[1], f[2]))
    return _worst(problem, base, work, count)


@jit_inner
def _worst(problem, base, work, count):
    """The largest distance from the law, of f and c."""
    worst, c = 0.0, work.c
    for i in range(count):
        k, f = work.chosen[i], work.f[3 * i : 3 * i + 3]
        off = law_residual(f[0], f[1], f[2], c[3 * i], c[3 * i + 1], c[3 * i + 2], problem.mu[k], base.scale[k])
        worst = max(worst, off) if off == off else np.inf
    return worst


@jit_inline
def _state(mu, scale, f, c):
    """Where a contact stands."""
    kept = scale * f[0] - c[0]
    if mu < 0.0:
        return STUCK if abs(kept) <= -scale * mu else SLIDING
    if kept <= 0.0:
        return OPEN
    return STUCK if long(scale * f[1] - c[1], scale * f[2] - c[2]) <= mu * kept else SLIDING


@jit_inline
def _unknowns(mu, state):
    """How many unknowns a contact has: all directions that it has, but none where its impulse is known."""
    if mu < 0.0:
        return 1 if state == STUCK else 0
    return 0 if state == OPEN else 3 if mu > 0.0 else 1


@jit_inner
def _let_go(problem, base, work, count):
    """Impulses that are known: of contacts that open, and dry friction that is used up. c follows."""
    for i in range(count):
        mu, scale, f = problem.mu[work.chosen[i]], base.scale[work.chosen[i]], work.f[3 * i : 3 * i + 3]
        state = _state(mu, scale, f, work.c[3 * i : 3 * i + 3])
        if _unknowns(mu, state) > 0:
            continue
        kept = scale * f[0] - work.c[3 * i]
        for r in range(3):
            change = (0.0 if r > 0 or mu >= 0.0 else -mu if kept > 0.0 else mu) - f[r]
            if change != 0.0:
                f[r] += change
                for j in range(3 * count):
                    work.c[j] += work.W[j, 3 * i + r] * change


@jit_inner
def _system(problem, base, work, count, soft):
    """The unknowns of a step, and its linear system; returns how many. soft: part of inverse masses."""
    _let_go(problem, base, work, count)
    n = 0
    for i in range(count):
        k = work.chosen[i]
        work.state[i] = _state(problem.mu[k], base.scale[k], work.f[3 * i : 3 * i + 3], work.c[3 * i : 3 * i + 3])
        for r in range(_unknowns(problem.mu[k], work.state[i])):
            work.unknown[n] = 3 * i + r
            n += 1
    at = 0
    for i in range(count):
        k, state = work.chosen[i], work.state[i]
        unknowns, scale, mu = _unknowns(problem.mu[k], state), base.scale[k], problem.mu[k]
        if unknowns > 0:
            _held(work, 3 * i, at, n, n == 3 * count, soft * scale)
        if unknowns == 3 and state == STUCK:
            _held(work, 3 * i + 1, at + 1, n, n == 3 * count, soft * scale)
            _held(work, 3 * i + 2, at + 2, n, n == 3 * count, soft * scale)
        elif unknowns == 3:
            _sliding(work, 3 * i, at, n, n == 3 * count, scale, mu)
        at += unknowns
    for i in range(n):
        for j in range(n + 1, _padded(n + 1)):
            work.A[i * ROW + j] = 0.0
    return n


@jit_inner
def _held(work, row, at, n, whole, soft):
    """A row whose velocity shall be zero; soft: 1/kg, on the diagonal. whole: all entries of f are unknowns."""
    A, W = work.A[at * ROW : (at + 1) * ROW], work.W[row]
    if whole:
        copy(A, 0, W, 0, n)
    else:
        for j in range(n):
            A[j] = W[work.unknown[j]]
    A[at] += soft
    A[n] = -work.c[row]


@jit_inner
def _sliding(work, i, at, n, whole, scale, mu):
    """The two rows of friction that is used up: F_t = s f_t - mu kept e, e along s f_t - c_t. They are combinations of the
    three rows of W, and what their own entries add. whole: all entries of f are unknowns."""
    f, c, W, A, one, two = work.f, work.c, work.W.reshape(-1), work.A, (at + 1) * ROW, (at + 2) * ROW
    kept = scale * f[i] - c[i]
    w1, w2 = scale * f[i + 1] - c[i + 1], scale * f[i + 2] - c[i + 2]
    length = long(w1, w2)
    e1, e2 = w1 / length, w2 / length
    h, radius = mu * kept / length, mu * kept
    n1, n2, a11, a12, a22 = mu * e1, mu * e2, h * (1.0 - e1 * e1), -h * e1 * e2, h * (1.0 - e2 * e2)
    if whole:
        for j in range(n):
            A[one + j] = A[two + j] = 0.0
        add_multiples(A, one, W, i * ROW, ROW, n, (n1, a11, a12))
        add_multiples(A, two, W, i * ROW, ROW, n, (n2, a12, a22))
    else:
        for j in range(n):
            entry = i * ROW + work.unknown[j]
            wn, t1, t2 = W[entry], W[entry + ROW], W[entry + 2 * ROW]
            A[one + j], A[two + j] = n1 * wn + a11 * t1 + a12 * t2, n2 * wn + a12 * t1 + a22 * t2
    A[one + at] -= scale * n1
    A[two + at] -= scale * n2
    A[one + at + 1] += scale * (1.0 - a11)
    A[two + at + 1] -= scale * a12
    A[one + at + 2] -= scale * a12
    A[two + at + 2] += scale * (1.0 - a22)
    A[one + n], A[two + n] = radius * e1 - scale * f[i + 1], radius * e2 - scale * f[i + 2]


@jit_inner
def _solve(work, n):
    """x = A^-1 times the column behind it, by elimination of four rows at a time; whether A has an inverse. The pivot of a row
    is its diagonal, unless little is left of that: then columns change places."""
    A, x, inverse, place, largest, width, some = work.A, work.x, work.inverse, work.place, 0.0, _padded(n + 1), False
    for j in range(n):
        place[j] = j
    for begin in range(0, n, 4):
        end = min(begin + 4, n)
        for i in range(begin, end):
            x[i] = LEFT * abs(A[i * ROW + i])
            if some:  # columns have changed places
                for j in range(begin):
                    _swap(A, i, j, work.swapped[j])
        for k in range(0, begin, 4):
            for i in range(begin, end):  # which do not wait for each other
                _take_out(A, inverse, i, k, 4, width)
        for i in range(begin, end):
            _take_out(A, inverse, i, begin, i - begin, width)
            row, pivot = i * ROW, i
            if not abs(A[row + i]) > x[i]:
                for j in range(i + 1, n):
                    if abs(A[row + j]) > abs(A[row + pivot]):
                        pivot = j
                some = some or pivot != i
                for k in range(end):
                    _swap(A, k, i, pivot)
                place[i], place[pivot] = place[pivot], place[i]
            work.swapped[i] = pivot
            largest = max(largest, abs(A[row + i]))
            if not abs(A[row + i]) > SINGULAR * largest:
                return False
            inverse[i] = 1.0 / A[row + i]
    for i in range(n - 1, -1, -1):
        inverse[i] *= A[i * ROW + n] - inner_product(A, i * ROW + i + 1, inverse, i + 1, n - i - 1)
    for i in range(n):
        x[place[i]] = inverse[i]
    return True


@jit_inline
def _swap(A, row, i, j):
    A[row * ROW + i], A[row * ROW + j] = A[row * ROW + j], A[row * ROW + i]


@jit_inline
def _take_out(A, inverse, i, k, rows, width):
    """Take up to four rows from k on, of which the pivots are known, out of row i."""
    if rows == 0:
        return
    at, of = i * ROW + k, k * ROW + k
    one, two, three = A[at + 1], A[at + 2], A[at + 3]
    f0 = A[at] * inverse[k]
    one, two, three = one - f0 * A[of + 1], two - f0 * A[of + 2], three - f0 * A[of + 3]
    f1 = one * inverse[k + 1] if rows > 1 else 0.0
    two, three = two - f1 * A[of + ROW + 2], three - f1 * A[of + ROW + 3]
    f2 = two * inverse[k + 2] if rows > 2 else 0.0
    three -= f2 * A[of + 2 * ROW + 3]
    f3 = three * inverse[k + 3] if rows > 3 else 0.0
    A[at + 1], A[at + 2], A[at + 3] = one, two, three
    add_multiples(A, at + 4, A, of + 4, ROW, width - k - 4, (-f0, -f1, -f2, -f3))
