"""Rotations as expressions: quaternions w x y z, body to world; polar rotation of a deformation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
from casadi import SX

from linkwork.symbolic.blocks import cross

if TYPE_CHECKING:
    pass


def matrix(q: SX) -> SX:
    """The rotation matrix of a unit quaternion."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    sx, sy, sz = w * x2, w * y2, w * z2
    return ca.blockcat(
        [[1 - (yy + zz), xy - sz, xz + sy], [xy + sz, 1 - (xx + zz), yz - sx], [xz - sy, yz + sx, 1 - (xx + yy)]]
    )


def product(p: SX, q: SX) -> SX:
    """The quaternion product p q."""
    pv, qv = p[1:4], q[1:4]
    return ca.vertcat(p[0] * q[0] - ca.dot(pv, qv), p[0] * qv + q[0] * pv + cross(pv, qv))


def conjugate(q: SX) -> SX:
    return ca.vertcat(q[0], -q[1:4])


TINY = 1e-300  # below the square of any sine that matters; without branches, which CasADi copies into every product


def vector(q: SX) -> tuple[SX, SX]:
    """The rotation vector (3,) of a unit quaternion, and its direction (zero at rest). The angle is in [0, 2 pi), so that it
    goes on through pi."""
    sine = ca.sqrt(ca.sumsqr(q[1:4]) + TINY)
    inverse = 1 / sine
    return (2 * ca.atan2(sine, q[0]) * inverse) * q[1:4], inverse * q[1:4]


def slack(q: SX) -> SX:
    """g = (angle/2) cot(angle/2) of a unit quaternion: how far its rotation vector follows a turn across it. One at rest,
    zero at pi, negative beyond."""
    sine = ca.sqrt(ca.sumsqr(q[1:4]) + TINY)
    return ca.atan2(sine, q[0]) * q[0] / sine


def shorter(q: SX) -> SX:
    """q or -q, whichever is the shorter turn."""
    return ca.if_else(q[0] < 0, -q, q)


def quaternion(R: SX) -> SX:
    """A unit quaternion of a rotation matrix, from the largest of its components."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    squares = [1 + trace, *[1 + 2 * R[k, k] - trace for k in range(3)]]
    axial = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    chosen, largest = ca.vertcat(squares[0], axial), squares[0]
    for k in range(3):
        row = ca.vertcat(axial[k], *[squares[1 + k] if j == k else R[k, j] + R[j, k] for j in range(3)])
        better = squares[1 + k] > largest
        chosen, largest = ca.if_else(better, row, chosen), ca.fmax(squares[1 + k], largest)
    return shorter(normalised(chosen))


def normalised(q: SX) -> SX:
    return q / ca.sqrt(ca.sumsqr(q))


def refreshed(q: SX) -> SX:
    """A quaternion that is nearly of unit length, brought nearer to it by one Newton step: no root, no division."""
    return q * (1.5 - 0.5 * ca.sumsqr(q))


def half_angle(u: SX) -> tuple[SX, SX]:
    """(cos |u|, sin |u| u / |u|) by their series to |u|^10: shorter than the library's, and exact enough for steps."""
    s = ca.sumsqr(u)
    ss = s * s  # in pairs of terms: a shorter chain of operations than Horner's
    cosine = (1 - s * (1 / 2)) + ss * ((1 / 24 - s * (1 / 720)) + ss * (1 / 40320 - s * (1 / 3628800)))
    sine = (1 - s * (1 / 6)) + ss * ((1 / 120 - s * (1 / 5040)) + ss * (1 / 362880))
    return cosine, sine * u


def turned(q: SX, angle_vector: SX) -> SX:
    """q after the world-frame rotation by a rotation vector."""
    cosine, sine = half_angle(0.5 * angle_vector)
    return product(ca.vertcat(cosine, sine), refreshed(q))


def smooth_exponential(angle_vector: SX) -> SX:
    """The unit quaternion of the turn by a rotation vector of up to a whole turn, by its series: exact to rounding, with all
    derivatives where there is no turn."""
    s = 0.25 * ca.sumsqr(angle_vector)
    cosine = sine = SX(0)
    for k in range(13, -1, -1):
        cosine = 1 / math.factorial(2 * k) - s * cosine
        sine = 1 / math.factorial(2 * k + 1) - s * sine
    return ca.vertcat(cosine, 0.5 * sine * angle_vector)


def cayley(q: SX, a: SX) -> SX:
    """q after the world-frame rotation with tangent vector a: by the angle 2 atan(|a|/2) about a. Rational, and to be
    undone by `cayley_vector` up to half a turn."""
    turn = ca.vertcat(1, 0.5 * a)
    return product(turn / ca.sqrt(ca.sumsqr(turn)), refreshed(q))


def cayley_vector(q0: SX, q1: SX) -> SX:
    """a such that q1 = cayley(q0, a)."""
    turn = product(q1, ca.vertcat(q0[0], -q0[1:4]))
    return 2 * turn[1:4] / turn[0]


