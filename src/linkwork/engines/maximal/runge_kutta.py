"""Runge-Kutta on the packed vector y = (q, v) of all bodies, y' = (N(q) v, a): `rk4` with fixed steps, `dopri5`
(Dormand-Prince 5(4)) with steps chosen by its error estimate. After each step positions and velocities are projected
back onto the constraints. Velocity rows and time-dependent rows enter through their acceleration bias."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import heed, jit, sweep
from linkwork.codegen.struct import Bundle
from linkwork.engines.engine import (
    CALM,
    DIVERGED,
    DONE,
    GROWS,
    HALF,
    KICK,
    OK,
    PACE,
    SHARE,
    STEP,
    STUCK,
    TIME,
    Integrator,
    finite,
    project,
    tally,
)
from linkwork.engines.maximal.rattle import Plan, Shake, steps_of_rattle
from linkwork.engines.maximal.settling import Settling, factor, settle, settling

ROUNDS = 2  # of the position projection
SINGULAR_STEP = 1e-3  # of dt: where rows depend on others, an error that asks for less is that of a singular place
FIRST_ORDER_STEP = 1 / 16  # of dt: what is made at least by a step of first order
SMALLEST = 1e-12  # step, relative to dt, below which an adaptive run is stuck
MOST_PARTS = 100_000  # of a step, those that are made again included: it is stuck, too

A4 = np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]])
B4 = np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6])
C4 = np.array([0, 0.5, 0.5, 1.0])

A5 = np.array([
    [0, 0, 0, 0, 0, 0, 0],
    [1 / 5, 0, 0, 0, 0, 0, 0],
    [3 / 40, 9 / 40, 0, 0, 0, 0, 0],
    [44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
])  # fmt: skip
B5 = np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0])
C5 = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
E5 = B5 - np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])


class Redundant(Bundle):
    """What steps need where rows depend on others: stages stand on the constraints, and a step whose stages cannot be brought
    onto them is one of `shake`."""

    normalise: np.ndarray
    settling: Settling
    shake: Plan


@jit
def _stages(
    work, table, sweeps, redundant, work_done, multipliers, impulses, last, first, packed, rates, n, A, B, C, y0, slopes, h, t0
):
    """All stages of one step from y0; slopes[i] is y' at stage i. False where one could not be brought onto the constraints."""
    pack, unpack, accelerate, up, backward, derive = sweeps
    for i in range(len(C)):
        if i > 0:
            for m in range(n):
                total = 0.0
                for j in range(i):
                    total += A[i, j] * slopes[j, m]
                work[packed + m] = y0[m] + h * total
            sweep(work, table, unpack)
        work[TIME] = t0 + C[i] * h
        if redundant is not None and i > 0:
            sweep(work, table, redundant.normalise)
            if not settle(work, redundant.settling):
                return False
        work[KICK] = 1.0
        sweep(work, table, accelerate)
        sweep(work, table, up)
        sweep(work, table, backward)
        if last:
            tally(work, multipliers, impulses, B[i] * h, first and i == 0)
        if work_done.shape[0]:
            work[HALF] = work[TIME]
            work[SHARE] = B[i] * h
            sweep(work, table, work_done)
        sweep(work, table, derive)
        for m in range(n):
            slopes[i, m] = work[rates + m]
    return True


@jit
def _combine(work, table, unpack, normalise, packed, n, B, y0, slopes, h):
    for m in range(n):
        total = 0.0
        for i in range(len(B)):
            total += B[i] * slopes[i, m]
        work[packed + m] = y0[m] + h * total
    sweep(work, table, unpack)
    sweep(work, table, normalise)


@jit
def _step_of_shake(work, table, unpack, redundant, packed, y0, multipliers, impulses, first, h, t0):
    """One step from y0 in a place that is singular; its status. `first`: impulses before it do not count."""
    work[packed : packed + len(y0)] = y0
    sweep(work, table, unpack)
    pace, calm, step = work[PACE], work[CALM], work[STEP]
    given = work[impulses : impulses + multipliers.shape[0]].copy()
    work[PACE], work[CALM], work[STEP], work[TIME] = 0.0, 0.0, h, t0
    factor(work, redundant.settling)
    _, status, _ = steps_of_rattle(work, redundant.shake, 1, 0, None)
    work[PACE], work[CALM], work[STEP] = pace, calm, step
    if not first:
        work[impulses : impulses + multipliers.shape[0]] += given
    return status


@jit
def steps_of_rk4(
    work,
    table,
    redundant,
    sweeps,
    normalise,
    projection,
    work_done,
    count,
    multipliers,
    impulses,
    sentinels,
    packed,
    rates,
    n,
    steps,
    A,
    B,
    C,
):
    h = work[STEP]
    y0, slopes = np.empty(n), np.empty((len(C), n))
    kick, up_position, nudge, clear, right, up_velocity, strike = projection
    for k in range(steps):
        t0 = work[TIME]
        sweep(work, table, sweeps[0])
        for m in range(n):
            y0[m] = work[packed + m]
        done_before = work[DONE]
        settled = _stages(
            work, table, sweeps, redundant, work_done, multipliers, impulses, k == steps - 1, True, packed, rates, n, A, B, C,
            y0, slopes, h, t0
        )  # fmt: skip
        if settled:
            _combine(work, table, sweeps[1], normalise, packed, n, B, y0, slopes, h)
            work[TIME] = t0 + h
        if redundant is None:
            project(work, table, kick, up_position, nudge, clear, right, up_velocity, strike, ROUNDS)
        elif not (settled and settle(work, redundant.settling)):
            work[DONE] = done_before
            status = _step_of_shake(work, table, sweeps[1], redundant, packed, y0, multipliers, impulses, True, h, t0)
            if status != OK:
                return k + 1, status, 0
        if count.shape[0]:
            sweep(work, table, count)
        if not finite(work, sentinels):
            return k + 1, DIVERGED, 0
    return steps, OK, 0


