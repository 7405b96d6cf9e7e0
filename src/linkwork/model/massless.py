"""Massless links: bodies without mass and inertia, which joints hold and which carry what has mass."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.elements import Body
from linkwork.elements.bodies.rigid import is_rigid
from linkwork.elements.core import checks
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.errors import ModelError
from linkwork.model.model import Item


def is_massless(body) -> bool:
    return getattr(body, "massless", False) and is_rigid(body)


def check_carrying(world) -> None:
    """Each massless link hangs on a joint and carries something that has mass; what is welded together is one."""
    links = [body for body in world.bodies if is_massless(body)]
    if not links:
        return
    connected = [[x for _, _, x in c.references() if isinstance(x, Body)] for c in world.constraints]
    part = _joined([(c.a, c.b) for c in world.constraints if isinstance(c, Joint) and not kind_of_joint(c).freedoms])
    heavy = {part(body) for body in (world.ground, *world.bodies) if not is_massless(body)}
    around: dict[int, set[int]] = {}
    for bodies in connected:
        for body in bodies:
            around.setdefault(part(body), set()).update(part(other) for other in bodies)
    for body in links:
        if part(body) not in heavy and len(around.get(part(body), set()) - {part(body)}) < 2:
            raise ModelError(f"{checks.label(body)}: it has no mass and carries nothing that has; give it a mass, weld it to "
                             "another body, or remove it")  # fmt: skip
    tree = _joined([(first, other) for first, *others in filter(None, connected) for other in others])
    seen = {tree(world.ground)}
    for body in world.bodies:
        if tree(body) not in seen and part(body) not in heavy:
            raise ModelError(f"{checks.label(body)}: it has no mass and floats; give it a mass, join it with the ground, or "
                             "add the bodies with mass before it")  # fmt: skip
        seen.add(tree(body))


def _joined(pairs) -> Callable[[Body], int]:
    """A function from a body to a number that is the same for bodies that pairs join, directly or through others."""
    above: dict[int, int] = {}

    def root(key: int) -> int:
        while above.get(key, key) != key:
            key = above[key]
        return key

    for a, b in pairs:
        above[root(id(a))] = root(id(b))
    return lambda body: root(id(body))


def check_eliminated(bodies, items: list[Item], joint_pivots: bool, implicit: bool) -> None:
    """Refuse massless links that are not eliminated together with the joint that they hang on. `joint_pivots`, `implicit`: what
    the solver has."""
    for item in items:
        if item.body >= 0 and item.pivot is None and is_massless(bodies.elements[item.body]):
            body = checks.label(bodies.elements[item.body])
            if not joint_pivots:
                raise ModelError(
                    f'{body}: it has no mass, which this solver cannot eliminate; give it a mass, or use solver="tree"'
                )
            if implicit:
                raise ModelError(f"{body}: it has no mass, and implicit steps need it to hang on a single ball, hinge or "
                                 "universal joint, outside of loops and without rotors and drives; give it a mass, or use "
                                 'solver="ltdl" with integrator="joint-implicit"')  # fmt: skip
            raise ModelError(f"{body}: it has no mass, and this solver needs it to hang on a single joint, outside of loops "
                             'and without drives; give it a mass, or use solver="dense"')  # fmt: skip
