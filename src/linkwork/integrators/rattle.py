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

from linkwork.codegen.jit import call_compiled, jit, sweep
from linkwork.contact.layout import CLOSING, FRESH, OPENING, SINGLE
from linkwork.integrators.base import (
    CALM,
    CUT,
    DIVERGED,
    DONE,
    EXTRAPOLATE,
    HALF,
    KICK,
    OK,
    PACE,
    SHARE,
    STEP,
    STUCK,
    TIME,
    WORST,
    Integrator,
    finite,
    project,
    tally,
)

CORRECTIONS = 30  # of the position stage before a step is tried again in halves
SLOW = 0.3  # a correction that leaves more than this part of the residual is a sign that the step is too long
NEWTON = 3  # closing kicks with new factors, for rows that are not linear in velocities
CALM_PARTS = 256  # parts of a step that must go well before longer ones are tried: rare changes keep the energy bounded
FINEST = 1 << 12  # parts into which a step may be cut
RESCUED_PART = FINEST // 16  # and from which on a singular configuration is passed by projection
RESCUES = 8  # projections, each with new factors
SINGULAR = 1e-9  # a residual that is left as it is where rows may be redundant and corrections do not help


@jit
def extrapolate(work, age):
    """Weights for the last three position stages, of which only `age` are known."""
    w1, w2, w3 = 0.0, 0.0, 0.0
    if age == 1:
        w1 = 1.0
    elif age == 2:
        w1, w2 = 2.0, -1.0
    elif age > 2:
        w1, w2, w3 = 3.0, -3.0, 1.0
    work[EXTRAPOLATE] = w1
    work[EXTRAPOLATE + 1] = w2
    work[EXTRAPOLATE + 2] = w3


@jit
def land_on_constraints(
    work, table, first_fly, fly, forward, work_done, multipliers, impulses, last, first, end, tolerance, enough, slow
):
    """The flight after an opening kick, corrected until the residuals are below the tolerance; False where they stay above
    `enough`. slow: of the residual; a correction that leaves more than this part is a sign that the step is too long."""
    work[TIME] = end
    work[WORST] = 0.0
    sweep(work, table, first_fly, True)
    if last:
        tally(work, multipliers, impulses, 1.0, first)
    sweep(work, table, work_done)
    corrections, before = 0, np.inf
    while work[WORST] > tolerance:
        if corrections == CORRECTIONS or (work[WORST] > slow * before and work[WORST] > 10.0 * tolerance):
            return work[WORST] <= enough
        before = work[WORST]
        sweep(work, table, forward, True)
        work[WORST] = 0.0
        sweep(work, table, fly, True)
        if last:
            tally(work, multipliers, impulses, 1.0, False)
        sweep(work, table, work_done)
        corrections += 1
    return work[WORST] <= tolerance


@jit
def rescued(work, table, opening, fly, land, kick, up_position, nudge, clear, right, up_velocity, strike):
    """Part of a step where forces along the constraints of its beginning cannot bring it back onto them: a flight, then the
    nearest place on the constraints, with the directions found there. Of first order; leaves factors as a closing kick."""
    work[EXTRAPOLATE : EXTRAPOLATE + 3] = 0.0
    work[KICK] = work[STEP]
    for operations in opening:
        sweep(work, table, operations, True)
    sweep(work, table, fly, True)
    sweep(work, table, land, True)
    for _ in range(RESCUES):
        project(work, table, kick, up_position, nudge, clear, right, up_velocity, strike, 1)


