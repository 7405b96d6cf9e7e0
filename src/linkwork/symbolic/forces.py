"""Forces as expressions: what each one does to its bodies, its numbers, and its potential energy.

`law(handles, p, t)` gives the loads, a list of (body, kind, where, vector) with kind "force" (at the local point
`where`), "torque" or "generalised" (along the body's own coordinates), and the potential energy in joules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements import forces
from linkwork.elements.core.constraint_kind import Relation, column
from linkwork.elements.core.constraint_kind import apart as apart_of
from linkwork.elements.core.functions import cross, norm, on_tape
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.parameter import Parameter


@dataclass
class Term:
    """A part of a force's symmetric tangent: a relative motion of the bodies, and how the force answers to it.

    The motion's rate is the sum of weight @ (rate of the point `where`, spin, or rates of coordinates) over its parts; -df/dq
    adds B^T stiffness B, -df/dv adds B^T damping B, with B that rate's derivative by the bodies' velocities.
    """

    motion: list[tuple[int, str, SX | None, SX]]  # body, "point", "spin" or "coordinates", where (3,), weight (k, 3 or n)
    stiffness: SX  # (k, k), symmetric, positive semidefinite
    damping: SX  # (k, k), the same


LOADS = {"point": "force", "spin": "torque", "coordinates": "generalised"}  # what moves -> the kind of load that moves it


def _rate(handle, what: str, where) -> SX:
    if what == "coordinates":
        return handle.coordinate_rates()
    return handle.spin() if what == "spin" else handle.point_rate(where)


@dataclass
class Coordinate:
    """Numbers x (k,) of two bodies; `motion` as in Term: the sum of weight @ (rate of a point, or spin) is x'."""

    value: SX
    motion: list[tuple[int, str, SX | None, SX]]

    def rate(self, handles) -> SX:
        rates = [weight @ _rate(handles[body], what, where) for body, what, where, weight in self.motion]
        return sum(rates[1:], rates[0])

    def loads(self, effort) -> list:
        """What efforts (k,) along the coordinate put on the bodies."""
        return [(body, LOADS[what], where, weight.T @ effort) for body, what, where, weight in self.motion]

    def term(self, stiffness, damping) -> Term:
        return Term(self.motion, ca.diag(stiffness), ca.diag(damping))


@dataclass
class AlongJoint:
    """The coordinate of a joint that has one, where it is the joint that is known and not its bodies."""

    value: SX  # (1,)
    velocity: SX  # (1,)

    def rate(self, handles) -> SX:
        return self.velocity


def turning(value, axes: list[SX]) -> Coordinate:
    """Angles of b relative to a about axes (3,) of the world."""
    weight = ca.horzcat(*axes).T
    return Coordinate(value, [(0, "spin", None, -weight), (1, "spin", None, weight)])


def travelling(handles, p, axes: list[SX]) -> Coordinate:
    """Travels of b's anchor from a's along axes (3,) that a carries: on a they act along a line through b's anchor."""
    apart, weight = apart_of(handles, p), ca.horzcat(*axes).T
    lever = ca.horzcat(*[cross(axis, apart) for axis in axes]).T
    return Coordinate(weight @ apart, [(1, "point", p["on_b"], weight), (0, "point", p["on_a"], -weight),
                                       (0, "spin", None, lever)])  # fmt: skip


class Law(Relation):
    """The base: a force on two bodies (the ground stands in where there is one). Shares the numbers of relations."""

    velocity_dependent = True
    turns_only = False  # a torque that depends on how its bodies are turned, and on nothing else of them
    relative = False  # depends on how its bodies stand and move relative to each other alone
    yields = True  # depends on where its bodies are, or how they move: it may be stiff
    axial = False  # acts along the coordinate of a joint that has one, and depends on that and its rate alone: `along`

    def law(self, handles, p, t) -> tuple[list, SX]:
        raise NotImplementedError

    def along(self, x: AlongJoint, p) -> SX:
        """The force along the coordinate of its joint, (1,)."""
        raise NotImplementedError

    def terms(self, handles, p, t) -> list[Term] | None:
        """The symmetric tangent that implicit steps use, an empty list where it vanishes; None: the symmetric part of the
        exact one."""
        return None


