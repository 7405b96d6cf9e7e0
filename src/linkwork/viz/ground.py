"""What stands still: the colliders of the ground, cut to the picture, and which of them hide what.

A convex solid hides a body that lies behind all of its facets that look at the eye, and nothing else. So solids are painted
from far to near, and a body before the first solid that hides it. Meshes and height fields are a background: bodies lie on
them.
"""

from dataclasses import dataclass

import numpy as np

from linkwork.viz.facets import meshed, normals

LEVEL = 1e-6  # how much a plane may lean that counts as a floor
INSIDE = 1e-3  # part of the picture's size by which bodies may be inside a facet that they lie on
ROUND = 24  # facets around a round solid


@dataclass(frozen=True)
class Standing:
    """One collider of the ground as the eye sees it."""

    facets: list  # of (corners, 3), m, from far to near
    outwards: np.ndarray  # (facets, 3)
    planes: (
        np.ndarray
    )  # (p, 4): outwards . x is at most the last one, inside; of facets that look at the eye; none: a background
    edges: list  # of (2, 3), m
    corners: np.ndarray  # (n, 3), m

    @property
    def sort(self):
        """0: a plane, 1: a background, 2: a solid."""
        return {1: 0, 0: 1}.get(len(self.planes), 2)

    def in_front(self, points, starts, slack):
        """(bodies,): whether nothing of this hides a body; their points (V, 3) begin at `starts`."""
        if not len(self.planes):
            return np.ones(len(starts), bool)
        apart = points @ self.planes[:, :3].T - self.planes[:, 3]
        return (np.minimum.reduceat(apart, starts, axis=0) >= -slack).any(axis=1)


def floor_height(colliders):
    """m: where the highest level plane of the ground lies; None if there is none."""
    return max((position[2] for _, body, shape, position, q in colliders if body is None and _level(shape, q)), default=None)


def standing(colliders, rotations, towards, low, high):
    """The ground's colliders, except level planes, cut to the box from low to high (3,), in the order of painting.

    rotations: quaternions -> matrices; towards (3,): the eye.
    """
    found = []
    for _, body, shape, position, orientation in colliders:
        if body is not None or _level(shape, orientation):
            continue
        R, place = rotations(np.array(orientation)), np.array(position)
        if not shape.bounded:  # as much of it as is near
            to_middle = (low + high) / 2 - place
            place = place + to_middle - R[:, 2] * (R[:, 2] @ to_middle)
        seen = _seen(shape, R, place, towards, float(np.linalg.norm(high - low)), low, high)
        if seen.facets:
            found.append(seen)
    return _ordered(found, towards, INSIDE * float(np.max(high - low)))


def _level(shape, orientation):
    return not shape.bounded and float(np.hypot(orientation[1], orientation[2])) < LEVEL


def _seen(shape, R, place, towards, far, low, high):
    vertices, faces, edges, sides, convex = _surface(shape, far)
    vertices = vertices @ R.T + place
    outwards = normals(vertices[faces])
    front = outwards @ towards > 1e-9
    planes = np.unique(np.round(np.c_[outwards, np.einsum("mi,mi->m", outwards, vertices[faces[:, 0]])][front], 9), axis=0)
    kept, directions = [], []
    for m in np.flatnonzero(front)[np.argsort(vertices[faces[front]].mean(axis=1) @ towards, kind="stable")]:
        facet = _cut(vertices[faces[m]], low, high)
        if len(facet) > 2:
            kept.append(facet)
            directions.append(outwards[m])
    lines = [_cut(vertices[e], low, high) for e in edges[front[sides].any(axis=1)]]
    corners = np.concatenate(kept) if kept else np.zeros((0, 3))
    return Standing(kept, np.array(directions), planes if convex else planes[:0], [e for e in lines if len(e) > 1], corners)


def _surface(shape, far):
    """Vertices (V, 3), quads (M, 4), edges to be drawn (E, 2), the quads that meet there (E, 2), whether it is convex."""
    none = np.zeros((0, 2), int)
    if not shape.bounded:
        square = far * np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
        return square, np.array([[0, 1, 2, 3]]), none, none, True
    found = shape.facets(ROUND if shape.curved else 4)
    if not found.closed:
        return found.vertices, found.faces, none, none, False
    solid = meshed(found)
    return solid.vertices, solid.faces, solid.edges[solid.crease], solid.sides[solid.crease], True


def _cut(polygon, low, high):
    """What of a polygon or line (corners, 3) lies between low and high."""
    for axis in range(3):
        for sign, bound in ((1.0, low[axis]), (-1.0, -high[axis])):
            if not len(polygon):
                return polygon
            above = sign * polygon[:, axis] - bound
            if (above >= 0).all():
                continue
            kept = []
            for k, (here, there) in enumerate(zip(above, np.roll(above, -1), strict=True)):
                if here >= 0:
                    kept.append(polygon[k])
                if (here >= 0) != (there >= 0):
                    kept.append(polygon[k] + here / (here - there) * (polygon[(k + 1) % len(polygon)] - polygon[k]))
            polygon = np.array(kept).reshape(-1, 3)
    return polygon


def _ordered(things, towards, slack):
    """Planes, then backgrounds, then solids from far to near: none is painted after one that lies behind it."""
    depth = [(s.sort, float((s.corners @ towards).mean())) for s in things]
    left = sorted(range(len(things)), key=depth.__getitem__)
    order: list = []
    while left:
        first = [i for i in left if things[i].sort == things[left[0]].sort]
        free = [i for i in first if all(things[i].in_front(things[j].corners, [0], slack)[0] for j in first if j != i)]
        order.append((free or first)[0])
        left.remove(order[-1])
    return [things[i] for i in order]
