"""Joint kinds in joint coordinates: where a joint puts its child, its motion subspace S, and how its coordinates move.

Every joint has a frame on its parent and one on its child, the same as built. The child's frame lies at `d`, turned by `E`,
in the parent's; a velocity S qd (linear, then angular) is that of the child's origin, in the axes of the frame on the
parent. `p` is what a kind keeps beside (the screw its travel a radian). Kinds with the ending "-back" have their
coordinates told from the child: the joint's first body is the child.
"""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import cross, skew

X, Y, Z = (SX(ca.DM.eye(3)[:, k]) for k in range(3))
NOTHING = SX(3, 1)


def about(axis: int, angle) -> SX:
    """The rotation matrix about a coordinate axis; structural zeros stay."""
    s, c = rotation.sine_cosine(angle)
    E, i, j = SX(3, 3), (axis + 1) % 3, (axis + 2) % 3
    E[axis, axis], E[i, i], E[j, j], E[i, j], E[j, i] = 1, c, c, -s, s
    return E


def half_turned(axis: int, angle) -> SX:
    """The quaternion of a turn about a coordinate axis."""
    s, c = rotation.sine_cosine(0.5 * angle)
    return ca.vertcat(c, *[s if k == axis else 0 for k in range(3)])


def angle_about(axis: int, E) -> SX:
    """The angle of a turn about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    return ca.atan2(E[j, i], E[i, i])


class JointKind:
    """The base: q are numbers whose time derivatives are qd."""

    name: str
    nq: int
    nv: int
    beside = 0  # constants of its own
    sorts: tuple[str, ...] = ()  # "turn" or "length" for each coordinate that is one
    floats = False  # relative to the world, whatever else there is

    def place(self, q, p) -> tuple[SX, SX]:
        """(E, d)."""
        raise NotImplementedError

    def spin(self, q) -> SX:
        """The angular part of S, (3, nv)."""
        raise NotImplementedError

    def travel(self, q, p) -> SX:
        """The linear part of S, (3, nv)."""
        return ca.jacobian(self.place(q, p)[1], q)

    def subspace(self, q, p) -> SX:
        """S, (6, nv)."""
        return ca.vertcat(self.travel(q, p), self.spin(q))

    def drift(self, q, qd, p) -> SX:
        """S' qd, (6,)."""
        return ca.jtimes(self.subspace(q, p) @ qd, q, qd)

    def subspace_rate(self, q, qd, p) -> SX:
        """S', (6, nv)."""
        S = self.subspace(q, p)
        return ca.horzcat(*[ca.jtimes(S[:, k], q, qd) for k in range(self.nv)])

    def coordinates(self, E, d, p) -> SX:
        """q from where the child is: `place` undone, with angles from -pi to pi."""
        raise NotImplementedError

    def turn(self, q) -> SX:
        """E as a quaternion, (4,), without a jump anywhere: an angle that has made a turn changes its sign."""
        raise NotImplementedError

    def moved(self, q, step) -> SX:
        """q after the velocity `step` has acted for one second."""
        return q + step

    def straightened(self, step, qd) -> SX:
        """How `step` grows when q, moved by it, moves with qd: dexp^-1, to the order that RK4 needs."""
        return qd

    def between(self, q0, q1) -> SX:
        """The step that moves q0 to q1."""
        return q1 - q0

    def neutral(self) -> list[float]:
        return [0.0] * self.nq

    def drawn(self, generator: np.random.Generator, count: int) -> np.ndarray:
        """Coordinates (count, nq) at random: within half a turn, within a metre."""
        bound = [math.pi if name == "turn" else 1.0 for name in self.sorts]
        return generator.uniform(-1.0, 1.0, (count, self.nq)) * bound


class Hinge(JointKind):
    name, nq, nv, sorts = "hinge", 1, 1, ("turn",)

    def place(self, q, p):
        return about(2, q[0]), NOTHING

    def turn(self, q):
        return half_turned(2, q[0])

    def spin(self, q):
        return Z

    def coordinates(self, E, d, p):
        return angle_about(2, E)


class Slider(JointKind):
    name, nq, nv, sorts = "slider", 1, 1, ("length",)

    def place(self, q, p):
        return SX.eye(3), Z * q[0]

    def turn(self, q):
        return SX([1, 0, 0, 0])

    def spin(self, q):
        return NOTHING

    def coordinates(self, E, d, p):
        return d[2]


class Screw(Hinge):
    name, beside = "screw", 1

    def place(self, q, p):
        return about(2, q[0]), Z * (p[0] * q[0])

    def coordinates(self, E, d, p):
        """The travel counts the turns."""
        angle = angle_about(2, E)
        turns = ca.floor((d[2] / ca.if_else(p[0] == 0, 1, p[0]) - angle) / (2 * math.pi) + 0.5)
        return angle + ca.if_else(p[0] == 0, 0, 2 * math.pi * turns)


class Cylindrical(JointKind):
    """The angle, then the travel."""

    name, nq, nv, sorts = "cylindrical", 2, 2, ("turn", "length")

    def place(self, q, p):
        return about(2, q[0]), Z * q[1]

    def turn(self, q):
        return half_turned(2, q[0])

    def spin(self, q):
        return ca.horzcat(Z, NOTHING)

    def coordinates(self, E, d, p):
        return ca.vertcat(angle_about(2, E), d[2])


