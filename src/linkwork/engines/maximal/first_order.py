"""First-order motion, f = m v (kinematic manipulation): velocities follow forces at once, M v = F + J^T lambda,
J v = -(C_t + k C); velocity rows hold as they are. Forces that depend on velocity are refused. Where rows depend on others
positions that are on the constraints are brought back onto them after the step, and rows that are violated are as soft as that
(settling.py). In a singular place a step that does not come back to them is made in parts.

A step leaves (1 - k h) of C: it takes all of C away with k = 1/h, and more than that, from 2/h on without end, would bring it
back. So k is at most 1/h. A force with df/dq = -K asks for h K / m < 2; where it is more, bodies fly apart, and the run stops
when one goes further in a step than anything should."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import heed, jit, jit_inner, sweep
from linkwork.engines.engine import (
    DIVERGED,
    DONE,
    HALF,
    KICK,
    OK,
    PACE,
    SHARE,
    SOFTNESS,
    STEP,
    TIME,
    Integrator,
    finite,
    makes_parts,
    part_at_once,
    tally,
)
from linkwork.engines.maximal.settling import SOFTEST, settle_positions, settling, violation
from linkwork.kernels.node import SOFT

HELD = 1e-6  # of the size of a mechanism: what is violated by less, as it may be as built, is on the constraints
PROJECTIONS = 20  # at most, in a singular place
SAG = (
    2e-5  # of the same size: a residual e is a sag of sqrt(e) in a singular place, and a step that leaves more is made in parts
)
FINEST = 1 << 10  # parts into which a step may be cut

FAR = 1e3  # times the size of the world as built, and at least so many metres: nothing goes further in a step


@jit
def is_calm(work, speeds, limit):
    """Whether no velocity is beyond the limit."""
    for i in speeds:
        if not abs(work[i]) < limit:
            return False
    return True


@jit
def steps_of_first_order(work, table, sweeps, settling, places, sentinels, speeds, farthest, steps):
    """(steps made, status, age). A step that leads away from a singular place is made in halves, quarters, ..., and so are
    those after it, of which each tries parts of twice that length. sweeps: of the opening, the solve and the motion; of work
    done; of what comes after a step; of poses. places: entries of all coordinates, in models that are settled."""
    opening, work_done, count, place = sweeps
    dt = work[STEP]
    work[KICK] = 1.0
    for k in range(steps):
        begin, done = work[TIME], 0
        part = min(FINEST, 2 * part_at_once(work[PACE], FINEST))
        while done < FINEST:
            heed(work.shape[0])
            h = dt * (part / FINEST)
            work[STEP] = work[SHARE] = h
            before, paid = work[places], work[DONE]
            on = _move(work, table, opening, work_done, settling, h)
            if not on and part > 1:
                work[places], work[DONE], work[TIME] = before, paid, begin + dt * (done / FINEST)
                sweep(work, table, place)
                part //= 2
                continue
            sweep(work, table, count)
            done += part
            if not finite(work, sentinels) or not is_calm(work, speeds, farthest / h):
                work[STEP] = dt
                return k + 1, DIVERGED, 0
        work[STEP], work[PACE], work[TIME] = dt, part, begin + dt
    return steps, OK, 0


@jit_inner
def _move(work, table, opening, work_done, settling, h):
    """A step, or a part of one; False where it has left the constraints that it was on and does not come back to them."""
    off = 0.0
    if settling is not None:
        off = violation(work, settling)
        work[SOFTNESS] = SOFT + min(off, SOFTEST)
    for operations in opening:
        sweep(work, table, operations)
    if work_done.shape[0]:
        work[HALF] = work[TIME]
        sweep(work, table, work_done)
    work[TIME] += h
    on = True
    if settling is not None:
        if off < HELD:
            regular = False
            for _ in range(PROJECTIONS):
                regular = settle_positions(work, settling)
                if regular:
                    break
            on = regular or violation(work, settling) <= SAG**2
        work[KICK], work[SOFTNESS] = 1.0, SOFT
    return on


class FirstOrder(Integrator):
    name, order = "first-order", 1
    default_stiffness, default_damping = 0.2, 0.0  # here times dt: the rate k at which C is drawn in

    @cached_property
    def sweeps(self):
        p = self.programs
        opening = p.body("kick"), p.up("first-order", warm=True), p.backward("first-order")
        return opening, p.work(), p.count(), p.body("place")

    @cached_property
    def settling(self):
        """Apart from the sweeps: it holds the table of kernels, which is whole only after the sweeps are made."""
        return settling(self.programs) if self.programs.model.redundant else None

    @cached_property
    def places(self):
        """Entries of all coordinates, where a step may have to be made again."""
        model = self.programs.model
        bodies = range(len(model.bodies.kinds)) if model.redundant else ()
        return np.concatenate([np.zeros(0, dtype=np.int64), *(np.r_[model.field_of_body(k, "q")] for k in bodies)])

    @cached_property
    def bounds(self):
        """Entries of all velocities, and the farthest that a body may go in a step (m, rad)."""
        model = self.programs.model
        speeds = [np.r_[model.field_of_body(k, "v")] for k in range(len(model.bodies.kinds))]
        places = [np.abs(frames.start()["q"]).max(initial=0.0) for frames in model.bodies.frames.values()]
        return np.concatenate(speeds), FAR * max(1.0, *places)

    def knows_pace(self, pace, calm):
        return makes_parts(pace, calm, FINEST)

    def book(self, work, impact=False):
        """A step is one solve, for a force."""
        tally(work, *self.impulses, 1.0 if impact else self.dt, True)

    def advance(self, work, steps, age):
        sweeps, own = self.sweeps, self.settling
        return steps_of_first_order(work, self.programs.table, sweeps, own, self.places, self.sentinels, *self.bounds, steps)
