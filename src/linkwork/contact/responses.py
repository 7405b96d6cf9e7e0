"""How bodies that are touched answer impulses: R of every group, by solves with the factors that are there.

A *tree* is what joints connect, loops and all: one component of the model. The bodies of a tree that are touched are the slots of one
group. A unit wrench on one of them is swept forward and backward, along the paths from the touched bodies to the root alone; what the
touched bodies do then is a column of R. A free body answers by its own inverse mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.errors import ElementError
from linkwork.model.graph import GROUND
from linkwork.model.programs import Programs
from linkwork.symbolic.flat import PLANES

RIGID, FLAT, POINT = 0, 1, 2  # how the pose of a body is found
NONE = -1


class Bodies(NamedTuple):
    """Where the bodies of a model lie in its workspace; all (n,), int64."""

    q: np.ndarray  # offsets of coordinates, velocity, derived pose, right-hand side, solution, parameters (mass first)
    v: np.ndarray
    R: np.ndarray
    b: np.ndarray
    x: np.ndarray
    mass: np.ndarray
    pose: np.ndarray  # RIGID, FLAT, POINT
    part: np.ndarray  # (n, 6): the component of its velocity that is one of (linear, angular) in the world, or NONE
    tree: np.ndarray
    item: np.ndarray  # its position in the elimination
    order: np.ndarray  # bodies sorted by tree


class Trees(NamedTuple):
    """Components of a model: sweeps over one of them alone. Ranges are (begin, end) pairs, int64."""

    free: np.ndarray  # (t,), whether it is a single body without constraints that answers by its own inverse mass
    forward: np.ndarray  # operations of all trees, sorted by tree, and the position of each
    forward_item: np.ndarray
    forward_of: np.ndarray  # (t, 2)
    backward: np.ndarray
    backward_item: np.ndarray
    backward_of: np.ndarray  # (t, 2)
    solution: np.ndarray  # entries of x of bodies and nodes, sorted by tree
    solution_of: np.ndarray  # (t, 2)
    right: np.ndarray  # entries of b of bodies and nodes, sorted by position
    right_of: np.ndarray  # (items, 2)
    items: np.ndarray  # positions sorted by tree
    items_of: np.ndarray  # (t, 2)
    above: np.ndarray  # (items,): the next position on the way to the root, or NONE


class Sweeping(NamedTuple):
    """Scratch of sweeps."""

    needed: np.ndarray  # (items,), bool: on a path from a touched body to the root
    operations: np.ndarray  # like the forward operations, and the backward ones
    back_operations: np.ndarray
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


def bodies_of(programs: Programs) -> Bodies:
    m = programs.model
    n = len(m.bodies.kinds)
    at = {name: np.zeros(n, dtype=np.int64) for name in ("q", "v", "R", "b", "x", "mass")}
    part, pose = np.full((n, 6), NONE, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for k, kind in enumerate(m.bodies.kinds):
        for name, where in at.items():
            where[k] = m.body_at[k] + (kind.record.offset(name) if name in kind.record else 0)
        if not stretches(kind):
            part[k], pose[k] = velocity_parts(kind), pose_of(kind)
    tree = np.array(m.forest.tree, dtype=np.int64)
    return Bodies(**at, pose=pose, part=part, tree=tree, item=programs.place.copy(), order=np.argsort(tree, kind="stable"))


def _ranges(keys: np.ndarray, count: int) -> np.ndarray:
    """(count, 2): where each key begins and ends among sorted keys."""
    numbers = np.arange(count)
    begin, end = (np.searchsorted(keys, numbers, side=side) for side in ("left", "right"))
    return np.stack([begin, end], axis=1).astype(np.int64)


def trees_of(programs: Programs) -> Trees:
    m = programs.model
    n, count = len(m.bodies.kinds), m.forest.trees
    tree_of_item = np.array([m.forest.tree[item.body if item.body >= 0 else m.nodes[item.node].ends[1]] for item in m.items])
    above = np.array([_above(programs, item) for item in m.items], dtype=np.int64)
    swept = {}
    for what in ("forward", "backward"):
        rows, items = programs.bare(what)
        order = np.argsort(tree_of_item[items], kind="stable") if len(items) else np.zeros(0, dtype=np.int64)
        swept[what] = np.ascontiguousarray(rows[order])
        swept[f"{what}_item"] = items[order]
        swept[f"{what}_of"] = _ranges(tree_of_item[items[order]] if len(items) else items, count)
    right, solution = [], []
    for item in m.items:
        fields = [m.field_of_body(item.body, name) for name in ("b", "x")] if item.body >= 0 else [slice(0), slice(0)]
        spans = [list(range(f.start or 0, f.stop)) for f in fields]
        if item.node >= 0:
            for span, name in zip(spans, ("b", "x"), strict=True):
                where = m.field_of_node(item.node, name)
                span += range(where.start, where.stop)
        right.append(spans[0])
        solution.append(spans[1])
    by_tree = np.argsort(tree_of_item, kind="stable")
    sizes = np.cumsum([0] + [len(span) for span in right])
    solutions = [(tree_of_item[k], entry) for k in by_tree for entry in solution[k]]
    nodes_of = np.bincount([m.forest.tree[node.ends[1]] for node in m.nodes], minlength=count)
    bodies_of_tree = np.bincount(m.forest.tree, minlength=count)
    single = (nodes_of == 0) & (bodies_of_tree == 1)
    for k in range(n):
        tree = m.forest.tree[k]
        single[tree] = single[tree] and _answers_alone(m, k)
    return Trees(
        free=single, **swept,
        solution=np.array([entry for _, entry in solutions], dtype=np.int64),
        solution_of=_ranges(np.array([tree for tree, _ in solutions]), count),
        right=np.array([entry for span in right for entry in span], dtype=np.int64),
        right_of=np.stack([sizes[:-1], sizes[1:]], axis=1).astype(np.int64),
        items=by_tree.astype(np.int64), items_of=_ranges(tree_of_item[by_tree], count), above=above,
    )  # fmt: skip


def _answers_alone(model, body: int) -> bool:
    """Whether a free body's inverse mass is diagonal: about its centre of mass, which is its origin."""
    kind = model.bodies.kinds[body]
    if kind.name != "RigidBody":
        return not stretches(kind)
    frames = model.bodies.frames[kind.name]
    return not np.any(frames.origin[model.bodies.place[body]] - frames.com[model.bodies.place[body]])


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
    return Sweeping(np.zeros(len(trees.above), dtype=np.bool_), np.zeros_like(trees.forward), np.zeros_like(trees.backward),
                    np.zeros(len(trees.solution)))  # fmt: skip


