"""The state of a tree, q and qd, and the bodies of the model that follow it, or that it is found from."""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.engines.joint_coordinates.tree_plan import KNOWN, LEFT, LIGHT, PLACED


@jit_inner
def show(work, plan):
    """Bodies where the tree is, as far as steps need them."""
    sweep(work, plan.own_kernels, plan.bodies_in_step)
    sweep(work, plan.kernels, plan.place_in_step)


@jit_inner
def show_all(work, plan):
    sweep(work, plan.own_kernels, plan.bodies)
    sweep(work, plan.kernels, plan.place)


@jit_inner
def move_and_show(work, plan):
    """Links in place, bodies with them."""
    sweep(work, plan.own_kernels, plan.move)
    show(work, plan)


@jit_inner
def keep(work, plan, began):
    """q and qd, put aside."""
    n = plan.q.shape[0]
    for i in range(n):
        began[i] = work[plan.q[i]]
    for i in range(plan.qd.shape[0]):
        began[n + i] = work[plan.qd[i]]


@jit_inner
def restore(work, plan, began):
    n = plan.q.shape[0]
    for i in range(n):
        work[plan.q[i]] = began[i]
    for i in range(plan.qd.shape[0]):
        work[plan.qd[i]] = began[n + i]


@jit_inner
def tell_turns(work, plan):
    """Turn counters from the angles, which count their turns. At half a turn the sine says on which side an angle is; the
    quotient is rounded, and need not agree with it."""
    for k in range(plan.turns.shape[0]):
        angle, counter = work[plan.turns[k, 0]], plan.turns[k, 1]
        sine = math.sin(angle)
        work[counter] = np.floor((angle - math.atan2(sine, math.cos(angle))) / (2.0 * math.pi) + 0.5)
        work[counter + 1] = sine


@jit_inner
def mark_turns(work, plan):
    """The same within a step: of the sine the sign alone is asked for."""
    for k in range(plan.turns.shape[0]):
        angle, counter = work[plan.turns[k, 0]], plan.turns[k, 1]
        turns = np.floor(angle / (2.0 * math.pi) + 0.5)
        work[counter], work[counter + 1] = turns, angle - 2.0 * math.pi * turns


@jit_inner
def count_turns(work, plan):
    """Angles with the turns that the counters have counted, and half a one that may have been passed since."""
    for k in range(plan.turns.shape[0]):
        at, counter = plan.turns[k, 0], plan.turns[k, 1]
        s, c, last = math.sin(work[at]), math.cos(work[at]), work[counter + 1]
        passed = 0.0
        if c < 0.0:
            passed = (1.0 if last >= 0.0 and s < 0.0 else 0.0) - (1.0 if last < 0.0 and s >= 0.0 else 0.0)
        counted = math.atan2(s, c) + 2.0 * math.pi * (work[counter] + passed)
        work[at] += 2.0 * math.pi * np.floor((counted - work[at]) / (2.0 * math.pi) + 0.5)


@jit_inner
def leave(work, plan):
    """Keep what a call ends with."""
    at = plan.marks[LEFT]
    for i in range(plan.watched.shape[0]):
        work[at + i] = work[plan.watched[i]]
    work[plan.marks[KNOWN]] = work[plan.marks[PLACED]] = 1.0


@jit_inner
def untouched(work, plan):
    """Whether bodies and joints are where the last call left them, and the counters have counted what the angles have."""
    at = plan.marks[LEFT]
    if work[plan.marks[PLACED]] != 1.0 or work[plan.marks[KNOWN]] != 1.0:
        return False
    for i in range(plan.watched.shape[0]):
        if work[at + i] != work[plan.watched[i]]:
            return False
    for k in range(plan.turns.shape[0]):
        if plan.marks[LIGHT] and work[plan.turns[k, 1]] != np.floor(work[plan.turns[k, 0]] / (2.0 * math.pi) + 0.5):
            return False
    return True


@jit
def take_bodies(work, plan):
    """Links in place where the bodies are, with the rotors as they are. q and qd that lead to these bodies, to the bit, are
    kept: others are found from the bodies, which then stand where q and qd put them."""
    own, known = plan.own_kernels, plan.marks[KNOWN]
    for k in range(plan.rotors.shape[0]):
        work[plan.rotors[k, 0]] = 0.0
    for k in range(plan.rotors.shape[0]):
        work[plan.rotors[k, 0]] += work[plan.rotors[k, 1]]
    if untouched(work, plan):
        return 0
    given = plan.given
    for i in range(given.shape[0]):
        given[i] = work[plan.coordinates[i]]
    same = work[known] == 1.0
    if same:
        count_turns(work, plan)
        sweep(work, own, plan.move)
        sweep(work, own, plan.signs)
        sweep(work, own, plan.bodies)
        for i in range(given.shape[0]):
            same = same and given[i] == work[plan.coordinates[i]]
    if not same:
        for i in range(given.shape[0]):
            work[plan.coordinates[i]] = given[i]
        sweep(work, own, plan.recover)
        count_turns(work, plan)
        sweep(work, own, plan.move)
        sweep(work, own, plan.signs)
        sweep(work, own, plan.bodies)
    sweep(work, plan.kernels, plan.place)
    leave(work, plan)
    return 0
