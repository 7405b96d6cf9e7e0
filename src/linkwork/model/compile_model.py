"""World -> Model: validate, group, order, lay out. A table of contents first, its steps below."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.codegen.trace import Space
from linkwork.elements.bodies.rigid import RIGID, RigidPlacement
from linkwork.elements.constraints.ramped import Ramp
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element, Pose
from linkwork.elements.core.placement import Placement
from linkwork.elements.core.registry import kind_for
from linkwork.errors import ModelError
from linkwork.kernels.body_kernels import body_kernel
from linkwork.kernels.joint_elimination import Limb, has_limb
from linkwork.kernels.joint_elimination_general import Link, has_link
from linkwork.kernels.loop_coupling import tie_rows
from linkwork.kernels.node import NodeKind, node_jacobian_kernel, node_pulls_kernel, parameter_record
from linkwork.model import massless, states
from linkwork.model import nodes as stacking
from linkwork.model.cg_layout import GradientArea
from linkwork.model.graph import GROUND, Order, elimination_order, forest, later_neighbours, moving, spanning
from linkwork.model.material_points import spots_of
from linkwork.model.model import Item, Model
from linkwork.model.nodes import Bodies, Node, evaluator
from linkwork.model.rank_elimination import least_share
from linkwork.symbolic.views import GLOBALS
from linkwork.util.resources import no_collection

NONE: Mapping = MappingProxyType({})
GOOD = 1e-3  # smallest share of a pivot on the child alone, in that on both bodies, that need not wait for the parent
RANKED = 200  # loops up to which redundant rows are looked for where nothing is eliminated
SCRATCH = 400  # entries for single reports: the largest node's blocks and rows


def compile(
    world, *, limbs: bool = True, packed: bool = False, coupled: str = "", pairs: bool = False, responses: int = 0,
    gradients: bool = False, whole: bool = False, poses: Mapping[str, Pose] = NONE, drawn: Mapping[str, Ramp] = NONE,
    order: Order | None = None,
) -> Model:  # fmt: skip
    """Compile a world. `limbs`: eliminate bodies and joints together where that is faster; `packed`: keep a packed
    vector of all coordinates and velocities (for integrators that work on one); `coupled`: bodies have blocks between them
    where "forces" join them, or "forces and constraints"; `pairs`: blocks lie in pairs, for matrices that are not
    symmetric; `responses`: nodes that close loops are left out of the elimination, as auxiliary ones, and there is space for
    so many responses to them at a time; `gradients`: nothing is eliminated, nodes have their blocks of J beside them, and there
    is space for conjugate gradients; `whole`: the matrix is factored whole, so that bodies need no pivots of their own;
    `poses`: where bodies are that are no longer where they were built, by name, for what
    depends on the configuration (ranks, the order of elimination); `drawn`: constraints that are drawn in, by name;
    `order`: of elimination, where it is known from another model of the same bodies and constraints at the same poses."""
    options = {"limbs": limbs, "packed": packed, "coupled": coupled, "pairs": pairs, "responses": responses,
               "gradients": gradients, "whole": whole, "poses": dict(poses), "drawn": dict(drawn)}  # fmt: skip
    with no_collection():
        return _compile(world, options, order)


def _compile(world, options: dict[str, Any], order: Order | None) -> Model:
    coupled, responses, limbs, gradients = (options[name] for name in ("coupled", "responses", "limbs", "gradients"))
    if not world.bodies:
        raise ModelError("World: there is no body in it; add one, for example lw.Particle(1.0)")
    bodies = bodies_of(world)
    massless.check_carrying(world)
    records = _records(bodies, options["poses"])
    groups = stacking.grouped(world.constraints, bodies, options["drawn"])
    count = len(world.constraints)
    numbers = [stacking.numbers_of(group, bodies) for group in groups]
    kept = [stacking.kept_rows(g, n, bodies, records) for g, n in zip(groups, numbers, strict=True)]
    nodes = stacking.stacked(groups, numbers, kept, count)
    _check_aimed(nodes, records, responses)
    ends = [node.ends for node in nodes]
    graph = forest(len(bodies.kinds), ends)
    jacobians = _jacobians(nodes, records)
    force_groups = stacking.grouped(world.forces, bodies)
    couplings = _couplings(force_groups, ends, coupled)
    if responses:
        order, later = _primary(bodies, nodes, jacobians)
    elif gradients:
        order, later = _side_by_side(graph, bodies, nodes, ends, jacobians)
    else:
        if order is None or couplings:
            pairing = [k for k, node in enumerate(nodes) if has_limb(node.kind)] if limbs and not coupled else []
            order = _order(graph, bodies, nodes, ends, jacobians, couplings, pairing)
        later = later_neighbours(order.vertices, len(bodies.kinds), ends, couplings)
    items, limb_of = _items(order.vertices, later, bodies, nodes, limbs, couplings, bool(coupled))
    if not options["whole"]:
        massless.check_eliminated(bodies, items, limbs, bool(coupled))
    if limb_of:  # origins move to the joints, so the numbers are computed once more
        _place_origins(bodies, nodes, limb_of)
        stacking.renumber(nodes, [stacking.numbers_of(group, bodies) for group in groups])
    forces = stacking.force_nodes(force_groups, [stacking.numbers_of(g, bodies) for g in force_groups])
    return _lay_out(world, options, bodies, nodes, forces, graph, order, items, later, limb_of)


def _couplings(force_groups, ends, coupled: str) -> dict[tuple[int, int], bool]:
    """Pairs of bodies (the lower first) between which a model has blocks of its own; whether all that couples them is their
    turning."""
    found = [(pair, group.relation.turns_only) for group in force_groups for several in group.ends
             for pair in itertools.combinations(several, 2)] if coupled else []  # fmt: skip
    if "constraints" in coupled:
        found += [(pair, False) for several in ends for pair in itertools.combinations(several, 2)]
    pairs: dict[tuple[int, int], bool] = {}
    for (a, b), turning in found:
        if GROUND not in (a, b):
            pair = (min(a, b), max(a, b))
            pairs[pair] = pairs.get(pair, True) and turning
    return pairs


def bodies_of(world) -> Bodies:
    elements = world.bodies
    kinds = [kind_for(body) for body in elements]
    by_kind: dict[str, list] = {}
    for body, kind in zip(elements, kinds, strict=True):
        by_kind.setdefault(kind.name, []).append(body)
    lookup = {kind.name: kind for kind in kinds}
    return Bodies(elements, kinds, {name: lookup[name].placement(members) for name, members in by_kind.items()})


def _records(bodies: Bodies, poses: Mapping[str, Pose] = NONE):
    """records(body, jitter): a body's record with the pose as built, or the given one (0), or a nearby one, for checks before
    layout."""
    fields = {name: _moved(frames, bodies, name, poses).start() for name, frames in bodies.frames.items()}

    @cache
    def batch(name: str, jitter: int) -> np.ndarray:
        """(bodies, entries), of all bodies of a kind."""
        members = bodies.members[name]
        kind = bodies.kinds[members[0]]
        entries = np.zeros((len(members), kind.record.span))
        for field, values in fields[name].items():
            entries[:, kind.record.slice(field)] = values
        q, R = kind.record.slice("q"), kind.record.slice("R")
        if jitter:
            entries[:, q] += 0.1 * np.array([np.random.default_rng([body, jitter]).normal(size=kind.nq) for body in members])
            kind.normalise(entries[:, q])
        entries[:, R] = evaluator(body_kernel(kind, "place"), 1).many(len(members), {1: entries})[:, R]
        return entries

    return lambda body, jitter: batch(bodies.kinds[body].name, jitter)[bodies.place[body]]


def _moved(frames: Placement, bodies: Bodies, kind: str, poses: Mapping[str, Pose]) -> Placement:
    """The frames of all bodies of a kind where they are said to be."""
    if not poses:
        return frames
    members = bodies.members[kind]
    return frames.pick(np.arange(len(members))).put([poses.get(bodies.elements[k].name) for k in members])


def _jacobians(nodes: list[Node], records):
    """jacobians(k): the blocks of node k on its bodies as built."""

    found: dict[int, list[np.ndarray]] = {}

    def find(kind: NodeKind) -> None:
        """Those of all nodes of a kind."""
        members = [k for k, node in enumerate(nodes) if node.kind is kind]
        given = {1: np.array([nodes[k].values for k in members])}
        for i, body in enumerate(kind.kinds):
            if body is not None:
                given[2 + i] = np.array([records(nodes[k].ends[i], 0) for k in members])
        widths = [body.nv if body else 0 for body in kind.kinds]
        evaluate = evaluator(node_jacobian_kernel(kind, 0), kind.behind)
        for k, flat in zip(members, evaluate.many(len(members), given), strict=True):
            found[k] = stacking.blocks_of(flat, kind.size, widths)

    def blocks(k: int) -> list[np.ndarray]:
        if k not in found:
            find(nodes[k].kind)
        return found[k]

    return blocks


def _order(graph, bodies, nodes, ends, jacobians, couplings, pairing=()) -> Order:
    deficient = _deficient(graph, nodes, jacobians)
    rotors, dims = [node.kind.rotors for node in nodes], [kind.nv for kind in bodies.kinds]
    light = {k for k, body in enumerate(bodies.elements) if massless.is_massless(body)}
    return elimination_order(graph, ends, deficient, dims, jacobians, couplings, rotors, light, pairing)


def _deficient(graph, nodes: list[Node], jacobians) -> list[bool]:
    """Of each node whether it may lack rank on its child alone."""
    by_kind: dict[int, list[int]] = {}
    for k, node in enumerate(nodes):
        by_kind.setdefault(id(node.kind), []).append(k)
    found = [False] * len(nodes)
    for members in by_kind.values():
        own = [nodes[k] for k in members]
        if stacking.always_full_rank(own[0].kind):
            continue
        whole = np.array([np.hstack(jacobians(k)) for k in members])
        if len(bad := np.flatnonzero(~np.isfinite(whole).all(axis=(1, 2)))):
            label = checks.label(own[int(bad[0])].elements[-1])
            raise ModelError(f"{label}: its derivative is not finite as built; move its bodies")
        for k, lacks in zip(members, stacking.lacking_rank(own, whole), strict=True):
            found[k] = bool(lacks) or len(nodes[k].ends) > 2 or _waits_for_parent(graph, nodes[k].ends, jacobians(k))
    return found


def _waits_for_parent(graph, ends, blocks: list[np.ndarray]) -> bool:
    """Whether a node of two bodies has a pivot that is much better after both than on its child alone."""
    a, b = ends
    if a == GROUND:
        return False
    squares = [block @ block.T for block in blocks]
    return least_share(squares[graph.parent[b] == a], squares[0] + squares[1]) < GOOD


def _primary(bodies: Bodies, nodes: list[Node], jacobians) -> tuple[Order, dict[int, list[int]]]:
    """How bodies and the nodes that close no loop are eliminated, and their later neighbours; redundant and soft rows are those
    of the whole mechanism. Nodes that name their forces are among neither."""
    n = len(bodies.kinds)
    plain = [k for k, node in enumerate(nodes) if not node.kind.aimed]
    whole, _ = _order_of(plain, bodies, nodes, jacobians)
    found = spanning(n, [nodes[k].ends for k in plain], [nodes[k].kind.size for k in plain])
    order, later = _order_of([plain[k] for k in found], bodies, nodes, jacobians)
    return Order(order.vertices, whole.redundant, whole.soft), later


def _side_by_side(graph, bodies: Bodies, nodes: list[Node], ends, jacobians) -> tuple[Order, dict[int, list[int]]]:
    """Each node just before the first of its bodies, with blocks for these and nothing else. Rows that depend on others are
    looked for where there are few loops, since they are found by eliminating."""
    n = len(bodies.kinds)
    first = [min(moving(together)) for together in ends]
    vertices = sorted([*range(n), *range(n, n + len(nodes))], key=lambda v: (v, 1) if v < n else (first[v - n], 0))
    later: dict[int, list[int]] = {vertex: [] for vertex in vertices}
    later.update({n + k: list(moving(together)) for k, together in enumerate(ends)})
    if graph.loops <= RANKED:
        found = _order(graph, bodies, nodes, ends, jacobians, {})
        return Order(vertices, found.redundant, found.soft), later
    looped = {graph.tree[ends[k][-1]] for k in graph.closing} | graph.trees_held_twice()
    return Order(vertices, {}, {k for k, together in enumerate(ends) if graph.tree[together[-1]] in looped}, False), later


def _order_of(chosen: list[int], bodies: Bodies, nodes: list[Node], jacobians) -> tuple[Order, dict[int, list[int]]]:
    """How bodies and these nodes are eliminated, and their later neighbours."""
    n = len(bodies.kinds)
    own, ends = [nodes[k] for k in chosen], [nodes[k].ends for k in chosen]
    order = _order(forest(n, ends), bodies, own, ends, lambda k: jacobians(chosen[k]), ())
    later = later_neighbours(order.vertices, n, ends)
    name = [*range(n), *[n + k for k in chosen]]
    redundant = {chosen[k]: rows for k, rows in order.redundant.items()}
    named = Order([name[v] for v in order.vertices], redundant, {chosen[k] for k in order.soft})
    return named, {name[v]: [name[w] for w in others] for v, others in later.items()}


def _check_aimed(nodes: list[Node], records, responses: int) -> None:
    """Nodes that name their forces, of which rows and forces must move something, need a solver that has responses."""
    aimed = [node for node in nodes if node.kind.aimed]
    for node in aimed:
        label = checks.label(node.elements[0])
        if not responses:
            raise ModelError(f'{label}: it names the force that holds it, and such rows take the solver "anticipation" alone; '
                             'use lw.Simulation(world, solver="anticipation"), or leave force= out')  # fmt: skip
        given = {1: node.values, **{2 + i: records(end, 0) for i, end in enumerate(node.ends) if end != GROUND}}
        widths = [kind.nv if kind else 0 for kind in node.kind.kinds]
        pulls = evaluator(node_pulls_kernel(node.kind, 0, together=True), node.kind.behind)(given)
        for row, pull in enumerate(np.hstack(stacking.blocks_of(pulls, node.kind.size, widths))):
            if not np.abs(pull).max(initial=0.0) > 1e-9:
                raise ModelError(f"{label}: the force of row {row + 1} moves none of its bodies; name a rate that they have")


def _items(order, later, bodies, nodes, limbs: bool, couplings, implicit: bool):
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


def _place_origins(bodies: Bodies, nodes: list[Node], limb_of) -> None:
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
        where = parameter_record(limb.relation).slice("on_b" if limb.child_is_second else "on_a")
        places = bodies.place[np.array([nodes[k].ends[limb.child] for k in members], dtype=np.int64)]
        local[places] = [nodes[k].values[where] for k in members]
        chosen[places] = True
    frames.place(np.where(chosen[:, None], frames.user_coordinates(local), frames.origin))


def _lay_out(world, options, bodies, nodes, forces, graph, order, items, later, limb_of) -> Model:
    n = len(bodies.kinds)
    body_at, node_at = np.zeros(n, dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
    dims = [kind.nv for kind in bodies.kinds] + [node.kind.size for node in nodes]
    slot_at = np.zeros(len(dims), dtype=np.int64)
    fronts: dict[int, list[int]] = {}
    space = Space(GLOBALS.size)
    for item in items:
        if item.body >= 0:
            space.place(bodies.kinds[item.body].record.size, body_at, item.body)
        if item.node >= 0:
            space.place((item.limb or nodes[item.node].kind).record.size, node_at, item.node)
        vertex = item.body if item.body >= 0 else n + item.node
        if item.limb is None:
            fronts[vertex] = later[vertex]
            space.place((1 + options["pairs"]) * dims[vertex] * sum(dims[other] for other in later[vertex]), slot_at, vertex)
        elif not item.limb.coupled and len(later[vertex]) > 1:
            fronts[vertex] = later[vertex][1:]  # the first is the joint itself
            space.place(tie_rows(item.limb) * sum(dims[other] for other in fronts[vertex]), slot_at, vertex)
    auxiliary = sorted(set(range(len(nodes))) - {item.node for item in items})
    for k in auxiliary:
        space.place(nodes[k].kind.record.size, node_at, k)
        fronts[n + k] = list(moving(nodes[k].ends))
        space.place((1 + nodes[k].kind.aimed) * dims[n + k] * sum(dims[body] for body in fronts[n + k]), slot_at, n + k)
    at = space.close()
    force_at = np.zeros(len(forces), dtype=np.int64)
    for k, force in enumerate(forces):
        force_at[k] = at
        at += force.kind.record.size
    report_at = np.zeros(len(nodes), dtype=np.int64)
    for k, node in enumerate(nodes):
        report_at[k] = at
        at += 3 * node.kind.size
    impulse_at = np.array([at, *(node.kind.size for node in nodes)], dtype=np.int64).cumsum()[:-1]
    at += sum(node.kind.size for node in nodes)
    packed_at, packed_range, rates_range = np.zeros(n, dtype=np.int64), (at, 0), (at, 0)
    if options["packed"]:
        sizes = np.array([kind.nq + kind.nv for kind in bodies.kinds])
        packed_at = at + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        packed_range, rates_range = (at, int(sizes.sum())), (at + int(sizes.sum()), int(sizes.sum()))
        at += 2 * int(sizes.sum())
    scratch = at
    at += max([SCRATCH, *[m.kind.size * (2 + sum(k.nv for k in m.kind.kinds if k)) for m in nodes]])
    gathering = at
    many = [(node.kind, node.kind.size) for node in nodes] + [(force.kind, 1) for force in forces]
    at += max((_gathered(kind, rows, options["pairs"]) for kind, rows in many if len(kind.kinds) > 2), default=0)
    response_at, response_size = at, options["responses"] * sum(dims) if auxiliary else 0
    at += response_size
    area = GradientArea.of(at, bodies, nodes) if options["gradients"] else None
    at += area.size if area else 0
    spots = spots_of(world, bodies, at)
    at = spots[-1].end if spots else at
    parts = _state_parts(bodies, nodes, forces, body_at, node_at, force_at, limb_of, area)
    model = Model(
        world, world.version, options, bodies, nodes, forces, graph, order.redundant, order.ranked, order.soft, items, fronts,
        auxiliary, limb_of, body_at, node_at, force_at, slot_at, report_at, impulse_at,
        _multipliers(nodes, node_at, impulse_at, limb_of), packed_at, packed_range, rates_range, scratch, gathering,
        response_at, area, at, np.array(world.gravity),
        np.concatenate([own for _, own in parts]), tuple((name, len(own)) for name, own in parts if len(own)),
        _commands(forces, force_at),
        _parameters(bodies, nodes, forces, body_at, node_at, force_at, limb_of), _names(bodies, nodes, forces),
        any(force.kind.law.velocity_dependent for force in forces) or _damped(bodies), spots,
    )  # fmt: skip
    return model


def _gathered(kind, rows: int, pairs: bool) -> int:
    """Entries that operations on a node or force and its many bodies copy together: all fields of these, blocks, reports."""
    bodies = [body for body in kind.kinds if body is not None]
    fields = sum(size for body in bodies for _, size in body.record.fields.values())
    velocities = sum(body.nv for body in bodies)
    return fields + (1 + pairs) * (rows * (velocities + 3) + velocities**2)


def _damped(bodies: Bodies) -> bool:
    return any(np.any(getattr(frames, "damping", 0.0)) for frames in bodies.frames.values())


def _state_parts(bodies, nodes, forces, body_at, node_at, force_at, limb_of, area) -> list[tuple[str, np.ndarray]]:
    """Entries that make up the state, and what they are: the names and their order are those of `states.Layout`."""
    parts = [("work", np.array([GLOBALS.offset("work")]))]
    parts.append(("pace", np.array([GLOBALS.offset(name) for name in ("pace", "calm")])))
    for members in bodies.members.values():
        kind = bodies.kinds[members[0]]
        record = kind.record
        span = np.arange(record.offset("q"), record.slice("v").stop)
        sort = states.RIGID if kind.movable_origin else "bodies"
        parts.append((sort, (body_at[np.array(members)][:, None] + span).ravel()))
    history_at, parameters_at = np.zeros_like(node_at), np.zeros_like(node_at)
    for record, members in _by_record(nodes, limb_of):
        history_at[members] = node_at[members] + record.offset("history")
        parameters_at[members] = node_at[members] + record.offset("parameters")
    for record, members in _by_record(nodes, {}):  # the order of a state does not depend on which joints have limbs
        parts.append(("history", (history_at[members][:, None] + np.arange(record["history"][1])).ravel()))
        spans = _turns(0, [part.relation for part in nodes[members[0]].kind.parts])
        parts += [(name, (parameters_at[members][:, None] + span).ravel()) for name, span in spans]
    if area is not None:
        parts.append(("warm", np.arange(*_bounds(0, area["warm"]))))
    for k, force in enumerate(forces):
        parts += _turns(force_at[k], [force.kind.law])
    parts += [(states.COMMANDS, entries) for _, entries in _commands(forces, force_at)]
    return [(name, entries.astype(np.int64)) for name, entries in parts]


def _commands(forces, force_at) -> list[tuple[Element, np.ndarray]]:
    """What takes commands, and the entries that hold them: a number, a position (3), or that and a quaternion (7)."""
    found = []
    for k, force in enumerate(forces):
        layout, at = parameter_record(force.kind.law), int(force_at[k])
        if fields := [*force.kind.law.commands(force.element)]:
            found.append((force.element, np.arange(at + layout.offset(fields[0]), at + layout.slice(fields[-1]).stop)))
    return found


def _by_record(nodes, limb_of):
    """(record, nodes that have it), for all nodes."""
    groups: dict[tuple, list[int]] = {}
    for k, node in enumerate(nodes):
        groups.setdefault((id(node.kind), id(limb_of.get(k))), []).append(k)
    return [((limb_of.get(members[0]) or nodes[members[0]].kind).record, np.array(members)) for members in groups.values()]


def _multipliers(nodes, node_at, impulse_at, limb_of) -> np.ndarray:
    """Where the multipliers of all rows are, in the order of the impulses."""
    found = np.zeros(sum(node.kind.size for node in nodes), dtype=np.uint32)
    for record, members in _by_record(nodes, limb_of):
        offset, size = record["x"]
        rows = (impulse_at[members] - impulse_at[0])[:, None] + np.arange(size)
        found[rows] = node_at[members][:, None] + offset + np.arange(size)
    return found


def _bounds(base, where: slice) -> tuple[int, int]:
    return int(base + where.start), int(base + where.stop)


def _turns(offset, relations) -> list[tuple[str, np.ndarray]]:
    found = []
    for relation in relations:
        layout = parameter_record(relation)
        kept = [*(["turns"] if relation.counters else []), *relation.kept]
        found += [("turns" if name == "turns" else "kept", np.arange(*_bounds(offset, layout.slice(name)))) for name in kept]
        offset += layout.size
    return found


def _parameters(bodies, nodes, forces, body_at, node_at, force_at, limb_of):
    places: dict[str, tuple] = {}

    def note(parameter, entry):
        if parameter.name is None:  # one that only a function knows of
            parameter.name = next(name for k in itertools.count(1) if (name := f"parameter{k}") not in places)
        known = places.setdefault(parameter.name, (parameter, []))
        if known[0] is not parameter:
            raise ModelError(f'Parameter "{parameter.name}": two parameters have this name; rename one of them')
        known[1].append(entry)

    for name, frames in bodies.frames.items():
        if frames.parameters is not None:
            members = bodies.members[name]
            offsets = body_at[np.array(members)] + bodies.kinds[members[0]].record.offset("user")
            for (k, entry), parameter in np.ndenumerate(frames.parameters):
                note(parameter, offsets[k] + entry)
    for k, node in enumerate(nodes):
        offset = node_at[k] + (limb_of.get(k) or node.kind).record.offset("parameters")
        for entry, parameter in node.slots:
            note(parameter, offset + entry)
    for k, force in enumerate(forces):
        for entry, parameter in force.slots:
            note(parameter, force_at[k] + entry)
    return {name: (parameter, np.array(entries, dtype=np.int64)) for name, (parameter, entries) in places.items()}


def _names(bodies, nodes, forces) -> dict[str, tuple[str, int, int]]:
    names = {body.name: ("body", k, 0) for k, body in enumerate(bodies.elements)}
    for k, node in enumerate(nodes):
        for part, element in enumerate(node.elements):
            names[element.name] = ("constraint", k, part)
    for k, force in enumerate(forces):
        names[force.element.name] = ("force", k, 0)
    return names
