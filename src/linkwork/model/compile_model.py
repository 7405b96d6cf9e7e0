"""World -> Model: validate, group, order, lay out. A table of contents first, its steps below."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.elements.constraints.ramped import Ramp
from linkwork.elements.core import checks
from linkwork.elements.core.element import Pose
from linkwork.elements.core.placement import Placement
from linkwork.elements.core.registry import kind_for
from linkwork.errors import ModelError
from linkwork.kernels.body_kernels import body_kernel
from linkwork.kernels.joint_elimination import has_joint_pivot
from linkwork.kernels.node import NodeKind
from linkwork.kernels.node_kernels import node_jacobian_kernel, node_pulls_kernel
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model import massless
from linkwork.model import nodes as stacking
from linkwork.model.graph import GROUND, Order, elimination_order, forest, later_neighbours, moving, spanning
from linkwork.model.layout import lay_out
from linkwork.model.measures import measures_of, renumber_measures
from linkwork.model.model import Model
from linkwork.model.nodes import Bodies, Node, evaluator
from linkwork.model.pivots_as_one import elimination_items, place_origins
from linkwork.model.rank_elimination import least_share
from linkwork.util.resources import no_collection

NONE: Mapping = MappingProxyType({})
GOOD = 1e-3  # smallest share of a pivot on the child alone, in that on both bodies, that need not wait for the parent
RANKED = 200  # loops up to which redundant rows are looked for where nothing is eliminated


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
    kept = [stacking.kept_rows(g, n, records) for g, n in zip(groups, numbers, strict=True)]
    nodes = stacking.stacked(groups, numbers, kept, count)
    _check_aimed(nodes, records, responses)
    ends = [node.ends for node in nodes]
    graph = forest(len(bodies.kinds), ends)
    jacobians = _jacobians(nodes, records)
    force_groups = stacking.grouped(world.forces, bodies)
    measures = measures_of(world, bodies, records)
    couplings = _couplings(force_groups, ends, coupled)
    if responses:
        order, later = _primary(bodies, nodes, jacobians)
    elif gradients:
        order, later = _side_by_side(graph, bodies, nodes, ends, jacobians)
    else:
        if order is None or couplings:
            pairing = [k for k, node in enumerate(nodes) if has_joint_pivot(node.kind)] if limbs and not coupled else []
            order = _order(graph, bodies, nodes, ends, jacobians, couplings, pairing)
        later = later_neighbours(order.vertices, len(bodies.kinds), ends, couplings)
    items, joint_pivot_of = elimination_items(order.vertices, later, bodies, nodes, limbs, couplings, bool(coupled))
    if not options["whole"]:
        massless.check_eliminated(bodies, items, limbs, bool(coupled))
    if joint_pivot_of:  # origins move to the joints, so the numbers are computed once more
        place_origins(bodies, nodes, joint_pivot_of)
        stacking.renumber(nodes, [stacking.numbers_of(group, bodies) for group in groups])
        renumber_measures(measures, bodies)
    forces = stacking.force_nodes(force_groups, [stacking.numbers_of(g, bodies) for g in force_groups])
    return lay_out(world, options, bodies, nodes, forces, measures, graph, order, items, later, joint_pivot_of)


def _couplings(force_groups, ends, coupled: str) -> dict[tuple[int, int], bool]:
    """Pairs of bodies (the lower first) between which a model has blocks of its own; whether all that couples them is their
    turning."""
    found = [(pair, group.kind.turns_only) for group in force_groups for several in group.ends
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
    for body, kind in zip(elements, kinds, strict=True):
        if kind.key != (other := lookup[kind.name]).key:
            both = f"its kind {type(kind).__qualname__} and {type(other).__qualname__}"
            raise ModelError(f'{checks.label(body)}: {both} both have the name "{kind.name}"; give one of them another name')
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
        entries[:, R] = evaluator(body_kernel(kind, BodyKernel.UPDATE_POSE), 1).many(len(members), {1: entries})[:, R]
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
        """Write the Jacobians of all nodes of a kind, in one call of its kernel."""
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
    plain = [k for k, node in enumerate(nodes) if not node.kind.force_directed]
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
    aimed = [node for node in nodes if node.kind.force_directed]
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
