"""Solids as facets: the surface of each shape, ready to be moved and painted."""

from dataclasses import dataclass, replace

import numpy as np

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
    return meshed(shape.facets(detail))


def meshed(facets):
    """The Mesh of the facets of a convex solid."""
    return _mesh(facets.vertices, facets.faces, facets.toned)


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
