"""Laws of stiff joints as expressions: springs in what a joint leaves free.

Each is written with *coordinates*: numbers x of two bodies, and the motion whose rate is x'. Forces e along x put the loads
weight^T e on the bodies, which is virtual work; the same motion carries the tangent.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements import joint_forces
from linkwork.elements.core.constraint_kind import apart as apart_of
from linkwork.elements.core.freedom import FreedomLaw
from linkwork.elements.core.functions import cross, norm
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.joint_forces import is_zero, size
from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import skew
from linkwork.symbolic.forces import LAWS, Coordinate, Law, Term, travelling, turning

OPPOSITE = 1e-9  # of 1 + cos: axes so nearly opposite that no turn about them can be told from another


def table(rows: list) -> np.ndarray:
    """(k, n); of floats where no Parameter stands in it."""
    open_ended = any(isinstance(x, Parameter) for row in rows for x in row)
    return np.array(rows, dtype=object if open_ended else float)


def wide(elements, name, count) -> np.ndarray:
    """(k, count): a field of one number or of `count`."""
    return table([list(value) if size(value := getattr(e, name)) > 1 else [value] * count for e in elements])


def resting(elements, name, built) -> np.ndarray:
    """(k, n): a field, and where it is None what holds as built, (k, n)."""
    given = [getattr(e, name) for e in elements]
    return table([b if x is None else list(x) if size(x) > 1 else [x] for x, b in zip(given, built, strict=True)])


class JointLaw(Law):
    """On the bodies of a joint, with the joint's own numbers."""

    needs_directions = (True, True)
    relative = True

    def __init__(self, element):
        self.joint = kind_of_joint(element.joint)
        self.key = f"{type(element).__name__}:{self.joint.key}"

    @staticmethod
    def bodies(element):
        return element.joint.a, element.joint.b

    def joint_numbers(self, elements, A, B) -> dict[str, np.ndarray]:
        of = [e.joint for e in elements]
        return {**self.joint.numbers(of, A, B), "axis_a": self.joint.frame(of, A, B)[0]}


def apart_as_built(numbers, A, B) -> np.ndarray:
    """(k, 3), world: from the anchors on a to those on b."""
    return B.world_point(numbers["on_b"]) - A.world_point(numbers["on_a"])


