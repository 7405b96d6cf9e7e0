"""Contact in a step where limits of joints are all there is: those take part that would be reached."""

from __future__ import annotations

from linkwork.codegen.jit import call_compiled, jit_inner, sweep
from linkwork.collision.layout import BEFORE, CACHED, ENDED, FRESH, FULL, SINGLE
from linkwork.engines.joint_coordinates.tree_plan import LIGHT, STOP_A, STOP_B
from linkwork.engines.joint_coordinates.tree_state import keep, mark_turns, restore


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
