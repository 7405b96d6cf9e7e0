"""A world inside another one: its names with a prefix, its ground the other's, and placed elsewhere where that can be done."""

from dataclasses import replace

import numpy as np

from linkwork.elements import Ground, Keyframe, Trajectory
from linkwork.elements.core import checks
from linkwork.elements.core.trajectory import product


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
        for field in element.GROUPS if groups else ():
            if vars(element)[field] is not None:
                vars(element)[field] = prefix + vars(element)[field]
        if element.built:
            vars(element)["built"] = {prefix + name: pose for name, pose in element.built.items()}
        if element.REFERENCES:
            found = [item for _, _, item in element.references()]
            element.replace_references([world.ground if isinstance(item, Ground) else item for item in found])
        world.add(element)
    for name, state in other.keyframes.items():
        parts = ({prefix + who: value for who, value in part.items()} for part in vars(state).values())
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
        if (why := element.include_at(move)) is not None:
            problem = f"{why}, so that it cannot be placed elsewhere"
            checks.fail(element, problem, "include it without position and orientation")
        if element.built:
            vars(element)["built"] = {name: move.pose(pose) for name, pose in element.built.items()}
    bodies = {body.name for body in world.bodies}
    for name, state in world.keyframes.items():
        positions = {who: move.coordinates(value) if who in bodies else value for who, value in state.positions.items()}
        velocities = {who: move.rates(value) if who in bodies else value for who, value in state.velocities.items()}
        world.keyframes[name] = replace(state, positions=positions, velocities=velocities)
