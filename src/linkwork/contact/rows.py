"""Rows of the contact problem: from where bodies touch, and from ropes, hard limits and inequalities, to Jacobians on slots.

A row is a contact (three directions: normal and two tangents) or a stop (a rope, a bound of a hard limit, dry friction of a
joint: one direction, tangents of zero; of an inequality, tangents where it has speeds of sliding) or a companion of a contact
(`companions.py`). Rows are told apart by (a, b, feature): two colliders and what of them touches; stops come behind all
contacts, with a = number of colliders + number of the stop, and companions behind these.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.collision.vectors import across, cross, dot, length, minus, plus, row, times, turn
from linkwork.contact.combining import FRICTION, combined
from linkwork.contact.delassus import FLAT, PART, POSE, R_AT, RIGID, STRETCHED, Q
from linkwork.contact.stretched import find_map

ROPE, TURN, TRAVEL, CONE, FUNCTION = range(5)
UNCOUNTED = -1  # in the place of a turn counter
NO_IMPULSE = 1e-300  # N s: of dry friction that is left out
STILL = 1e-12  # m: a rope shorter than this has no direction, and pulls along z

# columns of a row's labels and numbers
COLLIDER_A, COLLIDER_B, FEATURE, BODY_A, BODY_B = range(5)
POINT, NORMAL, GAP, RESTITUTION, ABOVE_SPEED, RECOVERY, STIFFNESS, DAMPING, TURNS_ABOUT = 0, 3, 6, 7, 8, 9, 10, 11, 12
TORSION, ROLLING = range(2)  # what a companion turns about: the normal, the tangents
# columns of a stop's labels and numbers: anchors in the bodies' internal frames; frame of the joint (ref, side, and the axis
# ref x side)
STOP_KIND, STOP_A, STOP_B, STOP_TURNS = range(4)
ON_A, ON_B, REF_A, SIDE_A, REF_B, SIGN, BOUND, STOP_RESTITUTION = 0, 3, 6, 9, 12, 15, 16, 17
# ... of a function: which part of its slot's velocities is its rate, friction, how many parts behind it are speeds of sliding
OF_SLOT, RUBS, SLIPS = REF_A, REF_A + 1, REF_A + 2
UP = (0.0, 0.0, 1.0)  # along which rows of functions are told: they have no direction


class Materials(Struct):
    """What colliders and rules say of a pair."""

    body: np.ndarray  # (colliders,) int64, -1: the ground
    rules: np.ndarray  # (colliders, words) int64: bits of the rules that they take part in, 62 to a word
    own: np.ndarray  # (colliders, 6): friction, restitution, torsion m, rolling m, priority, dimensions (combining.py)
    of_rule: np.ndarray  # (rules, 9): friction and restitution (negative where colliders decide), above m/s, recovery m/s,
    # stiffness N/m (0: hard) and damping N s/m of a point, as much of both as a phase of a step gives, torsion and rolling m
    # (negative where colliders decide), how colliders combine
    resists: np.ndarray  # (2,) int64: whether any pair resists torsion, and rolling


class Stops(Struct):
    """Ropes, and one for each bound of a hard limit."""

    labels: np.ndarray  # (k, 4) int64: kind, bodies (-1: the ground), where the turn counter (or the value of a function) lies
    numbers: np.ndarray  # (k, 18): sign 1 for an upper bound or a rope's length, -1 for a lower one; bound m or rad; of dry
    # friction sign 0, and its force N or N m in the place of a bound
    chosen: np.ndarray  # (k,) int8: 0 where its distance decides whether it has a row, 1 where it has one, -1 where it has none


class Rows(Struct):
    """All rows of a stage, up to a capacity m."""

    labels: np.ndarray  # (m, 5) int64: what a row is, and its bodies
    numbers: np.ndarray  # (m, 13): point m, normal from a to b, gap m (rad), restitution, speeds m/s, stiffness, damping; what
    # a companion turns about
    slot_a: np.ndarray  # (m,) int32, -1: the ground
    slot_b: np.ndarray
    Ja: np.ndarray  # (m, 3, 6)
    Jb: np.ndarray
    mu: np.ndarray  # (m,)
    target: np.ndarray  # (m, 3) m/s
    impulse: np.ndarray  # (m, 3) N s: of one solve
    total: np.ndarray  # (m, 3) N s: of a stage
    given: np.ndarray  # (m, 3) N s: of a stage, in the world, on b
    compliance: np.ndarray  # (m,) 1/kg: by which a row's velocity yields to its impulse
    follows: np.ndarray  # (m,) int64: the contact that a companion follows; -1: none
    half: np.ndarray  # (1,) int64: which of the two halves of a step's spots on bodies that stretch are its own


def rows_for(capacity: int, half: int = 0) -> Rows:
    """Room for that many rows."""
    slots = np.zeros((2, capacity), dtype=np.int32)
    vectors, numbers = [np.zeros((capacity, 3)) for _ in range(4)], [np.zeros(capacity) for _ in range(2)]
    return Rows(np.zeros((capacity, 5), dtype=np.int64), np.zeros((capacity, 13)), slots[0].copy(), slots[1].copy(),
                np.zeros((capacity, 3, 6)), np.zeros((capacity, 3, 6)), numbers[0], *vectors, numbers[1],
                np.full(capacity, -1, dtype=np.int64), np.array([half]))  # fmt: skip


@jit_inner
def find_poses(work, bodies, R, p):
    """Axes (n, 3, 3) and origins (n, 3) of the bodies' internal frames."""
    for body in range(len(bodies)):
        q, turned, pose, axes = bodies[body, Q], bodies[body, R_AT], bodies[body, POSE], R[body]
        if pose == RIGID:
            for i in range(3):
                p[body, i] = work[q + i]
                for j in range(3):
                    axes[i, j] = work[turned + 3 * i + j]
            continue
        if pose == STRETCHED:
            find_map(work, bodies[body], axes, p[body])
            continue
        for i in range(3):
            part = bodies[body, PART + i]
            p[body, i] = work[q + part] if part >= 0 else 0.0
            for j in range(3):
                axes[i, j] = 1.0 if i == j else 0.0
        if pose == FLAT:
            c, s = work[turned], work[turned + 1]
            normal = 0 if bodies[body, PART + 3] >= 0 else (1 if bodies[body, PART + 4] >= 0 else 2)
            i, j = (normal + 1) % 3, (normal + 2) % 3
            axes[i, i], axes[j, j], axes[i, j], axes[j, i] = c, c, -s, s


