"""Steps in joint coordinates, compiled whole: from the first to the last of n steps no Python runs.

The state are q and qd of the tree's links, which stand in place when a step begins: the pass outwards that ends a step leaves
what the next one begins with. Bodies of the model are brought along in a step only where forces, contact or loops ask for
them (`LIGHT`: nobody does), and always at the end of a call.

What of a step is joined into one sweep depends on what stands between: `leap` is all of it behind the way inwards.
"""

from __future__ import annotations

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.contact.hook import SINGLE, call_contact
from linkwork.engines.joint_coordinates.loop_closure import LENGTH, LoopRows
from linkwork.engines.joint_coordinates.tree_dynamics import accelerate, close, step_through
from linkwork.engines.joint_coordinates.tree_limits import choose_limits, leave_without_rows, meet_limits
from linkwork.engines.joint_coordinates.tree_plan import (
    DONE,
    GUARDED,
    KICK,
    LIGHT,
    OPEN,
    REACH,
    TIME,
    WEIGHT,
    TreePlan,
)
from linkwork.engines.joint_coordinates.tree_state import keep, leave, mark_turns, show, show_all, tell_turns
from linkwork.engines.step_driver import OK, STUCK, StepTable, finite


class TreeWithLoops(Struct):
    """What steps of a tree with loops are given."""

    tree: TreePlan
    loops: LoopRows
    steps: StepTable


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
def make_leap(work, plan, loops, hook, h):
    """A step of Euler's method but for bodies, with contact on the velocities at its end, at places of its beginning; False
    where there is no room for contact."""
    own, marks = plan.own_kernels, plan.marks
    work[marks[DONE]] += h * accelerate(work, plan, loops, 0.0)
    if hook is None:
        sweep(work, own, plan.leap)
        return True
    failed = 0
    sweep(work, own, plan.kick)
    if not marks[GUARDED]:
        sweep(work, own, plan.rates)
        sweep(work, own, plan.velocities)
        if marks[LIGHT]:
            mark_turns(work, plan)
        failed = call_contact(work, plan.kernels, hook, h, SINGLE)
    elif choose_limits(work, plan, h, True):
        failed = meet_limits(work, plan, h)
    else:
        leave_without_rows(hook)
    sweep(work, own, plan.drift)
    return failed == 0


@jit_inner
def make_step(work, plan, weights, loops, hook, h):
    """A step of h seconds, its status. weights: None, or those of several stages. loops: None, or `LoopRows`. hook: None, or
    that of the plan. What is not there is not compiled: together that is most of a step's code."""
    marks = plan.marks
    work[marks[KICK]] = 1.0
    start, done, regular, off = work[marks[TIME]], work[marks[DONE]], True, 0.0
    if loops is not None:
        keep(work, plan, plan.began)
    if weights is not None:
        regular = make_stages(work, plan, loops, start, h)
    elif not make_leap(work, plan, loops, hook, h):
        return STUCK
    work[marks[TIME]] = start + h
    if not marks[LIGHT]:
        show(work, plan)
    if loops is not None:
        if regular:
            off, regular = close(work, plan, loops)
        if not regular and hook is None:
            work[marks[TIME]], work[marks[DONE]] = start, done
            off = step_through(work, plan, loops, plan.began, h)
    if not marks[LIGHT]:
        sweep(work, plan.kernels, plan.count)
    return STUCK if off > OPEN and finite(work, plan.sentinels) else OK


@jit_inner
def show_everything(work, plan):
    """Bodies, counters and what tells whether somebody has moved them, at the end of a call."""
    show_all(work, plan)
    if plan.marks[LIGHT]:
        tell_turns(work, plan)
    leave(work, plan)


@jit
def attempt(work, plan, h, start):
    """A step of a tree without loops."""
    return make_step(work, plan, None, None, None, h)


@jit
def attempt_in_stages(work, plan, h, start):
    return make_step(work, plan, plan.weights, None, None, h)


@jit
def attempt_in_contact(work, plan, h, start):
    return make_step(work, plan, None, None, plan.hook, h)


@jit
def attempt_with_loops(work, plan, h, start):
    """A step of a tree with loops."""
    return make_step(work, plan.tree, None, plan.loops, None, h)


@jit
def attempt_with_loops_in_stages(work, plan, h, start):
    return make_step(work, plan.tree, plan.tree.weights, plan.loops, None, h)


@jit
def attempt_with_loops_in_contact(work, plan, h, start):
    return make_step(work, plan.tree, None, plan.loops, plan.tree.hook, h)


@jit
def finish(work, plan):
    show_everything(work, plan)
    return 0


@jit
def finish_with_loops(work, plan):
    show_everything(work, plan.tree)
    return 0
