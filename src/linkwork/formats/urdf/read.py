"""URDF: a tree of links and joints becomes a World. What each element becomes: docs/files-urdf.md."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from scipy.spatial.transform import Rotation

from linkwork.elements import (
    Ball,
    Contact,
    Frame,
    Gear,
    HardLimit,
    Hinge,
    Joint,
    JointFriction,
    JointLimit,
    JointSpring,
    Keyframe,
    Motor,
    Planar,
    RigidBody,
    Slider,
    Weld,
)
from linkwork.elements.core import checks
from linkwork.formats.numbers import aside, number, shown
from linkwork.formats.paths import Folders, package_folders
from linkwork.formats.source import Reading, decode, read
from linkwork.formats.urdf import loops, safety
from linkwork.formats.urdf import sensors as urdf_sensors
from linkwork.formats.urdf.bodies import check_masses, groups_of, lock_joints, moments_of
from linkwork.formats.urdf.geometry import Geometry, quaternion
from linkwork.formats.urdf.macros import expanded
from linkwork.formats.urdf.robot import HERE, Place, Robot, near, robot_of
from linkwork.formats.urdf.vocabulary import tell_unknown
from linkwork.formats.xml import parse
from linkwork.world import World

# word -> joint, and the field that <axis> is
KINDS: dict[str, tuple[type[Joint], str | None]] = {
    "revolute": (Hinge, "axis"),
    "continuous": (Hinge, "axis"),
    "prismatic": (Slider, "axis"),
    "planar": (Planar, "normal"),
    "ball": (Ball, None),
    "spherical": (Ball, None),
    urdf_sensors.KEPT: (Weld, None),
}
LIMITS = ("hard", "soft", "none")
MESHES = ("all", "as found")
SOFT_STIFFNESS = 1000.0  # N m/rad or N/m: of a soft limit where the file gives no effort
SOFT_DEPTH = 0.01  # rad or m: how far the effort of a joint pushes it beyond a soft limit
WITHIN = "within limits"  # the keyframe of a robot whose zero is not


def load(reading, *, floating=False, packages=None, position=checks.ZERO, orientation=checks.IDENTITY, limits="hard",
         contact=True, self_contact=False, visuals=True, meshes="all", lock=None, package_roots=(),
         arguments=None):  # fmt: skip
    """The World that a URDF describes, all joints at zero.

    `floating` leaves the root link free, which else is the ground; its frame is at `position` and `orientation`. `packages`
    says by name where `package://name` is. `limits` makes bounds of joints "hard", "soft" or "none". With `contact` what has a
    <collision> touches what else is added to the world, and with `self_contact` the robot's other links; without, collisions
    are not read, as visuals are not without `visuals`. Meshes that are missing or broken are refused, or left out and told with
    `meshes="as found"`. `package_roots` are folders that hold packages, as an install space of ROS 2 does;
    `arguments` are those of a xacro file. `lock` fixes joints at coordinates: {"gripper": 0.02}.

    >>> import tempfile, pathlib, linkwork as lw
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "arm.urdf"
    >>> _ = file.write_text('''<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 0.5"/>
    ... <mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial></link>
    ... <joint name="elbow" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>''')
    >>> lw.load(file).constraints
    (<Hinge "elbow">,)
    """
    if limits not in LIMITS:
        reading.fail(None, f"limits is {limits!r}", 'give "hard", "soft" or "none"')
    if meshes not in MESHES:
        reading.fail(None, f"meshes is {meshes!r}", 'give "all" or "as found"')
    for name, given in (("floating", floating), ("contact", contact), ("self_contact", self_contact), ("visuals", visuals)):
        reading.checked(None, checks.flag, "load", name, given)
    if not isinstance(lock, Mapping | None):
        reading.fail(None, f"lock is {checks.show(lock)}", 'give coordinates by name, such as {"gripper": 0.02}')
    x, q = (reading.checked(None, check, "load", *given) for check, *given in
            ((checks.vector, "position", position), (checks.quaternion, "orientation", orientation)))  # fmt: skip
    roots = package_folders(reading, package_roots)
    is_macro = reading.path.suffix.lower() == ".xacro"
    text = expanded(reading, packages or {}, roots, arguments or {}) if is_macro else decode(reading.path, read(reading.path))
    root = parse(text, reading.path)
    tell_unknown(reading, root)
    robot = robot_of(reading, root)
    lock_joints(reading, robot, lock or {})
    sensors = urdf_sensors.wanted(root)
    urdf_sensors.keep_apart(robot, sensors)
    groups = groups_of(robot, Place(Rotation.from_quat(q, scalar_first=True).as_matrix(), x))
    building = _Building(reading, robot)
    building.add_bodies(groups, floating)
    building.add_frames(groups)
    building.add_joints(groups, limits)
    building.add_mimics()
    loops.add(building, root, groups)
    folders = Folders(reading.path, packages or {}, reading.root, roots)
    geometry = Geometry(building, folders, None if self_contact else robot.name, meshes == "as found")
    building.add_geometry(groups, geometry, visuals, contact)
    building.add_keyframe()
    urdf_sensors.add(building, sensors)
    building.world.simulate = {"solver": "auto"}
    return building.world


@dataclass
class _Building:
    """A World that grows out of a Robot."""

    reading: Reading
    robot: Robot
    world: World = field(default_factory=World)
    numbers: dict = field(default_factory=dict)  # name -> the last number that was added to it
    follows: list = field(default_factory=list)  # of joints that mimic: name, the leader's, ratio, offset
    places: dict = field(default_factory=dict)  # link's name -> the element that stands for it, its body, where it is on that
    outside: dict = field(default_factory=dict)  # joint's name -> the middle of its limits, where 0 is not between them

    def add(self, line, kind, *args, **fields):
        """Make an element and add it; what it refuses is said of the line that asks for it."""
        return self.reading.checked(line, lambda: self.world.add(kind(*args, **fields)))

    def free_name(self, wanted):
        """A name that nothing in the world has: as wanted, or with a number."""
        name = wanted
        while name in self.world:
            self.numbers[wanted] = self.numbers.get(wanted, 1) + 1
            name = f"{wanted} {self.numbers[wanted]}"
        return name

    def own_name(self, line, sort, name):
        """The name of a link or joint, or one near it where another element has that: here they share their names."""
        free = name if name not in self.world else self.free_name(f"{name} {sort}")
        if free != name:
            self.reading.remark(line, f'{sort} "{shown(name)}"', f'the name is taken here, so it is called "{free}"')
        return free

    def add_bodies(self, groups, floating):
        check_masses(self.reading, groups)
        for group in groups:
            if group.joint is None and not floating:
                group.body = self.world.ground
            else:
                group.body = self._body(group)

    def _body(self, group):
        link, inertial = group.links[0][0], group.inertial()
        if group.free and inertial.mass == 0.0:
            problem = f'link "{shown(link.name)}" floats and has no mass'
            self.reading.fail(link.line, problem, "give it an <inertial>, or let it stand still")
        moments = moments_of(self.reading, group, inertial) if inertial.mass > 0.0 else inertial.inertia
        body = self.add(inertial.line, RigidBody, inertial.mass, moments, position=group.place.x, com=inertial.com,
                        orientation=quaternion(group.place.R), name=self.own_name(link.line, "link", link.name))  # fmt: skip
        self.places[link.name] = body, body, HERE
        return body

    def add_frames(self, groups):
        """Links that are part of others, or of the ground."""
        for group in groups:
            on_ground = group.body is self.world.ground
            for link, place in group.links[0 if on_ground else 1 :]:
                there = group.place @ place if on_ground else place
                frame = self.add(link.line, Frame, group.body, position=there.x, orientation=quaternion(there.R),
                                 name=self.own_name(link.line, "link", link.name))  # fmt: skip
                self.places[link.name] = frame, group.body, there

    def add_joints(self, groups, limits):
        for group in groups:
            if group.free:
                continue
            spec, (kind, field), axis = group.joint, KINDS[group.joint.kind], group.place.R @ group.joint.axis
            along = {} if field is None else {field: axis}
            name = self.own_name(spec.line, "joint", spec.name)
            joint = self.add(spec.line, kind, group.above.body, group.body, at=group.place.x, name=name, **along)
            self.robot.joints[spec.name].element = joint
            if spec.damping > 0.0:
                self.add(spec.line, JointSpring, joint, 0.0, damping=spec.damping, name=self.free_name(f"{name} damping"))
            if spec.friction > 0.0:
                self.add(spec.line, JointFriction, joint, spec.friction, name=self.free_name(f"{name} friction"))
            if kind.has_coordinate:
                self._add_motor(spec, joint, self._add_limit(spec, joint, limits))
                safety.add(self, spec, joint, limits)

    def _add_limit(self, spec, joint, limits):
        """What bounds a joint; returns the largest effort that its motor has, or None."""
        node, what = spec.limit, f'<limit> of joint "{shown(spec.name)}"'
        if node is None:
            if spec.kind != "continuous":
                self.reading.remark(spec.line, f'joint "{shown(spec.name)}"', f"{spec.kind} without <limit>: it is not bounded")
            return None
        said = {"velocity": "speeds of joints are not bounded", "effort": "the motor has no largest effort"}
        velocity, effort = (aside(self.reading, node, word, 0.0, why, infinite=True) for word, why in said.items())
        lower, upper = (_bound_of(self.reading, node, word, spec.kind) for word in ("lower", "upper"))
        if velocity > 0.0:
            self.reading.remark(node.line, f'velocity="{velocity:g}" in {what}', said["velocity"])
        if effort < 0.0 or math.isinf(effort):
            self.reading.remark(node.line, f'effort="{effort:g}" in {what}', said["effort"])
            effort = 0.0
        if spec.kind == "continuous":
            if lower or upper:
                self.reading.remark(node.line, what, "a continuous joint has no bounds")
        elif math.isinf(upper - lower):
            self.reading.remark(node.line, what, f"lower is {lower:g} and upper {upper:g}: it is not bounded")
        elif not lower < upper:
            self.reading.remark(node.line, what, f"lower is {lower:g} and upper {upper:g}: it is not bounded")
        elif limits != "none":
            self._bound(node, what, joint, limits, lower, upper, effort)
        return effort or None

    def _bound(self, node, what, joint, limits, lower, upper, effort):
        name = self.free_name(f"{joint.name} limit")
        if limits == "hard":
            self.add(node.line, HardLimit, joint, lower, upper, name=name)
        else:
            stiffness = effort / SOFT_DEPTH if effort > 0.0 else SOFT_STIFFNESS
            self.add(node.line, JointLimit, joint, lower, upper, stiffness=stiffness, name=name)
        if not lower <= 0.0 <= upper:
            self.outside[joint.name] = (lower + upper) / 2
            self.reading.remark(node.line, what, f'it is built at 0, which lies outside; world.keyframes["{WITHIN}"] does not')

    def _add_motor(self, spec, joint, effort):
        gear = self.robot.gears.get(spec.name)
        if effort is None and gear is None:
            return
        if spec.mimic is not None:
            self.reading.remark(spec.line, f'joint "{shown(spec.name)}"', "it mimics another one, and has no motor of its own")
            return
        gear = gear or 1.0
        limit = None if effort is None else effort / abs(gear)
        self.add(spec.line, Motor, joint, limit=limit, gear=gear, name=self.free_name(f"{joint.name} motor"))

    def add_mimics(self):
        mimics = {spec.name: spec.mimic for spec in self.robot.joints.values() if spec.mimic is not None}
        self._check_no_circle(mimics)
        for name, node in mimics.items():
            self._add_mimic(self.robot.joints[name], node)

    def _add_mimic(self, spec, node):
        name, what = node.attributes.get("joint", ""), f'<mimic> of joint "{shown(spec.name)}"'
        leader = self.robot.joints.get(name)
        ratio, offset = number(self.reading, node, "multiplier", 1.0), number(self.reading, node, "offset", 0.0)
        if leader is None:
            hint = near(name, self.robot.joints)
            self.reading.remark(node.line, what, f'there is no joint "{shown(name)}", so it moves freely{hint}')
        elif leader.element is None or not leader.element.has_coordinate:
            self.reading.remark(node.line, what, f'joint "{shown(name)}" is {leader.kind}, so it moves freely')
        elif ratio == 0.0:
            self.reading.fail(node.line, f'joint "{shown(spec.name)}" mimics with the multiplier 0', "make the joint fixed")
        else:
            joint = spec.element
            self.follows.append((joint.name, leader.element.name, ratio, offset))
            self.add(node.line, Gear, joint, leader.element, ratio, offset, name=self.free_name(f"{joint.name} mimic"))
            if offset:
                self.reading.remark(
                    node.line, what, f"built at 0, it is off by {offset:g}; call world.assemble() before it moves"
                )

    def _check_no_circle(self, mimics):
        sound: set[str] = set()
        for first in mimics:
            way, name = set(), first
            while name in mimics and name not in sound:
                if name in way:
                    problem = f'joint "{shown(name)}" mimics itself'
                    self.reading.fail(mimics[name].line, problem, "name the joint that leads")
                way.add(name)
                name = mimics[name].attributes.get("joint", "")
            sound |= way

    def add_geometry(self, groups, geometry, visuals, contact):
        for group in groups:
            for link, place in group.links:
                frame = group.place @ place if group.body is self.world.ground else place
                for solid in link.visuals if visuals else ():
                    geometry.add_visual(group.body, link, frame @ solid.place, solid)
                for solid in link.collisions if contact else ():
                    geometry.add_collider(group.body, link, frame @ solid.place, solid)
        if any(element.touched for element in self.world.contacts):
            self.world.add(Contact(name=self.free_name("contact")))

    def add_keyframe(self):
        """Where joints are within their limits, if zero is no such place; those that mimic others follow them."""
        for follower, leader, ratio, offset in self.follows:
            if follower in self.outside or leader in self.outside:
                self.outside[follower] = ratio * self.outside.get(leader, 0.0) + offset
        if self.outside:
            self.world.keyframes[WITHIN] = Keyframe(positions=self.outside)


def _bound_of(reading, node, word, kind):
    """A bound of a joint, which may be infinite; of a continuous one nothing depends on it."""
    if kind == "continuous" or node.attributes.get(word, "").strip().lower().lstrip("+-") in ("inf", "infinity"):
        return aside(reading, node, word, 0.0, "a continuous joint has no bounds", infinite=True)
    return number(reading, node, word, 0.0)