class Universal(JointKind):
    """x is fixed to the parent, y to the child: the angle about x, then about y."""

    name, nq, nv, sorts = "universal", 2, 2, ("turn", "turn")

    def place(self, q, p):
        return about(0, q[0]) @ about(1, q[1]), NOTHING

    def turn(self, q):
        return rotation.product(half_turned(0, q[0]), half_turned(1, q[1]))

    def spin(self, q):
        return ca.horzcat(X, about(0, q[0])[:, 1])

    def coordinates(self, E, d, p):
        return ca.vertcat(ca.atan2(E[2, 1], E[1, 1]), ca.atan2(E[0, 2], E[0, 0]))


class Planar(JointKind):
    """x and y in the plane, then the angle."""

    name, nq, nv, sorts = "planar", 3, 3, ("length", "length", "turn")

    def place(self, q, p):
        return about(2, q[2]), X * q[0] + Y * q[1]

    def turn(self, q):
        return half_turned(2, q[2])

    def spin(self, q):
        return ca.horzcat(NOTHING, NOTHING, Z)

    def coordinates(self, E, d, p):
        return ca.vertcat(d[0], d[1], angle_about(2, E))


class PlanarBack(Planar):
    name = "planar-back"

    def place(self, q, p):
        E = about(2, -q[2])
        return E, -(E @ (X * q[0] + Y * q[1]))

    def turn(self, q):
        return half_turned(2, -q[2])

    def spin(self, q):
        return ca.horzcat(NOTHING, NOTHING, -Z)

    def coordinates(self, E, d, p):
        return ca.vertcat(-(E.T @ d)[0:2], -angle_about(2, E))


class Ball(JointKind):
    """A quaternion; qd is the angular velocity of the joint's second body relative to its first, in the first's axes."""

    name, nq, nv = "ball", 4, 3

    def place(self, q, p):
        return rotation.matrix(q), NOTHING

    def turn(self, q):
        return q

    def spin(self, q):
        return SX.eye(3)

    def travel(self, q, p):
        return SX(3, 3)

    def drift(self, q, qd, p):
        return SX(6, 1)

    def subspace_rate(self, q, qd, p):
        return SX(6, self.nv)

    def coordinates(self, E, d, p):
        return rotation.quaternion(E)

    def moved(self, q, step):
        return rotation.normalised(rotation.product(rotation.exponential(step), q))

    def straightened(self, step, qd):
        twist = cross(step, qd)
        return qd - 0.5 * twist + cross(step, twist) / 12

    def between(self, q0, q1):
        return rotation.vector(rotation.shorter(rotation.product(q1, rotation.conjugate(q0))))[0]

    def neutral(self):
        return [1.0, 0.0, 0.0, 0.0]

    def drawn(self, generator, count):
        q = generator.normal(size=(count, 4))
        return q / np.linalg.norm(q, axis=1, keepdims=True)


class BallBack(Ball):
    name = "ball-back"

    def place(self, q, p):
        return rotation.matrix(q).T, NOTHING

    def turn(self, q):
        return rotation.conjugate(q)

    def spin(self, q):
        return -rotation.matrix(q).T

    def coordinates(self, E, d, p):
        return rotation.quaternion(E.T)

    def subspace_rate(self, q, qd, p):
        E = rotation.matrix(q).T
        return ca.vertcat(SX(3, 3), skew(E @ qd) @ E)


class Free(Ball):
    """Position and quaternion of a body in the world; qd is its linear and its angular velocity, in the world's axes."""

    name, nq, nv, floats = "free", 7, 6, True

    def place(self, q, p):
        return rotation.matrix(q[3:7]), q[0:3]

    def turn(self, q):
        return q[3:7]

    def spin(self, q):
        return ca.horzcat(SX(3, 3), SX.eye(3))

    def travel(self, q, p):
        return ca.horzcat(SX.eye(3), SX(3, 3))

    def coordinates(self, E, d, p):
        return ca.vertcat(d, rotation.quaternion(E))

    def moved(self, q, step):
        return ca.vertcat(q[0:3] + step[0:3], super().moved(q[3:7], step[3:6]))

    def straightened(self, step, qd):
        return ca.vertcat(qd[0:3], super().straightened(step[3:6], qd[3:6]))

    def between(self, q0, q1):
        return ca.vertcat(q1[0:3] - q0[0:3], super().between(q0[3:7], q1[3:7]))

    def neutral(self):
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]

    def drawn(self, generator, count):
        return np.hstack([generator.uniform(-1.0, 1.0, (count, 3)), super().drawn(generator, count)])


class Weld(JointKind):
    name, nq, nv = "weld", 0, 0

    def place(self, q, p):
        return SX.eye(3), NOTHING


KINDS: dict[str, JointKind] = {
    kind.name: kind
    for kind in (
        Hinge(),
        Slider(),
        Screw(),
        Cylindrical(),
        Universal(),
        Planar(),
        PlanarBack(),
        Ball(),
        BallBack(),
        Free(),
        Weld(),
    )
}
