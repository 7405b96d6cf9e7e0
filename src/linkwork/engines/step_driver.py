"""The loop that makes steps: the only one that cuts steps into substeps. Every engine is driven by it, compiled.

An engine gives the addresses of its compiled functions, which take (work, plan, h, start) and return a status:

- attempt: a substep of h seconds from `start` on. OK: it is made. REJECTED: it must be shorter. Others end the run.
- reject: back to where the substep began. OK: the engine has made it in another way. REJECTED: it is to be halved.
  STUCK: no other can be made.
- finish (work, plan): what is brought up to date at the end of every call.

They are called by address: numba does not keep a function that is given a function, and would compile the loop once more with
each engine. So is what makes a whole step: the attempt itself where steps are never cut, `make_in_substeps` elsewhere, which
is compiled for those engines alone. A substep is a power of two of the finest one.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from linkwork.codegen.jit import call_compiled, check_interrupt, jit, jit_inner, uncounted
from linkwork.codegen.struct import Struct
from linkwork.engines.scalars import FAULT, GOOD_SUBSTEPS, STEP, SUBSTEP, SUBSTEPS, TIME, WORK_DONE

# Status of a step. CUT: it is not made, since it needs substeps and the caller asked to be told first.
OK, DIVERGED, STUCK, CUT = 0, 1, 2, 3
REJECTED = 4  # of an attempt: the substep is too long
FINEST = 1 << 12  # the most substeps of a step: a step that needs more is reported as stuck
HUGE = 1e150  # m/s, rad/s: a larger velocity has diverged; its square still fits into a double

ATTEMPT, REJECT, FINISH, PLAN, WHOLE_STEP, STEP_ARGUMENT = range(6)  # calls
AGE, IS_LAST, IS_FIRST, LENGTH = range(4)  # now
FINEST_OF, CUTTING, GOOD_ENOUGH, KEEPS_AGE, STOPS_BEFORE_CUT, FINISHES, IMPULSES = range(7)  # rules


class Cutting(IntEnum):
    """How an engine cuts steps into substeps."""

    NEVER = 0  # no attempt is rejected; the substep that a state holds is not read
    WHOLE = 1  # no attempt is rejected; the state holds one substep a step
    LONGER_IN_TIME = 2  # a rejected substep is halved; it is doubled after enough accepted ones
    LONGER_EACH_STEP = 3  # a rejected substep is halved; it is doubled with each step


LONGER_IN_TIME, LONGER_EACH_STEP = int(Cutting.LONGER_IN_TIME), int(Cutting.LONGER_EACH_STEP)


class StepTable(Struct):
    """What an engine gives to the loop. Plans hold it, too: attempts read from it which substep they make."""

    calls: np.ndarray  # (6,) int64: addresses: ATTEMPT, REJECT, FINISH, and PLAN, which they get; what makes a whole step, and
    # what it gets
    rules: np.ndarray  # (7,) int64: the finest substeps of a step; `Cutting`; good substeps after which longer ones are tried;
    # whether the steps since the position stage began afresh are counted; whether to stop before the first step that must be
    # cut; whether there is something to finish; where impulses begin
    now: np.ndarray  # (4,) int64: the age; whether the step is the last of a call; whether the substep is its first; its length
    multipliers: np.ndarray  # int64: entries whose impulses the loop adds up; none: it does not
    before: np.ndarray  # (multipliers,) scratch: impulses of the substeps that were made
    sentinels: np.ndarray  # int64: one velocity of each tree
    targets: np.ndarray  # int64: entries of the targets of recorded motions
    feed: np.ndarray  # (steps, targets): the values of these entries in each step of a call; no rows: there are no such motions


@jit
def finite(work, sentinels):
    """One velocity of each tree: a value that is not finite anywhere in a tree reaches it within a step. And no body has
    collapsed."""
    if work[FAULT] != 0.0:
        return False
    for k in range(sentinels.shape[0]):
        if not abs(work[sentinels[k]]) < HUGE:
            return False
    return True


@jit
def substep_of(pace, finest=FINEST):
    """How many of the finest substeps are made at once, a power of two whatever the state says: steps end in any state."""
    length = finest
    while pace != 0.0 and length > 1 and length > pace:
        length //= 2
    return length


def is_substep(pace: float, good: float, finest: int) -> bool:
    """Whether a step made in substeps can have left this one, after so many good ones."""
    whole = pace in (0.0, finest) or substep_of(pace, finest) == pace  # most of them are, and a compiled call takes longer
    return whole and 0.0 <= good <= finest


@jit
def add_impulses(work, multipliers, impulses, weight, first):
    """Add the multipliers of the last solve, times a weight, to the impulses (the entries from `impulses` on); the first
    of a step replace those of the step before. Done in the last step of a call, since nobody can ask for the
    impulses of others, except for the last solve of that step, which is left to `complete_impulses`, since few ask."""
    for k in range(multipliers.shape[0]):
        work[impulses + k] = (0.0 if first else work[impulses + k]) + weight * work[multipliers[k]]


@jit
def make_in_substeps(work, s, dt, begin):
    """One step, in substeps where they are needed: its status. The state keeps the length of the next substep."""
    rules, now, done = s.rules, s.now, 0
    finest, cutting, impulses, summed = rules[FINEST_OF], rules[CUTTING], rules[IMPULSES], s.multipliers.shape[0]
    length = first_length(work, cutting, finest)
    work[SUBSTEPS] = 0.0
    while done < finest:
        check_interrupt(work.shape[0])
        h, start = dt * (length / finest), begin + dt * (done / finest)
        now[IS_FIRST], now[LENGTH] = done == 0, length
        work[STEP] = h
        work_done = work[WORK_DONE]
        if now[IS_LAST] and done > 0:
            for k in range(summed):
                s.before[k] = work[impulses + k]
        status = call_compiled(s.calls[ATTEMPT], (work, s.calls[PLAN], h, start))
        if status == REJECTED:
            work[WORK_DONE], work[TIME], now[AGE] = work_done, start, 0
            if now[IS_LAST] and done > 0:
                for k in range(summed):
                    work[impulses + k] = s.before[k]
            status = call_compiled(s.calls[REJECT], (work, s.calls[PLAN], h, start))
            if rules[STOPS_BEFORE_CUT] and length == finest:
                work[STEP], work[TIME] = dt, begin
                return CUT
            if cutting == LONGER_IN_TIME:
                work[GOOD_SUBSTEPS] = 0.0
            if status == OK:
                work[TIME] = start + h
                done += length
                continue
            length //= 2
            if length == 0 or status == STUCK:
                work[STEP], work[SUBSTEP] = dt, length
                return STUCK if finite(work, s.sentinels) else DIVERGED
            continue
        if status != OK:
            work[STEP] = dt
            return status
        done += length
        work[SUBSTEPS] += 1.0
        if now[IS_LAST] and done < finest:
            add_impulses(work, s.multipliers, impulses, 1.0, False)
        now[AGE] += rules[KEEPS_AGE]
        if length < finest and cutting == LONGER_IN_TIME:
            work[GOOD_SUBSTEPS] += 1.0
            if work[GOOD_SUBSTEPS] >= rules[GOOD_ENOUGH] and done % (2 * length) == 0:
                length, work[GOOD_SUBSTEPS], now[AGE] = 2 * length, 0.0, 0
    work[STEP], work[SUBSTEP] = dt, length
    return OK


@jit_inner
def first_length(work, cutting, finest):
    """Of the first substep of a step."""
    if cutting < LONGER_IN_TIME:
        return finest
    length = substep_of(work[SUBSTEP], finest)
    if cutting == LONGER_EACH_STEP and work[SUBSTEP] != 0.0 and 2 * length <= finest:
        return 2 * length
    return length


@jit
def drive(work, s, steps, age):
    """Make steps: (steps made, status, age). s: a `StepTable`."""
    work = uncounted(work)
    calls, rules, now, sentinels, made, status = s.calls, s.rules, s.now, s.sentinels, 0, OK
    now[AGE] = age
    while made < steps and status == OK:
        check_interrupt(work.shape[0])
        now[IS_LAST] = made == steps - 1
        if s.feed.shape[0] > 0:
            for i in range(s.targets.shape[0]):
                work[s.targets[i]] = s.feed[made, i]
        dt, begin = work[STEP], work[TIME]
        status = call_compiled(calls[WHOLE_STEP], (work, calls[STEP_ARGUMENT], dt, begin))
        if status == OK:
            work[TIME] = begin + dt
            if not finite(work, sentinels):
                status = DIVERGED
        if status != CUT:
            made += 1
    if rules[FINISHES]:
        call_compiled(calls[FINISH], (work, calls[PLAN]))
    return made, status, now[AGE] if rules[KEEPS_AGE] else 0


@jit
def drive_once(work, s):
    """One step, of an engine whose steps another one takes in places: its status."""
    return drive(work, s, np.int64(1), np.int64(0))[1]
