"""Bodies as built, in batches of one kind: start coordinates, constants, and local vectors from world ones.

A rigid body's internal frame is principal, with its origin where the compiler wants it; everything else has the
user's frame. All methods take (k, 3) arrays, `pick` selects some of the bodies. Quaternions in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from linkwork.elements.core.element import Pose

if TYPE_CHECKING:
    from linkwork.util.array_types import BoolArray, FloatArray, IntArray


CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
BESIDE = 1e-6  # metres by which an anchor may lie beside a particle


def matrices(q: FloatArray) -> FloatArray:
    """Rotation matrices (k, 3, 3) of unit quaternions (k, 4)."""
    w, x, y, z = q.T
    R = np.empty((len(q), 3, 3))
    R[:, 0] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1)
    R[:, 1] = np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1)
    R[:, 2] = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    return R


def quaternions(R: FloatArray) -> FloatArray:
    """Unit quaternions (k, 4), w >= 0, of rotation matrices (k, 3, 3); the largest component is computed first."""
    k = np.arange(len(R))
    d = np.stack([R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]], axis=1)
    squares = np.concatenate([1 + d.sum(1, keepdims=True), 1 + 2 * d - d.sum(1, keepdims=True)], axis=1)
    skew = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    products = np.zeros((len(R), 4, 4))
    products[:, 0, 1:] = products[:, 1:, 0] = skew
    products[:, 1:, 1:] = R + R.transpose(0, 2, 1)
    products[:, range(4), range(4)] = squares
    largest = np.argmax(squares, axis=1)
    q = products[k, largest]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    found: FloatArray = np.where(q[:, :1] < 0, -q, q)
    return found


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """Quaternion products (k, 4)."""
    w = p[:, :1] * q[:, :1] - np.sum(p[:, 1:] * q[:, 1:], axis=1, keepdims=True)
    v = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate([w, v], axis=1)


def apply(matrix: FloatArray, vectors: FloatArray) -> FloatArray:
    found: FloatArray = np.einsum("kij,kj->ki", matrix, vectors)
    return found


def polar(F: FloatArray) -> FloatArray:
    U, _, V = np.linalg.svd(F)
    found: FloatArray = U @ V
    return found


def polar_spin(F: FloatArray, R: FloatArray, rate: FloatArray) -> FloatArray:
    """(k, 3): angular velocities of the polar rotations R of F, which change at `rate`."""
    U, G = R.transpose(0, 2, 1) @ F, R.transpose(0, 2, 1) @ rate
    axial = np.stack([G[:, 2, 1] - G[:, 1, 2], G[:, 0, 2] - G[:, 2, 0], G[:, 1, 0] - G[:, 0, 1]], axis=1)
    trace = np.trace(U, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    return apply(R, np.linalg.solve(trace - U, axial[..., None])[..., 0])


def cross_matrices(a: FloatArray) -> FloatArray:
    """(k, 3, 3): matrices of the cross products with vectors (k, 3)."""
    return np.cross(np.eye(3)[None], a[:, None, :])


class Placement:
    """The base: a body that maps local points by world = x + F p and axes by R."""

    x: FloatArray  # (k, 3)
    F: FloatArray  # (k, 3, 3)
    R: FloatArray  # (k, 3, 3)
    parameters: FloatArray | None = None  # (k, n): the Parameters in the field "user" of their records

    def _pick(self, pick: IntArray | None) -> slice | IntArray:
        return slice(None) if pick is None else pick

    def point(self, world: FloatArray, pick: IntArray | None = None) -> FloatArray:
        i = self._pick(pick)
        return cast("FloatArray", np.linalg.solve(self.F[i], (world - self.x[i])[..., None])[..., 0])

    def world_point(self, local: FloatArray, pick: IntArray | None = None) -> FloatArray:
        i = self._pick(pick)
        return self.x[i] + apply(self.F[i], local)

    @property
    def stretches(self) -> bool:
        """Whether these bodies' frames may be any linear map."""
        return False

    def axis(self, world: FloatArray, pick: IntArray | None = None) -> FloatArray:
        return apply(self.R[self._pick(pick)].transpose(0, 2, 1), world)

    def world_axis(self, local: FloatArray, pick: IntArray | None = None) -> FloatArray:
        return apply(self.R[self._pick(pick)], local)

    def line(self, world: FloatArray, pick: IntArray | None = None) -> FloatArray:
        return cast("FloatArray", np.linalg.solve(self.F[self._pick(pick)], world[..., None])[..., 0])

    def normal(self, world: FloatArray, pick: IntArray | None = None) -> FloatArray:
        return apply(self.F[self._pick(pick)].transpose(0, 2, 1), world)

    def user_point(self, local: FloatArray, pick: IntArray | None = None) -> FloatArray:
        """From the user's local coordinates to the internal ones."""
        return np.atleast_2d(np.asarray(local, dtype=float))

    def user_axis(self, local: FloatArray, pick: IntArray | None = None) -> FloatArray:
        return np.atleast_2d(np.asarray(local, dtype=float))

    user_line = user_axis
    user_normal = user_axis

    def quaternion(self) -> FloatArray:
        """Orientations (k, 4) of the internal frames as built: what the bodies' records start with."""
        return quaternions(self.R)

    def turn(self, world: FloatArray) -> FloatArray:
        """Orientations (k, 4) as built in the world, relative to the internal frames."""
        return product(self.quaternion() * CONJUGATE, world)

    def user_turn(self) -> FloatArray:
        """Orientations (k, 4) of the users' frames relative to the internal ones."""
        return np.tile([1.0, 0.0, 0.0, 0.0], (len(self.x), 1))

    def user_orientation(self) -> FloatArray:
        """Orientations (k, 4) of the users' frames as built."""
        return product(self.quaternion(), self.user_turn())

    def pick(self, numbers: Sequence[int] | IntArray) -> Placement:
        """A batch with some of these bodies, in the order given."""
        chosen = object.__new__(type(self))
        for name, value in vars(self).items():
            setattr(chosen, name, value[numbers] if isinstance(value, np.ndarray) else value)
        return chosen

    def put(self, poses: Sequence[Pose | None]) -> Placement:
        """Bodies elsewhere than they were built; None: as built. Changes this batch, and returns it."""
        where = np.array([k for k, pose in enumerate(poses) if pose is not None], dtype=np.int64)
        if len(where):
            given = [pose for pose in poses if pose is not None]
            self._put(where, *(np.array([getattr(p, name) for p in given]) for name in ("position", "orientation", "frame")))
        return self

    def _put(self, where: IntArray, position: FloatArray, orientation: FloatArray, frame: FloatArray) -> None:
        self.x[where], self.F[where], self.R[where] = position, frame, matrices(orientation)

    def ground(self) -> Fixed:
        """The ground, as often."""
        return Fixed(len(self.x))

    def diagonal_mass(self) -> BoolArray:
        """(k,) Whether the inverse mass of each body is diagonal in its own axes: contact has a shorter way then."""
        return np.zeros(len(self.x), dtype=bool)

    def start(self) -> dict[str, FloatArray]:
        """Fields of the record at the start: q, v and the kind's constants."""
        raise NotImplementedError