def _points(elements, frames, name):
    return frames.user_point(np.array([getattr(e, name) for e in elements], dtype=float))


class Spring(Law):
    """f = -(k (l - l0) + c l') along the line of its points; Damper is one with k = 0."""

    fields = {"on_a": 3, "on_b": 3, "stiffness": 1, "rest": 1, "damping": 1}
    relative = True

    def __init__(self, element):
        self.velocity_dependent = not (isinstance(element.damping, float) and element.damping == 0.0)
        self.key = f"{element.family.__name__}-{self.velocity_dependent}"

    def numbers(self, elements, A, B):
        on_a, on_b = _points(elements, A, "on_a"), _points(elements, B, "on_b")
        built = np.linalg.norm(B.world_point(on_b) - A.world_point(on_a), axis=1)
        damper = isinstance(elements[0], forces.Damper)
        rest = np.array([getattr(e, "rest", None) for e in elements], dtype=object)
        rest = np.array([b if r is None else r for r, b in zip(rest, built, strict=True)], dtype=object)
        stiffness = np.zeros((len(elements), 1)) if damper else column(elements, "stiffness")
        return {"on_a": on_a, "on_b": on_b, "stiffness": stiffness, "rest": rest.reshape(-1, 1),
                "damping": column(elements, "damping")}  # fmt: skip

    def law(self, handles, p, t):
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        length = norm(d)
        along = d / ca.if_else(length > 0, length, 1)
        stretch = length - p["rest"]
        tension = p["stiffness"] * stretch
        if self.velocity_dependent:
            tension += p["damping"] * ca.dot(along, b.point_rate(p["on_b"]) - a.point_rate(p["on_a"]))
        loads = [(0, "force", p["on_a"], tension * along), (1, "force", p["on_b"], -tension * along)]
        return loads, 0.5 * p["stiffness"] * stretch**2

    def terms(self, handles, p, t):
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        length = norm(d)
        known = length > 0
        along = d / ca.if_else(known, length, 1)
        across = ca.if_else(known, ca.fmax(0, 1 - p["rest"] / ca.if_else(known, length, 1)), 0)
        line, one = along @ along.T, SX.eye(3)
        stiffness = p["stiffness"] * (line + across * (one - line))
        motion = [(0, "point", p["on_a"], -one), (1, "point", p["on_b"], one)]
        return [Term(motion, stiffness, p["damping"] * line if self.velocity_dependent else SX(3, 3))]


class Drag(Law):
    """f = -(c1 + c2 |v|) v at a point; torque -c w."""

    def __init__(self, element):
        self.turning = not (isinstance(element.angular, float) and element.angular == 0.0)
        self.key = f"Drag-{self.turning}"
        self.fields = {"on_b": 3, "linear": 1, "quadratic": 1, "angular": 1}
        self.needs_directions = (False, self.turning)

    @staticmethod
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        scalars = {name: column(elements, name) for name in ("linear", "quadratic", "angular")}
        return {"on_b": _points(elements, B, "at"), **scalars}

    def law(self, handles, p, t):
        b = handles[1]
        v = b.point_rate(p["on_b"])
        loads = [(1, "force", p["on_b"], -(p["linear"] + p["quadratic"] * norm(v)) * v)]
        if self.turning:
            loads.append((1, "torque", None, -p["angular"] * b.spin()))
        return loads, SX(0)

    def terms(self, handles, p, t):
        v, one = handles[1].point_rate(p["on_b"]), SX.eye(3)
        speed = norm(v)
        line = v @ v.T / ca.if_else(speed > 0, speed, 1)
        damping = (p["linear"] + p["quadratic"] * speed) * one + p["quadratic"] * line
        found = [Term([(1, "point", p["on_b"], one)], SX(3, 3), damping)]
        if self.turning:
            found.append(Term([(1, "spin", None, one)], SX(3, 3), p["angular"] * one))
        return found


