"""The contact solver: proximal steps on the impulses, and in each Newton's method for the exact law over velocities.

A proximal step holds impulses, its centre, and solves

    r(y) = y - G^T F(centre - rho (c0 + G y)) = 0,   rho = stiffness / inverse mass of the contact,

with F the law as a map (`law.py`); what F gives is the next centre. At a fixed point f = F(f - rho c): the law holds as it is,
Signorini's conditions, Coulomb's cone and friction against slip, and nothing has become soft. Newton's method for r is
semismooth, so that near a solution each step squares what is left; a search for x . r = 0 keeps steps in bounds far from it.
Steps are made over contacts or over bodies, whichever system is smaller: they are the same steps.

Why it converges. Without friction, and while friction sticks, F is the nearest point of a convex set: r is then the gradient
of a convex function, its derivative A is symmetric and at least 1, the search is one for the minimum, and the outer iteration
is Rockafellar's proximal point method, which converges from anywhere, at a rate 1 / (1 + stiffness * the least eigenvalue of W
that counts): hence stiffness grows as long as Newton's method keeps up. Redundant impulses stay as near as can be to where they
were, so that forces are continuous in time. Where contacts slide F is not monotone and no such proof is known. What is safe
then: for small stiffness y -> G^T F(centre - rho c) is a contraction, r = 0 has one solution, and Newton's method starts near
it. So a step that fails, or that leaves three times the residual, is not taken; stiffness falls to a tenth, and exact sweeps
over single contacts (Gauss-Seidel) go on from the centre where they gain. From there stiffness grows by bisection, on a
logarithmic scale, towards what failed: how stiff a step may be changes slowly, and steps that fail are half the work otherwise.
Work is bounded, the best impulses are kept, and their residual is told.

Targets that cannot be met (overlap to be taken back between what does not move) show as impulses that grow while velocities
stay: proximal steps then go to velocities as near as can be. A row that has pressed so for three steps has its target given up.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.contact.elimination import MOST
from linkwork.contact.gauss_seidel import sweep_contacts
from linkwork.contact.law import Taken, advance, answer_all, hold, largest_off, search, taken
from linkwork.contact.over_bodies import (
    Over,
    arrange,
    differ_over_bodies,
    go_over_bodies,
    over,
    start_over_bodies,
    step_over_bodies,
)
from linkwork.contact.over_contacts import (
    Few,
    differ_over_contacts,
    few,
    gather,
    go_over_contacts,
    start_over_contacts,
    step_over_contacts,
)
from linkwork.contact.problem import (
    CONVERGED,
    INCONSISTENT,
    TOO_SMALL,
    UNCONVERGED,
    Workspace,
    clear,
    law_residual,
    law_residual_of_companion,
    workspace,
)
from linkwork.contact.unit_mass import build, move, prepare, push_all, residuals

START, NEAR = 100.0, 1e4  # stiffness to begin with, times a contact's own inverse mass; NEAR: where impulses will do already
SOFTEST, STIFFEST = 0.3, 1e6  # the same
STIFFER, SOFTER, EASY = 10.0, 0.1, 3  # times that, after a step of at most EASY of Newton's, and after one that failed
AGAIN = 2.0  # times as stiff, after each step, may the next one be for which the last one failed; part of the residual at which
# sweeps were in vain that must be left before others
INNER = 10  # of Newton's steps in a proximal step
INEXACT = 0.01  # part of the residual that a proximal step may leave
GAIN = 0.25  # of r . r: a whole step of Newton's that leaves no more is taken without a search
NO_GAIN, MUCH_WORSE = 0.9, 3.0  # of the residual: what a step that failed, and any step, must come below
SWEEPS, SWEEPS_OF_MANY = 6, 30  # of Gauss-Seidel, with at most MOST contacts and with more
UNMET, UNMET_APART = 1e3, 1e4  # stiffness from which targets are given up: of rows that take back overlap, and of others
MISSED, GROWN, STEADY = 10.0, 0.5, 0.03  # parts: of what will do, by which such a row misses its target at least; of rho times
# that, by which its impulse grows; and of that, by which it changes at most
PRESSED = 2  # proximal steps after the first one in which a row has pressed so


class ProximalWorkspace(Struct):
    """Scratch of the solver."""

    base: Workspace
    work: Taken
    few: Few
    over: Over
    best: np.ndarray  # (m, 3) the best impulses (N s)
    before: np.ndarray  # (m, 3) those before sweeps
    start: np.ndarray  # (m, 3) those at the start
    pressed: np.ndarray  # (m,) int64: proximal steps in which a row has pressed in vain
    missed: np.ndarray  # (m,) m/s: by which it missed its target in the last one
    given_up: np.ndarray  # (m,) int64: whether the target of a row was given up
    unmet: np.ndarray  # (1,) int64: one more than the first row of which the target was given up, 0: none


def proximal_workspace(
    slots: int, groups: int, contacts: int, responses: int, widest: int = 1, panels: int = 0
) -> ProximalWorkspace:
    """Scratch for problems up to this size, as `workspace`; panels: room for factors, numbers (a guess if it is not given).

    >>> proximal_workspace(slots=3, groups=2, contacts=8, responses=36 + 144, widest=2).work.c.shape
    (8, 3)
    """
    panels = panels or 36 * (slots * widest + 20 * slots)
    base = workspace(slots, groups, contacts, responses, widest)
    return ProximalWorkspace(base, taken(contacts), few(), over(slots, groups, contacts, panels), np.zeros((contacts, 3)),
                             np.zeros((contacts, 3)), np.zeros((contacts, 3)), np.zeros(contacts, dtype=np.int64),
                             np.zeros(contacts), np.zeros(contacts, dtype=np.int64), np.zeros(1, dtype=np.int64))  # fmt: skip


@jit
def proximal(problem, s, tolerance, iterations):
    """Solve a contact problem, as `gauss_seidel` does; s: a `ProximalWorkspace`. iterations: most factorisations.

    Returns (status, factorisations, residual in m/s); the residual of every contact is in `s.base.residual`.
    INCONSISTENT: some targets were given up, and it is the residual without them. TOO_SMALL with
    `s.over.factors.state[2]` > 0: it says how many `panels` the factors need.

    >>> from linkwork.contact.problem import Problem
    >>> one, none, J = np.zeros(1, dtype=np.int32), np.full(1, -1, dtype=np.int32), np.zeros((1, 3, 6))
    >>> J[0, 0, 2] = J[0, 1, 0] = J[0, 2, 1] = 1.0                       # a particle of 2 kg on the floor
    >>> problem = Problem(u=np.array([[3.0, 0, -1, 0, 0, 0]]), first=one, size=one + 1, at=np.zeros(1, dtype=np.int64),
    ...                   R=np.diag([0.5, 0.5, 0.5, 0, 0, 0]).ravel(), slot_a=none, slot_b=one, Ja=np.zeros((1, 3, 6)), Jb=J,
    ...                   mu=np.array([0.5]), target=np.zeros((1, 3)), impulse=np.zeros((1, 3)), compliance=np.zeros(1),
    ...                   follows=np.full(1, -1))
    >>> status, factorisations, residual = proximal(problem, proximal_workspace(1, 1, 1, 36), 1e-9, 50)
    >>> status, problem.impulse[0, :2].round(6).tolist(), problem.u[0, 0].round(6)
    (0, [2.0, -1.0], np.float64(2.5))
    """
    residual, active = begin(problem, s)
    if active < 0:
        return TOO_SMALL, 0, math.inf
    steps, residual = improve(problem, s, residual, active, tolerance, tolerance, iterations, iterations)
    if steps < 0:
        return TOO_SMALL, 0, math.inf
    if s.unmet[0] > 0:
        s.unmet[0] = 0
        return INCONSISTENT, steps, residual
    return (CONVERGED if residual <= tolerance else UNCONVERGED), steps, residual


@jit_inner
def begin(problem, s):
    """The residual of the impulses that are there, or of none where that is no number, and how many contacts press or approach;
    -1 of them: the workspace is too small."""
    base = s.base
    if not base.known[0]:
        s.few.gathered[0] = 0
    if not prepare(problem, base, True):
        return math.inf, -1
    push_all(problem, base)
    residual, active = residuals(problem, base)
    if not residual < math.inf:
        for k in range(len(problem.mu)):
            clear(problem.impulse[k], 0, 3)
        push_all(problem, base)
        residual, active = residuals(problem, base)
    return residual, active


@jit_inner
def improve(problem, s, residual, active, tight, enough, patient, most):
    """From impulses of this residual to better ones: within `tight`, or after `patient` factorisations within `enough`. Sweeps
    come first where they are not, unless there are no impulses yet: these would lead astray. Returns (factorisations, or -1
    where there is no room for them; residual)."""
    base, work, steps, stiffness = s.base, s.work, 0, START if residual > enough else NEAR
    best, failed, vain = residual, math.inf, math.inf
    _copy(problem.impulse, s.best, len(problem.mu))
    if residual > tight:
        _copy(problem.impulse, s.start, len(problem.mu))
        for k in range(len(problem.mu)):
            s.pressed[k] = s.given_up[k] = 0
    if math.inf > residual > enough and _is_warm(problem):
        residual, active = _sweep(problem, s, residual, active, tight)
    while residual < math.inf and residual > (tight if steps < patient else enough) and steps < most:
        count = _take(problem, base, work, active)
        over_contacts = count <= MOST and 3 * count <= base.y_at[len(problem.first)]
        if over_contacts:
            gather(problem, base, work, s.few, count)
        elif not arrange(problem, base, s.over):
            _copy(s.best, problem.impulse, len(problem.mu))
            return -1, math.inf
        hold(problem, base.scale, work, count, stiffness)
        made, solved = _newton(problem, s, count, over_contacts, max(tight, residual), min(INNER, most - steps))
        steps += made
        now = _distance(problem, base, work, count)
        if (not solved and now > NO_GAIN * residual) or not now <= MUCH_WORSE * residual:
            if stiffness > SOFTEST:
                failed, stiffness = stiffness, max(SOFTER * stiffness, SOFTEST)
                best = _keep(problem, s, residual, best)
                if AGAIN * residual < vain:
                    residual, active = _sweep(problem, s, residual, active, tight)
                    vain = residual
                continue
            if not now < math.inf:
                break
        if stiffness >= UNMET and _give_up(problem, s, count, stiffness, enough):
            _copy(s.start, problem.impulse, len(problem.mu))
            best, stiffness = math.inf, START
        else:
            best = _keep(problem, s, residual, best)
            for i in range(count):
                k = work.taken[i]
                for r in range(3):
                    problem.impulse[k, r] = work.answer[k, r]
            if made <= EASY:
                failed *= AGAIN
                stiffness = min(STIFFER * stiffness, STIFFEST, max(stiffness, math.sqrt(stiffness * failed)))
        push_all(problem, base)
        residual, active = residuals(problem, base)
        if residual <= enough:
            stiffness = max(stiffness, NEAR)
    if not residual <= best:
        _copy(s.best, problem.impulse, len(problem.mu))
        push_all(problem, base)
        residual, _ = residuals(problem, base)
    move(problem, base)
    return steps, residual


@jit_inline
def _is_warm(problem):
    for k in range(len(problem.mu)):
        if problem.impulse[k, 0] != 0.0:
            return True
    return False


@jit_inline
def _copy(from_, to, m):
    for k in range(m):
        to[k, 0], to[k, 1], to[k, 2] = from_[k, 0], from_[k, 1], from_[k, 2]


@jit_inner
def _keep(problem, s, residual, best):
    """Remember impulses if they are the best ones so far; returns the residual of these."""
    if not residual < best:
        return best
    _copy(problem.impulse, s.best, len(problem.mu))
    return residual


@jit_inner
def _sweep(problem, s, residual, active, tolerance):
    """Sweeps of Gauss-Seidel, where they gain: (residual, active contacts)."""
    base = s.base
    _copy(problem.impulse, s.before, len(problem.mu))
    sweeps = SWEEPS if active <= MOST else SWEEPS_OF_MANY
    _, after, pressing = sweep_contacts(problem, base, residual, active, tolerance, sweeps)
    if after < residual:
        return after, pressing
    _copy(s.before, problem.impulse, len(problem.mu))
    push_all(problem, base)
    return residuals(problem, base)


@jit_inner
def _give_up(problem, s, count, stiffness, enough):
    """Give up the targets of rows that press in vain; whether there are any, so that all begins anew."""
    base, work, some = s.base, s.work, False
    for i in range(count):
        k = work.taken[i]
        if problem.mu[k] < 0.0 or problem.compliance[k] > 0.0 or problem.follows[k] >= 0:
            continue
        if not (problem.target[k, 0] > 0.0 or stiffness >= UNMET_APART):
            continue
        missed = work.off[k, 0] - work.c[k, 0]
        grown = work.answer[k, 0] - work.centre[k, 0]
        presses = missed > MISSED * enough and grown > GROWN * work.rho[k, 0] * missed
        steady = abs(missed - s.missed[k]) < STEADY * missed
        s.pressed[k] = s.pressed[k] + 1 if presses and (steady or s.pressed[k] == 0) else 0
        s.missed[k] = missed
        some = some or s.pressed[k] > PRESSED
    if not some:
        return False
    for i in range(count):
        k = work.taken[i]
        if s.pressed[k] > 1:
            given = problem.target[k, 0] if problem.target[k, 0] > 0.0 else s.missed[k]
            base.c0[k, 0] += given
            problem.target[k, 0] -= given
            s.given_up[k] = 1
            if s.unmet[0] == 0:
                s.unmet[0] = k + 1
        s.pressed[k] = 0
    return True


@jit_inner
def _take(problem, base, work, active):
    """The contacts that take part in the next proximal step: those that press or approach, and of many all, as others would
    press as soon as they are solved. Returns how many."""
    if len(problem.mu) <= MOST:
        for i in range(active):
            work.taken[i] = base.active[i]
        return active
    count = 0
    for k in range(len(problem.mu)):
        if not base.there[k]:
            build(problem, base, k)
        if base.scale[k] > 0.0:
            work.taken[count] = k
            count += 1
    return count


@jit_inner
def _newton(problem, s, count, over_contacts, residual, most):
    """Newton's method for the velocities of a proximal step: (steps, whether they were found)."""
    base, work = s.base, s.work
    coordinates = base.y_at[len(problem.first)]
    if over_contacts:
        start_over_contacts(problem, base, work, s.few, count)
    else:
        start_over_bodies(problem, base, work, s.over, count)
    square = _differ(problem, s, count, over_contacts)
    made = 0
    while made == 0 or not largest_off(work, count) <= INEXACT * residual:
        if made == most:
            return made, False
        if over_contacts:
            there, yx, xx = step_over_contacts(problem, base, work, s.few, count)
        else:
            there, yx, xx = step_over_bodies(problem, base, work, s.over, count)
        made += 1
        if not there:
            return made, False
        _go(s, count, over_contacts, coordinates, 1.0)
        after = _differ(problem, s, count, over_contacts)
        if not after <= GAIN * square:
            _go(s, count, over_contacts, coordinates, -1.0)
            along = search(problem, work, count, yx, xx)
            _go(s, count, over_contacts, coordinates, along)
            after = _differ(problem, s, count, over_contacts)
            if along == 0.0:
                return made, False
        square = after
    return made, True


