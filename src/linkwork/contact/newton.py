"""Newton's method on velocities, for many contacts: augmented Lagrangian of the law, sparse Cholesky factors over groups.

De Saxce's form of the law is f = P(f - rho (c + lift n)) with P the nearest point of the cone |f_t| <= mu f_n, lift = mu |c_t|
and any rho > 0. A round holds f and the lifts on the right, and lets contacts answer velocities like springs that start loaded:

    f(y) = P(f - rho (c(y) + lift n)),   rho = stiffness / scale of the contact.

Then y = G^T f(y) is the minimum of a convex function of y, found by Newton's method with line searches. Its Hessian
1 + G^T rho P' G couples groups that touch, not contacts: redundant contacts, walls and heavy on light do no harm. The minimum
gives the next f and lifts; at a fixed point the law holds as it is, and nothing has become soft. Rounds begin soft, where the
minimum is a few steps away, and stiffen as they succeed. Where bodies rest, the impulses of the last step are the fixed point
already. Lifts of contacts that slide converge linearly; where that is slow, sweeps of Gauss-Seidel help: it is a local matter.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.codegen.struct import Bundle
from linkwork.collision.vectors import long
from linkwork.contact.cholesky import BITS, Factors, connect, factor, factors, find, order, solve
from linkwork.contact.dense_newton import (
    BRISK,
    MOST,
    POLISH,
    POLISHED,
    SMALL,
    SOFT,
    SOFTER,
    SOFTEST_TRIED,
    STEPS,
    STEPS_AT_REST,
    SWEEPS,
    WORTH,
    Few,
    approach_few,
    few,
    solve_few,
    sweep_and_solve_few,
)
from linkwork.contact.gauss_seidel import sweep_contacts
from linkwork.contact.problem import (
    CONVERGED,
    TOO_SMALL,
    UNCONVERGED,
    Workspace,
    build,
    clear,
    move,
    prepare,
    pull,
    push,
    push_all,
    residuals,
    workspace,
)

START, SOFTEST, STIFF, STIFFEST = 30.0, 0.1, 1e3, 1e6  # stiffness of contacts, times their own inverse mass
INNER = 15  # Newton steps a round
MOST_SWEEPS = 100  # of Gauss-Seidel: SWEEPS after a round that failed, or was stiff and gained little, doubled each time
FINE, TIGHT, LOOSE = 1e-9, 1e-5, 1e-3  # parts of the fastest velocity
WEIGHED = 1e-4  # part of what counts as rest, which is what weights give in a step: then forces are as exact as that
ROUGH = 2e-3  # the same, of more than very few contacts that do not determine all forces
NOT_FAR = 5.0  # of what is enough: what these are off by where rounds are not worth it
NEARLY, STILL = 1e-6, 0.002  # m/s, of what hardly moves; part of what counts as rest: what stands
PATIENT_AT_REST, MOST_AT_REST, PATIENT_IN_MOTION, MOST_IN_MOTION = 10, 80, 8, 16  # factorisations
PATIENT_WITH_FEW, MOST_WITH_FEW = 4, 10  # of few contacts, after Newton's method on the law
BEYOND = 0.1  # of what is asked, by rounds
FURTHER = 1e-3  # of what is asked, by Newton's method on the law, which squares what is left
RELAX = 1.3  # of lifts, from round to round
INEXACT = 0.02  # of the residual, left by a round
HALVINGS = 30


class NewtonWorkspace(Bundle):
    """Scratch of `newton`."""

    base: Workspace
    factors: Factors
    ranked: np.ndarray  # (g,) ranks that the factors were laid out for
    centre: np.ndarray  # (m, 3) impulses that springs start with (N s)
    lift: np.ndarray  # (m,) mu |c_t|: what is added to normal velocities (m/s)
    rho: np.ndarray  # (m,) stiffness of contacts: impulse for velocity (kg)
    kept: np.ndarray  # (m, 3) impulses before all rounds (N s)
    c: np.ndarray  # (m, 3) velocities at y (m/s)
    dc: np.ndarray  # (m, 3) their change along the Newton step
    spot: (
        np.ndarray
    )  # (m, 6) where a contact's blocks lie in the panels: aa, its stride, bb, its stride, ab, whether a comes first
    y: np.ndarray  # (6 s,) where Newton's method is
    gradient: np.ndarray  # (6 s,)
    few: Few


def newton_workspace(
    slots: int, groups: int, contacts: int, responses: int, widest: int = 1, panels: int = 0
) -> NewtonWorkspace:
    """Scratch for problems up to this size, as `workspace`; panels: room for factors, numbers (a guess if it is not given).

    >>> newton_workspace(slots=3, groups=2, contacts=8, responses=36 + 144, widest=2).c.shape
    (8, 3)
    """
    return NewtonWorkspace(
        workspace(slots, groups, contacts, responses, widest),
        factors(groups, 6 * slots, panels or 36 * (slots * widest + 20 * slots)),
        np.full(groups, -1, dtype=np.int64),
        np.zeros((contacts, 3)),
        np.zeros(contacts),
        np.zeros(contacts),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 6), dtype=np.int64),
        np.zeros(6 * slots),
        np.zeros(6 * slots),
        few(),
    )


@jit
def newton(problem, work, tolerance, iterations):
    """Solve a contact problem, as `gauss_seidel` does; work: a `NewtonWorkspace`. iterations: most factorisations.

    Returns (status, factorisations, residual in m/s); the residual of every contact is in `work.base.residual`. TOO_SMALL with
    `work.factors.state[2]` > 0: it says how many `panels` the factors need.

    >>> from linkwork.contact.problem import Problem
    >>> one, none, J = np.zeros(1, dtype=np.int32), np.full(1, -1, dtype=np.int32), np.zeros((1, 3, 6))
    >>> J[0, 0, 2] = J[0, 1, 0] = J[0, 2, 1] = 1.0                       # a particle of 2 kg on the floor
    >>> problem = Problem(u=np.array([[3.0, 0, -1, 0, 0, 0]]), first=one, size=one + 1, at=np.zeros(1, dtype=np.int64),
    ...                   R=np.diag([0.5, 0.5, 0.5, 0, 0, 0]).ravel(), slot_a=none, slot_b=one, Ja=np.zeros((1, 3, 6)), Jb=J,
    ...                   mu=np.array([0.5]), target=np.zeros((1, 3)), impulse=np.zeros((1, 3)))
    >>> status, factorisations, residual = newton(problem, newton_workspace(1, 1, 1, 36), 1e-9, 50)
    >>> status, problem.impulse[0, :2].round(6).tolist(), problem.u[0, 0].round(6)
    (0, [2.0, -1.0], np.float64(2.5))
    """
    if not prepare(problem, work.base, True):
        return TOO_SMALL, 0, math.inf
    push_all(problem, work.base)
    residual, active = residuals(problem, work.base)
    return rounds(problem, work, residual, active, tolerance, tolerance, iterations, iterations, False)


@jit
def settle(problem, work, tolerance, slow):
    """As `newton`, as exactly as the motion is worth. Where no body that touches is faster than `slow` (m/s) with the impulses
    that are there, to `tolerance` or NEARLY. Else to a part of the fastest velocity, TIGHT, or of what weights give in a step,
    WEIGHED, if that is less, or to LOOSE where that takes long; sweeps of Gauss-Seidel come first there. (Where all is nearly
    solved they would spread what is left.) From SMALL to MOST contacts, LOOSE or ROUGH will do, and NEARLY where bodies stand.

    Returns (status, factorisations, residual, what would have done)."""
    base = work.base
    if not base.known[0]:
        work.few.gathered[0] = 0
    if not prepare(problem, base, True):
        return TOO_SMALL, 0, math.inf, math.inf
    push_all(problem, base)
    residual, active = residuals(problem, base)
    if not residual < math.inf:  # no number: nothing can be solved, and many iterations would be spent on it
        for k in range(len(problem.mu)):
            clear(problem.impulse[k], 0, 3)
        push_all(problem, base)
        residual, active = residuals(problem, base)
        if not residual < math.inf:
            return UNCONVERGED, 0, math.inf, 0.0
    fastest = _fastest(problem, base)
    if fastest <= slow:
        if 0 < active <= MOST:
            residual, active = _solve_at_rest(problem, work, residual, active, tolerance, slow)
        enough = max(tolerance, ROUGH * slow if SMALL < active <= MOST else NEARLY)
        if SMALL < active <= MOST:
            tolerance = max(tolerance, NEARLY) if _fastest(problem, base) <= STILL * slow else NOT_FAR * enough
        status, steps, residual = rounds(
            problem, work, residual, active, tolerance, enough, PATIENT_AT_REST, MOST_AT_REST, True
        )
        return _told(status, residual, enough), steps, residual, enough
    tight = max(tolerance, min(TIGHT * fastest, WEIGHED * slow))
    enough = max(tight, LOOSE * fastest, ROUGH * slow if SMALL < active <= MOST else 0.0)
    fine = max(tolerance, FINE * fastest)
    residual, active = _sweep_and_solve(problem, work, residual, active, fine, tight, enough, fastest)
    if residual <= enough or active <= MOST:
        tight = NOT_FAR * enough if SMALL < active <= MOST else enough
    status, steps, residual = rounds(problem, work, residual, active, tight, enough, PATIENT_IN_MOTION, MOST_IN_MOTION, True)
    return _told(status, residual, enough), steps, residual, enough


@jit_inline
def _told(status, residual, enough):
    """Whether what was asked is reached: rounds may have been asked for more, or for less."""
    if status == TOO_SMALL:
        return TOO_SMALL
    return CONVERGED if residual <= enough else UNCONVERGED


@jit_inner
def _fastest(problem, base):
    """The velocity of the fastest body, as of the last look (m/s)."""
    square = 0.0
    for slot in range(len(problem.u)):
        u = base.now[slot]
        square = max(square, u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    return math.sqrt(square)


@jit_inner
def _solve_at_rest(problem, work, residual, active, tolerance, slow):
    """Newton's method on the law, for few contacts: (residual, active contacts). Of very few, beyond the tolerance. Else to
    what weights give in a step, ROUGH of it, with proximal steps where it takes them; and then a few of those that square what
    is left, towards LOOSE of the fastest velocity: from step to step what rests comes to the tolerance. What stands is worth
    more of them."""
    base, soft, rough = work.base, SOFT, max(tolerance, ROUGH * slow)
    while residual > tolerance and active <= SMALL and soft <= SOFTEST_TRIED:
        goal = FURTHER * tolerance
        residual, active = solve_few(problem, base, work.few, residual, active, goal, slow, soft, STEPS, math.inf)
        soft *= SOFTER
    if residual > rough and active > SMALL:
        residual, active = solve_few(problem, base, work.few, residual, active, rough, slow, SOFT, STEPS_AT_REST, math.inf)
    if residual > rough and active <= SMALL:
        residual, active = sweep_and_solve_few(problem, base, work.few, residual, active, tolerance, rough, slow)
    if residual > rough and active > SMALL:
        residual, active = approach_few(problem, base, work.few, residual, active, rough, rough)
    fastest = _fastest(problem, base)
    worth = max(tolerance, LOOSE * fastest)
    if SMALL < active <= MOST and worth < residual <= rough:
        goal = FURTHER * worth
        residual, active = solve_few(problem, base, work.few, residual, active, goal, slow, SOFT, POLISH, POLISHED)
    worth = max(worth, BEYOND * NEARLY)
    if SMALL < active <= MOST and residual > worth and fastest <= STILL * slow:
        residual, active = approach_few(problem, base, work.few, residual, active, worth, worth)
    return residual, active


@jit_inner
def _sweep_and_solve(problem, work, residual, active, fine, tight, enough, fastest):
    """Sweeps, and Newton's method on the law where few contacts press: (residual, active contacts). Very few are solved to
    `fine`, many to `enough`, and on to `tight` where sweeps gain briskly."""
    base, before = work.base, math.inf
    if active <= SMALL:
        residual, active = sweep_and_solve_few(problem, base, work.few, residual, active, fine, enough, fastest)
    if active > SMALL:
        residual, active = approach_few(problem, base, work.few, residual, active, tight, enough)
    for _ in range(MOST_SWEEPS):
        if not (active > MOST and residual > tight and (residual > enough or residual < BRISK * before)):
            break
        before = residual
        _, residual, active = sweep_contacts(problem, base, residual, active, tight, SWEEPS)
        if not residual < WORTH * before:  # no gain, or no number
            break
    return residual, active


@jit_inner
def rounds(problem, work, residual, active, tolerance, enough, patient, iterations, hasty):
    """Rounds on a prepared problem until the residual is within `tolerance`, or within `enough` after `patient` iterations;
    hasty: or sooner, as long as few contacts press."""
    base, first = work.base, residual
    stiffness, steps, sweeps, relax = START, 0, SWEEPS, 1.0
    if residual > tolerance:
        for k in range(len(problem.mu)):
            for i in range(3):
                work.kept[k, i] = problem.impulse[k, i]
            if not base.there[k]:
                build(problem, base, k)
        if not _arrange(problem, work):
            return TOO_SMALL, 0, math.inf
    clear(work.lift, 0, len(problem.mu))
    while residual < math.inf:
        few_press = hasty and active <= MOST
        bound = tolerance if steps < (PATIENT_WITH_FEW if few_press else patient) else enough
        if residual <= bound or steps >= (MOST_WITH_FEW if few_press else iterations):
            break
        stiffness = min(max(stiffness, SOFTEST), STIFFEST)
        made, minimal = _round(problem, work, stiffness, relax, max(BEYOND * tolerance, INEXACT * residual), iterations - steps)
        push_all(problem, base)
        after, pressing = residuals(problem, base)
        steps += max(1, made)
        if after < residual or (minimal and after < 2.0 * residual):
            slow, relax = stiffness >= STIFF and after > 0.5 * residual, RELAX
            residual, active = after, pressing
            stiffness *= 10.0 if made <= 2 else 3.0 if made <= 5 else 1.0 if made <= 10 else 0.3
        else:
            slow, stiffness = True, 0.1 * stiffness
            for k in range(len(problem.mu)):
                for i in range(3):
                    problem.impulse[k, i] = work.centre[k, i]
            push_all(problem, base)
            residual, active = residuals(problem, base)
        sweeps = min(2 * sweeps, MOST_SWEEPS) if slow else SWEEPS
        if slow and not residual <= tolerance:
            _, residual, active = sweep_contacts(problem, base, residual, active, tolerance, sweeps)
    if residual > first:
        for k in range(len(problem.mu)):
            for i in range(3):
                problem.impulse[k, i] = work.kept[k, i]
        push_all(problem, base)
        residual, active = residuals(problem, base)
    move(problem, base)
    return (CONVERGED if residual <= tolerance else UNCONVERGED), steps, residual


@jit_inner
def _arrange(problem, work):
    """Order the groups for elimination, unless they touch as they did before. False: no room for the factors."""
    F, base, groups = work.factors, work.base, len(problem.first)
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
        same = same and work.ranked[g] == base.rank[g]
        work.ranked[g] = base.rank[g]
        for w in range(words):
            same = same and F.graph[g, w] == F.filled[g, w]
            F.graph[g, w] = F.filled[g, w]
    if not same:
        F.state[0] = -1
        if not order(F, groups, base.rank):
            return False
        F.state[0] = groups
    for k in range(len(problem.mu)):
        _place(F, base.group, problem.slot_a[k], problem.slot_b[k], base.side[k], work.spot[k])
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
def _round(problem, work, stiffness, relax, tolerance, iterations):
    """From impulses to those of the minimum around them. Returns the Newton steps made, and whether it was reached."""
    base = work.base
    contacts, coordinates = len(problem.mu), base.y_at[len(problem.first)]
    for k in range(contacts):
        for i in range(3):
            work.centre[k, i] = problem.impulse[k, i]
    y = work.y
    for i in range(coordinates):
        y[i] = base.y[i]
    _velocities(problem, work)
    for k in range(contacts):
        work.rho[k] = stiffness / base.scale[k] if base.scale[k] > 0.0 else 0.0
        slip = problem.mu[k] * long(work.c[k, 1], work.c[k, 2])
        work.lift[k] = max(0.0, work.lift[k] + relax * (slip - work.lift[k]))
    for step in range(min(INNER, iterations) + 1):
        _gradient(problem, work)
        small = _largest_velocity(problem, work) <= tolerance
        if small or step == min(INNER, iterations):
            return step, small
        _hessian(problem, work)
        x = work.factors.x
        for i in range(coordinates):
            x[i] = -work.gradient[i]
        factor(work.factors, len(problem.first), base.rank)
        solve(work.factors, len(problem.first), base.rank, base.y_at)
        along = _line_search(problem, work, coordinates)
        if not along > 0.0:
            return step + 1, False
        for i in range(coordinates):
            y[i] += along * x[i]
        for k in range(contacts):
            for i in range(3):
                work.c[k, i] += along * work.dc[k, i]
    return iterations, False


@jit_inner
def _velocities(problem, work):
    base = work.base
    for k in range(len(problem.mu)):
        c0, c1, c2 = pull(base.G, base.side[k], work.y)
        work.c[k, 0], work.c[k, 1], work.c[k, 2] = c0 + base.c0[k, 0], c1 + base.c0[k, 1], c2 + base.c0[k, 2]


@jit_inner
def _answer(centre, c, dc, lift, rho, mu, along):
    """Loaded springs at c + along dc: impulses f = P(z), and the entries 00 01 02 11 12 22 of P'."""
    z0 = centre[0] - rho * (c[0] + lift + along * dc[0])
    z1 = centre[1] - rho * (c[1] + along * dc[1])
    z2 = centre[2] - rho * (c[2] + along * dc[2])
    if mu < 0.0:
        held = 1.0 if abs(z0) <= -mu else 0.0
        return min(max(z0, mu), -mu), 0.0, 0.0, held, 0.0, 0.0, 0.0, 0.0, 0.0
    if mu <= 0.0:
        pressed = 1.0 if z0 > 0.0 else 0.0
        return pressed * z0, 0.0, 0.0, pressed, 0.0, 0.0, 0.0, 0.0, 0.0
    length = long(z1, z2)
    if length <= mu * z0:
        return z0, z1, z2, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0
    p0 = 1.0 / (1.0 + mu * mu)
    normal = (z0 + mu * length) * p0
    if normal <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    e1, e2, g, h = z1 / length, z2 / length, mu * mu * p0, mu * normal / length
    m1, m2 = mu * e1, mu * e2
    return (
        normal, normal * m1, normal * m2,
        p0, p0 * m1, p0 * m2, g * e1 * e1 + h * e2 * e2, (g - h) * e1 * e2, g * e2 * e2 + h * e1 * e1,
    )  # fmt: skip