class Wrench(Law):
    """A given force at a point and a given torque, in the world's or the body's axes."""

    velocity_dependent = yields = False

    def __init__(self, element):
        self.traced = {name: element.traced(name, 3) for name in ("force", "torque") if callable(getattr(element, name))}
        self.turning = "torque" in self.traced or any(not isinstance(x, float) or x != 0.0 for x in np.ravel(element.torque))
        self.in_body = element.frame == "body"
        digests = {name: traced.digest for name, traced in self.traced.items()}
        self.key = f"Wrench-{self.turning}-{self.in_body}-{digests}"
        self.parameters = tuple(p for traced in self.traced.values() for p in traced.parameters)
        self.fields = {"on_b": 3, "axes": 9 if self.in_body else 0, "user": len(self.parameters)}
        self.fields |= {name: 3 for name in ("force", "torque") if name not in self.traced}
        self.needs_directions = (False, self.turning or self.in_body)

    @staticmethod
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        found = {"on_b": _points(elements, B, "at")}
        if self.in_body:
            found["axes"] = np.hstack([B.user_axis(np.tile(e, (len(elements), 1))) for e in np.eye(3)])
        for name in ("force", "torque"):
            if name not in self.traced:
                found[name] = np.array([list(getattr(e, name)) for e in elements], dtype=object)
        return found

    def _vector(self, name, handle, p, t):
        if name in self.traced:
            start = 0 if name == "force" or "force" not in self.traced else len(self.traced["force"].parameters)
            used = p["user"][start : start + len(self.traced[name].parameters)]
            vector = on_tape(self.traced[name], [], [t], used)
        else:
            vector = p[name]
        if not self.in_body:
            return vector
        return sum(vector[k] * handle.axis(p["axes"][3 * k : 3 * k + 3]) for k in range(3))

    def law(self, handles, p, t):
        b = handles[1]
        loads = [(1, "force", p["on_b"], self._vector("force", b, p, t))]
        if self.turning:
            loads.append((1, "torque", None, self._vector("torque", b, p, t)))
        return loads, SX(0)


class Motor(Law):
    """A torque about (a force along) a joint's axis: given, or a servo on its coordinate or rate, within a limit."""

    needs_directions = (True, True)
    relative = axial = True

    def __init__(self, element):
        self.joint = kind_of_joint(element.joint)
        self.sliding = self.joint.slides
        self._manner(element, self.joint.key)
        self.counters = 1 if self.kind == "position" and not self.sliding else 0
        self.turns_only = not self.sliding
        self.fields = {**self.joint.fields, "axis_a": 3, **self.fields}

    def _manner(self, element, moved: str) -> None:
        """What does not depend on what it moves."""
        self.kind, self.limited = element.kind, element.limit is not None
        self.geared, self.ranged = isinstance(element.gear, Parameter) or element.gear != 1.0, element.range is not None
        self.key = f"Motor:{moved}-{self.kind}-{self.limited}-{self.geared}-{self.ranged}"
        self.velocity_dependent = self.yields = self.kind != "torque"
        self.fields = {"kp": 1, "kd": 1, "limit": 1, "command": 1}
        self.fields |= ({"gear": 1} if self.geared else {}) | ({"range": 2} if self.ranged else {})

    @staticmethod
    def bodies(element):
        return element.joint.a, element.joint.b

    def numbers(self, elements, A, B):
        of = [e.joint for e in elements]
        return {**self.joint.numbers(of, A, B), "axis_a": self.joint.frame(of, A, B)[0], **self._gains(elements)}

    def _gains(self, elements):
        limit = np.array([0.0 if e.limit is None else e.limit for e in elements], dtype=object).reshape(-1, 1)
        found = {"kp": column(elements, "kp"), "kd": column(elements, "kd"), "limit": limit,
                 "command": np.zeros((len(elements), 1))}  # fmt: skip
        if self.geared:
            found["gear"] = column(elements, "gear")
        if self.ranged:
            found["range"] = np.array([list(e.range) for e in elements], dtype=object)
        return found

    def angles(self, handles, p):
        return self.joint.angles(handles, p)[: self.counters]

    def _coordinate(self, handles, p) -> Coordinate:
        axis = handles[0].axis(p["axis_a"])
        if self.sliding:
            return travelling(handles, p, [axis])
        return turning(self.counted(handles, p)[0] if self.counters else SX(1, 1), [axis])

    def _gear(self, p) -> SX:
        return p["gear"] if self.geared else SX(1)

    def _effort(self, handles, p, x: Coordinate | AlongJoint) -> SX:
        """Of the motor, before it is limited."""
        command, gear = p["command"], self._gear(p)
        if self.ranged:
            command = ca.fmin(ca.fmax(command, p["range"][0]), p["range"][1])
        if self.kind == "torque":
            return command
        if self.kind == "velocity":
            return p["kd"] * (command - gear * x.rate(handles))
        return p["kp"] * (command - gear * x.value) - p["kd"] * (gear * x.rate(handles))

    def _geared(self, handles, p, x: Coordinate | AlongJoint) -> SX:
        """Along the coordinate."""
        effort = self._effort(handles, p, x)
        if self.limited:
            effort = ca.fmin(ca.fmax(effort, -p["limit"]), p["limit"])
        return self._gear(p) * effort

    def law(self, handles, p, t):
        x = self._coordinate(handles, p)
        return x.loads(self._geared(handles, p, x)), SX(0)

    def along(self, x, p):
        return self._geared((), p, x)

    def terms(self, handles, p, t):
        if self.kind == "torque":
            return []
        x = self._coordinate(handles, p)
        free, square = ca.fabs(self._effort(handles, p, x)) < p["limit"] if self.limited else 1, self._gear(p) ** 2
        stiffness = ca.if_else(free, square * p["kp"], 0) if self.kind == "position" else SX(1, 1)
        return [x.term(stiffness, ca.if_else(free, square * p["kd"], 0))]


