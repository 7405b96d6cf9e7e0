"""Hulls on bodies that stretch: a polytope is one under any linear map, with the same faces and corners.

Their corners and planes are written anew in every configuration, about the place of the collider and along the world's axes,
so that all routines take them as hulls that are not turned. Curved solids need nothing: a support function goes through a
linear map as it does through a rotation (`core_support`).
"""

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.collision.layout import AT_INTEGERS, AT_NUMBERS, BODY, POSITION, ROTATION
from linkwork.collision.vectors import axis, cross, dot, length, times, turn, unit


@jit
def stretch_hulls(geometry, poses, boxes, margin, ahead):
    """Corners, planes and bounding boxes of the hulls that follow a linear map, whose poses are none of a rigid body."""
    for k in range(len(geometry.stretched)):
        c, built = geometry.stretched[k, 0], geometry.stretched[k, 1]
        labels, pose = geometry.labels[c], poses[c]
        numbers, own = geometry.shape_numbers[built:], geometry.shape_numbers[labels[AT_NUMBERS] :]
        faces = geometry.shape_integers[labels[AT_INTEGERS]]
        _map_hull(numbers, own, int(numbers[0]), faces, pose[ROTATION : ROTATION + 9].reshape(3, 3))
        grown = 0.5 * margin + ahead[labels[BODY]]
        for i in range(3):
            boxes[c, i], boxes[c, 3 + i] = np.inf, -np.inf
            for v in range(int(numbers[0])):
                boxes[c, i] = min(boxes[c, i], own[1 + 3 * v + i])
                boxes[c, 3 + i] = max(boxes[c, 3 + i], own[1 + 3 * v + i])
            boxes[c, i] += pose[POSITION + i] - grown
            boxes[c, 3 + i] += pose[POSITION + i] + grown
            for j in range(3):
                pose[ROTATION + 3 * i + j] = 1.0 if i == j else 0.0


@jit_inner
def _map_hull(numbers, own, corners, faces, A):
    """Corners A x, and planes: a normal n goes to A^-T n, along the cofactors of A; of a map that mirrors they point outwards
    too."""
    for v in range(corners):
        x = turn(A, (numbers[1 + 3 * v], numbers[2 + 3 * v], numbers[3 + 3 * v]))
        own[1 + 3 * v], own[2 + 3 * v], own[3 + 3 * v] = x
    first, second, third = cross(axis(A, 1), axis(A, 2)), cross(axis(A, 2), axis(A, 0)), cross(axis(A, 0), axis(A, 1))
    volume = dot(first, axis(A, 0))
    for f in range(faces):
        at = 1 + 3 * corners + 4 * f
        n = (numbers[at], numbers[at + 1], numbers[at + 2])
        m = (
            first[0] * n[0] + second[0] * n[1] + third[0] * n[2],
            first[1] * n[0] + second[1] * n[1] + third[1] * n[2],
            first[2] * n[0] + second[2] * n[1] + third[2] * n[2],
        )
        far = length(m)
        own[at], own[at + 1], own[at + 2] = unit(m if volume >= 0.0 else times(-1.0, m), n)
        own[at + 3] = numbers[at + 3] * abs(volume) / far if far > 0.0 else 0.0
