"""Distances of collision shapes on a tree, with gradients in joint coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.collision.collider_table import GROUND, ROUTINES, Placed, compile_colliders, scratch_for
from linkwork.collision.convex import convex_convex
from linkwork.collision.layout import FIELD, HULL, KIND, MESH, SPHERE
from linkwork.collision.pair_dispatch import address_of
from linkwork.elements import Collider, NoContact
from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element
from linkwork.errors import ElementError, ModelError
from linkwork.reduced.kinematics import forward_kinematics, jacobian
from linkwork.reduced.run_on_states import frame_places, numbers_in
from linkwork.reduced.shape_distances import measure

if TYPE_CHECKING:
    from linkwork.reduced.tree import Tree
    from linkwork.util.array_types import FloatArray, IntArray, Numbers

Pairs = tuple[tuple[str, str], ...]


class Distances(NamedTuple):
    """Of m pairs of shapes; for arrays of states all but the names have one more axis in front.

    >>> Distances((("hand", "table"),), *[np.zeros(1)] * 5).names
    (('hand', 'table'),)
    """

    names: Pairs  # of colliders, or of the bodies whose own shapes they are
    distance: FloatArray  # (m,), m: negative where they overlap
    gradient: FloatArray  # (m, nv): its rate by qd
    normal: FloatArray  # (m, 3): from the first to the second
    on_first: FloatArray  # (m, 3), m, world: where the first is nearest to the second, or deepest in it
    on_second: FloatArray  # (m, 3)


class Shapes:
    """The collision shapes of a tree, as `collision` has them."""

    def __init__(self, tree: Tree) -> None:
        whole = getattr(tree.world, "whole", tree.world)
        numbers: dict[Any, int] = {body: k for k, (body, _, _) in enumerate(tree.bodies)}
        numbers[whole.ground] = GROUND
        contacts: Iterable[Any] = getattr(tree.world, "contacts", whole.contacts)
        colliders = [c for c in contacts if c.touched and c.body in numbers]
        found: list[tuple[Any, Any, Placed]] = []
        for body, _, _ in tree.bodies:
            if body.shape is not None:
                found.append((body, body, Placed(body.shape, numbers[body], body.com.tolist(), name=body.name)))
        for c in colliders:
            found.append((c, c.body, _on_body(c, numbers[c.body])))
        self.elements, self.bodies = [source for source, _, _ in found], [body for _, body, _ in found]
        self.links = [-1 if body is whole.ground else tree.bodies[numbers[body]][1] for body in self.bodies]
        self.names = [str(source.name) for source in self.elements]
        self.tree, self.whole = tree, whole
        self.geometry = compile_colliders([placed for _, _, placed in found])
        self.scratch = scratch_for(self.geometry)
        self.kinds = self.geometry.labels[:, KIND].tolist()
        self.routine = np.zeros((FIELD + 1, FIELD + 1), dtype=np.int64)

    def prepare(self, pairs: IntArray) -> None:
        """Have routines for all pairs; refuse shapes that are surfaces."""
        for a, b in pairs.tolist():
            for k in (a, b):
                if self.kinds[k] in (MESH, FIELD):
                    shape = type(getattr(self.elements[k], "shape", None)).__name__
                    checks.fail(self.elements[k], f"a {shape} is a surface, and distances are those of solids",
                                "give a ConvexHull, or leave it out of the pairs")  # fmt: skip
            one, other = sorted((self.kinds[a], self.kinds[b]))
            if not self.routine[one, other]:
                self.routine[one, other] = address_of(
                    convex_convex if one >= SPHERE and other <= HULL else ROUTINES[one, other]
                )

    def pairs(self) -> IntArray:
        """Those that can come nearer to each other: on links that no joint connects, of different groups, and which no
        NoContact names."""
        near, apart = self._neighbours(), self._told_apart()
        found = [
            (a, b)
            for a, b in combinations(range(len(self.names)), 2)
            if self.links[a] != self.links[b]
            and (self.links[a], self.links[b]) not in near
            and (self.links[b], self.links[a]) not in near
            and not self._share_group(a, b)
            and (a, b) not in apart
            and not {self.kinds[a], self.kinds[b]} & {MESH, FIELD}
        ]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _share_group(self, a: int, b: int) -> bool:
        groups = [getattr(self.elements[k], "group", None) for k in (a, b)]
        return groups[0] is not None and groups[0] == groups[1]

    def _neighbours(self) -> set[tuple[int, int]]:
        """(link, the next one inwards that has mass or a shape)."""
        found, bare = set(), [mass == 0.0 and i not in self.links for i, (mass, _, _) in enumerate(self.tree.masses)]
        for i, link in enumerate(self.tree.links):
            above = link.parent
            while above >= 0 and bare[above]:
                above = self.tree.links[above].parent
            if not link.kind.floats:
                found.add((i, above))
        return found

    def _told_apart(self) -> set[tuple[int, int]]:
        found = set()
        for element in getattr(self.tree.world, "contacts", self.whole.contacts):
            if isinstance(element, NoContact):
                members = [self.of(item) for item in element.bodies]
                found |= {(min(a, b), max(a, b)) for one, other in combinations(members, 2) for a, b in product(one, other)}
        return found

    def of(self, item: Any) -> list[int]:
        """The shapes that are meant: a Collider, or all on a body."""
        return [
            k for k, (source, body) in enumerate(zip(self.elements, self.bodies, strict=True)) if item is source or item is body
        ]

    def named(self, pairs: Any) -> IntArray:
        """Pairs as users name them: of colliders or bodies, of which all shapes are meant."""
        found = []
        for pair in checks.several("distances", "pairs", pairs, "pairs of names"):
            if isinstance(pair, str | Element) or not isinstance(pair, Iterable) or len(both := list(pair)) != 2:
                raise ElementError(
                    f'distances: a pair is {checks.show(pair)}; give two bodies or colliders, such as ("hand", "base")'
                )
            sides = []
            for item in both:
                element = self.whole.find(item)
                sides.append(self.of(element))
                if not sides[-1]:
                    known = "it has no shape" if isinstance(element, Body) else "it is no body and no collider of this tree"
                    raise ModelError(f"{checks.label(element)}: {known}; give it one, or name another")
            found += list(product(*sides))
        return np.array(found, dtype=np.int64).reshape(-1, 2)


def _on_body(collider: Collider, number: int) -> Placed:
    where = collider.position.tolist(), collider.orientation.tolist()
    return Placed(collider.shape, number, *where, name=collider.name)


def collision_pairs(tree: Tree) -> Pairs:
    """The pairs of shapes, by name, that can come nearer to each other: all but those on one link, on links that a joint
    connects, of one group, and those that a NoContact names. Meshes and height fields, which are surfaces, are in none.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> stones = [world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(k, 0, 0), name=f"stone{k}")) for k in range(3)]
    >>> pin = world.add(lw.Ball("stone0", "stone1", at=(0.5, 0, 0)))
    >>> lw.reduced.collision_pairs(lw.reduced.compile(world))
    (('stone0', 'stone2'), ('stone1', 'stone2'))
    """
    shapes = frame_places(tree).shapes
    return tuple((shapes.names[a], shapes.names[b]) for a, b in shapes.pairs().tolist())


def distances(tree: Tree, q: Numbers, pairs: Iterable[tuple[Any, Any]] | None = None) -> Distances:
    """Distances of pairs of collision shapes (of `collision_pairs` unless told), negative where they overlap, and their
    gradients. A pair names colliders or bodies, by which all shapes on them are meant. One state, or an array of states.

    Where two flat sides are parallel, or what overlaps is as deep in two directions, a distance has no gradient: it is that of
    one of the nearest points.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> ball = world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(1, 0, 0), name="ball"))
    >>> rail = world.add(lw.Slider(world.ground, ball, at=(0, 0, 0), axis=(1, 0, 0)))
    >>> post = world.add(lw.Collider(world.ground, lw.Box(0.2, 0.2, 1.0), position=(3, 0, 0), name="post"))
    >>> found = lw.reduced.distances(lw.reduced.compile(world), [0.5], [("ball", "post")])
    >>> found.distance.round(9), found.gradient.round(9)
    (array([1.3]), array([[-1.]]))
    """
    shapes, given = frame_places(tree).shapes, numbers_in("q", q)
    wanted = shapes.pairs() if pairs is None else shapes.named(pairs)
    shapes.prepare(wanted)
    poses = forward_kinematics(tree, given)
    one = given.ndim == 1
    position, rotation = (np.ascontiguousarray(part[None] if one else part) for part in poses)
    out = np.empty((len(position), len(wanted), 7))
    measure(shapes.geometry, shapes.scratch, shapes.routine, rotation, position, wanted, out)
    gap, normal, middle = out[..., 0], out[..., 1:4], out[..., 4:7]
    half = 0.5 * gap[..., None] * normal
    found = gap, _gradients(shapes, given, wanted, normal, middle), normal, middle - half, middle + half
    names = tuple((shapes.names[a], shapes.names[b]) for a, b in wanted.tolist())
    return Distances(names, *(part[0] if one else part for part in found))


def _gradients(shapes: Shapes, q: FloatArray, pairs: IntArray, normal: FloatArray, at: FloatArray) -> FloatArray:
    """(states, m, nv): the normal's part of how fast the second goes from the first, at the point midway."""
    tree = shapes.tree
    found, row = np.zeros((*at.shape[:2], tree.nv)), np.concatenate([normal, np.cross(at, normal)], axis=-1)
    for side, sign in ((0, -1.0), (1, 1.0)):
        here = np.array([shapes.links[k] for k in pairs[:, side].tolist()], dtype=np.int64)
        for link in sorted(set(here.tolist()) - {-1}):
            body = next(body for body, other, _ in tree.bodies if other == link)
            J = jacobian(tree, q, body, axes="world").reshape(-1, 6, tree.nv)
            found[:, here == link] += sign * row[:, here == link] @ J
    return found