@jit_inner
def _differ(problem, s, count, over_contacts):
    answer_all(problem, s.work, count)
    if over_contacts:
        return differ_over_contacts(s.work, s.few, count)
    return differ_over_bodies(problem, s.base, s.work, s.over, count)


@jit_inner
def _go(s, count, over_contacts, coordinates, along):
    advance(s.work, count, along)
    if over_contacts:
        go_over_contacts(s.few, count, along)
    else:
        go_over_bodies(s.over, coordinates, along)


@jit_inner
def _distance(problem, base, work, count):
    """How far the impulses F are from the law with the velocities that they make, among the contacts that are taken (m/s)."""
    worst = 0.0
    for i in range(count):
        k = work.taken[i]
        f, c, off = work.answer[k], work.c[k], work.off[k]
        c0 = c[0] - off[0] + problem.compliance[k] * f[0]
        lead = problem.follows[k]
        if lead < 0:
            there = law_residual(f[0], f[1], f[2], c0, c[1] - off[1], c[2] - off[2], problem.mu[k], base.scale[k])
        else:
            push, own = work.answer[lead, 0], base.scale[k]
            c0 = work.c[lead, 0] - work.off[lead, 0] + problem.compliance[lead] * push
            radius = problem.mu[k] * own * max(0.0, push - c0 / base.scale[lead])
            there = law_residual_of_companion(f[1], f[2], c[1] - off[1], c[2] - off[2], radius, own)
        worst = max(worst, there) if there == there else math.inf
    return worst
