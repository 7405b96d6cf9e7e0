"""From a model to the tables with which one of its components can be swept alone (`contact/delassus.py`)."""

from __future__ import annotations

import numpy as np

from linkwork.contact.delassus import (
    ABOVE,
    AXES_AT,
    BACKWARD,
    BODY,
    DOWN,
    E_AT,
    FACTOR_AT,
    FLAT,
    FORWARD,
    FREE,
    FREEDOMS,
    ITEM,
    ITEMS,
    JOINT,
    LIMBED,
    NONE,
    PARENT,
    PART,
    POINT,
    POSE,
    R_AT,
    RIGHT,
    RIGID,
    SOLUTION,
    SPAN,
    SPOT,
    TREE,
    UP,
    WIDTH,
    Y_AT,
    Q,
    Trees,
)
from linkwork.elements.core.checks import label
from linkwork.elements.core.contact_parts import ContactPose
from linkwork.errors import ModelError
from linkwork.model.graph import GROUND
from linkwork.schedules.schedules import Programs

POSES = {ContactPose.RIGID: RIGID, ContactPose.FLAT: FLAT, ContactPose.POINT: POINT}


def components(model) -> np.ndarray:
    """The component of each body: what constraints connect, and, where forces couple bodies in the matrix, forces too."""
    above = list(range(model.forest.trees))

    def root(tree: int) -> int:
        while above[tree] != tree:
            above[tree] = tree = above[above[tree]]
        return tree

    for force in model.forces if model.options["coupled"] else ():
        first, *others = [root(model.forest.tree[b]) for b in force.ends if b != GROUND]
        for other in others:
            above[root(other)] = root(first)
    return np.unique([root(tree) for tree in model.forest.tree], return_inverse=True)[1].astype(np.int64)


def bodies_of(programs: Programs, velocity: str = "v") -> np.ndarray:
    """The table of bodies, and of points that can be touched behind them; `velocity`: the field that velocities are read in,
    v1 of an iterate, whose places are in q1."""
    m, component = programs.model, components(programs.model)
    n = len(m.bodies.kinds)
    table = np.full((n + len(m.spots), PART + 6), NONE, dtype=np.int64)
    table[:n, TREE], table[:n, ITEM] = component, programs.place
    for kind, numbers in programs.by_kind:
        for column, name in enumerate(("q1" if velocity == "v1" else "q", velocity, "R", "b", "x", "mass")):
            table[numbers, column] = m.body_at[numbers] + (kind.record.offset(name) if name in kind.record else 0)
        if kind.contact is not None:
            table[numbers, POSE], table[numbers, PART:] = POSES[kind.contact.pose], kind.contact.velocity
    for k, spot in enumerate(m.spots, start=n):
        table[k] = table[spot.body]
        table[k, [Q, R_AT]] = spot.at + spot.record.offset("place"), spot.at + spot.record.offset("J")
        table[k, [POSE, SPAN]], table[k, PART : PART + 3] = (SPOT, m.bodies.kinds[spot.body].nv), range(3)
    return table


def _put_ranges(table: np.ndarray, column: int, keys: np.ndarray, begin: int = 0) -> None:
    """Where each tree begins and ends among sorted keys."""
    numbers = np.arange(len(table))
    for shift, side in enumerate(("left", "right")):
        table[:, column + shift] = begin + np.searchsorted(keys, numbers, side=side)  # type: ignore[call-overload]


def trees_of(programs: Programs, velocity: str = "v", stage: str = "") -> Trees:
    """`stage`: of an implicit step, whose factors those sweeps use."""
    m = programs.model
    bodies = bodies_of(programs, velocity)
    table = np.zeros((bodies[:, TREE].max() + 1, LIMBED + 1), dtype=np.int64)
    tree_of = np.array([bodies[item.body if item.body >= 0 else m.nodes[item.node].ends[1], TREE] for item in m.items])
    swept = []
    for what, column in (("forward", FORWARD), ("backward", BACKWARD)):
        rows, items = programs.bare(what, stage)
        order = np.argsort(tree_of[items], kind="stable")
        swept.append(np.ascontiguousarray(np.column_stack([rows, items])[order].astype(np.int32)))
        _put_ranges(table, column, tree_of[items[order]])
    by_tree = np.argsort(tree_of, kind="stable").astype(np.int64)
    spans = {"x": [_entries(m, item, "x") for item in m.items],
             "b": [_entries(m, item, "b", bool(stage)) for item in m.items]}  # fmt: skip
    solution = np.concatenate([spans["x"][k] for k in by_tree])
    _put_ranges(table, SOLUTION, np.repeat(tree_of[by_tree], [len(spans["x"][k]) for k in by_tree]))
    positions = np.full((len(m.items), AXES_AT + 1), NONE, dtype=np.int64)
    positions[:, ABOVE] = [_above(programs, item) for item in m.items]
    ends = len(solution) + np.cumsum([len(span) for span in spans["b"]])
    positions[:, RIGHT + 1] = ends
    positions[:, RIGHT] = np.concatenate([[len(solution)], ends[:-1]])
    _put_ranges(table, ITEMS, tree_of[by_tree], int(ends[-1]))
    table[:, FREE] = False if stage else free_bodies(m, bodies[:, TREE])
    for column, operations in zip((UP, DOWN), swept, strict=True):
        positions[operations[:, -1], column] = np.arange(len(operations))
    if not stage:
        table[:, LIMBED] = _find_limbs(m, tree_of, positions, swept)
    return Trees(bodies, np.argsort(bodies[:, TREE], kind="stable"), table, positions,
                 np.concatenate([solution, *spans["b"], by_tree]), *swept)  # fmt: skip


