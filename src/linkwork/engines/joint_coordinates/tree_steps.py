"""Steps in joint coordinates, compiled whole: from the first to the last of n steps no Python runs.

The state are q and qd of the tree's links, which stand in place when a step begins: the pass outwards that ends a step leaves
what the next one begins with. Bodies of the model are brought along in a step only where forces, contact or loops ask for
them (`LIGHT`: nobody does), and always at the end of a call.

What of a step is joined into one sweep depends on what stands between: `leap` is all of it behind the way inwards.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import call_compiled, jit, jit_inner, sweep
from linkwork.codegen.struct import Bundle
from linkwork.collision.layout import BEFORE, CACHED, ENDED, FRESH, FULL, SINGLE
from linkwork.engines.joint_coordinates.loop_closure import (
    ACCELERATION,
    LENGTH,
    PLACE,
    VELOCITY,
    Inertia,
    answer,
    factor,
    find_rows,
    power,
    solve,
    solve_tree,
)

OK, DIVERGED, STUCK = 0, 1, 2
ABA, LTDL, FOLLOWING = range(3)  # dynamics: what gives accelerations
# marks: offsets of globals and scalars, the dynamics, whether nobody asks for bodies in a step, whether contact are limits of
# joints alone
TIME, STEP, KICK, DONE, WEIGHT, REACH, KNOWN, DYNAMICS, LIGHT, GUARDED = range(10)
STOP_A, STOP_B = 1, 2  # columns of the labels of contact's stops: their bodies
HUGE = 1e150
CLOSED, ROUNDS = 1e-12, 20  # loops: metres or radians that are left open, and rounds to get there ...
OPEN = 1e-6  # ... more than which stops the run
PARTS = 16  # of a step in a singular place, ...
RESCUES, MOST_RESCUES = 8, 64  # ... projections in each of them, and how many there may be ...
NEARLY_CLOSED = 1e-9  # ... until loops are open by less
# how loops close where rows depend on others, as `maximal/settling.py` has it
TIGHTLY, SOFTEST, SLOW, ROUNDED, HARDER, SINGULAR = range(6)


class TreePlan(Bundle):
    """What is the same in every call. Sweeps that a plan does not need are empty."""

    kernels: np.ndarray  # of the model
    own_kernels: np.ndarray  # of the tree
    # of the model
    loads: np.ndarray  # forces on bodies, or their accelerations
    place: np.ndarray  # what is derived from bodies' coordinates
    place_in_step: np.ndarray  # the same, where a step needs it
    count: np.ndarray  # turns
    forces: np.ndarray  # one operation for each implicit force at a joint: its tangent
    # of the tree
    recover: np.ndarray
    move: np.ndarray  # outwards: links in place
    signs: np.ndarray  # of bodies' quaternions, where they come from continuous orientations of links
    bodies: np.ndarray  # bodies brought along
    bodies_in_step: np.ndarray  # what of them a step needs
    rates: np.ndarray  # velocities of links, where the kick does not leave them
    velocities: np.ndarray  # of bodies, and where they are, if a step does not begin with that
    wrenches: np.ndarray  # forces on bodies, put on their links
    inwards: np.ndarray  # the way inwards, or all of it that gives accelerations
    last: np.ndarray  # accelerations of the articulated-body algorithm, where they are not a part of what follows
    leap: np.ndarray  # a step of Euler's method
    kick: np.ndarray  # its velocities alone ...
    drift: np.ndarray  # ... and its places with them
    open: np.ndarray  # of several stages
    stage: np.ndarray
    last_stage: np.ndarray
    close: np.ndarray
    nudge: np.ndarray
    strike: np.ndarray
    release: np.ndarray
    hold: np.ndarray
    inertia: Inertia
    q: np.ndarray  # (nq,) entries
    qd: np.ndarray  # (nv,)
    x: np.ndarray  # (nv,)
    sentinels: np.ndarray  # of qd, one of each tree
    coordinates: np.ndarray  # of bodies that move
    turns: np.ndarray  # (k, 2): the entry of an angle of q, that of its turn counter
    guards: np.ndarray  # (k, 2): of each stop of contact the entries of the coordinate that has a bound, and of its velocity
    bounds: np.ndarray  # (k, 3): 1 of an upper bound, -1 of a lower one; the bound; how near to it a limit acts
    shown_by: np.ndarray  # (bodies,): the operation of `velocities` that shows each, -1: none
    rotors: np.ndarray  # (k, 2): the entry of a rotor inertia of a link, that of the model which is added to it
    weights: np.ndarray  # of stages
    reaches: np.ndarray  # from each stage to the next, in steps from the beginning
    closing: np.ndarray  # TIGHTLY, SOFTEST, ...
    marks: np.ndarray


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
def take_hold(work, plan):
    """What implicit forces add at their joints."""
    sweep(work, plan.own_kernels, plan.release)
    for k in range(plan.forces.shape[0]):
        sweep(work, plan.kernels, plan.forces[k : k + 1])
        sweep(work, plan.own_kernels, plan.hold[k : k + 1])


@jit_inner
def accelerate(work, plan, loops, over):
    """qdd of the tree, or all but the last way outwards to it, with the forces (or the accelerations) that the model has at its
    present state; the power (W) of prescribed motion. `over` s: loops are obeyed by velocities at the end of this time, if it
    is not zero."""
    own = plan.own_kernels
    sweep(work, plan.kernels, plan.loads)
    sweep(work, own, plan.wrenches)
    if plan.forces.shape[0] > 0:
        take_hold(work, plan)
    sweep(work, own, plan.inwards)
    sweep(work, own, plan.last)
    by_matrix = plan.marks[DYNAMICS] == LTDL
    if by_matrix:
        factor(work, own, plan.inertia)
    if loops is None:
        if by_matrix:
            solve_tree(work, own, plan.inertia)
        return 0.0
    sweep(work, own, loops.turned)
    find_rows(work, loops, ACCELERATION if over == 0.0 else VELOCITY)
    if over != 0.0:
        for k in range(loops.right.shape[0]):
            loops.right[k] /= over
    if by_matrix:
        solve(work, plan.inertia, loops, 0.0)
    else:
        sweep(work, own, loops.rest)
        answer(work, loops, 0.0)
    return power(work, loops)


@jit_inner
def move_rows(work, plan, loops, softness):
    """x of the joints, of least kinetic norm, that moves the rows as they ask for."""
    for i in plan.x:
        work[i] = 0.0
    if plan.marks[DYNAMICS] == LTDL:
        solve(work, plan.inertia, loops, softness)
    else:
        sweep(work, plan.own_kernels, loops.rest)
        answer(work, loops, softness)


@jit_inner
def close(work, plan, loops):
    """Loops closed, by steps of least kinetic norm: what they are off by afterwards, and whether the place is regular, which is
    asked where rows depend on others. They are then as soft as they are open (settling.py)."""
    factor_at_rest(work, plan, loops)
    worst, length, numbers = find_rows(work, loops, PLACE), loops.limits[LENGTH], plan.closing
    closed, part, slow = numbers[TIGHTLY] * length if length > 0.0 else CLOSED, 1.0, 0
    for _ in range(ROUNDS):
        if not worst > closed:
            break
        softness = part * min(worst / length, numbers[SOFTEST]) if length > 0.0 else 0.0
        move_rows(work, plan, loops, softness)
        sweep(work, plan.own_kernels, plan.nudge)
        move_and_show(work, plan)
        before, worst = worst, find_rows(work, loops, PLACE)
        if length > 0.0 and worst > numbers[SLOW] * before and worst > numbers[ROUNDED] * length:
            slow, part = slow + 1, numbers[HARDER] * part
        elif worst >= before:
            break
        if slow == numbers[SINGULAR]:
            break
    follow_rows(work, plan, loops)
    return worst, slow < numbers[SINGULAR]


@jit_inner
def factor_at_rest(work, plan, loops):
    """What `move_rows` needs, of links in place."""
    if plan.marks[DYNAMICS] == LTDL:
        factor(work, plan.own_kernels, plan.inertia)
    else:
        sweep(work, plan.own_kernels, plan.inwards)


@jit_inner
def follow_rows(work, plan, loops):
    """Velocities that the loops allow."""
    find_rows(work, loops, VELOCITY)
    move_rows(work, plan, loops, 0.0)
    sweep(work, plan.own_kernels, plan.strike)
    move_and_show(work, plan)


@jit_inner
def step_through(work, plan, loops, began, h):
    """A step in a place that is singular, from where it `began`: velocities that the loops allow, a motion with them, and the
    nearest place, with the directions found there. Of first order. What loops are off by afterwards."""
    own, marks, off = plan.own_kernels, plan.marks, 0.0
    restore(work, plan, began)
    move_and_show(work, plan)
    h /= PARTS
    for _ in range(PARTS):
        work[marks[DONE]] += h * accelerate(work, plan, loops, h)
        for i in plan.x:
            work[i] *= h
        sweep(work, own, plan.strike)
        for i in range(plan.x.shape[0]):
            work[plan.x[i]] = h * work[plan.qd[i]]
        sweep(work, own, plan.nudge)
        work[marks[TIME]] += h
        move_and_show(work, plan)
        factor_at_rest(work, plan, loops)
        off = find_rows(work, loops, PLACE)
        for k in range(MOST_RESCUES):
            move_rows(work, plan, loops, 0.0)
            sweep(work, own, plan.nudge)
            move_and_show(work, plan)
            follow_rows(work, plan, loops)
            off = find_rows(work, loops, PLACE)
            if k + 1 >= RESCUES and off <= NEARLY_CLOSED:
                break
    return off


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
def make_stages(work, plan, loops, start, h):
    """The stages of a step of order 4, and its end but for bodies; whether all places were regular."""
    own, marks, stages = plan.own_kernels, plan.marks, plan.weights.shape[0]
    sweep(work, own, plan.open)
    for s in range(stages):
        watts = accelerate(work, plan, loops, 0.0)
        work[marks[DONE]] += plan.weights[s] * h * watts
        work[marks[WEIGHT]] = plan.weights[s] * h
        work[marks[REACH]] = plan.reaches[s] * h
        work[marks[TIME]] = start + plan.reaches[s] * h
        if s + 1 == stages:
            sweep(work, own, plan.last_stage)
            break
        sweep(work, own, plan.stage)
        show(work, plan)
        if loops is not None and loops.limits[LENGTH] > 0.0:
            if not close(work, plan, loops)[1]:
                return False
    sweep(work, own, plan.close)
    return True


@jit_inner
def make_leap(work, plan, loops, contact, began, h):
    """A step of Euler's method but for bodies; contact: on the velocities at its end, at places of its beginning. began:
    scratch for q and qd."""
    own, marks = plan.own_kernels, plan.marks
    work[marks[DONE]] += h * accelerate(work, plan, loops, 0.0)
    if contact is None:
        sweep(work, own, plan.leap)
        return
    sweep(work, own, plan.kick)
    if not marks[GUARDED]:
        sweep(work, own, plan.rates)
        sweep(work, own, plan.velocities)
        if marks[LIGHT]:
            mark_turns(work, plan)
        call_compiled(contact[0], (work, plan.kernels, contact[1], h, SINGLE))
    elif choose_limits(work, plan, contact[1], h, True):
        meet_limits(work, plan, contact, began, h)
    else:
        no_contact(contact[1])
    sweep(work, own, plan.drift)


@jit_inner
def meet_limits(work, plan, contact, began, h):
    """The contact stage where limits of joints are all there is: only those take part that would be reached in the step. Where
    the impulses make others be reached, it is made again with these."""
    stage = contact[1]
    sweep(work, plan.own_kernels, plan.rates)
    if plan.marks[LIGHT]:
        mark_turns(work, plan)
    keep(work, plan, began)
    while True:
        show_chosen(work, plan, stage.place.stops)
        stage.place.margins[0] = 1.0  # nothing is looked for
        call_compiled(contact[0], (work, plan.kernels, stage, h, SINGLE))
        if stage.marks[FULL] or not choose_limits(work, plan, stage, h, False):
            break
        restore(work, plan, began)
    release_limits(stage.place.stops)


@jit_inner
def show_chosen(work, plan, stops):
    """Bodies of the limits that take part, as contact reads them."""
    for k in range(stops.chosen.shape[0]):
        if stops.chosen[k] > 0:
            for end in range(STOP_A, STOP_B + 1):
                at = plan.shown_by[stops.labels[k, end]] if stops.labels[k, end] >= 0 else -1
                if at >= 0:
                    sweep(work, plan.own_kernels, plan.velocities[at : at + 1])


@jit_inner
def release_limits(stops):
    for k in range(stops.chosen.shape[0]):
        stops.chosen[k] = 0


@jit_inner
def choose_limits(work, plan, stage, h, anew):
    """Whether there are limits that had not been chosen and may be reached in a step with the velocities that are there. They
    are chosen now: the others take no impulse."""
    chosen, some = stage.place.stops.chosen, False
    for k in range(plan.guards.shape[0]):
        sign, bound, slack = plan.bounds[k, 0], plan.bounds[k, 1], plan.bounds[k, 2]
        gap = sign * (bound - work[plan.guards[k, 0]]) - slack
        reached = not (gap > 0.0 and gap > h * sign * work[plan.guards[k, 1]])
        if anew:
            chosen[k] = 1 if reached else -1
            some = some or reached
        elif reached and chosen[k] < 0:
            chosen[k], some = 1, True
    return some


@jit_inner
def no_contact(stage):
    """What a contact stage without rows leaves."""
    marks = stage.marks
    release_limits(stage.place.stops)
    marks[CACHED], marks[BEFORE], marks[ENDED], marks[FRESH] = 0, 0, 0, 0
    stage.place.counts[0], stage.place.margins[0] = 0, 0.0


@jit_inner
def finite(work, plan):
    """One velocity of each tree: a value that is not finite anywhere in a tree reaches it within a step."""
    for i in plan.sentinels:
        if not abs(work[i]) < HUGE:
            return False
    return True


@jit
def steps_in_joints(work, plan, steps, loops, contact):
    """(steps made, status, age). plan: a `TreePlan`. loops: None, or `LoopRows`. contact: None, or the address of a contact
    stage and what it needs."""
    marks = plan.marks
    h = work[marks[STEP]]
    work[marks[KICK]] = 1.0
    began = np.empty(plan.q.shape[0] + plan.qd.shape[0])
    made, status = steps, OK
    for k in range(steps):
        start, done, regular, off = work[marks[TIME]], work[marks[DONE]], True, 0.0
        if loops is not None:
            keep(work, plan, began)
        if plan.weights.shape[0] > 1:
            regular = make_stages(work, plan, loops, start, h)
        else:
            make_leap(work, plan, loops, contact, began, h)
        work[marks[TIME]] = start + h
        if not marks[LIGHT]:
            show(work, plan)
        if loops is not None:
            if regular:
                off, regular = close(work, plan, loops)
            if not regular and contact is None:
                work[marks[TIME]], work[marks[DONE]] = start, done
                off = step_through(work, plan, loops, began, h)
        if not marks[LIGHT]:
            sweep(work, plan.kernels, plan.count)
        if not finite(work, plan):
            made, status = k + 1, DIVERGED
            break
        if off > OPEN:
            made, status = k + 1, STUCK
            break
    show_all(work, plan)
    if marks[LIGHT]:
        tell_turns(work, plan)
    return made, status, 0


@jit_inner
def tell_turns(work, plan):
    """Turn counters from the angles, which count their turns."""
    for k in range(plan.turns.shape[0]):
        angle, counter = work[plan.turns[k, 0]], plan.turns[k, 1]
        work[counter] = np.floor(angle / (2.0 * math.pi) + 0.5)
        work[counter + 1] = math.sin(angle)


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


@jit
def take_bodies(work, plan):
    """Links in place where the bodies are, with the rotors as they are. q and qd that lead to these bodies, to the bit, are
    kept: others are found from the bodies, which then stand where q and qd put them."""
    own, known = plan.own_kernels, plan.marks[KNOWN]
    for k in range(plan.rotors.shape[0]):
        work[plan.rotors[k, 0]] = 0.0
    for k in range(plan.rotors.shape[0]):
        work[plan.rotors[k, 0]] += work[plan.rotors[k, 1]]
    given = np.empty(plan.coordinates.shape[0])
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
    work[known] = 1.0
    return 0
