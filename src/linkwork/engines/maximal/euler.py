"""Semi-implicit Euler: v += h a, then q moves with the new v. Rows at acceleration level with Baumgarte feedback
J a = -(J'v + k_d (J v + C_t) + k_s C). Two sweeps a step. Order 1."""

from __future__ import annotations

from functools import cached_property

from linkwork.engines.engine import Engine
from linkwork.engines.maximal import euler_steps
from linkwork.engines.maximal.rattle import Shake
from linkwork.engines.maximal.settling import no_settling, settling
from linkwork.engines.traits import TABLE, TRAITS, ContactLevel


class Euler(Engine):
    traits = TRAITS["euler"]
    attempt = staticmethod(euler_steps.attempt)

    @classmethod
    def for_model(cls, programs, touches):
        """Feedback leaves positions off by dt^2, where rows that depend on others on the constraints do not."""
        able = not touches or TABLE[programs.name]["shake"].contact is not ContactLevel.NONE
        return Shake if programs.model.redundant and able else cls

    @cached_property
    def answers(self):
        from linkwork.contact.inverse_mass import BySweeps

        return BySweeps(self.programs, scale=self.dt, turning=True)

    @cached_property
    def sweeps(self):
        p = self.programs
        work_done = p.work()
        if self.touches:
            return p.up("acceleration", first=("accelerate",)), p.backward(), p.body("euler"), work_done, p.count()
        watched = len(work_done) > 0  # needs this step's multipliers, and the bodies where they were
        up = p.up("acceleration", first=("accelerate",), light=not watched, warm=True)
        solved, down = (p.backward(), p.body("euler")) if watched else (p.body(), p.backward("euler", light=True))
        return up, solved, down, work_done, p.count()

    @cached_property
    def plan(self) -> euler_steps.EulerPlan:
        hook, sweeps = self.hook, self.sweeps  # before the table, which has the kernels of sweeps that are made
        own = settling(self.programs) if self.programs.model.redundant else no_settling(self.programs)
        return euler_steps.EulerPlan(self.programs.table, *sweeps, own, hook, self.empty_table())
