"""Colliders as flat arrays: made once for a model, read by every step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from linkwork.codegen.struct import Struct
from linkwork.collision.boxes import box_box, capsule_box
from linkwork.collision.broadphase import DIGIT, FEW, SORTING, build, morton_order
from linkwork.collision.convex import (
    convex_convex,
    convex_outside,
    outside_outside,
    plane_cylinder,
    plane_ellipsoid,
    plane_hull,
    plane_outside,
)
from linkwork.collision.ellipsoids import capsule_ellipsoid
from linkwork.collision.layout import (
    AT_INTEGERS,
    AT_NUMBERS,
    BODY,
    BOX,
    CAPSULE,
    CONSTANTS,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    FIELD,
    GROUP,
    HULL,
    KIND,
    LARGE,
    MESH,
    MIDDLE,
    MOVED,
    PLANE,
    POSE,
    RULES,
    SIZE,
    SPHERE,
    TURNED,
)
from linkwork.collision.pair_dispatch import address_of, pair_room
from linkwork.collision.pairs import all_pairs
from linkwork.collision.round_shapes import (
    capsule_capsule,
    plane_box,
    plane_capsule,
    plane_sphere,
    sphere_box,
    sphere_capsule,
    sphere_sphere,
)
from linkwork.collision.support import NUMBERS, support_address
from linkwork.collision.surfaces import outside_surface, solid_surface
from linkwork.elements.core.checks import fail
from linkwork.elements.core.shape import Collision, Core, Shape
from linkwork.elements.shapes.convex_hull import ConvexHull

GROUND = -1
FAR_LARGER = 16.0  # times the median size: stands outside the tree
MOST_LARGE = 64  # that many at most do, beside planes

ROUTINES = {
    (PLANE, SPHERE): plane_sphere,
    (PLANE, CAPSULE): plane_capsule,
    (PLANE, BOX): plane_box,
    (SPHERE, SPHERE): sphere_sphere,
    (SPHERE, CAPSULE): sphere_capsule,
    (SPHERE, BOX): sphere_box,
    (CAPSULE, CAPSULE): capsule_capsule,
    (CAPSULE, BOX): capsule_box,
    (BOX, BOX): box_box,
    (PLANE, CYLINDER): plane_cylinder,
    (PLANE, ELLIPSOID): plane_ellipsoid,
    (PLANE, HULL): plane_hull,
    (PLANE, CONVEX): plane_outside,
    **{(a, b): convex_convex for b in (CYLINDER, ELLIPSOID, HULL) for a in range(SPHERE, b + 1)},
    (SPHERE, ELLIPSOID): capsule_ellipsoid,
    (CAPSULE, ELLIPSOID): capsule_ellipsoid,
    **{(a, b): solid_surface for b in (MESH, FIELD) for a in range(SPHERE, CONVEX)},
    **{(a, CONVEX): convex_outside for a in range(SPHERE, CONVEX)},
    (CONVEX, CONVEX): outside_outside,
    **{(CONVEX, b): outside_surface for b in (MESH, FIELD)},
}


@dataclass(frozen=True)
class Placed:
    """A shape on a body.

    body: its number, -1 for the ground; position (3,), m, and orientation (w, x, y, z) in the body's frame.
    group: colliders of the same group, counted from 0, never touch each other. rules: numbers of the rules that it
    takes part in; two colliders may touch if they share one. name: for errors. stretched: its body's frame is any linear
    map, which the shape follows.
    """

    shape: Shape
    body: int = GROUND
    position: Sequence[float] = (0.0, 0.0, 0.0)
    orientation: Sequence[float] = (1.0, 0.0, 0.0, 0.0)
    group: int = -1
    rules: Sequence[int] = (0,)
    name: str | None = None
    stretched: bool = False


class Geometry(Struct):
    """All colliders of a model, n of them; nothing here changes but the numbers of hulls that stretch."""

    constants: np.ndarray  # (n, CONSTANTS): size, bounding box and pose in the body, see `layout`
    labels: np.ndarray  # (n, RULES + words) int64: kind, body, group and the like
    apart: np.ndarray  # (k,) int64: a n + b of each pair a < b that never touches, ascending
    pairs: np.ndarray  # (k, 3) int64: where colliders are few, all that may touch, ascending; 1 if one is a plane
    near: np.ndarray  # (n - l,) int64: colliders in the tree
    large: np.ndarray  # (l,) int64: colliders beside the tree
    cell: np.ndarray  # (1,) m: of the Morton order
    routine: np.ndarray  # (kinds, kinds) int64: addresses; 0 where no pair of such kinds can be
    shape_numbers: np.ndarray  # flat: vertices and the like of all colliders that have them
    shape_integers: np.ndarray  # flat int64
    stretched: np.ndarray  # (k, 2) int64: hulls that follow a linear map, and where in shape_numbers they stand as built


class Scratch(Struct):
    """Room for one step."""

    poses: np.ndarray  # (n, POSE): of the colliders in the world
    boxes: np.ndarray  # (n, 6) m: low, high of their bounding boxes, with half the margin
    ahead: np.ndarray  # (bodies,) m: how much farther contacts of each body are looked for
    tree: np.ndarray  # (2 leaves, 6) m: boxes, low and high
    sorting: np.ndarray  # (SORTING, n) int64
    tally: np.ndarray  # (digits,) int64
    found: np.ndarray  # (n,) int64: partners of one collider
    numbers: np.ndarray  # flat: one pair, see `routines`
    integers: np.ndarray  # flat int64


class Contacts(Struct):
    """What `detect` finds, up to its capacity m."""

    a: np.ndarray  # (m,) int32: colliders, a < b
    b: np.ndarray  # (m,) int32
    feature: np.ndarray  # (m,) int64
    point: np.ndarray  # (m, 3) m, world, midway between the surfaces
    normal: np.ndarray  # (m, 3) unit, from a to b
    gap: np.ndarray  # (m,) m, negative where they overlap


def compile_colliders(placed: Sequence[Placed], apart: Iterable[tuple[int, int]] = ()) -> Geometry:
    """The arrays of all colliders; `apart` are pairs of their numbers that never touch.

    >>> from linkwork.elements import Plane, Sphere
    >>> geometry = compile_colliders([Placed(Plane()), Placed(Sphere(0.1), body=0)])
    >>> geometry.labels[:, KIND].tolist(), geometry.constants[1, SIZE].item()
    ([0, 1], 0.1)
    """
    n = len(placed)
    described = [_describe(c) for c in placed]
    size = np.array([own.size for own in described], dtype=float).reshape(n, 3)
    middle = np.array([own.middle for own in described], dtype=float).reshape(n, 3)
    turned = np.array([c.orientation for c in placed], dtype=float).reshape(n, 4)
    radius = np.linalg.norm(size, axis=1) + np.linalg.norm(middle, axis=1)
    is_plane = np.array([own.core == PLANE for own in described], dtype=bool).reshape(n)
    is_large = _large(radius, is_plane)
    median = float(np.median(radius[~is_plane])) if (~is_plane).any() else 1.0
    rules = _bits([c.rules for c in placed])
    constants, labels = np.zeros((n, CONSTANTS)), np.zeros((n, RULES + rules.shape[1]), dtype=np.int64)
    constants[:, SIZE : SIZE + 3], constants[:, MIDDLE : MIDDLE + 3] = size, middle
    constants[:, TURNED : TURNED + 9] = _rotations(turned)
    constants[:, MOVED : MOVED + 3] = np.array([c.position for c in placed], dtype=float).reshape(n, 3)
    labels[:, KIND], labels[:, BODY] = [int(own.core) for own in described], [c.body for c in placed]
    labels[:, GROUP], labels[:, LARGE] = [c.group for c in placed], is_large
    labels[:, RULES:] = rules
    shapes, stretched = _placed_once(placed, described, labels)
    kept_apart = np.array(sorted({min(a, b) * n + max(a, b) for a, b in apart}), dtype=np.int64)
    return Geometry(
        constants=constants,
        labels=labels,
        apart=kept_apart,
        pairs=all_pairs(labels, kept_apart) if n <= FEW else np.zeros((0, 3), dtype=np.int64),
        near=np.flatnonzero(~is_large).astype(np.int64),
        large=np.flatnonzero(is_large).astype(np.int64),
        cell=np.array([median]),
        routine=_routines(labels[:, KIND], labels[:, BODY]),
        shape_numbers=np.concatenate([np.zeros(1), *(np.array(numbers, dtype=float) for numbers, _ in shapes)]),
        shape_integers=np.concatenate(
            [np.zeros(1, dtype=np.int64), *(np.array(integers, dtype=np.int64) for _, integers in shapes)]
        ),
        stretched=np.array(stretched, dtype=np.int64).reshape(-1, 2),
    )


def scratch_for(geometry: Geometry, ahead: np.ndarray | None = None) -> Scratch:
    """Room for `detect` with these colliders. ahead: (bodies,) m: how much farther contacts of each are looked for; none."""
    bodies = 1 + int(geometry.labels[:, BODY].max(initial=-1))
    n, near = len(geometry.labels), len(geometry.near)
    numbers, integers = pair_room()
    return Scratch(
        poses=np.zeros((n, POSE)),
        boxes=np.zeros((n, 6)),
        ahead=np.zeros(bodies) if ahead is None else ahead,
        tree=np.zeros((2 << max(0, near - 1).bit_length(), 6)),
        sorting=np.zeros((SORTING, max(n, 1)), dtype=np.int64),
        tally=np.zeros(1 << DIGIT, dtype=np.int64),
        found=np.zeros(n, dtype=np.int64),
        numbers=numbers,
        integers=integers,
    )


def contacts_for(capacity: int) -> Contacts:
    """Room for that many contacts."""
    return Contacts(
        a=np.zeros(capacity, dtype=np.int32),
        b=np.zeros(capacity, dtype=np.int32),
        feature=np.zeros(capacity, dtype=np.int64),
        point=np.zeros((capacity, 3)),
        normal=np.zeros((capacity, 3)),
        gap=np.zeros(capacity),
    )


def _describe(c: Placed) -> Collision:
    """What collision needs of a collider's shape."""
    if not c.shape.solid and c.body != GROUND:
        fail(c, f"a {type(c.shape).__name__} is on a body that moves", f"put it on the ground, or {c.shape.instead}")
    if type(c.shape) is Shape:
        fail(c, f"{c.shape!r} has no contact geometry", "give a shape of linkwork such as Box(0.1, 0.1, 0.1)")
    found = _stretchable(c.shape) if c.stretched else c.shape.collision()
    if found.surface is not None:
        numbers, integers = _surface_arrays(*found.surface)
        return found._replace(numbers=numbers, integers=integers)
    if found.core is Core.CONVEX:
        if len(found.numbers) > NUMBERS:
            fail(c, f"its support function takes {len(found.numbers)} numbers", f"give {NUMBERS} at most")
        return found._replace(numbers=[*found.numbers, *[0.0] * (NUMBERS - len(found.numbers))])
    return found