@jit
def steps_of_rattle(
    work,
    table,
    opening,
    solved,
    first_fly,
    fly,
    forward,
    closing,
    motion,
    retry,
    work_done,
    count,
    multipliers,
    impulses,
    sentinels,
    steps,
    age,
    tolerance,
    enough,
    rescue,
    whole,
    calm_parts,
    slow,
    first_kick,
    last_kick,
    contact,
):
    """(steps made, status, age). A step whose position stage does not converge is made in halves, quarters, ..., and so
    are those after it until `calm_parts` of them have gone well. `whole`: it is left to another call, which has a rescue.

    first_kick, last_kick: the parts of a step that forces act for before and after the flight.

    contact: None, or the address of a contact stage and what it needs. Its stages stand before the flight, on the velocities
    that it flies with, and, where forces act then, after the closing kick, so that a body at rest has no velocity: `solved` and
    `motion` are sweeps that are parts of others where there is no contact."""
    dt = work[STEP]
    work[SHARE] = 1.0
    part = FINEST if work[PACE] == 0.0 else int(work[PACE])
    given = work[:0]  # impulses of the parts that are done of a step that was cut
    for k in range(steps):
        begin = work[TIME]
        last = k == steps - 1
        done = 0
        while done < FINEST:
            h = dt * (part / FINEST)
            start = begin + dt * (done / FINEST)
            work[STEP] = h
            work[KICK] = first_kick * h
            work[HALF] = start + 0.5 * h
            work[TIME] = start
            work_before = work[DONE]
            if last and done > 0:
                given = work[impulses : impulses + multipliers.shape[0]].copy()
            extrapolate(work, age)
            for operations in opening:
                sweep(work, table, operations, True)
            sweep(work, table, solved)
            if contact is not None:
                if len(opening) > 1:  # factors of its own
                    contact[1].marks[FRESH] = 0
                call_compiled(contact[0], (work, table, contact[1], h, OPENING if last_kick > 0.0 else SINGLE))
            landed = land_on_constraints(
                work,
                table,
                first_fly,
                fly,
                forward,
                work_done,
                multipliers,
                impulses,
                last,
                done == 0,
                start + h,
                tolerance,
                enough,
                slow,
            )
            if not landed:
                sweep(work, table, retry)
                work[DONE] = work_before
                if contact is not None:
                    contact[1].marks[FRESH] = 0
                if last and done > 0:
                    work[impulses : impulses + multipliers.shape[0]] = given
                age = 0
                work[CALM] = 0.0
                if whole:
                    work[STEP] = dt
                    work[TIME] = begin
                    work[PACE] = part // 2
                    return k, CUT, age
                if rescue[0].shape[0] > 0 and part <= RESCUED_PART:
                    work[TIME] = start
                    rescued(work, table, opening, fly, *rescue)
                    work[TIME] = start + h
                    done += part
                    continue
                part //= 2
                if part == 0:
                    work[STEP] = dt
                    work[TIME] = start
                    work[PACE] = 0.0
                    return k + 1, STUCK if finite(work, sentinels) else DIVERGED, age
                continue
            work[KICK] = last_kick * h
            for operations in closing:
                sweep(work, table, operations, True)
            if contact is not None and last_kick > 0.0:
                call_compiled(contact[0], (work, table, contact[1], h, CLOSING))
            sweep(work, table, motion)
            sweep(work, table, work_done)
            sweep(work, table, count)
            done += part
            if last and done < FINEST:
                tally(work, multipliers, impulses, 1.0, False)
            age += 1
            if part < FINEST:
                work[CALM] += 1.0
                if work[CALM] >= calm_parts and done % (2 * part) == 0:
                    part *= 2
                    work[CALM] = 0.0
                    age = 0
        work[STEP] = dt
        work[TIME] = begin + dt
        work[PACE] = part
        if not finite(work, sentinels):
            return k + 1, DIVERGED, age
    return steps, OK, age


class Rattle(Integrator):
    name, order = "rattle", 2
    kick = (0.5, 0.5)  # parts of a step that forces act for, before and after the flight
    takes_tolerance = True
    takes_feedback = False
    default_tolerance = 1e-11

    def prepare(self, work):
        """Factors at the current configuration, by the same operations that leave them after a step."""
        work[KICK] = 0.0
        self.run(work, self.programs.body("place"), self.programs.up("velocity", first=("kick",)))

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
        fly = p.backward("fly", landing=True)
        return (opening, p.body(), fly, fly, p.forward(rough=True), tuple(closing), p.body(), p.body("retry"),
                p.work("middle"), p.count())  # fmt: skip

    @cached_property
    def rescue(self):
        """Sweeps of `rescued`; none where no row can become redundant. Few runs need them: they are made for the first step
        that must be cut."""
        p = self.programs
        return (p.body("land"), *self.projection()) if p.model.soft else self._no_rescue

    @cached_property
    def _no_rescue(self):
        return (self.programs.body(),) * 8

    def advance(self, work, steps, age):
        return self._steps(work, steps, age, CALM_PARTS, SLOW, None)

    def _steps(self, work, steps, age, *how):
        whole = "rescue" not in vars(self) and work[PACE] in (0.0, FINEST)
        made, status, age = self._some_steps(work, steps, age, whole, *how)
        if status == CUT:
            more, status, age = self._some_steps(work, steps - made, age, False, *how)
            made += more
        return made, status, age

    def _some_steps(self, work, steps, age, whole, calm_parts, slow, contact):
        (given, limits), rescue = self._plan, self._no_rescue if whole else self.rescue
        table = given[0] if whole else self.programs.table  # with the kernels of the rescue
        return self._drive(steps_of_rattle, work, table, *given[1:], steps, age, *limits, rescue, whole, calm_parts, slow,
                           *self.kick, contact)  # fmt: skip

    @cached_property
    def _plan(self):
        """What is the same in every call: the table of kernels, sweeps, where impulses go; tolerances."""
        sweeps = self.sweeps  # before the table, which has their kernels
        enough = max(self.tolerance, SINGULAR) if self.programs.model.soft else self.tolerance
        return (self.programs.table, *sweeps, *self.impulses, self.sentinels), (self.tolerance, enough)


class Shake(Rattle):
    """One kick, the flight that ends on the constraints, and velocities that are made consistent there: RATTLE with all of its
    forces before the flight. Of order 1, and as safe; in contact it needs one stage of two."""

    name, order = "shake", 1
    kick = (1.0, 0.0)
