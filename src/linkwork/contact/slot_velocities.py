"""Velocities of bodies and spots that a step is about to use."""

from __future__ import annotations

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.collision.vectors import dot, minus, times, turn
from linkwork.contact.delassus import (
    FORCING,
    MASS,
    MEMBER,
    MEMBER_BODY,
    MEMBER_J,
    MEMBERS,
    OF_MEMBER,
    PART,
    POSE,
    RIGID,
    SPOT,
    STRETCHED,
    V,
    X,
    component,
)
from linkwork.contact.stretched import find_rates


@jit_inline
def all_velocities(work, body, carried, scale, u):
    """The six velocities of a body that a step is about to use, into u."""
    v, x = body[V], body[X]
    if body[POSE] == RIGID:
        for i in range(6):
            u[i] = carried * work[v + i] + (scale * work[x + i] if scale != 0.0 else 0.0)
        return
    if body[POSE] == STRETCHED:
        find_rates(work, body, carried, scale, u)
        return
    for i in range(6):
        part, u[i] = body[PART + i], 0.0
        if part >= 0:
            u[i] = carried * component(work, body, part, V)
            if scale != 0.0:
                u[i] += scale * component(work, body, part, X)
            if body[POSE] == SPOT:
                u[i] += work[body[FORCING] + part]


@jit
def predict(work, bodies, body_of, used, R, u, before, carried, scale, turning):
    """The velocities of all slots that the step is about to use: carried v + scale x. `turning`: x is an acceleration of
    origins, and the centre of mass moves straight on."""
    for slot in range(used):
        body = bodies[body_of[slot]]
        all_velocities(work, body, carried, scale, u[slot])
        if turning and body[POSE] == RIGID:
            straight = _straight_on(work, body, R[body_of[slot]])
            for i in range(3):
                u[slot, i] += scale * straight[i]
        elif turning and body[POSE] == SPOT:
            _turn_spot(work, bodies, body, R, scale, u[slot])
        for i in range(6):
            before[slot, i] = u[slot, i]


@jit_inline
def _straight_on(work, body, axes):
    """What an origin's acceleration has beside that of its centre of mass: w x (w x r), r from the centre of mass, so that the
    velocity that is left is that of a centre of mass which moves straight on."""
    v, m = body[V], body[MASS]
    w, r = (work[v + 3], work[v + 4], work[v + 5]), turn(axes, (work[m + 1], work[m + 2], work[m + 3]))
    return minus(times(dot(w, r), w), times(dot(w, w), r))


@jit_inner
def _turn_spot(work, bodies, spot, R, scale, u):
    """The same for the rigid bodies that a spot depends on."""
    for k in range(MEMBER, MEMBER + OF_MEMBER * spot[MEMBERS], OF_MEMBER):
        body = spot[k + MEMBER_BODY]
        if bodies[body, POSE] != RIGID:
            continue
        straight = _straight_on(work, bodies[body], R[body])
        for i in range(6):
            for j in range(3 if spot[PART + i] >= 0 else 0):
                u[i] += scale * work[spot[k + MEMBER_J] + 6 * spot[PART + i] + j] * straight[j]