def _stretchable(shape: Shape) -> Collision:
    """What collision needs of a solid that follows a linear map: corners and faces, or its support function."""
    found = shape.collision()
    if found.core is Core.BOX:
        return ConvexHull(np.array(found.size) * list(product((-1.0, 1.0), repeat=3))).collision()
    if found.core in (Core.HULL, Core.CONVEX):
        return found
    return Shape.collision(shape)


def _placed_once(placed, described: Sequence[Collision], labels):
    """The arrays of all shapes, those of equal shapes once; writes where they begin to the labels, and addresses of support
    functions. Hulls that stretch have numbers of their own beside those as built; the second result says where both are."""
    shapes, begun, at, stretched = [], {}, [1, 1], []
    for c, own in enumerate(described):
        arrays, key = (own.numbers, own.integers), (placed[c].shape, placed[c].stretched)
        if len(own.numbers) and key not in begun:
            begun[key] = tuple(at)
            shapes.append(arrays)
            at = [at[k] + len(arrays[k]) for k in range(2)]
        labels[c, AT_NUMBERS], labels[c, AT_INTEGERS] = begun.get(key, (0, 0))
        if placed[c].stretched and own.core is Core.HULL:
            stretched.append((c, labels[c, AT_NUMBERS]))
            labels[c, AT_NUMBERS] = at[0]
            shapes.append((own.numbers, ()))
            at[0] += len(own.numbers)
        if own.support is not None:
            labels[c, AT_INTEGERS] = support_address(own.support)
    return shapes, stretched


