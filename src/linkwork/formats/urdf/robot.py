"""What a URDF says, checked: links, joints that make a tree of them, materials, transmissions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.errors import FileError, suggestion
from linkwork.formats.numbers import aside, number, rotation_of, shown, text_number, vector
from linkwork.formats.urdf.vocabulary import REDUCTION
from linkwork.formats.xml import Node

MOVING = ("revolute", "continuous", "prismatic", "planar", "ball", "spherical", "floating")
WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
WITH_COORDINATE = ("revolute", "continuous", "prismatic")
WHITE = (1.0, 1.0, 1.0, 1.0)
SIZES = {"box": (("size", 3),), "sphere": (("radius", 1),), "cylinder": (("radius", 1), ("length", 1)),
         "capsule": (("radius", 1), ("length", 1))}  # fmt: skip
MOST_COMPARED = 1000  # names among which a near one is looked for: a file may ask a million times


@dataclass(frozen=True)
class Place:
    """A frame in another one."""

    R: np.ndarray  # (3, 3)
    x: np.ndarray  # (3,), m

    def __matmul__(self, other):
        return Place(self.R @ other.R, self.R @ other.x + self.x)


HERE = Place(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Inertial:
    """Mass, its centre, and the inertia about that centre, in the link's frame."""

    mass: float  # kg
    com: np.ndarray  # (3,), m
    inertia: np.ndarray  # (3, 3), kg m^2
    line: int


@dataclass(frozen=True)
class Solid:
    """The geometry of a <visual> or <collision>, and where it is in the link's frame."""

    kind: str  # box, sphere, cylinder, capsule or mesh
    sizes: tuple  # m
    address: str | None  # of a mesh
    scale: tuple  # of a mesh
    place: Place
    name: str | None
    color: tuple | None
    line: int


@dataclass
class Link:
    """A link as the file has it."""

    name: str
    line: int
    inertial: Inertial | None
    visuals: list[Solid]
    collisions: list[Solid]
    friction: float | None
    restitution: float | None
    torsion: float | None  # m
    rolling: float | None  # m


