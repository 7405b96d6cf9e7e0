"""URDF: a tree of links and joints becomes a World. What each element becomes: docs/files-urdf.md."""

from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..elements import (
    Ball,
    Box,
    Capsule,
    Collider,
    Contact,
    Cylinder,
    Gear,
    HardLimit,
    Hinge,
    JointFriction,
    JointLimit,
    JointSpring,
    Keyframe,
    Motor,
    Planar,
    RigidBody,
    Slider,
    Sphere,
    Visual,
    checks,
)  # fmt: skip
from ..errors import FileError, LinkworkError, suggestion
from ..world import World
from .meshes import MeshError, hull, read_mesh, scaled, whole
from .numbers import number, shown
from .paths import Folders, Missing, Outside
from .reading import decode, read
from .urdf_robot import Inertial, JointSpec, Link, Place, robot_of
from .urdf_words import tell_unknown
from .xml import parse

KINDS = {"revolute": Hinge, "continuous": Hinge, "prismatic": Slider, "planar": Planar, "ball": Ball, "spherical": Ball}
SHAPES = {"box": Box, "sphere": Sphere, "cylinder": Cylinder, "capsule": Capsule}
LIMITS = ("hard", "soft", "none")
SOFT_STIFFNESS = 1000.0  # N m/rad or N/m: of a soft limit where the file gives no effort
GRAIN = 1e-3  # m: the radius of the ball that a mass without inertia is taken for
SOFT_DEPTH = 0.01  # rad or m: how far the effort of a joint pushes it beyond a soft limit


def load(reading, *, floating=False, packages=None, position=checks.ZERO, orientation=checks.IDENTITY, limits="hard",
         contact=True, self_contact=False, visuals=True, lock=None):  # fmt: skip
    """The World that a URDF describes, all joints at zero.

    `floating` leaves the root link free, which else is the ground; its frame is at `position` and `orientation`. `packages`
    says by name where `package://name` is. `limits` makes bounds of joints "hard", "soft" or "none". With `contact` what has a
    <collision> touches what else is added to the world, and with `self_contact` the robot's other links; without, collisions
    are not read, as visuals are not without `visuals`. `lock` fixes joints at coordinates: {"gripper": 0.02}.

    >>> import tempfile, pathlib, linkwork as lw
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "arm.urdf"
    >>> _ = file.write_text('''<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 0.5"/>
    ... <mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial></link>
    ... <joint name="elbow" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>''')
    >>> lw.load(file).constraints
    (<Hinge "elbow">,)
    """
    root = parse(decode(reading.path, read(reading.path)), reading.path)
    if limits not in LIMITS:
        reading.fail(None, f"limits is {limits!r}", 'give "hard", "soft" or "none"')
    with _said(reading, None):
        start = Place(
            _matrix(checks.quaternion("load", "orientation", orientation)), checks.vector("load", "position", position)
        )
    tell_unknown(reading, root)
    robot = _locked(reading, robot_of(reading, root), lock or {})
    building = _Building(reading, robot, World(), Folders(reading.path, packages or {}), {})
    groups = _groups(robot, start)
    building.add_bodies(groups, floating)
    for group in groups:
        if group.joint is not None and group.joint.kind != "floating":
            building.add_joint(group, limits)
    for joint in robot.joints.values():
        if joint.mimic is not None:
            building.add_mimic(joint)
    for group in groups:
        for link, place in group.links:
            building.add_geometry(group, link, place, visuals, contact, robot.name if not self_contact else None)
    if contact and building.world.contacts and any(isinstance(e, Collider) for e in building.world.contacts):
        building.world.add(Contact(name=building.free_name("contact")))
    building.add_keyframe()
    return building.world