def _surface_arrays(vertices, triangles):
    """Numbers: vertices, normals at them and the tree over the triangles. Integers: see `narrowphase_surfaces`."""
    T, V, corners = len(triangles), len(vertices), vertices[triangles]
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    sorting, tally = np.zeros((SORTING, T), dtype=np.int64), np.zeros(1 << DIGIT, dtype=np.int64)
    size = float(np.median(np.ptp(corners, axis=1).max(axis=1)))
    morton_order(boxes, np.arange(T), size, sorting, tally)
    tree = np.zeros((2 << max(0, T - 1).bit_length(), 6))
    build(boxes, sorting[0], T, tree)
    starts = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1)  # (T, 3, 2): the edges
    edges = np.sort(starts.reshape(-1, 2), axis=1)
    key = edges[:, 0] * V + edges[:, 1]
    by_key = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[by_key[1:]] == key[by_key[:-1]])
    first, second = by_key[same], by_key[same + 1]  # places 3 t + e of an edge in its two triangles, t ascending
    across = np.roll(triangles, 1, axis=1).ravel()  # the corner across from each edge
    opposite, owned = np.full(3 * T, -1), np.ones((T, 6), dtype=np.int64)
    opposite[first], opposite[second] = across[second], across[first]
    owned[second // 3, second % 3] = 0
    flat = triangles.ravel()
    owned[:, 3:] = 0
    _, lowest = np.unique(flat, return_index=True)
    owned[lowest // 3, 3 + lowest % 3] = 1
    ends = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    star_begin = np.searchsorted(ends[:, 0], np.arange(V + 1))
    integers = (triangles, opposite, owned @ (1 << np.arange(6)), sorting[0], star_begin, ends[:, 1])
    head = [V, T, len(tree) // 2, len(ends)]
    return np.concatenate([vertices.ravel(), _vertex_normals(vertices, triangles).ravel(), tree.ravel()]), np.concatenate(
        [head, *(part.ravel() for part in integers)]
    )


def _vertex_normals(vertices, triangles):
    """(V, 3): the unit normals of the triangles at a vertex, each by its angle there."""
    corners = vertices[triangles]
    ahead, back = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    across = np.cross(ahead, back)
    sine, cosine = np.linalg.norm(across, axis=2), np.einsum("tci,tci->tc", ahead, back)
    normals = np.zeros_like(vertices)
    np.add.at(normals, triangles, across * (np.arctan2(sine, cosine) / np.maximum(sine, 1e-300))[..., None])
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)


def _routines(kinds, bodies) -> np.ndarray:
    """The address of the routine of each pair of kinds of which one moves."""
    table = np.zeros((FIELD + 1, FIELD + 1), dtype=np.int64)
    moving = {int(k) for k, body in zip(kinds, bodies, strict=True) if body != GROUND}
    every = {int(k) for k in kinds}
    for a, b in sorted({(min(k, l), max(k, l)) for k in moving for l in every}):
        table[a, b] = address_of(ROUTINES[a, b])
    return table


def _large(radius, is_plane):
    """Which colliders stand outside the tree: planes, and the largest of those far larger than most."""
    solid = np.flatnonzero(~is_plane)
    large = is_plane.copy()
    if len(solid):
        by_size = solid[np.argsort(-radius[solid], kind="stable")][:MOST_LARGE]
        large[by_size[radius[by_size] > FAR_LARGER * np.median(radius[solid])]] = True
    return large


def _bits(rules) -> np.ndarray:
    """(n, words) int64, 62 rules to a word."""
    words = 1 + max((rule for own in rules for rule in own), default=0) // 62
    bits = np.zeros((len(rules), words), dtype=np.int64)
    for c, own in enumerate(rules):
        for rule in own:
            bits[c, rule // 62] |= 1 << rule % 62
    return bits


def _rotations(orientations):
    """(n, 9): the entries of the rotations of quaternions."""
    w, x, y, z = (orientations / np.linalg.norm(orientations, axis=1, keepdims=True)).T
    first = (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y))
    second = (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x))
    return np.stack([*first, *second, 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
