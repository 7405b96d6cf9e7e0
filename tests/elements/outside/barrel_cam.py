"""A joint that linkwork does not have, as another package would write it: a barrel cam. b turns about an axis of a, and a groove
lifts it by rise (1 - cos angle) / 2. One freedom; the screw whose pitch varies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

import linkwork.kinds as lk


@dataclass(eq=False, repr=False)
class BarrelCam(lk.AxisJoint):
    """b turns about an axis of a and is lifted `rise` metres in half a turn, and back in the other half.

    >>> BarrelCam("frame", "follower", at=(0, 0, 0), axis=(0, 0, 1), rise=0.02).rise
    0.02
    """

    rows: ClassVar[int] = 5
    has_coordinate: ClassVar[bool] = True
    UNITS: ClassVar[dict] = {"rise": ("m",)}

    rise: float | lk.Parameter = 0.1  # m


class CamMobilizer(lk.Mobilizer):
    """The angle about z; p: half the rise."""

    freedoms, constants = (lk.Freedom.TURN,), 1

    def transform(self, q, p):
        return lk.about(2, q[0]), lk.Z * (p[0] * (1 - ca.cos(q[0])))

    def turn(self, q, p):
        return lk.half_turned(2, q[0])

    def angular(self, q, p):
        return lk.Z

    def coordinates(self, E, d, p):
        return lk.angle_about(2, E)


@lk.kind_of(BarrelCam)
class CamKind(lk.AxisJointKind):
    """The anchor stays on the axis, the axes parallel, and the travel is what the groove says."""

    fields = {**lk.AxisJointKind.fields, "axis_a": 3, "rise": 1}
    levels = [lk.POSITION] * 5
    counters = 1
    mobilizer = CamMobilizer()
    constant_fields = ("rise",)

    def constants(self, joint):
        return [float(joint.rise) / 2]

    def parameters(self, elements, A, B):
        return {**super().parameters(elements, A, B), "rise": lk.column(elements, "rise")}

    def rows(self, handles, p, t):
        _, cosine = self.angle(handles, p)
        lift = self.travel(handles, p) - p["rise"] / 2 * (1 - cosine)
        return lk.position_rows(self.beside(handles, p), self.along(handles, p), lift)

    def world_subspace(self, a, b, p, child):
        axis, sine = b.R @ p["axis_b"], ca.dot(a.R @ p["side_a"], b.R @ p["ref_b"])
        return ca.vertcat(p["rise"] / 2 * sine * axis, axis)
