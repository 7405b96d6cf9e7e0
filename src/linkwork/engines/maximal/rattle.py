"""RATTLE: half a kick, a free flight that ends on the constraints, half a kick that ends with consistent velocities.

    v  += h/2 M^-1 F(q0, v0) + M^-1 J0^T lambda,   lambda such that C(q1) = 0 (velocity rows: g = 0 in the middle)
    q1  = drift of the free bodies from (q0, v) over h
    v1  = v + h/2 M^-1 F(q1, v1) + M^-1 J1^T mu,   mu such that J1 v1 + C_t = 0

One factorisation a step: the closing kick's serves the next opening one. The position stage starts from right-hand sides
extrapolated through the last three steps and is corrected with the same factors until the largest residual is below the
tolerance. Forces that depend on velocity are evaluated once more at the velocity found. Order 2; symplectic for constant
masses; free rotors keep their angular momentum to rounding.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.callbacks import PythonCallback
from linkwork.engines.engine import Engine
from linkwork.engines.maximal import rattle_steps
from linkwork.engines.maximal.rattle_steps import (
    ENOUGH,
    LACKING,
    NEVER,
    REFUSED,
    RESCUE,
    THERE,
    TOLERANCE,
    TOO_SLOW,
    Plan,
    Rescue,
)
from linkwork.engines.maximal.regularised_projection import ROUNDED, position_rows, reach
from linkwork.engines.scalars import KICK
from linkwork.engines.step_driver import Cutting
from linkwork.engines.traits import TRAITS
from linkwork.kernels.body_kernels import UNRESOLVED
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.symbolic.vocabulary import Moment

# A correction of positions that leaves more than this part of the residual says that the step is too long: it is halved.
SLOW = 0.3
SLOW_IN_CONTACT = 0.7  # more corrections cost less there than another phase of contact in each half
SLOW_IF_REDUNDANT = 0.2  # where rows depend on others: in a singular place Newton's method leaves a quarter
NEWTON = 3  # closing kicks with new factors, for rows that are not linear in velocities
GOOD_SUBSTEPS = 256  # accepted substeps before a longer one is tried: rare changes of the step keep the energy bounded
GOOD_SUBSTEPS_IN_CONTACT = 4  # contact does not conserve energy, so frequent changes do no harm
SINGULAR = 1e-9  # m, rad: residual that loops may keep in a singular place, where corrections do not reduce it


def in_a_row(sweeps):
    """Sweeps one after another, and where each of them ends."""
    return np.concatenate(sweeps), np.cumsum([len(operations) for operations in sweeps], dtype=np.int64)


class Rattle(Engine):
    traits = TRAITS["rattle"]
    kick = (0.5, 0.5)  # parts of the step for which forces act before and after the drift
    attempt, reject = staticmethod(rattle_steps.attempt), staticmethod(rattle_steps.reject)
    cutting, keeps_age, sums_impulses = Cutting.LONGER_IN_TIME, True, True

    def place(self, work):
        """Factors at the current configuration, by the same operations that leave them after a step."""
        work[KICK] = 0.0
        self.run(work, self._placing)

    @cached_property
    def _placing(self):
        p = self.schedules
        return np.concatenate([p.body(BodyKernel.UPDATE_POSE), p.up(RowMode.VELOCITY, first=(BodyKernel.KICK,))])

    @cached_property
    def inverse_mass(self):
        from linkwork.contact.inverse_mass import BySweeps  # some tenths of a second that others need not wait for

        return BySweeps(self.schedules)

    @cached_property
    def sweeps(self):
        p = self.schedules
        velocity = p.model.velocity_forces
        opening: tuple = (p.forward(first=(BodyKernel.OPEN,), forces=True, predict=True),)
        mode = RowMode.CLOSING if p.model.rotors else RowMode.VELOCITY
        closing = [p.up(mode, first=(BodyKernel.ACCEPT_DRIFT,), warm=True), p.backward(BodyKernel.CLOSE)]
        if any(node.kind.nonlinear for node in p.model.nodes):
            # rows whose derivatives depend on velocity: factors at the velocity itself, by Newton
            opening = (p.up(RowMode.VELOCITY, first=(BodyKernel.KICK,)), *opening)
            closing += [p.up(mode, first=(BodyKernel.VELOCITY_ITERATION_FRONT,)), p.backward(BodyKernel.APPLY_IMPULSE)] * NEWTON
        elif velocity:
            again = p.forward(first=(BodyKernel.VELOCITY_ITERATION,), forces=True, right=mode)
            closing += [again, p.backward(BodyKernel.APPLY_IMPULSE)]
        first, drift = p.backward(BodyKernel.FIRST_DRIFT, residuals=True), p.backward(BodyKernel.DRIFT, residuals=True)
        solved, motion = p.body(), p.body()
        if self.touches:  # phases stand between a solve and the motion that follows from it
            solved, first = p.backward(), p.drift()
            if self.traits.contact_phases > 1:
                motion = p.body(BodyKernel.CLOSE if len(closing) == 2 else BodyKernel.APPLY_IMPULSE)
                closing[-1] = p.backward()
        return (opening, solved, first, drift, p.forward(rough=True), tuple(closing), motion, p.body(BodyKernel.RESTORE),
                p.work(Moment.MIDDLE), p.count())  # fmt: skip

    @cached_property
    def plan(self) -> Plan:
        hook = self.hook  # before the table of kernels, which it may extend
        with self.schedules.at_once():
            opening, solved, first_drift, drift, forward, closing, *others = self.sweeps
        model, none, no_rows = self.schedules.model, self.schedules.body(), np.zeros(0, dtype=np.int64)
        slow = SLOW_IN_CONTACT if self.touches else SLOW
        enough = max(self.tolerance, SINGULAR) if model.soft else self.tolerance
        numbers = [self.tolerance, enough, slow, *self.kick, UNRESOLVED]
        if model.redundant:
            numbers[TOLERANCE] = 0.0 if self.by_default else self.tolerance
            numbers[ENOUGH] = max(numbers[TOLERANCE], ROUNDED * max(reach(model), 1.0))
            numbers[TOO_SLOW] = SLOW_IF_REDUNDANT
        flags = np.array([len(opening) > 1, LACKING if model.soft else NEVER, 0], dtype=np.int64)
        self._asked = PythonCallback(self.make_rescue, flags[REFUSED:])
        table = self.schedules.table  # with the kernels of the sweeps, since these are made
        steps = self.empty_table(good_enough=GOOD_SUBSTEPS_IN_CONTACT if self.touches else GOOD_SUBSTEPS)
        return Plan(table, *in_a_row(opening), solved, first_drift, drift, forward, *in_a_row(closing), *others,
                    self.impulses[0], np.array(numbers), flags, self._asked.routine, self._asked.request,
                    Rescue(table, *[none] * 9, no_rows), hook, steps)  # fmt: skip

    def make_rescue(self) -> None:
        """The first step that needs a rescue asks for it, in the middle of a run."""
        plan = self.plan
        with self.schedules.at_once(seldom=True):
            sweeps = self.schedules.body(BodyKernel.ACCEPT_DRIFT), *self.projection(), self.schedules.check()
        sweeps = *sweeps, position_rows(self.schedules.model)
        plan.rescue.renew(**dict(zip(Rescue.fields, (self.schedules.table, *sweeps), strict=True)))
        plan.flags[RESCUE] = THERE

    @property
    def asked(self):
        return [self._asked]


class Shake(Rattle):
    """One kick, the drift that ends on the constraints, and velocities that are made consistent there: RATTLE with all of its
    forces before the drift. Of order 1, and as safe; in contact it needs one phase of two."""

    traits = TRAITS["shake"]
    kick = (1.0, 0.0)