class AxisSpring(JointLaw):
    """Springs of hinges, screws, cylinders and planes about the axis, of sliders, cylinders and planes along it."""

    def __init__(self, element):
        super().__init__(element)
        self.sliding, self.planar = self.joint.slides, self.joint.lengths == 2
        self.travels = self.sliding or not (is_zero(element.travel_stiffness) and is_zero(element.travel_damping))
        self.counters = 0 if self.sliding else 1
        self.turns_only = not self.travels
        self.axial = self.sliding or self.turns_only
        self.velocity_dependent = not (is_zero(element.damping) and is_zero(element.travel_damping))
        self.key += f"-{self.travels}-{self.velocity_dependent}"
        fields = {"stiffness": 1, "damping": 1, "rest": 1}
        if self.travels and not self.sliding:
            fields |= {"travel_stiffness": 1, "travel_damping": 1, "travel_rest": 2 if self.planar else 1}
        self.fields = {**self.joint.fields, "axis_a": 3, **fields}

    def numbers(self, elements, A, B):
        found = self.joint_numbers(elements, A, B)
        apart = apart_as_built(found, A, B)
        travel = np.sum(A.world_axis(found["axis_a"]) * apart, axis=1, keepdims=True)
        found |= {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        found["rest"] = resting(elements, "rest", travel if self.sliding else np.zeros_like(travel))
        if "travel_rest" in self.fields:
            found |= {name: wide(elements, name, 1) for name in ("travel_stiffness", "travel_damping")}
            if self.planar:
                shift = resting(elements, "travel_rest", apart)
                found["travel_rest"] = np.stack(
                    [np.sum(A.world_axis(found[n]) * shift, axis=1) for n in ("ref_a", "side_a")], 1
                )
            else:
                found["travel_rest"] = resting(elements, "travel_rest", travel)
        return found

    def angles(self, handles, p):
        return [self.joint.angle(handles, p)][: self.counters]

    def springs(self, handles, p) -> list[tuple[Coordinate, SX, SX, SX]]:
        """(coordinate, stiffness, damping, rest) of each."""
        a, found = handles[0], []
        if not self.sliding:
            angle = turning(self.counted(handles, p)[0], [a.axis(p["axis_a"])])
            found.append((angle, p["stiffness"], p["damping"], p["rest"]))
        if self.travels:
            prefix = "" if self.sliding else "travel_"
            travel = travelling(handles, p, [a.axis(p[name]) for name in (("ref_a", "side_a") if self.planar else ("axis_a",))])
            k, c, rest = (p[prefix + name] for name in ("stiffness", "damping", "rest"))
            count = travel.value.shape[0]
            found.append((travel, ca.repmat(k, count, 1), ca.repmat(c, count, 1), rest))
        return found

    def law(self, handles, p, t):
        loads, energy = [], SX(0)
        for x, stiffness, damping, rest in self.springs(handles, p):
            effort = -stiffness * (x.value - rest)
            if self.velocity_dependent:
                effort -= damping * x.rate(handles)
            loads += x.loads(effort)
            energy += 0.5 * ca.dot(stiffness, (x.value - rest) ** 2)
        return loads, energy

    def along(self, x, p):
        effort = -p["stiffness"] * (x.value - p["rest"])
        return effort - p["damping"] * x.rate(()) if self.velocity_dependent else effort

    def terms(self, handles, p, t):
        return [x.term(stiffness, damping) for x, stiffness, damping, _ in self.springs(handles, p)]


class UniversalLaw(JointLaw):
    """About the cross's first axis (on a) and second axis (on b)."""

    counters, turns_only = 2, True
    crosses = {"second_a": 3, "third_a": 3, "first_b": 3, "third_b": 3}

    def __init__(self, element):
        JointLaw.__init__(self, element)
        self.velocity_dependent = not is_zero(element.damping)
        self.key += f"-{self.velocity_dependent}"

    def cross_numbers(self, elements, A, B) -> dict[str, np.ndarray]:
        of = [e.joint for e in elements]
        first, second = np.array([j.first for j in of]), np.array([j.second for j in of])
        third = np.cross(first, second)
        crosses = {"second_a": A.axis(second), "third_a": A.axis(third), "first_b": B.axis(first), "third_b": B.axis(third)}
        return {**self.joint.numbers(of, A, B), **crosses}

    def angles(self, handles, p):
        a, b = handles
        first, second = a.axis(p["first"]), b.axis(p["second"])
        return [(ca.dot(second, a.axis(p["third_a"])), ca.dot(second, a.axis(p["second_a"]))),
                (ca.dot(first, b.axis(p["third_b"])), ca.dot(first, b.axis(p["first_b"])))]  # fmt: skip

    @staticmethod
    def axes(handles, p) -> list[SX]:
        return [handles[0].axis(p["first"]), handles[1].axis(p["second"])]


class UniversalSpring(UniversalLaw, AxisSpring):
    """Springs about both axes."""

    def __init__(self, element):
        UniversalLaw.__init__(self, element)
        self.fields = {**self.joint.fields, **self.crosses, "stiffness": 2, "damping": 2, "rest": 2}

    def numbers(self, elements, A, B):
        springs = {name: wide(elements, name, 2) for name in ("stiffness", "damping")}
        return {
            **self.cross_numbers(elements, A, B),
            **springs,
            "rest": resting(elements, "rest", np.zeros((len(elements), 2))),
        }

    def springs(self, handles, p):
        angles = ca.vertcat(*self.counted(handles, p))
        return [(turning(angles, self.axes(handles, p)), p["stiffness"], p["damping"], p["rest"])]


class TurnLaw(Law):
    """The base of laws on the turn of b relative to a since they were built, and to a rest."""

    needs_directions = (True, True)
    turns_only = relative = True
    turns = {"turn_a": 4, "turn_b": 4}

    def turn_numbers(self, rests, A, B) -> dict[str, np.ndarray]:
        """rests: (k, 4). The frames whose orientations are the world's on a, and the world's on b at rest."""
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(rests), 1))
        shorter = np.where(rests[:, :1] < 0, -rests, rests)
        return {"turn_a": A.turn(still), "turn_b": B.turn(shorter * (1, -1, -1, -1))}

    @staticmethod
    def turn(handles, p) -> tuple[SX, SX]:
        """(4,): the turn of b relative to a, in the world; (4,): the orientation of the axes that a carries."""
        a, b = handles
        frame = rotation.product(a.quaternion(), p["turn_a"])
        turn = rotation.product(rotation.product(b.quaternion(), p["turn_b"]), rotation.conjugate(frame))
        return turn if a.counts_turns and b.counts_turns else rotation.shorter(turn), frame


