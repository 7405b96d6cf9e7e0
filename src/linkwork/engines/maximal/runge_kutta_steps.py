"""Compiled steps of Runge-Kutta methods on the packed vector y = (q, v) of all bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.codegen.jit import call_compiled, heed, jit, jit_inner, sweep
from linkwork.codegen.struct import Bundle
from linkwork.engines.maximal.rattle_steps import project
from linkwork.engines.maximal.settling_steps import Settling, factor, settle
from linkwork.engines.scalars import GOOD_SUBSTEPS, HALF, KICK, POWER_WEIGHT, STEP, SUBSTEP, TIME, WORK_DONE
from linkwork.engines.step_driver import IS_LAST, OK, STUCK, StepTable, add_impulses

ROUNDS = 2  # of the position projection
SINGULAR_STEP = 1e-3  # of dt: where rows depend on others, an error that asks for less is that of a singular place
FIRST_ORDER_STEP = 1 / 16  # of dt: what is made at least by a step of first order
SMALLEST = 1e-12  # step, relative to dt, below which an adaptive run is stuck
MOST_PARTS = 100_000  # of a step, those that are made again included: it is stuck, too
PACKED, RATES, IMPULSES, REDUNDANT = range(4)  # flags


class RungeKuttaPlan(Bundle):
    """What is the same in every call."""

    kernels: np.ndarray  # the table of sweeps
    pack: np.ndarray
    unpack: np.ndarray
    accelerate: np.ndarray
    up: np.ndarray
    backward: np.ndarray
    derive: np.ndarray
    normalise: np.ndarray
    kick: np.ndarray  # of the projection, until ...
    up_position: np.ndarray
    nudge: np.ndarray
    clear: np.ndarray
    right: np.ndarray
    up_velocity: np.ndarray
    strike: np.ndarray  # ... here
    work_done: np.ndarray
    count: np.ndarray
    multipliers: np.ndarray  # int64: entries
    before: np.ndarray  # (multipliers,) scratch: impulses of the substeps that were made
    given: np.ndarray  # (multipliers,) scratch: those before a step of `shake`
    y0: np.ndarray  # (n,) scratch: y as a substep begins
    slopes: np.ndarray  # (stages, n) scratch: y' at each stage
    A: np.ndarray  # of the method
    B: np.ndarray
    C: np.ndarray
    E: np.ndarray  # of its error estimate
    tolerance: np.ndarray  # (1,)
    flags: np.ndarray  # (4,) int64: where y lies, where y' lies, where impulses begin; whether rows depend on others: then
    # stages stand on the constraints, and a step whose stages cannot be brought onto them is one of `shake`
    settling: Settling
    shake: Any  # (2,) int64: addresses of `drive_once`, and of the table of `shake`
    steps: StepTable


@jit_inner
def make_stages(work, plan, h, t0, first):
    """All stages of one step from y0. False where one could not be brought onto the constraints. `first`: impulses before it do
    not count."""
    table, y0, slopes, A, B, C = plan.kernels, plan.y0, plan.slopes, plan.A, plan.B, plan.C
    n, packed, rates = len(y0), plan.flags[PACKED], plan.flags[RATES]
    last, redundant = plan.steps.now[IS_LAST] > 0, plan.flags[REDUNDANT] > 0
    for i in range(len(C)):
        if i > 0:
            for m in range(n):
                total = 0.0
                for j in range(i):
                    total += A[i, j] * slopes[j, m]
                work[packed + m] = y0[m] + h * total
            sweep(work, table, plan.unpack)
        work[TIME] = t0 + C[i] * h
        if redundant and i > 0:
            sweep(work, table, plan.normalise)
            if not settle(work, plan.settling):
                return False
        work[KICK] = 1.0
        sweep(work, table, plan.accelerate)
        sweep(work, table, plan.up)
        sweep(work, table, plan.backward)
        if last:
            add_impulses(work, plan.multipliers, plan.flags[IMPULSES], B[i] * h, first and i == 0)
        if plan.work_done.shape[0]:
            work[HALF] = work[TIME]
            work[POWER_WEIGHT] = B[i] * h
            sweep(work, table, plan.work_done)
        sweep(work, table, plan.derive)
        for m in range(n):
            slopes[i, m] = work[rates + m]
    return True


@jit_inner
def combine(work, plan, h):
    """y after a step, from the slopes of its stages."""
    y0, slopes, B, packed = plan.y0, plan.slopes, plan.B, plan.flags[PACKED]
    for m in range(len(y0)):
        total = 0.0
        for i in range(len(B)):
            total += B[i] * slopes[i, m]
        work[packed + m] = y0[m] + h * total
    sweep(work, plan.kernels, plan.unpack)
    sweep(work, plan.kernels, plan.normalise)


@jit_inner
def project_all(work, plan):
    """Positions and velocities back onto the constraints."""
    project(work, plan.kernels, plan.kick, plan.up_position, plan.nudge, plan.clear, plan.right, plan.up_velocity, plan.strike,
            ROUNDS)  # fmt: skip


@jit_inner
def pack(work, plan):
    """y as a substep begins."""
    sweep(work, plan.kernels, plan.pack)
    for m in range(len(plan.y0)):
        plan.y0[m] = work[plan.flags[PACKED] + m]


@jit_inner
def go_back(work, plan):
    """To where the substep began."""
    for m in range(len(plan.y0)):
        work[plan.flags[PACKED] + m] = plan.y0[m]
    sweep(work, plan.kernels, plan.unpack)


@jit_inner
def step_of_shake(work, plan, h, t0, first):
    """One step from y0 in a place that is singular; its status. `first`: impulses before it do not count."""
    go_back(work, plan)
    substep, good, step = work[SUBSTEP], work[GOOD_SUBSTEPS], work[STEP]
    impulses, count = plan.flags[IMPULSES], plan.multipliers.shape[0]
    for k in range(count):
        plan.given[k] = work[impulses + k]
    work[SUBSTEP], work[GOOD_SUBSTEPS], work[STEP], work[TIME] = 0.0, 0.0, h, t0
    factor(work, plan.settling)
    status = call_compiled(plan.shake[0], (work, plan.shake[1]))
    work[SUBSTEP], work[GOOD_SUBSTEPS], work[STEP] = substep, good, step
    if not first:
        for k in range(count):
            work[impulses + k] += plan.given[k]
    return status


@jit
def attempt_rk4(work, plan, h, start):
    """A step of fixed length, projected onto the constraints."""
    pack(work, plan)
    done_before = work[WORK_DONE]
    settled = make_stages(work, plan, h, start, True)
    if settled:
        combine(work, plan, h)
        work[TIME] = start + h
    if not plan.flags[REDUNDANT]:
        project_all(work, plan)
    elif not (settled and settle(work, plan.settling)):
        work[WORK_DONE] = done_before
        status = step_of_shake(work, plan, h, start, True)
        if status != OK:
            return status
    sweep(work, plan.kernels, plan.count)
    return OK


@jit_inner
def error_of(plan, h):
    """The error of a step, over the tolerance."""
    y0, slopes, E, error = plan.y0, plan.slopes, plan.E, 0.0
    for m in range(len(y0)):
        e = 0.0
        for i in range(len(plan.C)):
            e += E[i] * slopes[i, m]
        scale = plan.tolerance[0] * (1.0 + abs(y0[m]))
        error = max(error, abs(h * e) / scale)
    return error if error < 1e300 else 1e300


@jit
def attempt_dopri5(work, plan, dt, begin):
    """A step of dt, made of as many accepted ones as the error asks for; the length of the last is kept in the state."""
    impulses, count = plan.flags[IMPULSES], plan.multipliers.shape[0]
    redundant, end, t, parts = plan.flags[REDUNDANT] > 0, begin + dt, begin, 0
    while t < end:
        parts += 1
        heed(work.shape[0])
        pace = work[SUBSTEP] if work[SUBSTEP] > 0.0 else dt
        h = min(pace, end - t)
        last = h == end - t
        pack(work, plan)
        done_before = work[WORK_DONE]
        for k in range(count):
            plan.before[k] = work[impulses + k]
        settled = make_stages(work, plan, h, t, t == begin)
        error = error_of(plan, h)
        if redundant and (not settled or (error > 1.0 and h < SINGULAR_STEP * dt)):
            settled, error, h = False, 1.0, max(h, FIRST_ORDER_STEP * dt)
            last = end - t < 2.0 * h
            h = end - t if last else h
        factor = min(5.0, max(0.2, 0.9 * (1.0 / max(error, 1e-10)) ** 0.2))
        if error <= 1.0:
            if settled:
                combine(work, plan, h)
                work[TIME] = end if last else t + h
            if not redundant:
                project_all(work, plan)
            elif not (settled and settle(work, plan.settling)):
                undo(work, plan, done_before)
                status = step_of_shake(work, plan, h, t, t == begin)
                if status != OK:
                    return status
            t = end if last else t + h
            work[TIME] = t
            if plan.steps.now[IS_LAST] and not last:
                add_impulses(work, plan.multipliers, impulses, 1.0, False)
            sweep(work, plan.kernels, plan.count)
            if not (last and factor > 1.0 and h < pace):
                work[SUBSTEP] = h * factor
        else:
            go_back(work, plan)
            undo(work, plan, done_before)
            work[TIME], work[SUBSTEP] = t, h * factor
            if work[SUBSTEP] < SMALLEST * dt:
                return STUCK
        if parts == MOST_PARTS and t < end:
            return STUCK
    return OK


@jit_inner
def undo(work, plan, done_before):
    """Work and impulses of a substep that is not taken."""
    work[WORK_DONE] = done_before
    for k in range(plan.multipliers.shape[0]):
        work[plan.flags[IMPULSES] + k] = plan.before[k]
