"""A skin over bones: one smooth surface around them as built, which follows them by linear blending.

The surface is where a sum of exp(-distance / BLEND) over the bones is as large as on one bone alone; it is found by marching
tetrahedra. A vertex moves with the bone that is nearest to it as built and with the neighbours of that one, weighted likewise.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Box, Capsule
from linkwork.elements.core.checks import fail

if TYPE_CHECKING:
    from linkwork.recording.fields import BodyRecord
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import BoolArray, FloatArray, IntArray


BLEND, WEIGHING = 0.002, 0.005  # m: how far bones melt into one another, and how far a joint's bend spreads
FLESH = 0.001  # m beyond the bones
CELL = 0.003  # m, of the grid on which the surface is sought
# a cube's six tetrahedra, all on the diagonal from corner 0 to corner 7; corners are numbered x + 2 y + 4 z
TETRAHEDRA = np.array([(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)])


def skin(recording: Recording, bones: list[str] | None = None) -> tuple[FloatArray, IntArray]:
    """(vertices (T, V, 3), m; faces (F, 3)) of a skin over these bodies, capsules and boxes (default: all), frame by frame."""
    from linkwork.viz.views import rotations

    if bones is None:
        bones = [name for name in recording.bodies if isinstance(recording.shapes[name], (Capsule, Box))]
    records = [recording[name] for name in bones]
    for record in records:
        if not isinstance(record.shape, (Capsule, Box)):
            fail("skin", f'"{record.name}" is neither a capsule nor a box', "name the bones that are")

    built = [(record.position[0], rotations(record.orientation[0]), record.shape) for record in records]
    vertices, faces = surface(built)
    weights = blending(built, vertices, neighbours(recording, bones))
    return follow(records, vertices, weights), faces


def distances(built: list[tuple[FloatArray, FloatArray, Any]], points: FloatArray) -> FloatArray:
    """(P, n), m: from points to the surface of each bone, negative inside."""
    found = []
    for place, R, shape in built:
        local = (points - place) @ R
        if isinstance(shape, Capsule):
            local[:, 2] -= np.clip(local[:, 2], -shape.length / 2, shape.length / 2)
            found.append(np.linalg.norm(local, axis=1) - shape.radius)
        else:
            round_off = 0.4 * min(shape.x, shape.y, shape.z)
            beyond = np.abs(local) - np.array([shape.x, shape.y, shape.z]) / 2 + round_off
            outside = np.linalg.norm(np.maximum(beyond, 0), axis=1)
            found.append(outside + np.minimum(beyond.max(axis=1), 0) - round_off)
    return np.stack(found, axis=1)


def surface(built: list[tuple[FloatArray, FloatArray, Any]]) -> tuple[FloatArray, IntArray]:
    """(vertices (V, 3), faces (F, 3)) around bones as (place, rotation, shape) each."""
    low, high = _bounds(built)
    axes = [np.arange(a, b + CELL, CELL) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    apart = distances(built, grid.reshape(-1, 3))
    nearest = apart.min(axis=1)
    height = nearest - BLEND * np.log(np.exp(-(apart - nearest[:, None]) / BLEND).sum(axis=1)) - FLESH
    return marching(grid, height.reshape(grid.shape[:3]))


def _bounds(built: list[tuple[FloatArray, FloatArray, Any]]) -> tuple[FloatArray, FloatArray]:
    corners = []
    for place, R, shape in built:
        r = shape.radius if isinstance(shape, Capsule) else 0.0
        half = (r, r, shape.length / 2 + r) if r else (shape.x / 2, shape.y / 2, shape.z / 2)
        corners += [place - np.abs(R) @ half, place + np.abs(R) @ half]
    margin = FLESH + 4 * BLEND
    return np.min(corners, axis=0) - margin, np.max(corners, axis=0) + margin


def marching(grid: FloatArray, height: FloatArray) -> tuple[FloatArray, IntArray]:
    """(vertices, faces) of the surface height = 0, seen from where height > 0 anticlockwise. grid (X, Y, Z, 3)."""
    number = np.arange(height.size).reshape(height.shape)
    first, last = slice(None, -1), slice(1, None)  # corners of the cubes along one axis
    corners = itertools.product((first, last), repeat=3)  # z, y, x
    cubes = np.stack([number[x, y, z].ravel() for z, y, x in corners], axis=1)
    tetrahedra = cubes[:, TETRAHEDRA].reshape(-1, 4)
    points, values = grid.reshape(-1, 3), height.ravel()
    inside = values[tetrahedra] < 0
    parts: list[IntArray] = []
    for pattern in itertools.product((False, True), repeat=4):
        among = tetrahedra[(inside == pattern).all(axis=1)]
        parts += [among[:, triangle] for triangle in _triangles(pattern)]
    cut = np.concatenate(parts)  # (F, 3, 2): each corner of a triangle lies on the edge between two points of the grid
    edges, faces = np.unique(np.sort(cut.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    a, b = values[edges[:, 0]], values[edges[:, 1]]
    vertices = points[edges[:, 0]] + (a / (a - b))[:, None] * (points[edges[:, 1]] - points[edges[:, 0]])
    return vertices, _outwards(vertices, faces.reshape(-1, 3), cut, points, values)


def _triangles(pattern: tuple[bool, ...]) -> list[list[tuple[int, int]]]:
    """The triangles, each of three pairs of a tetrahedron's corners, that part the corners inside from those outside."""
    within = [k for k in range(4) if pattern[k]]
    without = [k for k in range(4) if not pattern[k]]
    if len(within) == 2:
        (a, b), (c, d) = within, without
        return [[(a, c), (a, d), (b, d)], [(a, c), (b, d), (b, c)]]
    if len(within) in (1, 3):
        lone, others = (within[0], without) if len(within) == 1 else (without[0], within)
        return [[(lone, other) for other in others]]
    return []


