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
from linkwork.codegen.jit import call_compiled, heed, jit, jit_inner, sweep
from linkwork.codegen.struct import Bundle
from linkwork.collision.layout import CLOSING, FRESH, LANDED, OPENING, SINGLE
from linkwork.elements.bodies.rigid import BENT
from linkwork.engines.engine import (
    CALM,
    DIVERGED,
    DONE,
    EXTRAPOLATE,
    FINEST,
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
    makes_parts,
    part_at_once,
    project,
    tally,
)
from linkwork.engines.maximal.settling import ROUNDED, position_rows, reach
from linkwork.kernels.body_kernels import UNRESOLVED

CORRECTIONS = 30  # of the position stage before a step is tried again in halves
SLOW = 0.3  # of a residual, left by a correction
SLOW_IF_REDUNDANT = 0.2  # the same where rows depend on others: in a singular place Newton's method leaves a quarter
NEWTON = 3  # closing kicks with new factors, for rows that are not linear in velocities
CALM_PARTS = 256  # parts of a step that must go well before longer ones are tried: rare changes keep the energy bounded
RESCUED_PART = FINEST // 16  # of a step, from which on a singular configuration is passed by projection
BENT_PART = FINEST // 16  # the same, for ropes and limits that a straight row does not hold
RESCUES = 64  # projections at most, each with new factors: in a singular place one leaves a quarter or more
SINGULAR = 1e-9  # a residual that is left as it is in mechanisms with loops, where corrections do not help


# numbers and marks of a plan
TOLERANCE, ENOUGH, CALM_ENOUGH, TOO_SLOW, FIRST_KICK, LAST_KICK = range(6)
IMPULSES, OWN_FACTORS, RESCUE, REFUSED = range(4)
NEVER, LACKING, THERE = range(3)  # a rescue


class Rescue(Bundle):
    """Sweeps of `rescued`. Few runs need them: they are empty until a step asks for them."""

    kernels: np.ndarray  # a table with those of the plan, too
    land: np.ndarray
    kick: np.ndarray
    up_position: np.ndarray
    nudge: np.ndarray
    clear: np.ndarray
    right: np.ndarray
    up_velocity: np.ndarray
    strike: np.ndarray
    check: np.ndarray
    rows: np.ndarray  # int64: where it leaves residuals of positions


class Plan(Bundle):
    """What is the same in every call. `solved` and `motion` are parts of other sweeps where there is no contact."""

    kernels: np.ndarray  # their table
    opening: np.ndarray  # sweeps one after another
    opening_ends: np.ndarray  # int64: where each of them ends
    solved: np.ndarray
    first_fly: np.ndarray
    fly: np.ndarray
    forward: np.ndarray
    closing: np.ndarray
    closing_ends: np.ndarray
    motion: np.ndarray
    retry: np.ndarray
    work_done: np.ndarray
    count: np.ndarray
    multipliers: np.ndarray
    sentinels: np.ndarray
    numbers: np.ndarray  # (6,) tolerances of the position stage: of all rows, and of those that may be redundant; `patience`;
    # parts of a step that forces act for, before and after the flight
    marks: np.ndarray  # (4,) int64: where impulses begin; whether the opening has factors of its own; the rescue, its failure
    asking: np.ndarray  # (1,) int64: a table with the routine that makes the rescue
    request: np.ndarray  # (1, operation) int32: its operation
    rescue: Rescue


def in_a_row(sweeps):
    """Sweeps one after another, and where each of them ends."""
    return np.concatenate(sweeps), np.cumsum([len(operations) for operations in sweeps], dtype=np.int64)


@jit_inner
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


@jit_inner
def sweep_in_a_row(work, table, operations, ends):
    begin = 0
    for end in ends:
        sweep(work, table, operations[begin:end], True)
        begin = end


