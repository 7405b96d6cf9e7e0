"""Joints as rows: what two bodies keep in common, by anchors and axes."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from linkwork.elements import joints
from linkwork.elements.core.constraint_kind import Relation, anchors, axes, column, perpendicular, position_rows
from linkwork.elements.core.units import ANGLE, ANGULAR_VELOCITY, QUATERNION, TRAVEL, Quantity, rate_of
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.blocks import cross


class Ball(Relation):
    fields = {"on_a": 3, "on_b": 3}
    levels = [POSITION] * 3
    meets = True

    def numbers(self, elements, A, B):
        on_a, on_b = anchors(elements, A, B)
        return {"on_a": on_a, "on_b": on_b}

    def rows(self, handles, p, t):
        a, b = handles
        return position_rows(b.point(p["on_b"]) - a.point(p["on_a"]))

    read_names, read_rates, read_fields = QUATERNION, ANGULAR_VELOCITY, {"turn_a": 4, "turn_b": 4}

    def read_numbers(self, elements, A, B):
        """Frames on both bodies whose orientations are the world's as built."""
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(elements), 1))
        return {"turn_a": A.turn(still), "turn_b": B.turn(still)}

    def read_coordinates(self, handles, p):
        """The quaternion of b's frame in a's, and b's angular velocity relative to a in a's axes."""
        a, b = handles
        of_a, of_b = rotation.product(a.quaternion(), p["turn_a"]), rotation.product(b.quaternion(), p["turn_b"])
        turn = rotation.product(rotation.conjugate(of_a), of_b)
        return rotation.shorter(turn), rotation.matrix(of_a).T @ (b.spin() - a.spin())


class AxisRelation(Relation):
    """Relations with a frame (ref, side, axis) on each body, the same in the world as built."""

    fields = {"on_a": 3, "on_b": 3, "ref_a": 3, "side_a": 3, "axis_b": 3, "ref_b": 3}
    needs_directions = (True, True)

    def frame(self, elements, A, B):
        axis_a, axis_b = axes(elements, A, B)
        ref_a = perpendicular(axis_a)
        side_a = np.cross(axis_a, ref_a)
        ref_b = B.axis(A.world_axis(ref_a))
        ref_b -= np.sum(ref_b * axis_b, axis=1, keepdims=True) * axis_b
        ref_b /= np.linalg.norm(ref_b, axis=1, keepdims=True)
        return axis_a, ref_a, side_a, axis_b, ref_b

    def numbers(self, elements, A, B):
        on_a, on_b = anchors(elements, A, B)
        axis_a, ref_a, side_a, axis_b, ref_b = self.frame(elements, A, B)
        found = {"on_a": on_a, "on_b": on_b, "ref_a": ref_a, "side_a": side_a, "axis_b": axis_b, "ref_b": ref_b,
                 "axis_a": axis_a, "side_b": np.cross(axis_b, ref_b)}  # fmt: skip
        return {name: found[name] for name in self.fields if name in found}

    @staticmethod
    def angle(handles, p):
        """(sine, cosine) of the turn of b about the axis."""
        a, b = handles
        ref = b.axis(p["ref_b"])
        return ca.dot(a.axis(p["side_a"]), ref), ca.dot(a.axis(p["ref_a"]), ref)

    def angles(self, handles, p):
        return [self.angle(handles, p)][: self.counters]

    @staticmethod
    def apart(handles, p):
        """From a's anchor to b's."""
        a, b = handles
        return b.point(p["on_b"]) - a.point(p["on_a"])

    @staticmethod
    def along(handles, p):
        """The axes stay parallel: two rows."""
        a, b = handles
        axis = b.axis(p["axis_b"])
        return ca.vertcat(ca.dot(a.axis(p["ref_a"]), axis), ca.dot(a.axis(p["side_a"]), axis))

    def beside(self, handles, p):
        """b's anchor stays on a's axis: two rows."""
        a, d = handles[0], self.apart(handles, p)
        return ca.vertcat(ca.dot(a.axis(p["ref_a"]), d), ca.dot(a.axis(p["side_a"]), d))

    def travel(self, handles, p):
        return ca.dot(handles[0].axis(p["axis_a"]), self.apart(handles, p))

    def travel_rate(self, handles, p):
        a, b = handles
        along = ca.dot(a.axis(p["axis_a"]), b.point_rate(p["on_b"]) - a.point_rate(p["on_a"]))
        return along + ca.dot(a.axis_rate(p["axis_a"]), self.apart(handles, p))

    @staticmethod
    def turn_rate(handles, p):
        """The rate of the angle."""
        a, b = handles
        return ca.dot(cross(a.axis(p["ref_a"]), a.axis(p["side_a"])), b.spin() - a.spin())

    def read_angle(self, handles, p):
        """The counted angle and its rate."""
        return self.counted(handles, p)[0], self.turn_rate(handles, p)

    def read_travel(self, handles, p):
        return self.travel(handles, p), self.travel_rate(handles, p)

    @staticmethod
    def locked(handles, p):
        """The frames stay aligned: three rows."""
        a, b = handles
        return ca.vertcat(ca.dot(a.axis(p["side_a"]), b.axis(p["axis_b"])),
                          ca.dot(a.axis(p["axis_a"]), b.axis(p["ref_b"])),
                          ca.dot(a.axis(p["ref_a"]), b.axis(p["side_b"])))  # fmt: skip


