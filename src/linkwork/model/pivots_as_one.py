"""Which bodies and joints are eliminated as one pivot, and where the origins of such bodies are."""

from __future__ import annotations

import numpy as np

from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.bodies.rigid_placement import RigidPlacement
from linkwork.kernels.joint_elimination import Limb, has_limb
from linkwork.kernels.joint_elimination_general import Link, has_link
from linkwork.kernels.node import parameter_record
from linkwork.model import massless
from linkwork.model.graph import GROUND
from linkwork.model.model import Item
from linkwork.model.nodes import Bodies, Node


def elimination_items(order, later, bodies, nodes, limbs: bool, couplings, implicit: bool):
    """The elimination step by step; a body with its joint where what else has changed does not touch the joint, nor couples the
    body with its parent, but for a force that couples the turning of both."""
    n = len(bodies.kinds)
    items, limb_of, skip = [], {}, set()
    shapes: dict[tuple, Limb] = {}
    fit = _Forms(bodies, implicit)
    changed: set[int] = set()  # vertices that what was eliminated before them has changed ...
    crossed: set[int] = set()  # ... and that have blocks from it
    for vertex in order:
        if vertex in skip:
            continue
        signature = _limb_signature(vertex, later, n, nodes, couplings, fit) if limbs and vertex < n else None
        if signature is not None and later[vertex][0] not in changed and not (signature[-1] and vertex in crossed):
            k = later[vertex][0] - n
            form, _, *others = signature
            limb_of[k] = shapes.setdefault(signature, form(nodes[k].kind, *others))
            items.append(Item(body=vertex, node=k, limb=limb_of[k]))
            skip.add(n + k)
            changed.update(later[n + k])
            continue
        items.append(Item(body=vertex) if vertex < n else Item(node=vertex - n))
        changed.update(later[vertex])
        crossed.update(later[vertex] if len(later[vertex]) > 1 else ())
    return items, limb_of


class _Forms:
    """Which limb a body and its joint may make: one that has no mass, or turns a rotor, needs a Link where others do without;
    implicit steps have none. Nor have these, and Links, where a loop ties the body to others."""

    def __init__(self, bodies: Bodies, implicit: bool):
        self.bodies, self.implicit = bodies, implicit
        self.known: dict[tuple[int, bool, bool], type[Limb] | None] = {}

    def of(self, kind, body: int, tied: bool) -> type[Limb] | None:
        """`tied`: the body has later neighbours beside the joint."""
        key = id(kind), massless.is_massless(self.bodies.elements[body]), tied
        if key not in self.known:
            linked = (key[1] or kind.rotors) and has_link(kind)
            form = Limb if has_limb(kind) else Link if linked and not self.implicit else None
            self.known[key] = None if tied and (form is not Limb or self.implicit) else form
        return self.known[key]


def _limb_signature(vertex: int, later, n: int, nodes, couplings, fit: _Forms) -> tuple | None:
    """What a limb of this body and its joint depends on, where its later neighbours and the joint's kind (fit) allow one."""
    after = later[vertex]
    if not after or after[0] < n or vertex not in nodes[after[0] - n].ends:
        return None
    node = nodes[after[0] - n]
    child = int(node.ends[1] == vertex)
    parent = node.ends[1 - child]
    coupled = couplings.get((min(vertex, parent), max(vertex, parent)), False)
    others = after[2:] if coupled and after[1:2] == [parent] else after[1:]
    form = fit.of(node.kind, vertex, bool(others))
    if form is None or parent in others or (parent != GROUND and parent not in later[after[0]]):
        return None
    return form, id(node.kind), child, coupled


def place_origins(bodies: Bodies, nodes: list[Node], limb_of) -> None:
    """The origin of each limb's child goes to its joint."""
    frames = bodies.frames[RIGID.name]
    assert isinstance(frames, RigidPlacement)
    local = np.zeros_like(frames.x)
    chosen = np.zeros(len(local), dtype=bool)
    of_limb: dict[int, list[int]] = {}
    for k, limb in limb_of.items():
        of_limb.setdefault(id(limb), []).append(k)
    for members in of_limb.values():
        limb = limb_of[members[0]]
        where = parameter_record(limb.kind).slice("on_b" if limb.child_is_second else "on_a")
        places = bodies.place[np.array([nodes[k].ends[limb.child] for k in members], dtype=np.int64)]
        local[places] = [nodes[k].values[where] for k in members]
        chosen[places] = True
    frames.place(np.where(chosen[:, None], frames.user_coordinates(local), frames.origin))
