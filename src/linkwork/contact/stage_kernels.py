"""The contact stage of a step: detect, predict, solve, strike, one compiled function each.

A step that would solve for x, changes of velocity (or accelerations), and then move the bodies by them, stops in between.
`find_rows` looks at what touches, and `contact/inverse_mass.py` knows how touched bodies answer impulses; `predict` reads the
velocities that the step is about to use; a solver finds impulses with which these obey the law of contact; `collect` adds them
up by bodies, and the answers do to all bodies and constraint forces what impulses do. So contact forces stand beside the
constraint forces of the same solve, and everything that follows is as without contact.

Targets. An open gap may close within the step (c_n >= -gap/h: speculative). Overlap is taken back by a part of it a step, no
faster than `recovery`. What approaches faster than `above`, and would meet within the step, bounces: such rows are solved
first, with the others left out, again and again until none approaches any more. So an impact travels through a row of balls as
it should.

Soft rows have a deformation in the place of overlap. With the gap phi their force is -(k (phi + h c) + d c), that is
c + E f = -k phi / (h k + d), E = 1 / (h (h k + d)); from a gap on the deformation is what is left of the motion, and c + E f =
-phi / h. A step of two phases gives half of both in each, for where bodies are a step later in the second one, too: so what
rests has no velocity at the end of a step, and a contact of any stiffness takes energy and gives none.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.collision.vectors import dot, plus, row, times
from linkwork.contact.companions import axes_of, write_companions
from linkwork.contact.delassus import group_slots
from linkwork.contact.hook import OPENING
from linkwork.contact.problem import approach
from linkwork.contact.rows import (
    ABOVE_SPEED,
    BODY_A,
    BODY_B,
    COLLIDER_A,
    COLLIDER_B,
    DAMPING,
    GAP,
    NO_IMPULSE,
    POINT,
    RECOVERY,
    RESTITUTION,
    ROLLING,
    STIFFNESS,
    TORSION,
    find_poses,
    write_contacts,
    write_stops,
)
from linkwork.contact.slot_velocities import all_velocities
from linkwork.contact.stretched import take_spots

RECOVERED = 0.2  # part of an overlap that is taken back in a step
QUIET = (
    0.01  # part of the distance that counts as touching: within it gaps are let be, so that what rests starts from its solution
)
INSTANT = 1e-12  # s: forces give nothing in it, springs, dry friction of joints nor weights
LEFT_OUT = 10.0  # times the fastest approach: the target of rows that are left out
AHEAD = 1.25  # times what a body moves in a step: contacts are looked for as far as both bodies of a pair can come
TURN_AHEAD, TURN_SLACK = 2.0, 0.05  # times what the quickest body turns in a step, rad: limits that are nearer are looked at


class Slots(Struct):
    """Bodies that take part, and how they answer. Arrays are as long as the table of bodies."""

    touched: np.ndarray  # (n,) bool
    slot_of: np.ndarray  # (n,) int64
    body_of: np.ndarray  # (n,) int64
    first: np.ndarray  # (n,) int32: groups
    size: np.ndarray
    at: np.ndarray  # (n,) int64
    rank: np.ndarray  # (n,) int64: of groups whose R is given as L of R = L L^T; -1: R itself
    u: np.ndarray  # (n, 6)
    before: np.ndarray  # (n, 6) u without impulses
    wrench: np.ndarray  # (n, 6) N s, N m s


@jit
def find_poses_and_margins(work, bodies, reach, R, p, h, carried, scale, margins, u):
    """Poses of all bodies; how far limits are looked for (rad) and contacts of each body (m), from their speeds, unless that is
    known. u: (6,) scratch."""
    find_poses(work, bodies, R, p)
    if margins[0] > 0.0:
        return
    farthest, quickest = 0.0, 0.0
    for body in range(len(reach)):
        margins[1 + body] = 0.0
        if reach[body] < 0.0:
            continue
        all_velocities(work, bodies[body], carried, scale, u)
        linear, angular = math.sqrt(u[0] ** 2 + u[1] ** 2 + u[2] ** 2), math.sqrt(u[3] ** 2 + u[4] ** 2 + u[5] ** 2)
        margins[1 + body] = AHEAD * h * (linear + angular * reach[body])
        farthest += margins[1 + body]
        quickest = max(quickest, angular)
    margins[0] = TURN_SLACK + TURN_AHEAD * h * quickest if math.isfinite(farthest) else np.inf


@jit
def find_rows(work, bodies, order, rows, contacts, count, materials, stretched, stops, R, p, least, margins, speeds, slots):
    """Rows of all contacts and stops, their slots and groups: (rows, slots, groups, length of all responses, entries of
    blocks)."""
    write_contacts(rows, contacts, count, materials, p)
    if len(stretched.owners) > 0:
        labels = rows.labels[:, BODY_A : BODY_B + 1]
        take_spots(work, bodies, stretched, labels, contacts, count, rows.half[0], R, p, rows.Ja, rows.Jb)
    total = write_stops(work, rows, count, stops, len(materials.body), R, p, least, margins, speeds)
    if materials.resists[TORSION] or materials.resists[ROLLING]:
        total = write_companions(rows, count, total, materials, len(stops.labels), p)
    for body in range(len(slots.touched)):
        slots.touched[body] = False
    for k in range(total):
        for end in (BODY_A, BODY_B):
            if rows.labels[k, end] >= 0:
                slots.touched[rows.labels[k, end]] = True
    used, groups, length = group_slots(
        bodies, order, slots.touched, slots.slot_of, slots.body_of, slots.first, slots.size, slots.at
    )
    for g in range(groups):
        for slot in range(slots.first[g], slots.first[g] + slots.size[g]):
            slots.wrench[slot, 0] = slots.size[g]
    blocks = 0
    for k in range(total):
        a, b = rows.labels[k, BODY_A], rows.labels[k, BODY_B]
        rows.slot_a[k] = slots.slot_of[a] if a >= 0 else -1
        rows.slot_b[k] = slots.slot_of[b] if b >= 0 else -1
        for slot in (rows.slot_a[k], rows.slot_b[k]):
            if slot >= 0:
                blocks += 18 * int(slots.wrench[slot, 0])
    return total, used, groups, length, blocks


@jit_inner
def _far_below(rows, m, u):
    """A target that leaves a row out: impulses do not make bodies approach that fast."""
    largest = 0.0
    for k in range(m):
        largest = max(largest, abs(approach(rows, k, u)))
    return -LEFT_OUT * (largest + 1.0)


@jit_inline
def _bounces(rows, k, u, h, slow, near, stage):
    """Whether a row bounces, and the velocity of its approach (m/s)."""
    if not rows.numbers[k, RESTITUTION] > 0.0:
        return False, 0.0
    c, gap = approach(rows, k, u), rows.numbers[k, GAP]
    meets = gap + h * c < 0.0 if stage == OPENING else gap <= near
    return meets and c < -max(rows.numbers[k, ABOVE_SPEED], slow), c


@jit
def bounce(rows, m, u, h, slow, near, stage):
    """Set targets for rows that bounce, and leave out all others; whether there is any. slow: m/s, at which nothing bounces;
    near: m, what counts as touching after the motion."""
    some = False
    for k in range(m):
        some = some or _bounces(rows, k, u, h, slow, near, stage)[0]
    if not some:
        return False
    never = _far_below(rows, m, u)
    for k in range(m):
        bounces, c = _bounces(rows, k, u, h, slow, near, stage)
        rows.target[k, 0] = -rows.numbers[k, RESTITUTION] * c if bounces else never
        rows.target[k, 1] = rows.target[k, 2] = rows.compliance[k] = 0.0
        for i in range(3):
            rows.impulse[k, i] = 0.0
        if rows.mu[k] < 0.0:
            rows.mu[k] = -NO_IMPULSE
    return True


@jit_inline
def _is_soft(rows, k):
    return rows.numbers[k, STIFFNESS] > 0.0


@jit_inline
def _is_left_out(rows, k, h, near, stage):
    """Whether a row has nothing to give in a stage: after the motion, what does not touch, and springs in an impact."""
    if stage == OPENING or rows.mu[k] < 0.0:
        return False
    return rows.numbers[k, GAP] > 0.0 or h <= INSTANT if _is_soft(rows, k) else rows.numbers[k, GAP] > near


@jit_inline
def _target(rows, k, h, quiet, stage):
    """The least normal velocity of a row that is not left out (m/s)."""
    gap = rows.numbers[k, GAP]
    if _is_soft(rows, k):
        stiffness = rows.numbers[k, STIFFNESS]
        return -gap / h if gap > 0.0 else -stiffness * gap / (h * stiffness + rows.numbers[k, DAMPING])
    if stage != OPENING or rows.mu[k] < 0.0 or abs(gap) <= quiet:
        return 0.0
    if gap > 0.0:  # from the edge of what is let be: targets of what rests change little from step to step
        return -(gap - quiet) / h
    return min(rows.numbers[k, RECOVERY], -RECOVERED * (gap + quiet) / h)


@jit_inner
def some_press(rows, m, u, h, near, stage):
    """Whether some row asks for an impulse: without one it would approach faster than it may, or it is dry friction."""
    for k in range(m):
        if rows.mu[k] < 0.0:
            return True
        if not _is_left_out(rows, k, h, near, stage) and not approach(rows, k, u) >= _target(rows, k, h, QUIET * near, stage):
            return True
    return False


@jit_inner
def leave_alone(rows, m, leaving):
    """Set the impulses of all rows to zero."""
    for k in range(m):
        leaving[k] = -np.inf
        for i in range(3):
            rows.impulse[k, i] = rows.total[k, i] = rows.given[k, i] = 0.0


@jit
def aim(rows, m, u, h, near, stage, labels, cache, cached):
    """Targets of all rows, and cached impulses to start from: those of the nearest point of the same pair. Cache (:, 9):
    impulses of both stages in the world, points. Rows and cache are in the same order."""
    j, never, quiet = 0, _far_below(rows, m, u) if stage != OPENING else 0.0, QUIET * near
    for k in range(m):
        left_out, rows.compliance[k] = _is_left_out(rows, k, h, near, stage), 0.0
        rows.target[k, 0] = never if left_out else _target(rows, k, h, quiet, stage)
        if _is_soft(rows, k) and not left_out:
            rows.compliance[k] = 1.0 / (h * (h * rows.numbers[k, STIFFNESS] + rows.numbers[k, DAMPING]))
        if rows.mu[k] < 0.0:
            rows.mu[k] = -max(h * rows.numbers[k, RECOVERY], NO_IMPULSE)
        rows.target[k, 1] = rows.target[k, 2] = 0.0
        while j < cached and _compare(labels[j], rows.labels[k]) < 0:
            j += 1
        found = -1 if left_out else _nearest(labels, cache[:, 6:], j, cached, rows.labels[k], rows.numbers[k])
        if found >= 0:
            _along_axes(rows, k, row(cache[:, 3 * stage : 3 * stage + 3], found))
        else:
            rows.impulse[k, 0] = rows.impulse[k, 1] = rows.impulse[k, 2] = 0.0


@jit_inline
def _along_axes(rows, k, impulse):
    """Set a row's impulse from one in the world: where normals waver, tangents turn from step to step."""
    n, t, s = axes_of(rows, k)
    rows.impulse[k, 0], rows.impulse[k, 1], rows.impulse[k, 2] = dot(n, impulse), dot(t, impulse), dot(s, impulse)


