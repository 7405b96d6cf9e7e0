"""Rows against turning: of a contact that resists it, one about its normal (torsion) and one about its tangents (rolling).

They stand behind all stops, those of torsion first, in the order of the contacts that they follow: a companion has two tangents
and no normal, and the push of its contact bounds them (`problem.py`). Their velocities are relative angular velocities times a
length, so that they are in m/s as all others are, and their impulses are couples over it: the length is the farther of the
arms from both bodies' origins to the point, or the coefficient (m) where that is longer. mu is the coefficient over it.
"""

from __future__ import annotations

from linkwork.codegen.jit import jit, jit_inline
from linkwork.collision.vectors import across, cross, length, minus, row, times
from linkwork.contact.combining import combined
from linkwork.contact.rows import (
    BODY_A,
    BODY_B,
    COLLIDER_A,
    COLLIDER_B,
    DAMPING,
    GAP,
    NORMAL,
    POINT,
    RECOVERY,
    RESTITUTION,
    ROLLING,
    STIFFNESS,
    TORSION,
    TURNS_ABOUT,
    clear_side,
    shared_rule,
)


@jit
def write_companions(rows, count, begin, materials, stops, p):
    """Rows of the contacts (the first `count` rows) that resist turning, from `begin` on; returns the number of all rows.
    stops: how many there are; p: origins of bodies."""
    k, colliders = begin, len(materials.body)
    for kind in (TORSION, ROLLING):
        if not materials.resists[kind]:
            continue
        for lead in range(count):
            a, b = rows.labels[lead, COLLIDER_A], rows.labels[lead, COLLIDER_B]
            rule = materials.of_rule[shared_rule(materials.rules, a, b)]
            coefficient = rule[6 + kind]
            if coefficient < 0.0:
                needed = 4.0 if kind == TORSION else 6.0
                coefficient = combined(materials.own, rule, a, b, 2 + kind, needed)
            if not coefficient > 0.0:
                continue
            for i in range(rows.labels.shape[1]):
                rows.labels[k, i] = rows.labels[lead, i]
            rows.labels[k, COLLIDER_A] = colliders + stops + kind * colliders + a
            number = rows.numbers[k]
            for i in range(3):
                number[POINT + i], number[NORMAL + i] = rows.numbers[lead, POINT + i], rows.numbers[lead, NORMAL + i]
            number[GAP] = number[RESTITUTION] = number[RECOVERY] = number[STIFFNESS] = number[DAMPING] = 0.0
            number[TURNS_ABOUT], rows.follows[k] = kind, lead
            _write(rows, k, coefficient, p)
            k += 1
    return k


@jit_inline
def _write(rows, k, coefficient, p):
    """J and mu of a companion."""
    point, far = row(rows.numbers[:, POINT : POINT + 3], k), coefficient
    for body in (rows.labels[k, BODY_A], rows.labels[k, BODY_B]):
        if body >= 0:
            far = max(far, length(minus(point, (p[body, 0], p[body, 1], p[body, 2]))))
    rows.mu[k] = coefficient / far
    one, other = axes_of(rows, k)[1:]
    for body, J, sign in ((rows.labels[k, BODY_A], rows.Ja[k], -1.0), (rows.labels[k, BODY_B], rows.Jb[k], 1.0)):
        clear_side(J)
        if body >= 0:
            d, e = times(sign * far, one), times(sign * far, other)
            for i in range(3):
                J[1, 3 + i], J[2, 3 + i] = d[i], e[i]


@jit_inline
def axes_of(rows, k):
    """The directions of the three components of a row's impulse, in the world."""
    n = row(rows.numbers[:, NORMAL : NORMAL + 3], k)
    if rows.follows[k] < 0:
        t = across(n)
        return n, t, cross(n, t)
    none = (0.0, 0.0, 0.0)
    if rows.numbers[k, TURNS_ABOUT] == TORSION:
        return none, n, none
    t = across(n)
    return none, t, cross(n, t)