@jit_inline
def shared_rule(rules, a, b):
    """The last rule that two colliders share."""
    for word in range(rules.shape[1] - 1, -1, -1):
        both = rules[a, word] & rules[b, word]
        if both != 0:
            bit = 0
            while both > 1:
                both >>= 1
                bit += 1
            return 62 * word + bit
    return 0


@jit_inline
def clear_side(J):
    for i in range(3):
        for j in range(6):
            J[i, j] = 0.0


@jit_inline
def _side(J, sign, d, arm):
    """The row of a direction d at an arm from a body's origin."""
    t = cross(arm, d)
    for i in range(3):
        J[i] = sign * d[i]
        J[3 + i] = sign * t[i]


@jit
def write_contacts(rows, contacts, count, materials, p):
    """Rows of all contacts, the first ones."""
    for k in range(count):
        a, b = contacts.a[k], contacts.b[k]
        label, number = rows.labels[k], rows.numbers[k]
        label[COLLIDER_A], label[COLLIDER_B], label[FEATURE] = a, b, contacts.feature[k]
        label[BODY_A], label[BODY_B] = materials.body[a], materials.body[b]
        point, n = row(contacts.point, k), row(contacts.normal, k)
        t1 = across(n)
        t2 = cross(n, t1)
        for i in range(3):
            number[POINT + i], number[NORMAL + i] = point[i], n[i]
        _write_side(rows.Ja[k], -1.0, label[BODY_A], point, n, t1, t2, p)
        _write_side(rows.Jb[k], 1.0, label[BODY_B], point, n, t1, t2, p)
        rule, own = materials.of_rule[shared_rule(materials.rules, a, b)], materials.own
        rows.mu[k] = rule[0] if rule[0] >= 0.0 else combined(own, rule, a, b, FRICTION, 3.0)
        number[GAP], number[RESTITUTION] = contacts.gap[k], rule[1] if rule[1] >= 0.0 else max(own[a, 1], own[b, 1])
        number[ABOVE_SPEED], number[RECOVERY], number[STIFFNESS], number[DAMPING] = rule[2], rule[3], rule[4], rule[5]
        rows.follows[k] = -1


@jit_inline
def _write_side(J, sign, body, point, n, t1, t2, p):
    if body < 0:
        clear_side(J)
        return
    arm = minus(point, (p[body, 0], p[body, 1], p[body, 2]))
    _side(J[0], sign, n, arm)
    _side(J[1], sign, t1, arm)
    _side(J[2], sign, t2, arm)


@jit_inline
def _carried(R, p, body, local):
    """A body's local point in the world, and the arm to it from the body's origin."""
    here = (local[0], local[1], local[2])
    if body < 0:
        return here, here
    arm = turn(R[body], here)
    return plus((p[body, 0], p[body, 1], p[body, 2]), arm), arm


@jit_inline
def _turned(R, body, local):
    here = (local[0], local[1], local[2])
    return here if body < 0 else turn(R[body], here)