@dataclass
class JointSpec:
    """A joint as the file has it."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    place: Place
    axis: np.ndarray  # (3,), unit, in the joint's frame
    limit: Node | None
    damping: float
    friction: float
    mimic: Node | None
    safety: Node | None = None
    element: Any = None  # the joint that it became


@dataclass
class Robot:
    """A whole file: a tree of links, the root first and parents before children."""

    name: str
    links: dict[str, Link]
    joints: dict[str, JointSpec]
    root: str
    below: dict[str, list[JointSpec]] = field(repr=False)  # link -> its joints, in the order of the file
    gears: dict[str, float] = field(repr=False)  # joint -> the reduction of its transmission


def robot_of(reading, root):
    """The Robot that the <robot> element describes."""
    materials = {m.attributes.get("name"): _color(reading, m) for m in root.all("material") if m.first("color")}
    links = _named(reading, root.all("link"), lambda node, name: _link(reading, node, name, materials))
    joints = _named(reading, root.all("joint"), lambda node, name: _joint(reading, node, name))
    if not links:
        reading.fail(root.line, "the robot has no link", 'give it one, such as <link name="base"/>')
    for joint in joints.values():
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                remedy = f"name a link of the file{suggestion(link, links)}"
                problem = f'joint "{shown(joint.name)}" has the {end} "{shown(link)}", and there is no such link'
                reading.fail(joint.line, problem, remedy)
    top = _root(reading, links, joints)
    below: dict[str, list[JointSpec]] = {name: [] for name in links}
    for joint in joints.values():
        below[joint.parent].append(joint)
    gears = _gears(reading, root, joints)
    return Robot(root.attributes.get("name") or "robot", links, joints, top, below, gears)


def near(name, known):
    """`; did you mean "..."?` where one of few known names is near."""
    return suggestion(name, known) if len(known) <= MOST_COMPARED else ""


def _named(reading, nodes, make):
    found: dict[str, Any] = {}
    for node in nodes:
        name = node.attributes.get("name", "")
        if not name.strip():
            reading.fail(node.line, f"a <{node.tag}> has no name", f'give it one, such as name="{node.tag}1"')
        if name in found:
            reading.fail(
                node.line, f'{node.tag} "{shown(name)}" stands twice, first in line {found[name].line}', "give another name"
            )
        found[name] = make(node, name)
    return found


def _root(reading, links, joints):
    """The name of the link that no joint carries; every other one hangs from it."""
    carriers: dict[str, JointSpec] = {}
    for joint in joints.values():
        other = carriers.setdefault(joint.child, joint)
        if other is not joint:
            problem = (
                f'link "{shown(joint.child)}" is the child of joint "{shown(other.name)}" and of joint "{shown(joint.name)}"'
            )
            reading.fail(joint.line, problem, "let one joint carry it: loops are closed in linkwork, by world.add")
    roots = [link for link in links.values() if link.name not in carriers]
    if len(roots) > 1:
        problem = f'links "{shown(roots[0].name)}" and "{shown(roots[1].name)}" both hang from no joint'
        reading.fail(roots[1].line, problem, "connect them by a joint, or give each robot a file")
    start = roots[0].name if roots else next(iter(links))
    reached, waiting = {start}, [start]
    below: dict[str, list[str]] = {}
    for joint in joints.values():
        below.setdefault(joint.parent, []).append(joint.child)
    while waiting:
        for child in below.get(waiting.pop(), ()):
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    astray = next((joint for joint in joints.values() if not roots or joint.child not in reached), None)
    if astray is not None:
        reading.fail(
            astray.line, f'joint "{shown(astray.name)}" belongs to a circle of links', "let one link hang from no joint"
        )
    return start


def _link(reading, node, name, materials):
    inertial, contact = node.first("inertial"), node.first("contact")
    tags = ("lateral_friction", "restitution", "spinning_friction", "rolling_friction")
    said = (contact.first(tag) if contact else None for tag in tags)
    return Link(
        name, node.line, _inertial(reading, inertial, name) if inertial else None,
        [solid for child in node.all("visual") if (solid := _solid(reading, child, name, materials))],
        [solid for child in node.all("collision") if (solid := _solid(reading, child, name, materials))],
        *(_surface(reading, child) if child else None for child in said),
    )  # fmt: skip


def _surface(reading, node):
    """Friction or restitution of a link's colliders; None where the file says no number that either can be."""
    found = aside(reading, node, "value", None, "it is left out")
    if found is not None and not 0.0 <= found <= (1.0 if node.tag == "restitution" else found):
        reading.remark(node.line, f"<{node.tag}> {found:g}", "there is no such one, and it is left out")
        return None
    return found


def _inertial(reading, node, name):
    mass_node, moments = node.first("mass"), node.first("inertia")
    for child, tag in ((mass_node, "mass"), (moments, "inertia")):
        if child is None:
            reading.fail(node.line, f'the <inertial> of link "{shown(name)}" has no <{tag}>', "give mass and inertia")
    mass = number(reading, mass_node, "value")
    if mass < 0.0:
        reading.fail(mass_node.line, f'link "{shown(name)}" has the mass {mass:g} kg', "give a mass of at least 0")
    xx, yy, zz = (number(reading, moments, word) for word in ("ixx", "iyy", "izz"))
    xy, xz, yz = (number(reading, moments, word, 0.0) for word in ("ixy", "ixz", "iyz"))
    place = place_of(reading, node)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertial(mass, place.x, place.R @ inertia @ place.R.T, moments.line)


def place_of(reading, node, tag="origin"):
    """The <origin> of an element."""
    origin = node.first(tag)
    return HERE if origin is None else placed(reading, origin)


def placed(reading, origin):
    """Where xyz and rpy say."""
    x = vector(reading, origin, "xyz", 3, (0.0, 0.0, 0.0))
    return Place(rotation_of(vector(reading, origin, "rpy", 3, (0.0, 0.0, 0.0))), np.array(x))


def _solid(reading, node, link, materials):
    """The Solid of a <visual> or <collision>, or None. One that is only seen and has something wrong with it is left out."""
    try:
        return _read_solid(reading, node, link, materials)
    except FileError as error:
        if node.tag != "visual" or reading.strict:
            raise
        problem = str(error).removeprefix(f"{reading.path}:")
        reading.remark(node.line, f'<visual> of link "{shown(link)}"', f"it is left out (line {problem})")
        return None