def refuse_stretching(model, element, body: int) -> None:
    """Contacts take bodies that do not stretch."""
    if body != GROUND and stretches(model.bodies.kinds[body]):
        from linkwork.elements import checks

        raise ElementError(f"{checks.label(element)}: {checks.label(model.bodies.elements[body])} stretches, and contact needs "
                           "bodies that do not; use a RigidBody")  # fmt: skip


@jit
def group_slots(bodies, touched, slot_of, body_of, first, size, at):
    """Slots and groups of the touched bodies: (slots, groups, length of R, slots of the largest group). Writes no more groups
    than there is room for."""
    slots, groups, length, widest = 0, 0, 0, 0
    last = -1
    for body in bodies.order:
        slot_of[body] = -1
        if not touched[body]:
            continue
        if bodies.tree[body] != last:
            if groups > 0:
                length += 36 * size[groups - 1] ** 2
                widest = max(widest, size[groups - 1])
            last = bodies.tree[body]
            first[groups], size[groups], at[groups] = slots, 0, length
            groups += 1
        slot_of[body], body_of[slots] = slots, body
        size[groups - 1] += 1
        slots += 1
    if groups > 0:
        length += 36 * size[groups - 1] ** 2
        widest = max(widest, size[groups - 1])
    return slots, groups, length, widest


@jit
def save_solutions(work, bodies, trees, sweeps, body_of, first, groups):
    """Keep x of the trees that will be swept."""
    for g in range(groups):
        tree = bodies.tree[body_of[first[g]]]
        if not trees.free[tree]:
            for k in range(trees.solution_of[tree, 0], trees.solution_of[tree, 1]):
                sweeps.saved[k] = work[trees.solution[k]]


