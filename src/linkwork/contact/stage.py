"""A contact stage in one compiled call: what touches, how it answers, the impulses, what these do, and what is kept of them.

Steps call it by its address (`codegen/jit.py`, `call_compiled`), so that they are compiled without it. Where it lacks room it
asks Python for more, by an operation like that of a kernel, and goes on: what it has been given is found in the same place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.codegen.jit import call_compiled, jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.contact.bending import bend, too_far
from linkwork.contact.collide import Finding, find
from linkwork.contact.hook import (
    ACCEPTED,
    ANSWERED,
    BEFORE,
    BLOCKS,
    CACHED,
    CLOSING,
    DRIFTED,
    ENDED,
    FRESH,
    FULL,
    LACKS,
    OPENING,
    REPEAT,
    SINGLE,
    WANTED,
    WRITTEN,
    look_anew,
)
from linkwork.contact.solver import forget_blocks
from linkwork.contact.stage_kernels import remember, some_recover
from linkwork.contact.stage_solve import LAST, TOLERANCE, Solving, begin_stage, solve_again, solve_stage

NOTHING, CONTACTS, RESPONSES, PANELS = range(4)  # what there is too little room for
LEAST, GRAVITY, NEAR, CARRIED, SCALE, TURNING = range(6)  # numbers


class Again(Struct):
    """What another iteration of the same step needs beside; empty where steps have none."""

    bodies: np.ndarray  # (n, 16) int64: the table of bodies, at an iterate
    inverse: Any  # (3,) int64: addresses, as those of a `Stage`
    spots: np.ndarray  # (k, operation) int32: operations that say where points of Lagrangian bodies are then
    numbers: np.ndarray  # (3,) carried, scale, turning (0 or 1)
    velocity: np.ndarray  # (6,) scratch


class Stage(Struct):
    """All that a contact stage needs."""

    bodies: np.ndarray  # (n, 16) int64: bodies, and points that can be touched
    order: np.ndarray  # (n,) int64: these sorted by component
    inverse: Any  # (3,) int64: addresses of the routines of an `InverseMass`, and of what they need
    again: Again
    place: Finding
    even: Solving
    odd: Solving
    flags: np.ndarray  # (10,) int64, as in contact/hook.py
    margins: np.ndarray  # (1 + n,) those of `place`
    noise: np.ndarray  # (1,) m/s: by which velocities of the last iteration are off the law, where that is above the tolerance
    numbers: np.ndarray  # (6,) the smallest margin (m), gravity (m/s^2), what is near (m); carried, scale, turning (0 or 1)
    asking: np.ndarray  # (1,) int64: a table with the routine that makes room
    request: np.ndarray  # (1, operation) int32: its operation
    landed: np.ndarray  # (n, 16) int64: the table of bodies, at the end of a drift
    axes: np.ndarray  # (n, 3, 3) scratch for poses there
    origins: np.ndarray  # (n, 3)
    allowed: np.ndarray  # (stops,) m or rad: by which a step may lead a rope or limit further beyond its bound
    across: np.ndarray  # (2, 6) scratch for rows


@jit
def contact_stage(work, table, c, h, phase):
    """One phase of a step of length h (s); c: a `Stage`. Returns 1 where there is no room, or where a step has led too far."""
    flags = c.flags
    if phase == DRIFTED:
        return _led_too_far(work, c)
    if phase == REPEAT:
        return _repeat(work, table, c, h)
    if phase == ACCEPTED:
        _keep(c, 1 - flags[WRITTEN], 0)
        look_anew(c)
        return 0
    if phase == CLOSING:
        look_anew(c)
    lacks, wanted = _try_stage(work, table, c, h, phase)
    while lacks != NOTHING:
        if not _ask(work, c, lacks, wanted):
            return 1
        lacks, wanted = _try_stage(work, table, c, h, phase)
    flags[FRESH] = 1
    if phase == CLOSING:
        _keep(c, flags[WRITTEN], 1)
        flags[ENDED] = 1
    else:
        flags[WRITTEN], flags[BEFORE], flags[ENDED] = 1 - flags[WRITTEN], c.place.counts[0], 0
    if phase == SINGLE:
        _keep(c, 1 - flags[WRITTEN], 0)
        look_anew(c)
    return 0


@jit_inner
def _ask(work, c, lacks, wanted):
    """Ask Python for room; whether there is some now."""
    c.flags[LACKS], c.flags[WANTED] = lacks, wanted
    sweep(work, c.asking, c.request)
    return c.flags[FULL] == 0


@jit_inner
def _repeat(work, table, c, h):
    """The phase before the motion with other factors, for another iteration of the same step. What bounced in the first one
    shall leave with the speeds that it had then; ropes and limits are where the iterate has them."""
    again, place, counts, flags = c.again, c.place, c.place.counts, c.flags
    m, inverse, numbers, noise = counts[0], c.again.inverse, c.again.numbers, c.noise
    flags[BEFORE], flags[ENDED] = m, 0
    noise[0] = 0.0
    if m == 0:
        return 0
    s = c.odd if flags[WRITTEN] == 0 else c.even  # which the first iteration wrote
    sweep(work, table, again.spots)
    call_compiled(inverse[0], (work, table, inverse[2], s.slots, s.R, counts[2]))
    forget_blocks(s.solver)
    if len(place.stops.labels) > 0:
        colliders = len(place.materials.body)
        bend(work, again.bodies, s.rows, m, colliders, place.stops, c.axes, c.origins, h, again.velocity, s.bent)
    lengths = counts[0], counts[1], counts[2], counts[3]
    while not solve_again(work, again.bodies, s, lengths, h, c.numbers[GRAVITY], c.numbers[NEAR], OPENING, numbers[0],
                          numbers[1], numbers[2] > 0.0, flags[CACHED]):  # fmt: skip
        if not _ask(work, c, PANELS, 0):
            return 1
        s = c.odd if flags[WRITTEN] == 0 else c.even
    call_compiled(inverse[1], (work, table, inverse[2], s.slots, counts[2], numbers[1]))
    if s.told[LAST] > TOLERANCE:
        noise[0] = s.told[LAST]
    return 0


@jit_inner
def _led_too_far(work, c):
    """1 where a flight has taken a rope or hard limit further beyond its bound than a step may."""
    stops = c.place.stops
    if len(stops.labels) == 0:
        return 0
    rows, m = (c.odd if c.flags[WRITTEN] == 0 else c.even).rows, c.flags[BEFORE]
    colliders = len(c.place.materials.body)
    return 1 if too_far(work, c.landed, rows, m, colliders, stops, c.axes, c.origins, c.allowed, c.across) else 0


@jit_inner
def _try_stage(work, table, c, h, phase):
    """A phase, unless it lacks room: (what for, how many contacts or blocks there are)."""
    bodies, inverse, place, counts, numbers = c.bodies, c.inverse, c.place, c.place.counts, c.numbers
    s = c.even if c.flags[WRITTEN] == 0 else c.odd
    slots, rows = s.slots, s.rows
    if not c.flags[FRESH]:
        count = find(work, table, bodies, c.order, place, rows, numbers[LEAST], h, numbers[CARRIED], numbers[SCALE])
        if count > len(place.found.gap):
            return CONTACTS, count
        if counts[3] > len(s.R) or counts[4] > c.flags[BLOCKS]:
            return RESPONSES, counts[4]
        c.flags[FRESH], c.flags[ANSWERED] = 1, 0
    lengths, near, when = (counts[0], counts[1], counts[2], counts[3]), numbers[NEAR], CLOSING if phase == CLOSING else OPENING
    before, old = (c.odd if c.flags[WRITTEN] == 0 else c.even).rows, c.flags[BEFORE] if phase == CLOSING else 0
    presses = counts[0] > 0 and begin_stage(work, bodies, s, lengths, h, near, when, numbers[CARRIED], numbers[SCALE],
                                            numbers[TURNING] > 0.0)  # fmt: skip
    if presses or (counts[0] > 0 and some_recover(before, old, numbers[GRAVITY] * h)):
        if not c.flags[ANSWERED]:
            call_compiled(inverse[0], (work, table, inverse[2], slots, s.R, counts[2]))
            c.flags[ANSWERED] = 1
            forget_blocks(s.solver)
        if not solve_stage(s, lengths, h, numbers[GRAVITY], near, when, c.flags[CACHED], before, old):
            return PANELS, 0
        call_compiled(inverse[1], (work, table, inverse[2], slots, counts[2], numbers[SCALE]))
    return NOTHING, 0


@jit_inner
def _keep(c, turn, ended):
    """What the next step starts from: rows as they are now, with the impulses of the last solve of each stage."""
    now, before = (c.even, c.odd) if turn == 0 else (c.odd, c.even)
    if not ended:
        before = now
    c.flags[CACHED] = c.place.counts[0]
    remember(now.rows, c.flags[CACHED], now.labels, now.cache, before.rows, c.flags[BEFORE], ended > 0)
