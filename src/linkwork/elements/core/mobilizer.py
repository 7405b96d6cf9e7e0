"""Coordinates of a joint: where it puts its child, its motion subspace S, and how its coordinates move.

Every joint has a frame on its parent and one on its child, the same as built. The child's frame lies at `d`, turned by `E`,
in the parent's; a velocity S qd (linear, then angular) is that of the child's origin, in the axes of the frame on the
parent. `p` are the constants of a joint (of a screw its travel a radian).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.registry import outside_digest
from linkwork.symbolic import rotation

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


X, Y, Z = (SX(ca.DM.eye(3)[:, k]) for k in range(3))
ZERO3 = SX(3, 1)
HALF_TURN = np.diag([1.0, -1.0, -1.0])  # the axis points back, the coordinate stays


def about(axis: int, angle: SX) -> SX:
    """The rotation matrix about a coordinate axis; structural zeros stay."""
    s, c = rotation.sine_cosine(angle)
    E, i, j = SX(3, 3), (axis + 1) % 3, (axis + 2) % 3
    E[axis, axis], E[i, i], E[j, j], E[i, j], E[j, i] = 1, c, c, -s, s
    return E


def half_turned(axis: int, angle: SX) -> SX:
    """The quaternion of a turn about a coordinate axis."""
    s, c = rotation.sine_cosine(0.5 * angle)
    return ca.vertcat(c, *[s if k == axis else 0 for k in range(3)])


def angle_about(axis: int, E: SX) -> SX:
    """The angle of a turn about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    return ca.atan2(E[j, i], E[i, i])


class Mobilizer(ABC):
    """The base: q are numbers whose time derivatives are qd, unless a freedom is a ROTATION."""

    name: str  # of its kernels; that of the class, if it is not given
    freedoms: tuple[Freedom, ...]  # in the order of the coordinates
    constants = 0  # how many numbers p has
    floats = False  # relative to the world, whatever else there is

    def __init__(self) -> None:
        self.name = getattr(self, "name", type(self).__name__) + outside_digest(type(self))
        self.nq, self.nv = (sum(getattr(freedom, n) for freedom in self.freedoms) for n in ("nq", "nv"))

    @abstractmethod
    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        """(E, d) of the child's frame in the parent's: (3, 3), (3,) m."""

    @abstractmethod
    def angular(self, q: SX, p: SX) -> SX:
        """The angular part of S, (3, nv)."""

    @abstractmethod
    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        """q from where the child is: `transform` undone, with angles from -pi to pi."""

    @cached_property
    def reversed(self) -> Reversed:
        """How the joint reads from its other body."""
        return Reversed(mobilizer=Backwards(self))

    def turn(self, q: SX, p: SX) -> SX:
        """E as a quaternion, (4,). A joint that can make whole turns gives it without a jump: half a turn further its sign is
        another one."""
        return rotation.quaternion(self.transform(q, p)[0])

    def linear(self, q: SX, p: SX) -> SX:
        """The linear part of S, (3, nv)."""
        return ca.jacobian(self.transform(q, p)[1], q)

    def subspace(self, q: SX, p: SX) -> SX:
        """S, (6, nv)."""
        return ca.vertcat(self.linear(q, p), self.angular(q, p))

    def bias(self, q: SX, qd: SX, p: SX) -> SX:
        """S' qd, (6,)."""
        return ca.jtimes(self.subspace(q, p) @ qd, q, qd)

    def subspace_rate(self, q: SX, qd: SX, p: SX) -> SX:
        """S', (6, nv)."""
        S = self.subspace(q, p)
        return ca.horzcat(SX(6, 0), *[ca.jtimes(S[:, k], q, qd) for k in range(self.nv)])

    def integrate(self, q: SX, step: SX) -> SX:
        """q after the velocity `step` has acted for one second."""
        return q + step

    def dexp_inverse(self, step: SX, qd: SX) -> SX:
        """How `step` grows when q, moved by it, moves with qd: to the order that RK4 needs."""
        return qd

    def difference(self, q0: SX, q1: SX) -> SX:
        """The step that moves q0 to q1."""
        return q1 - q0

    def neutral(self) -> list[float]:
        """The coordinates as built."""
        return [0.0] * self.nq

    def random(self, generator: np.random.Generator, count: int) -> FloatArray:
        """Coordinates (count, nq) at random: within half a turn, within a metre."""
        bound = [math.pi if freedom is Freedom.TURN else 1.0 for freedom in self.freedoms]
        return generator.uniform(-1.0, 1.0, (count, self.nq)) * bound

    @property
    def angles(self) -> list[bool]:
        """(nq,) Which coordinates are angles."""
        return [freedom is Freedom.TURN for freedom in self.freedoms for _ in range(freedom.nq)]

    @property
    def quaternions(self) -> list[slice]:
        """Where the unit quaternions stand among the coordinates."""
        ends = np.cumsum([freedom.nq for freedom in self.freedoms], dtype=int).tolist()
        return [slice(end - 4, end) for freedom, end in zip(self.freedoms, ends, strict=True) if freedom is Freedom.ROTATION]


@dataclass(frozen=True)
class Reversed:
    """A joint whose first body is the child: frames on both bodies turned by `frame`, coordinates in the other order where they
    are `swapped`, and, where that does not do, another mobilizer."""

    frame: FloatArray = field(default_factory=lambda: np.eye(3))
    swapped: bool = False
    mobilizer: Mobilizer | None = None


class Backwards(Mobilizer):
    """Any joint seen from its child: E^T, -E^T d and -E^T S. Right for every joint whose qd is the derivative of its q."""

    def __init__(self, forwards: Mobilizer) -> None:
        self.forwards, self.freedoms, self.constants = forwards, forwards.freedoms, forwards.constants
        super().__init__()
        self.name = f"{forwards.name}-back"

    @property
    def reversed(self) -> Reversed:
        return Reversed(mobilizer=self.forwards)

    def transform(self, q: SX, p: SX) -> tuple[SX, SX]:
        E, d = self.forwards.transform(q, p)
        return E.T, -(E.T @ d)

    def turn(self, q: SX, p: SX) -> SX:
        return rotation.conjugate(self.forwards.turn(q, p))

    def angular(self, q: SX, p: SX) -> SX:
        E, _ = self.forwards.transform(q, p)
        return -(E.T @ self.forwards.angular(q, p))

    def coordinates(self, E: SX, d: SX, p: SX) -> SX:
        return self.forwards.coordinates(E.T, -(E.T @ d), p)
