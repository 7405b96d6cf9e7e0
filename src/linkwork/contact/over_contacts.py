"""Newton's step over contacts, where few press: unknowns are impulses, the matrix W of these contacts and small.

With y = G^T a the equations r = y - G^T F = 0 become d = a - F = 0, and Newton's step w of a, y's x = G^T w, obeys

    w / rho + F' W w = -d / rho    (F' by rows; rows that F holds where they are: w = -d).

It is the step that `over_bodies` makes, by another road. Of a contact that slides w_e = mu w_n - (d_e - mu d_n) is known; so
it is of a companion that gives way, with the normal of the contact that it follows.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.codegen.simd import add_multiples, nine_products
from linkwork.codegen.struct import Struct
from linkwork.contact.elimination import MOST, ROW, SIZE, eliminate, padded
from linkwork.contact.law import GIVING, HELD, OPEN, RESTING, SLIDING, STUCK, unknowns
from linkwork.contact.problem import clear


class Few(Struct):
    """Scratch; rows go by the contacts that are taken, three each."""

    W: np.ndarray  # (SIZE * ROW,) 1/kg
    A: np.ndarray  # (SIZE * ROW,) of the unknowns, and behind these the right-hand side
    a: np.ndarray  # (ROW,) impulses at which the step is (N s)
    d: np.ndarray  # (ROW,) a - F
    w: np.ndarray  # (ROW,) the step
    v: np.ndarray  # (ROW,) what W makes of impulses (m/s)
    gathered: np.ndarray  # (1,) int64: how many contacts W is of, 0: none
    chosen: np.ndarray  # (MOST,) int64: which
    lead: (
        np.ndarray
    )  # (MOST,) int64: where the contact whose normal bounds friction stands among them: itself, or a companion's
    column: np.ndarray  # (MOST,) int64: the first of its unknowns
    x: np.ndarray  # (ROW,) the unknowns
    inverse: np.ndarray  # (ROW,) and others for `eliminate`
    place: np.ndarray  # (ROW,) int64
    swapped: np.ndarray  # (ROW,) int64


def few() -> Few:
    numbers, whole = [np.zeros(ROW) for _ in range(6)], [np.zeros(ROW, dtype=np.int64) for _ in range(2)]
    some = [np.zeros(MOST, dtype=np.int64) for _ in range(3)]
    return Few(np.zeros(SIZE * ROW), np.zeros(SIZE * ROW), *numbers[:4], np.zeros(1, dtype=np.int64), *some, *numbers[4:],
               *whole)  # fmt: skip


@jit_inner
def gather(problem, base, work, few, count):
    """W of the contacts that are taken, unless it is there."""
    same = few.gathered[0] == count
    for i in range(count):
        same = same and few.chosen[i] == work.taken[i]
        few.chosen[i] = work.taken[i]
    if same:
        return
    few.gathered[0] = count
    for i in range(count):
        k = work.taken[i]
        few.lead[i] = i
        for j in range(i if problem.follows[k] >= 0 else 0):
            if work.taken[j] == problem.follows[k]:
                few.lead[i] = j
        for j in range(i):
            _couple(base.G, base.side[k], base.side[work.taken[j]], few.W, 3 * i, 3 * j)
        for r in range(3):
            for s in range(3):
                few.W[(3 * i + r) * ROW + 3 * i + s] = base.D[k, r, s]
            clear(few.W, (3 * i + r) * ROW + 3 * count, (3 * i + r) * ROW + padded(3 * count))


@jit_inner
def _couple(G, one, other, W, i, j):
    """The blocks G_k G_l^T of two contacts: freedoms of a group that both move are the first ones of it."""
    for r in range(3):
        clear(W, (i + r) * ROW + j, (i + r) * ROW + j + 3)
    at, into, width = one[0], one[1], one[2]
    for _ in range(2):
        to, there, wide = other[0], other[1], other[2]
        for _ in range(2):
            if into == there and width > 0 and wide > 0:
                p = nine_products(G, at, width, G, to, wide, min(width, wide))
                _add_row(W, i * ROW + j, p[0], p[1], p[2])
                _add_row(W, (i + 1) * ROW + j, p[3], p[4], p[5])
                _add_row(W, (i + 2) * ROW + j, p[6], p[7], p[8])
            to, there, wide = to + 3 * wide, other[3], other[4]
        at, into, width = at + 3 * width, one[3], one[4]
    for r in range(3):
        for s in range(3):
            W[(j + s) * ROW + i + r] = W[(i + r) * ROW + j + s]


@jit_inline
def _add_row(W, at, x, y, z):
    W[at], W[at + 1], W[at + 2] = W[at] + x, W[at + 1] + y, W[at + 2] + z


@jit_inline
def _answer(few, impulses, count):
    """few.v = W times impulses."""
    clear(few.v, 0, padded(3 * count))
    for j in range(0, 3 * count, 3):
        f = impulses[j], impulses[j + 1], impulses[j + 2]
        if f != (0.0, 0.0, 0.0):
            add_multiples(few.v, 0, few.W, j * ROW, ROW, padded(3 * count), f)


@jit_inner
def start_over_contacts(problem, base, work, few, count):
    """The step begins at the impulses of the problem."""
    for i in range(count):
        for r in range(3):
            few.a[3 * i + r] = problem.impulse[work.taken[i], r]
    _answer(few, few.a, count)
    for i in range(count):
        k = work.taken[i]
        for r in range(3):
            work.c[k, r] = base.c0[k, r] + few.v[3 * i + r]


@jit_inner
def differ_over_contacts(work, few, count):
    """What F leaves: r . r, and the velocities G r, off those that F makes."""
    for i in range(count):
        for r in range(3):
            few.d[3 * i + r] = few.a[3 * i + r] - work.answer[work.taken[i], r]
    _answer(few, few.d, count)
    square = 0.0
    for i in range(count):
        for r in range(3):
            work.off[work.taken[i], r] = few.v[3 * i + r]
            square += few.d[3 * i + r] * few.v[3 * i + r]
    return square


@jit_inner
def step_over_contacts(problem, base, work, few, count):
    """Newton's step, and the change of velocities: (whether there is one, y . x, x . x)."""
    d, w = few.d, few.w
    for i in range(count):
        at, k = 3 * i, work.taken[i]
        w[at], w[at + 1], w[at + 2] = -d[at], -d[at + 1], -d[at + 2]
        if work.state[k] == STUCK:
            w[at] = w[at + 1] = w[at + 2] = 0.0
        elif work.state[k] == HELD:
            w[at] = 0.0
        elif work.state[k] == SLIDING:
            e1, e2 = work.slip[k, 0], work.slip[k, 1]
            along = problem.mu[k] * d[at] - e1 * d[at + 1] - e2 * d[at + 2]
            w[at], w[at + 1], w[at + 2] = 0.0, along * e1, along * e2
        elif work.state[k] == RESTING:
            w[at + 1] = w[at + 2] = 0.0
        elif work.state[k] == GIVING:
            e1, e2 = work.slip[k, 0], work.slip[k, 1]
            along = problem.mu[k] * d[3 * few.lead[i]] - e1 * d[at + 1] - e2 * d[at + 2]
            w[at + 1], w[at + 2] = along * e1, along * e2
    _answer(few, w, count)
    n = 0
    for i in range(count):
        few.column[i] = n
        n += unknowns(work.state[work.taken[i]])
    at = 0
    for i in range(count):
        at = _rows(work, few, problem.mu, count, i, at, n)
    x = few.x
    if n > 0 and not eliminate(few.A, x, few.inverse, few.place, few.swapped, n):
        return False, 0.0, 0.0
    at = 0
    for i in range(count):
        k, of = work.taken[i], 3 * i
        if work.state[k] == STUCK:
            w[of], w[of + 1], w[of + 2] = x[at], x[at + 1], x[at + 2]
        elif work.state[k] == HELD:
            w[of] = x[at]
        elif work.state[k] == SLIDING:
            e1, e2, along = work.slip[k, 0], work.slip[k, 1], problem.mu[k] * x[at]
            w[of] = x[at]
            w[of + 1] += along * e1 - x[at + 1] * e2
            w[of + 2] += along * e2 + x[at + 1] * e1
        elif work.state[k] == RESTING:
            w[of + 1], w[of + 2] = x[at], x[at + 1]
        elif work.state[k] == GIVING:
            e1, e2, along = work.slip[k, 0], work.slip[k, 1], problem.mu[k] * x[few.column[few.lead[i]]]
            w[of + 1] += along * e1 - x[at] * e2
            w[of + 2] += along * e2 + x[at] * e1
        at += unknowns(work.state[k])
    _answer(few, w, count)
    yx = xx = 0.0
    for i in range(count):
        k = work.taken[i]
        for r in range(3):
            change = few.v[3 * i + r]
            work.dc[k, r] = change
            yx += w[3 * i + r] * (work.c[k, r] - base.c0[k, r])
            xx += w[3 * i + r] * change
    return True, yx, xx


