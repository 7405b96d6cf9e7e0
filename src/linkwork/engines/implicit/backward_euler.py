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

from linkwork.engines.engine import Engine
from linkwork.engines.implicit import newton_steps
from linkwork.engines.implicit.newton_steps import NewtonPlan
from linkwork.engines.implicit.one_iteration import no_sweeps_of_one_iteration, sweeps_of_one_iteration
from linkwork.engines.implicit.schedules import Implicit
from linkwork.engines.step_driver import Cutting
from linkwork.engines.traits import TRAITS
from linkwork.kernels.implicit_bodies import AGAIN, BEGIN
from linkwork.kernels.vocabulary import ImplicitKernel

GOOD_SUBSTEPS = 16  # accepted substeps before a longer one is tried; a rejected one costs up to NEWTON iterations


class BackwardEuler(Engine):
    traits = TRAITS["backward-euler"]
    attempt, reject = staticmethod(newton_steps.attempt), staticmethod(newton_steps.reject)
    tells_cuts = sums_impulses = True

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.cutting = Cutting.WHOLE if self.iterations == 1 else Cutting.LONGER_IN_TIME  # one is never asked if it converged

    @cached_property
    def inverse_mass(self):
        from linkwork.contact.inverse_mass import BySweeps  # some tenths of a second that others need not wait for

        return BySweeps(self.schedules, carried=0.0, iteration=BEGIN)

    @cached_property
    def repeat_inverse_mass(self):
        from linkwork.contact.inverse_mass import BySweeps

        return BySweeps(self.schedules, velocity="v1", iteration=AGAIN) if self.iterations != 1 else None

    @cached_property
    def sweeps(self):
        """Of Newton's method, of what comes after it, and of a step of one iteration."""
        p = self.schedules
        assert isinstance(p, Implicit)
        nothing, after = p.body(), (p.body(ImplicitKernel.RESTORE), p.work(), p.check_collapse(), p.count())
        if self.iterations == 1:
            return (*[nothing] * 8, *after), sweeps_of_one_iteration(p)
        first, further = ImplicitKernel.ADVANCE_FIRST, ImplicitKernel.ADVANCE
        newton = [p.iteration(BEGIN), p.solution(first), nothing, p.iteration(AGAIN), p.solution(further), nothing]
        if self.touches:  # phases stand between a solve and the motion that follows from it
            newton[1:3], newton[4:6] = (p.solved(BEGIN), p.body(first)), (p.solved(AGAIN), p.body(further))
        return (*newton, p.body(ImplicitKernel.SHIFT), p.body(ImplicitKernel.ACCEPT), *after), no_sweeps_of_one_iteration()

    @cached_property
    def plan(self) -> NewtonPlan:
        hook = self.hook
        sweeps, once = self.sweeps  # before the table, which they extend
        model = self.schedules.model
        entries = [np.arange(x.start, x.stop) for x in (model.field_of_body(b, "x") for b in range(len(model.bodies.kinds)))]
        places = np.concatenate([np.zeros(0, dtype=np.int64), *entries])
        rows = np.zeros((4, 0 if self.iterations == 1 else len(places)))
        flags = np.array([self.iterations, not model.pairs], dtype=np.int64)
        return NewtonPlan(self.schedules.table, *sweeps, places, rows, self.impulses[0], np.array([self.tolerance]), flags,
                          once, hook, self.empty_table(good_enough=GOOD_SUBSTEPS))  # fmt: skip
