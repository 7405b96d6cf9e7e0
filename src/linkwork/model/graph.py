"""The graph of bodies and constraint nodes: components, trees, an elimination order that knows ranks, and its fill.

Vertices 0..n-1 are bodies, n.. are constraint nodes. The ground is no vertex. A *plain* component needs no numbers:
children before parents, each body followed by its joint. Elsewhere (several ground joints, blocks that lack rank) the
order is found by eliminating with unit masses at the configuration as built (pivots.py): a constraint is eliminated as soon as
its pivot is regular, and waits for its other body until then; one with many bodies waits until a single one is left, since
what is eliminated couples all that it was joined to. Rank does not depend on the masses. Where loops close, the body with
the fewest neighbours comes next, which keeps the fill low. A body that can goes together with a joint (a joint pivot), and the
constraints that close loops on it wait for their other body, if that can go so too: rows fill less than bodies. Rows that no
body left can make regular are redundant: they are noted, and eliminated with a pivot that is made regular, as all nodes of
their component are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import permutations

import numpy as np

from linkwork.model.rank import eliminated

GROUND = -1
Ends = tuple[int, ...]  # the bodies of a node


@dataclass
class Order:
    """How a graph is eliminated."""

    vertices: list[int]
    redundant: dict[int, int]  # node -> how many of its rows depend on others as built
    soft: set[int]  # nodes whose pivots are made regular: of components with loops (the ground counts) or redundant rows
    ranked: bool = True  # redundant rows were looked for


@dataclass
class Forest:
    """Rooted trees over the bodies, and the nodes that close loops on them."""

    order: list[int]  # bodies, children before parents
    parent: list[int]  # of each body: its parent body, or -1
    joint: list[int]  # of each body: the node to its parent, or -1
    tree: list[int]  # of each body: the number of its tree
    trees: int
    ground_nodes: list[list[int]] = field(default_factory=list)  # of each body
    closing: dict[int, int] = field(default_factory=dict)  # node that does not hang all its bodies on one -> loops it closes

    @property
    def ground_loops(self) -> int:
        """Loops that close through the ground: its nodes beyond the first of each tree."""
        return sum(len(nodes) for nodes in self.ground_nodes) - len(
            {tree for tree, nodes in zip(self.tree, self.ground_nodes, strict=True) if nodes}
        )

    def trees_held_twice(self) -> set[int]:
        """Trees with loops through the ground."""
        held = Counter(tree for tree, nodes in zip(self.tree, self.ground_nodes, strict=True) for _ in nodes)
        return {tree for tree, count in held.items() if count > 1}

    @property
    def loops(self) -> int:
        return sum(self.closing.values()) + self.ground_loops


def moving(ends: Ends) -> Ends:
    """The bodies of a node without the ground, which comes first."""
    return ends[1:] if ends[0] == GROUND else ends


def forest(bodies: int, ends: list[Ends]) -> Forest:
    """Trees that span the bodies; ends[k]: the bodies of node k, the ground first. A node of many bodies hangs all others on
    the one from which it is reached."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(bodies)]
    grounded: list[list[int]] = [[] for _ in range(bodies)]
    for k, together in enumerate(ends):
        if together[0] == GROUND:
            grounded[together[-1]].append(k)
        for a, b in permutations(moving(together), 2):
            neighbours[a].append((b, k))
    parent, joint, tree = [-1] * bodies, [-1] * bodies, [-1] * bodies
    preorder: list[int] = []
    trees = 0
    roots = sorted(range(bodies), key=lambda b: not grounded[b])  # bodies on the ground first
    for root in roots:
        if tree[root] >= 0:
            continue
        stack = [(root, -1, -1)]
        while stack:
            body, above, via = stack.pop()
            if tree[body] >= 0:
                continue  # it was reached another way
            tree[body], parent[body], joint[body] = trees, above, via
            preorder.append(body)
            for other, k in reversed(neighbours[body]):
                if k != via and tree[other] < 0:
                    stack.append((other, body, k))
        trees += 1
    closing = {}
    for k, together in enumerate(ends):
        hanging = sum(joint[b] == k for b in moving(together))
        if hanging < len(moving(together)) - 1:
            closing[k] = len(moving(together)) - 1 - hanging
    return Forest(preorder[::-1], parent, joint, tree, trees, grounded, closing)