class BallSpring(TurnLaw):
    """A torque along the rotation vector, T = -k phi u - c (w_b - w_a); with three stiffnesses down the gradient of
    sum k_i phi_i^2 / 2, phi_i along the axes that a carries."""

    def __init__(self, element):
        self.count = 3 if size(element.stiffness) == 3 or size(element.damping) == 3 else 1
        self.velocity_dependent = not is_zero(element.damping)
        self.key = f"BallSpring-{self.count}-{self.velocity_dependent}"
        self.fields = {**self.turns, "stiffness": self.count, "damping": self.count}

    @staticmethod
    def bodies(element):
        pair = getattr(element, "joint", element)
        return pair.a, pair.b

    def numbers(self, elements, A, B):
        rests = [(1.0, 0.0, 0.0, 0.0) if e.rest is None else e.rest for e in elements]
        springs = {name: wide(elements, name, self.count) for name in ("stiffness", "damping")}
        return {**self.turn_numbers(np.array(rests, dtype=float), A, B), **springs}

    def _in_world(self, frame, coefficients) -> SX:
        """(3, 3): coefficients along the axes that a carries."""
        if self.count == 1:
            return coefficients * SX.eye(3)
        axes = rotation.matrix(frame)
        return axes @ ca.diag(coefficients) @ axes.T

    def law(self, handles, p, t):
        turn, frame = self.turn(handles, p)
        phi, u = rotation.vector(turn)
        pull = self._in_world(frame, p["stiffness"]) @ phi
        torque = -pull if self.count == 1 else -by_turn(turn, phi, u, pull)
        if self.velocity_dependent:
            torque -= self._in_world(frame, p["damping"]) @ (handles[1].spin() - handles[0].spin())
        return [(0, "torque", None, -torque), (1, "torque", None, torque)], 0.5 * ca.dot(phi, pull)

    def terms(self, handles, p, t):
        turn, frame = self.turn(handles, p)
        half = turn_tangent(turn, root=True)
        stiffness = half @ self._in_world(frame, p["stiffness"]) @ half
        if self.count == 1:
            stiffness = p["stiffness"] * turn_tangent(turn)
        damping = self._in_world(frame, p["damping"]) if self.velocity_dependent else SX(3, 3)
        return [Term([(0, "spin", None, -SX.eye(3)), (1, "spin", None, SX.eye(3))], stiffness, damping)]


def by_turn(turn, phi, u, pull) -> SX:
    """Jl^-T pull, where the rotation vector phi changes by Jl^-1 times a turn: the torque that pulls along phi."""
    g = rotation.slack(turn)
    return g * pull + (1 - g) * ca.dot(u, pull) * u + 0.5 * cross(phi, pull)


def turn_tangent(turn, root: bool = False) -> SX:
    """S = sym(Jl^-1) = g 1 + (1 - g) u u^T, positive semidefinite: g is taken as zero beyond pi. Or its root."""
    g, (_, u) = ca.fmax(rotation.slack(turn), 0), rotation.vector(turn)
    g = ca.sqrt(g) if root else g
    return g * SX.eye(3) + (1 - g) * (u @ u.T)


def eased(push, drag) -> SX:
    """What a spring and a damper push together, the damper by no more than the spring: no jump where they begin, no pull
    where they end."""
    most = ca.fabs(push)
    return push + ca.fmin(ca.fmax(drag, -most), most)


