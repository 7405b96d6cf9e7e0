"""The compiled step of first-order motion."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.contact.hook import SINGLE, ContactHook, call_contact, has_contact
from linkwork.engines.maximal.regularised_projection_steps import (
    SOFT_AT,
    SOFTEST,
    RegularisedProjection,
    project_positions,
    violation,
)
from linkwork.engines.scalars import HALF, KICK, POWER_WEIGHT, SOFTNESS, TIME
from linkwork.engines.step_driver import DIVERGED, LENGTH, OK, REJECTED, STUCK, StepTable, finite

# Residuals relative to the size of the mechanism. Below HELD, which it may have as built, it is on its constraints. In a
# singular place a residual e is a sag of sqrt(e): a step that leaves a larger sag than SAG is made in parts.
HELD, SAG = 1e-6, 2e-5
PROJECTIONS = 20  # at most, in a singular place
SETTLES = 0  # FirstOrderPlan.flags


class FirstOrderPlan(Struct):
    """What is the same in every call."""

    kernels: np.ndarray  # addresses of the kernels of all sweeps
    kick: np.ndarray
    up: np.ndarray
    solved: np.ndarray  # a part of `down` where nothing stands between
    down: np.ndarray
    work_done: np.ndarray
    count: np.ndarray
    place: np.ndarray
    projection: RegularisedProjection
    coordinates: np.ndarray  # int64: entries of all coordinates, in models with a projection
    before: np.ndarray  # their values as the step begins
    speeds: np.ndarray  # int64: entries of all velocities
    farthest: np.ndarray  # (1,) m, rad: how far a body may go in a step
    flags: np.ndarray  # (1,) int64: whether there is a projection
    hook: ContactHook
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
    """A step, or a part of one, with contact on the velocity in it: OK, STUCK where there is no room for contact, or REJECTED
    where it has left the constraints that it was on and does not come back to them."""
    table, projection, off = plan.kernels, plan.projection, 0.0
    settles = plan.flags[SETTLES] > 0
    if settles:
        off = violation(work, projection)
        work[SOFTNESS] = projection.limits[SOFT_AT] + min(off, SOFTEST)
    sweep(work, table, plan.kick)
    sweep(work, table, plan.up)
    sweep(work, table, plan.solved)
    if has_contact(plan.hook) and call_contact(work, table, plan.hook, h, SINGLE):
        return STUCK
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
                regular = project_positions(work, projection)
                if regular:
                    break
            on = regular or violation(work, projection) <= SAG**2
        work[KICK], work[SOFTNESS] = 1.0, projection.limits[SOFT_AT]
    return OK if on else REJECTED


@jit
def attempt(work, plan, h, start):
    """A substep; REJECTED where it leads away from a singular place."""
    work[KICK], work[POWER_WEIGHT] = 1.0, h
    for k in range(plan.coordinates.shape[0]):
        plan.before[k] = work[plan.coordinates[k]]
    moved = move(work, plan, h)
    if moved == STUCK or (moved == REJECTED and plan.steps.now[LENGTH] > 1):
        return moved
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
