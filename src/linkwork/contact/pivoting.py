"""Few contacts, exactly: the pivoting of baraff94 ("Fast contact force computation for nonpenetrating rigid bodies"), dense.

Contacts of c = W f + q are taken one after the other. The normal impulse of the new one grows from zero until its velocity is
no longer negative (Dantzig's algorithm); those taken before keep the law on the way, by moving to another set at each bound:

    open: f = 0, c_n > 0;  closed: c_n = 0, f_n > 0;  an axis of friction sticks: c_t = 0;  or is used up: f_t = -+mu f_n.

Without friction this ends for every positive semidefinite W: a row joins only while it is independent of those that hold.
Friction along two axes is a pyramid; Newton's method on the cone follows, from the sets that pivoting found, and Gauss-Seidel
where that finds no way down. Contacts that slide already (dynamic friction, accelerations) have f_t = -mu f_n slip / |slip|
instead. Where the others stay content forever and the new contact never gets there, pivoting sees no solution (Painleve).
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.contact.dense_cone import eliminate, largest_residual, refine_on_cone, renew, sweep_dense
from linkwork.contact.problem import CONVERGED, INCONSISTENT, TOO_SMALL, UNCONVERGED, Workspace, clear, workspace
from linkwork.contact.unit_mass import dense, move, prepare, push_all, residuals

SHAKE = 1e-9  # part of the largest velocity by which ties are broken
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, are spread evenly: different shakes for all rows
ROUNDING = 1e-11  # of what sums of their size can be told from zero
UNTAKEN, OPEN, CLOSED = range(3)  # states of a contact
FINISH, LEAVE, JOIN, GRIP, PLUS, MINUS = range(6)  # events: c_n = 0; f_n = 0; c_n = 0 of another; it sticks; f_t = +-mu f_n
ATTEMPTS = 10  # rounds of Newton's method and Gauss-Seidel after pivoting


class PivotWorkspace(Struct):
    """Scratch of `pivoting`."""

    base: Workspace
    W: np.ndarray  # (9 m m,) entries of W
    q: np.ndarray  # (3 m,)
    slip: np.ndarray  # (m, 2) zero: no contact is known to slide
    f: np.ndarray  # (3 m,)
    c: np.ndarray  # (3 m,) W f + q
    df: np.ndarray  # (3 m,) change of f, for a unit of the growing impulse
    dc: np.ndarray  # (3 m,)
    system: np.ndarray  # (3 m, 3 m + 1) equations of a direction and their right-hand side
    rows: np.ndarray  # (3 m,) rows that hold
    taken: np.ndarray  # (m,) UNTAKEN, OPEN, CLOSED
    sticks: np.ndarray  # (m, 2) axes of friction that stick
    ratio: np.ndarray  # (m, 2) f_t / (mu f_n) of those that do not
    kept: np.ndarray  # (3 m,) f before a step
    shaken: np.ndarray  # (3 m,) q with its ties broken
    block: np.ndarray  # (3, 3) one contact's part of W


def pivot_workspace(slots: int, groups: int, contacts: int, responses: int, widest: int = 1) -> PivotWorkspace:
    """Scratch for problems up to this size, as `workspace`.

    >>> pivot_workspace(slots=3, groups=2, contacts=8, responses=36 + 144, widest=2).q.shape
    (24,)
    """
    n = 3 * contacts
    return PivotWorkspace(
        workspace(slots, groups, contacts, responses, widest),
        np.zeros(n * n), np.zeros(n), np.zeros((contacts, 2)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros((n, n + 1)), np.zeros(n, dtype=np.int64), np.zeros(contacts, dtype=np.int64),
        np.zeros((contacts, 2), dtype=np.bool_), np.zeros((contacts, 2)), np.zeros(n), np.zeros(n), np.zeros((3, 3)),
    )  # fmt: skip


@jit
def pivoting(problem, work, tolerance):
    """Solve a contact problem by pivoting, as `gauss_seidel` does, but that the guess is not used; work: a `PivotWorkspace`.

    Returns (status, pivots, residual in m/s); INCONSISTENT: no impulses meet the law, or pivoting sees none.
    """
    base, n = work.base, 3 * len(problem.mu)
    if n > len(work.q) or not prepare(problem, base, False):
        return TOO_SMALL, 0, math.inf
    W, q, slip, f = work.W[: n * n].reshape((n, n)), work.q[:n], work.slip[: len(problem.mu)], work.f[:n]
    dense(problem, base, W, q)
    for k in range(len(problem.mu)):
        slip[k, 0] = slip[k, 1] = 0.0
    status, pivots, residual = pivot_dense(W, q, problem.mu, slip, f, work, tolerance)
    for k in range(len(problem.mu)):
        for i in range(3):
            problem.impulse[k, i] = f[3 * k + i]
    push_all(problem, base)
    residual, _ = residuals(problem, base)
    move(problem, base)
    return status, pivots, residual


@jit
def pivot_dense(W, q, mu, slip, f, work, tolerance):
    """f of c = W f + q (3 m rows: normal, tangent 1, tangent 2 of each contact) and the law; velocities or accelerations alike.

    slip (m, 2): direction in which a contact slides already, zero where it is still to be found out. Result in f.
    Returns (status, pivots, residual).
    """
    c, shaken = work.c[: len(q)], work.shaken[: len(q)]
    pivots, left, consistent = 0, 0, True
    for shake in (0.0, SHAKE, 100.0 * SHAKE):  # ties can make pivoting go round in circles; there are none nearby
        for i in range(len(q)):
            shaken[i] = q[i] + shake * _size(W, f, q) * (0.5 + (i * GOLDEN) % 1.0)
        made, left, consistent = _take_all(W, shaken, mu, slip, f, work)
        pivots += made
        if left > 0:
            break
    residual = largest_residual(W, q, mu, slip, f, c)
    for _ in range(ATTEMPTS):
        if residual <= tolerance:
            break
        residual = refine_on_cone(W, q, mu, slip, f, work, tolerance)
        if residual <= tolerance:
            break
        sweep_dense(W, q, mu, slip, f, work.block)
        residual = largest_residual(W, q, mu, slip, f, c)
    if residual <= tolerance:
        return CONVERGED, pivots, residual
    return (UNCONVERGED if consistent or left == 0 else INCONSISTENT), pivots, residual


@jit_inner
def _take_all(W, q, mu, slip, f, work):
    """From nothing to all contacts. Returns pivots made, pivots left, and False if nothing ever stopped one."""
    contacts = len(mu)
    bound, consistent = 50 + 30 * contacts, True
    for i in range(3 * contacts):
        f[i], work.c[i] = 0.0, q[i]
    for k in range(contacts):
        work.taken[k] = UNTAKEN
        length = math.hypot(slip[k, 0], slip[k, 1])
        for axis in range(2):
            work.sticks[k, axis] = False
            work.ratio[k, axis] = -slip[k, axis] / length if length > 0.0 else 0.0
    left = bound
    for k in range(contacts):
        left, reached = _take(W, q, mu, slip, f, k, work, left)
        consistent = consistent and reached
    return bound - left, left, consistent


@jit_inner
def _take(W, q, mu, slip, f, k, work, left):
    """Let contact k's normal impulse grow until its velocity is not negative. Returns pivots left; False: nothing stops it."""
    n = len(q)
    c, df, dc = work.c[:n], work.df[:n], work.dc[:n]
    small = ROUNDING * _size(W, f, q)
    if c[3 * k] >= -small:
        work.taken[k] = OPEN
        return left, True
    known = slip[k, 0] != 0.0 or slip[k, 1] != 0.0
    for axis in range(2):
        if not known:
            there = c[3 * k + 1 + axis]
            work.ratio[k, axis] = 0.0 if abs(there) <= small else -math.copysign(1.0, there)
    work.taken[k] = CLOSED
    way, last, last_row = 1.0, -1, -1
    while left > 0:
        left -= 1
        spread = _direction(W, mu, k, way, work)
        event, who, axis, step = _first_event(W, mu, slip, f, k, work, spread)
        if _undoes(event, last) and 3 * who + axis == last_row and step <= 0.0:  # friction: the way on leads back
            way = -way
            spread = _direction(W, mu, k, way, work)
            event, who, axis, step = _first_event(W, mu, slip, f, k, work, spread)
        last, last_row = event, 3 * who + axis
        if event < 0 or (event == LEAVE and who == k):
            work.taken[k] = OPEN
            f[3 * k] = f[3 * k + 1] = f[3 * k + 2] = 0.0
            work.sticks[k, 0] = work.sticks[k, 1] = False
            renew(W, q, f, c)
            return left, event == LEAVE
        for i in range(n):
            f[i] += step * df[i]
            c[i] += step * dc[i]
        row = 3 * who + 1 + axis
        if event == FINISH:
            renew(W, q, f, c)
            return left, True
        if event == LEAVE:
            work.taken[who] = OPEN
            f[3 * who] = f[3 * who + 1] = f[3 * who + 2] = 0.0
            work.sticks[who, 0] = work.sticks[who, 1] = False
        elif event == JOIN:
            work.taken[who] = CLOSED
            c[3 * who] = 0.0
            if slip[who, 0] == 0.0 and slip[who, 1] == 0.0:
                for side in range(2):
                    there = c[3 * who + 1 + side]
                    work.ratio[who, side] = 0.0 if abs(there) <= small else -math.copysign(1.0, there)
        elif event == GRIP:
            work.sticks[who, axis] = True
            c[row] = 0.0
        else:
            work.sticks[who, axis] = False
            work.ratio[who, axis] = 1.0 if event == PLUS else -1.0
            f[row] = work.ratio[who, axis] * mu[who] * f[3 * who]
    return 0, False


