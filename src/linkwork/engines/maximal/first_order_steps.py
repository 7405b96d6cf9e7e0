"""The compiled step of first-order motion."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.codegen.struct import Bundle
from linkwork.engines.maximal.settling_steps import SOFT_AT, SOFTEST, Settling, settle_positions, violation
from linkwork.engines.scalars import HALF, KICK, POWER_WEIGHT, SOFTNESS, TIME
from linkwork.engines.step_driver import DIVERGED, LENGTH, OK, REJECTED, StepTable, finite

HELD = 1e-6  # of the size of a mechanism: what is violated by less, as it may be as built, is on the constraints
PROJECTIONS = 20  # at most, in a singular place
SAG = (
    2e-5  # of the same size: a residual e is a sag of sqrt(e) in a singular place, and a step that leaves more is made in parts
)
SETTLES = 0  # flags


class FirstOrderPlan(Bundle):
    """What is the same in every call."""

    kernels: np.ndarray  # the table of sweeps
    kick: np.ndarray
    up: np.ndarray
    down: np.ndarray
    work_done: np.ndarray
    count: np.ndarray
    place: np.ndarray
    settling: Settling
    coordinates: np.ndarray  # int64: entries of all coordinates, in models that are settled ...
    before: np.ndarray  # ... and what they were
    speeds: np.ndarray  # int64: entries of all velocities
    farthest: np.ndarray  # (1,) m, rad: how far a body may go in a step
    flags: np.ndarray  # (1,) int64: whether the model is settled
    steps: StepTable


@jit_inner
def is_calm(work, speeds, limit):
    """Whether no velocity is beyond the limit."""
    for i in speeds:
        if not abs(work[i]) < limit:
            return False
    return True


@jit_inner
def move(work, plan, h):
    """A step, or a part of one; False where it has left the constraints that it was on and does not come back to them."""
    table, settling, off = plan.kernels, plan.settling, 0.0
    settles = plan.flags[SETTLES] > 0
    if settles:
        off = violation(work, settling)
        work[SOFTNESS] = settling.limits[SOFT_AT] + min(off, SOFTEST)
    sweep(work, table, plan.kick)
    sweep(work, table, plan.up)
    sweep(work, table, plan.down)
    if plan.work_done.shape[0]:
        work[HALF] = work[TIME]
        sweep(work, table, plan.work_done)
    work[TIME] += h
    on = True
    if settles:
        if off < HELD:
            regular = False
            for _ in range(PROJECTIONS):
                regular = settle_positions(work, settling)
                if regular:
                    break
            on = regular or violation(work, settling) <= SAG**2
        work[KICK], work[SOFTNESS] = 1.0, settling.limits[SOFT_AT]
    return on


@jit
def attempt(work, plan, h, start):
    """A substep; REJECTED where it leads away from a singular place."""
    work[KICK], work[POWER_WEIGHT] = 1.0, h
    for k in range(plan.coordinates.shape[0]):
        plan.before[k] = work[plan.coordinates[k]]
    if not move(work, plan, h) and plan.steps.now[LENGTH] > 1:
        return REJECTED
    sweep(work, plan.kernels, plan.count)
    good = finite(work, plan.steps.sentinels) and is_calm(work, plan.speeds, plan.farthest[0] / h)
    return OK if good else DIVERGED


@jit
def reject(work, plan, h, start):
    """Back to where the substep began."""
    for k in range(plan.coordinates.shape[0]):
        work[plan.coordinates[k]] = plan.before[k]
    sweep(work, plan.kernels, plan.place)
    return REJECTED
