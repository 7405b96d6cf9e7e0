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

from linkwork.codegen.callbacks import PythonCallback
from linkwork.codegen.jit import INTERPRETED, compiled_address, entry, sweep
from linkwork.codegen.struct import Struct
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED
from linkwork.contact.hook import ContactHook, no_contact
from linkwork.engines.step_driver import (
    ATTEMPT,
    FINEST,
    FINISH,
    OK,
    PLAN,
    REJECT,
    STEP_ARGUMENT,
    STOPS_BEFORE_CUT,
    WHOLE_STEP,
    Cutting,
    StepTable,
    add_impulses,
    drive,
    is_substep,
    make_in_substeps,
)
from linkwork.engines.traits import ContactLevel, Traits
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.schedules.schedules import Schedules

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem
    from linkwork.contact.inverse_mass import InverseMass


_KNOWN: dict[tuple, Any] = {}  # addresses and entries of compiled functions, by the kind of their plan


def known(find: Callable, function: Callable, plan: Struct, *more: float) -> Any:
    """The address or entry of a compiled function of (work, plan, ...), which numba is asked for once for each kind of plan."""
    key = find, function, None if INTERPRETED else plan.kind
    if key not in _KNOWN:
        _KNOWN[key] = find(function, np.zeros(0), plan, *more)
    return _KNOWN[key]


