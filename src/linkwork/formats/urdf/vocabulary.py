"""What a URDF may say that linkwork uses: elements and their attributes. All else is told, by name and line."""

from linkwork.formats.numbers import shown

PLACE = {"origin": "xyz rpy"}
GEOMETRY = {"geometry": "", "geometry/box": "size", "geometry/sphere": "radius", "geometry/cylinder": "radius length",
            "geometry/capsule": "radius length", "geometry/mesh": "filename scale"}  # fmt: skip
MATERIAL = {"material": "name", "material/color": "rgba"}
REDUCTION = "mechanicalReduction"


def _below(path, *tables):
    return {f"{path}/{key}": words for table in tables for key, words in table.items()}


WORDS = {  # path of an element -> its attributes
    "robot": "name version",
    **_below("robot", MATERIAL),
    "robot/link": "name",
    "robot/link/inertial": "",
    **_below("robot/link/inertial", PLACE, {"mass": "value", "inertia": "ixx ixy ixz iyy iyz izz"}),
    "robot/link/visual": "name",
    **_below("robot/link/visual", PLACE, GEOMETRY, MATERIAL),
    "robot/link/collision": "name",
    **_below("robot/link/collision", PLACE, GEOMETRY),
    "robot/link/contact": "",
    **_below("robot/link/contact", {"lateral_friction": "value", "restitution": "value", "spinning_friction": "value",
                                      "rolling_friction": "value"}),
    "robot/joint": "name type",
    **_below("robot/joint", PLACE, {"parent": "link", "child": "link", "axis": "xyz", "limit": "lower upper effort velocity",
                                    "dynamics": "damping friction", "mimic": "joint multiplier offset",
                                    "safety_controller": "soft_lower_limit soft_upper_limit k_position k_velocity"}),
    "robot/constraint": "name type",
    **_below("robot/constraint", {"parent": "link", "child": "link", "parent_origin": "xyz rpy", "child_origin": "xyz rpy",
                                  "parent_axis": "xyz", "child_axis": "xyz"}),
    "robot/loop_joint": "name type",
    **_below("robot/loop_joint", {"link1": "link xyz rpy", "link2": "link xyz rpy", "axis": "xyz"}),
    "robot/transmission": "name type",
    **_below("robot/transmission", {"type": "", "joint": "name", "joint/hardwareInterface": "", f"joint/{REDUCTION}": "",
                                    "actuator": "name", "actuator/hardwareInterface": "", f"actuator/{REDUCTION}": "",
                                    REDUCTION: ""}),
}  # fmt: skip
TWICE = {"robot/constraint", "robot/loop_joint", "robot/link", "robot/joint", "robot/material", "robot/transmission",
         "robot/link/visual", "robot/link/collision", "robot/transmission/joint", "robot/transmission/actuator",
         "robot/transmission/joint/hardwareInterface", "robot/transmission/actuator/hardwareInterface"}  # fmt: skip
WHY = {
    "gazebo": "it is for Gazebo, and linkwork does not read it",
    "texture": "textures are not shown",
    "calibration": "it is for a real robot's sensors",
    "verbose": "it is for a planner's collision checks",
}


def tell_unknown(reading, root):
    """A remark for each element and attribute that linkwork does not use, and for each element that stands twice."""
    waiting = [(root, "robot", root)]
    while waiting:
        node, path, owner = waiting.pop()
        used = WORDS[path].split()
        for name, value in node.attributes.items():
            if name not in used and not name.startswith("xmlns"):
                reading.remark(node.line, f'{name}="{shown(value)}" in {_of(node, owner)}', "linkwork does not use it")
        seen = set()
        below = []
        for child in node.children:
            inner = f"{path}/{child.tag}"
            if child.tag.startswith("xacro:"):
                remedy = 'end its name in ".xacro", or expand it by "xacro FILE.urdf.xacro > FILE.urdf"'
                reading.fail(child.line, f"<{child.tag}> is a macro, and this is no URDF yet", remedy)
            if path == "robot" and child.tag == "transmission":
                _tell_rest(reading, child)
            if inner not in WORDS and path.startswith("robot/transmission"):
                continue
            if child.tag == "gazebo" and child.children and all(each.tag == "sensor" for each in child.children):
                continue  # which are told one by one
            if inner not in WORDS:
                reading.remark(child.line, _of(child, node), WHY.get(child.tag, "linkwork does not use it"))
            elif child.tag in seen and inner not in TWICE:
                reading.remark(child.line, f"a second {_of(child, node)}", "the first one counts")
            else:
                below.append((child, inner, child if "name" in child.attributes else owner))
            seen.add(child.tag)
        waiting += reversed(below)


def _tell_rest(reading, transmission):
    """What of a transmission is not used, in one remark."""
    found, waiting = [], [(transmission, "robot/transmission")]
    while waiting:
        node, path = waiting.pop()
        for child in node.children:
            inner = f"{path}/{child.tag}"
            if inner in WORDS:
                waiting.append((child, inner))
            else:
                found.append(child.tag)
    if found:
        names = ", ".join(f'"{shown(tag)}"' for tag in dict.fromkeys(found))
        reading.remark(transmission.line, _of(transmission, transmission), f"linkwork does not use all of it: {names}")


def _of(node, owner):
    """`<limit> of joint "knee"`, `<link name="arm">`: an element as a sentence names it."""
    name = node.attributes.get("name") or node.attributes.get("reference")
    own = f'<{node.tag} "{shown(name)}">' if name else f"<{node.tag}>"
    above = owner.attributes.get("name")
    return own if node is owner or owner.tag == "robot" or not above else f'{own} of {owner.tag} "{shown(above)}"'
