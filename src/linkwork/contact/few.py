"""Newton's method on the law of contact itself, for few contacts that press.

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

from linkwork.codegen.bundle import Bundle
from linkwork.codegen.jit import jit_inner
from linkwork.codegen.strips import add_multiple
from linkwork.contact.problem import add_products, law_residual, push_all, residuals
from linkwork.contact.vectors import long

MOST = 20  # contacts
SIZE = 3 * MOST
SMALL = 8  # contacts with which a step costs little
STEPS, STEPS_OF_MANY = 12, 5  # most of them, with so few contacts or more; they often go far away before they come near
ROUNDS = 3  # times that other contacts are found to approach
SOFT, FADE = 3e-3, 100.0  # part of a contact's inverse mass, on the diagonal; times the residual over the speed of bodies
SOFTER, SOFTEST_TRIED = 3.0, 0.03  # times that, from one try to the next; the last of them
SINGULAR = 1e-14  # of the largest one: a pivot that counts as none


class Few(Bundle):
    """Scratch of `solve_few`."""

    W: np.ndarray  # (SIZE, SIZE) 1/kg
    A: np.ndarray  # (SIZE * SIZE,) of the unknowns, and then their factors
    f: np.ndarray  # (SIZE,) N s
    c: np.ndarray  # (SIZE,) m/s
    q: np.ndarray  # (SIZE,) m/s
    best: np.ndarray  # (SIZE,) N s
    x: np.ndarray  # (SIZE,) right-hand side, and then the step (N s)
    unknown: np.ndarray  # (SIZE,) int64: which entries of f are unknowns
    state: np.ndarray  # (MOST,) int64: OPEN, STUCK, SLIDING


OPEN, STUCK, SLIDING = range(3)


def few() -> Few:
    numbers = [np.zeros(SIZE) for _ in range(5)]
    whole = [np.zeros(length, dtype=np.int64) for length in (SIZE, MOST)]
    return Few(np.zeros((SIZE, SIZE)), np.zeros(SIZE * SIZE), *numbers, *whole)


@jit_inner
def solve_few(problem, base, work, residual, active, tolerance, speed, soft):
    """From the impulses of a prepared problem, whose y and active contacts are known, to better ones: (steps, residual, active
    contacts). base: its `Workspace`; work: a `Few`; speed: m/s, of the bodies; soft: the most of it. The impulses are left as
    they are where nothing better is found."""
    made = 0
    for _ in range(ROUNDS):
        if residual <= tolerance or active == 0 or active > MOST:
            break
        _gather(problem, base, work, active)
        steps, found = _newton(problem, base, work, active, tolerance, speed, soft)
        made += steps
        if not found < residual:
            break
        for i in range(active):
            _scatter(problem.impulse[base.active[i]], problem.mu[base.active[i]], work.best[3 * i : 3 * i + 3])
        push_all(problem, base)
        known = active
        residual, active = residuals(problem, base)
        if active <= known:
            break
    return made, residual, active


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
    """W, q and f of the active contacts."""
    for i in range(active):
        k = base.active[i]
        for r in range(3):
            work.q[3 * i + r], work.f[3 * i + r] = base.c0[k, r], problem.impulse[k, r]
        for j in range(i):
            _couple(base.G, base.side[k], base.side[base.active[j]], work.W, 3 * i, 3 * j)
        for r in range(3):
            for s in range(3):
                work.W[3 * i + r, 3 * i + s] = base.D[k, r, s]


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
            if into == there:
                add_products(G, at, width, to, wide, min(width, wide), W[i : i + 3, j : j + 3])
            to, there, wide = to + 3 * wide, other[3], other[4]
        at, into, width = at + 3 * width, one[3], one[4]
    for r in range(3):
        for s in range(3):
            W[j + s, i + r] = W[i + r, j + s]


@jit_inner
def _newton(problem, base, work, active, tolerance, speed, soft):
    """Whole steps from f; the best f is left in `work.best`: (steps, its residual)."""
    best, step = np.inf, 0
    while True:
        residual = _look(problem, base, work, active)
        if residual < best:
            best = residual
            for i in range(3 * active):
                work.best[i] = work.f[i]
        if best <= tolerance or step == (STEPS if active <= SMALL else STEPS_OF_MANY):
            return step, best
        n = _system(problem, base, work, active, min(soft, FADE * best / speed))
        if not _solve(work.A, work.x, n):
            return step, best
        for i in range(n):
            work.f[work.unknown[i]] += work.x[i]
        step += 1


@jit_inner
def _look(problem, base, work, active):
    """Velocities c of the active contacts, and the largest distance from the law."""
    n, worst, c, W = 3 * active, 0.0, work.c, work.W.reshape(-1)
    for i in range(n):
        c[i] = work.q[i]
    for j in range(n):
        if work.f[j] != 0.0:
            add_multiple(c, 0, W, j * SIZE, n, work.f[j])
    for i in range(active):
        k, f = base.active[i], work.f[3 * i : 3 * i + 3]
        off = law_residual(f[0], f[1], f[2], c[3 * i], c[3 * i + 1], c[3 * i + 2], problem.mu[k], base.scale[k])
        worst = max(worst, off) if off == off else np.inf
    return worst


@jit_inner
def _state(mu, scale, f, c):
    """Where a contact stands."""
    kept = scale * f[0] - c[0]
    if mu < 0.0:
        return STUCK if abs(kept) <= -scale * mu else SLIDING
    if kept <= 0.0:
        return OPEN
    return STUCK if long(scale * f[1] - c[1], scale * f[2] - c[2]) <= mu * kept else SLIDING


@jit_inner
def _unknowns(mu, state):
    """How many unknowns a contact has: all directions that it has, but none where its impulse is known."""
    if mu < 0.0:
        return 1 if state == STUCK else 0
    return 0 if state == OPEN else 3 if mu > 0.0 else 1


@jit_inner
def _let_go(problem, base, work, active):
    """Impulses that are known: of contacts that open, and dry friction that is used up. c follows."""
    for i in range(active):
        mu, scale, f = problem.mu[base.active[i]], base.scale[base.active[i]], work.f[3 * i : 3 * i + 3]
        state = _state(mu, scale, f, work.c[3 * i : 3 * i + 3])
        if _unknowns(mu, state) > 0:
            continue
        kept = scale * f[0] - work.c[3 * i]
        for r in range(3):
            change = (0.0 if r > 0 or mu >= 0.0 else -mu if kept > 0.0 else mu) - f[r]
            if change != 0.0:
                f[r] += change
                for j in range(3 * active):
                    work.c[j] += work.W[j, 3 * i + r] * change


@jit_inner
def _system(problem, base, work, active, soft):
    """The unknowns of a step, and its linear system; returns how many. soft: part of inverse masses."""
    _let_go(problem, base, work, active)
    n = 0
    for i in range(active):
        k = base.active[i]
        work.state[i] = _state(problem.mu[k], base.scale[k], work.f[3 * i : 3 * i + 3], work.c[3 * i : 3 * i + 3])
        for r in range(_unknowns(problem.mu[k], work.state[i])):
            work.unknown[n] = 3 * i + r
            n += 1
    at = 0
    for i in range(active):
        k, state = base.active[i], work.state[i]
        count, scale, mu = _unknowns(problem.mu[k], state), base.scale[k], problem.mu[k]
        if count > 0:
            _held(work, 3 * i, at, n, soft * scale)
        if count == 3 and state == STUCK:
            _held(work, 3 * i + 1, at + 1, n, soft * scale)
            _held(work, 3 * i + 2, at + 2, n, soft * scale)
        elif count == 3:
            _sliding(work, 3 * i, at, n, scale, mu)
        at += count
    return n


@jit_inner
def _held(work, row, at, n, soft):
    """A row whose velocity shall be zero; soft: 1/kg, on the diagonal."""
    A, W = work.A[at * SIZE : (at + 1) * SIZE], work.W[row]
    for j in range(n):
        A[j] = W[work.unknown[j]]
    A[at] += soft
    work.x[at] = -work.c[row]


@jit_inner
def _sliding(work, i, at, n, scale, mu):
    """The two rows of friction that is used up: F_t = s f_t - mu kept e, e along s f_t - c_t."""
    f, c, W = work.f, work.c, work.W
    kept = scale * f[i] - c[i]
    w1, w2 = scale * f[i + 1] - c[i + 1], scale * f[i + 2] - c[i + 2]
    length = long(w1, w2)
    e1, e2 = w1 / length, w2 / length
    h, radius = mu * kept / length, mu * kept
    for j in range(n):
        entry = work.unknown[j]
        wn, t1, t2 = W[i, entry], W[i + 1, entry], W[i + 2, entry]
        own1, own2 = (scale if entry == i + 1 else 0.0), (scale if entry == i + 2 else 0.0)
        change = mu * ((scale if entry == i else 0.0) - wn)
        d1, d2 = own1 - t1, own2 - t2
        along = e1 * d1 + e2 * d2
        work.A[(at + 1) * SIZE + j] = own1 - e1 * change - h * (d1 - e1 * along)
        work.A[(at + 2) * SIZE + j] = own2 - e2 * change - h * (d2 - e2 * along)
    work.x[at + 1] = radius * e1 - scale * f[i + 1]
    work.x[at + 2] = radius * e2 - scale * f[i + 2]


@jit_inner
def _solve(A, x, n):
    """x = A^-1 x by elimination with row pivots, A in rows of SIZE; whether A has an inverse."""
    largest = 0.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i * SIZE + k]) > abs(A[pivot * SIZE + k]):
                pivot = i
        largest = max(largest, abs(A[pivot * SIZE + k]))
        if not abs(A[pivot * SIZE + k]) > SINGULAR * largest:
            return False
        if pivot != k:
            for j in range(k, n):
                A[k * SIZE + j], A[pivot * SIZE + j] = A[pivot * SIZE + j], A[k * SIZE + j]
            x[k], x[pivot] = x[pivot], x[k]
        inverse = 1.0 / A[k * SIZE + k]
        for i in range(k + 1, n):
            factor = A[i * SIZE + k] * inverse
            if factor != 0.0:
                add_multiple(A, i * SIZE + k + 1, A, k * SIZE + k + 1, n - k - 1, -factor)
                x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        left = x[k]
        for j in range(k + 1, n):
            left -= A[k * SIZE + j] * x[j]
        x[k] = left / A[k * SIZE + k]
    return True
