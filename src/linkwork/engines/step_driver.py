"""The loop that makes steps: the only one that cuts steps into substeps. Every engine is driven by it, compiled.

An engine gives the addresses of its compiled functions, which take (work, plan, h, start) and return a status:

- attempt: a substep of h seconds from `start` on. OK: it is made. REJECTED: it must be shorter. Others end the run.
- reject: back to where the substep began. OK: the engine has made it in another way. REJECTED: it is to be halved.
  STUCK: no other can be made.
- finish (work, plan): what is brought up to date at the end of every call.

They are called by address: numba does not keep a function that is given a function, and would compile the loop once more with
each engine. A substep is a power of two of the finest one.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from linkwork.codegen.jit import call_compiled, heed, jit, jit_inner, uncounted
from linkwork.codegen.struct import Bundle
from linkwork.engines.scalars import FAULT, GOOD_SUBSTEPS, STEP, SUBSTEP, SUBSTEPS, TIME, WORK_DONE

OK, DIVERGED, STUCK, CUT = 0, 1, 2, 3  # cut: a step must be made in substeps, which nobody has been told; it is not made yet
REJECTED = 4  # a substep is too long
FINEST = 1 << 12  # substeps into which a step may be cut
HUGE = 1e150  # m/s, rad/s: a velocity from which nothing comes back

ATTEMPT, REJECT, FINISH, PLAN = range(4)  # calls
AGE, IS_LAST, IS_FIRST, LENGTH = range(4)  # now
FINEST_OF, CUTTING, GOOD_ENOUGH, KEEPS_AGE, STOPS_BEFORE_CUT, FINISHES, IMPULSES = range(7)  # rules


class Cutting(IntEnum):
    """How an engine cuts steps into substeps."""

    NEVER = 0  # its attempts are not rejected, and the substep of the state is not its own
    WHOLE = 1  # they are not rejected, and the state says so
    LONGER_IN_TIME = 2  # halved where they are; doubled after enough good ones
    LONGER_EACH_STEP = 3  # halved where they are; doubled with each step


NEVER, LONGER_IN_TIME, LONGER_EACH_STEP = (int(x) for x in (Cutting.NEVER, Cutting.LONGER_IN_TIME, Cutting.LONGER_EACH_STEP))


class StepTable(Bundle):
    """What an engine gives to the loop. A plan has it, too, for what the loop tells about the substep."""

    calls: np.ndarray  # (4,) int64: addresses: ATTEMPT, REJECT, FINISH, and PLAN, which they get
    rules: np.ndarray  # (7,) int64: the finest substeps of a step; `Cutting`; good substeps after which longer ones are tried;
    # whether the steps since the position stage began afresh are counted; whether to stop before the first step that must be
    # cut; whether there is something to finish; where impulses begin
    now: np.ndarray  # (4,) int64: the age; whether the step is the last of a call; whether the substep is its first; its length
    multipliers: np.ndarray  # int64: entries whose impulses the loop adds up; none: it does not
    before: np.ndarray  # (multipliers,) scratch: impulses of the substeps that were made
    sentinels: np.ndarray  # int64: one velocity of each tree
    targets: np.ndarray  # int64: entries of the targets of recorded motions ...
    feed: np.ndarray  # (steps, targets) ... and what stands there in each step of a call; no rows: nothing is fed


@jit
def finite(work, sentinels):
    """One velocity of each tree: a value that is not finite anywhere in a tree reaches it within a step. And no body has
    collapsed."""
    if work[FAULT] != 0.0:
        return False
    for i in sentinels:
        if not abs(work[i]) < HUGE:
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
    return (pace == 0.0 or substep_of(pace, finest) == pace) and 0.0 <= good <= finest


@jit
def add_impulses(work, multipliers, impulses, weight, first):
    """Add the multipliers of the last solve, times a weight, to the impulses (the entries from `impulses` on); the first
    of a step replace those of the step before. Done in the last step of a call, since nobody can ask for the
    impulses of others, except for the last solve of that step, which is left to `complete_impulses`, since few ask."""
    sums = work[impulses : impulses + multipliers.shape[0]]
    for k in range(multipliers.shape[0]):
        sums[k] = (0.0 if first else sums[k]) + weight * work[multipliers[k]]


@jit_inner
def make_in_substeps(work, s, length):
    """One step, in substeps where they are needed: its status, and the length of the next substep."""
    rules, now, dt, begin = s.rules, s.now, work[STEP], work[TIME]
    finest, cutting, done = rules[FINEST_OF], rules[CUTTING], 0
    impulses, summed = rules[IMPULSES], s.multipliers.shape[0]
    work[SUBSTEPS] = 0.0
    while done < finest:
        heed(work.shape[0])
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
                return CUT, length
            if cutting == LONGER_IN_TIME:
                work[GOOD_SUBSTEPS] = 0.0
            if status == OK:
                work[TIME] = start + h
                done += length
                continue
            length //= 2
            if length == 0 or status == STUCK:
                work[STEP], work[SUBSTEP] = dt, length
                return STUCK if finite(work, s.sentinels) else DIVERGED, length
            continue
        if status != OK:
            work[STEP] = dt
            return status, length
        done += length
        work[SUBSTEPS] += 1.0
        if now[IS_LAST] and done < finest:
            add_impulses(work, s.multipliers, impulses, 1.0, False)
        now[AGE] += rules[KEEPS_AGE]
        if length < finest and cutting == LONGER_IN_TIME:
            work[GOOD_SUBSTEPS] += 1.0
            if work[GOOD_SUBSTEPS] >= rules[GOOD_ENOUGH] and done % (2 * length) == 0:
                length, work[GOOD_SUBSTEPS], now[AGE] = 2 * length, 0.0, 0
    work[STEP], work[TIME] = dt, begin + dt
    return OK, length


@jit
def drive(work, s, steps, age):
    """Make steps: (steps made, status, age). s: a `StepTable`."""
    work = uncounted(work)
    rules, now, sentinels, made, status = s.rules, s.now, s.sentinels, 0, OK
    attempt, plan = s.calls[ATTEMPT], s.calls[PLAN]
    cutting, finest = rules[CUTTING], rules[FINEST_OF]
    length = substep_of(work[SUBSTEP], finest) if cutting >= LONGER_IN_TIME else finest
    now[AGE] = age
    while made < steps and status == OK:
        heed(work.shape[0])
        now[IS_LAST] = made == steps - 1
        if s.feed.shape[0] > 0:
            for i in range(s.targets.shape[0]):
                work[s.targets[i]] = s.feed[made, i]
        if cutting == LONGER_EACH_STEP and work[SUBSTEP] != 0.0:
            length = min(finest, 2 * length)
        if cutting == NEVER:
            dt, begin = work[STEP], work[TIME]
            status = call_compiled(attempt, (work, plan, dt, begin))
            work[TIME] = begin + dt if status == OK else work[TIME]
        else:
            status, length = make_in_substeps(work, s, length)
            if status == OK:
                work[SUBSTEP] = length
        if status == OK and not finite(work, sentinels):
            status = DIVERGED
        if status != CUT:
            made += 1
    if rules[FINISHES]:
        call_compiled(s.calls[FINISH], (work, s.calls[PLAN]))
    return made, status, now[AGE] if rules[KEEPS_AGE] else 0


@jit
def drive_once(work, s):
    """One step, of an engine whose steps another one takes in places: its status."""
    return drive(work, s, np.int64(1), np.int64(0))[1]
