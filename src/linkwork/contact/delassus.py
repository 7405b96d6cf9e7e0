"""How bodies that are touched answer impulses: R of every group, by solves with the factors that are there.

A *tree* is what joints connect, loops and all: one component of the model. The bodies of a tree that are touched are the slots
of one group. A free body answers by its own inverse mass. Where each body is eliminated with its joint, after all that hang on
it, its velocity is

    v = K v_parent + T y,    T T^T = its response while its parent is held,

with y of unit mass, one for each freedom of the joint: from the root outwards that gives L of R = L L^T, which is what solvers
want. Elsewhere (loops) a unit wrench on a touched body is swept forward and backward, along the paths from the touched bodies
to the root alone; what the touched bodies do then is a column of R.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import OPERANDS, jit, jit_inline, jit_inner, sweep
from linkwork.codegen.simd import add_multiple, add_multiples, copy
from linkwork.codegen.struct import Bundle

RIGID, FLAT, POINT, SPOT = range(4)  # how the pose of a body is found; SPOT: a point of a body with other velocities
NONE = -1
SEMIDEFINITE = 1.0001  # times R_ii R_jj: what the square of R_ij may be

# columns of the table of bodies, and behind these of points that can be touched by themselves: offsets of fields in the
# workspace, then what it is. A point has its place and J where bodies have coordinates and axes, all else of its body
Q, V, R_AT, B, X, MASS, POSE, TREE, ITEM = range(9)
SPAN = 9  # how many velocities a point's body has; behind its place stands its bias
PART = 10  # (6) the component of its velocity that is one of (linear, angular) in the world, or NONE; of a point, the row of J
# columns of the table of trees: ranges (begin, end) of operations, of entries of x, of positions in the elimination; whether
# every body is eliminated with its joint
FREE, FORWARD, BACKWARD, SOLUTION, ITEMS, LIMBED = 0, 1, 3, 5, 7, 9
# columns of the table of positions: the next one on the way to the root or NONE; the range of entries of b; in limbed trees, of
# bodies (NONE: a joint's): the body, how many velocities it has, its freedoms; the operations forward and backward, or NONE;
# the position of its joint where that is another one, that of its parent
ABOVE, RIGHT, BODY, WIDTH, FREEDOMS, UP, DOWN, JOINT, PARENT = 0, 1, 3, 4, 5, 6, 7, 8, 9
# ... and of limbs (kernels/joint_elimination.py) where their factors lie: e; C of a ball, K; S, Y; axes (NONE: a ball)
E_AT, FACTOR_AT, Y_AT, AXES_AT = 10, 11, 12, 13
HELD = 1e-12  # part of the largest response below which there is none
POSITION = 1 + OPERANDS  # column of an operation that says where in the elimination it belongs


class Trees(Bundle):
    """Components of a model, and what it takes to sweep over one of them alone."""

    bodies: np.ndarray  # (n, 16) int64: bodies, and points that can be touched
    order: np.ndarray  # (n,) int64: these sorted by tree
    trees: np.ndarray  # (t, 10) int64
    positions: np.ndarray  # (items, 14) int64
    entries: np.ndarray  # int64: entries of x by tree, entries of b by position, positions by tree
    forward: np.ndarray  # (k, 7) int32: operations by tree
    backward: np.ndarray


class Sweeping(Bundle):
    """Scratch of sweeps."""

    needed: np.ndarray  # (items,) bool: on a path from a touched body to the root
    forward: np.ndarray  # operations that are
    backward: np.ndarray
    saved: np.ndarray  # x of the trees that are swept
    motions: np.ndarray  # (6 freedoms) of each position on a path: what y moves
    columns: np.ndarray  # (items, 2) int64: where its motion lies; the end of its freedoms among all
    local: np.ndarray  # (3, 36): K, T T^T, T of one position


MOST_MOTIONS = 4_000_000  # numbers: above that, columns of R come one by one


def sweeping(trees: Trees) -> Sweeping:
    items = len(trees.positions)
    largest = 0
    for tree in np.flatnonzero(trees.trees[:, LIMBED]):
        span = trees.entries[trees.trees[tree, ITEMS] : trees.trees[tree, ITEMS + 1]]
        largest = max(largest, 6 * len(span) * int(trees.positions[span, FREEDOMS].sum()))
    return Sweeping(np.zeros(items, dtype=np.bool_), np.zeros_like(trees.forward), np.zeros_like(trees.backward),
                    np.zeros(int(trees.trees[:, SOLUTION + 1].max())), np.zeros(min(largest, MOST_MOTIONS)),
                    np.zeros((items, 2), dtype=np.int64), np.zeros((3, 36)))  # fmt: skip


@jit
def component(work, body, part, field):
    """One of the six velocities of a body, from its velocities (field: V) or its solution (X)."""
    at = body[field]
    if body[POSE] != SPOT:
        return work[at + part]
    found, row = 0.0, body[R_AT] + body[SPAN] * part
    for j in range(body[SPAN]):
        found += work[row + j] * work[at + j]
    return found


@jit
def push(work, body, part, force):
    """Add a force, along one of the six velocities of a body, to its right-hand side."""
    at = body[B]
    if body[POSE] != SPOT:
        work[at + part] += force
        return
    row = body[R_AT] + body[SPAN] * part
    for j in range(body[SPAN]):
        work[at + j] += work[row + j] * force


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
def responses(work, table, model, scratch, body_of, first, size, at, R, rank, groups):
    """R of all groups, 6 size x 6 size each, row-major, and rank -1; or L of R = L L^T, 6 size x rank in rows of 6 size. x is
    left as it was, b of swept trees is not."""
    for g in range(groups):
        n = 6 * size[g]
        block = R[at[g] : at[g] + n * n]
        tree = model.bodies[body_of[first[g]], TREE]
        rank[g] = -1
        if model.trees[tree, FREE]:
            free_response(work, model.bodies[body_of[first[g]]], block)
        else:
            members = body_of[first[g] : first[g] + size[g]]
            save(work, model, scratch, tree)
            freedoms = _mark_paths(model, scratch, members, tree)
            if freedoms <= n and model.trees[tree, LIMBED]:
                rank[g] = _factored_response(work, table, model, scratch, members, tree, freedoms, block)
            if rank[g] < 0:
                _swept_response(work, table, model, scratch, members, tree, block)
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
def _mark_paths(model, scratch, members, tree):
    """Which positions are on a path from a touched body to the root; their freedoms."""
    trees, needed, freedoms = model.trees[tree], scratch.needed, 0
    for k in range(trees[ITEMS], trees[ITEMS + 1]):
        needed[model.entries[k]] = False
    for body in members:
        item = model.bodies[body, ITEM]
        while item >= 0 and not needed[item]:
            needed[item] = True
            freedoms += model.positions[item, FREEDOMS]
            item = model.positions[item, ABOVE]
    return freedoms


@jit_inner
def _factored_response(work, table, model, scratch, members, tree, freedoms, R):
    """L of the touched bodies of a limbed tree, from the root outwards. Returns its rank; -1: no room."""
    bodies, trees, positions, motions = model.bodies, model.trees[tree], model.positions, scratch.motions
    at, end = 0, 0
    for k in range(trees[BACKWARD], trees[BACKWARD + 1]):
        item = model.backward[k, POSITION]
        if not scratch.needed[item] or positions[item, BODY] < 0:
            continue
        position, above = positions[item], positions[item, PARENT]
        width, body = position[WIDTH], bodies[position[BODY]]
        if at + width * freedoms > len(motions):
            return -1
        if position[FACTOR_AT] >= 0:
            own = _limb(work, position, scratch.local[0], scratch.local[2])
        else:
            _probe(work, table, model, scratch, item)
            own = _split(scratch.local[1], width, position[FREEDOMS], scratch.local[2])
        motion = motions[at : at + width * freedoms]
        if above >= 0:
            _carry(scratch.local[0], width, motions[scratch.columns[above, 0] :], positions[above, WIDTH], freedoms,
                   scratch.columns[above, 1], motion)  # fmt: skip
        before = scratch.columns[above, 1] if above >= 0 else 0
        for i in range(width):
            row = motion[i * freedoms : (i + 1) * freedoms]
            for c in range(before, end):
                row[c] = 0.0
            for c in range(own):
                row[end + c] = scratch.local[2][6 * i + c]
        end += own
        scratch.columns[item, 0], scratch.columns[item, 1] = at, end
        at += width * freedoms
    n = 6 * len(members)
    end = min((end + 3) & ~3, n)  # strips of whole vectors are faster: freedoms that move nothing
    for k in range(len(members)):
        body = bodies[members[k]]
        place, last = scratch.columns[body[ITEM], 0], scratch.columns[body[ITEM], 1]
        for i in range(6):
            part, row, known = body[PART + i], (6 * k + i) * n, 0
            if part >= 0 and body[POSE] != SPOT:
                copy(R, row, motions, place + part * freedoms, last)
                known = last
            for c in range(row + known, row + end):
                R[c] = 0.0
            if part >= 0 and body[POSE] == SPOT:
                for j in range(body[SPAN]):
                    factor = work[body[R_AT] + body[SPAN] * part + j]
                    add_multiple(R, row, motions, place + j * freedoms, last, factor)
    return end


@jit_inline
def _carry(K, width, source, height, freedoms, count, motion):
    """motion (width, count) = K (width, height) source (height, count), in rows of `freedoms`."""
    for i in range(width):
        for c in range(i * freedoms, i * freedoms + count):
            motion[c] = 0.0
        if height == 6:
            row = K[6 * i : 6 * i + 6]
            add_multiples(motion, i * freedoms, source, 0, freedoms, count, (row[0], row[1], row[2], row[3], row[4], row[5]))
            continue
        for k in range(height):
            add_multiple(motion, i * freedoms, source, k * freedoms, count, K[6 * i + k])


@jit_inner
def _limb(work, position, K, T):
    """K and T of a limb, from its factors: rows of six. Returns its freedoms.

    Of a ball the child's origin goes with the parent, a = v + w x e, and its turn is -L^-T S a. Else the child goes with the
    parent and turns by -L^-T Y of that about its axes. Either way that is B (v, w) with B_w = B'_w + e x B_v, B' = -L^-T Y."""
    ball, k = position[AXES_AT] < 0, position[FREEDOMS]
    factor, y, axes, e = position[FACTOR_AT], position[Y_AT], position[AXES_AT], position[E_AT]
    for i in range(36):
        K[i] = T[i] = 0.0
    _spread_factor(work, factor, k, T)
    if position[PARENT] >= 0:
        x0, x1, x2, width = work[e], work[e + 1], work[e + 2], 3 if ball else 6
        K[0] = K[7] = K[14] = 1.0
        K[4], K[5], K[9], K[11], K[15], K[16] = x2, -x1, -x2, x0, x1, -x0
        for i in range(k - 1, -1, -1):  # rows of B', in those of K, from the last one on
            row = 6 * (3 + i)
            for r in range(width):
                K[row + r] = -work[y + width * i + r]
            for r in range(i + 1, k):
                part = work[factor + r * (r + 1) // 2 + i]
                for j in range(width):
                    K[row + j] -= part * K[6 * (3 + r) + j]
        for i in range(k):
            row = 6 * (3 + i)
            b0, b1, b2 = K[row], K[row + 1], K[row + 2]
            K[row + 3] += x1 * b2 - x2 * b1
            K[row + 4] += x2 * b0 - x0 * b2
            K[row + 5] += x0 * b1 - x1 * b0
        if not ball:
            _about_axes(work, axes, k, K)
            K[21] += 1.0
            K[28] += 1.0
            K[35] += 1.0
    if not ball:
        _about_axes(work, axes, k, T)
    return k


@jit_inline
def _spread_factor(work, factor, k, T):
    """Columns of L^-T diag(p)^1/2, in rows 3 to 5 of T; p: reciprocal pivots, in the place of the diagonal of L."""
    for j in range(k):
        T[6 * (3 + j) + j] = math.sqrt(work[factor + j * (j + 1) // 2 + j])
        for i in range(j - 1, -1, -1):
            left = 0.0
            for r in range(i + 1, j + 1):
                left -= work[factor + r * (r + 1) // 2 + i] * T[6 * (3 + r) + j]
            T[6 * (3 + i) + j] = left


@jit_inline
def _about_axes(work, axes, k, rows):
    """Rows 3 to 5 of six become turns in the world, from turns about one or two axes in the first of them."""
    for j in range(6):
        one, two = rows[18 + j], rows[24 + j] if k > 1 else 0.0
        for i in range(3):
            rows[6 * (3 + i) + j] = work[axes + i] * one + (work[axes + 3 + i] * two if k > 1 else 0.0)


@jit_inner
def _probe(work, table, model, scratch, item):
    """K and T T^T of one body, by the operations of it and its joint alone: rows of six."""
    position, above = model.positions[item], model.positions[item, PARENT]
    width, body = position[WIDTH], model.bodies[position[BODY]]
    height, parent = 0, 0
    if above >= 0:
        height, parent = model.positions[above, WIDTH], model.bodies[model.positions[above, BODY], X]
        for j in range(height):
            work[parent + j] = 0.0
    for j in range(width):
        _forward_alone(work, table, model, item, body[B] + j)
        _backward_alone(work, table, model, item)
        for i in range(width):
            scratch.local[1][6 * i + j] = work[body[X] + i]
    if above >= 0:
        _forward_alone(work, table, model, item, NONE)
    for j in range(height):
        work[parent + j] = 1.0
        _backward_alone(work, table, model, item)
        work[parent + j] = 0.0
        for i in range(width):
            scratch.local[0][6 * i + j] = work[body[X] + i]


@jit_inner
def _forward_alone(work, table, model, item, unit):
    """The sweep forward over a body and its joint; unit: the entry of b that is one, or NONE."""
    joint = model.positions[item, JOINT]
    _clear_one(work, model, item)
    if joint >= 0:
        _clear_one(work, model, joint)
    if unit >= 0:
        work[unit] = 1.0
    _operate(work, table, model.forward, model.positions[item, UP])
    if joint >= 0:
        _operate(work, table, model.forward, model.positions[joint, UP])


@jit_inner
def _backward_alone(work, table, model, item):
    """The sweep backward over a body and its joint, as the parent moves."""
    joint = model.positions[item, JOINT]
    if joint >= 0:
        _operate(work, table, model.backward, model.positions[joint, DOWN])
    _operate(work, table, model.backward, model.positions[item, DOWN])


@jit_inner
def _operate(work, table, operations, k):
    if k >= 0:
        sweep(work, table, operations[k : k + 1])


@jit_inner
def _clear_one(work, model, item):
    for r in range(model.positions[item, RIGHT], model.positions[item, RIGHT + 1]):
        work[model.entries[r]] = 0.0


@jit_inner
def _split(Q, width, most, T):
    """Q = T T^T, the largest part first, of at most so many columns; returns how many. Rows of six."""
    largest, rank = 0.0, 0
    for i in range(width):
        largest = max(largest, Q[7 * i])
    while rank < most:
        pivot, best = -1, HELD * largest
        for i in range(width):
            left = Q[7 * i]
            for c in range(rank):
                left -= T[6 * i + c] ** 2
            if left > best:
                pivot, best = i, left
        if pivot < 0:
            break
        root = math.sqrt(best)
        for i in range(width):
            rest = Q[6 * i + pivot]
            for c in range(rank):
                rest -= T[6 * i + c] * T[6 * pivot + c]
            T[6 * i + rank] = rest / root
        rank += 1
    return rank


@jit_inner
def _swept_response(work, table, model, scratch, members, tree, R):
    bodies, trees, needed = model.bodies, model.trees[tree], scratch.needed
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
        push(work, bodies[body], part, 1.0)
        sweep(work, table, scratch.forward[:up])
        sweep(work, table, scratch.backward[:down])
        for i in range(j, n):
            other = members[i // 6]
            at = bodies[other, PART + i % 6]
            if at >= 0:
                answer = component(work, bodies[other], at, X)
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
                push(work, model.bodies[members[k]], part, wrenches[k, i])
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
