"""RATTLE: half a kick, a free flight that ends on the constraints, half a kick that ends with consistent velocities.

    v  += h/2 M^-1 F(q0, v0) + M^-1 J0^T lambda,   lambda such that C(q1) = 0 (velocity rows: g = 0 in the middle)
    q1  = flight of the free bodies from (q0, v) over h
    v1  = v + h/2 M^-1 F(q1, v1) + M^-1 J1^T mu,   mu such that J1 v1 + C_t = 0

One factorisation a step: the closing kick's serves the next opening one. The position stage starts from right-hand sides
extrapolated through the last three steps and is corrected with the same factors until the largest residual is below the
tolerance. Forces that depend on velocity are evaluated once more at the velocity found. Order 2; symplectic for constant
masses; free rotors keep their angular momentum to rounding.
"""

from __future__ import annotations

from linkwork.codegen.jit import jit, sweep
from linkwork.integrators.base import (
    DIVERGED,
    EXTRAPOLATE,
    HALF,
    KICK,
    OK,
    SHARE,
    STEP,
    STUCK,
    TIME,
    WORST,
    Integrator,
    finite,
)

CORRECTIONS = 60  # of the position stage before a step counts as stuck


@jit
def _extrapolation(work, age):
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


@jit
def steps_of_rattle(
    work, table, impulse, opening, flying, forward, land, closing, closed, settle, settling, settled, work_done, count,
    sentinels, steps, age, tolerance
):  # fmt: skip
    h = work[STEP]
    work[KICK] = 0.5 * h
    work[SHARE] = 1.0
    for k in range(steps):
        _extrapolation(work, age + k)
        sweep(work, table, impulse)
        sweep(work, table, opening)
        work[HALF] = work[TIME] + 0.5 * h
        work[TIME] += h
        work[WORST] = 0.0
        sweep(work, table, flying)
        if work_done.shape[0]:
            sweep(work, table, work_done)
        corrections = 0
        while work[WORST] > tolerance and corrections < CORRECTIONS:
            sweep(work, table, forward)
            work[WORST] = 0.0
            sweep(work, table, flying)
            if work_done.shape[0]:
                sweep(work, table, work_done)
            corrections += 1
        sweep(work, table, land)
        sweep(work, table, closing)
        sweep(work, table, closed)
        if settle.shape[0]:
            sweep(work, table, settle)
            sweep(work, table, settling)
            sweep(work, table, settled)
        if work_done.shape[0]:
            sweep(work, table, work_done)
        if count.shape[0]:
            sweep(work, table, count)
        if not finite(work, sentinels):
            return k + 1, DIVERGED
        if not work[WORST] <= tolerance:
            return k + 1, STUCK
    return steps, OK


class Rattle(Integrator):
    name, order = "rattle", 2
    takes_tolerance = True
    default_tolerance = 1e-11

    def prepare(self, work):
        """Factors at the current configuration, by the same operations that leave them after a step."""
        work[KICK] = 0.0
        self.run(work, self.programs.body("place", "kick"), self.programs.up("velocity"))

    def advance(self, work, steps, age):
        p = self.programs
        velocity = p.model.velocity_forces
        none = p.body()
        programs = (
            p.body("impulse"),
            p.forward(forces=True, predict=True),
            p.backward("fly", landing=True),
            p.forward(),
            p.body("land"),
            p.up("velocity"),
            p.backward("close"),
            p.body("settle") if velocity else none,
            p.forward(forces=True, right="velocity") if velocity else none,
            p.backward("strike") if velocity else none,
            p.work(),
            p.count(),
        )
        return steps_of_rattle(work, p.table, *programs, self.sentinels, steps, age, self.tolerance)
