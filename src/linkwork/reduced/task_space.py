"""Task space: what frames weigh that joints move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core.frame import ALIGNED
from linkwork.reduced.algorithms import crba
from linkwork.reduced.frame_places import listed
from linkwork.reduced.kinematics import jacobian

if TYPE_CHECKING:
    from linkwork.elements.core.frame import FrameLike
    from linkwork.reduced.tree import Tree
    from linkwork.util.array_types import FloatArray, Numbers

SINGULAR = 1e-10  # of the largest eigenvalue of J H^-1 J^T: what is less cannot be moved


def task_inertia(tree: Tree, q: Numbers, frames: FrameLike | Iterable[FrameLike], axes: str = ALIGNED) -> FloatArray:
    """Lambda = (J H^-1 J^T)^-1, (6 k, 6 k), of k bodies or frames: the force and torque (N, N m) that gives them a unit of
    acceleration, with J (6 k, nv) of `jacobian`, one above the other. Where joints cannot move them it is the pseudoinverse:
    no force is asked for in a direction in which none would do anything. For arrays of states one more axis stands in front.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> stone = world.add(lw.RigidBody(2.0, (0.1, 0.2, 0.3), name="stone"))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.task_inertia(tree, lw.reduced.neutral(tree), "stone").diagonal().round(12)
    array([2. , 2. , 2. , 0.1, 0.2, 0.3])
    """
    J = np.concatenate([jacobian(tree, q, frame, axes=axes) for frame in listed(frames)], axis=-2)
    return inverse_mobility(J, crba(tree, q))


def inverse_mobility(J: FloatArray, H: FloatArray) -> FloatArray:
    """(J H^-1 J^T)^-1, or its pseudoinverse, of one state or of each of an array."""
    mobility = J @ np.linalg.solve(H, J.swapaxes(-1, -2))
    values, vectors = np.linalg.eigh(0.5 * (mobility + mobility.swapaxes(-1, -2)))
    moved = values > SINGULAR * values.max(axis=-1, keepdims=True, initial=0.0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=moved)
    found: FloatArray = (vectors * inverse[..., None, :]) @ vectors.swapaxes(-1, -2)
    return found