def eased_shares(push, drag) -> tuple[SX, SX]:
    """How many stiffnesses and dampings answer to a small motion: one each; (2, 0) or (0, 0) where the damper is held back."""
    there, held = push != 0, ca.fabs(drag) >= ca.fabs(push)  # numbers, 0 or 1: CasADi copies if_else into every product
    return there * (1 + held * (2 * (push * drag > 0) - 1)), there * (1 - held)


class Stop:
    """A one-sided spring: bounds (lower, upper) on a coordinate (1,)."""

    def __init__(self, x: Any, lower, upper):
        """x: a Coordinate; where forces along a joint alone are asked for, AlongJoint."""
        self.x = x
        self.beyond = ca.fmax(x.value - upper, 0) + ca.fmin(x.value - lower, 0)


class Limit(Law):
    """The base of limits: a spring and a damper, eased, beyond the bounds."""

    def stops(self, handles, p) -> list[Stop]:
        raise NotImplementedError

    def _efforts(self, stop: Stop, handles, p) -> tuple[SX, SX]:
        """Of the spring, of the damper, against the motion beyond."""
        return p["stiffness"] * stop.beyond, p["damping"] * stop.x.rate(handles) if self.velocity_dependent else SX(0)

    def law(self, handles, p, t):
        loads, energy = [], SX(0)
        for stop in self.stops(handles, p):
            push, drag = self._efforts(stop, handles, p)
            loads += stop.x.loads(-(eased(push, drag) if self.velocity_dependent else push))
            energy += 0.5 * push * stop.beyond
        return loads, energy

    def terms(self, handles, p, t):
        found = []
        for stop in self.stops(handles, p):
            push, drag = self._efforts(stop, handles, p)
            shares = eased_shares(push, drag) if self.velocity_dependent else (push != 0, SX(0))
            found.append(stop.x.term(shares[0] * p["stiffness"], shares[1] * p["damping"]))
        return found