@jit_inline
def _in_world(rows, k):
    (n, t, s), f = axes_of(rows, k), row(rows.impulse, k)
    return plus(times(f[0], n), plus(times(f[1], t), times(f[2], s)))


@jit_inline
def _nearest(labels, points, begin, end, label, number):
    """The nearest of those from `begin` on that are of the same pair, or -1: features change where faces are level."""
    best, found = np.inf, -1
    for j in range(begin, end):
        if _compare(labels[j], label) != 0:
            break
        far = 0.0
        for i in range(3):
            far += (points[j, i] - number[POINT + i]) ** 2
        if far < best:
            best, found = far, j
    return found


@jit_inline
def _compare(one, other):
    """-1, 0, 1 as a pair of colliders comes before another one, is the same, or comes after."""
    for i in range(COLLIDER_A, COLLIDER_B + 1):
        if one[i] != other[i]:
            return -1 if one[i] < other[i] else 1
    return 0


@jit_inline
def _recovers(before, j, fast):
    """Whether a row, or the contact that it follows, took back overlap faster than that (m/s), and pressed for it."""
    j = before.follows[j] if before.follows[j] >= 0 else j
    return before.mu[j] >= 0.0 and before.target[j, 0] > fast and before.impulse[j, 0] > 0.0 and not _is_soft(before, j)