def _outwards(vertices: FloatArray, faces: IntArray, cut: IntArray, points: FloatArray, values: FloatArray) -> IntArray:
    """The faces turned so that they look at the points with larger values."""
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    first = points[cut[:, 0]]
    uphill = (first[:, 1] - first[:, 0]) * np.sign(values[cut[:, 0, 1]] - values[cut[:, 0, 0]])[:, None]
    flipped = np.einsum("fi,fi->f", normal, uphill) < 0
    return np.where(flipped[:, None], faces[:, ::-1], faces)


def neighbours(recording: Recording, bones: list[str]) -> BoolArray:
    """(n, n), whether two bones are the same or joined."""
    near = np.eye(len(bones), dtype=bool)
    for _, a, _, b, _ in recording.links:
        if a in bones and b in bones:
            near[bones.index(a), bones.index(b)] = near[bones.index(b), bones.index(a)] = True
    return near


def blending(built: list[tuple[FloatArray, FloatArray, Any]], vertices: FloatArray, near: BoolArray) -> FloatArray:
    """(V, n): how much each bone moves each vertex; every row has the sum 1."""
    apart = distances(built, vertices)
    nearest = apart.argmin(axis=1)
    weights = np.where(near[nearest], np.exp(-(apart - apart.min(axis=1)[:, None]) / WEIGHING), 0.0)
    found: FloatArray = weights / weights.sum(axis=1)[:, None]
    return found


def follow(records: list[BodyRecord], vertices: FloatArray, weights: FloatArray) -> FloatArray:
    """(T, V, 3): linear blending of what each bone would do to the vertices since the first frame."""
    from linkwork.viz.views import rotations

    moved = np.zeros((len(records[0].time), *vertices.shape))
    for record, weight in zip(records, weights.T, strict=True):
        R = rotations(record.orientation)
        turned = (vertices - record.position[0]) @ R[0] @ np.swapaxes(R, 1, 2)
        moved += weight[:, None] * (turned + record.position[:, None])
    return moved
