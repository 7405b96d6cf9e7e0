"""What belongs to the worlds of a batch: a row of each array for a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.batches.stepping import AGE, BEGUN, KEPT_AGE, MADE, STATUS, STEPS, Memories, Worlds
from linkwork.contact.contact_memory import EMPTY, Memory
from linkwork.engines.traits import ContactLevel
from linkwork.model.model import State

if TYPE_CHECKING:
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray, IntArray


class Arrays:
    """What belongs to the worlds of a batch."""

    def __init__(self, system: System, n: int) -> None:
        self.n, self.size = n, len(system.work)
        state, commands = (np.array(entries, dtype=np.int64) for entries in (system.model.state_index, system.commands.all))
        work = np.empty((n, self.size))
        work[:] = system.work
        self.rows = work
        self.worlds = Worlds(work, np.zeros((n, len(state) + 1)), state, commands, np.ascontiguousarray(work[:, commands]),
                             np.zeros((n, 5), dtype=np.int64))  # fmt: skip
        self.worlds.numbers[:, AGE], self.worlds.numbers[:, STEPS] = system.age, system.steps
        self.ready = np.zeros(n, dtype=bool)
        self.memories: Memories | None = None
        self._waiting: dict[int, Memory] = {}  # for room, by world
        contact = system.contact
        if contact is not None:
            rows, bodies = len(contact.cache), len(contact.margins)
            self.memories = Memories(np.zeros(n, dtype=np.int64), np.zeros((n, bodies)),
                                     np.zeros((n, rows, 5), dtype=np.int64), np.zeros((n, rows, 9)))  # fmt: skip
        by_forces = system.integrator.traits.contact is ContactLevel.ACCELERATION
        self.compiled = not (system.schedules.calls_python or system.feed.motions or (contact is not None and by_forces))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = [*self.worlds, self.ready, *(self.memories or ())]
        return sum(array.nbytes for array in arrays)

    def begin(self, i: int) -> None:
        """A world is about to be stepped by Python: its commands are taken, and its state is kept."""
        own, numbers = self.worlds, self.worlds.numbers[i]
        own.work[i, own.commands] = own.controls[i]
        own.kept[i, :-1], own.kept[i, -1] = own.work[i, own.state], own.work[i, 0]
        numbers[KEPT_AGE], numbers[MADE], numbers[STATUS] = numbers[AGE], 0, BEGUN

    def go_back(self, i: int) -> None:
        """To the state that was kept; contact still remembers what it did then."""
        own, numbers = self.worlds, self.worlds.numbers[i]
        own.work[i, own.state], own.work[i, 0] = own.kept[i, :-1], own.kept[i, -1]
        numbers[AGE], numbers[STEPS], numbers[MADE] = numbers[KEPT_AGE], numbers[STEPS] - numbers[MADE], 0
        self.ready[i] = False

    def copy_of(self, i: int) -> tuple[FloatArray, IntArray, Memory | None]:
        """All that belongs to a world."""
        return self.rows[i].copy(), self.worlds.numbers[i].copy(), None if self.memories is None else self.memory(i)

    def put_copy(self, i: int, copy: tuple[FloatArray, IntArray, Memory | None]) -> None:
        """A world as `copy_of` has found it."""
        self.rows[i], self.worlds.numbers[i] = copy[:2]
        if self.memories is not None:
            self.remember(i, copy[2])
        self.ready[i] = False

    def memory(self, i: int) -> Memory:
        """What contact of a world remembers."""
        own = self.memories
        assert own is not None
        if i in self._waiting:
            return self._waiting[i]
        m = int(own.count[i])
        return Memory(own.margins[i].copy(), own.labels[i, :m].copy(), own.impulses[i, :m].copy())

    def remember(self, i: int, memory: Memory | None) -> None:
        """Keep what contact of a world remembers; where there is too little room it waits, since other threads may be at work
        in these arrays."""
        own, memory = self.memories, memory or EMPTY
        assert own is not None
        m = len(memory)
        if m > own.labels.shape[1]:
            self._waiting[i] = memory
            return
        self._waiting.pop(i, None)
        own.count[i] = m
        own.labels[i, :m], own.impulses[i, :m] = memory.labels, memory.impulses
        own.margins[i] = memory.margins if len(memory.margins) == own.margins.shape[1] else 0.0

    def make_room(self) -> None:
        """Room for what waits for it. No thread is at work."""
        own, waiting = self.memories, self._waiting
        if own is None or not waiting:
            return
        rows, most = own.labels.shape[1], 2 * max(map(len, waiting.values()))
        labels, impulses = (np.zeros((self.n, most, array.shape[2]), dtype=array.dtype) for array in (own.labels, own.impulses))
        labels[:, :rows], impulses[:, :rows] = own.labels, own.impulses
        own.renew(labels=labels, impulses=impulses)
        for i, memory in list(waiting.items()):
            self.remember(i, memory)

    def state(self, i: int, like: State) -> State:
        """Of a world, with the layout and arrangement of another one."""
        own = self.worlds
        contact = None if self.memories is None else self.memory(i)
        return State(own.work[i, own.state], float(own.work[i, 0]), int(own.numbers[i, STEPS]), int(own.numbers[i, AGE]),
                     like.layout, contact, like.arrangement)  # fmt: skip
