"""Ropes and hard limits at an iterate of an implicit step: where they pull then, and what they ask for there.

A row of the beginning of a step holds a rope to first order: a light link that turns by a radian in a step takes its end a
whole length further than the row knows, and a fifth of that is all that the next step takes back. So Newton's method takes
the rows along: from an iterate (q1, v1), reached in h, the next one has gap(q1) + h J(q1) (v - v1) >= goal, where the goal is
what the row asked for at the beginning, gap(q0) + h target.
"""

from __future__ import annotations

from linkwork.codegen.jit import jit
from linkwork.contact.delassus import POSE, SPOT
from linkwork.contact.rows import BOUND, COLLIDER_A, GAP, NORMAL, POINT, SIGN, STOP_A, STOP_B, find_poses, stop_value
from linkwork.contact.slot_velocities import all_velocities


@jit
def bend(work, bodies, rows, m, colliders, stops, R, p, h, u, bent):
    """Jacobians of stops at the iterate; bent (m,): what their targets get with it (m/s), 0 for other rows. bodies: the table
    that reads places and velocities of the iterate; R, p, u: scratch for poses, and for a velocity."""
    find_poses(work, bodies, R, p)
    for k in range(m):
        bent[k] = 0.0
        stop = rows.labels[k, COLLIDER_A] - colliders
        if stop < 0 or rows.follows[k] >= 0 or stops.numbers[stop, SIGN] == 0.0:
            continue
        own, bounds, Ja, Jb = stops.labels[stop], stops.numbers[stop], rows.Ja[k, 0], rows.Jb[k, 0]
        a, b, sign = own[STOP_A], own[STOP_B], bounds[SIGN]
        value, point, d = stop_value(work, own, bounds, R, p, Ja, Jb)
        closing = 0.0
        for body, J in ((a, Ja), (b, Jb)):
            if body >= 0:
                all_velocities(work, bodies[body], 1.0, 0.0, u)
            for i in range(6):
                J[i] = -sign * J[i] if body >= 0 else 0.0
                closing += J[i] * u[i] if body >= 0 else 0.0
        for i in range(3):
            rows.numbers[k, POINT + i], rows.numbers[k, NORMAL + i] = point[i], -sign * d[i]
        bent[k] = closing + (rows.numbers[k, GAP] - sign * (bounds[BOUND] - value)) / h


@jit
def too_far(work, bodies, rows, m, colliders, stops, R, p, allowed, J):
    """Whether a step of straight rows has led a rope or limit beyond its bound, or beyond where it was, by more than is allowed
    (stops,). J: scratch (2, 6); others as above."""
    find_poses(work, bodies, R, p)
    for k in range(m):
        stop = rows.labels[k, COLLIDER_A] - colliders
        if stop < 0 or rows.follows[k] >= 0 or stops.numbers[stop, SIGN] == 0.0:
            continue
        own, bounds = stops.labels[stop], stops.numbers[stop]
        a, b = own[STOP_A], own[STOP_B]
        if (a >= 0 and bodies[a, POSE] == SPOT) or (b >= 0 and bodies[b, POSE] == SPOT):
            continue  # a point of a Lagrangian body, whose place is that of the beginning
        value, _, _ = stop_value(work, own, bounds, R, p, J[0], J[1])
        if bounds[SIGN] * (bounds[BOUND] - value) < min(rows.numbers[k, GAP], -allowed[stop]):
            return True
    return False