@jit
def responses(work, table, bodies, trees, sweeps, body_of, first, size, at, R, groups):
    """R of all groups, 6 size x 6 size each, row-major."""
    for g in range(groups):
        n = 6 * size[g]
        block = R[at[g] : at[g] + n * n]
        tree = bodies.tree[body_of[first[g]]]
        if trees.free[tree]:
            _free_response(work, bodies, body_of[first[g]], block)
        else:
            _swept_response(work, table, bodies, trees, sweeps, body_of[first[g] : first[g] + size[g]], tree, block)


@jit
def _free_response(work, bodies, body, R):
    """The inverse mass of a body whose origin is its centre of mass."""
    R[:] = 0.0
    mass = work[bodies.mass[body]]
    for i in range(3):
        if bodies.part[body, i] >= 0:
            R[7 * i] = 1.0 / mass
    if bodies.pose[body] == RIGID:
        at, inertia = bodies.R[body], bodies.mass[body] + 4  # mass, centre of mass (3), moments of inertia (3)
        for i in range(3):
            for j in range(3):
                entry = 0.0
                for k in range(3):
                    entry += work[at + 3 * i + k] * work[at + 3 * j + k] / work[inertia + k]
                R[6 * (3 + i) + 3 + j] = entry
    elif bodies.pose[body] == FLAT:
        for i in range(3, 6):
            if bodies.part[body, i] >= 0:
                R[7 * i] = 1.0 / work[bodies.mass[body] + 1]


@jit
def _swept_response(work, table, bodies, trees, sweeps, members, tree, R):
    begin, end = trees.items_of[tree]
    for k in range(begin, end):
        sweeps.needed[trees.items[k]] = False
    for body in members:
        item = bodies.item[body]
        while item >= 0 and not sweeps.needed[item]:
            sweeps.needed[item] = True
            item = trees.above[item]
    up, down = 0, 0
    for k in range(trees.forward_of[tree, 0], trees.forward_of[tree, 1]):
        if sweeps.needed[trees.forward_item[k]]:
            sweeps.operations[up] = trees.forward[k]
            up += 1
    for k in range(trees.backward_of[tree, 0], trees.backward_of[tree, 1]):
        if sweeps.needed[trees.backward_item[k]]:
            sweeps.back_operations[down] = trees.backward[k]
            down += 1
    n = 6 * len(members)
    R[:] = 0.0
    for j in range(n):
        body = members[j // 6]
        part = bodies.part[body, j % 6]
        if part < 0:
            continue
        for k in range(begin, end):
            item = trees.items[k]
            if sweeps.needed[item]:
                for r in range(trees.right_of[item, 0], trees.right_of[item, 1]):
                    work[trees.right[r]] = 0.0
        work[bodies.b[body] + part] = 1.0
        sweep(work, table, sweeps.operations[:up])
        sweep(work, table, sweeps.back_operations[:down])
        for i in range(j, n):
            other = members[i // 6]
            component = bodies.part[other, i % 6]
            if component >= 0:
                answer = work[bodies.x[other] + component]
                R[i * n + j] = answer
                R[j * n + i] = answer


@jit
def strike(work, table, bodies, trees, sweeps, tree, members, wrenches):
    """Solve for what impulses (k, 6) on some bodies of a tree do to all of it: velocities and multipliers into x."""
    for k in range(trees.items_of[tree, 0], trees.items_of[tree, 1]):
        item = trees.items[k]
        for r in range(trees.right_of[item, 0], trees.right_of[item, 1]):
            work[trees.right[r]] = 0.0
    for k in range(len(members)):
        for i in range(6):
            part = bodies.part[members[k], i]
            if part >= 0:
                work[bodies.b[members[k]] + part] += wrenches[k, i]
    sweep(work, table, trees.forward[trees.forward_of[tree, 0] : trees.forward_of[tree, 1]])
    sweep(work, table, trees.backward[trees.backward_of[tree, 0] : trees.backward_of[tree, 1]])
