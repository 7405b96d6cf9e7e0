"""Runge-Kutta on the packed vector y = (q, v) of all bodies, y' = (N(q) v, a): `rk4` with fixed steps, `dopri5`
(Dormand-Prince 5(4)) with steps chosen by its error estimate. After each step positions and velocities are projected
back onto the constraints. Velocity rows and time-dependent rows enter through their acceleration bias."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from linkwork.codegen.jit import INTERPRETED, compiled_address
from linkwork.engines.engine import Engine
from linkwork.engines.maximal import runge_kutta_steps
from linkwork.engines.maximal.rattle import Shake
from linkwork.engines.maximal.regularised_projection import no_projection, projection
from linkwork.engines.maximal.runge_kutta_steps import RungeKuttaPlan
from linkwork.engines.step_driver import drive_once
from linkwork.engines.traits import TRAITS
from linkwork.kernels.vocabulary import BodyKernel, RowMode

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


class RungeKutta(Engine):
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    E = np.zeros(0)
    attempts: tuple[Callable, Callable]  # compiled: as a rule, and where rows depend on others

    def __init__(self, *given):
        super().__init__(*given)
        self.attempt = self.attempts[bool(self.schedules.model.redundant)]

    @cached_property
    def sweeps(self):
        p = self.schedules
        stage = (p.packed(BodyKernel.PACK), p.packed(BodyKernel.UNPACK), p.body(BodyKernel.ACCELERATE),
                 p.up(RowMode.ACCELERATION, warm=True), p.backward(), p.packed(BodyKernel.RATES))  # fmt: skip
        return *stage, p.body(BodyKernel.NORMALISE), *self.projection(), p.work(), p.count()

    @cached_property
    def plan(self) -> RungeKuttaPlan:
        p, sweeps, m = self.schedules, self.sweeps, self.schedules.model
        own = projection(p) if m.redundant else no_projection(p)  # after the sweeps: it holds the table of kernels
        multipliers, impulses = self.impulses
        n = m.packed[1]
        scratch = np.zeros(len(multipliers)), np.zeros(len(multipliers)), np.zeros(n), np.zeros((len(self.C), n))
        flags = np.array([m.packed[0], m.rates[0], impulses], dtype=np.int64)
        return RungeKuttaPlan(p.table, *sweeps, multipliers, *scratch, self.A, self.B, self.C, self.E,
                              np.array([self.tolerance]), flags, own, self._shake_calls(), self.empty_table())  # fmt: skip

    @cached_property
    def shake(self) -> Shake | None:
        """Makes steps in singular places, where there may be some."""
        p = self.schedules
        return Shake(p, self.dt, None) if p.model.redundant else None

    def _shake_calls(self):
        if self.shake is None:
            return np.zeros(0, dtype=np.int64)
        table = self.shake.table
        address = compiled_address(drive_once, np.zeros(0), table)
        return (address, table) if INTERPRETED else np.array([address, table.address], dtype=np.int64)

    @property
    def asked(self):
        return [] if self.shake is None else self.shake.asked


class RK4(RungeKutta):
    traits = TRAITS["rk4"]
    A, B, C = A4, B4, C4
    attempts = runge_kutta_steps.attempt_rk4, runge_kutta_steps.attempt_settled_rk4


class Dopri5(RungeKutta):
    traits = TRAITS["dopri5"]
    A, B, C, E = A5, B5, C5, E5
    attempts = runge_kutta_steps.attempt_dopri5, runge_kutta_steps.attempt_settled_dopri5

    def knows_substep(self, substep, good):
        return substep >= 0.0  # s
