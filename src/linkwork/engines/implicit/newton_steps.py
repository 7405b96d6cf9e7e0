"""Compiled attempts of backward Euler: Newton's method, halved and extrapolated displacements, contact in each iteration."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import check_interrupt, jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.contact.hook import ACCEPTED, OPENING, REPEAT, ContactHook, call_contact, has_contact, look_anew
from linkwork.engines.implicit.one_iteration import SingleIteration, move_once, solve_once
from linkwork.engines.scalars import HALF, ITERATIONS, KICK, POWER_WEIGHT, TIME, WORST
from linkwork.engines.step_driver import IMPULSES, IS_FIRST, IS_LAST, OK, REJECTED, STUCK, StepTable

NEWTON = 40  # iterations of a substep; one that needs more is rejected
# The displacements that two iterations ask for are compared. If the second is larger than
SLOW = 0.1  # of the first, the iteration converges slowly, and secants (Anderson's method) speed it up
WILD = 4.0  # times the first, and no secants are used, half of the first is taken back, as often as
HALVINGS = 3  # times
# Where the second leads back by more than
STALLED = 0.9  # of the first, that one went too far: half of it is taken back, as often as
BISECTIONS = 12  # times
EARLY = 4  # iterations without secants: the equations are still far from linear
STRETCH = 1e3  # a secant with a larger weight is not used: its two displacements hardly differ
LOST = 1e150  # a larger displacement has diverged
NOISE = 10.0  # factor on (error of contact velocities) x h: iterations do not make displacements much smaller than that
UNSEEN = (1e300, 0, 0)  # largest displacement, displacements known, halvings: before the first iteration
ITERATIONS_ASKED, SECANTS = range(2)  # flags


class NewtonPlan(Struct):
    """What is the same in every call. Without contact `first_motion` and `motion` are parts of the sweeps before them."""

    kernels: np.ndarray  # addresses of the kernels of all sweeps
    first_up: np.ndarray  # the first iteration
    first_down: np.ndarray
    first_motion: np.ndarray
    up: np.ndarray  # further iterations
    down: np.ndarray
    motion: np.ndarray
    shift: np.ndarray  # moves bodies by the displacement in `places`
    accept: np.ndarray
    restore: np.ndarray
    work_done: np.ndarray
    check_collapse: np.ndarray  # notes collapsed bodies
    count: np.ndarray  # counts turns, and notes collapsed bodies
    places: np.ndarray  # int64: entries of the displacements
    rows: np.ndarray  # (4, places) scratch: the last two displacements that were asked for, and the last two that were made
    multipliers: np.ndarray  # int64: entries
    tolerance: np.ndarray  # (1,) m, rad
    flags: np.ndarray  # (2,) int64: the iterations (0: until the tolerance is met), whether secants may help
    once: SingleIteration
    hook: ContactHook
    steps: StepTable


@jit_inner
def open_contact(work, table, hook, h):
    """The first phase of contact, at the places of the beginning: what bounds them is where it was then."""
    end = work[TIME]
    work[TIME] = end - h
    failed = call_contact(work, table, hook, h, OPENING)
    work[TIME] = end
    return failed


@jit_inner
def converge(work, plan, h):
    """Iterate until all residuals are below the tolerance, or as often as the user has asked for. Returns OK, REJECTED where
    the method does not converge, or STUCK. A single iteration is not checked. In contact every iteration solves the law of
    contact anew, for the velocities that it finds at the end of the step; the first one finds contacts and what bounces."""
    table, hook, iterations = plan.kernels, plan.hook, plan.flags[ITERATIONS_ASKED]
    touches = has_contact(hook)
    work[ITERATIONS] = 1.0
    if iterations == 1:
        way = solve_once(work, table, plan.once)
        if touches and open_contact(work, table, hook, h):
            return STUCK
        move_once(work, table, plan.once, way)
        return OK
    sweep(work, table, plan.first_up, True)
    sweep(work, table, plan.first_down, True)
    if touches and open_contact(work, table, hook, h):
        return STUCK
    sweep(work, table, plan.first_motion, True)
    seen, secants = UNSEEN, touches or plan.flags[SECANTS] > 0
    for _ in range(1, most_iterations(iterations)):
        check_interrupt(work.shape[0])
        work[WORST] = 0.0
        sweep(work, table, plan.up, True)
        sweep(work, table, plan.down, True)
        if touches and call_contact(work, table, hook, h, REPEAT):
            return STUCK
        sweep(work, table, plan.motion, True)
        work[ITERATIONS] += 1.0
        worst = work[WORST]
        if not worst < LOST:
            return REJECTED
        if worst <= max(plan.tolerance[0], NOISE * h * hook.noise[0]):
            return OK
        seen = adjust(work, table, plan.shift, plan.places, plan.rows, secants, seen)
    return OK if iterations > 1 else REJECTED


@jit_inner
def most_iterations(iterations):
    """The number of iterations after which a substep is rejected."""
    return iterations if iterations > 1 else NEWTON


@jit_inner
def adjust(work, table, shift, places, rows, secants, seen):
    """Halve or extrapolate the displacement of an iteration, where that helps. `seen`: the largest displacement of the
    iteration before, how many are known (2 at most), and how often the last one was halved; returned for the next call."""
    before, known, halvings = seen
    worst = work[WORST]
    wild = not secants and worst > WILD * before and halvings < HALVINGS
    if known > 0 and (wild or (worst > STALLED * before and halvings < BISECTIONS and _reversed(work, places, rows))):
        _halve(work, places, rows)
        _shift(work, table, shift, places, rows)
        return before, known, halvings + 1
    if _search(work, places, rows, known, worst > before, secants and work[ITERATIONS] > EARLY and worst > SLOW * before):
        _shift(work, table, shift, places, rows)
    return worst, min(known + 1, 2), 0


@jit_inner
def _shift(work, table, shift, places, rows):
    """Move the bodies by the displacement in `places`. The one that was asked for goes back there, for reports."""
    sweep(work, table, shift)
    for k in range(places.shape[0]):
        work[places[k]] = rows[0, k]


@jit_inner
def _halve(work, places, rows):
    """Move the bodies back from the sum of the last two displacements to half of the first of these."""
    for k in range(places.shape[0]):
        rows[2, k] *= 0.5
        work[places[k]] = -work[places[k]] - rows[2, k]


@jit_inner
def _reversed(work, places, rows):
    """Whether the displacement that is asked for points back along the last one that was made."""
    along, asked, made = 0.0, 0.0, 0.0
    for k in range(places.shape[0]):
        along += work[places[k]] * rows[2, k]
        asked += work[places[k]] ** 2
        made += rows[2, k] ** 2
    return along < 0.0 and along * along > 0.95 * asked * made


@jit_inner
def _search(work, places, rows, known, grew, slow):
    """Find what to add to the displacement that was just made: minus half of it where it has grown, an extrapolation by
    secants where it has hardly become smaller. Returns whether there is anything to add."""
    first, second = (0.0, 0.0) if grew or not slow or known == 0 else _secants(work, places, rows, known)
    moved = grew or first != 0.0 or second != 0.0
    for k in range(places.shape[0]):
        asked = work[places[k]]
        more = -0.5 * asked if grew else 0.0
        if first != 0.0:
            more -= first * (asked - rows[0, k] + rows[2, k])
        if second != 0.0:
            more -= second * (rows[0, k] - rows[1, k] + rows[3, k])
        rows[1, k], rows[0, k] = rows[0, k], asked
        rows[3, k], rows[2, k] = rows[2, k], asked + more
        if moved:
            work[places[k]] = more
    return moved


@jit_inner
def _secants(work, places, rows, known):
    """Weights of the last one or two changes of what is asked for, so that as little as can be remains of it (Anderson)."""
    a, b, c, p, q = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(places.shape[0]):
        asked = work[places[k]]
        one = asked - rows[0, k]
        other = rows[0, k] - rows[1, k] if known > 1 else 0.0
        a += one * one
        b += one * other
        c += other * other
        p += one * asked
        q += other * asked
    least = 1e-14 * (a + c)
    determinant = (a + least) * (c + least) - b * b
    if not determinant > 0.0:
        return 0.0, 0.0
    first, second = (p * (c + least) - q * b) / determinant, (q * (a + least) - p * b) / determinant
    if not (abs(first) < STRETCH and abs(second) < STRETCH):
        return 0.0, 0.0
    return first, second


@jit
def attempt(work, plan, h, start):
    """A substep; REJECTED where Newton's method does not converge."""
    table, hook, now = plan.kernels, plan.hook, plan.steps.now
    work[POWER_WEIGHT], work[KICK], work[TIME], work[HALF] = 1.0, h, start + h, start + h
    status = converge(work, plan, h)
    if status != OK:
        return status
    sweep(work, table, plan.accept)
    if has_contact(hook):
        call_contact(work, table, hook, h, ACCEPTED)
    if now[IS_LAST] and now[IS_FIRST]:
        for k in range(plan.multipliers.shape[0]):
            work[plan.steps.rules[IMPULSES] + k] = 0.0
    sweep(work, table, plan.work_done)
    sweep(work, table, plan.count if now[IS_LAST] else plan.check_collapse)
    return OK


@jit
def reject(work, plan, h, start):
    """Back to the beginning of a substep."""
    sweep(work, plan.kernels, plan.restore)
    if has_contact(plan.hook):
        look_anew(plan.hook)
    return REJECTED
