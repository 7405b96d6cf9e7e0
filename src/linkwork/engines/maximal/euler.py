"""Semi-implicit Euler: v += h a, then q moves with the new v. Rows at acceleration level with Baumgarte feedback
J a = -(J'v + k_d (J v + C_t) + k_s C). Two sweeps a step. Order 1."""

from __future__ import annotations

from functools import cached_property

from linkwork.codegen.jit import call_compiled, jit, sweep
from linkwork.collision.layout import SINGLE
from linkwork.engines.engine import DIVERGED, GROWS, HALF, KICK, OK, SHARE, STEP, TIME, Integrator, finite
from linkwork.engines.maximal.rattle import Shake


@jit
def steps_of_euler(work, table, up, solved, down, work_done, count, sentinels, steps, contact):
    """contact: None, or the address of a contact stage and what it needs."""
    h = work[STEP]
    work[KICK] = 1.0
    work[SHARE] = h
    for k in range(steps):
        sweep(work, table, up)
        sweep(work, table, solved)
        if contact is not None:
            call_compiled(contact[0], (work, table, contact[1], h, SINGLE))
        work[HALF] = work[TIME]
        sweep(work, table, work_done)
        sweep(work, table, down)
        work[TIME] += h
        sweep(work, table, count)
        if not finite(work, sentinels):
            return k + 1, DIVERGED, 0
    return steps, OK, 0


class Euler(Integrator):
    name, order = "euler", 1
    keeps_impulses = False
    default_stiffness, default_damping = 0.04, 0.4
    most_mixed, mixing = 0.002, GROWS

    @cached_property
    def sweeps(self):
        p = self.programs
        work_done = p.work()
        watched = len(work_done) > 0  # needs this step's multipliers, and the bodies where they were
        up = p.up("acceleration", first=("accelerate",), light=not watched, warm=True)
        solved, down = (p.backward(), p.body("euler")) if watched else (p.body(), p.backward("euler", light=True))
        return up, solved, down, work_done, p.count()

    @classmethod
    def for_model(cls, programs):
        """Feedback leaves positions off by dt^2, where rows that depend on others on the constraints do not."""
        return Shake if programs.model.redundant else cls

    def advance(self, work, steps, age):
        return self._steps(work, steps, age, None)

    def _steps(self, work, steps, age, contact):
        sweeps = self.sweeps  # before the table, which has the kernels of sweeps that are made
        return self._drive(steps_of_euler, work, self.programs.table, *sweeps, self.sentinels, steps, contact)
