"""Another one, on no axis and with a closed elimination: a constant-velocity joint. The anchors meet, and b does not turn about
its shaft relative to a however both are bent: two freedoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

import linkwork.kinds as lk


@dataclass(eq=False, repr=False)
class ConstantVelocity(lk.Joint):
    """Two shafts meet at a point and turn at the same rate, however they are bent.

    >>> ConstantVelocity("input", "output", at=(0, 0, 0), shaft_a=(1, 0, 0), shaft_b=(1, 0, 0)).rows
    4
    """

    rows: ClassVar[int] = 4

    shaft_a: tuple = (0.0, 0.0, 1.0)  # (3,), unit, world: along a
    shaft_b: tuple = (0.0, 0.0, 1.0)  # (3,), unit, world: along b


class Bend(lk.Mobilizer):
    """z is the shaft; it is bent by an angle q1 about an axis of the plane x, y that lies q0 from x: E = Rz(q0) Rx(q1) Rz(-q0).

    As coordinates serve the two numbers k = tan(q1 / 2) (cos q0, sin q0), which know no singular place below half a turn.
    """

    freedoms = (lk.Freedom.TURN, lk.Freedom.TURN)

    def transform(self, q, p):
        x, y = q[0], q[1]
        s = x * x + y * y
        E = ca.blockcat([[1 - s + 2 * x * x, 2 * x * y, 2 * y], [2 * x * y, 1 - s + 2 * y * y, -2 * x], [-2 * y, 2 * x, 1 - s]])
        return E / (1 + s), lk.ZERO3

    def angular(self, q, p):
        x, y = q[0], q[1]
        return 2 / (1 + x * x + y * y) * ca.blockcat([[1, 0], [0, 1], [-y, x]])

    def coordinates(self, E, d, p):
        return ca.vertcat(E[2, 1], -E[2, 0]) / (1 + E[2, 2])


@lk.kind_of(ConstantVelocity)
class ConstantVelocityKind(lk.JointKind):
    """The anchors meet; x_a . y_b = y_a . x_b."""

    fields = {"on_a": 3, "on_b": 3, "x_a": 3, "y_a": 3, "x_b": 3, "y_b": 3}
    levels = [lk.POSITION] * 4
    needs_directions = (True, True)
    mobilizer, law = Bend(), lk.FreedomLaw.ROTATION

    @staticmethod
    def _axes(elements):
        """(k, 3) each, world as built: x, y, z of a; then of b, bent from a's without a turn about the shaft."""
        za, zb = (np.array([getattr(e, name) for e in elements], dtype=float) for name in ("shaft_a", "shaft_b"))
        middle = za + zb
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        x = lk.perpendicular(middle)  # mirrored in planes across both shafts: what lies there stays
        found = []
        for z in (za, zb):
            axis = x - np.sum(x * z, axis=1, keepdims=True) / (1 + np.sum(middle * z, axis=1, keepdims=True)) * (middle + z)
            found += [axis, np.cross(z, axis), z]
        return found

    def parameters(self, elements, A, B):
        (on_a, on_b), (xa, ya, _, xb, yb, _) = lk.anchors(elements, A, B), self._axes(elements)
        return {"on_a": on_a, "on_b": on_b, "x_a": A.axis(xa), "y_a": A.axis(ya), "x_b": B.axis(xb), "y_b": B.axis(yb)}

    def rows(self, handles, p, t):
        a, b = handles
        twist = ca.dot(a.axis(p["x_a"]), b.axis(p["y_b"])) - ca.dot(a.axis(p["y_a"]), b.axis(p["x_b"]))
        return lk.position_rows(lk.apart(handles, p), twist)

    def frames(self, joint, A, B):
        axes = [v[0] for v in self._axes([joint])]
        return np.column_stack(axes[:3]), np.column_stack(axes[3:])

    def world_subspace(self, a, b, p, child):
        """Turns across what the row changes with: the axis half-way between both shafts."""
        xa, ya, xb, yb = a.R @ p["x_a"], a.R @ p["y_a"], b.R @ p["x_b"], b.R @ p["y_b"]
        row = ca.cross(yb, xa) - ca.cross(xb, ya)  # the row changes by row . (w_b - w_a)
        first = ca.cross(row, xa)
        return ca.vertcat(ca.SX(3, 2), ca.horzcat(first, ca.cross(row, first)))
