"""First-order motion, f = m v (kinematic manipulation): velocities follow forces at once, M v = F + J^T lambda,
J v = -(C_t + k C); velocity rows hold as they are. Forces that depend on velocity are refused. Where rows depend on others
positions that are on the constraints are brought back onto them after the step, and rows that are violated are as soft as that
(settling.py).

A step leaves (1 - k h) of C: it takes all of C away with k = 1/h, and more than that, from 2/h on without end, would bring it
back. So k is at most 1/h. A force with df/dq = -K asks for h K / m < 2; where it is more, bodies fly apart, and the run stops
when one goes further in a step than anything should."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.engines.engine import DIVERGED, HALF, KICK, OK, SHARE, SOFTNESS, STEP, TIME, Integrator, finite, tally
from linkwork.engines.maximal.settling import SOFTEST, settle_positions, settling, violation
from linkwork.kernels.node import SOFT

HELD = 1e-6  # of the size of a mechanism: what is violated by less, as it may be as built, is on the constraints
PROJECTIONS = 20  # at most, in a singular place

FAR = 1e3  # times the size of the world as built, and at least so many metres: nothing goes further in a step


@jit
def is_calm(work, speeds, limit):
    """Whether no velocity is beyond the limit."""
    for i in speeds:
        if not abs(work[i]) < limit:
            return False
    return True


@jit
def steps_of_first_order(work, table, kick, up, down, work_done, count, settling, sentinels, speeds, farthest, steps):
    h = work[STEP]
    work[KICK] = 1.0
    work[SHARE] = h
    off = 0.0
    for k in range(steps):
        if settling is not None:
            off = violation(work, settling)
            work[SOFTNESS] = SOFT + min(off, SOFTEST)
        sweep(work, table, kick)
        sweep(work, table, up)
        sweep(work, table, down)
        if work_done.shape[0]:
            work[HALF] = work[TIME]
            sweep(work, table, work_done)
        work[TIME] += h
        if settling is not None:
            if off < HELD:
                for _ in range(PROJECTIONS):
                    if settle_positions(work, settling):
                        break
            work[KICK], work[SOFTNESS] = 1.0, SOFT
        sweep(work, table, count)
        if not finite(work, sentinels) or not is_calm(work, speeds, farthest / h):
            return k + 1, DIVERGED, 0
    return steps, OK, 0


class FirstOrder(Integrator):
    name, order = "first-order", 1
    default_stiffness, default_damping = 0.2, 0.0  # here times dt: the rate k at which C is drawn in

    @cached_property
    def sweeps(self):
        p = self.programs
        return p.body("kick"), p.up("first-order", warm=True), p.backward("first-order"), p.work(), p.count()

    @cached_property
    def settling(self):
        """Apart from the sweeps: it holds the table of kernels, which is whole only after the sweeps are made."""
        return settling(self.programs) if self.programs.model.redundant else None

    @cached_property
    def bounds(self):
        """Entries of all velocities, and the farthest that a body may go in a step (m, rad)."""
        model = self.programs.model
        speeds = [np.r_[model.field_of_body(k, "v")] for k in range(len(model.bodies.kinds))]
        places = [np.abs(frames.start()["q"]).max(initial=0.0) for frames in model.bodies.frames.values()]
        return np.concatenate(speeds), FAR * max(1.0, *places)

    def book(self, work, impact=False):
        """A step is one solve, for a force."""
        tally(work, *self.impulses, 1.0 if impact else self.dt, True)

    def advance(self, work, steps, age):
        sweeps, own = self.sweeps, self.settling
        return steps_of_first_order(work, self.programs.table, *sweeps, own, self.sentinels, *self.bounds, steps)
