"""Constraints that are no joints, as rows: distances, points on figures, gears, rolling, prescribed motion, any function."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from linkwork.elements import constraints
from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import Relation, anchors, column, perpendicular, position_rows
from linkwork.elements.core.functions import cross, on_tape
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION, VELOCITY
from linkwork.symbolic.surfaces import PointOnOwnCoordinates, Tangent


class Distance(Relation):
    fields = {"on_a": 3, "on_b": 3, "length": 1}
    levels = [POSITION]

    def numbers(self, elements, A, B):
        on_a = A.user_point(np.array([e.on_a for e in elements], dtype=float))
        on_b = B.user_point(np.array([e.on_b for e in elements], dtype=float))
        built = np.linalg.norm(B.world_point(on_b) - A.world_point(on_a), axis=1)
        for e, length in zip(elements, built, strict=True):
            if length < 1e-12:
                checks.fail(e, "its two points coincide as built", "move one of them, or use a Ball")
        length = column(elements, "length")
        missing = np.array([x is None for x in length[:, 0]])
        length[missing, 0] = built[missing]
        return {"on_a": on_a, "on_b": on_b, "length": length}

    def rows(self, handles, p, t):
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        return position_rows(ca.sqrt(ca.sumsqr(d)) - p["length"])


class PointOnPlane(Relation):
    fields = {"on_a": 3, "on_b": 3, "normal": 3}
    levels = [POSITION]
    needs_directions = (True, False)

    def numbers(self, elements, A, B):
        on_a, on_b = anchors(elements, A, B)
        normal = [A.normal(e.normal[None], np.array([k]))[0] if e.normal is not None
                  else A.user_normal(e.normal_a, np.array([k]))[0] for k, e in enumerate(elements)]  # fmt: skip
        return {"on_a": on_a, "on_b": on_b, "normal": np.array(normal)}

    def rows(self, handles, p, t):
        a, b = handles
        return position_rows(ca.dot(a.normal(p["normal"]), b.point(p["on_b"]) - a.point(p["on_a"])))


class PointOnLine(Relation):
    fields = {"on_a": 3, "on_b": 3, "beside": 3, "above": 3}
    levels = [POSITION] * 2
    needs_directions = (True, False)

    def numbers(self, elements, A, B):
        on_a, on_b = anchors(elements, A, B)
        line = np.array([A.line(e.axis[None], np.array([k]))[0] if e.axis is not None
                         else A.user_line(e.axis_a, np.array([k]))[0] for k, e in enumerate(elements)])  # fmt: skip
        line /= np.linalg.norm(line, axis=1, keepdims=True)
        beside = perpendicular(line)
        return {"on_a": on_a, "on_b": on_b, "beside": beside, "above": np.cross(line, beside)}

    def rows(self, handles, p, t):
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["on_a"])
        return position_rows(ca.dot(a.normal(p["beside"]), d), ca.dot(a.normal(p["above"]), d))


class PointOnLocus(Relation):
    """PointOnCurve (two expressions of a local point) and PointOnSurface (one)."""

    needs_directions = (True, False)

    def __init__(self, element):
        field, size = ("curve", 2) if isinstance(element, constraints.PointOnCurve) else ("surface", 1)
        self.traced = element.traced(field, size)
        self.parameters = tuple(self.traced.parameters)
        self.key = f"locus:{self.traced.digest}"
        self.levels = [POSITION] * size
        self.fields = {"origin": 3, "axes": 9, "on_b": 3, "user": len(self.parameters)}

    def numbers(self, elements, A, B):
        k = len(elements)
        axes = [A.user_normal(np.tile(e, (k, 1))) for e in np.eye(3)]
        on_b = B.user_point(np.array([e.on_b for e in elements], dtype=float))
        return {"origin": A.user_point(np.zeros((k, 3))), "axes": np.hstack(axes), "on_b": on_b}

    def rows(self, handles, p, t):
        a, b = handles
        d = b.point(p["on_b"]) - a.point(p["origin"])
        local = ca.vertcat(*[ca.dot(a.normal(p["axes"][3 * k : 3 * k + 3]), d) for k in range(3)])
        return position_rows(on_tape(self.traced, [], [local], p["user"]))


class Gear(Relation):
    """Coordinates of two joints, or their rates, keep a ratio. Its bodies are those of both joints that move, each once."""

    def __init__(self, element):
        pair = {"a": element.a, "b": element.b}
        self.joints = {end: kind_of_joint(joint) for end, joint in pair.items()}
        self.sliding = {end: joint.slides for end, joint in self.joints.items()}
        moving = self.bodies(element)
        self.ends = {end: [_place(moving, body) for body in (joint.a, joint.b)] for end, joint in pair.items()}
        self.key = f"Gear-{element.level}-{[j.key for j in self.joints.values()]}-{list(self.ends.values())}"
        self.levels = [element.level]
        self.turning = [end for end in "ab" if not self.sliding[end]] if element.level == POSITION else []
        self.counters = len(self.turning)
        self.fields = {f"{end}_{name}": size for end, joint in self.joints.items()
                       for name, size in ({**joint.fields, "axis_a": 3}).items()}  # fmt: skip
        self.fields |= {"ratio": 1, "offset": 1}
        self.needs_directions, self.rigid_only = (True,) * len(moving), (False,) * len(moving)

    @staticmethod
    def bodies(element):
        every = [body for joint in (element.a, element.b) for body in (joint.a, joint.b)]
        return tuple(dict.fromkeys(body for body in every if body.dim))

    def numbers(self, elements, *frames):
        offsets = [0.0 if e.offset is None else e.offset for e in elements]
        found = {"ratio": column(elements, "ratio"), "offset": np.array(offsets, dtype=object).reshape(-1, 1)}
        for end, joint in self.joints.items():
            of = [getattr(e, end) for e in elements]
            A, B = (frames[0].ground() if k is None else frames[k] for k in self.ends[end])
            own = {**joint.numbers(of, A, B), "axis_a": joint.frame(of, A, B)[0]}
            found |= {f"{end}_{name}": values for name, values in own.items()}
        return found

    def _of(self, end: str, handles, p):
        """The two bodies of a joint, and its numbers."""
        names = (*self.joints[end].fields, "axis_a")
        return [handles[0].ground() if k is None else handles[k] for k in self.ends[end]], {n: p[f"{end}_{n}"] for n in names}

    def angles(self, handles, p):
        return [self.joints[end].angle(*self._of(end, handles, p)) for end in self.turning]

    def rows(self, handles, p, t):
        found, angles = [], iter(self.counted(handles, p))
        for end, joint in self.joints.items():
            (a, b), own = self._of(end, handles, p)
            if self.levels == [POSITION]:
                found.append(joint.travel((a, b), own) if self.sliding[end] else next(angles))
            else:
                on_ground = self.ends[end][1] is None  # whose axis does not drift
                axis = b.axis(own["axis_b"]) if on_ground else a.axis(own["axis_a"])
                spin = ca.dot(axis, b.spin() - a.spin())
                found.append(joint.travel_rate((a, b), own) if self.sliding[end] else spin)
        return [(self.levels[0], found[0] - p["ratio"] * found[1] - p["offset"])]


def _place(moving, body) -> int | None:
    """Which of some bodies this is; None: the ground."""
    return None if body.dim == 0 else moving.index(body)


class Rolling(Relation):
    """b (a ball, or a disc with an axle) touches a plane of a and does not slip: one position row, two velocity rows."""

    fields = {"on_a": 3, "normal": 3, "first": 3, "second": 3, "centre": 3, "radius": 1, "axle": 3}
    levels = [POSITION, VELOCITY, VELOCITY]
    needs_directions = (True, True)
    rigid_only = (True, True)

    def __init__(self, element):
        self.disc = element.axis is not None
        self.key = f"Rolling-{'disc' if self.disc else 'ball'}"

    def numbers(self, elements, A, B):
        k = len(elements)
        normal = A.axis(np.array([e.normal for e in elements]))
        first = perpendicular(normal)
        axle = B.axis(np.array([e.axis for e in elements])) if self.disc else np.zeros((k, 3))
        return {"on_a": A.point(np.array([e.at for e in elements])), "normal": normal, "first": first,
                "second": np.cross(normal, first), "centre": B.user_point(np.zeros((k, 3))),
                "radius": column(elements, "radius"), "axle": axle}  # fmt: skip

    def rows(self, handles, p, t):
        a, b = handles
        n, centre, foot = a.axis(p["normal"]), b.point(p["centre"]), a.point(p["on_a"])
        if self.disc:
            axle = b.axis(p["axle"])
            down = n - ca.dot(n, axle) * axle
            height = ca.sqrt(ca.sumsqr(down))
            arm = -p["radius"] * down / height
            gap = ca.dot(n, centre - foot) - p["radius"] * height
        else:
            arm = -p["radius"] * n
            gap = ca.dot(n, centre - foot) - p["radius"]
        slip = b.point_rate(p["centre"]) + cross(b.spin(), arm)
        slip -= a.point_rate(p["on_a"]) + cross(a.spin(), centre + arm - foot)
        return [(POSITION, gap), *[(VELOCITY, ca.dot(a.axis(p[name]), slip)) for name in ("first", "second")]]


class Skate(Relation):
    """A point of the body moves only along its blade, seen along the normal."""

    fields = {"on_b": 3, "blade": 3, "normal": 3}
    levels = [VELOCITY]
    needs_directions = (False, True)

    @staticmethod
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        at = [B.point(e.at[None], np.array([k]))[0] if e.at is not None
              else B.user_point(np.zeros(3), np.array([k]))[0] for k, e in enumerate(elements)]  # fmt: skip
        blade = B.axis(np.array([e.direction for e in elements]))
        return {"on_b": np.array(at), "blade": blade, "normal": np.array([e.normal for e in elements])}

    def rows(self, handles, p, t):
        b = handles[1]
        across = cross(p["normal"], b.axis(p["blade"]))
        return [(VELOCITY, ca.dot(across, b.point_rate(p["on_b"])))]


class OnJoint(Relation):
    """Drive and Motion of a joint's coordinate: the joint's own numbers, and a function of time."""

    forced = True

    def __init__(self, element, joint, field, level):
        self.joint = kind_of_joint(joint)
        self.sliding = self.joint.slides
        self.traced = element.traced(field, 1)
        self.parameters = tuple(self.traced.parameters)
        self.key = f"{element.family.__name__}:{self.joint.key}:{self.traced.digest}"
        self.levels = [level]
        self.fields = {**self.joint.fields, "axis_a": 3, "user": len(self.parameters)}
        self.needs_directions = (True, True)
        self.counters = 1 if level == POSITION and not self.sliding else 0

    def numbers(self, elements, A, B):
        of = [e.joint if hasattr(e, "joint") else e.target for e in elements]
        return {**self.joint.numbers(of, A, B), "axis_a": self.joint.frame(of, A, B)[0]}

    def angles(self, handles, p):
        return self.joint.angles(handles, p)[: self.counters]

    def rows(self, handles, p, t):
        (level,) = self.levels
        wanted = on_tape(self.traced, [], [t], p["user"])
        if level == POSITION:
            return [(level, (self.joint.travel(handles, p) if self.sliding else self.counted(handles, p)[0]) - wanted)]
        if self.sliding:
            return [(level, self.joint.travel_rate(handles, p) - wanted)]
        a, b = handles
        return [(level, ca.dot(a.axis(p["axis_a"]), b.spin() - a.spin()) - wanted)]


class Drive(OnJoint):
    def __init__(self, element):
        super().__init__(element, element.joint, "rate", VELOCITY)

    @staticmethod
    def bodies(element):
        return element.joint.a, element.joint.b


class JointMotion(OnJoint):
    def __init__(self, element):
        super().__init__(element, element.target, "function", POSITION)

    @staticmethod
    def bodies(element):
        return element.target.a, element.target.b


class BodyMotion(Relation):
    """A point of the body follows a function of time."""

    forced = True
    levels = [POSITION] * 3

    def __init__(self, element):
        self.traced = element.traced("function", 3)
        self.parameters = tuple(self.traced.parameters)
        self.key = f"Motion:{self.traced.digest}"
        self.fields = {"on_b": 3, "user": len(self.parameters)}

    @staticmethod
    def bodies(element):
        return None, element.target

    def numbers(self, elements, A, B):
        local = np.array([np.zeros(3) if e.at is None else e.at for e in elements], dtype=float)
        return {"on_b": B.user_point(local)}

    def rows(self, handles, p, t):
        return position_rows(handles[1].point(p["on_b"]) - on_tape(self.traced, [], [t], p["user"]))


class LiveMotion(Relation):
    """A body goes to where it is told to be: with s = (t - begin) / over, from 0 to 1,

        x = from + over v (s - 2 s^2 + s^3) + (to - from) (3 s^2 - 2 s^3)

    so that x' is v at first and 0 at last, and its rotation vector from where it was likewise, with the spin w and the whole
    turn. Its frame stays aligned with that.
    """

    forced = told = True
    levels = [POSITION] * 6
    needs_directions = (False, True)
    rigid_only = (False, True)
    fields = {"on_b": 3, "axes_b": 9}
    kept = {"begin": 1, "over": 1, "x": 3, "v": 3, "w": 3, "q": 4, "turn": 3, "to": 7}  # to: position and orientation told

    @staticmethod
    def bodies(element):
        return None, element.target

    def numbers(self, elements, A, B):
        k = len(elements)
        on_b = B.user_point(np.zeros((k, 3)))
        x, q, nothing = B.world_point(on_b), B.user_orientation(), np.zeros((k, 3))
        axes_b = [B.user_axis(np.tile(e, (k, 1))) for e in np.eye(3)]
        return {"on_b": on_b, "axes_b": np.hstack(axes_b), "begin": np.zeros((k, 1)), "over": np.ones((k, 1)), "x": x,
                "v": nothing, "w": nothing, "q": q, "turn": nothing, "to": np.hstack([x, q])}  # fmt: skip

    def rows(self, handles, p, t):
        b = handles[1]
        s = ca.if_else(t < p["begin"] + p["over"], (t - p["begin"]) / p["over"], 1.0)
        first, last = p["over"] * s * (1 - s) ** 2, s * s * (3 - 2 * s)
        x = p["x"] + first * p["v"] + last * (p["to"][0:3] - p["x"])
        wanted = rotation.matrix(rotation.product(rotation.smooth_exponential(first * p["w"] + last * p["turn"]), p["q"]))
        axes = [b.axis(p["axes_b"][3 * k : 3 * k + 3]) for k in range(3)]
        off = [ca.dot(wanted[:, (k + 1) % 3], axes[(k + 2) % 3]) for k in range(3)]
        return position_rows(b.point(p["on_b"]) - x, *off)


class UserConstraint(Relation):
    """Constraint and VelocityConstraint: the user's function."""

    def __init__(self, element):
        self.level = VELOCITY if isinstance(element, constraints.VelocityConstraint) else POSITION
        self.traced = element.traced("function")
        if self.level == POSITION and self.traced.uses_velocity:
            checks.fail(element, "its function speaks of velocities", "use lw.VelocityConstraint")
        self.force = None if element.force is None else _force(element, self.traced.size)
        self.aimed = self.force is not None
        both = [self.traced, *([self.force] if self.force else [])]
        self.parameters = tuple(parameter for function in both for parameter in function.parameters)
        self.key = f"{self.level}:{':'.join(function.digest for function in both)}"
        self.levels = [self.level] * self.traced.size
        self.fields = {"user": len(self.parameters)}
        self.arity = len(element.bodies)
        self.forced = self.traced.uses_time or self.level == VELOCITY or self.aimed
        self.nonlinear = self.traced.nonlinear
        turning = {number for function in both for number, what, _ in function.requests if what in ("axis", "spin")}
        ground = (False,) * (2 - self.arity)
        self.needs_directions = (*ground, *[k in turning for k in range(self.arity)])
        self.rigid_only = (False,) * len(self.needs_directions)

    @staticmethod
    def bodies(element):
        return element.bodies if len(element.bodies) > 1 else (None, *element.bodies)

    def numbers(self, elements, *frames):
        return {}

    def rows(self, handles, p, t):
        rows = on_tape(self.traced, handles[-self.arity :], [t], p["user"][: len(self.traced.parameters)])
        return [(self.level, rows[i]) for i in range(rows.shape[0])]

    def rates(self, handles, p, t):
        assert self.force is not None
        rates = on_tape(self.force, handles[-self.arity :], [t], p["user"][len(self.traced.parameters) :])
        return [rates[i] for i in range(rates.shape[0])]


