"""RATTLE: half a kick, a free flight that ends on the constraints, half a kick that ends with consistent velocities.

    v  += h/2 M^-1 F(q0, v0) + M^-1 J0^T lambda,   lambda such that C(q1) = 0 (velocity rows: g = 0 in the middle)
    q1  = flight of the free bodies from (q0, v) over h
    v1  = v + h/2 M^-1 F(q1, v1) + M^-1 J1^T mu,   mu such that J1 v1 + C_t = 0

One factorisation a step: the closing kick's serves the next opening one. The position stage starts from right-hand sides
extrapolated through the last three steps and is corrected with the same factors until the largest residual is below the
tolerance. Forces that depend on velocity are evaluated once more at the velocity found. Order 2; symplectic for constant
masses; free rotors keep their angular momentum to rounding.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.callbacks import Asked
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
from linkwork.engines.maximal.settling import ROUNDED, position_rows, reach
from linkwork.engines.scalars import KICK
from linkwork.engines.step_driver import Cutting
from linkwork.engines.traits import TRAITS
from linkwork.kernels.body_kernels import UNRESOLVED

SLOW = 0.3  # of a residual, left by a correction: a sign that the step is too long
SLOW_IN_CONTACT = 0.7  # the same in contact: many corrections cost less than one more phase
SLOW_IF_REDUNDANT = 0.2  # the same where rows depend on others: in a singular place Newton's method leaves a quarter
NEWTON = 3  # closing kicks with new factors, for rows that are not linear in velocities
GOOD_SUBSTEPS = 256  # that must be made before longer ones are tried: rare changes keep the energy bounded
GOOD_SUBSTEPS_IN_CONTACT = 4  # the same in contact, which does not keep it
SINGULAR = 1e-9  # a residual that is left as it is in mechanisms with loops, where corrections do not help


def in_a_row(sweeps):
    """Sweeps one after another, and where each of them ends."""
    return np.concatenate(sweeps), np.cumsum([len(operations) for operations in sweeps], dtype=np.int64)


class Rattle(Engine):
    traits = TRAITS["rattle"]
    kick = (0.5, 0.5)  # parts of a step that forces act for, before and after the drift
    attempt, reject = staticmethod(rattle_steps.attempt), staticmethod(rattle_steps.reject)
    cutting, keeps_age, sums_impulses = Cutting.LONGER_IN_TIME, True, True

    def place(self, work):
        """Factors at the current configuration, by the same operations that leave them after a step."""
        work[KICK] = 0.0
        self.run(work, self.programs.body("place"), self.programs.up("velocity", first=("kick",)))

    @cached_property
    def answers(self):
        from linkwork.contact.inverse_mass import BySweeps  # some tenths of a second that others need not wait for

        return BySweeps(self.programs)

    @cached_property
    def sweeps(self):
        p = self.programs
        velocity = p.model.velocity_forces
        opening: tuple = (p.forward(first=("open",), forces=True, predict=True),)
        mode = "closing" if p.model.rotors else "velocity"
        closing = [p.up(mode, first=("land",), warm=True), p.backward("close")]
        if any(node.kind.nonlinear for node in p.model.nodes):
            # rows whose derivatives depend on velocity: factors at the velocity itself, by Newton
            opening = (p.up("velocity", first=("kick",)), *opening)
            closing += [p.up(mode, first=("settle-front",)), p.backward("strike")] * NEWTON
        elif velocity:
            closing += [p.forward(first=("settle",), forces=True, right=mode), p.backward("strike")]
        first, drift = p.backward("first-fly", landing=True), p.backward("fly", landing=True)
        solved, motion = p.body(), p.body()
        if self.touches:  # phases stand between a solve and the motion that follows from it
            solved, first = p.backward(), p.flight()
            if self.traits.contact_phases > 1:
                motion = p.body("close" if len(closing) == 2 else "strike")
                closing[-1] = p.backward()
        return (opening, solved, first, drift, p.forward(rough=True), tuple(closing), motion, p.body("retry"),
                p.work("middle"), p.count())  # fmt: skip

    @cached_property
    def plan(self) -> Plan:
        hook = self.hook  # before the table of kernels, which it may extend
        with self.programs.at_once():
            opening, solved, first_drift, drift, forward, closing, *others = self.sweeps
        model, none, no_rows = self.programs.model, self.programs.body(), np.zeros(0, dtype=np.int64)
        slow = SLOW_IN_CONTACT if self.touches else SLOW
        enough = max(self.tolerance, SINGULAR) if model.soft else self.tolerance
        numbers = [self.tolerance, enough, slow, *self.kick, UNRESOLVED]
        if model.redundant:
            numbers[TOLERANCE] = 0.0 if self.by_default else self.tolerance
            numbers[ENOUGH] = max(numbers[TOLERANCE], ROUNDED * max(reach(model), 1.0))
            numbers[TOO_SLOW] = SLOW_IF_REDUNDANT
        flags = np.array([len(opening) > 1, LACKING if model.soft else NEVER, 0], dtype=np.int64)
        self._asked = Asked(self.make_rescue, flags[REFUSED:])
        table = self.programs.table  # with the kernels of the sweeps, since these are made
        steps = self.empty_table(good_enough=GOOD_SUBSTEPS_IN_CONTACT if self.touches else GOOD_SUBSTEPS)
        return Plan(table, *in_a_row(opening), solved, first_drift, drift, forward, *in_a_row(closing), *others,
                    self.impulses[0], np.array(numbers), flags, self._asked.routine, self._asked.request,
                    Rescue(table, *[none] * 9, no_rows), hook, steps)  # fmt: skip

    def make_rescue(self) -> None:
        """The first step that needs a rescue asks for it, in the middle of a run."""
        plan = self.plan
        with self.programs.at_once(seldom=True):
            sweeps = self.programs.body("land"), *self.projection(), self.programs.check()
        sweeps = *sweeps, position_rows(self.programs.model)
        plan.rescue.renew(**dict(zip(Rescue.fields, (self.programs.table, *sweeps), strict=True)))
        plan.flags[RESCUE] = THERE

    @property
    def asked(self):
        return [self._asked]


class Shake(Rattle):
    """One kick, the drift that ends on the constraints, and velocities that are made consistent there: RATTLE with all of its
    forces before the drift. Of order 1, and as safe; in contact it needs one phase of two."""

    traits = TRAITS["shake"]
    kick = (1.0, 0.0)
