"""Steps with contact: the same sweeps, with the stages of contact/ between a solve and the motion that follows from it.

`rattle` has two: before the flight, on the velocities that it flies with (v_half), and after the closing kick (v1), so that a
body at rest has no velocity. The others have one, on the velocity that moves the bodies: `euler`, and in joint coordinates;
`backward-euler` has it in every iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from linkwork.contact.acceleration_level import ByForces
from linkwork.contact.contact_system import Touching
from linkwork.contact.inverse_mass import BySweeps, InverseMass
from linkwork.engines.engine import (
    CALM,
    CUT,
    DIVERGED,
    FINEST,
    HALF,
    ITERATIONS,
    KICK,
    OK,
    PACE,
    PARTS,
    SHARE,
    SOFTNESS,
    STEP,
    STUCK,
    TIME,
    WORST,
    Integrator,
    finite,
    part_at_once,
    tally,
)
from linkwork.engines.implicit.backward_euler import CALM_PARTS as CALM_PARTS_OF_NEWTON
from linkwork.engines.implicit.backward_euler import LOST, UNSEEN, BackwardEuler, adjust, most_iterations
from linkwork.engines.implicit.one_iteration import move_once, solve_once
from linkwork.engines.implicit.schedules import Implicit
from linkwork.engines.joint_coordinates.inverse_mass import JointInverseMass
from linkwork.engines.joint_coordinates.steps import JointEuler, JointImplicit
from linkwork.engines.maximal.euler import Euler
from linkwork.engines.maximal.rattle import Rattle, Shake
from linkwork.engines.maximal.settling import SOFTEST, settling, violated
from linkwork.kernels.implicit_bodies import AGAIN, BEGIN
from linkwork.kernels.node import SOFT

CALM_IN_CONTACT = 4  # parts of a step that must go well before longer ones are tried
SLOW_IN_CONTACT = 0.7  # of the residual, left by a correction: many of them cost less than one more stage
NOISE = 10.0  # times what contact velocities are off by, times the step: no iteration gets much below such displacements


class InContact(Integrator):
    """The base: an integrator with the stages of contact."""

    contact: Touching
    _steps: Callable  # of an integrator whose driver calls the stages itself

    @cached_property
    def answers(self) -> InverseMass:
        """How bodies that touch answer."""
        return BySweeps(self.programs)

    def prepare(self, work):
        super().prepare(work)
        self.contact.fresh = False

    def advance(self, work, steps, age):
        """Of those whose driver calls the stages itself."""
        contact = self.contact
        made = self._steps(work, steps, age, contact.by_address)
        if contact.asked.failure is not None:
            contact.asked.raise_failure()
        return made

    def _impulses(self, work):
        multipliers, at = self.impulses
        return work[at : at + len(multipliers)]


class RattleInContact(InContact, Rattle):
    """RATTLE with the inequalities of contact beside its constraints."""

    kicks = 2
    patience = (CALM_IN_CONTACT, SLOW_IN_CONTACT)

    @cached_property
    def sweeps(self):
        p = self.programs
        opening, _, _, fly, forward, closing, _, *others = super().sweeps
        last = "close" if len(closing) == 2 else "strike"
        return (opening, p.backward(), p.flight(), fly, forward, (*closing[:-1], p.backward()), p.body(last), *others)


class ShakeInContact(InContact, Shake):
    """SHAKE with one stage, on the velocities that bodies fly with."""

    patience = (CALM_IN_CONTACT, SLOW_IN_CONTACT)

    @cached_property
    def sweeps(self):
        p = self.programs
        opening, _, _, *others = super().sweeps
        return opening, p.backward(), p.flight(), *others


class EulerInContact(InContact, Euler):
    """Semi-implicit Euler: one stage, on the velocity at the end of the step."""

    @classmethod
    def for_model(cls, programs):
        return ShakeInContact if programs.model.redundant and ShakeInContact.name in programs.takes_contact else cls

    @cached_property
    def answers(self):
        return BySweeps(self.programs, scale=self.dt, turning=True)

    @cached_property
    def sweeps(self):
        p = self.programs
        return p.up("acceleration", first=("accelerate",)), p.backward(), p.body("euler"), p.work(), p.count()

    @cached_property
    def _settling(self):
        return settling(self.programs) if self.programs.model.redundant else None

    def advance(self, work, steps, age):
        if isinstance(self.contact, ByForces):
            return self._with_forces(work, steps)
        return super().advance(work, steps, age)

    def _with_forces(self, work, steps):
        """Steps of which the stage is not compiled. Where rows depend on others they are as soft as feedback leaves them
        violated (settling.py)."""
        up, solved, down, work_done, count = self.sweeps
        h = work[STEP]
        work[KICK], work[SHARE] = 1.0, h
        for made in range(1, steps + 1):
            if self._settling is not None:
                work[SOFTNESS] = SOFT + min(violated(work, self._settling), SOFTEST)
            self.run(work, up, solved)
            work[SOFTNESS] = SOFT
            self.contact.before_motion(work, h)
            work[HALF] = work[TIME]
            self.run(work, work_done, down)
            work[TIME] += h
            self.run(work, count)
            self.contact.end_single()
            if not finite(work, self.sentinels):
                return made, DIVERGED, 0
        return steps, OK, 0


class BackwardEulerInContact(InContact, BackwardEuler):
    """Backward Euler: one stage in each of Newton's iterations, on the velocity at the end of the step as they see it. What
    touches is found at the beginning of the step, and bounces in the first iteration."""

    @cached_property
    def answers(self):
        return BySweeps(self.programs, carried=0.0, stage=BEGIN)

    @cached_property
    def answers_again(self):
        return BySweeps(self.programs, velocity="v1", stage=AGAIN)

    @cached_property
    def around(self):
        """Sweeps between which the stages stand: of the first iteration, of another one."""
        p = self.programs
        assert isinstance(p, Implicit)
        first = p.iteration(BEGIN), p.solved(BEGIN), p.body("advance-first")
        return first, (p.iteration(AGAIN), p.solved(AGAIN), p.body("advance"))

    def advance(self, work, steps, age):
        work[SHARE] = 1.0
        for made in range(1, steps + 1):
            status = self._step(work, last=made == steps)
            if status != OK:
                return made - (status == CUT), status, 0
        return steps, OK, 0

    def _step(self, work, last):
        """One step, in parts where Newton's method asks for that."""
        _, (accept, retry, work_done, look, count) = self.sweeps
        dt, begin, done = work[STEP], work[TIME], 0
        part, work[PARTS] = FINEST if self.iterations == 1 else part_at_once(work[PACE]), 0.0
        while done < FINEST:
            start, h = begin + dt * (done / FINEST), dt * (part / FINEST)
            work[STEP], work[KICK], work[TIME], work[HALF] = h, h, start + h, start + h
            if not self._converge(work, h):
                self.run(work, retry)
                self.contact.begin_again()
                if self.watched and part == FINEST:
                    work[STEP], work[TIME] = dt, begin
                    return CUT
                part, work[CALM] = part // 2, 0.0
                if part == 0:
                    work[STEP], work[TIME], work[PACE] = dt, start, 0.0
                    return STUCK if finite(work, self.sentinels) else DIVERGED
                continue
            self.run(work, accept)
            self.contact.end_single()
            if last and done == 0:
                self._impulses(work)[:] = 0.0
            self.run(work, work_done, count if last else look)
            done, work[PARTS] = done + part, work[PARTS] + 1.0
            if last and done < FINEST:
                tally(work, *self.impulses, 1.0, False)
            if part < FINEST:
                work[CALM] += 1.0
                if work[CALM] >= CALM_PARTS_OF_NEWTON and done % (2 * part) == 0:
                    part, work[CALM] = 2 * part, 0.0
        work[STEP], work[TIME], work[PACE] = dt, begin + dt, part
        return OK if finite(work, self.sentinels) else DIVERGED

    def _converge(self, work, h):
        """Iterations until everything is below the tolerance: whether it is."""
        (_, _, shift, once), _ = self.sweeps
        if self.iterations == 1:
            way = solve_once(work, self.programs.table, once)
            self.contact.before_motion(work, h)
            move_once(work, self.programs.table, once, way)
            return True
        (assembled, solved, motion), (assembled_again, solved_again, motion_again) = self.around
        work[ITERATIONS] = 1.0
        self.run(work, assembled, solved)
        self.contact.before_motion(work, h)
        self.run(work, motion)
        seen = UNSEEN
        for _ in range(1, most_iterations(self.iterations)):
            work[WORST] = 0.0
            self.run(work, assembled_again, solved_again)
            self.contact.once_more(work, h, self.answers_again)
            self.run(work, motion_again)
            work[ITERATIONS] += 1.0
            if not work[WORST] < LOST:
                return False
            if work[WORST] <= max(self.tolerance, NOISE * h * self.contact.off):
                return True
            seen = adjust(work, self.programs.table, shift, *self.kept, True, seen)
        return self.iterations > 1


class JointEulerInContact(InContact, JointEuler):
    """Semi-implicit Euler in joint coordinates: one stage, on the velocities at the end of the step, which the bodies have at
    its beginning."""

    touching = True

    @cached_property
    def answers(self):
        return JointInverseMass(self)

    def further(self):
        return JointInverseMass.sweeps(self.dynamics)


class JointImplicitInContact(JointEulerInContact, JointImplicit):
    """The same with forces that are local to a joint implicit, in what bodies answer, too."""


IN_CONTACT: dict[str, type[Integrator]] = {
    cls.name: cls
    for cls in (RattleInContact, ShakeInContact, EulerInContact, BackwardEulerInContact, JointEulerInContact,
                JointImplicitInContact)
}  # fmt: skip


def level(solver: str, integrator: str) -> type[Touching]:
    """Contact as they have it: on the level of accelerations, or of velocities."""
    return ByForces if (solver, integrator) == ("anticipation", "euler") else Touching
