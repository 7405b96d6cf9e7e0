"""What every engine is: sweeps over a workspace, a compiled attempt of a step that one loop drives, and its traits.

`prepare` brings a workspace with new coordinates to where a step can begin; `advance` makes steps and returns how many
were made and a status (`step_driver.py`). A status other than OK stops the run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.codegen.callbacks import Asked
from linkwork.codegen.jit import INTERPRETED, compiled_address, entry, sweep
from linkwork.codegen.struct import Bundle
from linkwork.contact.hook import ContactHook, no_contact
from linkwork.engines.step_driver import (
    ATTEMPT,
    FINEST,
    FINISH,
    OK,
    PLAN,
    REJECT,
    STOPS_BEFORE_CUT,
    Cutting,
    StepTable,
    add_impulses,
    drive,
    is_substep,
)
from linkwork.engines.traits import ContactLevel, Traits
from linkwork.schedules.schedules import Programs

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem
    from linkwork.contact.inverse_mass import InverseMass


_KNOWN: dict[tuple, Any] = {}  # addresses and entries of compiled functions, by the kind of their plan


def known(find: Callable, function: Callable, plan: Bundle, *more: float) -> Any:
    """The address or entry of a compiled function of (work, plan, ...), which numba is asked for once for each kind of plan."""
    key = find, function, None if INTERPRETED else plan.kind
    if key not in _KNOWN:
        _KNOWN[key] = find(function, np.zeros(0), plan, *more)
    return _KNOWN[key]


class Engine(ABC):
    """The base. `time` and `steps` are counted by the simulation."""

    traits: ClassVar[Traits]
    iterations = 0  # of an implicit step; 0: until the tolerance is met
    contact: ContactSystem | None = None  # what touches, if anything can
    attempt: Callable  # compiled: (work, plan, h, start), see step_driver.py
    reject: Callable | None = None  # the same
    finish: Callable | None = None  # compiled: (work, plan)
    cutting: Cutting = Cutting.NEVER
    finest = FINEST  # substeps of a step
    keeps_age = False  # takes something from the steps before
    tells_cuts = False  # can stop before the first step that must be cut
    sums_impulses = False  # of the substeps of a step, by the loop

    def __init__(self, programs: Programs, dt: float, tolerance: float | None, iterations: int = 0, touches: bool = False):
        """touches: steps have phases of contact."""
        self.programs, self.dt, self.iterations, self.touches = programs, dt, iterations, touches
        self.tolerance = self.traits.default_tolerance if tolerance is None else tolerance
        self.by_default = tolerance is None
        model = programs.model
        roots = [b for b in range(len(model.bodies.kinds)) if model.forest.parent[b] < 0]
        self.sentinels = np.array([model.field_of_body(b, "v").stop - 1 for b in roots], dtype=np.int64)
        self.remarks: list[str] = []  # for the user, once
        self.impulses = (model.multipliers, int(model.impulse_at[0]) if len(model.nodes) else 0)
        self.stop_before_cut = True  # where the engine can tell
        self._drive: Callable | None = None

    @classmethod
    def for_model(cls, programs: Programs, touches: bool) -> type[Engine]:
        """The engine that makes the steps of a model in the place of this one."""
        return cls

    # -- contact ---------------------------------------------------------------------------------------------------------
    @cached_property
    def answers(self) -> InverseMass:
        """How bodies that touch answer."""
        raise NotImplementedError

    @cached_property
    def answers_again(self) -> InverseMass | None:
        """The same in another iteration of a step, of engines that have some."""
        return None

    def make_contact(self, level: ContactLevel) -> None:
        """Contact of the model, on the level of velocities or of accelerations."""
        from linkwork.contact.acceleration_level import ContactByForces
        from linkwork.contact.contact_system import ContactSystem

        make = ContactByForces if level is ContactLevel.ACCELERATION else ContactSystem
        self.contact = make(self.programs, self.answers, self.traits.contact_phases, self.answers_again)

    @cached_property
    def hook(self) -> ContactHook:
        """Where a step calls contact."""
        return no_contact() if self.contact is None else self.contact.hook

    # -- steps -----------------------------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def plan(self) -> Bundle:
        """What is the same in every call."""

    @property
    def compiled_plan(self) -> Bundle:
        """What compiled functions of the engine get."""
        return self.plan

    def empty_table(self, sentinels: np.ndarray | None = None, good_enough: int = 0) -> StepTable:
        """What the loop needs, without what it calls: a plan holds it."""
        multipliers = self.impulses[0] if self.sums_impulses else np.zeros(0, dtype=np.int64)
        rules = [self.finest, self.cutting, good_enough, self.keeps_age, 0, self.finish is not None, self.impulses[1]]
        calls: Any = [None] * (PLAN + 1) if INTERPRETED else np.zeros(PLAN + 1, dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        return StepTable(calls, np.array(rules, dtype=np.int64), np.zeros(4, dtype=np.int64), multipliers,
                         np.zeros(len(multipliers)), self.sentinels if sentinels is None else sentinels, none,
                         np.zeros((0, 0)))  # fmt: skip

    @cached_property
    def table(self) -> StepTable:
        """What the loop needs."""
        plan = self.compiled_plan
        table: StepTable = plan.steps  # type: ignore[attr-defined]
        table.calls[PLAN] = plan if INTERPRETED else plan.address
        for place, function, more in (
            (ATTEMPT, self.attempt, (0.0, 0.0)),
            (REJECT, self.reject, (0.0, 0.0)),
            (FINISH, self.finish, ()),
        ):
            if function is not None:
                table.calls[place] = known(compiled_address, function, plan, *more)
        return table

    def feed(self, targets: np.ndarray, rows: np.ndarray) -> None:
        """What entries of the workspace hold in each step of the next call: targets of recorded motions."""
        self.table.renew(targets=targets, feed=rows)

    def advance(self, work: np.ndarray, steps: int, age: int) -> tuple[int, int, int]:
        """(steps made, status, age): the age is the number of steps since the position stage began afresh."""
        table = self.table
        if self.tells_cuts:
            table.rules[STOPS_BEFORE_CUT] = self.stop_before_cut
        if self._drive is None:
            self._drive = known(entry, drive, table, 0, 0)
        contact = self.contact
        if contact is not None:
            contact.work = work
        made = self._drive(work, table, steps, age)
        if contact is not None and contact.asked.failure is not None:
            contact.asked.raise_failure()
        if made[1] != OK:
            for asked in self.asked:
                asked.raise_failure()
        return made

    @property
    def asked(self) -> list[Asked]:
        """Who answers what compiled steps ask for beside contact."""
        return []

    def prepare(self, work: np.ndarray) -> None:
        """Bring everything that is derived from coordinates up to date."""
        self.place(work)
        if self.contact is not None:
            self.contact.fresh = False

    def place(self, work: np.ndarray) -> None:
        """The same, but for contact."""
        self.run(work, self.programs.body("place"))

    def run(self, work: np.ndarray, *sweeps: np.ndarray) -> None:
        """Run sweeps one after another."""
        for operations in sweeps:
            sweep(work, self.programs.table, operations)

    def projection(self) -> tuple:
        """Sweeps of `rattle_steps.project`."""
        p = self.programs
        return (p.body("kick"), p.up("project"), p.backward("nudge"), p.body("clear"), p.forward(right="project"),
                p.up("velocity"), p.backward("strike"))  # fmt: skip

    def knows_substep(self, substep: float, good: float) -> bool:
        """Whether it can have left these in a state; what does not look at them knows all."""
        return self.cutting is Cutting.NEVER or is_substep(substep, good, self.finest)

    def complete_impulses(self, work: np.ndarray, impact: bool = False) -> None:
        """Add the last solve of a step to its impulses; that of an impact is all there is."""
        add_impulses(work, *self.impulses, 1.0, impact)
