"""Contact in a step where limits of joints are all there is: those take part that would be reached."""

from __future__ import annotations

from linkwork.codegen.jit import jit_inner, sweep
from linkwork.contact.hook import BEFORE, CACHED, ENDED, FULL, SINGLE, call_contact, look_anew
from linkwork.engines.joint_coordinates.tree_plan import LIGHT, STOP_A, STOP_B
from linkwork.engines.joint_coordinates.tree_state import keep, mark_turns, restore


@jit_inner
def meet_limits(work, plan, h):
    """The contact phase where limits of joints are all there is: only those take part that would be reached in the step. Where
    the impulses make others be reached, it is made again with these. Not zero where there is no room for it."""
    hook, failed = plan.hook, 0
    sweep(work, plan.own_kernels, plan.rates)
    if plan.marks[LIGHT]:
        mark_turns(work, plan)
    keep(work, plan, plan.began)
    while True:
        show_chosen(work, plan)
        hook.margins[0] = 1.0  # nothing is looked for
        failed = call_contact(work, plan.kernels, hook, h, SINGLE)
        if hook.flags[FULL] or not choose_limits(work, plan, h, False):
            break
        restore(work, plan, plan.began)
    release_limits(hook)
    return failed


@jit_inner
def show_chosen(work, plan):
    """Bodies of the limits that take part, as contact reads them."""
    chosen, stops = plan.hook.chosen, plan.hook.stops
    for k in range(chosen.shape[0]):
        if chosen[k] > 0:
            for end in range(STOP_A, STOP_B + 1):
                at = plan.shown_by[stops[k, end]] if stops[k, end] >= 0 else -1
                if at >= 0:
                    sweep(work, plan.own_kernels, plan.velocities[at : at + 1])


@jit_inner
def release_limits(hook):
    for k in range(hook.chosen.shape[0]):
        hook.chosen[k] = 0


@jit_inner
def choose_limits(work, plan, h, anew):
    """Whether there are limits that had not been chosen and may be reached in a step with the velocities that are there. They
    are chosen now: the others take no impulse."""
    chosen, some = plan.hook.chosen, False
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
def leave_without_rows(hook):
    """What a contact phase without rows leaves."""
    flags = hook.flags
    release_limits(hook)
    flags[CACHED], flags[BEFORE], flags[ENDED] = 0, 0, 0
    hook.counts[0] = 0
    look_anew(hook)
