"""How bodies that are touched answer impulses: R of every group, by solves with the factors that are there.

A *tree* is what joints connect, loops and all: one component of the model. The bodies of a tree that are touched are the slots
of one group. A unit wrench on one of them is swept forward and backward, along the paths from the touched bodies to the root
alone; what the touched bodies do then is a column of R. A free body answers by its own inverse mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.codegen.jit import OPERANDS, jit, sweep
from linkwork.elements.checks import label
from linkwork.errors import ModelError
from linkwork.model.graph import GROUND
from linkwork.model.programs import Programs
from linkwork.symbolic.flat import PLANES

RIGID, FLAT, POINT = 0, 1, 2  # how the pose of a body is found
NONE = -1

# columns of the table of bodies: offsets of fields in the workspace, then what a body is
Q, V, R_AT, B, X, MASS, POSE, TREE, ITEM = range(9)
PART = 9  # (6) the component of its velocity that is one of (linear, angular) in the world, or NONE
# columns of the table of trees: ranges (begin, end) of operations, of entries of x, of positions in the elimination
FREE, FORWARD, BACKWARD, SOLUTION, ITEMS = 0, 1, 3, 5, 7
# columns of the table of positions: the next one on the way to the root or NONE; the range of entries of b
ABOVE, RIGHT = 0, 1
POSITION = 1 + OPERANDS  # column of an operation that says where in the elimination it belongs


class Trees(NamedTuple):
    """Components of a model, and what it takes to sweep over one of them alone."""

    bodies: np.ndarray  # (n, 15) int64
    order: np.ndarray  # (n,) int64: bodies sorted by tree
    trees: np.ndarray  # (t, 9) int64
    positions: np.ndarray  # (items, 3) int64
    entries: np.ndarray  # int64: entries of x by tree, entries of b by position, positions by tree
    forward: np.ndarray  # (k, 7) int32: operations by tree
    backward: np.ndarray


class Sweeping(NamedTuple):
    """Scratch of sweeps."""

    needed: np.ndarray  # (items,) bool: on a path from a touched body to the root
    forward: np.ndarray  # operations that are
    backward: np.ndarray
    saved: np.ndarray  # x of the trees that are swept


def velocity_parts(kind) -> list[int]:
    """Which of a body's velocity components are the six of a rigid motion in the world; NONE: none of them."""
    if kind.name == "RigidBody":
        return [0, 1, 2, 3, 4, 5]
    if kind.name == "Particle":
        return [0, 1, 2, NONE, NONE, NONE]
    first, second, normal = PLANES[kind.name.split("-")[1]]
    found = [NONE] * 6
    found[first], found[second] = 0, 1
    if kind.nv == 3:
        found[3 + normal] = 2
    return found


def stretches(kind) -> bool:
    """Whether a body of this kind is no rigid one: contacts do not take it."""
    return kind.name in ("ScalableBody", "AffineBody")


def pose_of(kind) -> int:
    if kind.name == "RigidBody":
        return RIGID
    return FLAT if kind.name.startswith("Planar") and kind.nv == 3 else POINT


def _bodies(programs: Programs) -> np.ndarray:
    m = programs.model
    table = np.full((len(m.bodies.kinds), PART + 6), NONE, dtype=np.int64)
    for k, kind in enumerate(m.bodies.kinds):
        for column, name in enumerate(("q", "v", "R", "b", "x", "mass")):
            table[k, column] = m.body_at[k] + (kind.record.offset(name) if name in kind.record else 0)
        table[k, TREE], table[k, ITEM] = m.forest.tree[k], programs.place[k]
        if not stretches(kind):
            table[k, POSE], table[k, PART:] = pose_of(kind), velocity_parts(kind)
    return table


def _put_ranges(table: np.ndarray, column: int, keys: np.ndarray, begin: int = 0) -> None:
    """Where each tree begins and ends among sorted keys."""
    numbers = np.arange(len(table))
    for shift, side in enumerate(("left", "right")):
        table[:, column + shift] = begin + np.searchsorted(keys, numbers, side=side)  # type: ignore[call-overload]


