"""The compiled step of semi-implicit Euler."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.codegen.struct import Bundle
from linkwork.contact.hook import SINGLE, ContactHook, call_contact, has_contact
from linkwork.engines.maximal.settling_steps import SOFT_AT, SOFTEST, Settling, violation
from linkwork.engines.scalars import HALF, KICK, POWER_WEIGHT, SOFTNESS, TIME
from linkwork.engines.step_driver import OK, STUCK, StepTable


class EulerPlan(Bundle):
    """What is the same in every call."""

    kernels: np.ndarray  # the table of sweeps
    up: np.ndarray
    solved: np.ndarray  # a part of `down` where nothing stands between
    down: np.ndarray
    work_done: np.ndarray
    count: np.ndarray
    settling: Settling  # without rows: rows are as hard as ever
    hook: ContactHook
    steps: StepTable


@jit
def attempt(work, plan, h, start):
    """A step, with one phase of contact, on the velocity at its end. Where rows depend on others, and positions are not
    projected, rows are as soft as feedback leaves them violated (settling_steps.py)."""
    table, settling = plan.kernels, plan.settling
    work[KICK], work[POWER_WEIGHT] = 1.0, h
    soft = settling.rows.shape[0] > 0
    if soft:
        work[SOFTNESS] = settling.limits[SOFT_AT] + min(violation(work, settling), SOFTEST)
    sweep(work, table, plan.up)
    sweep(work, table, plan.solved)
    if soft:
        work[SOFTNESS] = settling.limits[SOFT_AT]
    if has_contact(plan.hook) and call_contact(work, table, plan.hook, h, SINGLE):
        return STUCK
    work[HALF] = work[TIME]
    sweep(work, table, plan.work_done)
    sweep(work, table, plan.down)
    work[TIME] += h
    sweep(work, table, plan.count)
    return OK