def spanning(bodies: int, ends: list[Ends], rows: list[int]) -> list[int]:
    """Nodes that close no loop, the ground's included, with as many rows as there can be: a tree that hangs on the ground once,
    and is shallow where there is a choice."""
    depth = _depths(bodies, ends)
    component = list(range(bodies + 1))  # the ground, GROUND, is the last

    def root(body: int) -> int:
        while component[body] != body:
            component[body] = body = component[component[body]]
        return body

    chosen = []
    for k in sorted(range(len(ends)), key=lambda k: (-rows[k], min(depth[b] for b in ends[k]), k)):
        roots = {root(body if body != GROUND else bodies) for body in ends[k]}
        if len(roots) == len(ends[k]):
            chosen.append(k)
            for other in roots:
                component[other] = min(roots)
    return sorted(chosen)


def _depths(bodies: int, ends: list[Ends]) -> list[int]:
    """Of each body: nodes between it and the ground, or the first body of what floats; the last entry is the ground's."""
    nodes: list[list[int]] = [[] for _ in range(bodies + 1)]
    for k, together in enumerate(ends):
        for body in together:
            nodes[body].append(k)
    depth, seen = [-1] * (bodies + 1), set()
    for start in (GROUND, *range(bodies)):
        if depth[start] >= 0:
            continue
        depth[start], layer = 0, [start]
        while layer:
            fresh = []
            for k in (k for body in layer for k in nodes[body] if k not in seen):
                seen.add(k)
                fresh += [other for other in ends[k] if depth[other] < 0]
                for other in ends[k]:
                    depth[other] = depth[layer[0]] + 1 if depth[other] < 0 else depth[other]
            layer = fresh
    return depth


def elimination_order(
    graph: Forest, ends: list[Ends], deficient: list[bool], dims: list[int],
    jacobians: Callable[[int], list[np.ndarray]], couplings: Iterable[tuple[int, int]] = (),
    rotors: list[list[int]] | None = None, massless: Collection[int] = (), pairing: Collection[int] = (),
) -> Order:  # fmt: skip
    """The vertices in the order in which they are eliminated. deficient[k]: node k may lack rank on its child alone; rotors[k]:
    its rows that turn something and hold nothing; massless: bodies that come after all that they carry; pairing: nodes that
    may be eliminated together with either of their bodies.

    jacobians(k) gives the blocks of node k on its bodies; it is asked only where a component is not plain. `couplings`:
    pairs of bodies that forces join; where these are not parent and child, the trees they weave together come last.
    """
    bodies, woven, held_twice = len(dims), _woven_trees(graph, ends, couplings), graph.trees_held_twice()
    plain = set(range(graph.trees)) - woven - held_twice - _with_ground_below(graph)
    plain -= {graph.tree[together[-1]] for together, lacks in zip(ends, deficient, strict=True) if lacks}
    seats: dict[int, list[int]] = {}  # body -> nodes with which it may be eliminated
    for k in pairing:
        for body in set(moving(ends[k])).difference(massless):
            seats.setdefault(body, []).append(k)
    order: list[int] = []
    tangled: list[tuple[int, list[int]]] = []  # bodies and their nodes
    for body in graph.order:
        nodes = [*graph.ground_nodes[body], *([graph.joint[body]] if graph.joint[body] >= 0 else [])]
        if graph.tree[body] in plain:
            order += [body, *(bodies + k for k in nodes)]
        elif graph.tree[body] not in woven:
            tangled.append((body, nodes))
    members = [body for body in range(bodies) if graph.tree[body] in woven]
    tangled += _woven_order(members, ends, couplings, massless, _depths(bodies, ends) if seats else None)
    found, redundant = [], {}
    if tangled:
        found, redundant = _by_pivots(tangled, ends, dims, jacobians, rotors or [[] for _ in ends], seats)
    soft_trees = {graph.tree[ends[k][-1]] for k in (*graph.closing, *redundant)} | held_twice
    return Order(order + found, redundant, {k for k, b in enumerate(ends) if graph.tree[b[-1]] in soft_trees})


def _with_ground_below(graph: Forest) -> set[int]:
    """Trees in which a body that hangs on another is held by the ground as well."""
    return {
        tree for tree, nodes, parent in zip(graph.tree, graph.ground_nodes, graph.parent, strict=True) if nodes and parent >= 0
    }


