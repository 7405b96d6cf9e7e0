"""Which bodies and joints are eliminated as one pivot, and where the origins of such bodies are."""

from __future__ import annotations

import numpy as np

from linkwork.kernels.joint_elimination import JointPivot, has_joint_pivot
from linkwork.kernels.joint_elimination_general import GeneralJointPivot, has_general_pivot
from linkwork.kernels.node import parameter_record
from linkwork.model.graph import GROUND
from linkwork.model.model import Item
from linkwork.model.nodes import Bodies, Node


def elimination_items(order, later, bodies, nodes, joint_pivots: bool, couplings, implicit: bool):
    """The elimination step by step; a body with its joint where what else has changed does not touch the joint, nor couples the
    body with its parent, but for a force that couples the turning of both."""
    n = len(bodies.kinds)
    items, joint_pivot_of, skip = [], {}, set()
    shapes: dict[tuple, JointPivot] = {}
    fit = _Forms(implicit)
    changed: set[int] = set()  # vertices that what was eliminated before them has changed ...
    crossed: set[int] = set()  # ... and that have blocks from it
    for vertex in order:
        if vertex in skip:
            continue
        signature = _pivot_signature(vertex, later, n, nodes, couplings, fit) if joint_pivots and vertex < n else None
        if signature is not None and later[vertex][0] not in changed and not (signature[-1] and vertex in crossed):
            k = later[vertex][0] - n
            form, _, *others = signature
            joint_pivot_of[k] = shapes.setdefault(signature, form(nodes[k].kind, *others))
            items.append(Item(body=vertex, node=k, pivot=joint_pivot_of[k]))
            skip.add(n + k)
            changed.update(later[n + k])
            continue
        items.append(Item(body=vertex) if vertex < n else Item(node=vertex - n))
        changed.update(later[vertex])
        crossed.update(later[vertex] if len(later[vertex]) > 1 else ())
    return items, joint_pivot_of


class _Forms:
    """Which pivot a body and its joint may make: the general one where the joint has no closed form. Implicit steps have no
    general ones and none with rotors; nor is there a general one where a loop couples the body with others."""

    def __init__(self, implicit: bool):
        self.implicit = implicit
        self.known: dict[tuple[int, bool], type[JointPivot] | None] = {}

    def of(self, kind, loop_coupled: bool) -> type[JointPivot] | None:
        """`loop_coupled`: the body has later neighbours beside the joint."""
        key = id(kind), loop_coupled
        if key not in self.known:
            general = GeneralJointPivot if has_general_pivot(kind) and not self.implicit else None
            form = JointPivot if has_joint_pivot(kind) else general
            form = None if kind.rotors and self.implicit else form
            self.known[key] = None if loop_coupled and (form is not JointPivot or self.implicit) else form
        return self.known[key]


def _pivot_signature(vertex: int, later, n: int, nodes, couplings, fit: _Forms) -> tuple | None:
    """What the joint pivot of this body and its joint depends on; None where its later neighbours or the joint's kind (`fit`)
    do not allow one."""
    after = later[vertex]
    if not after or after[0] < n or vertex not in nodes[after[0] - n].ends:
        return None
    node = nodes[after[0] - n]
    child = int(node.ends[1] == vertex)
    parent = node.ends[1 - child]
    coupled = couplings.get((min(vertex, parent), max(vertex, parent)), False)
    others = after[2:] if coupled and after[1:2] == [parent] else after[1:]
    form = fit.of(node.kind, bool(others))
    if form is None or parent in others or (parent != GROUND and parent not in later[after[0]]):
        return None
    return form, id(node.kind), child, coupled


def place_origins(bodies: Bodies, nodes: list[Node], joint_pivot_of) -> None:
    """The origin of each joint pivot's child goes to its joint."""
    frames = bodies.rigid
    local = np.zeros_like(frames.x)
    chosen = np.zeros(len(local), dtype=bool)
    of_pivot: dict[int, list[int]] = {}
    for k, pivot in joint_pivot_of.items():
        of_pivot.setdefault(id(pivot), []).append(k)
    for members in of_pivot.values():
        pivot = joint_pivot_of[members[0]]
        where = parameter_record(pivot.kind).slice("on_b" if pivot.child_is_second else "on_a")
        places = bodies.place[np.array([nodes[k].ends[pivot.child] for k in members], dtype=np.int64)]
        local[places] = [nodes[k].values[where] for k in members]
        chosen[places] = True
    frames.place(np.where(chosen[:, None], frames.user_coordinates(local), frames.origin))
