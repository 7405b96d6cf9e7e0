"""Moments of solids that several shapes have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, IntArray


def solid_moments(vertices: FloatArray, triangles: IntArray) -> tuple[float, FloatArray, FloatArray]:
    """Volume, centre (3,) and the mean of p p^T (3, 3) about it, of what triangles enclose: tetrahedra to one point inside."""
    origin = vertices.mean(axis=0)
    a, b, c = (vertices[triangles[:, k]] - origin for k in range(3))
    six = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume, whole = six.sum() / 6, a + b + c
    centre = (six @ whole) / 24 / volume
    squares = sum(np.einsum("t,ti,tj->ij", six, x, x) for x in (a, b, c, whole)) / 120
    return volume, origin + centre, squares / volume - np.outer(centre, centre)


def cylinder_spread(radius: float, length: float) -> tuple[float, float, float]:
    return radius**2 / 4, radius**2 / 4, length**2 / 12
