"""Semi-implicit Euler: v += h a, then q moves with the new v. Rows at acceleration level with Baumgarte feedback
J a = -(J'v + k_d (J v + C_t) + k_s C). Two sweeps a step. Order 1."""

from __future__ import annotations

from functools import cached_property

from linkwork.engines.engine import Engine
from linkwork.engines.maximal import euler_steps
from linkwork.engines.maximal.rattle import Shake
from linkwork.engines.maximal.regularised_projection import no_projection, projection
from linkwork.engines.traits import TABLE, TRAITS, ContactLevel
from linkwork.kernels.vocabulary import BodyKernel, RowMode


class Euler(Engine):
    traits = TRAITS["euler"]

    def __init__(self, *given):
        super().__init__(*given)
        self.attempt = euler_steps.attempt_in_contact if self.touches else euler_steps.attempt

    @classmethod
    def for_model(cls, schedules, touches):
        """Feedback leaves positions off by dt^2, where rows that depend on others on the constraints do not."""
        able = not touches or TABLE[schedules.name]["shake"].contact is not ContactLevel.NONE
        return Shake if schedules.model.redundant and able else cls

    @cached_property
    def inverse_mass(self):
        from linkwork.contact.inverse_mass import BySweeps

        return BySweeps(self.schedules, scale=self.dt, turning=True)

    @cached_property
    def sweeps(self):
        p = self.schedules
        work_done = p.work()
        if self.touches:
            up = p.up(RowMode.ACCELERATION, first=(BodyKernel.ACCELERATE,))
            return up, p.backward(), p.body(BodyKernel.EULER), work_done, p.count()
        watched = len(work_done) > 0  # needs this step's multipliers, and the bodies where they were
        up = p.up(RowMode.ACCELERATION, first=(BodyKernel.ACCELERATE,), light=not watched, warm=True)
        if watched:
            return up, p.backward(), p.body(BodyKernel.EULER), work_done, p.count()
        return up, p.body(), p.backward(BodyKernel.EULER, light=True), work_done, p.count()

    @cached_property
    def plan(self) -> euler_steps.EulerPlan:
        hook, sweeps = self.hook, self.sweeps  # before the table, which has the kernels of sweeps that are made
        own = projection(self.schedules) if self.schedules.model.redundant else no_projection(self.schedules)
        return euler_steps.EulerPlan(self.schedules.table, *sweeps, own, hook, self.empty_table())
