"""Backward Euler with positions on the constraints at the end of the step (solver "implicit").

    M (v1 - v0) = h F(q1, v1, t1) + J(q1)^T mu,   q1 reached from q0 with v1 in h,   C(q1, t1) = 0,   g(q1, v1, t1) = 0

One iteration is hernandez11's method: linearised at the beginning of the step, angular momentum kept. Otherwise Newton's
method goes on until the largest residual of a row and the largest displacement that is still asked for are below the
tolerance; a step in which it does not get there is made in halves, quarters, ... Order 1, for forces however stiff.
"""

from __future__ import annotations

from functools import cached_property

from linkwork.codegen.jit import jit, sweep
from linkwork.integrators.base import (
    CALM,
    CUT,
    DAMP,
    DIVERGED,
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
    tally,
)  # fmt: skip
from linkwork.solvers.implicit import Implicit

NEWTON = 30  # iterations before a step is tried again in halves
CALM_PARTS = 16  # parts of a step that must go well before longer ones are tried
FINEST = 1 << 12  # parts into which a step may be cut
GROWTH = 1.0  # a displacement larger than the last one is taken by half


@jit
def _converge(work, table, first, again, tolerance, iterations):
    """Iterations until everything is below the tolerance; True if it is (one iteration is never asked)."""
    work[DAMP] = 1.0
    work[ITERATIONS] = 1.0
    for operations in first:
        sweep(work, table, operations, iterations != 1)  # a single iteration touches no cold fields
    if iterations == 1:
        return True
    before = 1e300
    limit = iterations if iterations > 1 else NEWTON
    for _ in range(1, limit):
        work[WORST] = 0.0
        for operations in again:
            sweep(work, table, operations, True)
        work[ITERATIONS] += 1.0
        worst = work[WORST]
        if not worst < 1e150:
            return False
        if worst <= tolerance:
            return True
        work[DAMP] = 0.5 if worst > GROWTH * before else 1.0
        before = worst
    return iterations > 1


@jit
def steps_of_backward_euler(
    work, table, first, again, accept, retry, multipliers, work_done, look, count, impulses, sentinels, steps, limits
):
    """(steps made, status, age). A step that does not converge is made in halves, quarters, ... multipliers: the sweep that
    finds them, where prescribed motion asks for its work (else `book` does); impulses: their entries, and where those of a step
    are summed up; limits: the tolerance, the iterations (0: until it is met), and whether to stop before the first step that
    must be cut."""
    tolerance, iterations, watched = limits
    dt = work[STEP]
    work[SHARE] = 1.0
    part = FINEST if work[PACE] == 0.0 else int(work[PACE])
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
            if not _converge(work, table, first, again, tolerance, iterations):
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
            if work_done.shape[0] > 0:
                sweep(work, table, multipliers)
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

    @cached_property
    def sweeps(self):
        p = self.programs
        assert isinstance(p, Implicit)
        once = self.iterations == 1
        first = (p.iteration("begin"), p.solution("advance-once" if once else "advance-first", light=once))
        again = first if once else (p.iteration("again"), p.solution("advance"))
        accept, multipliers = (p.body(), p.multipliers()) if once else (p.body("accept"), p.body())
        return first, again, accept, p.body("retry"), multipliers, p.work(), p.look(), p.count()

    def book(self, work, impact=False):
        if self.iterations == 1 and not impact:
            assert isinstance(self.programs, Implicit)
            self.run(work, self.programs.multipliers())
        super().book(work, impact)

    def advance(self, work, steps, age):
        sweeps = self.sweeps  # before the table, which they extend
        limits = (self.tolerance, self.iterations, self.watched)
        return steps_of_backward_euler(work, self.programs.table, *sweeps, self.impulses, self.sentinels, steps, limits)
