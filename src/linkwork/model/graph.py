"""The graph of bodies and constraint nodes: components, trees, an elimination order that knows ranks, and its fill.

Vertices 0..n-1 are bodies, n.. are constraint nodes. The ground is no vertex. A *plain* component needs no numbers:
children before parents, each body followed by its joint. Elsewhere (several ground joints, blocks that lack rank) the
order is found by eliminating with unit masses at the configuration as built: a constraint is eliminated as soon as
its pivot is regular, and waits for its other body until then; one with many bodies waits until a single one is left, since
what is eliminated couples all that it was joined to. Rank does not depend on the masses. Where loops close, the body with
the fewest neighbours comes next, which keeps the fill low. A body that can goes together with a joint (a limb), and the
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

GROUND = -1
Ends = tuple[int, ...]  # the bodies of a node
REGULAR = 1e-9  # smallest eigenvalue of a pivot, relative to its rows, that counts as regular
COUPLED = 1e-6  # largest entry of a block, relative to its rows, that counts as none
GOOD = 1e-3  # and relative to what it would be after its other bodies: below, it waits for them ...
LOADED = 1e-5  # ... once bodies carry what hangs on them: in a row of n loops the share is about 1/n


def least_share(part: np.ndarray, whole: np.ndarray) -> float:
    """The smallest eigenvalue of the pivot `part` relative to the pivot `whole`, both positive semidefinite."""
    values, vectors = np.linalg.eigh(whole)
    root = vectors / np.sqrt(np.maximum(values, 1e-14 * max(values[-1], 1e-300)))
    return float(np.linalg.eigvalsh(root.T @ part @ root)[0])


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
    bodies = len(dims)
    woven = _woven_trees(graph, ends, couplings)
    plain = [True] * graph.trees
    grounds = [0] * graph.trees
    for body in graph.order:
        grounds[graph.tree[body]] += len(graph.ground_nodes[body])
        if graph.ground_nodes[body] and graph.parent[body] >= 0:
            plain[graph.tree[body]] = False
    for tree, count in enumerate(grounds):
        if count > 1:
            plain[tree] = False
    for k, together in enumerate(ends):
        if deficient[k]:
            plain[graph.tree[together[-1]]] = False
    seats: dict[int, list[int]] = {}  # body -> nodes with which it may be eliminated
    for k in pairing:
        for body in set(moving(ends[k])).difference(massless):
            seats.setdefault(body, []).append(k)
    order: list[int] = []
    hard: dict[int, _Numeric] = {}
    for body in graph.order:
        tree = graph.tree[body]
        if tree in woven:
            continue
        own = [*graph.ground_nodes[body], *([graph.joint[body]] if graph.joint[body] >= 0 else [])]
        if plain[tree]:
            order.append(body)
            order += [bodies + k for k in own]
        else:
            if tree not in hard:
                hard[tree] = _Numeric(bodies, dims, ends, jacobians, rotors, seats)
            order += hard[tree].eliminate(body, own)
    members = [body for body in range(bodies) if graph.tree[body] in woven]
    tangled = _Numeric(bodies, dims, ends, jacobians, rotors, seats)
    order += _woven_order(members, ends, couplings, tangled, massless)
    for numeric in (*hard.values(), tangled):
        order += numeric.finish()
    redundant = {k: rows for numeric in (*hard.values(), tangled) for k, rows in numeric.redundant.items()}
    soft_trees = {graph.tree[ends[k][-1]] for k in (*graph.closing, *redundant)}
    soft_trees |= {tree for tree, count in enumerate(grounds) if count > 1}
    return Order(order, redundant, {k for k, b in enumerate(ends) if graph.tree[b[-1]] in soft_trees})


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


def _woven_order(members: list[int], ends, couplings, numeric: _Numeric, massless: Collection[int]) -> list[int]:
    """Always the body with the fewest neighbours next, which keeps the fill low; of several the one whose neighbours changed
    last, so that long mechanisms are gone through from end to end and not by halves, again and again; constraints as soon as
    they can be. Where bodies go with joints the ground counts as a neighbour and the farthest from it is first: rows that wait
    for other bodies soon find some that can move. A massless one waits until a single neighbour is left, the ground being one,
    or until nothing else can go."""
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
    depth = _depths(len(numeric.dims), ends)

    def entry(body: int, turn: int) -> tuple[int, int, int, int]:
        if not numeric.seats:
            return len(neighbours[body]), turn, 0, body
        return len(neighbours[body]) + grounded[body], turn, -depth[body], body

    heap = [entry(body, 0) for body in neighbours]
    heapify(heap)
    order: list[int] = []
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
        order += numeric.eliminate(body, nodes[body])
    return order


class _Numeric:
    """Elimination of one component with unit masses, to see which pivots are regular."""

    def __init__(self, bodies, dims, ends, jacobians, rotors, seats):
        self.bodies, self.dims, self.ends, self.jacobians, self.rotors = bodies, dims, ends, jacobians, rotors
        self.seats = seats
        self.gone: set[int] = set()  # bodies
        self.D: dict[int, np.ndarray] = {}
        self.H: dict[int, dict[int, np.ndarray]] = {}  # active vertex -> {other: block (own x other)}
        self.scale: dict[int, float] = {}
        self.waiting: list[int] = []
        self.changed: set[int] = set()  # waiting nodes that may have become ready since they were looked at
        self.touched: set[int] = set()  # nodes that are or were in the graph
        self.redundant: dict[int, int] = {}  # node -> rows that depend on others

    def _touch_body(self, body):
        if body not in self.D:
            self.D[body] = np.eye(self.dims[body])
            self.H[body] = {}

    def _touch_node(self, k) -> bool:
        """Put node k and its blocks into the graph, if it has not been there yet."""
        vertex = self.bodies + k
        if vertex in self.touched:
            return False
        self.touched.add(vertex)
        blocks = self.jacobians(k)
        m = blocks[-1].shape[0]
        self.D[vertex], self.H[vertex] = np.zeros((m, m)), {}
        for row in self.rotors[k] if self.rotors else ():
            self.D[vertex][row, row] = -1.0
        for body, J in zip(self.ends[k], blocks, strict=True):
            if body != GROUND:
                self._touch_body(body)
                self.H[vertex][body] = J
                self.H[body][vertex] = J.T.copy()
        self.changed.add(vertex)
        self.scale[vertex] = max(float(np.abs(J).max(initial=0.0)) for J in blocks) ** 2 or 1.0
        return True

    def eliminate(self, body, own) -> list[int]:
        """Eliminate a body, with a joint if it can be, then every waiting constraint that can be. `own`: its nodes, the one
        upwards last."""
        self._touch_body(body)
        seat = self._seat(body)
        fresh = [self.bodies + k for k in own if self._touch_node(k)]
        done = [body]
        self._remove(body)
        self.gone.add(body)
        if seat is not None:
            fresh.remove(self.bodies + seat)
            self._remove(self.bodies + seat)
            done.append(self.bodies + seat)
        self.waiting = [*fresh[:-1], *self.waiting, *fresh[-1:]]
        progress = True
        while progress:
            progress = False
            for vertex in list(self.waiting):
                if vertex not in self.changed:
                    continue
                self.changed.discard(vertex)
                if self._ready(vertex):
                    self._remove(vertex)
                    self.waiting.remove(vertex)
                    done.append(vertex)
                    progress = True
        return done

    def _open_seats(self, body) -> list[int]:
        """Nodes with which a body may be eliminated, since nothing else has touched them."""
        return [k for k in self.seats.get(body, ()) if self.gone.isdisjoint(self.ends[k])]

    def _seat(self, body) -> int | None:
        """Of these the one that leaves the fewest rows and velocities behind; none to a body that others couple with it."""
        left = {}
        for k in self._open_seats(body):
            (other,) = [b for b in self.ends[k] if b != body]
            if other not in self.H[body]:
                left[k] = (0 if other == GROUND else self.dims[other]) - self.jacobians(k)[-1].shape[0]
        return min(left, key=left.__getitem__, default=None)

    def _waits(self, vertex) -> bool:
        """Whether a constraint would couple several, and may have fewer rows to couple them by once its other body is gone."""
        k = vertex - self.bodies
        there = [b for b in self.ends[k] if b != GROUND and b not in self.gone]
        return len(self.H[vertex]) > 1 and any(self._open_seats(b) not in ([], [k]) for b in there)

    def finish(self) -> list[int]:
        """Constraints that wait for each other when no body is left, being nearly redundant: the most regular ones first."""
        done = []
        while self.waiting:
            vertex = max(self.waiting, key=lambda v: np.linalg.eigvalsh(-self.D[v])[0] / self.scale[v])
            self._make_regular(vertex)
            self._remove(vertex)
            self.waiting.remove(vertex)
            done.append(vertex)
        return done

    def _make_regular(self, vertex) -> None:
        """Count directions in which a pivot is singular as redundant, and make it regular there."""
        values, vectors = np.linalg.eigh(-self.D[vertex])
        flat = vectors[:, ~(values > REGULAR * self.scale[vertex])]
        if flat.shape[1]:
            self.redundant[vertex - self.bodies] = flat.shape[1]
            self.D[vertex] = self.D[vertex] - self.scale[vertex] * flat @ flat.T

    def _ready(self, vertex) -> bool:
        """Whether a constraint's pivot is regular, and not much better after the bodies that it still has. Directions that
        nothing left could make regular are redundant."""
        if self._waits(vertex):
            return False
        pivot, scale = -self.D[vertex], self.scale[vertex]
        values, vectors = np.linalg.eigh(pivot)
        flat = vectors[:, ~(values > REGULAR * scale)]
        if flat.shape[1]:
            if any(np.abs(flat.T @ block).max(initial=0.0) > COUPLED * np.sqrt(scale) for block in self.H[vertex].values()):
                return False
            self._make_regular(vertex)
            return True
        others = [body for body in self.H[vertex] if body < self.bodies]
        if not others:
            return True
        if len(others) > 1 and len(self.ends[vertex - self.bodies]) > 2:
            return False  # all of them would be coupled
        later = sum(self.H[vertex][b] @ np.linalg.solve(self.D[b], self.H[b][vertex]) for b in others)
        return least_share(pivot, pivot + later) > LOADED

    def _remove(self, vertex):
        D, blocks = self.D.pop(vertex), self.H.pop(vertex)
        U = {other: np.linalg.solve(D, H) for other, H in blocks.items()}
        for i, Hi in blocks.items():
            del self.H[i][vertex]
            self.changed.update([i] if i >= self.bodies else [k for k in self.H[i] if k >= self.bodies])
            for j in blocks:
                if i == j:
                    self.D[i] = self.D[i] - Hi.T @ U[i]
                else:
                    self.H[i][j] = self.H[i].get(j, 0) - Hi.T @ U[j]


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
