"""Compiled steps of Runge-Kutta methods on the packed vector y = (q, v) of all bodies.

Where rows depend on others, stages stand on the constraints, and a step whose stages cannot be brought onto them is one of
`shake`. Functions get `settling` then, else None, and what nobody needs is not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.codegen.jit import call_compiled, check_interrupt, jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.engines.maximal.rattle_steps import project
from linkwork.engines.maximal.regularised_projection_steps import RegularisedProjection, factor, project_regularised
from linkwork.engines.scalars import GOOD_SUBSTEPS, HALF, KICK, POWER_WEIGHT, STEP, SUBSTEP, TIME, WORK_DONE
from linkwork.engines.step_driver import IS_LAST, OK, STUCK, StepTable, add_impulses

ROUNDS = 2  # of the projection of positions, the second with the factors of the first
# Substeps relative to dt. Where rows depend on others, an error that asks for less than SINGULAR_STEP is that of a singular
# place, which is passed by a step of first order, FIRST_ORDER_STEP or longer. Below SMALLEST an adaptive run is stuck.
SINGULAR_STEP, FIRST_ORDER_STEP, SMALLEST = 1e-3, 1 / 16, 1e-12
MOST_PARTS = 100_000  # substeps tried in a step, beyond which it is stuck
PACKED, RATES, IMPULSES = range(3)  # RungeKuttaPlan.flags


class RungeKuttaPlan(Struct):
    """What is the same in every call."""

    kernels: np.ndarray  # addresses of the kernels of all sweeps
    pack: np.ndarray
    unpack: np.ndarray
    accelerate: np.ndarray
    up: np.ndarray
    backward: np.ndarray
    derive: np.ndarray
    normalise: np.ndarray
    kick: np.ndarray  # from here to `apply_impulses`: the projection
    up_position: np.ndarray
    correct_position: np.ndarray
    clear: np.ndarray
    right: np.ndarray
    up_velocity: np.ndarray
    apply_impulses: np.ndarray
    work_done: np.ndarray
    count: np.ndarray
    multipliers: np.ndarray  # int64: entries
    before: np.ndarray  # (multipliers,) scratch: impulses of the substeps that were made
    given: np.ndarray  # (multipliers,) scratch: those before a step of `shake`
    y0: np.ndarray  # (n,) scratch: y as a substep begins
    slopes: np.ndarray  # (stages, n) scratch: y' at each stage
    A: np.ndarray  # Butcher's tableau
    B: np.ndarray
    C: np.ndarray
    E: np.ndarray  # weights of the error estimate
    tolerance: np.ndarray  # (1,)
    flags: np.ndarray  # (3,) int64: where y lies, where y' lies, where impulses begin
    projection: RegularisedProjection
    shake: Any  # (2,) int64: addresses of `drive_once`, and of the table of `shake`
    steps: StepTable


@jit_inner
def make_stages(work, plan, projection, h, t0, first):
    """All stages of one step from y0. False where one could not be brought onto the constraints. `first`: impulses before it do
    not count."""
    table, y0, slopes, A, B, C = plan.kernels, plan.y0, plan.slopes, plan.A, plan.B, plan.C
    n, packed, rates = len(y0), plan.flags[PACKED], plan.flags[RATES]
    last = plan.steps.now[IS_LAST] > 0
    for i in range(len(C)):
        if i > 0:
            for m in range(n):
                total = 0.0
                for j in range(i):
                    total += A[i, j] * slopes[j, m]
                work[packed + m] = y0[m] + h * total
            sweep(work, table, plan.unpack)
        work[TIME] = t0 + C[i] * h
        if projection is not None and i > 0:
            sweep(work, table, plan.normalise)
            if not project_regularised(work, projection):
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
    """Compute y after a step from the slopes of its stages."""
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
    """Bring positions and velocities back onto the constraints."""
    project(
        work,
        plan.kernels,
        plan.kick,
        plan.up_position,
        plan.correct_position,
        plan.clear,
        plan.right,
        plan.up_velocity,
        plan.apply_impulses,
        ROUNDS,
    )


@jit_inner
def pack(work, plan):
    """Keep y as the substep begins."""
    sweep(work, plan.kernels, plan.pack)
    for m in range(len(plan.y0)):
        plan.y0[m] = work[plan.flags[PACKED] + m]


@jit_inner
def go_back(work, plan):
    """Go back to where the substep began."""
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
    factor(work, plan.projection)
    status = call_compiled(plan.shake[0], (work, plan.shake[1]))
    work[SUBSTEP], work[GOOD_SUBSTEPS], work[STEP] = substep, good, step
    if not first:
        for k in range(count):
            work[impulses + k] += plan.given[k]
    return status


@jit
def attempt_rk4(work, plan, h, start):
    """A step of fixed length, projected onto the constraints."""
    return make_rk4_step(work, plan, None, h, start)


@jit
def attempt_settled_rk4(work, plan, h, start):
    """The same where rows depend on others."""
    return make_rk4_step(work, plan, plan.projection, h, start)


@jit_inner
def make_rk4_step(work, plan, projection, h, start):
    pack(work, plan)
    done_before = work[WORK_DONE]
    settled = make_stages(work, plan, projection, h, start, True)
    if settled:
        combine(work, plan, h)
        work[TIME] = start + h
    if projection is None:
        project_all(work, plan)
    elif not (settled and project_regularised(work, projection)):
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
    return make_dopri5_steps(work, plan, None, dt, begin)


@jit
def attempt_settled_dopri5(work, plan, dt, begin):
    """The same where rows depend on others."""
    return make_dopri5_steps(work, plan, plan.projection, dt, begin)


@jit_inner
def make_dopri5_steps(work, plan, projection, dt, begin):
    impulses, count = plan.flags[IMPULSES], plan.multipliers.shape[0]
    end, t, parts = begin + dt, begin, 0
    while t < end:
        parts += 1
        check_interrupt(work.shape[0])
        pace = work[SUBSTEP] if work[SUBSTEP] > 0.0 else dt
        h = min(pace, end - t)
        last = h == end - t
        pack(work, plan)
        done_before = work[WORK_DONE]
        for k in range(count):
            plan.before[k] = work[impulses + k]
        settled = make_stages(work, plan, projection, h, t, t == begin)
        error = error_of(plan, h)
        if projection is not None and (not settled or (error > 1.0 and h < SINGULAR_STEP * dt)):
            settled, error, h = False, 1.0, max(h, FIRST_ORDER_STEP * dt)
            last = end - t < 2.0 * h
            h = end - t if last else h
        factor = min(5.0, max(0.2, 0.9 * (1.0 / max(error, 1e-10)) ** 0.2))
        if error <= 1.0:
            if settled:
                combine(work, plan, h)
                work[TIME] = end if last else t + h
            if projection is None:
                project_all(work, plan)
            elif not (settled and project_regularised(work, projection)):
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
    """Undo the work and impulses of a rejected substep."""
    work[WORK_DONE] = done_before
    for k in range(plan.multipliers.shape[0]):
        work[plan.flags[IMPULSES] + k] = plan.before[k]
