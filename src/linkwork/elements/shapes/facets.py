"""Facets of boxes and of solids of revolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, IntArray


def cuts(slenderness: float, limit: int) -> int:
    """Long facets are cut, since each is painted as a whole."""
    return int(np.clip(round(slenderness), 1, limit))


def boxed(lengths: tuple[float, float, float], limit: int) -> tuple[FloatArray, IntArray]:
    """Vertices and quads of a box."""
    vertices: list[FloatArray] = []
    faces: list[IntArray] = []
    parts = [cuts(length / (2 * np.median(lengths)), limit) for length in lengths]
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        u, v = np.meshgrid(np.linspace(-0.5, 0.5, parts[b] + 1), np.linspace(-0.5, 0.5, parts[c] + 1), indexing="ij")
        for side in (-0.5, 0.5):
            grid = np.empty((*u.shape, 3))
            grid[..., axis], grid[..., b], grid[..., c] = side, u, v
            faces.append(quads(*u.shape) + sum(len(v) for v in vertices))
            vertices.append(grid.reshape(-1, 3))
    return np.concatenate(vertices) * lengths, np.concatenate(faces)


def revolved(radii: FloatArray, heights: FloatArray, around: int) -> tuple[FloatArray, IntArray]:
    """Vertices and quads of a solid of revolution about z, from its outline."""
    angle = np.linspace(0, 2 * np.pi, around + 1)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    flat = radii[:, None, None] * ring
    vertices = np.concatenate([flat, np.broadcast_to(heights[:, None, None], (*flat.shape[:2], 1))], axis=2)
    return vertices.reshape(-1, 3), quads(len(radii), around + 1)


def quads(rows: int, columns: int) -> IntArray:
    """(M, 4): the cells of a grid of vertices."""
    at = np.arange(rows * columns).reshape(rows, columns)
    return np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)


def round_rod(radius: float, half: float, detail: int) -> tuple[FloatArray, IntArray]:
    """Vertices and quads of a cylinder along z."""
    along = np.linspace(-half, half, 1 + cuts(half / radius, detail // 4))
    return revolved(np.r_[0, np.full(along.size, radius), 0], np.r_[-half, along, half], detail)
