"""How bodies that are touched answer impulses: R of every group, by solves with the factors that are there.

A *tree* is what joints connect, loops and all: one component of the model. The bodies of a tree that are touched are the slots
of one group. A free body answers by its own inverse mass. Where each body is eliminated with what joins it to its parent,
responses are composed along the tree (`contact/tree_response.py`), which gives L of R = L L^T; that is what solvers want.
Elsewhere (loops) a unit wrench on a touched body is swept forward and backward, along the paths from the touched bodies to the
root alone; what the touched bodies do then is a column of R.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import OPERANDS, jit, jit_inline, jit_inner, sweep
from linkwork.codegen.simd import add_multiple, inner_product, set_multiples
from linkwork.codegen.struct import Struct
from linkwork.contact.tree_response import ABOVE, NO_ROOM, RIGHT, Composing, compose, composing, mark_way, whole

RIGID, FLAT, POINT, SPOT, STRETCHED = range(5)  # how the pose of a body is found; SPOT: numbers with rates J v of one body or
# more; STRETCHED: a body that no row acts on itself, but on spots of it
SEMIDEFINITE = 1.0001  # times R_ii R_jj: what the square of R_ij may be

# columns of the table of bodies, and behind these of spots: points of Lagrangian bodies, and up to six numbers that are
# bounded. Offsets of fields in the workspace, then what it is. A spot has its numbers where bodies have coordinates; how
# these accelerate while velocities stay, and how fast they change while nothing moves, where bodies have axes and mass
Q, V, R_AT, B, X, MASS, POSE, TREE, ITEM = range(9)
BIAS, FORCING = R_AT, MASS  # of a spot
MEMBERS = 9  # how many bodies a spot depends on
# of a STRETCHED body: where the first of the four points lies that tell of all others (Q), its bias (BIAS) and J (FORCING), and
# how far apart the records of the four are (MEMBERS); how many velocities it has is in MEMBER + MEMBER_SPAN
PART = 10  # (6) the component of its velocity that is one of (linear, angular) in the world, or NONE; of a spot, the row of J
# ... and of a spot, for each body that it depends on: offsets of these, its place, how many velocities it has, offset of J, the
# body
MEMBER, OF_MEMBER = 16, 7
MEMBER_V, MEMBER_X, MEMBER_B, MEMBER_ITEM, MEMBER_SPAN, MEMBER_J, MEMBER_BODY = range(7)
# columns of the table of trees: ranges (begin, end) of operations, of entries of x, of positions in the elimination; whether
# responses are composed, and the numbers of motions that takes at most
FREE, FORWARD, BACKWARD, SOLUTION, ITEMS, COMPOSED, MOST = 0, 1, 3, 5, 7, 9, 10
POSITION = 1 + OPERANDS  # column of an operation that says where in the elimination it belongs
BY_COLUMNS = -1  # R itself, not L


class Trees(Struct):
    """Components of a model, and what it takes to sweep over one of them alone."""

    bodies: np.ndarray  # (n, 16) int64: bodies, and points that can be touched
    order: np.ndarray  # (n,) int64: these sorted by tree
    trees: np.ndarray  # (t, 11) int64
    positions: np.ndarray  # (items, 12) int64: columns as in contact/tree_response.py
    entries: np.ndarray  # int64: entries of x by tree, entries of b by position, positions by tree
    forward: np.ndarray  # (k, 7) int32: operations by tree
    backward: np.ndarray


class Sweeping(Struct):
    """Scratch of sweeps."""

    needed: np.ndarray  # (items,) bool: on a path from a touched body to the root
    forward: np.ndarray  # operations that are
    backward: np.ndarray
    saved: np.ndarray  # x of the trees that are swept
    composing: Composing


def sweeping(trees: Trees) -> Sweeping:
    return Sweeping(np.zeros(len(trees.positions), dtype=np.bool_), np.zeros_like(trees.forward), np.zeros_like(trees.backward),
                    np.zeros(int(trees.trees[:, SOLUTION + 1].max())),
                    composing(trees.positions, int(trees.trees[:, MOST].max())))  # fmt: skip


@jit
def component(work, body, part, field):
    """One of the six velocities of a body, from its velocities (field: V) or its solution (X)."""
    at = body[field]
    if body[POSE] != SPOT:
        return work[at + part]
    found = 0.0
    for k in range(MEMBER, MEMBER + OF_MEMBER * body[MEMBERS], OF_MEMBER):
        at = body[k + (MEMBER_V if field == V else MEMBER_X)]
        row = body[k + MEMBER_J] + body[k + MEMBER_SPAN] * part
        for j in range(body[k + MEMBER_SPAN]):
            found += work[row + j] * work[at + j]
    return found


@jit
def push(work, body, part, force):
    """Add a force, along one of the six velocities of a body, to its right-hand side."""
    at = body[B]
    if body[POSE] != SPOT:
        work[at + part] += force
        return
    for k in range(MEMBER, MEMBER + OF_MEMBER * body[MEMBERS], OF_MEMBER):
        at, row = body[k + MEMBER_B], body[k + MEMBER_J] + body[k + MEMBER_SPAN] * part
        for j in range(body[k + MEMBER_SPAN]):
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
        members = body_of[first[g] : first[g] + size[g]]
        tree = model.bodies[members[0], TREE]
        rank[g] = BY_COLUMNS
        if model.trees[tree, FREE]:
            free_response(work, model.bodies[members[0]], block)
            continue
        columns = NO_ROOM
        if model.trees[tree, COMPOSED]:
            columns = _compose(work, model, scratch.composing, members)
        if columns > n:
            _multiply(work, model.bodies, scratch.composing, members, columns, block)
        elif columns >= 0:
            rank[g] = min(whole(columns), n)  # strips of whole vectors are faster: freedoms that move nothing
            for k in range(len(members)):
                _put_rows(work, model.bodies[members[k]], scratch.composing, block, 6 * k * n, n, rank[g])
        else:
            save(work, model, scratch, tree)
            _swept_response(work, table, model, scratch, members, tree, block)
            restore(work, model, scratch, tree)


@jit_inner
def _compose(work, model, scratch, members):
    """How many columns L of the touched bodies has; or NO_ROOM."""
    count = 0
    for number in members:
        body = model.bodies[number]
        if body[POSE] != SPOT:
            count = mark_way(model.positions, scratch, body[ITEM], count)
            continue
        for k in range(MEMBER, MEMBER + OF_MEMBER * body[MEMBERS], OF_MEMBER):
            count = mark_way(model.positions, scratch, body[k + MEMBER_ITEM], count)
    return compose(work, model.positions, scratch, count)


@jit_inner
def _put_rows(work, body, scratch, target, at, n, end):
    """The six rows of L of a body, `n` numbers apart, up to column `end`."""
    for part in range(6):
        _put_row(work, body, body[PART + part], scratch, target, at + part * n, end)


@jit_inline
def _put_row(work, body, part, scratch, target, at, end):
    """A row of L. part: which of the velocities of the body, or -1."""
    known = 0
    if part >= 0 and body[POSE] != SPOT:
        place, last, stride = _motion(body[ITEM], scratch)
        known = min(whole(last), end)
        set_multiples(target, at, scratch.motions, place + part * stride, stride, known, (1.0,))
    for c in range(at + known, at + end):
        target[c] = 0.0
    if part >= 0 and body[POSE] == SPOT:
        for k in range(MEMBER, MEMBER + OF_MEMBER * body[MEMBERS], OF_MEMBER):
            place, last, stride = _motion(body[k + MEMBER_ITEM], scratch)
            for j in range(body[k + MEMBER_SPAN]):
                factor = work[body[k + MEMBER_J] + body[k + MEMBER_SPAN] * part + j]
                add_multiple(target, at, scratch.motions, place + j * stride, last, factor)


@jit_inner
def _motion(item, scratch):
    """Where the rows of the body at a position lie, how long they are and how far apart."""
    return scratch.columns[item, 0], scratch.columns[item, 1], scratch.stride[0]


@jit_inner
def _multiply(work, bodies, scratch, members, columns, R):
    """R = L L^T where L has more columns than rows."""
    n = 6 * len(members)
    for i in range(n):
        body = bodies[members[i // 6]]
        _put_row(work, body, body[PART + i % 6], scratch, scratch.row, 0, columns)
        for j in range(i + 1):
            body, answer = bodies[members[j // 6]], 0.0
            part = body[PART + j % 6]
            if part >= 0 and body[POSE] != SPOT:
                place, last, stride = _motion(body[ITEM], scratch)
                answer = inner_product(scratch.row, 0, scratch.motions, place + part * stride, last)
            elif part >= 0:
                answer = _spot_product(work, body, part, scratch)
            R[i * n + j] = R[j * n + i] = answer


@jit_inner
def _spot_product(work, spot, part, scratch):
    """The inner product of the row that is put and one of a spot."""
    answer = 0.0
    for k in range(MEMBER, MEMBER + OF_MEMBER * spot[MEMBERS], OF_MEMBER):
        place, last, stride = _motion(spot[k + MEMBER_ITEM], scratch)
        for j in range(spot[k + MEMBER_SPAN]):
            factor = work[spot[k + MEMBER_J] + spot[k + MEMBER_SPAN] * part + j]
            answer += factor * inner_product(scratch.row, 0, scratch.motions, place + j * stride, last)
    return answer


@jit_inner
def save(work, model, scratch, tree):
    """Copy the solution x of a tree, which sweeps overwrite."""
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
    """Which positions are on a path from a touched body to the root."""
    trees, needed = model.trees[tree], scratch.needed
    for k in range(trees[ITEMS], trees[ITEMS + 1]):
        needed[model.entries[k]] = False
    for number in members:
        body = model.bodies[number]
        if body[POSE] != SPOT:
            _mark_path(model, needed, body[ITEM])
            continue
        for k in range(MEMBER, MEMBER + OF_MEMBER * body[MEMBERS], OF_MEMBER):
            _mark_path(model, needed, body[k + MEMBER_ITEM])


@jit_inline
def _mark_path(model, needed, item):
    """The same of one path."""
    while item >= 0 and not needed[item]:
        needed[item] = True
        item = model.positions[item, ABOVE]


@jit_inner
def _swept_response(work, table, model, scratch, members, tree, R):
    bodies, trees, needed = model.bodies, model.trees[tree], scratch.needed
    _mark_paths(model, scratch, members, tree)
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