@jit
def steps_of_dopri5(
    work, table, redundant, sweeps, normalise, projection, work_done, count, multipliers, impulses, sentinels, packed, rates,
    n, steps, A, B, C, E, tolerance
):  # fmt: skip
    """Each step of dt is made of as many accepted ones as the error asks for; the pace is kept in the state."""
    dt = work[STEP]
    y0, slopes = np.empty(n), np.empty((len(C), n))
    kick, up_position, nudge, clear, right, up_velocity, strike = projection
    for k in range(steps):
        begin = work[TIME]
        end = begin + dt
        last_step = k == steps - 1
        t, parts = begin, 0
        while t < end:
            parts += 1
            heed(work.shape[0])
            pace = work[PACE] if work[PACE] > 0.0 else dt
            h = min(pace, end - t)
            last = h == end - t
            sweep(work, table, sweeps[0])
            for m in range(n):
                y0[m] = work[packed + m]
            done_before, given = work[DONE], work[impulses : impulses + multipliers.shape[0]].copy()
            settled = _stages(
                work, table, sweeps, redundant, work_done, multipliers, impulses, last_step, t == begin, packed, rates, n, A, B,
                C, y0, slopes, h, t
            )  # fmt: skip
            error = 0.0
            for m in range(n):
                e = 0.0
                for i in range(len(C)):
                    e += E[i] * slopes[i, m]
                scale = tolerance * (1.0 + abs(y0[m]))
                error = max(error, abs(h * e) / scale)
            if not error < 1e300:
                error = 1e300
            if redundant is not None and (not settled or (error > 1.0 and h < SINGULAR_STEP * dt)):
                settled, error, h = False, 1.0, max(h, FIRST_ORDER_STEP * dt)
                last = end - t < 2.0 * h
                h = end - t if last else h
            factor = min(5.0, max(0.2, 0.9 * (1.0 / max(error, 1e-10)) ** 0.2))
            if error <= 1.0:
                if settled:
                    _combine(work, table, sweeps[1], normalise, packed, n, B, y0, slopes, h)
                    work[TIME] = end if last else t + h
                if redundant is None:
                    project(work, table, kick, up_position, nudge, clear, right, up_velocity, strike, ROUNDS)
                elif not (settled and settle(work, redundant.settling)):
                    work[DONE] = done_before
                    work[impulses : impulses + len(given)] = given
                    status = _step_of_shake(
                        work, table, sweeps[1], redundant, packed, y0, multipliers, impulses, t == begin, h, t
                    )  # fmt: skip
                    if status != OK:
                        return k + 1, status, 0
                t = end if last else t + h
                work[TIME] = t
                if last_step and not last:
                    tally(work, multipliers, impulses, 1.0, False)
                if count.shape[0]:
                    sweep(work, table, count)
                if not (last and factor > 1.0 and h < pace):
                    work[PACE] = h * factor
            else:
                for m in range(n):
                    work[packed + m] = y0[m]
                sweep(work, table, sweeps[1])
                work[TIME] = t
                work[DONE] = done_before
                work[impulses : impulses + len(given)] = given
                work[PACE] = h * factor
                if work[PACE] < SMALLEST * dt:
                    return k + 1, STUCK, 0
            if parts == MOST_PARTS and t < end:
                return k + 1, STUCK, 0
        if not finite(work, sentinels):
            return k + 1, DIVERGED, 0
    return steps, OK, 0


class RungeKutta(Integrator):
    packed = True

    @cached_property
    def sweeps(self):
        p = self.programs
        stage = (p.packed("pack"), p.packed("unpack"), p.body("accelerate"), p.up("acceleration", warm=True), p.backward(),
                  p.packed("rates"))  # fmt: skip
        m = p.model
        projection, normalise, work_done, count = self.projection(), p.body("normalise"), p.work(), p.count()
        rest = (*self.impulses, self.sentinels, m.packed[0], m.rates[0], m.packed[1])
        return stage, normalise, projection, work_done, count, *rest

    @cached_property
    def redundant(self) -> Redundant | None:
        """Apart from the sweeps: it holds tables of kernels, which are whole only after the sweeps are made."""
        p = self.programs
        return Redundant(p.body("normalise"), settling(p), self.shake.plan) if self.shake is not None else None

    @cached_property
    def shake(self) -> Shake | None:
        """Makes steps in singular places, where there may be some."""
        p = self.programs
        return Shake(p, self.dt, None) if p.model.redundant else None

    def _made(self, made):
        if made[1] != OK and self.shake is not None:
            self.shake.raise_failure()
        return made


class RK4(RungeKutta):
    name, order = "rk4", 4
    most_mixed, mixing = 0.005, GROWS

    def advance(self, work, steps, age):
        sweeps, redundant = self.sweeps, self.redundant
        return self._made(steps_of_rk4(work, self.programs.table, redundant, *sweeps, steps, A4, B4, C4))


class Dopri5(RungeKutta):
    name, order = "dopri5", 5
    takes_tolerance = True
    default_tolerance = 1e-9

    def knows_pace(self, pace, calm):
        return pace >= 0.0  # s

    def advance(self, work, steps, age):
        sweeps, redundant = self.sweeps, self.redundant
        made = steps_of_dopri5(work, self.programs.table, redundant, *sweeps, steps, A5, B5, C5, E5, self.tolerance)
        return self._made(made)
