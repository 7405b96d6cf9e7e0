"""Runge-Kutta on the packed vector y = (q, v) of all bodies, y' = (N(q) v, a): `rk4` with fixed steps, `dopri5`
(Dormand-Prince 5(4)) with steps chosen by its error estimate. After each step positions and velocities are projected
back onto the constraints. Velocity rows and time-dependent rows enter through their acceleration bias."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.integrators.base import (
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

ROUNDS = 2  # of the position projection
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


@jit
def _stages(work, table, sweeps, work_done, multipliers, impulses, last, first, packed, rates, n, A, B, C, y0, slopes, h, t0):
    """All stages of one step from y0; slopes[i] is y' at stage i."""
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
def steps_of_rk4(
    work,
    table,
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
        _stages(
            work, table, sweeps, work_done, multipliers, impulses, k == steps - 1, True, packed, rates, n, A, B, C, y0,
            slopes, h, t0
        )  # fmt: skip
        _combine(work, table, sweeps[1], normalise, packed, n, B, y0, slopes, h)
        work[TIME] = t0 + h
        project(work, table, kick, up_position, nudge, clear, right, up_velocity, strike, ROUNDS)
        if count.shape[0]:
            sweep(work, table, count)
        if not finite(work, sentinels):
            return k + 1, DIVERGED, 0
    return steps, OK, 0


@jit
def steps_of_dopri5(
    work, table, sweeps, normalise, projection, work_done, count, multipliers, impulses, sentinels, packed, rates, n, steps,
    A, B, C, E, tolerance
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
            pace = work[PACE] if work[PACE] > 0.0 else dt
            h = min(pace, end - t)
            last = h == end - t
            sweep(work, table, sweeps[0])
            for m in range(n):
                y0[m] = work[packed + m]
            done_before, given = work[DONE], work[impulses : impulses + multipliers.shape[0]].copy()
            _stages(
                work, table, sweeps, work_done, multipliers, impulses, last_step, t == begin, packed, rates, n, A, B, C, y0,
                slopes, h, t
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
            factor = min(5.0, max(0.2, 0.9 * (1.0 / max(error, 1e-10)) ** 0.2))
            if error <= 1.0:
                _combine(work, table, sweeps[1], normalise, packed, n, B, y0, slopes, h)
                t = end if last else t + h
                work[TIME] = t
                project(work, table, kick, up_position, nudge, clear, right, up_velocity, strike, ROUNDS)
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


class RK4(RungeKutta):
    name, order = "rk4", 4
    most_mixed, mixing = 0.005, GROWS

    def advance(self, work, steps, age):
        sweeps = self.sweeps
        return steps_of_rk4(work, self.programs.table, *sweeps, steps, A4, B4, C4)


class Dopri5(RungeKutta):
    name, order = "dopri5", 5
    takes_tolerance = True
    default_tolerance = 1e-9

    def advance(self, work, steps, age):
        sweeps = self.sweeps
        return steps_of_dopri5(work, self.programs.table, *sweeps, steps, A5, B5, C5, E5, self.tolerance)
