"""Loops of URDF: <constraint>, as proposed for urdfdom, and <loop_joint>, which Isaac Sim reads: joints beside the tree."""

import numpy as np

from linkwork.elements import Ball, Hinge, Slider, Weld
from linkwork.formats.numbers import shown, vector
from linkwork.formats.urdf.robot import near, place_of, placed

KINDS = {"revolute": Hinge, "continuous": Hinge, "prismatic": Slider, "ball": Ball, "spherical": Ball, "fixed": Weld}
OPEN = 1e-6  # m or 1: a loop that is farther open as built is told
ENDS = {"constraint": ("parent", "child"), "loop_joint": ("link1", "link2")}


def add(building, root, groups):
    """Joints that close loops, between bodies that others have placed."""
    where = {link.name: (group, place) for group in groups for link, place in group.links}
    for tag, words in ENDS.items():
        for node in root.all(tag):
            _add(building, node, words, where)


def _add(building, node, words, where):
    reading, name = building.reading, node.attributes.get("name", node.tag)
    what, kind = f'<{node.tag} "{shown(name)}">', node.attributes.get("type", "")
    if kind not in KINDS:
        reading.fail(node.line, f'{what} has the type "{shown(kind)}"', f"give one of {', '.join(KINDS)}")
    ends = [_end(building, node, what, word, where) for word in words]
    (a, at_a, axis_a, world_a), (b, at_b, axis_b, world_b) = ends
    if a is b:
        reading.remark(node.line, what, "both of its links are one body: it is left out")
        return
    made = {"name": building.own_name(node.line, "constraint", name)}
    gap = float(np.linalg.norm(world_a.x - world_b.x))
    if KINDS[kind] is Weld:
        building.add(node.line, Weld, a, b, at=world_b.x, **made)
        gap += float(np.linalg.norm(world_a.R - world_b.R))
        why = "its links are held as built, where its frames differ by"
    else:
        along = {} if KINDS[kind] is Ball else {"axis_a": axis_a, "axis_b": axis_b}
        building.add(node.line, KINDS[kind], a, b, on_a=at_a, on_b=at_b, **along, **made)
        gap += 0.0 if KINDS[kind] is Ball else float(np.linalg.norm(world_a.R @ _axis(reading, node, words[0])
                                                                    - world_b.R @ _axis(reading, node, words[1])))  # fmt: skip
        why = "call world.assemble() before it moves: it is open as built, by"
    if gap > OPEN:
        reading.remark(node.line, what, f"{why} {gap:.3g}")


def _end(building, node, what, word, where):
    """(body, point and axis in its frame, frame in the world) of one end."""
    reading, given = building.reading, node.first(word)
    link = given.attributes.get("link", "") if given is not None else ""
    if link not in where:
        problem = f"{what} has no {word}" if not link else f'{what}: there is no link "{shown(link)}"{near(link, where)}'
        reading.fail((given or node).line, problem, f'give <{word} link="..."/>')
    group, place = where[link]
    own = place @ (placed(reading, given) if node.tag == "loop_joint" else place_of(reading, node, f"{word}_origin"))
    world = group.place @ own
    local = world if group.body is building.world.ground else own
    return group.body, local.x, local.R @ _axis(reading, node, word), world


def _axis(reading, node, word):
    """The unit axis of an end, in its own frame."""
    given = node.first(f"{word}_axis") or node.first("axis")
    axis = np.array((1.0, 0.0, 0.0) if given is None else vector(reading, given, "xyz", 3))
    length = float(np.linalg.norm(axis))
    if not length > 1e-9:
        reading.fail(given.line, f"<{given.tag}> of <{node.tag}> has zero length", 'give a direction such as "0 0 1"')
    return axis / length