@jit_inner
def some_recover(before, old, fast):
    """Whether some rows of the stage before the motion took back overlap."""
    for j in range(old):
        if _recovers(before, j, fast):
            return True
    return False


@jit_inner
def take_back(rows, m, before, old, fast):
    """Impulses of the rows that undo those which took back overlap before the motion, at the nearest points of the same pairs;
    whether there are any. before: `old` rows of the stage before the motion. fast: m/s, what weights give in a step: overlap
    that is taken back no faster leaves no velocity that is worth it."""
    some, k = False, 0
    for j in range(old):
        if not _recovers(before, j, fast):
            continue
        while k < m and _compare(rows.labels[k], before.labels[j]) < 0:
            k += 1
        found = _nearest(rows.labels, rows.numbers, k, m, before.labels[j], before.numbers[j])
        if found < 0:
            continue
        if not some:
            some = True
            for i in range(m):
                rows.impulse[i, 0] = rows.impulse[i, 1] = rows.impulse[i, 2] = 0.0
        f0, f1, f2 = row(rows.impulse, found)
        _along_axes(rows, found, _in_world(before, j))
        rows.impulse[found, 0] = f0 - rows.impulse[found, 0]
        rows.impulse[found, 1] = f1 - rows.impulse[found, 1]
        rows.impulse[found, 2] = f2 - rows.impulse[found, 2]
    return some


