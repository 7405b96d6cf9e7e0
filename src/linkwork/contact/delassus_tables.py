"""From a model to the tables with which one of its components can be swept alone (`contact/delassus.py`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.contact.delassus import (
    BACKWARD,
    BIAS,
    COMPOSED,
    FLAT,
    FORCING,
    FORWARD,
    FREE,
    ITEM,
    ITEMS,
    MEMBER,
    MEMBER_SPAN,
    MEMBERS,
    MOST,
    OF_MEMBER,
    PART,
    POINT,
    POSE,
    RIGID,
    SOLUTION,
    SPOT,
    STRETCHED,
    TREE,
    B,
    Q,
    Trees,
    V,
    X,
)
from linkwork.contact.stretched import Stretched
from linkwork.contact.tree_response import (
    ABOVE,
    ALONE,
    AXES,
    E_AT,
    FORM,
    FREEDOMS,
    FRONTS,
    L_AT,
    NONE,
    PARENT,
    POSITION_COLUMNS,
    RIGHT,
    ROWS,
    TURNS,
    WHOLE,
    WIDTH,
)
from linkwork.elements.core.checks import label
from linkwork.elements.core.contact_parts import ContactPose
from linkwork.errors import ModelError
from linkwork.kernels.vocabulary import Iteration, Sweep
from linkwork.model.graph import GROUND, moving
from linkwork.schedules.schedules import Schedules

MOST_VELOCITIES = 6  # of bodies of trees whose responses are composed
POSES = {ContactPose.RIGID: RIGID, ContactPose.FLAT: FLAT, ContactPose.POINT: POINT}


def components(model) -> np.ndarray:
    """The component of each body: what constraints connect, inequalities without a closed form, and, where forces couple bodies
    in the matrix, forces too."""
    above = list(range(model.forest.trees))

    def root(tree: int) -> int:
        while above[tree] != tree:
            above[tree] = tree = above[above[tree]]
        return tree

    together = [force.ends for force in model.forces if model.options["coupled"]]
    for ends in together + [measure.ends for measure in model.measures]:
        first, *others = [root(model.forest.tree[b]) for b in ends if b != GROUND]
        for other in others:
            above[root(other)] = root(first)
    return np.unique([root(tree) for tree in model.forest.tree], return_inverse=True)[1].astype(np.int64)


def bodies_of(schedules: Schedules, velocity: str = "v") -> np.ndarray:
    """The table of bodies, and of points that can be touched behind them; `velocity`: the field that velocities are read in,
    v1 of an iterate, whose places are in q1."""
    m, component = schedules.model, components(schedules.model)
    n = len(m.bodies.kinds)
    spots = spots_of(m)
    most = max((len(spot.members) for spot in spots), default=0)
    table = np.full((n + len(spots), MEMBER + OF_MEMBER * most), NONE, dtype=np.int64)
    table[:n, TREE], table[:n, ITEM] = component, schedules.place
    for kind, numbers in schedules.by_kind:
        for column, name in enumerate(("q1" if velocity == "v1" else "q", velocity, "R", "b", "x", "mass")):
            table[numbers, column] = m.body_at[numbers] + (kind.record.offset(name) if name in kind.record else 0)
        if kind.contact is not None:
            table[numbers, POSE], table[numbers, PART : PART + 6] = POSES[kind.contact.pose], kind.contact.velocity
    for k, spot in enumerate(spots, start=n):
        table[k, :MEMBER] = table[spot.members[0][0], :MEMBER]
        table[k, [Q, BIAS, FORCING]] = spot.places
        table[k, [POSE, MEMBERS]], table[k, PART : PART + 6] = (SPOT, len(spot.members)), NONE
        table[k, PART : PART + len(spot.parts)] = spot.parts
        for number, (body, J) in enumerate(spot.members):
            at, width = MEMBER + OF_MEMBER * number, m.bodies.kinds[body].nv
            table[k, at : at + OF_MEMBER] = *table[body, [V, X, B, ITEM]], width, J, body
    for own in m.stretched:
        origin = m.material_points[own.frame]
        table[own.body, [Q, BIAS, FORCING]] = origin.field("place"), origin.field("bias"), origin.field("J")
        table[own.body, [POSE, MEMBERS]] = STRETCHED, origin.record.size
        table[own.body, MEMBER + MEMBER_SPAN] = m.bodies.kinds[own.body].nv
    return table


@dataclass(frozen=True)
class Touchable:
    """What has a slot of its own behind those of bodies: a point of a Lagrangian body, or numbers that inequalities bound."""

    members: list[tuple[int, int]]  # the bodies that it depends on, and where its J on each of them lies
    places: tuple[int, int, int]  # where its numbers lie, their bias, and their forcing
    parts: range  # its rows of J


def spots_of(model) -> list[Touchable]:
    """In the order of their numbers."""
    found = []
    for point in model.material_points:
        places = point.field("place"), point.field("bias"), point.field("forcing")
        found.append(Touchable([(point.body, point.field("J"))], places, range(4 if point.chosen else 3)))
    for measure in model.measures:
        places = measure.field("value"), measure.field("bias"), measure.field("forcing")
        found += [Touchable(measure.members, places, parts) for parts in measure.slots]
    return found


def stretched_of(model, touchable: int) -> Stretched:
    """The bodies whose shapes stretch, among so many bodies and points."""
    n, number = len(model.bodies.kinds), np.full(touchable, NONE, dtype=np.int64)
    table = np.array([(own.body, n + own.first, own.room) for own in model.stretched], dtype=np.int64).reshape(-1, 3)
    number[table[:, 0]] = np.arange(len(table))
    return Stretched(table, number, np.zeros(len(table), dtype=np.int64), np.zeros(1, dtype=np.int64))


def _put_ranges(table: np.ndarray, column: int, keys: np.ndarray, begin: int = 0) -> None:
    """Where each tree begins and ends among sorted keys."""
    numbers = np.arange(len(table))
    for shift, side in enumerate(("left", "right")):
        table[:, column + shift] = begin + np.searchsorted(keys, numbers, side=side)  # type: ignore[call-overload]


def trees_of(schedules: Schedules, velocity: str = "v", iteration: Iteration | None = None) -> Trees:
    """`iteration`: of an implicit step, whose factors those sweeps use."""
    m = schedules.model
    bodies = bodies_of(schedules, velocity)
    table = np.zeros((bodies[:, TREE].max() + 1, MOST + 1), dtype=np.int64)
    tree_of = np.array([bodies[item.body if item.body >= 0 else m.nodes[item.node].ends[1], TREE] for item in m.items])
    swept = []
    for sweep, column in ((Sweep.FORWARD, FORWARD), (Sweep.BACKWARD, BACKWARD)):
        rows, items = schedules.bare(sweep, iteration)
        order = np.argsort(tree_of[items], kind="stable")
        swept.append(np.ascontiguousarray(np.column_stack([rows, items])[order].astype(np.int32)))
        _put_ranges(table, column, tree_of[items[order]])
    by_tree = np.argsort(tree_of, kind="stable").astype(np.int64)
    spans = {"x": [_entries(m, item, "x") for item in m.items],
             "b": [_entries(m, item, "b", iteration is not None) for item in m.items]}  # fmt: skip
    solution = np.concatenate([spans["x"][k] for k in by_tree])
    _put_ranges(table, SOLUTION, np.repeat(tree_of[by_tree], [len(spans["x"][k]) for k in by_tree]))
    positions = np.full((len(m.items), POSITION_COLUMNS), NONE, dtype=np.int64)
    positions[:, ABOVE] = [_above(schedules, item) for item in m.items]
    ends = len(solution) + np.cumsum([len(span) for span in spans["b"]])
    positions[:, RIGHT + 1] = ends
    positions[:, RIGHT] = np.concatenate([[len(solution)], ends[:-1]])
    _put_ranges(table, ITEMS, tree_of[by_tree], int(ends[-1]))
    table[:, FREE] = False if iteration else free_bodies(m, bodies[:, TREE])
    positions[:, FREEDOMS] = 0
    if iteration is None:
        table[:, COMPOSED] = _find_vertices(schedules, tree_of, positions, swept)
        rows, columns = (np.bincount(tree_of, np.maximum(positions[:, column], 0), len(table)) for column in (WIDTH, FREEDOMS))
        table[:, MOST] = np.where(table[:, COMPOSED], rows * (columns + 3), 0)  # rows end at whole vectors
    return Trees(bodies, np.argsort(bodies[:, TREE], kind="stable"), table, positions,
                 np.concatenate([solution, *spans["b"], by_tree]), *swept)  # fmt: skip


def _find_vertices(schedules: Schedules, tree_of: np.ndarray, positions: np.ndarray, swept) -> np.ndarray:
    """Trees whose bodies are each eliminated with what joins them to their parent, or just before it, and nothing else; what
    `positions` says of these."""
    m, n = schedules.model, len(schedules.model.bodies.kinds)
    composed = np.ones(tree_of.max() + 1, bool)
    for operations in swept:  # more than one of a position: it is in pieces
        composed[tree_of[np.bincount(operations[:, -1], minlength=len(m.items)) > 1]] = False
    for k, item in enumerate(m.items):
        composed[tree_of[k]] &= item.node not in m.soft
        if item.body < 0:
            continue
        width, above, behind = m.bodies.kinds[item.body].nv, int(positions[k, ABOVE]), m.later.get(item.body, [])
        positions[k, [WIDTH, FREEDOMS]] = width, width
        if item.pivot is not None:
            positions[k, PARENT] = above
            positions[k, FREEDOMS] -= _held(m.nodes[item.node].kind)
            positions[k, FORM : E_AT + 1] = _pivot(m, item)
            composed[tree_of[k]] &= not behind  # of a joint's pivot: what loops tie the body to
        elif above == NONE:
            positions[k, [FORM, L_AT]] = ALONE, m.field_of_body(item.body, "D").start
        else:
            node = m.items[above].node
            apart = m.items[above].body < 0 and len(behind) == 1 and len(m.nodes[node].ends) == 2
            composed[tree_of[k]] &= apart and len(m.later[n + node]) <= 1
            if apart:
                positions[k, PARENT] = positions[above, ABOVE]
                positions[k, FREEDOMS] -= _held(m.nodes[node].kind)
                positions[k, FORM : ROWS + 1] = _fronts(schedules, item.body, node)
        composed[tree_of[k]] &= width <= MOST_VELOCITIES
    positions[~composed[tree_of], FREEDOMS] = 0
    return composed


def _held(kind) -> int:
    """Rows that hold something: those of rotors do not."""
    return kind.size - len(kind.rotors)


def _pivot(model, item) -> tuple[int, ...]:
    """Where the factors of a body with its joint lie: the columns of a position from FORM on."""
    e = model.field_of_node(item.node, "e").start
    if item.pivot.form == "limb" and item.pivot.is_ball:
        front, record = model.field_of_body(item.body, "D").start, item.pivot.front
        return TURNS, front + record.offset("C"), front + record.offset("S"), NONE, e
    form, subspace = (AXES, "axes") if item.pivot.form == "limb" else (WHOLE, "S")
    return form, *(model.field_of_node(item.node, name).start for name in ("K", "Y", subspace)), e


def _fronts(schedules: Schedules, body: int, node: int) -> tuple[int, ...]:
    """The same of a body and the joint behind it."""
    m = schedules.model
    vertex = len(m.bodies.kinds) + node
    further = [schedules._slot(vertex, other) for other in m.later[vertex]]
    return (FRONTS, m.field_of_body(body, "D").start, schedules._slot(body, vertex), m.field_of_node(node, "D").start,
            further[0] if further else NONE, m.nodes[node].kind.size)  # fmt: skip


def _entries(model, item, name: str, kept: bool = False) -> np.ndarray:
    """Entries of b or x of one step of the elimination; `kept`: the joint of a joint pivot has other uses for its own."""
    fields = [model.field_of_body(item.body, name)] if item.body >= 0 else []
    fields += [model.field_of_node(item.node, name)] if item.node >= 0 and not (kept and item.pivot is not None) else []
    return np.concatenate([np.arange(field.start, field.stop, dtype=np.int64) for field in fields])


def free_bodies(model, component: np.ndarray) -> np.ndarray:
    """Components that are a single body without constraints, whose inverse mass is diagonal in its own axes."""
    count = component.max() + 1
    nodes = np.bincount([component[node.ends[1]] for node in model.nodes], minlength=count)
    free = (nodes == 0) & (np.bincount(component, minlength=count) == 1)
    for name, members in model.bodies.members.items():
        free[component[members]] &= model.bodies.frames[name].diagonal_mass()
    for measure in model.measures:
        free[component[list(moving(measure.ends))]] = False
    return free


def _above(schedules: Schedules, item) -> int:
    """The position of the first vertex that an elimination step changes."""
    m, n = schedules.model, len(schedules.model.bodies.kinds)
    later = m.later.get(item.body if item.body >= 0 else n + item.node, [])
    if item.pivot is not None:
        later = later + [body for body in m.nodes[item.node].ends if body not in (item.body, GROUND)]
    return min((int(schedules.place[v] if v < n else schedules.node_place[v - n]) for v in later), default=NONE)


def refuse_stretching(model, element, body: int) -> None:
    """Limits of joints take bodies that move as a rigid one does, or as a part of one; contacts also those whose points are
    linear in their local place, and else spheres around points."""
    if body == GROUND or (kind := model.bodies.kinds[body]).contact is not None:
        return
    who, name = label(model.bodies.elements[body]), type(element).__name__
    if element.is_stop:
        raise ModelError(f"{label(element)}: {who} stretches, and a {name} needs bodies that do not; use a RigidBody, or an "
                         "Inequality of both bodies")  # fmt: skip
    why = "stretches otherwise than as a whole" if kind.collapses else "is of a kind that contact does not take"
    raise ModelError(f"{label(element)}: {who} {why}; give it Sphere Colliders around its points, use a RigidBody, or name the "
                     "bodies that touch in the Contact")  # fmt: skip
