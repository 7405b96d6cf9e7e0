"""A world inside another one: its names with a prefix, its ground the other's, and placed elsewhere where that can be done."""

from dataclasses import replace

import numpy as np

from linkwork.elements import (
    Cable,
    Collider,
    ContactSpring,
    Follow,
    Force,
    Ground,
    HardLimit,
    Joint,
    JointLimit,
    JointSpring,
    Keyframe,
    Rolling,
    Skate,
    Tangent,
    TorsionSpring,
    Trajectory,
    Visual,
    Wrench,
)
from linkwork.elements.constraints import Constraint, Motion, PointOn, PointOnCurve, PointOnSurface
from linkwork.elements.core import checks
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.trajectory import product

IN_WORLD = (Joint, PointOn, Rolling, Skate, Tangent, JointLimit, HardLimit)  # their points and directions as built
DIRECTIONS = ("axis", "normal", "first", "second", "direction")
LOCAL = {
    "a": (("on_a",), ("axis_a", "normal_a")),
    "b": (("on_b",), ("axis_b",)),
}  # reference -> points, directions in its frame


def taken_over(world, other, prefix, *, groups=True):
    """Add all that another world holds; it is empty of it afterwards. With `groups` these have the prefix too, so that two
    copies of a robot, whose own links do not touch each other, touch; masks of MJCF mean the same in all its copies."""
    renamed: set[int] = set()
    for element in other.elements:
        for parameter in _parameters(element):
            if id(parameter) not in renamed and parameter.name is not None:
                parameter.name = prefix + parameter.name
                vars(parameter).pop("_symbol", None)  # which has the name that it had
            renamed.add(id(parameter))
        del element._world
        vars(element)["name"] = prefix + element.name
        if groups and isinstance(element, Collider) and element.group is not None:
            vars(element)["group"] = prefix + element.group
        if element.built:
            vars(element)["built"] = {prefix + name: pose for name, pose in element.built.items()}
        if element.REFERENCES:
            found = [item for _, _, item in element.references()]
            element.replace_references([world.ground if isinstance(item, Ground) else item for item in found])
        world.add(element)
    for name, state in other.keyframes.items():
        parts = (
            {prefix + who: value for who, value in part.items()} for part in (state.positions, state.velocities, state.controls)
        )
        if prefix + name in world.keyframes:
            checks.fail("World", f'two keyframes have the name "{prefix + name}"', "give a prefix")
        world.keyframes[prefix + name] = Keyframe(*parts)


def _parameters(element):
    """Those in its fields, and those that its formulas speak of."""
    found = element.parameters()
    for field in element.FUNCTIONS:
        spoken = getattr(getattr(element, field), "parameters", ())
        found += spoken.values() if isinstance(spoken, dict) else spoken
    return found


class _Move:
    """p -> x + R p."""

    def __init__(self, position, orientation):
        self.x, self.q = position, orientation
        w, (a, b, c) = orientation[0], orientation[1:]
        cross = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
        self.R = np.eye(3) + 2 * w * cross + 2 * cross @ cross
        self.turns = bool(np.abs(orientation[1:]).max() > 0)

    def point(self, p):
        return self.x + self.R @ p

    def direction(self, d):
        return self.R @ d

    def orientation(self, q):
        return product(self.q[None], np.asarray(q)[None])[0]

    def relative(self, q):
        """A turn that is told in the axes of the world."""
        return product(product(self.q[None], np.asarray(q)[None]), (self.q * (1, -1, -1, -1))[None])[0]

    def pose(self, pose):
        position, orientation = self.point(pose.position), self.orientation(pose.orientation)
        return replace(pose, position=position, orientation=orientation, frame=self.R @ pose.frame)

    def coordinates(self, q):
        """Of a body that floats: position and, where it has one, orientation."""
        return np.concatenate([self.point(q[:3]), self.orientation(q[3:]) if len(q) > 3 else []])

    def rates(self, v):
        """Of a body that floats: velocity and, where it has one, angular velocity."""
        return np.concatenate([self.R @ part for part in (v[:3], v[3:]) if len(part)])

    def motion(self, followed):
        turned = followed.orientations
        turned = None if turned is None else np.array([self.orientation(q) for q in turned])
        longest = float(np.diff(followed.times).max())
        return Trajectory(followed.times, followed.positions @ self.R.T + self.x, turned, gap=longest)