def _read_solid(reading, node, link, materials):
    geometry = node.first("geometry")
    given = [child for child in geometry.children if child.tag in SIZES or child.tag == "mesh"] if geometry else []
    if not given:
        reading.remark(
            node.line, f'<{node.tag}> of link "{shown(link)}"', "it has no geometry that linkwork knows, and is left out"
        )
        return None
    (shape, *_) = given
    sizes, address, scale = (), None, (1.0, 1.0, 1.0)
    if shape.tag == "mesh":
        address, scale = shape.attributes.get("filename"), _scale(reading, shape, scale)
        if not address:
            reading.fail(shape.line, f'a <mesh> of link "{shown(link)}" has no "filename"', 'give filename="package://..."')
    else:
        sizes = tuple(x for name, count in SIZES[shape.tag] for x in vector(reading, shape, name, count))
    return Solid(shape.tag, sizes, address, scale, place_of(reading, node), node.attributes.get("name"),
                 _material(reading, node, materials), shape.line)  # fmt: skip


def _scale(reading, mesh, usual):
    """Of a mesh: three numbers, or one for all of them, which is told."""
    if len(mesh.attributes.get("scale", "").split()) != 1:
        return vector(reading, mesh, "scale", 3, usual)
    reading.remark(mesh.line, f'scale="{shown(mesh.attributes["scale"])}" in <mesh>', "it is taken along all three axes")
    return (number(reading, mesh, "scale"),) * 3


def _material(reading, node, materials):
    """The colour of a <visual>: its own, or that of the material it names; None without."""
    material = node.first("material")
    if node.tag != "visual" or material is None:
        return None
    if material.first("color"):
        color = _color(reading, material)
        materials.setdefault(material.attributes.get("name"), color)
        return color
    name = material.attributes.get("name")
    if name not in materials and not material.children:
        reading.remark(material.line, f'<material "{shown(name or "")}">', "no material of that name has a color")
    return materials.get(name)


def _color(reading, material):
    node = material.first("color")
    color = _rgba(reading, node)
    if not all(0.0 <= part <= 1.0 for part in color):
        reading.remark(node.line, f'<color> {color} of <material "{shown(material.attributes.get("name", ""))}">',
                       "colours are from 0 to 1, and it is brought there")  # fmt: skip
    return tuple(min(1.0, max(0.0, part)) for part in color)


def _rgba(reading, node):
    """Of a colour that is no colour, white; without an opacity, opaque."""
    words = node.attributes.get("rgba", "1 1 1 1").split()
    try:
        found = [float(word) for word in words]
    except ValueError:
        found = []
    if not 3 <= len(found) <= 4 or not np.isfinite(found).all():
        reading.remark(node.line, f'rgba="{shown(" ".join(words))}" in <color>', "it is no colour: white is taken")
        return WHITE
    if len(found) == 3:
        reading.remark(node.line, f'rgba="{shown(" ".join(words))}" in <color>', "it has no opacity: 1 is taken")
    return (*found, 1.0)[:4]


def _joint(reading, node, name):
    kind = node.attributes.get("type", "")
    if kind not in (*MOVING, "fixed"):
        known = ", ".join((*MOVING, "fixed"))
        reading.fail(node.line, f'joint "{shown(name)}" has the type "{shown(kind)}"', f"give one of {known}")
    parent, child = _ends(reading, node, name)
    dynamics = node.first("dynamics")
    read = number if kind in (*WITH_COORDINATE, "ball", "spherical") else _in_vain
    damping, friction = ((read(reading, dynamics, word, 0.0) if dynamics else 0.0) for word in ("damping", "friction"))
    for word, value in (("damping", damping), ("friction", friction)):
        if value < 0.0:
            reading.fail(dynamics.line, f'joint "{shown(name)}" has the {word} {value:g}', "give one of at least 0")
    limit = node.first("limit")
    if kind not in WITH_COORDINATE:
        _tell_unused(reading, name, kind, limit, dynamics, damping or friction, node)
        limit, damping, friction = None, damping if kind in ("ball", "spherical") else 0.0, 0.0
    mimic, safety = (node.first(tag) if kind in WITH_COORDINATE else None for tag in ("mimic", "safety_controller"))
    axis, place = _axis(reading, node, name, kind), place_of(reading, node)
    return JointSpec(name, node.line, kind, parent, child, place, axis, limit, damping, friction, mimic, safety)


