"""Compiled attempts of RATTLE and SHAKE: opening kick, drift onto the constraints, closing kick; and the rescue."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import check_interrupt, jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.contact.hook import CLOSING, DRIFTED, OPENING, SINGLE, ContactHook, call_contact, forget_rows, has_contact
from linkwork.engines.scalars import EXTRAPOLATE, HALF, KICK, POWER_WEIGHT, STEP, TIME, WORST
from linkwork.engines.step_driver import (
    AGE,
    FINEST,
    IMPULSES,
    IS_FIRST,
    IS_LAST,
    LENGTH,
    OK,
    REJECTED,
    STUCK,
    StepTable,
    add_impulses,
)

CORRECTIONS = 30  # of positions in a substep; one that needs more is rejected
RESCUED_LENGTH = FINEST // 16  # a rejected substep of this length or less (1/16 of the step) is made by projection instead
BENT_LENGTH = FINEST // 64  # no substep this short is rejected for ropes and limits that the linear row has not held
RESCUES = 64  # projections of a rescue, each with new factors: in a singular place one leaves a quarter or more

TOLERANCE, ENOUGH, TOO_SLOW, FIRST_KICK, LAST_KICK, UNRESOLVED = range(6)  # Plan.numbers
OWN_FACTORS, RESCUE, REFUSED = range(3)  # Plan.flags
NEVER, LACKING, THERE = range(3)  # Plan.flags[RESCUE]: not needed; its sweeps are not made yet; they are


class Rescue(Struct):
    """Sweeps of `rescued`. They are empty until the first step that needs them, since few runs do."""

    kernels: np.ndarray  # addresses of the kernels of these sweeps and of those of the plan
    accept_drift: np.ndarray
    kick: np.ndarray
    up_position: np.ndarray
    correct_position: np.ndarray
    clear: np.ndarray
    right: np.ndarray
    up_velocity: np.ndarray
    apply_impulses: np.ndarray
    check: np.ndarray
    rows: np.ndarray  # int64: entries in which `check` leaves residuals of positions


class Plan(Struct):
    """What is the same in every call. Without contact `solved` and `motion` are parts of other sweeps."""

    kernels: np.ndarray  # addresses of the kernels of all sweeps
    opening: np.ndarray  # several sweeps, concatenated
    opening_ends: np.ndarray  # int64: the end of each of them
    solved: np.ndarray
    first_drift: np.ndarray
    drift: np.ndarray
    forward: np.ndarray
    closing: np.ndarray
    closing_ends: np.ndarray
    motion: np.ndarray
    restore: np.ndarray
    work_done: np.ndarray
    count: np.ndarray
    multipliers: np.ndarray  # int64: entries
    numbers: np.ndarray  # (6,) tolerances of the position stage: of all rows, and of those that may be redundant; the part of a
    # residual that a correction may leave; parts of a step that forces act for, before and after the drift; the residual of a
    # body that has turned too far
    flags: np.ndarray  # (3,) int64: whether the opening has factors of its own; the rescue, its failure
    asking: np.ndarray  # (1,) int64: a table with the routine that makes the rescue
    request: np.ndarray  # (1, operation) int32: its operation
    rescue: Rescue
    hook: ContactHook
    steps: StepTable


@jit
def project(
    work,
    table,
    kick,
    up_position,
    backward_correct_position,
    clear,
    right_position,
    up_velocity,
    backward_apply_impulse,
    rounds,
):
    """Positions, then velocities, back onto the constraints, by displacements of least kinetic norm."""
    work[KICK] = 0.0
    sweep(work, table, kick)
    sweep(work, table, up_position)
    sweep(work, table, backward_correct_position)
    for _ in range(1, rounds):
        sweep(work, table, clear)
        sweep(work, table, right_position)
        sweep(work, table, backward_correct_position)
    sweep(work, table, kick)
    sweep(work, table, up_velocity)
    sweep(work, table, backward_apply_impulse)


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
def drift_onto_constraints(work, plan, end):
    """The drift after an opening kick, corrected until the residuals are below the tolerance; False where they stay above what
    is enough."""
    table, tolerance, slow, now = plan.kernels, plan.numbers[TOLERANCE], plan.numbers[TOO_SLOW], plan.steps.now
    impulses, last = plan.steps.rules[IMPULSES], now[IS_LAST] > 0
    work[TIME] = end
    work[WORST] = 0.0
    sweep(work, table, plan.first_drift, True)
    if last:
        add_impulses(work, plan.multipliers, impulses, 1.0, now[IS_FIRST] > 0)
    sweep(work, table, plan.work_done)
    corrections, before = 0, plan.numbers[UNRESOLVED]  # which a first drift leaves that has turned too far: corrections would
    while work[WORST] > tolerance:  # only hide it
        if corrections == CORRECTIONS or (work[WORST] > slow * before and work[WORST] > 10.0 * tolerance):
            return work[WORST] <= plan.numbers[ENOUGH]
        before = work[WORST]
        sweep(work, table, plan.forward, True)
        work[WORST] = 0.0
        sweep(work, table, plan.drift, True)
        if last:
            add_impulses(work, plan.multipliers, impulses, 1.0, False)
        sweep(work, table, plan.work_done)
        corrections += 1
    return work[WORST] <= tolerance


@jit_inner
def rescued(work, plan):
    """Part of a step where forces along the constraints of its beginning cannot bring it back onto them: a drift, then the
    nearest place on the constraints, with the directions found there, as near as what is enough: a residual of e is a sag of
    sqrt(e l). Of first order; leaves factors as a closing kick."""
    r = plan.rescue
    work[EXTRAPOLATE : EXTRAPOLATE + 3] = 0.0
    work[KICK] = work[STEP]
    sweep_in_a_row(work, r.kernels, plan.opening, plan.opening_ends)
    sweep(work, r.kernels, plan.drift, True)
    sweep(work, r.kernels, r.accept_drift, True)
    for _ in range(RESCUES):
        check_interrupt(work.shape[0])
        project(
            work, r.kernels, r.kick, r.up_position, r.correct_position, r.clear, r.right, r.up_velocity, r.apply_impulses, 1
        )
        sweep(work, r.kernels, r.check)
        worst = 0.0
        for i in r.rows:
            worst = max(worst, abs(work[i]))
        if worst <= plan.numbers[ENOUGH]:
            break


@jit_inner
def can_be_rescued(work, plan):
    """Whether the model has a rescue. Its sweeps are made here, the first time."""
    if plan.flags[RESCUE] == LACKING:
        sweep(work, plan.asking, plan.request)
    return plan.flags[RESCUE] == THERE


@jit
def attempt(work, plan, h, start):
    """A substep; REJECTED where its position stage does not converge. Phases of contact stand before the drift, on the
    velocities that it moves with, and, where forces act then, after the closing kick, so that a body at rest has no
    velocity."""
    table, hook, last_kick = plan.kernels, plan.hook, plan.numbers[LAST_KICK]
    touches = has_contact(hook)
    work[POWER_WEIGHT], work[KICK] = 1.0, plan.numbers[FIRST_KICK] * h
    work[HALF], work[TIME] = start + 0.5 * h, start
    extrapolate(work, plan.steps.now[AGE])
    sweep_in_a_row(work, table, plan.opening, plan.opening_ends)
    sweep(work, table, plan.solved)
    if touches:
        if plan.flags[OWN_FACTORS]:
            forget_rows(hook)
        if call_contact(work, table, hook, h, OPENING if last_kick > 0.0 else SINGLE):
            return STUCK
    if not drift_onto_constraints(work, plan, start + h):
        return REJECTED
    if touches and plan.steps.now[LENGTH] > BENT_LENGTH and call_contact(work, table, hook, h, DRIFTED):
        return REJECTED
    work[KICK] = last_kick * h
    sweep_in_a_row(work, table, plan.closing, plan.closing_ends)
    if touches and last_kick > 0.0 and call_contact(work, table, hook, h, CLOSING):
        return STUCK
    sweep(work, table, plan.motion)
    sweep(work, table, plan.work_done)
    sweep(work, table, plan.count)
    return OK


@jit
def reject(work, plan, h, start):
    """Back to the beginning of a substep, which is halved, or, where that does not help, passed by projection."""
    sweep(work, plan.kernels, plan.restore)
    if has_contact(plan.hook):
        forget_rows(plan.hook)
    if plan.steps.now[LENGTH] <= RESCUED_LENGTH and can_be_rescued(work, plan):
        rescued(work, plan)
        return OK
    return STUCK if plan.flags[REFUSED] else REJECTED