def quaternion_rate(q: SX, w: SX) -> SX:
    """dq/dt of a body that turns with world angular velocity w."""
    return 0.5 * product(ca.vertcat(0, w), q)


def inverse_transpose(F: SX) -> SX:
    """F^-T of a 3 x 3 matrix."""
    cofactors = ca.horzcat(cross(F[:, 1], F[:, 2]), cross(F[:, 2], F[:, 0]), cross(F[:, 0], F[:, 1]))
    return cofactors / ca.dot(F[:, 0], cofactors[:, 0])


def polar(F: SX, iterations: int = 9) -> SX:
    """The rotation nearest to F, by Higham's Newton iteration with a first scaling (quadratic; det F > 0)."""
    R = SX(F)
    for k in range(iterations):
        T = inverse_transpose(R)
        if k < 3:
            mu = ca.sqrt(ca.sqrt(ca.sumsqr(T) / ca.sumsqr(R)))
            R = 0.5 * (mu * R + T / mu)
        else:
            R = 0.5 * (R + T)
    return R


def polar_spin(F: SX, R: SX, rate: SX) -> SX:
    """World angular velocity of the polar rotation R of F when F changes at `rate`."""
    U = R.T @ F
    G = R.T @ rate
    axial = ca.vertcat(G[2, 1] - G[1, 2], G[0, 2] - G[2, 0], G[1, 0] - G[0, 1])
    return R @ (inverse_transpose(ca.trace(U) * SX.eye(3) - U).T @ axial)


def rotor_flight(q: SX, L: SX, inertia: SX, h: SX) -> SX:
    """The orientation of a free rotor after h: second order, symplectic, angular momentum L (world) kept.

    H = |l|^2/2I_2 + l_1^2/2 (1/I_1 - 1/I_2) + l_3^2/2 (1/I_3 - 1/I_2): the first term turns the body about L and
    commutes with the others, which are turns about body axes, split as 1/2, 1, 1/2. Exact for symmetric bodies.
    """
    l = matrix(q).T @ L
    excess = {0: 1 / inertia[0] - 1 / inertia[1], 2: 1 / inertia[2] - 1 / inertia[1]}
    q = turned(q, h / inertia[1] * L)
    for axis, part in ((0, 0.5), (2, 1.0), (0, 0.5)):
        cosine, sine = half_angle(0.5 * part * h * excess[axis] * l[axis])
        turn = SX(4, 1)
        turn[0], turn[1 + axis] = cosine, sine
        q = product(q, turn)
        c, s = 1 - 2 * sine * sine, 2 * sine * cosine
        i, j = (axis + 1) % 3, (axis + 2) % 3
        l_i, l_j = c * l[i] + s * l[j], c * l[j] - s * l[i]
        l = SX(l)
        l[i], l[j] = l_i, l_j
    return refreshed(q)


HALVED = [(-1) ** k / math.factorial(2 * k) for k in range(9)], [(-1) ** k / math.factorial(2 * k + 1) for k in range(8)]
TURN = (math.pi, 1.2246467991473532e-16)  # pi in two parts


def _series(coefficients: Sequence[SX | float], s: SX) -> SX:
    """A polynomial in s, in pairs of terms: a shorter chain of operations than Horner's."""
    pairs: list[Any] = [coefficients[k] + s * coefficients[k + 1] for k in range(0, len(coefficients) - 1, 2)]
    pairs += coefficients[-1:] if len(coefficients) % 2 else []
    return pairs[0] if len(pairs) == 1 else _series(pairs, s * s)


def sine_cosine(x: SX) -> tuple[SX, SX]:
    """(sin x, cos x) to rounding, from additions and products alone: the library's functions are called once a lane.

    x = k pi + 2 h with |h| at most pi/4; sin 2h = 2 sin h cos h and cos 2h = 1 - 2 sin^2 h, by their series.
    """
    k = ca.floor(x * (1 / math.pi) + 0.5)
    h = 0.5 * (x - k * TURN[0] - k * TURN[1])
    sign = 1 - 2 * (k - 2 * ca.floor(0.5 * k))
    s, c = h * _series(HALVED[1], h * h), _series(HALVED[0], h * h)
    twice = 2 * sign * s
    return twice * c, sign - twice * s


def exponential(v: SX) -> SX:
    """The unit quaternion of the turn by a rotation vector of any length."""
    angle = ca.sqrt(ca.sumsqr(v) + TINY)
    sine, cosine = sine_cosine(0.5 * angle)
    return ca.vertcat(cosine, sine / angle * v)


def solve(A: SX, b: SX) -> SX:
    """A^-1 b for a 3 x 3 matrix (Cramer's rule)."""
    first, second, third = (A[k, :].T for k in range(3))
    across = ca.cross(second, third), ca.cross(third, first), ca.cross(first, second)
    found: SX = sum((b[k] * across[k] for k in range(3)), SX(3, 1)) / ca.dot(first, across[0])
    return found


def least_turn(before: SX, after: SX) -> SX:
    """The quaternion that takes one unit vector to another."""
    return normalised(ca.vertcat(ca.fmax(1 + ca.dot(before, after), 1e-9), cross(before, after)))