@jit_inner
def land_on_constraints(work, plan, last, first, end):
    """The flight after an opening kick, corrected until the residuals are below the tolerance; False where they stay above what
    is enough."""
    table, tolerance, slow = plan.kernels, plan.numbers[TOLERANCE], plan.numbers[TOO_SLOW]
    work[TIME] = end
    work[WORST] = 0.0
    sweep(work, table, plan.first_fly, True)
    if last:
        tally(work, plan.multipliers, plan.marks[IMPULSES], 1.0, first)
    sweep(work, table, plan.work_done)
    corrections, before = 0, UNRESOLVED  # which a first flight leaves that has turned too far: corrections would only hide it
    while work[WORST] > tolerance:
        if corrections == CORRECTIONS or (work[WORST] > slow * before and work[WORST] > 10.0 * tolerance):
            return work[WORST] <= plan.numbers[ENOUGH]
        before = work[WORST]
        sweep(work, table, plan.forward, True)
        work[WORST] = 0.0
        sweep(work, table, plan.fly, True)
        if last:
            tally(work, plan.multipliers, plan.marks[IMPULSES], 1.0, False)
        sweep(work, table, plan.work_done)
        corrections += 1
    return work[WORST] <= tolerance


@jit_inner
def rescued(work, plan):
    """Part of a step where forces along the constraints of its beginning cannot bring it back onto them: a flight, then the
    nearest place on the constraints, with the directions found there, as near as what is enough: a residual of e is a sag of
    sqrt(e l). Of first order; leaves factors as a closing kick."""
    r = plan.rescue
    work[EXTRAPOLATE : EXTRAPOLATE + 3] = 0.0
    work[KICK] = work[STEP]
    sweep_in_a_row(work, r.kernels, plan.opening, plan.opening_ends)
    sweep(work, r.kernels, plan.fly, True)
    sweep(work, r.kernels, r.land, True)
    for _ in range(RESCUES):
        heed(work.shape[0])
        project(work, r.kernels, r.kick, r.up_position, r.nudge, r.clear, r.right, r.up_velocity, r.strike, 1)
        sweep(work, r.kernels, r.check)
        worst = 0.0
        for i in r.rows:
            worst = max(worst, abs(work[i]))
        if worst <= plan.numbers[ENOUGH]:
            break


@jit_inner
def can_be_rescued(work, plan):
    """Whether there are sweeps for a rescue: made now, where they are lacking."""
    if plan.marks[RESCUE] == LACKING:
        sweep(work, plan.asking, plan.request)
    return plan.marks[RESCUE] == THERE


@jit
def steps_of_rattle(work, plan, steps, age, contact):
    """(steps made, status, age). A step whose position stage does not converge is made in halves, quarters, ..., and so
    are those after it until enough of them have gone well.

    contact: None, or the address of a contact stage and what it needs. Its stages stand before the flight, on the velocities
    that it flies with, and, where forces act then, after the closing kick, so that a body at rest has no velocity."""
    dt = work[STEP]
    work[SHARE] = 1.0
    part = part_at_once(work[PACE])
    table, multipliers, impulses = plan.kernels, plan.multipliers, plan.marks[IMPULSES]
    first_kick, last_kick = plan.numbers[FIRST_KICK], plan.numbers[LAST_KICK]
    given = work[:0]  # impulses of the parts that are done of a step that was cut
    for k in range(steps):
        begin = work[TIME]
        last = k == steps - 1
        done = 0
        while done < FINEST:
            heed(work.shape[0])
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
            sweep_in_a_row(work, table, plan.opening, plan.opening_ends)
            sweep(work, table, plan.solved)
            if contact is not None:
                if plan.marks[OWN_FACTORS]:
                    contact[1].marks[FRESH] = 0
                call_compiled(contact[0], (work, table, contact[1], h, OPENING if last_kick > 0.0 else SINGLE))
            landed = land_on_constraints(work, plan, last, done == 0, start + h)
            if landed and contact is not None and part > BENT_PART:
                landed = call_compiled(contact[0], (work, table, contact[1], h, LANDED)) == 0
            if not landed:
                sweep(work, table, plan.retry)
                work[DONE] = work_before
                if contact is not None:
                    contact[1].marks[FRESH] = 0
                if last and done > 0:
                    work[impulses : impulses + multipliers.shape[0]] = given
                age = 0
                work[CALM] = 0.0
                work[TIME] = start
                if part <= RESCUED_PART and can_be_rescued(work, plan):
                    rescued(work, plan)
                    work[TIME] = start + h
                    done += part
                    continue
                part //= 2
                if part == 0 or plan.marks[REFUSED]:
                    work[STEP] = dt
                    work[PACE] = part
                    return k + 1, STUCK if finite(work, plan.sentinels) else DIVERGED, age
                continue
            work[KICK] = last_kick * h
            sweep_in_a_row(work, table, plan.closing, plan.closing_ends)
            if contact is not None and last_kick > 0.0:
                call_compiled(contact[0], (work, table, contact[1], h, CLOSING))
            sweep(work, table, plan.motion)
            sweep(work, table, plan.work_done)
            sweep(work, table, plan.count)
            done += part
            if last and done < FINEST:
                tally(work, multipliers, impulses, 1.0, False)
            age += 1
            if part < FINEST:
                work[CALM] += 1.0
                if work[CALM] >= plan.numbers[CALM_ENOUGH] and done % (2 * part) == 0:
                    part *= 2
                    work[CALM] = 0.0
                    age = 0
        work[STEP] = dt
        work[TIME] = begin + dt
        work[PACE] = part
        if not finite(work, plan.sentinels):
            return k + 1, DIVERGED, age
    return steps, OK, age