@jit_inner
def _rows(work, few, mu, count, i, at, n):
    """The equations of a contact, from row `at` on; returns where those of the next one begin."""
    k, of, A, v, d = work.taken[i], 3 * i, few.A, few.v, few.d
    state = work.state[k]
    if state == OPEN:
        return at
    softness, rest, end = 1.0 / work.rho[k, 0], 1.0 / work.rho[k, 1], at + unknowns(state)
    row = at
    if state <= STUCK:
        _columns(work, few, mu, count, of, at, (1.0, 0.0, 0.0))
        A[at * ROW + at] += softness
        A[at * ROW + n] = -softness * d[of] - v[of]
        row = at + 1
    if state == STUCK or state == RESTING:
        for r in range(1, 3):
            _columns(work, few, mu, count, of, row, (0.0, 1.0, 0.0) if r == 1 else (0.0, 0.0, 1.0))
            A[row * ROW + row] += rest
            A[row * ROW + n] = -rest * d[of + r] - v[of + r]
            row += 1
    elif state == SLIDING or state == GIVING:
        e1, e2, rest = work.slip[k, 0], work.slip[k, 1], rest / work.slip[k, 2]
        _columns(work, few, mu, count, of, row, (0.0, -e2, e1))
        A[row * ROW + row] += rest
        A[row * ROW + n] = -rest * (e1 * d[of + 2] - e2 * d[of + 1]) - (e1 * v[of + 2] - e2 * v[of + 1])
    for row in range(at, end):
        clear(A, row * ROW + n + 1, row * ROW + padded(n + 1))
    return end