class AxisLimit(JointLaw, Limit):
    """Of the angle of hinges, screws and planes, of the travel of sliders, of either of cylinders."""

    axial = True

    def __init__(self, element):
        super().__init__(element)
        self.angular = element.twist is not None or self.joint.lengths != 1
        self.counters = 1 if self.angular else 0
        self.turns_only = self.angular
        self.velocity_dependent = not is_zero(element.damping)
        self.key += f"-{self.angular}-{self.velocity_dependent}"
        self.fields = {**self.joint.fields, "axis_a": 3, "stiffness": 1, "damping": 1, "bounds": 2}

    def numbers(self, elements, A, B):
        springs = {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        return {
            **self.joint_numbers(elements, A, B),
            **springs,
            "bounds": np.array([bounds(e) for e in elements], dtype=object),
        }

    def angles(self, handles, p):
        return [self.joint.angle(handles, p)][: self.counters]

    def stops(self, handles, p):
        axis = handles[0].axis(p["axis_a"])
        x = turning(self.counted(handles, p)[0], [axis]) if self.angular else travelling(handles, p, [axis])
        return [Stop(x, p["bounds"][0], p["bounds"][1])]

    def along(self, x, p):
        push, drag = self._efforts(Stop(x, p["bounds"][0], p["bounds"][1]), (), p)
        return -(eased(push, drag) if self.velocity_dependent else push)


class ReachLimit(JointLaw, Limit):
    """Of the distance in its plane that a planar joint's anchors are apart."""

    def __init__(self, element):
        super().__init__(element)
        self.velocity_dependent = not is_zero(element.damping)
        self.key += f"-reach-{self.velocity_dependent}"
        self.fields = {**self.joint.fields, "axis_a": 3, "stiffness": 1, "damping": 1, "reach": 1}

    def numbers(self, elements, A, B):
        return self.joint_numbers(elements, A, B) | {
            name: wide(elements, name, 1) for name in ("stiffness", "damping", "reach")
        }

    def stops(self, handles, p):
        apart, normal = self.joint.apart(handles, p), handles[0].axis(p["axis_a"])
        beside = apart - ca.dot(normal, apart) * normal
        return [Stop(travelling(handles, p, [beside / ca.sqrt(ca.sumsqr(beside) + rotation.TINY)]), 0, p["reach"])]


def bounds(element, count: int = 1) -> list:
    """[lower, upper] of each of `count` coordinates, infinite where there is none."""
    if element.twist is not None:
        return list(element.twist)
    ends = [(element.lower, -np.inf), (element.upper, np.inf)]
    wides = [[none] * count if x is None else list(x) if size(x) > 1 else [x] * count for x, none in ends]
    return [x for pair in zip(*wides, strict=True) for x in pair]


class UniversalLimit(UniversalLaw, Limit):
    """Of the turns about both axes."""

    def __init__(self, element):
        UniversalLaw.__init__(self, element)
        self.fields = {**self.joint.fields, **self.crosses, "stiffness": 1, "damping": 1, "bounds": 4}

    def numbers(self, elements, A, B):
        springs = {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        limits = np.array([bounds(e, 2) for e in elements], dtype=object)
        return {**self.cross_numbers(elements, A, B), **springs, "bounds": limits}

    def stops(self, handles, p):
        turns = zip(self.counted(handles, p), self.axes(handles, p), strict=True)
        return [Stop(turning(x, [axis]), p["bounds"][2 * k], p["bounds"][2 * k + 1]) for k, (x, axis) in enumerate(turns)]


class BallLimit(TurnLaw, Limit):
    """Of the angle between an axis on a and on b (cone), and of the turn about it (twist)."""

    def __init__(self, element):
        self.coned, self.twisted = element.cone is not None, element.twist is not None
        self.velocity_dependent = not is_zero(element.damping)
        self.key = f"BallLimit-{self.coned}-{self.twisted}-{self.velocity_dependent}"
        self.fields = {**self.turns, "axis_a": 3, "axis_b": 3, "stiffness": 1, "damping": 1, "cone": 1, "bounds": 2}

    @staticmethod
    def bodies(element):
        return element.joint.a, element.joint.b

    def numbers(self, elements, A, B):
        along = np.array([e.axis for e in elements])
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(elements), 1))
        cone = table([[0.0 if e.cone is None else e.cone] for e in elements])
        twist = table([[0.0, 0.0] if e.twist is None else list(e.twist) for e in elements])
        springs = {name: wide(elements, name, 1) for name in ("stiffness", "damping")}
        return {**self.turn_numbers(still, A, B), "axis_a": A.axis(along), "axis_b": B.axis(along), **springs,
                "cone": cone, "bounds": twist}  # fmt: skip

    def stops(self, handles, p):
        a, b = handles
        axes, found = (a.axis(p["axis_a"]), b.axis(p["axis_b"])), []
        if self.coned:
            found.append(Stop(swing(*axes), 0, p["cone"]))
        if self.twisted:
            found.append(Stop(twist(self.turn(handles, p)[0], *axes), p["bounds"][0], p["bounds"][1]))
        return found


def swing(axis_a, axis_b) -> Coordinate:
    """The angle from an axis of a to one of b; its rate is the turn about what is perpendicular to both."""
    across = cross(axis_a, axis_b)
    sine = ca.sqrt(ca.sumsqr(across) + rotation.TINY)
    return turning(ca.atan2(sine, ca.dot(axis_a, axis_b)), [across / sine])


def twist(turn, axis_a, axis_b) -> Coordinate:
    """The turn about an axis, of which the rest is a swing from a's axis to b's; without meaning where they are opposite."""
    sine, cosine = ca.dot(turn[1:4], axis_a), turn[0]
    return turning(2 * ca.atan2(sine, cosine), [(axis_a + axis_b) / ca.fmax(1 + ca.dot(axis_a, axis_b), OPPOSITE)])