def _find_limbs(model, tree_of: np.ndarray, positions: np.ndarray, swept) -> np.ndarray:
    """Trees whose bodies are each eliminated with their joint, or just before it, and nothing else; what `positions` says of
    these."""
    once = [np.bincount(operations[:, -1], minlength=len(positions)) <= 1 for operations in swept]
    limbed = np.ones(tree_of.max() + 1, bool)
    positions[:, FREEDOMS] = 0
    for k, item in enumerate(model.items):
        limbed[tree_of[k]] &= bool(once[0][k] and once[1][k]) and item.node not in model.soft
        if item.body < 0:
            continue
        width, joint = model.bodies.kinds[item.body].nv, int(positions[k, ABOVE])
        positions[k, [BODY, WIDTH, FREEDOMS]] = item.body, width, width
        if item.limb is not None:
            positions[k, PARENT] = joint
            positions[k, FREEDOMS] -= _held(model.nodes[item.node].kind)
            if item.limb.form == "limb":
                positions[k, [E_AT, FACTOR_AT, Y_AT, AXES_AT]] = _factors(model, item)
        elif joint != NONE:
            node = model.items[joint].node
            alone = model.items[joint].body < 0 and len(model.later[item.body]) == 1 and len(model.nodes[node].ends) == 2
            limbed[tree_of[k]] &= alone and len(model.later[len(model.bodies.kinds) + node]) <= 1
            positions[k, [JOINT, PARENT]] = joint, positions[joint, ABOVE]
            positions[k, FREEDOMS] -= _held(model.nodes[node].kind)
        limbed[tree_of[k]] &= width <= 6
    return limbed


def _held(kind) -> int:
    """Rows that hold something: those of rotors do not."""
    return kind.size - len(kind.rotors)


def _factors(model, item) -> tuple[int, int, int, int]:
    """Where the factors of a limb lie."""
    e = model.field_of_node(item.node, "e").start
    if item.limb.is_ball:
        front, record = model.field_of_body(item.body, "D").start, item.limb.front
        return e, front + record.offset("C"), front + record.offset("S"), NONE
    return e, *(model.field_of_node(item.node, name).start for name in ("K", "Y", "axes"))


def _entries(model, item, name: str, kept: bool = False) -> np.ndarray:
    """Entries of b or x of one step of the elimination; `kept`: a limb's joint has other uses for its own."""
    fields = [model.field_of_body(item.body, name)] if item.body >= 0 else []
    fields += [model.field_of_node(item.node, name)] if item.node >= 0 and not (kept and item.limb is not None) else []
    return np.concatenate([np.arange(field.start, field.stop, dtype=np.int64) for field in fields])


def free_bodies(model, component: np.ndarray) -> np.ndarray:
    """Components that are a single body without constraints, whose inverse mass is diagonal in its own axes."""
    count = component.max() + 1
    nodes = np.bincount([component[node.ends[1]] for node in model.nodes], minlength=count)
    free = (nodes == 0) & (np.bincount(component, minlength=count) == 1)
    for name, members in model.bodies.members.items():
        free[component[members]] &= model.bodies.frames[name].diagonal_mass()
    return free


def _above(programs: Programs, item) -> int:
    """The position of the first vertex that an elimination step changes."""
    m, n = programs.model, len(programs.model.bodies.kinds)
    later = m.later.get(item.body if item.body >= 0 else n + item.node, [])
    if item.limb is not None:
        later = later + [body for body in m.nodes[item.node].ends if body not in (item.body, GROUND)]
    return min((int(programs.place[v] if v < n else programs.node_place[v - n]) for v in later), default=NONE)


def refuse_stretching(model, element, body: int) -> None:
    """Contacts take bodies that move as a rigid one does, or as a part of one."""
    if body == GROUND or (kind := model.bodies.kinds[body]).contact is not None:
        return
    why = "stretches, and contact needs bodies that do not" if kind.collapses else "is of a kind that contact does not take"
    raise ModelError(f"{label(element)}: {label(model.bodies.elements[body])} {why}; use a RigidBody, or name the bodies that "
                     "touch in the Contact")  # fmt: skip