@dataclass
class _Group:
    """Links that fixed joints make one body: the first carries the others, and `joint` carries it."""

    joint: JointSpec | None
    above: "_Group | None"
    place: Place  # of the first link in the world
    links: list[tuple[Link, Place]]  # with places in the frame of the first
    body: object = None

    @property
    def name(self):
        return self.links[0][0].name

    def inertial(self):
        """Mass, centre and inertia of all of them, in the frame of the first; None without any <inertial>."""
        parts = [(link.inertial, place) for link, place in self.links if link.inertial is not None]
        if len(parts) < 2 and all(link is self.links[0][0].inertial for link, _ in parts):
            return parts[0][0] if parts else None
        masses = np.array([part.mass for part, _ in parts])
        centres = np.array([place.R @ part.com + place.x for part, place in parts])
        mass = masses.sum()
        com = masses @ centres / mass if mass > 0.0 else np.zeros(3)
        arms = centres - com
        inertia = sum(place.R @ part.inertia @ place.R.T for part, place in parts)
        inertia = (
            inertia + np.einsum("n,nk,nk->", masses, arms, arms) * np.eye(3) - np.einsum("n,ni,nj->ij", masses, arms, arms)
        )
        return Inertial(float(mass), com, inertia, parts[0][0].line)


def _mended(inertial):
    """The inertia (3, 3) next to one that no body has: that of a mass which is at least GRAIN wide along every axis.

    The mass has the second moment tr(I)/2 - I, of which no principal value can be negative.
    """
    moment = np.trace(inertial.inertia) / 2 * np.eye(3) - inertial.inertia
    values, axes = np.linalg.eigh(moment)
    moment = axes @ np.diag(np.maximum(values, inertial.mass * GRAIN**2 / 5)) @ axes.T
    return np.trace(moment) * np.eye(3) - moment


def _groups(robot, start):
    """The bodies of a robot, parents first, each branch in the order of the file."""
    first = _Group(None, None, start, [(robot.links[robot.root], Place(np.eye(3), np.zeros(3)))])
    groups, waiting = [first], [(joint, first, first.links[0][1]) for joint in reversed(robot.below[robot.root])]
    while waiting:
        joint, group, above = waiting.pop()
        place, link = above @ joint.place, robot.links[joint.child]
        if joint.kind == "fixed":
            group.links.append((link, place))
        else:
            group = _Group(joint, group, group.place @ place, [(link, Place(np.eye(3), np.zeros(3)))])
            place = group.links[0][1]
            groups.append(group)
        waiting += [(other, group, place) for other in reversed(robot.below[joint.child])]
    return groups


def _locked(reading, robot, lock):
    """The robot with some joints fixed where they are at these coordinates."""
    for name, value in lock.items():
        if name not in robot.joints:
            reading.fail(None, f"lock names joint {name!r}, and there is no such joint",
                         f"name a joint of the file{suggestion(name, robot.joints)}")  # fmt: skip
        joint = robot.joints[name]
        with _said(reading, joint.line):
            value = checks.number("load", f'lock["{name}"]', value)
        turned = joint.kind in ("revolute", "continuous")
        if not turned and joint.kind != "prismatic" and value != 0.0:
            reading.fail(joint.line, f'lock fixes the {joint.kind} joint "{name}" at {value:g}', "such joints are locked at 0")
        R = Rotation.from_rotvec(joint.axis * value).as_matrix() if turned else np.eye(3)
        x = joint.axis * value if joint.kind == "prismatic" else np.zeros(3)
        joint = replace(joint, kind="fixed", place=joint.place @ Place(R, x), mimic=None)
        robot.joints[name] = joint
        robot.below[joint.parent] = [joint if other.name == name else other for other in robot.below[joint.parent]]
    return robot


