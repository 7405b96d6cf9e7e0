"""Steps with contact: the same sweeps, with the stages of contact/ between a solve and the motion that follows from it.

`rattle` has two: before the flight, on the velocities that it flies with (v_half), and after the closing kick (v1), so that a
body at rest has no velocity. `euler` has one, on the velocity that moves the bodies.
"""

from __future__ import annotations

from functools import cached_property

from linkwork.contact.by_forces import ByForces
from linkwork.contact.touching import Touching
from linkwork.integrators.base import (
    CALM,
    DIVERGED,
    DONE,
    HALF,
    KICK,
    OK,
    PACE,
    SHARE,
    STEP,
    STUCK,
    TIME,
    Integrator,
    finite,
    tally,
)
from linkwork.integrators.euler import Euler
from linkwork.integrators.rattle import (
    CALM_PARTS,
    FINEST,
    RESCUED_PART,
    SINGULAR,
    Rattle,
    extrapolate,
    land_on_constraints,
    rescued,
)


class InContact(Integrator):
    """The base: an integrator with the stages of contact."""

    contact: Touching

    def prepare(self, work):
        super().prepare(work)
        self.contact.fresh = False


class RattleInContact(InContact, Rattle):
    """RATTLE with the inequalities of contact beside its constraints."""

    @cached_property
    def around(self):
        """Sweeps between which the stages stand: opening, solve; flight; closing, solve; motion."""
        p, (opening, _, _, closing, *_) = self.programs, self.sweeps
        last = "close" if len(closing) == 2 else "strike"
        return (*opening, p.backward()), p.flight(), (*closing[:-1], p.backward()), p.body(last)

    def advance(self, work, steps, age):
        self.contact.count_anew()
        work[SHARE] = 1.0
        for made in range(1, steps + 1):
            status, age = self._step(work, age, last=made == steps)
            if status != OK:
                return made, status, age
        return steps, OK, age

    def _step(self, work, age, last):
        """One step, in parts where its position stage asks for that: (status, age)."""
        dt, begin, done = work[STEP], work[TIME], 0
        part = FINEST if work[PACE] == 0.0 else int(work[PACE])
        while done < FINEST:
            start, h = begin + dt * (done / FINEST), dt * (part / FINEST)
            before, given = work[DONE], self._impulses(work).copy()
            if self._part(work, start, h, age, last, first=done == 0):
                age, done = age + 1, done + part
                if last and done < FINEST:
                    tally(work, *self.impulses, 1.0, False)
                if part < FINEST:
                    work[CALM] += 1.0
                    if work[CALM] >= CALM_PARTS and done % (2 * part) == 0:
                        part, work[CALM], age = 2 * part, 0.0, 0
                continue
            self.run(work, self.sweeps[4])  # back to the beginning of the part
            work[DONE], work[CALM], age = before, 0.0, 0
            self.contact.fresh = False
            self._impulses(work)[:] = given
            if len(self.rescue[0]) and part <= RESCUED_PART:
                work[TIME] = start
                rescued(work, self.programs.table, *self.sweeps[:2], *self.rescue)
                done += part
            else:
                part //= 2
                if part == 0:
                    work[STEP], work[TIME], work[PACE] = dt, start, 0.0
                    return (STUCK if finite(work, self.sentinels) else DIVERGED), age
        work[STEP], work[TIME], work[PACE] = dt, begin + dt, part
        return (OK if finite(work, self.sentinels) else DIVERGED), age

    def _impulses(self, work):
        multipliers, at = self.impulses
        return work[at : at + len(multipliers)]

    def _part(self, work, start, h, age, last, first):
        """One part of a step; whether it came to lie on the constraints."""
        _, fly, forward, _, _, work_done, count = self.sweeps
        opened, flight, closed, motion = self.around
        table = self.programs.table
        work[STEP], work[KICK], work[HALF], work[TIME] = h, 0.5 * h, start + 0.5 * h, start
        extrapolate(work, age)
        if len(opened) > 2:  # factors of its own
            self.contact.fresh = False
        self.run(work, *opened)
        self.contact.before_motion(work, h)
        enough = max(self.tolerance, SINGULAR) if self.programs.model.soft else self.tolerance
        if not land_on_constraints(work, table, flight, fly, forward, work_done, *self.impulses, last, first, start + h,
                                   self.tolerance, enough):  # fmt: skip
            return False
        self.run(work, *closed)
        self.contact.after_motion(work, h)
        self.run(work, motion, work_done, count)
        return True


class EulerInContact(InContact, Euler):
    """Semi-implicit Euler: one stage, on the velocity at the end of the step."""

    @cached_property
    def around(self):
        p = self.programs
        return (p.up("acceleration", first=("accelerate",)), p.backward()), p.work(), p.body("euler"), p.count()

    def advance(self, work, steps, age):
        self.contact.count_anew()
        solved, work_done, motion, count = self.around
        h = work[STEP]
        work[KICK], work[SHARE] = 1.0, h
        for made in range(1, steps + 1):
            self.run(work, *solved)
            self.contact.before_motion(work, h, scale=h, turning=True)
            work[HALF] = work[TIME]
            self.run(work, work_done, motion)
            work[TIME] += h
            self.run(work, count)
            self.contact.end_single()
            if not finite(work, self.sentinels):
                return made, DIVERGED, 0
        return steps, OK, 0


IN_CONTACT: dict[str, type[Integrator]] = {cls.name: cls for cls in (RattleInContact, EulerInContact)}


def level(solver: str) -> type[Touching]:
    """Contact as that solver has it: on the level of accelerations, or of velocities."""
    return ByForces if solver == "anticipation" else Touching