@jit_inline
def _columns(work, few, mu, count, of, row, along):
    """A combination of the three rows of W of a contact, by the unknowns of all."""
    A, W, to, from_ = few.A, few.W, row * ROW, of * ROW
    s0, s1, s2 = along
    for j in range(count):
        k, state = work.taken[j], work.state[work.taken[j]]
        if state == OPEN:
            continue
        q = from_ + 3 * j
        c0 = s0 * W[q] + s1 * W[q + ROW] + s2 * W[q + 2 * ROW]
        if state == HELD:
            A[to] = c0
            to += 1
            continue
        c1 = s0 * W[q + 1] + s1 * W[q + ROW + 1] + s2 * W[q + 2 * ROW + 1]
        c2 = s0 * W[q + 2] + s1 * W[q + ROW + 2] + s2 * W[q + 2 * ROW + 2]
        if state == STUCK:
            A[to], A[to + 1], A[to + 2] = c0, c1, c2
        elif state == RESTING:
            A[to], A[to + 1] = c1, c2
        elif state == SLIDING:
            e1, e2 = work.slip[k, 0], work.slip[k, 1]
            A[to], A[to + 1] = c0 + mu[k] * (e1 * c1 + e2 * c2), e1 * c2 - e2 * c1
        else:
            e1, e2 = work.slip[k, 0], work.slip[k, 1]
            A[row * ROW + few.column[few.lead[j]]] += mu[k] * (e1 * c1 + e2 * c2)
            A[to] = e1 * c2 - e2 * c1
        to += unknowns(state)


@jit_inline
def go_over_contacts(few, count, along):
    """Impulses after the step."""
    for i in range(3 * count):
        few.a[i] += along * few.w[i]
