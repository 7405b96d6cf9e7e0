"""Backward Euler with positions on the constraints at the end of the step (solver "implicit").

    M (v1 - v0) = h F(q1, v1, t1) + J(q1)^T mu,   q1 reached from q0 with v1 in h,   C(q1, t1) = 0,   g(q1, v1, t1) = 0

One iteration is hernandez11's method, linearised at the beginning of the step (one_iteration.py). Otherwise Newton's
method goes on until the largest residual of a row and the largest displacement that is still asked for are below the
tolerance: displacements that grow are halved, those that shrink slowly are extrapolated. A step in which it does not get
there is made in halves, quarters, ... Order 1, for forces however stiff.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import heed, jit, sweep
from linkwork.engines.engine import (
    CALM,
    CUT,
    DIVERGED,
    FINEST,
    HALF,
    ITERATIONS,
    KICK,
    OK,
    PACE,
    PARTS,
    SHARE,
    STEP,
    STUCK,
    TIME,
    WORST,
    Integrator,
    finite,
    makes_parts,
    part_at_once,
    tally,
)
from linkwork.engines.implicit.one_iteration import move_once, no_sweeps_of_one_iteration, solve_once, sweeps_of_one_iteration
from linkwork.engines.implicit.schedules import Implicit
from linkwork.kernels.implicit_bodies import AGAIN, BEGIN

NEWTON = 40  # iterations before a step is tried again in halves
CALM_PARTS = 16  # parts of a step that must go well before longer ones are tried
SLOW = 0.1  # of the last displacement: where more is still asked for, secants help
WILD = 4.0  # times the last displacement: then half of that one is taken back
HALVINGS = 3  # of one displacement that made it wild
STALLED = 0.9  # of the last displacement, backwards: it went too far, and half of it is taken back
BISECTIONS = 12  # of one displacement that went too far
EARLY = 4  # iterations that go without secants: much is bent then
LOST = 1e150  # a displacement from which nothing comes back
UNSEEN = (1e300, 0, 0)  # before there is anything to compare with
STRETCH = 1e3  # times the displacement that is asked for: secants give no more


@jit
def _converge(work, table, sweeps, kept, limits):
    """Iterations until everything is below the tolerance; True if it is (one iteration is never asked).

    sweeps: of the first iteration, of another one, of a displacement that is given; kept: where displacements lie, and
    rows for the last two that were asked for and the last two that were made."""
    tolerance, iterations, secants = limits[0], limits[1], limits[3]
    first, again, shift, once = sweeps
    places, rows = kept
    work[ITERATIONS] = 1.0
    if iterations == 1:
        move_once(work, table, once, solve_once(work, table, once))
        return True
    for operations in first:
        sweep(work, table, operations, True)
    seen = UNSEEN
    for _ in range(1, most_iterations(iterations)):
        heed(work.shape[0])
        work[WORST] = 0.0
        for operations in again:
            sweep(work, table, operations, True)
        work[ITERATIONS] += 1.0
        worst = work[WORST]
        if not worst < LOST:
            return False
        if worst <= tolerance:
            return True
        seen = adjust(work, table, shift, places, rows, secants, seen)
    return iterations > 1


@jit
def most_iterations(iterations):
    """Of a step, before it is tried again in halves."""
    return iterations if iterations > 1 else NEWTON


@jit
def adjust(work, table, shift, places, rows, secants, seen):
    """After an iteration that leaves something to do: what it asked for is halved, or extrapolated, where that helps. seen: the
    largest displacement of the iteration before, how many are known, and how often the last one was halved; returns the
    same for the next one."""
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


@jit
def _shift(work, table, shift, places, rows):
    """Make the displacement that has been put in the place of the one that was asked for, which is put back for reports."""
    sweep(work, table, shift)
    for k in range(places.shape[0]):
        work[places[k]] = rows[0, k]


@jit
def _halve(work, places, rows):
    """From where the last displacement and then another one have led, back to half of the last."""
    for k in range(places.shape[0]):
        rows[2, k] *= 0.5
        work[places[k]] = -work[places[k]] - rows[2, k]


@jit
def _reversed(work, places, rows):
    """Whether what is asked for leads back along the last displacement that was made."""
    along, asked, made = 0.0, 0.0, 0.0
    for k in range(places.shape[0]):
        along += work[places[k]] * rows[2, k]
        asked += work[places[k]] ** 2
        made += rows[2, k] ** 2
    return along < 0.0 and along * along > 0.95 * asked * made


@jit
def _search(work, places, rows, known, grew, slow):
    """Whether something is to be added to the displacement that was just asked for and made: half of it is taken back where
    it grew; where it hardly became less, it goes where secants through the last one or two say that nothing is asked for."""
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


@jit
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
def steps_of_backward_euler(work, table, newton, after, kept, impulses, sentinels, steps, limits):
    """(steps made, status, age). A step that does not converge is made in halves, quarters, ... newton and kept: as
    `_converge` has them; after: sweeps that accept a step, try it again, do the work of prescribed motion, look for
    collapsed bodies, count turns; impulses: entries of the multipliers, and
    where those of a step are summed up; limits: the tolerance, the iterations (0: until it is met), whether to stop before the
    first step that must be cut, and whether secants may help."""
    accept, retry, work_done, look, count = after
    watched = limits[2]
    dt = work[STEP]
    work[SHARE] = 1.0
    part = FINEST if limits[1] == 1 else part_at_once(work[PACE])
    for k in range(steps):
        begin = work[TIME]
        done = 0
        work[PARTS] = 0.0
        while done < FINEST:
            h = dt * (part / FINEST)
            start = begin + dt * (done / FINEST)
            work[STEP] = h
            work[KICK] = h
            work[TIME] = start + h
            work[HALF] = start + h
            if not _converge(work, table, newton, kept, limits):
                sweep(work, table, retry)
                if watched and part == FINEST:
                    work[STEP] = dt
                    work[TIME] = begin
                    return k, CUT, 0
                part //= 2
                work[CALM] = 0.0
                if part == 0:
                    work[STEP] = dt
                    work[TIME] = start
                    work[PACE] = 0.0
                    return k + 1, STUCK if finite(work, sentinels) else DIVERGED, 0
                continue
            sweep(work, table, accept)
            if k == steps - 1 and done == 0:
                work[impulses[1] : impulses[1] + impulses[0].shape[0]] = 0.0
            sweep(work, table, work_done)
            sweep(work, table, count if k == steps - 1 else look)
            done += part
            work[PARTS] += 1.0
            if k == steps - 1 and done < FINEST:
                tally(work, impulses[0], impulses[1], 1.0, False)
            if part < FINEST:
                work[CALM] += 1.0
                if work[CALM] >= CALM_PARTS and done % (2 * part) == 0:
                    part *= 2
                    work[CALM] = 0.0
        work[STEP] = dt
        work[TIME] = begin + dt
        work[PACE] = part
        if not finite(work, sentinels):
            return k + 1, DIVERGED, 0
    return steps, OK, 0


class BackwardEuler(Integrator):
    name, order = "backward-euler", 1
    takes_tolerance = True
    takes_feedback = False
    default_tolerance = 1e-10

    def knows_pace(self, pace, calm):
        return makes_parts(pace, calm)

    @cached_property
    def sweeps(self):
        """Of Newton's method, and of what comes after it."""
        p = self.programs
        assert isinstance(p, Implicit)
        nothing, after = p.body(), (p.body("retry"), p.work(), p.look(), p.count())
        if self.iterations != 1:
            first, again = (p.iteration(BEGIN), p.solution("advance-first")), (p.iteration(AGAIN), p.solution("advance"))
            return (first, again, p.body("shift"), no_sweeps_of_one_iteration(p)), (p.body("accept"), *after)
        pair = nothing, nothing
        return (pair, pair, nothing, sweeps_of_one_iteration(p)), (nothing, *after)

    @cached_property
    def kept(self):
        """Entries of the bodies' displacements, and room for four of all."""
        model = self.programs.model
        entries = [np.arange(x.start, x.stop) for x in (model.field_of_body(b, "x") for b in range(len(model.bodies.kinds)))]
        places = np.concatenate([np.zeros(0, dtype=np.int64), *entries])
        return places, np.zeros((4, 0 if self.iterations == 1 else len(places)))

    def advance(self, work, steps, age):
        newton, after = self.sweeps  # before the table, which they extend
        limits = (self.tolerance, self.iterations, self.watched, not self.programs.model.pairs)
        table = self.programs.table
        return steps_of_backward_euler(work, table, newton, after, self.kept, self.impulses, self.sentinels, steps, limits)