@jit_inner
def _undoes(event, last):
    """Whether an event takes back the one before, if it is about the same row."""
    if event == GRIP:
        return last in (PLUS, MINUS)
    if event == PLUS or event == MINUS:
        return last == GRIP
    return (event == JOIN and last == LEAVE) or (event == LEAVE and last == JOIN)


@jit_inner
def _size(W, f, q):
    """The largest term of c = W f + q (m/s): sums are known to `ROUNDING` of it."""
    largest = 0.0
    for i in range(len(q)):
        largest = max(largest, abs(q[i]), W[i, i] * abs(f[i]))
    return largest


@jit_inner
def _column(W, mu, sticks, ratio, i, row):
    """Entry `row` of what row i's impulse makes: a normal impulse brings the friction that is bound to it along."""
    entry, k = W[row, i], i // 3
    if i % 3 == 0:
        for axis in range(2):
            if not sticks[k, axis]:
                entry += ratio[k, axis] * mu[k] * W[row, i + 1 + axis]
    return entry


@jit_inner
def _direction(W, mu, k, way, work):
    """df and dc for a unit more (way 1) or less (-1) of contact k's normal impulse. Returns the size of the terms of dc."""
    n, held = len(W), 0
    df, dc, A, rows = work.df[:n], work.dc[:n], work.system, work.rows
    for j in range(n // 3):
        if work.taken[j] == CLOSED:
            if j != k:
                rows[held] = 3 * j
                held += 1
            for axis in range(2):
                if work.sticks[j, axis]:
                    rows[held] = 3 * j + 1 + axis
                    held += 1
    for i in range(held):
        for j in range(held):
            A[i, j] = _column(W, mu, work.sticks, work.ratio, rows[j], rows[i])
        A[i, held] = -_column(W, mu, work.sticks, work.ratio, 3 * k, rows[i])
    eliminate(A, held)
    clear(df, 0, n)
    df[3 * k] = way
    for i in range(held):
        df[rows[i]] = way * A[i, held]
    spread = 0.0
    for j in range(n // 3):
        for axis in range(2):
            if work.taken[j] == CLOSED and not work.sticks[j, axis]:
                df[3 * j + 1 + axis] = work.ratio[j, axis] * mu[j] * df[3 * j]
    for i in range(n):
        spread += math.sqrt(max(0.0, W[i, i])) * abs(df[i])
        dc[i] = 0.0
        for j in range(n):
            dc[i] += W[i, j] * df[j]
    return spread


@jit_inner
def _first_event(W, mu, slip, f, k, work, spread):
    """What happens first along df: (event, contact, axis, step); event -1: nothing, ever."""
    c, df, dc = work.c, work.df, work.dc
    event, who, which, step = -1, k, 0, math.inf
    if dc[3 * k] > ROUNDING * spread * math.sqrt(W[3 * k, 3 * k]):
        event, step = FINISH, -c[3 * k] / dc[3 * k]
    for j in range(len(mu)):
        i = 3 * j
        noise = ROUNDING * spread * math.sqrt(max(0.0, W[i, i]))
        if work.taken[j] == OPEN and dc[i] < -noise:
            at = max(0.0, c[i]) / -dc[i]
            if at < step:
                event, who, step = JOIN, j, at
        if work.taken[j] != CLOSED:
            continue
        if df[i] < 0.0:
            at = max(0.0, f[i]) / -df[i]
            if at < step:
                event, who, step = LEAVE, j, at
        if mu[j] <= 0.0 or slip[j, 0] != 0.0 or slip[j, 1] != 0.0:
            continue
        for axis in range(2):
            t = i + 1 + axis
            noise = ROUNDING * spread * math.sqrt(max(0.0, W[t, t]))
            ratio = work.ratio[j, axis]
            if work.sticks[j, axis]:
                for sign, name in ((1.0, PLUS), (-1.0, MINUS)):
                    closing = sign * df[t] - mu[j] * df[i]
                    if closing > ROUNDING * (abs(df[t]) + mu[j] * abs(df[i])):
                        at = max(0.0, mu[j] * f[i] - sign * f[t]) / closing
                        if at < step:
                            event, who, which, step = name, j, axis, at
            elif ratio == 0.0:
                if abs(dc[t]) > noise:
                    event, who, which, step = GRIP, j, axis, 0.0
            elif dc[t] * ratio > noise:
                at = max(0.0, -c[t] * ratio) / (dc[t] * ratio)
                if at < step:
                    event, who, which, step = GRIP, j, axis, at
    return event, who, which, step
