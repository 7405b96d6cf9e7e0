"""How bodies that are touched answer impulses: R of every group, by solves with the factors that are there.

A *tree* is what joints connect, loops and all: one component of the model. The bodies of a tree that are touched are the slots
of one group. A unit wrench on one of them is swept forward and backward, along the paths from the touched bodies to the root
alone; what the touched bodies do then is a column of R. A free body answers by its own inverse mass.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.bundle import Bundle
from linkwork.codegen.jit import OPERANDS, jit, jit_inner, sweep

RIGID, FLAT, POINT = 0, 1, 2  # how the pose of a body is found
NONE = -1
SEMIDEFINITE = 1.0001  # times R_ii R_jj: what the square of R_ij may be

# columns of the table of bodies: offsets of fields in the workspace, then what a body is
Q, V, R_AT, B, X, MASS, POSE, TREE, ITEM = range(9)
PART = 9  # (6) the component of its velocity that is one of (linear, angular) in the world, or NONE
# columns of the table of trees: ranges (begin, end) of operations, of entries of x, of positions in the elimination
FREE, FORWARD, BACKWARD, SOLUTION, ITEMS = 0, 1, 3, 5, 7
# columns of the table of positions: the next one on the way to the root or NONE; the range of entries of b
ABOVE, RIGHT = 0, 1
POSITION = 1 + OPERANDS  # column of an operation that says where in the elimination it belongs


class Trees(Bundle):
    """Components of a model, and what it takes to sweep over one of them alone."""

    bodies: np.ndarray  # (n, 15) int64
    order: np.ndarray  # (n,) int64: bodies sorted by tree
    trees: np.ndarray  # (t, 9) int64
    positions: np.ndarray  # (items, 3) int64
    entries: np.ndarray  # int64: entries of x by tree, entries of b by position, positions by tree
    forward: np.ndarray  # (k, 7) int32: operations by tree
    backward: np.ndarray


class Sweeping(Bundle):
    """Scratch of sweeps."""

    needed: np.ndarray  # (items,) bool: on a path from a touched body to the root
    forward: np.ndarray  # operations that are
    backward: np.ndarray
    saved: np.ndarray  # x of the trees that are swept


def sweeping(trees: Trees) -> Sweeping:
    return Sweeping(np.zeros(len(trees.positions), dtype=np.bool_), np.zeros_like(trees.forward), np.zeros_like(trees.backward),
                    np.zeros(int(trees.trees[:, SOLUTION + 1].max())))  # fmt: skip


@jit
def group_slots(bodies, order, touched, slot_of, body_of, first, size, at):
    """Slots and groups of the touched bodies: (slots, groups, length of R)."""
    slots, groups, length = 0, 0, 0
    last = -1
    for body in order:
        slot_of[body] = -1
        if not touched[body]:
            continue
        if bodies[body, TREE] != last:
            if groups > 0:
                length += 36 * size[groups - 1] ** 2
            last = bodies[body, TREE]
            first[groups], size[groups], at[groups] = slots, 0, length
            groups += 1
        slot_of[body], body_of[slots] = slots, body
        size[groups - 1] += 1
        slots += 1
    if groups > 0:
        length += 36 * size[groups - 1] ** 2
    return slots, groups, length


@jit
def responses(work, table, model, scratch, body_of, first, size, at, R, groups):
    """R of all groups, 6 size x 6 size each, row-major. x is left as it was, b of swept trees is not."""
    for g in range(groups):
        n = 6 * size[g]
        block = R[at[g] : at[g] + n * n]
        tree = model.bodies[body_of[first[g]], TREE]
        if model.trees[tree, FREE]:
            free_response(work, model.bodies[body_of[first[g]]], block)
        else:
            save(work, model, scratch, tree)
            _swept_response(work, table, model, scratch, body_of[first[g] : first[g] + size[g]], tree, block)
            restore(work, model, scratch, tree)


@jit_inner
def save(work, model, scratch, tree):
    """Keep x of a tree."""
    for k in range(model.trees[tree, SOLUTION], model.trees[tree, SOLUTION + 1]):
        scratch.saved[k] = work[model.entries[k]]


@jit_inner
def restore(work, model, scratch, tree):
    for k in range(model.trees[tree, SOLUTION], model.trees[tree, SOLUTION + 1]):
        work[model.entries[k]] = scratch.saved[k]


@jit
def free_response(work, body, R):
    """The inverse mass of a body whose origin is its centre of mass."""
    for i in range(len(R)):
        R[i] = 0.0
    mass = work[body[MASS]]
    for i in range(3):
        if body[PART + i] >= 0:
            R[7 * i] = 1.0 / mass
    if body[POSE] == RIGID:
        at, inertia = body[R_AT], body[MASS] + 4  # mass, centre of mass (3), moments of inertia (3)
        for i in range(3):
            for j in range(3):
                entry = 0.0
                for k in range(3):
                    entry += work[at + 3 * i + k] * work[at + 3 * j + k] / work[inertia + k]
                R[6 * (3 + i) + 3 + j] = entry
    elif body[POSE] == FLAT:
        for i in range(3, 6):
            if body[PART + i] >= 0:
                R[7 * i] = 1.0 / work[body[MASS] + 1]


@jit_inner
def _clear(work, model, tree, needed):
    """b of those positions of a tree that are needed."""
    for k in range(model.trees[tree, ITEMS], model.trees[tree, ITEMS + 1]):
        item = model.entries[k]
        if needed[item]:
            for r in range(model.positions[item, RIGHT], model.positions[item, RIGHT + 1]):
                work[model.entries[r]] = 0.0


@jit_inner
def _pick(operations, begin, end, needed, picked):
    count = 0
    for k in range(begin, end):
        if needed[operations[k, POSITION]]:
            for i in range(operations.shape[1]):
                picked[count, i] = operations[k, i]
            count += 1
    return count


@jit_inner
def _swept_response(work, table, model, scratch, members, tree, R):
    bodies, trees, needed = model.bodies, model.trees[tree], scratch.needed
    for k in range(trees[ITEMS], trees[ITEMS + 1]):
        needed[model.entries[k]] = False
    for body in members:
        item = bodies[body, ITEM]
        while item >= 0 and not needed[item]:
            needed[item] = True
            item = model.positions[item, ABOVE]
    up = _pick(model.forward, trees[FORWARD], trees[FORWARD + 1], needed, scratch.forward)
    down = _pick(model.backward, trees[BACKWARD], trees[BACKWARD + 1], needed, scratch.backward)
    n = 6 * len(members)
    for i in range(len(R)):
        R[i] = 0.0
    for j in range(n):
        body = members[j // 6]
        part = bodies[body, PART + j % 6]
        if part < 0:
            continue
        _clear(work, model, tree, needed)
        work[bodies[body, B] + part] = 1.0
        sweep(work, table, scratch.forward[:up])
        sweep(work, table, scratch.backward[:down])
        for i in range(j, n):
            other = members[i // 6]
            component = bodies[other, PART + i % 6]
            if component >= 0:
                answer = work[bodies[other, X] + component]
                R[i * n + j] = answer
                R[j * n + i] = answer
    drop_rounding(R, n)


@jit_inner
def drop_rounding(R, n):
    """Rows of R that no positive semidefinite matrix has are rounding errors of motions that joints do not allow: they are
    zero, with their columns."""
    for i in range(n):
        for j in range(i + 1):
            least = i if R[i * n + i] <= R[j * n + j] else j
            if R[i * n + j] ** 2 > SEMIDEFINITE * R[i * n + i] * R[j * n + j] or R[least * n + least] < 0.0:
                for k in range(n):
                    R[least * n + k] = 0.0
                    R[k * n + least] = 0.0


@jit_inner
def strike(work, table, model, scratch, tree, members, wrenches, scale):
    """Add to x what impulses (k, 6) on some bodies of a tree do to all of it, velocities and multipliers, over scale."""
    save(work, model, scratch, tree)
    trees = model.trees[tree]
    for k in range(trees[ITEMS], trees[ITEMS + 1]):
        scratch.needed[model.entries[k]] = True
    _clear(work, model, tree, scratch.needed)
    for k in range(len(members)):
        for i in range(6):
            part = model.bodies[members[k], PART + i]
            if part >= 0:
                work[model.bodies[members[k], B] + part] += wrenches[k, i]
    sweep(work, table, model.forward[trees[FORWARD] : trees[FORWARD + 1]])
    sweep(work, table, model.backward[trees[BACKWARD] : trees[BACKWARD + 1]])
    for k in range(trees[SOLUTION], trees[SOLUTION + 1]):
        work[model.entries[k]] = scratch.saved[k] + work[model.entries[k]] / scale


@jit
def add_answers(work, table, model, scratch, body_of, first, size, wrench, u, before, groups, scale):
    """Add to x what the wrenches on slots do, over scale: to velocities of free bodies (u less before), to velocities and
    multipliers of whole trees."""
    for g in range(groups):
        begin, end = first[g], first[g] + size[g]
        body = model.bodies[body_of[begin]]
        if model.trees[body[TREE], FREE]:
            for i in range(6):
                if body[PART + i] >= 0:
                    work[body[X] + body[PART + i]] += (u[begin, i] - before[begin, i]) / scale
        elif _pushed(wrench, begin, end):
            strike(work, table, model, scratch, body[TREE], body_of[begin:end], wrench[begin:end], scale)


@jit_inner
def _pushed(wrench, begin, end):
    for slot in range(begin, end):
        for i in range(6):
            if wrench[slot, i] != 0.0:
                return True
    return False