class Engine(ABC):
    """What makes the steps of a model. `time` and `steps` are counted by the simulation."""

    traits: ClassVar[Traits]
    iterations = 0  # of an implicit step; 0: as many as the tolerance needs
    contact: ContactSystem | None = None  # of models in which bodies may touch
    attempt: Callable  # compiled (work, plan, h, start): makes a substep, see step_driver.py
    reject: Callable | None = None  # compiled, with the same arguments: goes back to where the substep began
    finish: Callable | None = None  # compiled (work, plan): at the end of every call
    cutting: Cutting = Cutting.NEVER
    finest = FINEST  # the most substeps of a step
    keeps_age = False  # starts a step from multipliers of the steps before
    tells_cuts = False  # can stop before the first step that must be cut into substeps
    sums_impulses = False  # the loop adds up the impulses of the substeps of a step

    def __init__(self, schedules: Schedules, dt: float, tolerance: float | None, iterations: int = 0, touches: bool = False):
        """`touches`: bodies may touch, so that steps have phases of contact."""
        self.schedules, self.dt, self.iterations, self.touches = schedules, dt, iterations, touches
        self.tolerance = self.traits.default_tolerance if tolerance is None else tolerance
        self.by_default = tolerance is None
        model = schedules.model
        roots = [b for b in range(len(model.bodies.kinds)) if model.forest.parent[b] < 0]
        self.sentinels = np.array([model.field_of_body(b, "v").stop - 1 for b in roots], dtype=np.int64)
        self.remarks: list[str] = []  # notes that the user gets once
        self.cautions: list[str] = []  # the same, of what a user who has chosen this engine should look at
        self.impulses = (model.multipliers, int(model.impulse_at[0]) if len(model.nodes) else 0)
        self.stop_before_cut = True  # where the engine can tell
        self._drive: Callable | None = None

    @classmethod
    def for_model(cls, schedules: Schedules, touches: bool) -> type[Engine]:
        """The class whose engine makes the steps of this model: another one where this one cannot."""
        return cls

    # -- contact ---------------------------------------------------------------------------------------------------------
    @cached_property
    def inverse_mass(self) -> InverseMass:
        """The response of bodies in contact to impulses."""
        raise NotImplementedError

    @cached_property
    def repeat_inverse_mass(self) -> InverseMass | None:
        """Their response in the second and further iterations of a step, of engines that iterate."""
        return None

    def make_contact(self, level: ContactLevel) -> None:
        """Contact of the model, on the level of velocities or of accelerations."""
        from linkwork.contact.acceleration_level import ContactByForces
        from linkwork.contact.contact_system import ContactSystem
        from linkwork.contact.impacts import act_without_inertia

        make = ContactByForces if level is ContactLevel.ACCELERATION else ContactSystem
        self.contact = make(self.schedules, self.inverse_mass, self.traits.contact_phases, self.repeat_inverse_mass)
        if not self.traits.has_velocities:
            act_without_inertia(self.contact)

    @cached_property
    def hook(self) -> ContactHook:
        """Where a step calls contact."""
        return no_contact() if self.contact is None else self.contact.hook

    # -- steps -----------------------------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def plan(self) -> Struct:
        """The arguments of `attempt`, `reject` and `finish` that are the same in every call."""

    @property
    def compiled_plan(self) -> Struct:
        """The plan as the compiled functions of the engine take it."""
        return self.plan

    def empty_table(self, sentinels: np.ndarray | None = None, good_enough: int = 0) -> StepTable:
        """What the loop needs, without what it calls: a plan holds it."""
        multipliers = self.impulses[0] if self.sums_impulses else np.zeros(0, dtype=np.int64)
        rules = [self.finest, self.cutting, good_enough, self.keeps_age, 0, self.finish is not None, self.impulses[1]]
        calls: Any = [None] * (STEP_ARGUMENT + 1) if INTERPRETED else np.zeros(STEP_ARGUMENT + 1, dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        return StepTable(calls, np.array(rules, dtype=np.int64), np.zeros(4, dtype=np.int64), multipliers,
                         np.zeros(len(multipliers)), self.sentinels if sentinels is None else sentinels, none,
                         np.zeros((0, 0)))  # fmt: skip

    @cached_property
    def table(self) -> StepTable:
        """The table that the loop over steps reads: addresses, rules, counters."""
        with INTERRUPTS_DEFERRED:
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
            if self.cutting is Cutting.NEVER:
                table.calls[WHOLE_STEP], table.calls[STEP_ARGUMENT] = table.calls[ATTEMPT], table.calls[PLAN]
            else:
                table.calls[WHOLE_STEP] = known(compiled_address, make_in_substeps, table, 0.0, 0.0)
                table.calls[STEP_ARGUMENT] = table if INTERPRETED else table.address
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
            with INTERRUPTS_DEFERRED:
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
    def asked(self) -> list[PythonCallback]:
        """Callbacks into Python that compiled steps of this engine use, beside those of contact."""
        return []

    def prepare(self, work: np.ndarray) -> None:
        """Bring everything that is derived from coordinates up to date."""
        self.place(work)
        if self.contact is not None:
            self.contact.fresh = False

    def place(self, work: np.ndarray) -> None:
        """Bring the poses of bodies up to date, and leave contact as it is."""
        self.run(work, self.schedules.body(BodyKernel.UPDATE_POSE))

    def run(self, work: np.ndarray, *sweeps: np.ndarray) -> None:
        """Run sweeps one after another."""
        for operations in sweeps:
            sweep(work, self.schedules.table, operations)

    def projection(self) -> tuple:
        """Sweeps of `rattle_steps.project`."""
        p = self.schedules
        return (p.body(BodyKernel.KICK), p.up(RowMode.PROJECT), p.backward(BodyKernel.CORRECT_POSITION),
                p.body(BodyKernel.CLEAR), p.forward(right=RowMode.PROJECT),
                p.up(RowMode.VELOCITY), p.backward(BodyKernel.APPLY_IMPULSE))  # fmt: skip

    def knows_substep(self, substep: float, good: float) -> bool:
        """Whether it can have left these in a state; what does not look at them knows all."""
        return self.cutting is Cutting.NEVER or is_substep(substep, good, self.finest)

    def complete_impulses(self, work: np.ndarray, impact: bool = False) -> None:
        """Add the last solve of a step to its impulses; that of an impact is all there is."""
        add_impulses(work, *self.impulses, 1.0, impact)
