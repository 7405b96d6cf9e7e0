"""The compiled step of semi-implicit Euler."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.contact.hook import SINGLE, ContactHook, call_contact
from linkwork.engines.maximal.regularised_projection_steps import SOFT_AT, SOFTEST, RegularisedProjection, violation
from linkwork.engines.scalars import HALF, KICK, POWER_WEIGHT, SOFTNESS, TIME
from linkwork.engines.step_driver import OK, STUCK, StepTable


class EulerPlan(Struct):
    """What is the same in every call."""

    kernels: np.ndarray  # the table of sweeps
    up: np.ndarray
    solved: np.ndarray  # a part of `down` where nothing stands between
    down: np.ndarray
    work_done: np.ndarray
    count: np.ndarray
    projection: RegularisedProjection  # without rows: rows are as hard as ever
    hook: ContactHook
    steps: StepTable


@jit
def attempt(work, plan, h, start):
    """A step without contact."""
    return make_step(work, plan, None, h)


@jit
def attempt_in_contact(work, plan, h, start):
    """A step with one phase of contact, on the velocity at its end. Where rows depend on others, and positions are not
    projected, rows are as soft as feedback leaves them violated (regularised_projection_steps.py)."""
    projection = plan.projection
    soft = projection.rows.shape[0] > 0
    if soft:
        violated = violation(work, projection)
        work[SOFTNESS] = projection.limits[SOFT_AT] + (violated if violated < SOFTEST else SOFTEST)
    return make_step(work, plan, plan.hook, h)


@jit_inner
def make_step(work, plan, hook, h):
    """hook: None, or that of the plan: what is not there is not compiled."""
    table = plan.kernels
    work[KICK], work[POWER_WEIGHT] = 1.0, h
    sweep(work, table, plan.up)
    sweep(work, table, plan.solved)
    if hook is not None:
        work[SOFTNESS] = plan.projection.limits[SOFT_AT]
        if call_contact(work, table, hook, h, SINGLE):
            return STUCK
    work[HALF] = work[TIME]
    sweep(work, table, plan.work_done)
    sweep(work, table, plan.down)
    work[TIME] += h
    sweep(work, table, plan.count)
    return OK
