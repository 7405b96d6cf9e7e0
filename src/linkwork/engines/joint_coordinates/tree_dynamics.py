"""Accelerations of a tree, and its loops closed."""

from __future__ import annotations

from linkwork.codegen.jit import jit_inner, sweep
from linkwork.engines.joint_coordinates.loop_closure import (
    ACCELERATION,
    LENGTH,
    PLACE,
    VELOCITY,
    answer,
    factor,
    find_rows,
    power,
    solve,
    solve_tree,
)
from linkwork.engines.joint_coordinates.tree_plan import (
    CLOSED,
    DONE,
    DYNAMICS,
    HARDER,
    LTDL,
    MOST_RESCUES,
    NEARLY_CLOSED,
    PARTS,
    RESCUES,
    ROUNDED,
    ROUNDS,
    SINGULAR,
    SLOW,
    SOFTEST,
    TIGHTLY,
    TIME,
)
from linkwork.engines.joint_coordinates.tree_state import move_and_show, restore


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
    asked where rows depend on others. They are then as soft as they are open (regularised_projection_steps.py)."""
    factor_at_rest(work, plan, loops)
    worst, length, numbers = find_rows(work, loops, PLACE), loops.limits[LENGTH], plan.closing
    closed, part, slow = numbers[TIGHTLY] * length if length > 0.0 else CLOSED, 1.0, 0
    for _ in range(ROUNDS):
        if not worst > closed:
            break
        softness = part * min(worst / length, numbers[SOFTEST]) if length > 0.0 else 0.0
        move_rows(work, plan, loops, softness)
        sweep(work, plan.own_kernels, plan.correct_position)
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
    sweep(work, plan.own_kernels, plan.apply_impulses)
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
        sweep(work, own, plan.apply_impulses)
        for i in range(plan.x.shape[0]):
            work[plan.x[i]] = h * work[plan.qd[i]]
        sweep(work, own, plan.correct_position)
        work[marks[TIME]] += h
        move_and_show(work, plan)
        factor_at_rest(work, plan, loops)
        off = find_rows(work, loops, PLACE)
        for k in range(MOST_RESCUES):
            move_rows(work, plan, loops, 0.0)
            sweep(work, own, plan.correct_position)
            move_and_show(work, plan)
            follow_rows(work, plan, loops)
            off = find_rows(work, loops, PLACE)
            if k + 1 >= RESCUES and off <= NEARLY_CLOSED:
                break
    return off
