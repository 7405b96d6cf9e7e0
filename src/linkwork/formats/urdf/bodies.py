"""Which links of a URDF move as one body, where that is with all joints at zero, and what mass it has."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError, suggestion
from linkwork.formats.numbers import number, shown
from linkwork.formats.urdf.robot import HERE, Inertial, JointSpec, Link, Place

MOST_NAMED = 6  # joints in one sentence
GRAIN = 1e-3  # m: the radius of the ball that a mass without inertia is taken for


@dataclass(eq=False)
class Group:
    """Links that fixed joints make one body: the first carries the others, and `joint` carries it."""

    joint: JointSpec | None
    above: Group | None
    place: Place  # of the first link in the world
    links: list[tuple[Link, Place]]  # with places in the frame of the first
    body: object = None  # what it became

    @property
    def free(self):
        """Whether nothing holds it."""
        return self.joint is None or self.joint.kind == "floating"

    def inertial(self):
        """Mass, centre and inertia of all of them, in the frame of the first."""
        first = self.links[0][0]
        parts = [(link.inertial, place) for link, place in self.links if link.inertial is not None]
        if not parts:
            return Inertial(0.0, np.zeros(3), np.zeros((3, 3)), first.line)
        if len(parts) == 1 and first.inertial is not None:
            return first.inertial
        masses = np.array([part.mass for part, _ in parts])
        centres = np.array([place.R @ part.com + place.x for part, place in parts])
        mass = float(masses.sum())
        com = masses @ centres / mass if mass > 0.0 else np.zeros(3)
        arms = centres - com
        spread = np.einsum("n,nk,nk->", masses, arms, arms) * np.eye(3) - np.einsum("n,ni,nj->ij", masses, arms, arms)
        return Inertial(mass, com, spread + sum(place.R @ part.inertia @ place.R.T for part, place in parts), parts[0][0].line)


def groups_of(robot, start):
    """The bodies of a robot whose root link is at `start`: parents first, each branch in the order of the file."""
    first = Group(None, None, start, [(robot.links[robot.root], HERE)])
    groups, waiting = [first], [(joint, first, HERE) for joint in reversed(robot.below[robot.root])]
    while waiting:
        joint, group, above = waiting.pop()
        place, link = above @ joint.place, robot.links[joint.child]
        if joint.kind == "fixed":
            group.links.append((link, place))
        else:
            group, place = Group(joint, group, group.place @ place, [(link, HERE)]), HERE
            groups.append(group)
        waiting += [(other, group, place) for other in reversed(robot.below[joint.child])]
    return groups


def check_masses(reading, groups):
    """Refuse bodies that a joint moves and that have no mass, where nothing that they carry has any."""
    carries, idle = set(), []
    for group in reversed(groups):
        if group.inertial().mass > 0.0:
            carries.add(group)
        elif not group.free and group not in carries:
            idle.append(group)
        if group in carries and not group.free:
            carries.add(group.above)
    if idle:
        first = idle[-1]
        leading = [shown(group.joint.name) for group in reversed(idle) if group.joint.mimic is None]
        leading = leading or [shown(first.joint.name)]
        some = ", ".join(f'"{name}": 0' for name in leading[:MOST_NAMED]) + (", ..." if len(leading) > MOST_NAMED else "")
        link = first.links[0][0]
        problem = (
            f'joint "{shown(first.joint.name)}" moves link "{shown(link.name)}", which has no mass, nor has what it carries'
        )
        reading.fail(link.line, problem, f"give it an <inertial>, make the joint fixed, or load it with lock={{{some}}}")


def moments_of(reading, group, inertial):
    """The inertia (3, 3) of a body; where no body has such a one, the nearest that one has, which is told."""
    try:
        return checks.inertia("link", "inertia", inertial.inertia)
    except LinkworkError:
        found = mended(inertial)
        values = ", ".join(f"{value:.3g}" for value in np.linalg.eigvalsh(inertial.inertia))
        most = np.abs(found - inertial.inertia).max()
        why = f"no body has the principal values {values}; the nearest that one has is taken, {most:.3g} kg m^2 away at most"
        reading.remark(inertial.line, f'<inertia> of link "{shown(group.links[0][0].name)}"', why)
        return found


def mended(inertial):
    """The inertia (3, 3) next to one that no body has: that of a mass which is at least GRAIN wide along every axis.

    The mass has the second moment tr(I)/2 - I, of which no principal value can be negative.
    """
    moment = np.trace(inertial.inertia) / 2 * np.eye(3) - inertial.inertia
    values, axes = np.linalg.eigh(moment)
    moment = axes @ np.diag(np.maximum(values, inertial.mass * GRAIN**2 / 5)) @ axes.T
    return np.trace(moment) * np.eye(3) - moment


def lock_joints(reading, robot, lock):
    """Fix joints where they are at these coordinates, and with them those that mimic them."""
    followers: dict[str, list[JointSpec]] = {}
    for joint in robot.joints.values():
        if joint.mimic is not None:
            followers.setdefault(joint.mimic.attributes.get("joint", ""), []).append(joint)
    waiting = [(name, reading.checked(None, checks.number, "load", f'lock["{name}"]', value)) for name, value in lock.items()]
    locked = set(lock)
    while waiting:
        name, value = waiting.pop()
        _lock(reading, robot, name, value)
        for other in followers.get(name, ()):
            if other.name not in locked:
                locked.add(other.name)
                ratio, offset = (
                    number(reading, other.mimic, word, usual) for word, usual in (("multiplier", 1.0), ("offset", 0.0))
                )
                waiting.append((other.name, ratio * value + offset))


def _lock(reading, robot, name, value):
    if name not in robot.joints:
        remedy = f"name a joint of the file{suggestion(name, robot.joints)}"
        reading.fail(None, f"lock names joint {name!r}, and there is no such joint", remedy)
    joint = robot.joints[name]
    turns = joint.kind in ("revolute", "continuous")
    if value != 0.0 and not turns and joint.kind != "prismatic":
        reading.fail(None, f'lock puts joint "{name}", which is {joint.kind}, at {value:g}', "such joints are locked at 0")
    R = Rotation.from_rotvec(joint.axis * value).as_matrix() if turns else np.eye(3)
    x = joint.axis * value if joint.kind == "prismatic" else np.zeros(3)
    joint = replace(joint, kind="fixed", place=joint.place @ Place(R, x), mimic=None)
    robot.joints[name] = joint
    robot.below[joint.parent] = [joint if other.name == name else other for other in robot.below[joint.parent]]
