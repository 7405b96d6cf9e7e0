"""A contact stage in one compiled call: what touches, how it answers, the impulses, what these do, and what is kept of them.

Steps call it by its address (`codegen/jit.py`, `call_compiled`), so that they are compiled without it. Where it lacks room it
asks Python for more, by an operation like that of a kernel, and goes on: what it has been given is found in the same place.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import call_compiled, jit, jit_inner, sweep
from linkwork.codegen.struct import Bundle
from linkwork.collision.layout import (
    ANSWERED,
    BEFORE,
    BLOCKS,
    CACHED,
    CLOSING,
    ENDED,
    FRESH,
    FULL,
    LACKS,
    LANDED,
    OPENING,
    SINGLE,
    WANTED,
    WRITTEN,
)
from linkwork.contact.bending import too_far
from linkwork.contact.collide import Finding, find
from linkwork.contact.stage_kernels import remember, some_recover
from linkwork.contact.stage_solve import Solving, begin_stage, solve_stage

NOTHING, CONTACTS, RESPONSES, PANELS = range(4)  # what there is too little room for
LEAST, GRAVITY, NEAR, CARRIED, SCALE, TURNING = range(6)  # numbers


class Stage(Bundle):
    """All that a stage needs."""

    bodies: np.ndarray  # (n, 16) int64: bodies, and points that can be touched
    order: np.ndarray  # (n,) int64: these sorted by component
    inverse: np.ndarray  # (3,) int64: addresses of the routines of an `InverseMass`, and of what they need
    place: Finding
    even: Solving
    odd: Solving
    marks: np.ndarray  # (10,) int64
    numbers: np.ndarray  # (6,) the smallest margin (m), gravity (m/s^2), what is near (m); carried, scale, turning (0 or 1)
    asking: np.ndarray  # (1,) int64: a table with the routine that makes room
    request: np.ndarray  # (1, operation) int32: its operation
    landed: np.ndarray  # (n, 16) int64: the table of bodies, at the end of a flight
    axes: np.ndarray  # (n, 3, 3) scratch for poses there
    origins: np.ndarray  # (n, 3)
    allowed: np.ndarray  # (stops,) m or rad: by which a step may lead a rope or limit further beyond its bound
    across: np.ndarray  # (2, 6) scratch for rows


@jit
def contact_stage(work, table, c, h, stage):
    """One stage of a step of length h (s); c: a `Stage`. Returns 1 where there is no room, or where a step has led too far."""
    marks = c.marks
    if stage == LANDED:
        return _led_too_far(work, c)
    if stage == CLOSING:
        look_anew(c)
    lacks, wanted = _try_stage(work, table, c, h, stage)
    while lacks != NOTHING:
        marks[LACKS], marks[WANTED] = lacks, wanted
        sweep(work, c.asking, c.request)
        if marks[FULL]:
            return 1
        lacks, wanted = _try_stage(work, table, c, h, stage)
    marks[FRESH] = 1
    if stage == CLOSING:
        _keep(c, marks[WRITTEN], 1)
        marks[ENDED] = 1
    else:
        marks[WRITTEN], marks[BEFORE], marks[ENDED] = 1 - marks[WRITTEN], c.place.counts[0], 0
    if stage == SINGLE:
        _keep(c, 1 - marks[WRITTEN], 0)
        look_anew(c)
    return 0


@jit_inner
def _led_too_far(work, c):
    """1 where a flight has taken a rope or hard limit further beyond its bound than a step may."""
    stops = c.place.stops
    if len(stops.labels) == 0:
        return 0
    rows, m = (c.odd if c.marks[WRITTEN] == 0 else c.even).rows, c.marks[BEFORE]
    colliders = len(c.place.materials.body)
    return 1 if too_far(work, c.landed, rows, m, colliders, stops, c.axes, c.origins, c.allowed, c.across) else 0


@jit_inner
def look_anew(c):
    """Bodies move: the next stage looks for itself what touches."""
    c.marks[FRESH], c.place.margins[0] = 0, 0.0


@jit_inner
def _try_stage(work, table, c, h, stage):
    """A stage, unless it lacks room: (what for, how many contacts or blocks there are)."""
    bodies, inverse, place, counts, numbers = c.bodies, c.inverse, c.place, c.place.counts, c.numbers
    s = c.even if c.marks[WRITTEN] == 0 else c.odd
    slots, rows = s.slots, s.rows
    if not c.marks[FRESH]:
        count = find(work, table, bodies, c.order, place, rows, numbers[LEAST], h, numbers[CARRIED], numbers[SCALE])
        if count > len(place.found.gap):
            return CONTACTS, count
        if counts[3] > len(s.R) or counts[4] > c.marks[BLOCKS]:
            return RESPONSES, counts[4]
        c.marks[FRESH], c.marks[ANSWERED] = 1, 0
    lengths, near, when = (counts[0], counts[1], counts[2], counts[3]), numbers[NEAR], CLOSING if stage == CLOSING else OPENING
    before, old = (c.odd if c.marks[WRITTEN] == 0 else c.even).rows, c.marks[BEFORE] if stage == CLOSING else 0
    presses = counts[0] > 0 and begin_stage(work, bodies, s, lengths, h, near, when, numbers[CARRIED], numbers[SCALE],
                                            numbers[TURNING] > 0.0)  # fmt: skip
    if presses or (counts[0] > 0 and some_recover(before, old, numbers[GRAVITY] * h)):
        if not c.marks[ANSWERED]:
            call_compiled(inverse[0], (work, table, inverse[2], slots, s.R, counts[2]))
            c.marks[ANSWERED], s.solver.base.known[0] = 1, 0
        if not solve_stage(s, lengths, h, numbers[GRAVITY], near, when, c.marks[CACHED], before, old):
            return PANELS, 0
        call_compiled(inverse[1], (work, table, inverse[2], slots, counts[2], numbers[SCALE]))
    return NOTHING, 0


@jit_inner
def _keep(c, turn, ended):
    """What the next step starts from: rows as they are now, with the impulses of the last solve of each stage."""
    now, before = (c.even, c.odd) if turn == 0 else (c.odd, c.even)
    if not ended:
        before = now
    c.marks[CACHED] = c.place.counts[0]
    remember(now.rows, c.marks[CACHED], now.labels, now.cache, before.rows, c.marks[BEFORE], ended > 0)