class CoordinateMotor(Motor):
    """The same on a generalised coordinate of a body."""

    needs_directions = (False, False)
    relative = axial = False

    def __init__(self, element):
        self.coordinate, self.size = element.coordinate or 0, element.joint.generalised
        self._manner(element, f"coordinate-{self.coordinate}")

    @staticmethod
    def bodies(element):
        return None, element.joint

    def numbers(self, elements, A, B):
        return self._gains(elements)

    def angles(self, handles, p):
        return []

    def _coordinate(self, handles, p) -> Coordinate:
        weight = SX(1, self.size)
        weight[0, self.coordinate] = 1
        return Coordinate(handles[1].coordinates()[self.coordinate], [(1, "coordinates", None, weight)])


def _motor(element) -> Motor:
    return Motor(element) if isinstance(element.joint, Joint) else CoordinateMotor(element)


class UserForce(Law):
    """The user's function: a force on the last body at a point, the opposite on the first, or a torque; or a generalised force
    along the coordinates of its only body."""

    def __init__(self, element):
        self.arity, self.torque, self.generalised = len(element.bodies), element.torque, element.generalised
        self.traced = element.traced("function", element.bodies[-1].generalised if self.generalised else 3)
        self.parameters = tuple(self.traced.parameters)
        self.velocity_dependent = self.traced.uses_velocity
        self.key = f"Force-{self.arity}-{self.torque}{'-generalised' if self.generalised else ''}-{self.traced.digest}"
        self.fields = {"on_a": 3, "on_b": 3, "user": len(self.parameters)}
        asked = [any(what in ("axis", "spin") and n == k for n, what, _ in self.traced.requests) for k in (0, 1)]
        both = (asked[0] or self.torque, asked[1] or self.torque)
        self.needs_directions = (False, both[0]) if self.arity == 1 else both

    @staticmethod
    def bodies(element):
        return (None, *element.bodies)[-2:]

    def numbers(self, elements, A, B):
        return {"on_a": _points(elements, A, "on_a"), "on_b": _points(elements, B, "at")}

    def law(self, handles, p, t):
        f = on_tape(self.traced, handles[2 - self.arity :], [t], p["user"])
        if self.generalised:
            return [(1, "generalised", None, f)], SX(0)
        kind = "torque" if self.torque else "force"
        loads = [(1, kind, p["on_b"], f)]
        if self.arity == 2:
            loads.append((0, kind, p["on_a"], -f))
        return loads, SX(0)


