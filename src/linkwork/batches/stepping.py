"""Steps and readouts of many worlds, compiled: from the first to the last world of a call no Python runs.

Each world has its own workspace, a row of `Worlds.work`; what steps need beside (plans, tables, buffers of contact) belongs
to a thread, which lends it to one world after another. What contact remembers from one step to the next is kept world by world.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.codegen.sweep_into import sweep_into
from linkwork.contact.hook import BEFORE, CACHED, ENDED, FRESH
from linkwork.engines.scalars import TIME
from linkwork.engines.step_driver import OK, drive

AGE, STATUS, MADE, KEPT_AGE, STEPS = range(5)  # numbers
BEGUN, UNMADE = -2, -1  # status of a world that is being stepped, and of one that nobody has begun to step
# how a call ended: all worlds were stepped; the buffers of the thread are too small for what a world remembers; the arrays of
# the worlds are
ALL, ROOM, STORE = range(3)


class Worlds(Struct):
    """What belongs to each world, a row each."""

    work: np.ndarray  # (n, size) workspaces
    kept: np.ndarray  # (n, state + 1) the state at the beginning of the last call, and its time (s)
    state: np.ndarray  # (state,) int64: entries of a workspace that are its state
    commands: np.ndarray  # (commands,) int64: entries of a workspace that are commands
    controls: np.ndarray  # (n, commands) what they are in the next call
    numbers: np.ndarray  # (n, 5) int64: age, status, steps made in the last call, age at its beginning, all steps made


class Memories(Struct):
    """What contact remembers, a row each (contact/contact_memory.py)."""

    count: np.ndarray  # (n,) int64: rows that are remembered
    margins: np.ndarray  # (n, 1 + bodies) rad, m
    labels: np.ndarray  # (n, room, 5) int64
    impulses: np.ndarray  # (n, room, 9) N s, m


@jit_inner
def step_world(worlds, table, i, steps):
    """Steps of one world, of which the state is kept first: their status."""
    work, numbers, state, last = worlds.work[i], worlds.numbers, worlds.state, worlds.state.shape[0]
    for k in range(worlds.commands.shape[0]):
        work[worlds.commands[k]] = worlds.controls[i, k]
    for k in range(last):
        worlds.kept[i, k] = work[state[k]]
    worlds.kept[i, last] = work[TIME]
    numbers[i, KEPT_AGE], numbers[i, MADE], numbers[i, STATUS] = numbers[i, AGE], 0, BEGUN
    made, status, age = drive(work, table, steps, numbers[i, AGE])
    numbers[i, AGE], numbers[i, MADE], numbers[i, STATUS] = age, made, status
    numbers[i, STEPS] += made
    return status


@jit
def step_worlds(worlds, table, chosen, steps):
    """n steps of each of the chosen worlds."""
    for k in range(chosen.shape[0]):
        step_world(worlds, table, chosen[k], steps)
    return 0


@jit
def step_touching_worlds(worlds, table, stage, memories, chosen, steps, begin):
    """The same with contact, from the chosen world number `begin` on: (how it ended, at which number). stage: the `Stage` of
    the thread, whose buffers are lent to the worlds."""
    for k in range(begin, chosen.shape[0]):
        i = chosen[k]
        if memories.count[i] > stage.even.cache.shape[0]:
            return ROOM, k
        recall(stage, memories, i)
        if step_world(worlds, table, i, steps) == OK:
            if stage.flags[CACHED] > memories.labels.shape[1]:
                return STORE, k
            remember(stage, memories, i)
    return ALL, chosen.shape[0]


@jit_inner
def recall(stage, memories, i):
    """Give to the buffers of contact what a world remembers; what another one has found there is gone."""
    flags, own, count = stage.flags, stage.even, memories.count[i]
    flags[FRESH], flags[ENDED], flags[BEFORE], flags[CACHED] = 0, 0, 0, count
    stage.place.counts[0] = 0
    for k in range(stage.margins.shape[0]):
        stage.margins[k] = memories.margins[i, k]
    for k in range(count):
        for s in range(own.labels.shape[1]):
            own.labels[k, s] = memories.labels[i, k, s]
        for s in range(own.cache.shape[1]):
            own.cache[k, s] = memories.impulses[i, k, s]


@jit_inner
def remember(stage, memories, i):
    """Keep for a world what its next step takes from this one."""
    own, count = stage.even, stage.flags[CACHED]
    memories.count[i] = count
    for k in range(stage.margins.shape[0]):
        memories.margins[i, k] = stage.margins[k]
    for k in range(count):
        for s in range(own.labels.shape[1]):
            memories.labels[i, k, s] = own.labels[k, s]
        for s in range(own.cache.shape[1]):
            memories.impulses[i, k, s] = own.cache[k, s]


@jit
def read_worlds(worlds, table, operations, chosen, out):
    """Fill the rows (n, entries) of a readout of the chosen worlds."""
    for k in range(chosen.shape[0]):
        sweep_into(worlds.work[chosen[k]], table, operations, out[chosen[k]])
    return 0