class Follow(Law):
    """Springs to a target (position, orientation, velocity, angular velocity) given for the time `when`: at other times it
    has moved on evenly. The orientation is that of the user's frame."""

    target = {"when": 1, "position": 3, "orientation": 4, "velocity": 3, "spin": 3}

    def __init__(self, element):
        self.turns = element.turns
        self.velocity_dependent = not (is_zero(element.damping) and is_zero(element.angular_damping))
        self.needs_directions = (False, self.turns)
        self.key = f"Follow-{self.turns}-{self.velocity_dependent}"
        self.fields = {"on_b": 3, "turn_b": 4, **dict.fromkeys(element.COEFFICIENTS, 1), **self.target}

    @staticmethod
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        on_b = B.user_point(np.array([e.at for e in elements], dtype=float))
        found = {name: wide(elements, name, 1) for name in elements[0].COEFFICIENTS}
        found |= {"on_b": on_b, "position": B.world_point(on_b)}
        if self.turns:
            found |= {"turn_b": B.user_turn(), "orientation": B.user_orientation()}
        return found

    def _off(self, handles, p, t) -> tuple[SX, SX]:
        """(3,): the point from where it should be; (4,): the turn of the body from its target, in the world."""
        b, late = handles[1], t - p["when"]
        off = b.point(p["on_b"]) - (p["position"] + late * p["velocity"])
        if not self.turns:
            return off, SX(4, 1)
        wanted = rotation.turned(p["orientation"], late * p["spin"])
        turn = rotation.product(rotation.product(b.quaternion(), p["turn_b"]), rotation.conjugate(wanted))
        return off, rotation.shorter(turn)

    def law(self, handles, p, t):
        b, (off, turn) = handles[1], self._off(handles, p, t)
        force, energy = -p["stiffness"] * off, 0.5 * p["stiffness"] * ca.sumsqr(off)
        if self.velocity_dependent:
            force -= p["damping"] * (b.point_rate(p["on_b"]) - p["velocity"])
        if not self.turns:
            return [(1, "force", p["on_b"], force)], energy
        phi, _ = rotation.vector(turn)
        torque = -p["angular_stiffness"] * phi
        if self.velocity_dependent:
            torque -= p["angular_damping"] * (b.spin() - p["spin"])
        energy += 0.5 * p["angular_stiffness"] * ca.sumsqr(phi)
        return [(1, "force", p["on_b"], force), (1, "torque", None, torque)], energy

    def terms(self, handles, p, t):
        one, (_, turn) = SX.eye(3), self._off(handles, p, t)
        found = [Term([(1, "point", p["on_b"], one)], p["stiffness"] * one, p["damping"] * one)]
        if self.turns:
            stiffness, damping = p["angular_stiffness"] * turn_tangent(turn), p["angular_damping"] * one
            found.append(Term([(1, "spin", None, one)], stiffness, damping))
        return found