class Hinge(AxisRelation):
    levels = [POSITION] * 5
    counters = 1
    meets = True

    def rows(self, handles, p, t):
        return position_rows(self.apart(handles, p), self.along(handles, p))

    read_names, read_rates = (ANGLE,), (rate_of(ANGLE),)
    read_coordinates = AxisRelation.read_angle


class Slider(AxisRelation):
    fields = {**AxisRelation.fields, "axis_a": 3, "side_b": 3}
    levels = [POSITION] * 5

    def rows(self, handles, p, t):
        return position_rows(self.beside(handles, p), self.locked(handles, p))

    read_names, read_rates = (TRAVEL,), (rate_of(TRAVEL),)
    read_coordinates = AxisRelation.read_travel


class Cylindrical(AxisRelation):
    fields = {**AxisRelation.fields, "axis_a": 3}
    levels = [POSITION] * 4
    counters = 1

    def rows(self, handles, p, t):
        return position_rows(self.beside(handles, p), self.along(handles, p))

    read_names, read_rates = (ANGLE, TRAVEL), (rate_of(ANGLE), rate_of(TRAVEL))

    def read_coordinates(self, handles, p):
        (angle, turning), (travel, speed) = self.read_angle(handles, p), self.read_travel(handles, p)
        return ca.vertcat(angle, travel), ca.vertcat(turning, speed)


class Screw(AxisRelation):
    """The travel is pitch times the turns."""

    fields = {**AxisRelation.fields, "axis_a": 3, "pitch": 1}
    levels = [POSITION] * 5
    counters = 1

    def numbers(self, elements, A, B):
        return {**super().numbers(elements, A, B), "pitch": column(elements, "pitch")}

    def rows(self, handles, p, t):
        (angle,) = self.counted(handles, p)
        advance = self.travel(handles, p) - p["pitch"] / (2 * np.pi) * angle
        return position_rows(self.beside(handles, p), self.along(handles, p), advance)

    read_names, read_rates = (ANGLE,), (rate_of(ANGLE),)
    read_coordinates = AxisRelation.read_angle