@jit_inner
def _gradient(problem, work):
    """y - G^T f(y); impulses f(y) go into the problem."""
    base = work.base
    coordinates = base.y_at[len(problem.first)]
    for i in range(coordinates):
        work.gradient[i] = work.y[i]
    for k in range(len(problem.mu)):
        answer = _answer(work.centre[k], work.c[k], work.dc[k], work.lift[k], work.rho[k], problem.mu[k], 0.0)
        f0, f1, f2 = answer[0], answer[1], answer[2]
        f = problem.impulse[k]
        f[0], f[1], f[2] = f0, f1, f2
        push(base.G, base.side[k], work.gradient, -f0, -f1, -f2)


@jit_inner
def _largest_velocity(problem, work):
    """The largest velocity of a contact that the gradient stands for."""
    worst = 0.0
    for k in range(len(problem.mu)):
        c0, c1, c2 = pull(work.base.G, work.base.side[k], work.gradient)
        worst = max(worst, abs(c0), abs(c1), abs(c2))
    return worst


@jit_inner
def _hessian(problem, work):
    """1 + G^T rho P' G into the panels."""
    base, F = work.base, work.factors
    groups = len(problem.first)
    clear(F.panels, 0, F.panel_at[groups])
    for p in range(groups):
        for i in range(base.rank[F.turn[p]]):
            F.panels[F.panel_at[p] + i * (F.width[p] + 1)] = 1.0
    for k in range(len(problem.mu)):
        rho = work.rho[k]
        f0, f1, f2, p00, p01, p02, p11, p12, p22 = _answer(
            work.centre[k], work.c[k], work.dc[k], work.lift[k], rho, problem.mu[k], 0.0
        )
        if p00 + p11 + p22 > 0.0:
            h = (rho * p00, rho * p01, rho * p02, rho * p11, rho * p12, rho * p22)
            _add(base.G, base.side[k], work.spot[k], h, F.panels)


