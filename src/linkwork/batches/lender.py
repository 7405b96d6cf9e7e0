"""Lender: a compiled world that is lent to one world of a batch after another. Each thread has one.

A world that is `visited` is where all parts of a Simulation find it: in the System of the lender, with its workspace, age and
contact memory. Compiled calls over many worlds (stepping.py) use the same plans and buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from linkwork.batches.stepping import (
    AGE,
    MADE,
    ROOM,
    STATUS,
    STEPS,
    STORE,
    read_worlds,
    step_touching_worlds,
    step_worlds,
)
from linkwork.codegen.jit import entry
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED
from linkwork.engines.step_driver import OK, STOPS_BEFORE_CUT
from linkwork.simulation.reads import Reads

if TYPE_CHECKING:
    from linkwork.batches.arrays import Arrays
    from linkwork.simulation.simulation import Simulation
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray, IntArray


class Lender:
    """The compiled parts of one thread, in front of the arrays of all worlds."""

    def __init__(self, sim: Simulation, arrays: Arrays) -> None:
        self.sim, self.arrays = sim, arrays
        self.system: System = sim._system
        self.reads = Reads(self.system)
        self.system.integrator.stop_before_cut = False
        self._step: Any = None
        self._read: Any = None

    def prepare(self, chosen: IntArray) -> None:
        """Bring worlds that were written to where a step can begin."""
        ready = self.arrays.ready
        for i in chosen[~ready[chosen]].tolist():
            with self.visit(i) as system:
                system.starting, system.parted = False, set()
                system.prepare()
            ready[i] = True

    @contextmanager
    def visit(self, i: int) -> Iterator[System]:
        """The System with the state of a world; what becomes of it there is the world's."""
        system, arrays = self.system, self.arrays
        numbers = arrays.worlds.numbers
        system.work = arrays.rows[i]
        system.age, system.steps = int(numbers[i, AGE]), int(numbers[i, STEPS])
        if system.contact is not None:
            system.contact.forget()
            system.contact.memory = arrays.memory(i)
        system.watch.begin_anew()
        system.validity.forgotten()
        system.validity.changed()
        try:
            yield system
        finally:
            numbers[i, AGE], numbers[i, STEPS] = system.age, system.steps
            if system.contact is not None:
                arrays.remember(i, system.contact.memory)
            arrays.ready[i] = system.validity.ready

    # -- steps -----------------------------------------------------------------------------------------------------------
    def step(self, chosen: IntArray, steps: int) -> None:
        """Steps of worlds that are ready."""
        if not self.arrays.compiled:
            self._step_by_python(chosen, steps)
            return
        integrator, worlds = self.system.integrator, self.arrays.worlds
        table, contact = integrator.table, self.system.contact
        table.rules[STOPS_BEFORE_CUT] = 0
        if contact is None:
            self._call(step_worlds, worlds, table, chosen, steps)
            self._raise_failures()
            return
        at, memories = 0, self.arrays.memories
        while at < len(chosen):
            ended, at = self._call(step_touching_worlds, worlds, table, contact.stage, memories, chosen, steps, at)
            self._raise_failures()
            if ended == ROOM:
                contact.memory = self.arrays.memory(int(chosen[at]))
            elif ended == STORE:
                self.arrays.remember(int(chosen[at]), contact.memory)
                at += 1

    def _call(self, function: Any, *given: Any) -> Any:
        if self._step is None:
            with INTERRUPTS_DEFERRED:
                self._step = entry(function, *given)
        return self._step(*given)

    def _raise_failures(self) -> None:
        """What Python was asked for by compiled steps and could not give."""
        contact = self.system.contact
        for asked in [*self.system.integrator.asked, *([] if contact is None else [contact.asked])]:
            asked.raise_failure()

    def _step_by_python(self, chosen: IntArray, steps: int) -> None:
        numbers = self.arrays.worlds.numbers
        for i in chosen.tolist():
            before = self.arrays.copy_of(i)
            self.arrays.begin(i)
            try:
                made, status = self.step_alone(i, steps)
            except BaseException:
                self.arrays.put_copy(i, before)
                raise
            numbers[i, MADE], numbers[i, STATUS] = made, status
            if status != OK and before[2] is not None:  # from where it goes back to, contact remembers this
                self.arrays.remember(i, before[2])

    def step_alone(self, i: int, steps: int) -> tuple[int, int]:
        """Steps of one world by way of its System: (how many were made, status of the last)."""
        with self.visit(i) as system:
            system.prepare()
            return system.advance(steps)

    # -- reads -----------------------------------------------------------------------------------------------------------
    def read(self, chosen: IntArray, operations: FloatArray, out: FloatArray) -> None:
        """Fill rows of a readout."""
        given = self.arrays.worlds, self.system.schedules.readings.table, operations, chosen, out
        if self._read is None:
            with INTERRUPTS_DEFERRED:
                self._read = entry(read_worlds, *given)
        self._read(*given)