def _in_vain(reading, node, name, default):
    """A number that a joint without a coordinate has no use for: 1 where something is said, which is told later."""
    return 1.0 if node.attributes.get(name, "0").strip("+-0. ") else default


def _ends(reading, node, name):
    """The names of the two links that a joint connects."""
    found = []
    for tag in ("parent", "child"):
        end = node.first(tag)
        if end is None or not end.attributes.get("link"):
            reading.fail((end or node).line, f'joint "{shown(name)}" has no {tag}', f'give <{tag} link="..."/>')
        found.append(end.attributes["link"])
    if found[0] == found[1]:
        reading.fail(node.line, f'joint "{shown(name)}" connects link "{shown(found[0])}" with itself', "name two links")
    return found


def _tell_unused(reading, name, kind, limit, dynamics, dissipates, joint):
    """What a joint without a coordinate says in vain; zeros say nothing."""
    words = ("lower", "upper", "effort", "velocity")
    bounds = limit is not None and any(limit.attributes.get(word, "0").strip("+-0. ") for word in words)
    others = [(joint.first(tag), True) for tag in ("mimic", "safety_controller")]
    for node, said in ((limit, bounds), (dynamics, dissipates and kind not in ("ball", "spherical")), *others):
        if node is not None and said:
            reading.remark(node.line, f'<{node.tag}> of joint "{shown(name)}"', f"of no meaning on a {kind} joint")


def _axis(reading, node, name, kind):
    given = node.first("axis")
    if given is None or kind not in WITH_AXIS:
        return np.array([1.0, 0.0, 0.0])
    axis = np.array(vector(reading, given, "xyz", 3))
    length = np.linalg.norm(axis)
    if not length > 1e-9:
        reading.fail(given.line, f'joint "{shown(name)}" has an axis of zero length', 'give a direction such as "0 0 1"')
    if abs(length - 1.0) > 1e-3:
        reading.remark(given.line, f'<axis> of joint "{shown(name)}"', f"its length is {length:g}; its direction is taken")
    return axis / length


def _gears(reading, root, joints):
    """joint -> the reduction of its transmission, 1 where none is said."""
    gears: dict[str, float] = {}
    for node in root.all("transmission"):
        what = f'<transmission "{shown(node.attributes.get("name", ""))}">'
        driven = [joint.attributes.get("name", "") for joint in node.all("joint")]
        said = [found for part in (node, *node.all("actuator", "joint")) for found in part.all(REDUCTION)]
        simple = len(driven) == 1 and len(said) <= 1
        if not simple:
            why = "each of its joints gets a motor of its own" if driven else "it names no joint, and drives none"
            reading.remark(node.line, what, f"it is no simple transmission: {why}")
        interfaces = " ".join(found.text for part in node.all("joint") for found in part.all("hardwareInterface"))
        if driven and interfaces and "Effort" not in interfaces and "effort" not in interfaces:
            reading.remark(node.line, what, f'its interface is "{shown(interfaces)}"; its motor takes efforts')
        reduction = text_number(reading, said[0], 1.0, "its reduction is taken as 1") if simple and said else 1.0
        if reduction == 0.0:
            reading.remark(said[0].line, what, "its reduction is 0, and taken as 1")
        for name in driven:
            if name not in joints:
                reading.remark(node.line, what, f'there is no joint "{shown(name)}" to drive{near(name, joints)}')
            elif joints[name].kind not in WITH_COORDINATE:
                reading.remark(node.line, what, f'joint "{shown(name)}" is {joints[name].kind}, and has no motor')
            elif name in gears:
                reading.remark(node.line, what, f'joint "{shown(name)}" has a transmission already, which counts')
            else:
                gears[name] = reduction or 1.0
    return gears
