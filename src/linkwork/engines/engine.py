"""What every integrator is: sweeps over a workspace, a compiled driver, and the rows and options it takes.

`prepare` brings a workspace with new coordinates to where a step can begin; `advance` makes steps and returns how many
were made and a status. A status other than OK stops the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.codegen.jit import entry, jit, sweep
from linkwork.schedules.schedules import Programs
from linkwork.symbolic.views import GLOBALS

GROWS = 'and its energy grows: take dt={:.2g}, or integrator="rattle", which makes such steps in parts'
OK, DIVERGED, STUCK, CUT = 0, 1, 2, 3  # cut: a step must be made in parts, which nobody has been told; it is not made yet
FINEST = 1 << 12  # parts into which a step may be cut
NAMES = ("time", "half", "step", "kick", "share", "extrapolate", "worst", "work", "pace", "calm", "fault",
         "iterations", "parts", "softness")  # fmt: skip
TIME, HALF, STEP, KICK, SHARE, EXTRAPOLATE, WORST, DONE, PACE, CALM, FAULT, ITERATIONS, PARTS, SOFTNESS = (
    GLOBALS.offset(name) for name in NAMES
)


@jit
def finite(work, sentinels):
    """One velocity of each tree: a value that is not finite anywhere in a tree reaches it within a step. And no body has
    collapsed."""
    if work[FAULT] != 0.0:
        return False
    for i in sentinels:
        if not abs(work[i]) < 1e150:
            return False
    return True


@jit
def part_at_once(pace, finest=FINEST):
    """How many of the finest parts of a step are made at once, a power of two whatever the pace is: steps end in any state."""
    part = finest
    while pace != 0.0 and part > 1 and part > pace:
        part //= 2
    return part


def makes_parts(pace: float, calm: float, finest: int = FINEST) -> bool:
    """Whether an integrator that cuts steps into parts can have left this pace, after so many parts that went well."""
    return (pace == 0.0 or part_at_once(pace, finest) == pace) and 0.0 <= calm <= finest


@jit
def project(work, table, kick, up_position, backward_nudge, clear, right_position, up_velocity, backward_strike, rounds):
    """Positions, then velocities, back onto the constraints, by displacements of least kinetic norm."""
    work[KICK] = 0.0
    sweep(work, table, kick)
    sweep(work, table, up_position)
    sweep(work, table, backward_nudge)
    for _ in range(1, rounds):
        sweep(work, table, clear)
        sweep(work, table, right_position)
        sweep(work, table, backward_nudge)
    sweep(work, table, kick)
    sweep(work, table, up_velocity)
    sweep(work, table, backward_strike)


@jit
def tally(work, multipliers, impulses, weight, first):
    """Add the multipliers of the last solve, times a weight, to the impulses (the entries from `impulses` on); the first
    of a step replace those of the step before. Drivers call it in the last step of a call, since nobody can ask for the
    impulses of others, and leave the last solve of that step to `book`, since few ask for those."""
    sums = work[impulses : impulses + multipliers.shape[0]]
    for k in range(multipliers.shape[0]):
        sums[k] = (0.0 if first else sums[k]) + weight * work[multipliers[k]]


class Integrator:
    """The base. `time` and `steps` are counted by the simulation."""

    name: str
    order: int
    packed = False  # works on one packed vector of all coordinates and velocities
    default_stiffness = 0.0  # Baumgarte feedback times dt^2, and times dt
    default_damping = 0.0
    takes_tolerance = False
    takes_feedback = True  # stiffness and damping draw constraints in
    keeps_impulses = True  # adds up the multipliers of the last step
    default_tolerance = 0.0
    iterations = 0  # of an implicit step; 0: until the tolerance is met
    draws_in = True  # constraints may be off while they are drawn in
    contact: Any = None  # what touches, of a twin in `in_contact`
    answers: Any = None  # how what touches answers, of such a twin
    kicks = 1  # stages of a step in which it does
    most_mixed = np.inf  # of the axes of a body that turns (`_fastest_turn`), from which on its steps are not good ...
    mixing = ""  # ... and what becomes of them
    cuts_turns = False  # makes steps of such bodies in parts, if no constraint holds them
    watched = True  # stops before the first step that must be made in parts, where the integrator can tell

    def __init__(self, programs: Programs, dt: float, tolerance: float | None, iterations: int = 0):
        self.programs, self.dt, self.iterations = programs, dt, iterations
        self.tolerance = self.default_tolerance if tolerance is None else tolerance
        self.by_default = tolerance is None
        model = programs.model
        roots = [b for b in range(len(model.bodies.kinds)) if model.forest.parent[b] < 0]
        self.sentinels = np.array([model.field_of_body(b, "v").stop - 1 for b in roots], dtype=np.int64)
        self.remarks: list[str] = []  # for the user, once
        self._driver: Callable | None = None
        self.impulses = (model.multipliers, int(model.impulse_at[0]) if len(model.nodes) else 0)

    @classmethod
    def for_model(cls, programs: Programs) -> type[Integrator]:
        """The integrator that makes the steps of a model in the place of this one."""
        return cls

    def projection(self) -> tuple:
        p = self.programs
        return (p.body("kick"), p.up("project"), p.backward("nudge"), p.body("clear"), p.forward(right="project"),
                p.up("velocity"), p.backward("strike"))  # fmt: skip

    def prepare(self, work: np.ndarray) -> None:
        """Bring everything that is derived from coordinates up to date."""
        self.run(work, self.programs.body("place"))

    def run(self, work: np.ndarray, *sweeps: np.ndarray) -> None:
        """Run sweeps one after another."""
        for operations in sweeps:
            sweep(work, self.programs.table, operations)

    def _drive(self, driver, *given):
        """Run a compiled driver, the only one of this integrator, without a look at the types of its arguments."""
        if self._driver is None:
            self._driver = entry(driver, *given)
        return self._driver(*given)

    def knows_pace(self, pace: float, calm: float) -> bool:
        """Whether it can have left these in a state (`makes_parts`); what does not look at them knows all."""
        return True

    def book(self, work: np.ndarray, impact: bool = False) -> None:
        """Add the last solve of a step to its impulses; that of an impact is all there is."""
        tally(work, *self.impulses, 1.0, impact)

    def advance(self, work: np.ndarray, steps: int, age: int) -> tuple[int, int, int]:
        """(steps made, status, age): the age is the number of steps since the position stage began afresh."""
        raise NotImplementedError
