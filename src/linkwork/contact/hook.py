"""Where contact stands in a step: one hook, which compiled steps of all engines call by address.

A step stops where the velocities that are about to move its bodies are known, and calls the hook with a phase. Drivers are
compiled without contact (numba compiles a function together with all that it calls): they hold the address of a contact
stage (`contact/stage.py`) and of its arrays, and of those arrays the few that they look at themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.codegen.jit import call_compiled, jit, jit_inner, sweep
from linkwork.codegen.struct import Struct

# phases: before the bodies move, and after; the phase of a step that has no other; whether the motion has led too far; another
# iteration of the same step; the step of which phases OPENING and REPEAT were made is accepted
OPENING, CLOSING, SINGLE, DRIFTED, REPEAT, ACCEPTED = range(6)
# flags: which of two sets of rows the next phase writes; rows of the beginning of the step; rows that are remembered;
# whether rows are those of the present configuration and factors, and whether responses are; whether rows are those of the end
# of a step; room for blocks; what is lacking, how much of it, and whether there is no more to be had
WRITTEN, BEFORE, CACHED, FRESH, ANSWERED, ENDED, BLOCKS, LACKS, WANTED, FULL = range(10)


class ContactHook(Struct):
    """A contact stage as a step has it."""

    calls: Any  # (2,) int64: the address of the stage, and of what it needs
    flags: np.ndarray  # (10,) int64; none: there is no contact
    margins: np.ndarray  # (1 + bodies,) as in `collide.Finding`
    counts: np.ndarray  # (5,) int64: the same
    chosen: np.ndarray  # (stops,) int8: the same of `rows.Stops` ...
    stops: np.ndarray  # (stops, 4) int64: ... and their labels
    noise: np.ndarray  # (1,) m/s: by which velocities of the last iteration are off the law, where that is above the tolerance


def no_contact() -> ContactHook:
    """The hook of a step that calls nothing."""
    none = np.zeros(0, dtype=np.int64)
    return ContactHook(none, none, np.zeros(0), none, np.zeros(0, dtype=np.int8), np.zeros((0, 4), dtype=np.int64), np.zeros(1))


@jit_inner
def has_contact(hook):
    """Whether there is something to call."""
    return hook.flags.shape[0] > 0


@jit_inner
def call_contact(work, table, hook, h, phase):
    """A phase of a step of h seconds; not zero where it could not be made, or where a motion has led too far."""
    return call_compiled(hook.calls[0], (work, table, hook.calls[1], h, phase))


@jit_inner
def forget_rows(hook):
    """The next phase detects contacts itself, within the same margins as the last one."""
    hook.flags[FRESH] = 0


@jit_inner
def look_anew(hook):
    """The next phase detects contacts itself, within margins that it finds anew."""
    hook.flags[FRESH], hook.margins[0] = 0, 0.0


class PythonStage(Struct):
    """A stage that is a routine in Python."""

    asking: np.ndarray  # (1,) int64: a table with the routine
    request: np.ndarray  # (1, operation) int32: its operation
    step: np.ndarray  # (1,) s
    flags: np.ndarray  # (10,) int64


@jit
def python_stage(work, table, c, h, phase):
    """Ask Python for the phase of a step; c: a `PythonStage`. Not zero where it failed."""
    c.step[0] = h
    sweep(work, c.asking, c.request)
    return c.flags[FULL]