@jit
def add_up(rows, m):
    """Add the impulses of a solve to the stage's."""
    for k in range(m):
        for i in range(3):
            rows.total[k, i] += rows.impulse[k, i]


@jit
def note_bounces(rows, m, u, leaving):
    """The normal velocities with which rows leave that have bounced; of others, no bound. u: after all solves of the stage."""
    for k in range(m):
        leaving[k] = approach(rows, k, u) if rows.total[k, 0] > rows.impulse[k, 0] else -np.inf


@jit
def collect(rows, m, slots, used):
    """The wrench that the stage's impulses put on each slot. Impulses on b in the world go to `rows.given`."""
    for slot in range(used):
        for i in range(6):
            slots.wrench[slot, i] = 0.0
    for k in range(m):
        a, b = rows.slot_a[k], rows.slot_b[k]
        for i in range(3):
            rows.given[k, i] = 0.0
        for j in range(3):
            f = rows.total[k, j]
            if f == 0.0:
                continue
            for i in range(6):
                if a >= 0:
                    slots.wrench[a, i] += rows.Ja[k, j, i] * f
                if b >= 0:
                    slots.wrench[b, i] += rows.Jb[k, j, i] * f
            for i in range(3):
                rows.given[k, i] += f * (rows.Jb[k, j, i] if b >= 0 else -rows.Ja[k, j, i])


@jit
def remember(rows, m, labels, cache, before, old, ended):
    """What the next step starts from: labels and points of the rows that are there now, the impulses of the stage before the
    motion, at the nearest points, and of the one after it, if there was one. Cache (:, 9): both in the world, points."""
    j = 0
    for k in range(m):
        for i in range(labels.shape[1]):
            labels[k, i] = rows.labels[k, i]
        while j < old and _compare(before.labels[j], rows.labels[k]) < 0:
            j += 1
        found = _nearest(before.labels, before.numbers, j, old, rows.labels[k], rows.numbers[k])
        opening = _in_world(before, found) if found >= 0 else (0.0, 0.0, 0.0)
        closing = _in_world(rows, k) if ended else (0.0, 0.0, 0.0)
        for i in range(3):
            cache[k, i], cache[k, 3 + i], cache[k, 6 + i] = opening[i], closing[i], rows.numbers[k, POINT + i]
