"""Rigid bodies as built, in batches: their frames are principal, their origins where the compiler puts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core.placement import CONJUGATE, Placement, apply, matrices, product, quaternions, stack

if TYPE_CHECKING:
    from linkwork.util.array_types import BoolArray, FloatArray, IntArray


class RigidPlacement(Placement):
    def __init__(self, bodies: Sequence[Any]) -> None:
        self.position, self.orientation = stack(bodies, "position"), stack(bodies, "orientation")
        self.velocity, self.spin = stack(bodies, "velocity"), stack(bodies, "angular_velocity")
        self.mass, self.com, inertia = stack(bodies, "mass"), stack(bodies, "com"), stack(bodies, "inertia")
        self.axes = np.tile(np.eye(3), (len(bodies), 1, 1))  # columns: principal axes in the user's frame
        self.inertia = inertia[:, range(3), range(3)].copy()
        off = np.abs(inertia[:, [0, 0, 1], [1, 2, 2]]).max(axis=1) > 1e-12 * self.inertia.max(axis=1)
        if off.any():
            values, vectors = np.linalg.eigh(inertia[off])
            vectors[:, :, 2] *= np.linalg.det(vectors)[:, None]
            self.inertia[off], self.axes[off] = values, vectors
        self.place(self.com)

    def place(self, origin: FloatArray) -> None:
        """Put the origins at these points (k, 3) of the users' frames."""
        self.origin = origin
        user = matrices(self.orientation)
        self.x = self.position + apply(user, origin)
        self.R = user @ self.axes
        self.F = self.R

    def _put(self, where: IntArray, position: FloatArray, orientation: FloatArray, frame: FloatArray) -> None:
        self.position[where], self.orientation[where] = position, orientation
        self.place(self.origin)

    def user_point(self, local: FloatArray, pick: IntArray | None = None) -> FloatArray:
        i = self._pick(pick)
        return apply(self.axes[i].transpose(0, 2, 1), np.atleast_2d(np.asarray(local, dtype=float)) - self.origin[i])

    def user_axis(self, local: FloatArray, pick: IntArray | None = None) -> FloatArray:
        local = np.atleast_2d(np.asarray(local, dtype=float))
        return apply(self.axes[self._pick(pick)].transpose(0, 2, 1), local)

    user_line = user_axis
    user_normal = user_axis

    def point(self, world: FloatArray, pick: IntArray | None = None) -> FloatArray:
        i = self._pick(pick)
        return apply(self.R[i].transpose(0, 2, 1), world - self.x[i])

    line = Placement.axis
    normal = Placement.axis

    def user_coordinates(self, local: FloatArray) -> FloatArray:
        """From internal coordinates back to the user's."""
        return apply(self.axes, local) + self.origin

    def quaternion(self) -> FloatArray:
        return product(self.orientation, quaternions(self.axes))

    def user_turn(self) -> FloatArray:
        found: FloatArray = quaternions(self.axes) * CONJUGATE
        return found

    def start(self) -> dict[str, FloatArray]:
        q = self.quaternion()
        arm = self.x - self.position
        v = self.velocity + np.cross(self.spin, arm)
        return {"q": np.hstack([self.x, q]), "v": np.hstack([v, self.spin]), "mass": self.mass[:, None],
                "com": apply(self.axes.transpose(0, 2, 1), self.com - self.origin), "inertia": self.inertia,
                "home": self.user_point(np.zeros_like(self.x)),
                "turn": self.axes.transpose(0, 2, 1).reshape(-1, 9)}  # fmt: skip

    def diagonal_mass(self) -> BoolArray:
        found: BoolArray = (self.origin == self.com).all(axis=1)
        return found