def _force(element, size):
    """The rates on which the multipliers of a user's constraint work, checked."""
    force = element.traced("force")
    if not force.uses_velocity:
        checks.fail(element, "its force speaks of no velocity", "give the rate that it works on, such as b.spin((0, 0, 1))")
    if force.nonlinear:
        checks.fail(element, "its force is not linear in velocities", "give rates such as b.spin((0, 0, 1))")
    if force.size != size:
        checks.fail(element, f"its force gives {force.size} numbers for {size} rows", "give one rate a row")
    return force


def _locus(element):
    return PointOnLocus(element) if element.start is None else PointOnOwnCoordinates(element)


def _motion(element):
    if element.live:
        return LiveMotion(element)
    return JointMotion(element) if isinstance(element.target, Joint) else BodyMotion(element)


RELATIONS: dict[type, Callable] = {
    constraints.Distance: Distance, constraints.PointOnLine: PointOnLine, constraints.PointOnPlane: PointOnPlane,
    constraints.PointOnCurve: _locus, constraints.PointOnSurface: _locus, constraints.Tangent: Tangent, constraints.Gear: Gear,
    constraints.Rolling: Rolling, constraints.Skate: Skate, constraints.Drive: Drive, constraints.Motion: _motion,
    constraints.Constraint: UserConstraint, constraints.VelocityConstraint: UserConstraint,
}  # fmt: skip