class Contact(Law):
    """A sphere (or point) of b on a plane or sphere of a: k depth + c depth', eased, while they overlap; friction against
    the slip s of the touching points, mu N s / sqrt(s^2 + slip^2)."""

    relative = True

    def __init__(self, element):
        self.flat, self.rubs = element.plane is not None, not is_zero(element.friction)
        self.velocity_dependent = self.rubs or not is_zero(element.damping)
        self.ball = not is_zero(element.radius)
        self.needs_directions = (self.flat or self.rubs, self.rubs and self.ball)
        self.rigid_only = (self.flat, False)  # a plane that stretches
        self.key = f"Contact-{self.flat}-{self.rubs}-{self.ball}-{self.velocity_dependent}"
        figure = {"normal": 3} if self.flat else {"around": 1}
        self.fields = {
            "on_a": 3,
            "on_b": 3,
            **figure,
            **dict.fromkeys(("stiffness", "damping", "radius", "friction", "slip"), 1),
        }

    def numbers(self, elements, A, B):
        figures = [e.plane if self.flat else e.sphere for e in elements]
        on_a = A.user_point(np.array([point for point, _ in figures], dtype=float))
        found = {name: wide(elements, name, 1) for name in ("stiffness", "damping", "radius", "friction", "slip")}
        if self.flat:
            found["normal"] = A.user_axis(np.array([normal for _, normal in figures], dtype=float))
        else:
            found["around"] = np.array([[radius] for _, radius in figures], dtype=float)
        return {"on_a": on_a, "on_b": B.user_point(np.array([e.at for e in elements], dtype=float)), **found}

    def _gap(self, handles, p) -> tuple[Coordinate, SX]:
        """How far apart they are, and the normal (3,), towards b."""
        if self.flat:
            normal = handles[0].axis(p["normal"])
            gap = travelling(handles, p, [normal])
            return Coordinate(gap.value - p["radius"], gap.motion), normal
        apart = apart_of(handles, p)
        length = norm(apart)
        normal = apart / ca.if_else(length > 0, length, 1)
        motion: list = [(1, "point", p["on_b"], normal.T), (0, "point", p["on_a"], -normal.T)]
        return Coordinate(length - p["radius"] - p["around"], motion), normal

    def _efforts(self, handles, p, gap) -> tuple[SX, SX]:
        """What spring and damper push, before the damper is eased."""
        push = p["stiffness"] * ca.fmax(-gap.value, 0)
        return push, -p["damping"] * gap.rate(handles) if self.velocity_dependent else SX(0)

    def _press(self, handles, p, gap) -> SX:
        """The force between them."""
        push, drag = self._efforts(handles, p, gap)
        return eased(push, drag) if self.velocity_dependent else push

    def _slip(self, handles, p, normal) -> Coordinate:
        """The motion of b's touching point across a's: the rate alone is of use."""
        across = SX.eye(3) - normal @ normal.T
        touch = handles[1].point(p["on_b"]) - p["radius"] * normal
        motion: list = [(1, "point", p["on_b"], across), (0, "point", p["on_a"], -across),
                        (0, "spin", None, across @ skew(touch - handles[0].point(p["on_a"])))]  # fmt: skip
        if self.ball:
            motion.append((1, "spin", None, across @ skew(p["radius"] * normal)))
        return Coordinate(SX(3, 1), motion)

    def law(self, handles, p, t):
        gap, normal = self._gap(handles, p)
        press = self._press(handles, p, gap)
        loads = gap.loads(press)
        if self.rubs:
            slip = self._slip(handles, p, normal)
            rate = slip.rate(handles)
            loads += slip.loads(-p["friction"] * press * rate / ca.sqrt(ca.sumsqr(rate) + p["slip"] ** 2))
        return loads, 0.5 * p["stiffness"] * ca.fmin(gap.value, 0) ** 2

    def terms(self, handles, p, t):
        gap, normal = self._gap(handles, p)
        press = self._press(handles, p, gap)
        shares = eased_shares(*self._efforts(handles, p, gap))
        found = [gap.term(shares[0] * p["stiffness"], shares[1] * p["damping"])]
        if self.rubs:
            slip = self._slip(handles, p, normal)
            rate = slip.rate(handles)
            speed = ca.sqrt(ca.sumsqr(rate) + p["slip"] ** 2)
            # the secant, not the derivative: a single linearised step then stops what slips, and does not throw it back
            found.append(Term(slip.motion, SX(3, 3), p["friction"] * press / speed * SX.eye(3)))
        return found


# by what a joint says of its freedoms; elements refuse joints that leave nothing free
SPRINGS = {FreedomLaw.AXIS: AxisSpring, FreedomLaw.CROSS: UniversalSpring, FreedomLaw.ROTATION: BallSpring}
LIMITS = {FreedomLaw.AXIS: AxisLimit, FreedomLaw.CROSS: UniversalLimit, FreedomLaw.ROTATION: BallLimit}
assert set(SPRINGS) == set(LIMITS) == set(FreedomLaw) - {FreedomLaw.NONE}


def _joint_limit(element) -> Law:
    if element.reach is not None:
        return ReachLimit(element)
    return LIMITS[kind_of_joint(element.joint).law](element)


def _joint_spring(element) -> Law:
    return SPRINGS[kind_of_joint(element.joint).law](element)


LAWS |= {
    joint_forces.JointSpring: _joint_spring, joint_forces.TorsionSpring: BallSpring, joint_forces.JointLimit: _joint_limit,
    joint_forces.Follow: Follow, joint_forces.ContactSpring: Contact,
}  # fmt: skip