def placed(world, position, orientation):
    """Move all of a world: by what speaks of the world, since the ground stays. What cannot be moved is refused by name."""
    move = _Move(position, orientation)
    for element in world.elements:
        _place(element, move)
        if element.built:
            vars(element)["built"] = {name: move.pose(pose) for name, pose in element.built.items()}
    bodies = {body.name for body in world.bodies}
    for name, state in world.keyframes.items():
        positions = {who: move.coordinates(value) if who in bodies else value for who, value in state.positions.items()}
        velocities = {who: move.rates(value) if who in bodies else value for who, value in state.velocities.items()}
        world.keyframes[name] = Keyframe(positions, velocities, state.controls)


def _place(element, move):
    if element.sort == "body":
        _place_body(element, move)
    elif isinstance(element, (Constraint, Force, Motion, Wrench)):
        _place_function(element, move)
    elif isinstance(element, (Collider, Visual)):
        if isinstance(element.body, Ground):
            _each(element, ("position",), move.point)
            _each(element, ("orientation",), move.orientation)
    elif isinstance(element, Follow):
        vars(element)["motion"] = None if element.motion is None else move.motion(element.motion)
    elif isinstance(element, (JointSpring, TorsionSpring)):
        _place_spring(element, move)
    elif isinstance(element, Cable):
        ends = zip(element.bodies, element.at, strict=True)
        vars(element)["at"] = np.array([move.point(at) if isinstance(body, Ground) else at for body, at in ends])
    elif "body" in " ".join(element.REFERENCES.values()) and not {"a", "b", "body", "joint"} >= set(element.REFERENCES):
        grounded = any(isinstance(item, Ground) for _, _, item in element.references())
        if grounded and element.sort != "contact":
            _refuse(element, "it holds on to the ground")
    if isinstance(element, (PointOnCurve, PointOnSurface, Tangent)) and isinstance(element.a, Ground):
        _refuse(element, "its surface is fixed to the ground")
    if isinstance(element, Tangent) and isinstance(element.b, Ground):
        _refuse(element, "its surface is fixed to the ground")
    if isinstance(element, IN_WORLD):
        _each(element, ("at",), move.point)
        _each(element, DIRECTIONS, move.direction)
    if {"a", "b"} <= set(element.REFERENCES):
        _place_ends(element, move)


def _place_ends(element, move):
    """What is told in the frame of the ground."""
    for end, (points, directions) in LOCAL.items():
        if isinstance(getattr(element, end), Ground):
            _each(element, points, move.point)
            _each(element, directions, move.direction)
    if isinstance(element, ContactSpring):
        if isinstance(element.a, Ground):
            if element.plane is not None:
                vars(element)["plane"] = move.point(element.plane[0]), move.direction(element.plane[1])
            elif element.sphere is not None:
                vars(element)["sphere"] = move.point(element.sphere[0]), element.sphere[1]
        if isinstance(element.b, Ground):
            vars(element)["at"] = move.point(element.at)


def _each(element, fields, change):
    for name in fields:
        if vars(element).get(name) is not None:
            vars(element)[name] = change(vars(element)[name])


def _place_body(body, move):
    if (why := kind_for(body).include_at(body, move)) is not None:
        _refuse(body, why)


def _place_function(element, move):
    """Functions speak of the world: of what they ask of it, velocities and directions stay the same if nothing is turned."""
    if isinstance(element, Wrench):
        if element.frame == "world" and move.turns:
            for name in ("force", "torque"):
                value = getattr(element, name)
                if callable(value) or value.dtype == object:
                    _refuse(element, f"its {name} is along the axes of the world")
                vars(element)[name] = move.direction(value)
        return
    if isinstance(element, Motion):
        if not isinstance(element.target, Joint) and not element.live:
            _refuse(element, "its function gives places in the world")
        return
    asked = [
        what
        for field in element.FUNCTIONS
        if getattr(element, field) is not None
        for _, what, _ in element.traced(field).requests
    ]
    if move.turns or "point" in asked or any(isinstance(item, Ground) for _, _, item in element.references()):
        _refuse(element, "its function speaks of places or directions in the world")


def _place_spring(spring, move):
    if spring.rest is not None and np.size(spring.rest) == 4:
        spring.rest = move.relative(spring.rest)
    if move.turns and any(np.size(getattr(spring, name)) == 3 for name in ("stiffness", "damping")):
        _refuse(spring, "its three stiffnesses are along the axes of the world")
    if getattr(spring, "travel_rest", None) is not None and np.size(spring.travel_rest) == 3:
        spring.travel_rest = move.direction(spring.travel_rest)


def _refuse(element, why):
    checks.fail(element, f"{why}, so that it cannot be placed elsewhere", "include it without position and orientation")