@jit
def stop_value(work, label, number, R, p, Ja, Jb):
    """(length, angle or travel, point, direction) of a stop; its rate is Ja u_a + Jb u_b."""
    a, b, kind = label[STOP_A], label[STOP_B], label[STOP_KIND]
    for i in range(6):
        Ja[i] = Jb[i] = 0.0
    if kind == FUNCTION:
        Jb[int(number[OF_SLOT])] = 1.0
        return work[label[STOP_TURNS]], (0.0, 0.0, 0.0), UP
    pa, arm_a = _carried(R, p, a, number[ON_A : ON_A + 3])
    pb, arm_b = _carried(R, p, b, number[ON_B : ON_B + 3])
    apart = minus(pb, pa)
    if kind == ROPE:
        far = length(apart)
        d = times(1.0 / far, apart) if far > STILL else (0.0, 0.0, 1.0)
        _side(Ja, -1.0, d, arm_a)
        _side(Jb, 1.0, d, arm_b)
        return far, pb, d
    ref, side = _turned(R, a, number[REF_A : REF_A + 3]), _turned(R, a, number[SIDE_A : SIDE_A + 3])
    axis = cross(ref, side)
    if kind == TRAVEL:
        _side(Ja, -1.0, axis, plus(arm_a, apart))  # the axis turns with a, and what lies apart with it
        _side(Jb, 1.0, axis, arm_b)
        return dot(axis, apart), pb, axis
    other = _turned(R, b, number[REF_B : REF_B + 3])
    if kind == CONE:  # between ref on a and on b
        across = cross(ref, other)
        far = length(across)
        axis = times(1.0 / far, across) if far > STILL else (0.0, 0.0, 0.0)
        for i in range(3):
            Ja[3 + i] = -axis[i]
            Jb[3 + i] = axis[i]
        return math.atan2(far, dot(ref, other)), pb, axis
    s, c, turns = dot(side, other), dot(ref, other), label[STOP_TURNS]
    counted, last, passed = 0.0, 0.0, 0.0
    if turns != UNCOUNTED:
        counted, last = work[turns], work[turns + 1]
    if c < 0.0 and turns != UNCOUNTED:  # half a turn may have been passed since turns were counted last
        passed = (1.0 if last >= 0.0 and s < 0.0 else 0.0) - (1.0 if last < 0.0 and s >= 0.0 else 0.0)
    for i in range(3):
        Ja[3 + i] = -axis[i]
        Jb[3 + i] = axis[i]
    return math.atan2(s, c) + 2.0 * math.pi * (counted + passed), pb, axis


@jit_inner
def _margin(label, least, margins):
    """How far a stop between two bodies is looked for (m)."""
    for end in (STOP_A, STOP_B):
        if label[end] >= 0:
            least += margins[1 + label[end]]
    return least


@jit
def write_stops(work, rows, begin, stops, colliders, R, p, least, margins, speeds):
    """Rows of the ropes and limits that are near their bounds, and of dry friction, from `begin` on; returns the number of all
    rows. least: m; margins: rad, and m of each body; speeds: above and recovery, m/s, and the part of a step that dry friction
    acts for in a stage. Dry friction has its force, times that part, in the place of a recovery."""
    k = begin
    for stop in range(len(stops.labels)):
        if stops.chosen[stop] < 0:
            continue
        own, bounds = stops.labels[stop], stops.numbers[stop]
        label, number, Ja, Jb = rows.labels[k], rows.numbers[k], rows.Ja[k], rows.Jb[k]
        clear_side(Ja)
        clear_side(Jb)
        value, point, d = stop_value(work, own, bounds, R, p, Ja[0], Jb[0])
        sign = bounds[SIGN]
        dry = sign == 0.0
        gap = sign * (bounds[BOUND] - value)
        far = margins[0] if own[STOP_KIND] == TURN or own[STOP_KIND] == CONE else _margin(own, least, margins)
        if gap > far and stops.chosen[stop] == 0:
            continue
        for i in range(6):  # the gap opens as the bounded value goes back
            Ja[0, i] = (1.0 if dry else -sign) * Ja[0, i] if own[STOP_A] >= 0 else 0.0
            Jb[0, i] = (1.0 if dry else -sign) * Jb[0, i] if own[STOP_B] >= 0 else 0.0
        label[COLLIDER_A], label[COLLIDER_B], label[FEATURE] = colliders + stop, 0, 0
        label[BODY_A], label[BODY_B] = own[STOP_A], own[STOP_B]
        number[STIFFNESS], rows.follows[k] = 0.0, -1
        number[GAP], number[RESTITUTION], rows.mu[k] = gap, bounds[STOP_RESTITUTION], -NO_IMPULSE if dry else 0.0
        if own[STOP_KIND] == FUNCTION and not dry:
            rows.mu[k] = bounds[RUBS]
            for i in range(int(bounds[SLIPS])):
                Jb[1 + i, int(bounds[OF_SLOT]) + 1 + i] = 1.0
        number[ABOVE_SPEED], number[RECOVERY] = speeds[0], speeds[2] * bounds[BOUND] if dry else speeds[1]
        for i in range(3):
            number[POINT + i], number[NORMAL + i] = point[i], (1.0 if dry else -sign) * d[i]
        k += 1
    return k