class Universal(Relation):
    fields = {"on_a": 3, "on_b": 3, "first": 3, "second": 3}
    levels = [POSITION] * 4
    needs_directions = (True, True)
    meets = True

    def numbers(self, elements, A, B):
        on_a, on_b = anchors(elements, A, B)
        first = A.axis(np.array([e.first for e in elements]))
        return {"on_a": on_a, "on_b": on_b, "first": first, "second": B.axis(np.array([e.second for e in elements]))}

    def rows(self, handles, p, t):
        a, b = handles
        cross_axes = ca.dot(a.axis(p["first"]), b.axis(p["second"]))
        return position_rows(b.point(p["on_b"]) - a.point(p["on_a"]), cross_axes)

    read_names = Quantity("angle about the first axis", "rad"), Quantity("angle about the second axis", "rad")
    read_rates = tuple(map(rate_of, read_names))
    read_fields = {"second_a": 3, "third_a": 3, "first_b": 3, "third_b": 3}

    def read_numbers(self, elements, A, B):
        """Both axes and the one across them as built: those of the cross, on a and on b."""
        first, second = np.array([e.first for e in elements]), np.array([e.second for e in elements])
        third = np.cross(first, second)
        return {"second_a": A.axis(second), "third_a": A.axis(third), "first_b": B.axis(first), "third_b": B.axis(third)}

    def read_coordinates(self, handles, p):
        """From -pi to pi: about the axis on a, then about the one on b."""
        a, b = handles
        first, second, spin = a.axis(p["first"]), b.axis(p["second"]), b.spin() - a.spin()
        about_first = ca.atan2(ca.dot(second, a.axis(p["third_a"])), ca.dot(second, a.axis(p["second_a"])))
        about_second = ca.atan2(ca.dot(first, b.axis(p["third_b"])), ca.dot(first, b.axis(p["first_b"])))
        return ca.vertcat(about_first, about_second), ca.vertcat(ca.dot(first, spin), ca.dot(second, spin))


class Planar(AxisRelation):
    """The normal is the axis of the frame; b's anchor stays in the plane through a's."""

    fields = {**AxisRelation.fields, "axis_a": 3}
    levels = [POSITION] * 3

    def frame(self, elements, A, B):
        return super().frame([_WithAxis(e.normal) for e in elements], A, B)

    def rows(self, handles, p, t):
        return position_rows(self.travel(handles, p), self.along(handles, p))

    read_names = Quantity("travel x", "m"), Quantity("travel y", "m"), ANGLE
    read_rates = tuple(map(rate_of, read_names))

    def read_coordinates(self, handles, p):
        """Travels along two axes of a in the plane, then the angle, from -pi to pi."""
        a, b = handles
        apart, speed = self.apart(handles, p), b.point_rate(p["on_b"]) - a.point_rate(p["on_a"])
        s, c = self.angle(handles, p)
        along = [(ca.dot(a.axis(p[name]), apart), ca.dot(a.axis(p[name]), speed) + ca.dot(a.axis_rate(p[name]), apart))
                 for name in ("ref_a", "side_a")]  # fmt: skip
        (x, vx), (y, vy) = along
        return ca.vertcat(x, y, ca.atan2(s, c)), ca.vertcat(vx, vy, self.turn_rate(handles, p))


class _WithAxis:
    """Stands for an element that calls its axis by another name."""

    def __init__(self, axis):
        self.axis, self.axis_a, self.axis_b = axis, None, None


class Weld(AxisRelation):
    fields = {**AxisRelation.fields, "axis_a": 3, "side_b": 3}
    levels = [POSITION] * 6
    meets = True

    def frame(self, elements, A, B):
        return super().frame([_WithAxis(np.array([0.0, 0.0, 1.0])) for _ in elements], A, B)

    def rows(self, handles, p, t):
        return position_rows(self.apart(handles, p), self.locked(handles, p))


JOINTS: dict[type, Callable] = {
    joints.Ball: Ball, joints.Hinge: Hinge, joints.Slider: Slider, joints.Cylindrical: Cylindrical,
    joints.Universal: Universal, joints.Planar: Planar, joints.Weld: Weld, joints.Screw: Screw,
}  # fmt: skip