def trees_of(programs: Programs) -> Trees:
    m = programs.model
    bodies = _bodies(programs)
    table = np.zeros((m.forest.trees, ITEMS + 2), dtype=np.int64)
    tree_of = np.array([m.forest.tree[item.body if item.body >= 0 else m.nodes[item.node].ends[1]] for item in m.items])
    swept = []
    for what, column in (("forward", FORWARD), ("backward", BACKWARD)):
        rows, items = programs.bare(what)
        order = np.argsort(tree_of[items], kind="stable")
        swept.append(np.ascontiguousarray(np.column_stack([rows, items])[order].astype(np.int32)))
        _put_ranges(table, column, tree_of[items[order]])
    by_tree = np.argsort(tree_of, kind="stable").astype(np.int64)
    spans = {name: [_entries(m, item, name) for item in m.items] for name in ("x", "b")}
    solution = np.concatenate([spans["x"][k] for k in by_tree])
    _put_ranges(table, SOLUTION, np.repeat(tree_of[by_tree], [len(spans["x"][k]) for k in by_tree]))
    positions = np.zeros((len(m.items), RIGHT + 2), dtype=np.int64)
    positions[:, ABOVE] = [_above(programs, item) for item in m.items]
    ends = len(solution) + np.cumsum([len(span) for span in spans["b"]])
    positions[:, RIGHT + 1] = ends
    positions[:, RIGHT] = np.concatenate([[len(solution)], ends[:-1]])
    _put_ranges(table, ITEMS, tree_of[by_tree], int(ends[-1]))
    table[:, FREE] = _free(m)
    return Trees(bodies, np.argsort(bodies[:, TREE], kind="stable"), table, positions,
                 np.concatenate([solution, *spans["b"], by_tree]), *swept)  # fmt: skip


def _entries(model, item, name: str) -> np.ndarray:
    """Entries of b or x of one step of the elimination."""
    fields = [model.field_of_body(item.body, name)] if item.body >= 0 else []
    fields += [model.field_of_node(item.node, name)] if item.node >= 0 else []
    return np.concatenate([np.arange(field.start, field.stop, dtype=np.int64) for field in fields])


def _free(model) -> np.ndarray:
    """Trees that are a single body without constraints, whose inverse mass is diagonal in its own axes."""
    nodes = np.bincount([model.forest.tree[node.ends[1]] for node in model.nodes], minlength=model.forest.trees)
    free = (nodes == 0) & (np.bincount(model.forest.tree, minlength=model.forest.trees) == 1)
    for k, kind in enumerate(model.bodies.kinds):
        tree, place = model.forest.tree[k], model.bodies.place[k]
        if kind.name == "RigidBody":
            frames = model.bodies.frames[kind.name]
            free[tree] &= not np.any(frames.origin[place] - frames.com[place])
        elif stretches(kind):
            free[tree] = False
    return free


def _above(programs: Programs, item) -> int:
    """The position of the first vertex that an elimination step changes."""
    m, n = programs.model, len(programs.model.bodies.kinds)
    if item.limb is not None:
        parent = m.nodes[item.node].ends[1 - item.limb.child]
        return NONE if parent == GROUND else int(programs.place[parent])
    later = m.later[item.body if item.body >= 0 else n + item.node]
    if not later:
        return NONE
    return int(programs.place[later[0]] if later[0] < n else programs.node_place[later[0] - n])


def sweeping(trees: Trees) -> Sweeping:
    return Sweeping(np.zeros(len(trees.positions), dtype=np.bool_), np.zeros_like(trees.forward), np.zeros_like(trees.backward),
                    np.zeros(int(trees.trees[:, SOLUTION + 1].max())))  # fmt: skip


def refuse_stretching(model, element, body: int) -> None:
    """Contacts take bodies that do not stretch."""
    if body != GROUND and stretches(model.bodies.kinds[body]):
        raise ModelError(f"{label(element)}: {label(model.bodies.elements[body])} stretches, and contact needs bodies that do "
                         "not; use a RigidBody, or name the bodies that touch in the Contact")  # fmt: skip


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
            _free_response(work, model.bodies[body_of[first[g]]], block)
        else:
            save(work, model, scratch, tree)
            _swept_response(work, table, model, scratch, body_of[first[g] : first[g] + size[g]], tree, block)
            restore(work, model, scratch, tree)


@jit
def save(work, model, scratch, tree):
    """Keep x of a tree."""
    for k in range(model.trees[tree, SOLUTION], model.trees[tree, SOLUTION + 1]):
        scratch.saved[k] = work[model.entries[k]]


@jit
def restore(work, model, scratch, tree):
    for k in range(model.trees[tree, SOLUTION], model.trees[tree, SOLUTION + 1]):
        work[model.entries[k]] = scratch.saved[k]


@jit
def _free_response(work, body, R):
    """The inverse mass of a body whose origin is its centre of mass."""
    R[:] = 0.0
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


@jit
def _clear(work, model, tree, needed):
    """b of those positions of a tree that are needed."""
    for k in range(model.trees[tree, ITEMS], model.trees[tree, ITEMS + 1]):
        item = model.entries[k]
        if needed[item]:
            for r in range(model.positions[item, RIGHT], model.positions[item, RIGHT + 1]):
                work[model.entries[r]] = 0.0


@jit
def _pick(operations, begin, end, needed, picked):
    count = 0
    for k in range(begin, end):
        if needed[operations[k, POSITION]]:
            picked[count] = operations[k]
            count += 1
    return count


@jit
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
    R[:] = 0.0
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


@jit
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