@dataclass
class _Building:
    """A World that grows out of a Robot."""

    reading: object
    robot: object
    world: World
    folders: Folders
    meshes: dict  # address -> path -> surfaces; (path, scale), (address, scale, "hull" or "whole") -> what was made of them
    outside: dict | None = None  # joint's name -> the middle of its limits, where 0 is not between them

    def free_name(self, wanted, addition=None):
        """A name that nothing in the world has: as wanted, with the addition, or with a number."""
        choices = [wanted] if addition is None else [wanted, f"{wanted} {addition}"]
        for name in choices:
            if name not in self.world:
                return name
        count = 2
        while f"{choices[-1]} {count}" in self.world:
            count += 1
        return f"{choices[-1]} {count}"

    def add(self, line, make, *args, **fields):
        with _said(self.reading, line):
            return self.world.add(make(*args, **fields))

    def own_name(self, line, sort, name):
        """The name of a link or joint, or one near it where another element has that: links and joints share the names here."""
        free = self.free_name(name, sort)
        if free != name:
            self.reading.remark(line, f'{sort} "{shown(name)}"', f'the name is taken here, so it is called "{free}"')
        return free

    def add_bodies(self, groups, floating):
        heavy = set()
        for group in reversed(groups):
            inertial = group.inertial()
            if inertial is not None and inertial.mass > 0.0:
                heavy.add(id(group))
            if id(group) in heavy and group.above is not None and group.joint.kind != "floating":
                heavy.add(id(group.above))
        for group in groups:
            if group.joint is None and not floating:
                group.body = self.world.ground
            else:
                group.body = self._body(group, id(group) in heavy)

    def _body(self, group, carries):
        link, inertial = group.links[0][0], group.inertial()
        free = group.joint is None or group.joint.kind == "floating"
        massless = inertial is None or inertial.mass == 0.0
        if massless and (free or not carries):
            moves = "floats" if free else f'is moved by joint "{shown(group.joint.name)}"'
            way = "" if free else f', make the joint fixed, or load it with lock={{"{shown(group.joint.name)}": 0}}'
            self.reading.fail(link.line, f'link "{shown(link.name)}" {moves} and has no mass, nor has anything that it carries',
                              f"give it an <inertial>{way}")  # fmt: skip
        inertial = inertial or Inertial(0.0, np.zeros(3), np.zeros((3, 3)), link.line)
        moments = inertial.inertia if massless else self._moments(link, inertial)
        return self.add(inertial.line, RigidBody, inertial.mass, moments, position=group.place.x, com=inertial.com,
                        orientation=_quaternion(group.place.R), name=self.own_name(link.line, "link", link.name))  # fmt: skip

    def _moments(self, link, inertial):
        """Its inertia; where no body has such a one, the nearest that one has, which is told."""
        try:
            return checks.inertia(self.world, "inertia", inertial.inertia)
        except LinkworkError:
            found = _mended(inertial)
            low, middle, high = np.linalg.eigvalsh(inertial.inertia)
            self.reading.remark(inertial.line, f'<inertia> of link "{shown(link.name)}"',
                                f"its principal values {low:.3g}, {middle:.3g}, {high:.3g} are those of no body; taken is the nearest "
                                f"that one has, with {np.abs(found - inertial.inertia).max():.3g} kg m^2 at most between them")  # fmt: skip
            return found

    def add_joint(self, group, limits):
        spec, kind, above, body = group.joint, KINDS[group.joint.kind], group.above.body, group.body
        axis = group.place.R @ spec.axis
        along = {} if kind is Ball else {"normal": axis} if kind is Planar else {"axis": axis}
        name = self.own_name(spec.line, "joint", spec.name)
        joint = self.add(spec.line, kind, above, body, at=group.place.x, name=name, **along)
        spec.element = joint
        if spec.damping > 0.0:
            self.add(spec.line, JointSpring, joint, 0.0, damping=spec.damping, name=self.free_name(f"{name} damping"))
        if spec.friction > 0.0:
            self.add(spec.line, JointFriction, joint, spec.friction, name=self.free_name(f"{name} friction"))
        if kind not in (Ball, Planar):
            effort = self._add_limit(spec, joint, limits)
            self._add_motor(spec, joint, effort)

    def _add_limit(self, spec, joint, limits):
        """What bounds a joint; returns the largest effort that its motor has, or None."""
        node, what = spec.limit, f'<limit> of joint "{shown(spec.name)}"'
        if node is None:
            if spec.kind != "continuous":
                self.reading.remark(
                    spec.line, f'joint "{shown(spec.name)}"', f"a {spec.kind} joint without <limit>: it is not bounded"
                )
            return None
        lower, upper, effort, velocity = (
            number(self.reading, node, word, 0.0) for word in ("lower", "upper", "effort", "velocity")
        )
        if velocity > 0.0:
            self.reading.remark(node.line, f'velocity="{velocity:g}" in {what}', "speeds of joints are not bounded")
        if spec.kind == "continuous":
            if lower or upper:
                self.reading.remark(node.line, what, "a continuous joint has no bounds")
        elif not lower < upper:
            self.reading.remark(node.line, what, f"lower is {lower:g} and upper {upper:g}: it is not bounded")
        elif limits != "none":
            self._bound(spec, node, joint, limits, lower, upper, effort)
        if effort < 0.0:
            self.reading.fail(node.line, f'joint "{shown(spec.name)}" has the effort {effort:g}', "give one of at least 0")
        return effort or None

    def _bound(self, spec, node, joint, limits, lower, upper, effort):
        name = self.free_name(f"{joint.name} limit")
        if limits == "hard":
            self.add(node.line, HardLimit, joint, lower, upper, name=name)
        else:
            stiffness = effort / SOFT_DEPTH if effort > 0.0 else SOFT_STIFFNESS
            self.add(node.line, JointLimit, joint, lower, upper, stiffness=stiffness, name=name)
        if not lower <= 0.0 <= upper:
            self.outside = {**(self.outside or {}), joint.name: (lower + upper) / 2}
            self.reading.remark(node.line, f'<limit> of joint "{shown(spec.name)}"',
                                'it is built at 0, which lies outside; world.keyframes["within limits"] does not')  # fmt: skip

    def _add_motor(self, spec, joint, effort):
        gear = self.robot.gears.get(spec.name)
        if spec.mimic is None and (effort is not None or gear is not None):
            most = None if effort is None else effort / abs(gear or 1.0)
            self.add(spec.line, Motor, joint, limit=most, gear=gear or 1.0, name=self.free_name(f"{joint.name} motor"))

    def add_mimic(self, spec):
        node, name, joints = spec.mimic, spec.mimic.attributes.get("joint", ""), self.robot.joints
        leader = joints.get(name)
        ratio, offset = number(self.reading, node, "multiplier", 1.0), number(self.reading, node, "offset", 0.0)
        self._check_no_circle(spec)
        if leader is None:
            self.reading.remark(node.line, f'<mimic> of joint "{shown(spec.name)}"',
                                f'there is no joint "{shown(name)}", so it moves freely{suggestion(name, joints)}')  # fmt: skip
        elif leader.element is None or leader.kind in ("planar", "ball", "spherical"):
            self.reading.remark(
                node.line, f'<mimic> of joint "{shown(spec.name)}"', f'joint "{shown(name)}" is {leader.kind}: it moves freely'
            )
        elif ratio == 0.0:
            self.reading.fail(node.line, f'joint "{shown(spec.name)}" mimics with the multiplier 0', "make the joint fixed")
        elif spec.element is not None:
            self.add(
                node.line, Gear, spec.element, leader.element, ratio, offset, name=self.free_name(f"{spec.element.name} mimic")
            )

    def _check_no_circle(self, spec):
        seen, other = {spec.name}, spec
        while other is not None and other.mimic is not None:
            name = other.mimic.attributes.get("joint", "")
            if name in seen:
                self.reading.fail(spec.mimic.line, f'joint "{shown(spec.name)}" mimics itself', "name the joint that leads")
            seen.add(name)
            other = self.robot.joints.get(name)

    def add_geometry(self, group, link, place, visuals, contact, own):
        """The visuals and colliders of a link, on its body; colliders of the same robot (`own`) do not touch."""
        frame = group.place @ place if group.body is self.world.ground else place
        for solid in link.visuals if visuals else ():
            self._add_visual(group.body, link, frame @ solid.place, solid)
        for solid in link.collisions if contact else ():
            self._add_collider(group.body, link, frame @ solid.place, solid, own)

    def _add_visual(self, body, link, place, solid):
        if solid.kind == "mesh":
            parts = [(surface.mesh(), surface.color) for surface in self._surfaces(solid, "visual", link) or ()]
        else:
            shape = self._shape(solid, "visual", link)
            parts = [(shape, None)] if shape else []
        for shape, color in parts:
            self.add(solid.line, Visual, body, shape, position=place.x, orientation=_quaternion(place.R),
                     color=solid.color or color, name=self.free_name(f"{link.name} visual"))  # fmt: skip

    def _add_collider(self, body, link, place, solid, own):
        position = place.x
        if solid.kind == "mesh":
            shape = self._made(solid, link, "whole" if body is self.world.ground else "hull")
            if shape is not None and body is not self.world.ground:
                position = place.R @ shape.centre + place.x
        else:
            shape = self._shape(solid, "collision", link)
        if shape is not None:
            said = {"friction": link.friction, "restitution": link.restitution}
            self.add(solid.line, Collider, body, shape, position=position, orientation=_quaternion(place.R), group=own,
                     name=self.free_name(f"{link.name} collision"), **{k: v for k, v in said.items() if v is not None})  # fmt: skip

    def _shape(self, solid, what, link):
        try:
            return SHAPES[solid.kind](*solid.sizes)
        except LinkworkError as error:
            self.reading.remark(solid.line, f'<{what}> of link "{shown(link.name)}"', f"it is left out ({error})")
            return None

    def _surfaces(self, solid, what, link):
        """The surfaces of a mesh, or None: what is missing or cannot be used is told."""
        named = f'{what} mesh "{shown(solid.address)}" of link "{shown(link.name)}"'
        try:
            path = self._once(solid.address, lambda: self.folders.find(solid.address))
            found = self._once((path, solid.scale), lambda: scaled(self._once(path, lambda: read_mesh(path)), solid.scale))
        except Outside as error:
            self.reading.fail(solid.line, f"{named} is not read", str(error))
        except (Missing, MeshError) as error:
            self.reading.remark(solid.line, named, f"it is left out: {error}")
            return None
        dropped = sum(surface.dropped for surface in found)
        if dropped:
            self.reading.remark(solid.line, named, f"{dropped} of its triangles have no area, and are left out")
        return found

    def _made(self, solid, link, how):
        surfaces = self._surfaces(solid, "collision", link)
        if surfaces is None:
            return None
        try:
            make = {"hull": hull, "whole": whole}[how]
            return self._once((solid.address, solid.scale, how), lambda: make(surfaces))
        except MeshError as error:
            self.reading.remark(
                solid.line, f'collision mesh "{shown(solid.address)}" of link "{shown(link.name)}"', f"it is left out: {error}"
            )
            return None

    def _once(self, key, make):
        """What is made of a mesh, kept for the next link that names it; so is what is wrong with it."""
        if key not in self.meshes:
            try:
                self.meshes[key] = make()
            except (Missing, MeshError) as error:
                self.meshes[key] = error
        if isinstance(self.meshes[key], Exception):
            raise self.meshes[key]
        return self.meshes[key]

    def add_keyframe(self):
        """Where no joint lies outside of its limits, if zero is no such place."""
        if self.outside:
            self.world.keyframes["within limits"] = Keyframe(positions=self.outside)


@contextmanager
def _said(reading, line):
    """What an element refuses is said of the line that asks for it."""
    try:
        yield
    except FileError:
        raise
    except LinkworkError as error:
        place = f"{reading.path}{'' if line is None else f':{line}'}"
        raise FileError(f"{place}: {error}") from None


def _matrix(quaternion):
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def _quaternion(R):
    return Rotation.from_matrix(R).as_quat(scalar_first=True)
