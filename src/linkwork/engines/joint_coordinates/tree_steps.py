"""Steps in joint coordinates, compiled whole: from the first to the last of n steps no Python runs.

The state are q and qd of the tree's links, which stand in place when a step begins: the pass outwards that ends a step leaves
what the next one begins with. Bodies of the model are brought along in a step only where forces, contact or loops ask for
them (`LIGHT`: nobody does), and always at the end of a call.

What of a step is joined into one sweep depends on what stands between: `leap` is all of it behind the way inwards.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import call_compiled, jit, jit_inner, sweep
from linkwork.collision.layout import SINGLE
from linkwork.engines.joint_coordinates.loop_closure import LENGTH
from linkwork.engines.joint_coordinates.tree_dynamics import accelerate, close, step_through
from linkwork.engines.joint_coordinates.tree_limits import choose_limits, meet_limits, no_contact
from linkwork.engines.joint_coordinates.tree_plan import (
    DIVERGED,
    DONE,
    GUARDED,
    HUGE,
    KICK,
    LIGHT,
    OK,
    OPEN,
    REACH,
    STEP,
    STUCK,
    TIME,
    WEIGHT,
)
from linkwork.engines.joint_coordinates.tree_state import keep, leave, mark_turns, show, show_all, tell_turns


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
    leave(work, plan)
    return made, status, 0