class Cable(Law):
    """A spring in the length of a path through points of bodies: the tension pulls along both parts that meet at a point."""

    def __init__(self, element):
        ends = self.bodies(element)
        self.places: list[int | None] = [
            ends.index(body) if body in ends else None for body in (b if b.dim else None for b in element.bodies)
        ]
        self.velocity_dependent = isinstance(element.damping, Parameter) or element.damping != 0.0
        self.key = f"Cable-{self.places}-{self.velocity_dependent}"
        self.fields = {"at": 3 * len(self.places), "stiffness": 1, "damping": 1, "rest": 2}
        self.needs_directions = self.rigid_only = (False,) * len(ends)
        self.relative = None not in self.places

    @staticmethod
    def bodies(element):
        """Those that move, each once; with a single one, the ground before it."""
        moving = tuple(dict.fromkeys(body for body in element.bodies if body.dim))
        return moving if len(moving) > 1 else (None, *moving)

    def numbers(self, elements, *frames):
        at = [frames[0].ground() if place is None else frames[place] for place in self.places]
        local = [F.user_point(np.array([e.at[k] for e in elements])) for k, F in enumerate(at)]
        world = np.array([F.world_point(p) for F, p in zip(at, local, strict=True)])
        built = np.linalg.norm(np.diff(world, axis=0), axis=2).sum(axis=0)
        rest = [(b, b) if e.rest is None else (e.rest, e.rest) if np.ndim(e.rest) == 0 else tuple(e.rest)
                for e, b in zip(elements, built, strict=True)]  # fmt: skip
        return {"at": np.hstack(local), "stiffness": column(elements, "stiffness"), "damping": column(elements, "damping"),
                "rest": np.array(rest, dtype=object)}  # fmt: skip

    def locals_of(self, p):
        """Local points, (3,) each."""
        return [p["at"][3 * k : 3 * k + 3] for k in range(len(self.places))]

    def _parts(self, handles, p) -> list[tuple[int, SX, SX]]:
        """Of each straight part: the number of its first point, its length and its direction."""
        at = self.locals_of(p)
        ways = [handles[0].ground() if place is None else handles[place] for place in self.places]
        found = []
        for k in range(len(at) - 1):
            d = ways[k + 1].point(at[k + 1]) - ways[k].point(at[k])
            length = norm(d)
            found.append((k, length, d / ca.if_else(length > 0, length, 1)))
        return found

    def _length(self, handles, p) -> Coordinate:
        """The whole length, and how the points change it."""
        at, parts = self.locals_of(p), self._parts(handles, p)
        motion = [(place, "point", at[k + end], (2 * end - 1) * along.T)
                  for k, _, along in parts for end in (0, 1) if (place := self.places[k + end]) is not None]  # fmt: skip
        return Coordinate(sum((length for _, length, _ in parts), SX(0)), motion)

    @staticmethod
    def _stretch(x: Coordinate, p) -> SX:
        return ca.fmax(0, x.value - p["rest"][1]) - ca.fmax(0, p["rest"][0] - x.value)

    def law(self, handles, p, t):
        x = self._length(handles, p)
        stretch = self._stretch(x, p)
        tension = p["stiffness"] * stretch
        if self.velocity_dependent:
            tension += p["damping"] * x.rate(handles)
        return x.loads(-tension), 0.5 * p["stiffness"] * stretch**2

    def terms(self, handles, p, t):
        x, at = self._length(handles, p), self.locals_of(p)
        stretch = self._stretch(x, p)
        found = [x.term(ca.if_else(stretch == 0, 0, p["stiffness"]), p["damping"] if self.velocity_dependent else SX(1, 1))]
        pull = ca.fmax(0, p["stiffness"] * stretch)
        for k, length, along in self._parts(handles, p):
            across = ca.if_else(length > 0, pull / ca.if_else(length > 0, length, 1), 0) * (SX.eye(3) - along @ along.T)
            motion = [(place, "point", at[k + end], (2 * end - 1) * SX.eye(3))
                      for end in (0, 1) if (place := self.places[k + end]) is not None]  # fmt: skip
            found.append(Term(motion, across, SX(3, 3)))
        return found


LAWS: dict[type, Callable] = {
    forces.Spring: Spring, forces.Damper: Spring, forces.Drag: Drag, forces.Wrench: Wrench, forces.Motor: _motor,
    forces.Cable: Cable, forces.Force: UserForce,
}  # fmt: skip