class Fixed(Placement):
    """The ground, k times."""

    def __init__(self, k: int) -> None:
        self.x, self.F = np.zeros((k, 3)), np.tile(np.eye(3), (k, 1, 1))
        self.R = self.F


def stack(bodies: Sequence[Any], name: str) -> FloatArray:
    found: FloatArray = np.array([getattr(b, name) for b in bodies], dtype=float)
    return found


@dataclass
class Poses:
    """Bodies in the world: k of them."""

    position: FloatArray  # (k, 3) m
    orientation: FloatArray  # (k, 4)
    velocity: FloatArray  # (k, 3) m/s, of `position`
    angular_velocity: FloatArray  # (k, 3) rad/s
    frame: FloatArray  # (k, 3, 3): a local vector p is at position + frame @ p

    @classmethod
    def blank(cls, k: int) -> Poses:
        """k bodies at rest in the world's frame."""
        still = np.tile([1.0, 0, 0, 0], (k, 1))
        return cls(np.zeros((k, 3)), still, np.zeros((k, 3)), np.zeros((k, 3)), np.tile(np.eye(3), (k, 1, 1)))

    def put(self, where: IntArray, others: Poses) -> None:
        """Put poses into some of the places."""
        for name, values in vars(others).items():
            getattr(self, name)[where] = values
