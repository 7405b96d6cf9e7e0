"""Solids as facets: the surface of each shape, ready to be moved and painted."""

from dataclasses import dataclass, replace

import numpy as np

from linkwork.elements.shapes import Box, Capsule, ConvexHull, Cylinder, Disc, Sphere

CREASE = np.cos(np.radians(50))  # facets that meet at more than this make an edge one sees


@dataclass(frozen=True)
class Mesh:
    """The surface of one convex solid, or of many."""

    vertices: np.ndarray  # (V, 3), m, in the body's frame
    faces: np.ndarray  # (M, 4), vertices, seen from outside anticlockwise; a triangle names one twice
    tone: np.ndarray  # (M,), 0 or 1: lighter facets, which show that a round thing turns
    edges: np.ndarray  # (E, 2), vertices
    sides: np.ndarray  # (E, 2), the faces that meet there
    crease: np.ndarray  # (E,), whether they meet at an angle


def mesh(shape, detail=24):
    """The Mesh of a shape; detail, a multiple of four, is the number of facets around. None gives an empty one."""
    if shape is None:
        return _mesh(np.zeros((0, 3)), np.zeros((0, 4), int))
    if isinstance(shape, Box):
        return _mesh(*_box((shape.x, shape.y, shape.z), limit=detail // 4))
    if isinstance(shape, ConvexHull):
        return _mesh(shape.points, shape.triangles[:, (0, 1, 2, 2)])
    arc = np.linspace(-np.pi / 2, np.pi / 2, detail // 2 + 1)
    if isinstance(shape, (Cylinder, Disc)):
        r, half = shape.radius, (shape.length if isinstance(shape, Cylinder) else shape.thickness) / 2
        along = np.linspace(-half, half, 1 + _cuts(half / r, detail // 4))
        vertices, faces = _revolve(np.r_[0, np.full(along.size, r), 0], np.r_[-half, along, half], detail)
        return _mesh(vertices, faces, checks=2)
    if isinstance(shape, Capsule):
        r, half, quarter = shape.radius, shape.length / 2, detail // 4
        along = np.linspace(-half, half, 1 + _cuts(half / r, quarter))[1:-1]
        radii, heights = r * np.cos(arc), r * np.sin(arc)
        radii = np.r_[radii[: quarter + 1], np.full(along.size, r), radii[quarter:]]
        heights = np.r_[heights[: quarter + 1] - half, along, heights[quarter:] + half]
        return _mesh(*_revolve(radii, heights, detail))
    vertices, faces = _revolve(np.cos(arc), np.sin(arc), detail)
    half_axes = np.full(3, shape.radius) if isinstance(shape, Sphere) else np.sqrt(5 * np.array(shape._spread()))
    return _mesh(vertices * half_axes, faces, checks=3)  # any other shape: the ellipsoid of the same moments


def _cuts(slenderness, limit):
    """Long facets are cut, since each is painted as a whole."""
    return int(np.clip(round(slenderness), 1, limit))


def _box(lengths, limit):
    vertices: list[np.ndarray] = []
    faces: list[np.ndarray] = []
    cuts = [_cuts(length / (2 * np.median(lengths)), limit) for length in lengths]
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        u, v = np.meshgrid(np.linspace(-0.5, 0.5, cuts[b] + 1), np.linspace(-0.5, 0.5, cuts[c] + 1), indexing="ij")
        for side in (-0.5, 0.5):
            grid = np.empty((*u.shape, 3))
            grid[..., axis], grid[..., b], grid[..., c] = side, u, v
            faces.append(_quads(*u.shape) + sum(len(v) for v in vertices))
            vertices.append(grid.reshape(-1, 3))
    return np.concatenate(vertices) * lengths, np.concatenate(faces)


def _revolve(radii, heights, around):
    angle = np.linspace(0, 2 * np.pi, around + 1)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    flat = radii[:, None, None] * ring
    vertices = np.concatenate([flat, np.broadcast_to(heights[:, None, None], (*flat.shape[:2], 1))], axis=2)
    return vertices.reshape(-1, 3), _quads(len(radii), around + 1)


def _quads(rows, columns):
    """(M, 4): the cells of a grid of vertices."""
    at = np.arange(rows * columns).reshape(rows, columns)
    return np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)


def _mesh(vertices, faces, checks=0):
    """Merge equal vertices, turn the faces outwards and find the edges; checks: axes whose signs set the tone."""
    if not len(faces):
        none = np.zeros((0, 2), int)
        return Mesh(vertices, faces, np.zeros(0, int), none, none, np.zeros(0, bool))
    rounded = np.round(vertices / np.abs(vertices).max(), 9)
    _, first, where = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    vertices, faces = vertices[first], where.reshape(-1)[faces]
    outwards, centres = normals(vertices[faces]), vertices[faces].mean(axis=1)
    inwards = np.einsum("mi,mi->m", outwards, centres) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    outwards[inwards] *= -1
    pairs = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    owner = np.repeat(np.arange(len(faces)), 4)[pairs[:, 0] != pairs[:, 1]]
    edges, where = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0, return_inverse=True)
    sides = owner[np.argsort(where.reshape(-1), kind="stable")].reshape(-1, 2)  # a closed surface: two at each edge
    crease = np.einsum("ei,ei->e", outwards[sides[:, 0]], outwards[sides[:, 1]]) < CREASE
    tone = (np.prod(np.sign(centres[:, :checks]), axis=1) > 0).astype(int) if checks else np.zeros(len(faces), int)
    return Mesh(vertices, faces, tone, edges, sides, crease)


def normals(quads):
    """(M, 3) of unit length, from (M, 4, 3)."""
    across = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    return across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)


def moved(given, R, place):
    """The Mesh turned by R (3, 3), then moved by place (3,)."""
    return replace(given, vertices=given.vertices @ R.T + place)


def join(meshes):
    """One Mesh of all, and the body of each vertex (V,) and face (M,)."""
    vertex = np.cumsum([0] + [len(m.vertices) for m in meshes])
    face = np.cumsum([0] + [len(m.faces) for m in meshes])
    whole = Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.faces + v for m, v in zip(meshes, vertex, strict=False)]),
        np.concatenate([m.tone for m in meshes]),
        np.concatenate([m.edges + v for m, v in zip(meshes, vertex, strict=False)]),
        np.concatenate([m.sides + f for m, f in zip(meshes, face, strict=False)]),
        np.concatenate([m.crease for m in meshes]),
    )
    return whole, np.repeat(np.arange(len(meshes)), np.diff(vertex)), np.repeat(np.arange(len(meshes)), np.diff(face))