@jit_inner
def _add(G, side, spot, h, panels):
    """G_k^T h G_k into the panels."""
    at, ra, rb = side[0], side[2], side[4]
    A, B = G[at : at + 3 * ra], G[at + 3 * ra : at + 3 * (ra + rb)]
    if ra > 0:
        _add_block(A, ra, A, ra, h, panels[spot[0] :], spot[1])
    if rb > 0:
        _add_block(B, rb, B, rb, h, panels[spot[2] :], spot[3])
    if ra > 0 and rb > 0:
        if spot[5]:
            _add_block(A, ra, B, rb, h, panels[spot[4] :], spot[1])
        else:
            _add_block(B, rb, A, ra, h, panels[spot[4] :], spot[3])


@jit_inner
def _add_block(A, ra, B, rb, h, block, stride):
    """block += A^T h B."""
    h00, h01, h02, h11, h12, h22 = h
    for i in range(ra):
        a0, a1, a2 = A[i], A[ra + i], A[2 * ra + i]
        s0, s1, s2 = h00 * a0 + h01 * a1 + h02 * a2, h01 * a0 + h11 * a1 + h12 * a2, h02 * a0 + h12 * a1 + h22 * a2
        row, B0, B1, B2 = block[i * stride : i * stride + rb], B[:rb], B[rb : 2 * rb], B[2 * rb : 3 * rb]
        for j in range(rb):
            row[j] += s0 * B0[j] + s1 * B1[j] + s2 * B2[j]