def _by_pivots(tangled: list[tuple[int, list[int]]], ends: list[Ends], dims: list[int], jacobians, rotors, seats):
    """The order of bodies and their nodes, and redundant rows, by eliminating."""
    asked = {k for _, nodes in tangled for k in nodes}
    blocks = [jacobians(k) if k in asked else [] for k in range(len(ends))]
    rows = [several[-1].shape[0] if several else 0 for several in blocks]
    own = [several[len(several) - len(moving(ends[k])) :] for k, several in enumerate(blocks)]
    bodies = [moving(together) if k in asked else () for k, together in enumerate(ends)]
    turning, many = [(k, row) for k in sorted(asked) for row in rotors[k]], [len(together) > 2 for together in ends]
    sequence, nodes = [body for body, _ in tangled], [several for _, several in tangled]
    with_joints = [seats.get(body, []) if body in set(sequence) else [] for body in range(len(dims))]
    return eliminated(sequence, nodes, with_joints, bodies, own, many, turning, [*dims, *rows])


def _woven_trees(graph: Forest, ends: list[Ends], couplings: Iterable[tuple[int, int]]) -> set[int]:
    """Trees with loops; trees in which, or between which, forces join bodies that are not parent and child; and all that
    forces join to those."""
    joined: dict[int, set[int]] = {}
    woven = {graph.tree[ends[k][-1]] for k in graph.closing}
    for a, b in couplings:
        joined.setdefault(graph.tree[a], set()).add(graph.tree[b])
        joined.setdefault(graph.tree[b], set()).add(graph.tree[a])
        if graph.parent[a] != b and graph.parent[b] != a:
            woven |= {graph.tree[a], graph.tree[b]}
    waiting = list(woven)
    while waiting:
        for tree in joined.get(waiting.pop(), set()) - woven:
            woven.add(tree)
            waiting.append(tree)
    return woven


def _woven_order(
    members: list[int], ends, couplings, massless: Collection[int], depth: list[int] | None
) -> list[tuple[int, list[int]]]:
    """Bodies and their nodes: always the body with the fewest neighbours next, which keeps the fill low; of several the one
    whose neighbours changed last, so that long mechanisms are gone through from end to end and not by halves, again and again.
    Where bodies go with joints (depth: how far each is from the ground) the ground counts as a neighbour and the farthest from
    it is first: rows that wait for other bodies soon find some that can move. A massless one waits until a single neighbour is
    left, the ground being one, or until nothing else can go."""
    inside = set(members)
    neighbours: dict[int, set[int]] = {body: set() for body in members}
    nodes: dict[int, list[int]] = {body: [] for body in members}
    for k, together in enumerate(ends):
        for body in inside.intersection(together):
            nodes[body].append(k)
            neighbours[body].update(b for b in moving(together) if b != body)
    for a, b in couplings:
        if a in inside and b in inside:
            neighbours[a].add(b)
            neighbours[b].add(a)
    grounded = {body: any(ends[k][0] == GROUND for k in nodes[body]) for body in members}

    def entry(body: int, turn: int) -> tuple[int, int, int, int]:
        if depth is None:
            return len(neighbours[body]), turn, 0, body
        return len(neighbours[body]) + grounded[body], turn, -depth[body], body

    heap = [entry(body, 0) for body in neighbours]
    heapify(heap)
    order: list[tuple[int, list[int]]] = []
    early: list[tuple[int, int, int, int]] = []  # massless ones that had to wait
    while neighbours:
        patient = bool(heap)
        found = heappop(heap if patient else early)
        body = found[-1]
        if body not in neighbours or entry(body, found[1]) != found:
            continue  # an entry of the past
        if patient and body in massless and len(neighbours[body]) + grounded[body] > 1:
            heappush(early, found)
            continue
        others = neighbours.pop(body)
        for other in others:
            neighbours[other] = (neighbours[other] | others) - {other, body}
            heappush(heap, entry(other, -len(order) - 1))
        order.append((body, nodes[body]))
    return order


def later_neighbours(
    order: list[int], bodies: int, ends: list[Ends], couplings: Iterable[tuple[int, int]] = ()
) -> dict[int, list[int]]:
    """For each vertex its later neighbours in the order of elimination, fill included. `couplings`: pairs of bodies that
    forces join directly."""
    place = {vertex: k for k, vertex in enumerate(order)}
    adjacent: dict[int, set[int]] = {vertex: set() for vertex in order}
    for k, pair in enumerate(ends):
        for body in pair:
            if body != GROUND:
                first, second = (body, bodies + k) if place[body] < place[bodies + k] else (bodies + k, body)
                adjacent[first].add(second)
    for pair in couplings:
        first, second = sorted(pair, key=place.__getitem__)
        adjacent[first].add(second)
    later: dict[int, list[int]] = {}
    for vertex in order:
        found = sorted(adjacent[vertex], key=place.__getitem__)
        later[vertex] = found
        if len(found) > 1:  # what is left of a clique belongs to its first member
            adjacent[found[0]].update(found[1:])
    return later