class Rattle(Integrator):
    name, order = "rattle", 2
    kick = (0.5, 0.5)  # parts of a step that forces act for, before and after the flight
    patience: tuple[float, float] = (CALM_PARTS, SLOW)  # parts of a step that must go well before longer ones are tried;
    # of a residual: a correction that leaves more than this part is a sign that the step is too long
    takes_tolerance = True
    takes_feedback = False
    default_tolerance = 1e-11
    most_mixed, mixing, cuts_turns = BENT, "and its steps are made in parts; dt={:.2g} would do without", True

    def knows_pace(self, pace, calm):
        return makes_parts(pace, calm)

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
        first, fly = p.backward("first-fly", landing=True), p.backward("fly", landing=True)
        return (opening, p.body(), first, fly, p.forward(rough=True), tuple(closing), p.body(), p.body("retry"),
                p.work("middle"), p.count())  # fmt: skip

    @cached_property
    def plan(self) -> Plan:
        with self.programs.at_once():
            opening, solved, first_fly, fly, forward, closing, *others = self.sweeps
        model, none, no_rows = self.programs.model, self.programs.body(), np.zeros(0, dtype=np.int64)
        numbers = [self.tolerance, max(self.tolerance, SINGULAR) if model.soft else self.tolerance, *self.patience, *self.kick]
        if model.redundant:
            numbers[TOLERANCE] = 0.0 if self.by_default else self.tolerance
            numbers[ENOUGH] = max(numbers[TOLERANCE], ROUNDED * max(reach(model), 1.0))
            numbers[TOO_SLOW] = SLOW_IF_REDUNDANT
        multipliers, impulses = self.impulses
        marks = np.array([impulses, len(opening) > 1, LACKING if model.soft else NEVER, 0], dtype=np.int64)
        self._asked = Asked(self.make_rescue, marks[REFUSED:])
        table = self.programs.table  # with the kernels of the sweeps, since these are made
        return Plan(table, *in_a_row(opening), solved, first_fly, fly, forward, *in_a_row(closing), *others, multipliers,
                    self.sentinels, np.array(numbers), marks,
                    self._asked.routine, self._asked.request, Rescue(table, *[none] * 9, no_rows))  # fmt: skip

    def make_rescue(self) -> None:
        """The first step that needs a rescue asks for it, in the middle of a run."""
        plan = self.plan
        with self.programs.at_once(seldom=True):
            sweeps = self.programs.body("land"), *self.projection(), self.programs.check()
        sweeps = *sweeps, position_rows(self.programs.model)
        plan.rescue.renew(**dict(zip(Rescue.fields, (self.programs.table, *sweeps), strict=True)))
        plan.marks[RESCUE] = THERE

    def advance(self, work, steps, age):
        return self._steps(work, steps, age, None)

    def _steps(self, work, steps, age, contact):
        made = self._drive(steps_of_rattle, work, self.plan, steps, age, contact)
        if made[1] != OK:
            self.raise_failure()
        return made

    def raise_failure(self) -> None:
        """What went wrong while a rescue was made, if anything did."""
        self._asked.raise_failure()


class Shake(Rattle):
    """One kick, the flight that ends on the constraints, and velocities that are made consistent there: RATTLE with all of its
    forces before the flight. Of order 1, and as safe; in contact it needs one stage of two."""

    name, order = "shake", 1
    kick = (1.0, 0.0)
    default_tolerance = 1e-10