@jit_inner
def _line_search(problem, work, coordinates):
    """How far to go along x: where the slope of a convex function vanishes, nearly. The change of velocities goes into dc."""
    base, x, y = work.base, work.factors.x, work.y
    for k in range(len(problem.mu)):
        work.dc[k, 0], work.dc[k, 1], work.dc[k, 2] = pull(base.G, base.side[k], x)
    yx = xx = 0.0
    for i in range(coordinates):
        yx += y[i] * x[i]
        xx += x[i] * x[i]
    start, _ = _slope(problem, work, yx, xx, 0.0)
    low, high, along = 0.0, math.inf, 1.0
    for _ in range(HALVINGS):
        slope, curvature = _slope(problem, work, yx, xx, along)
        if abs(slope) <= 0.1 * abs(start):
            break
        if slope < 0.0:
            low = along
        else:
            high = along
        along -= slope / curvature
        if not low < along < high:
            along = 0.5 * (low + high) if high < math.inf else 2.0 * low
    return along


@jit_inner
def _slope(problem, work, yx, xx, along):
    """First and second derivative of the convex function along x."""
    slope, curvature = yx + along * xx, xx
    for k in range(len(problem.mu)):
        d = work.dc[k]
        f0, f1, f2, p00, p01, p02, p11, p12, p22 = _answer(
            work.centre[k], work.c[k], d, work.lift[k], work.rho[k], problem.mu[k], along
        )
        d0, d1, d2 = d[0], d[1], d[2]
        slope -= f0 * d0 + f1 * d1 + f2 * d2
        bent = d0 * (p00 * d0 + 2 * (p01 * d1 + p02 * d2)) + p11 * d1 * d1 + 2 * p12 * d1 * d2 + p22 * d2 * d2
        curvature += work.rho[k] * bent
    return slope, curvature
