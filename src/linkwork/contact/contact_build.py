"""From a world's colliders, contacts, ropes and hard limits to the arrays of contact stages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import combinations

import numpy as np

from linkwork.collision.collider_table import Placed, compile_colliders
from linkwork.collision.layout import BODY, MIDDLE, MOVED, RULES, SIZE
from linkwork.contact.combining import LARGER, MEAN
from linkwork.contact.delassus_tables import refuse_stretching
from linkwork.contact.rows import ON_A, ON_B, STOP_A, STOP_B, Materials
from linkwork.contact.stop_rows import ModelSite, hard_stops
from linkwork.elements import Collider, Contact, Joint, NoContact
from linkwork.elements.contacts.collider import FRICTION
from linkwork.elements.core.checks import label
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.placement import product
from linkwork.errors import ModelError
from linkwork.model.graph import GROUND
from linkwork.model.model import Model


class ContactElements:
    """What touches in a model: colliders with their materials; ropes, hard limits and dry friction."""

    def __init__(self, model: Model):
        self.model = model
        elements = model.world.contacts
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self.names: list  # of colliders: a Collider, or the body whose shape it is
        self.geometry, self.materials, self.sizes = self._colliders([e for e in elements if isinstance(e, Collider)], elements)
        self.stops, self.hard_stops = hard_stops(elements, ModelSite(model, self._spot))

    def _colliders(self, given: list[Collider], elements):
        """Geometry, materials, and half the smallest extent of each collider (m)."""
        model, rules_of = self.model, self._rules()
        by_points = self._bodies_with_spheres(given)  # spheres around these touch, and not the body's own shape
        entries: list[tuple] = [
            (c, c.body, c.shape, c.position, c.orientation, c.group, c.friction, c.restitution, c.torsion, c.rolling,
             float(c.priority), float(c.dimensions))
            for c in given
        ]  # fmt: skip
        entries += [(body, body, body.shape, model_com(body), (1.0, 0.0, 0.0, 0.0), None, FRICTION, 0.0, 0.0, 0.0, 0.0, 6.0)
                    for k, body in enumerate(model.bodies.elements)
                    if getattr(body, "shape", None) is not None and k not in by_points]  # fmt: skip
        entries = [entry for entry in entries if rules_of(entry[1])]
        numbers = [GROUND if body.dim == 0 else model.bodies.number[id(body)] for _, body, *_ in entries]
        local, turned = self._in_bodies(numbers, [entry[3] for entry in entries], [entry[4] for entry in entries])
        placed, groups, stretching = [], dict[str, int](), {own.body for own in model.stretched}
        for k, (source, body, shape, _, _, group, *_) in enumerate(entries):
            rules = rules_of(body)
            point = self._spot(numbers[k], entries[k][3])
            stretched = numbers[k] in stretching and not (shape.isotropic and isinstance(source, Collider))
            if point is not None or stretched:
                _refuse_turning([source, *(self.contacts[rule] for rule in rules)], body)
            if point is not None and not stretched:
                numbers[k], local[k] = point, 0.0
            elif not stretched:
                refuse_stretching(model, self.contacts[rules[-1]], numbers[k])
            together = groups.setdefault(group, len(groups)) if group else -1
            placed.append(Placed(shape, numbers[k], local[k], turned[k], together, rules, source.name, stretched))
        self.names = [source for source, *_ in entries]
        owners = [self.body_of(number) for number in numbers]
        self._refuse_bare(set(owners))
        geometry = compile_colliders(placed, self._apart(owners, elements))
        extents = geometry.constants[:, SIZE : SIZE + 3]
        sizes = np.where(extents > 0, extents, np.inf).min(axis=1).tolist()
        named = [_material(c) for c in self.contacts] or [(0.0,) * 9]
        of_rule = np.array([[-1.0 if value is None else value for value in values] for values in named], dtype=float)
        own = np.array([entry[6:] for entry in entries], dtype=float).reshape(-1, 6)
        resists = ((own[:, 2:4] > 0.0).any(axis=0) | (of_rule[:, 6:8] > 0.0).any(axis=0)).astype(np.int64)
        labels = geometry.labels
        return geometry, Materials(labels[:, BODY].copy(), labels[:, RULES:].copy(), own, of_rule, resists), sizes

    def _bodies_with_spheres(self, given: list[Collider]) -> set[int]:
        """Numbers of the bodies that move as no rigid one does, and have spheres around points, or are known by these alone."""
        bodies = self.model.bodies
        found = {point.body for point in self.model.material_points if not bodies.kinds[point.body].framed}
        round_ones = [bodies.number[id(c.body)] for c in given if c.shape.isotropic and id(c.body) in bodies.number]
        return found | {number for number in round_ones if bodies.kinds[number].contact is None}

    def _in_bodies(self, numbers: list[int], positions, orientations) -> tuple[np.ndarray, np.ndarray]:
        """Positions (k, 3) and orientations (k, 4) in users' frames of these bodies, in their internal frames."""
        bodies = self.model.bodies
        local, turned = np.array(positions, dtype=float).reshape(-1, 3), np.array(orientations, dtype=float).reshape(-1, 4)
        of_kind: dict[str, list[int]] = {}
        for k, number in enumerate(numbers):
            if number != GROUND:
                of_kind.setdefault(bodies.kinds[number].name, []).append(k)
        for places in of_kind.values():
            frames = bodies.batch(bodies.kinds[numbers[places[0]]], [numbers[k] for k in places])
            local[places], turned[places] = frames.user_point(local[places]), product(frames.user_turn(), turned[places])
        return local, turned

    def _spot(self, body: int, local) -> int | None:
        """The number of a point of a Lagrangian body; of other bodies None."""
        named = tuple(float(x) for x in local) if self.model.material_points else ()
        numbered = enumerate(self.model.material_points, start=len(self.model.bodies.kinds))
        return next((k for k, point in numbered if (point.body, point.local) == (body, named)), None)

    @cached_property
    def owners(self) -> list[int]:
        """The body that each point belongs to, and one of those of each measure."""
        measured = [measure.members[0][0] for measure in self.model.measures for _ in measure.slots]
        return [point.body for point in self.model.material_points] + measured

    def body_of(self, number: int) -> int:
        """The body that a number stands for: it itself, or the one that a point belongs to."""
        n = len(self.model.bodies.kinds)
        return self.owners[number - n] if number >= n else int(number)

    def _refuse_bare(self, covered: set[int]) -> None:
        """A body that a Contact names has something that can be touched."""
        for contact in self.contacts:
            for body in contact.bodies:
                if body.dim and self.model.bodies.number[id(body)] not in covered:
                    raise ModelError(f"{label(contact)}: {label(body)} has neither a shape nor a Collider; give it one")

    def _rules(self):
        """rules(body): the numbers of the Contacts that speak of it; the ground is in all of them."""
        members = [set(map(id, contact.bodies)) for contact in self.contacts]

        def rules(body) -> list[int]:
            return [k for k, named in enumerate(members) if not named or body.dim == 0 or id(body) in named]

        return rules

    def _apart(self, body_of: list[int], elements) -> Iterable[tuple[int, int]]:
        """Pairs of colliders that never touch: of bodies that joints connect, and of what a NoContact names; on points of
        one body."""
        on: dict[int, list[int]] = {}
        for k, body in enumerate(body_of):
            on.setdefault(body, []).append(k)
        alone = {id(source): [k] for k, source in enumerate(self.names) if isinstance(source, Collider)}
        pairs = joined_bodies(self.model, set(on))
        pairs.update((point.body, point.body) for point in self.model.material_points)
        groups = [(on.get(one, ()), on.get(other, ())) for one, other in pairs]
        for element in elements:
            if isinstance(element, NoContact):
                members = [alone.get(id(item), ()) if isinstance(item, Collider)
                           else on.get(GROUND if item.dim == 0 else self.model.bodies.number[id(item)], ())
                           for item in element.bodies]  # fmt: skip
                groups += combinations(members, 2)
        return {(a, b) for one, other in groups for a in one for b in other}

    def reach(self, touchable: int) -> np.ndarray:
        """How far from its origin each body can touch (m); -1 where it cannot. touchable: bodies, and points of them."""
        geometry, stops = self.geometry, self.hard_stops
        reach = np.full(1 + touchable, -1.0)  # the ground is the last
        constants = geometry.constants
        far = sum(np.linalg.norm(constants[:, at : at + 3], axis=1) for at in (MOVED, MIDDLE, SIZE))
        np.maximum.at(reach, geometry.labels[:, BODY], far)
        for end, at in ((STOP_A, ON_A), (STOP_B, ON_B)):
            np.maximum.at(reach, stops.labels[:, end], np.linalg.norm(stops.numbers[:, at : at + 3], axis=1))
        reach[len(self.model.bodies.kinds) + len(self.model.material_points) : -1] = 1.0  # rates are those of numbers
        return reach[:-1].copy()


def _material(rule: Contact) -> tuple[float | None, ...]:
    """What a rule says of its pairs. Soft contacts have a spring and a damper in the place of restitution."""
    restitution = rule.restitution if rule.stiffness is None else 0.0
    spring = rule.stiffness or 0.0, rule.damping
    own = rule.friction, restitution, rule.bounce_above, rule.recovery, *spring, rule.torsion, rule.rolling
    return *own, LARGER if rule.combine == "larger" else MEAN


def _refuse_turning(named: list[Collider | Contact], body) -> None:
    """Points of bodies do not turn: nothing there resists it."""
    for element in named:
        for word in ("torsion", "rolling"):
            if (value := getattr(element, word, None)) is not None and value > 0.0:
                raise ModelError(f"{label(element)}: {word} is {value:g}, and points of {label(body)} do not turn; leave it "
                                 "out for this body")  # fmt: skip


def joined_bodies(model, covered: set[int]) -> set[tuple[int, int]]:
    """Pairs of bodies that do not touch since a joint connects them. Bodies that are welded together count as one: what is
    joined to one of them is joined to all. So do joints in a row through links without mass that have nothing to be touched.
    The ground is joined to those alone that it has a joint with: what stands on a welded pedestal touches the floor.

    covered: numbers of the bodies that can be touched."""
    welded, linked, joints = Groups(), Groups(), list[tuple[int, int]]()
    elements = model.bodies.elements
    links = {k for k, body in enumerate(elements) if getattr(body, "mass", 1.0) == 0.0 and k not in covered}
    for node in model.nodes:
        kinds = [kind_of_joint(element) for element in node.elements if isinstance(element, Joint)]
        if kinds:
            joints.append(node.ends)
        if kinds and GROUND not in node.ends and links.intersection(node.ends):
            linked.join(*node.ends)
        if any(not kind.freedoms for kind in kinds) and GROUND not in node.ends:
            welded.join(*node.ends)
    around: dict[int, set[int]] = {}  # links in a row -> bodies that they connect
    for a, b in joints:
        for link, other in ((a, b), (b, a)):
            if link in links and other not in links and other != GROUND:
                around.setdefault(linked.of(link), set()).add(other)
    joints += [pair for bodies in around.values() for pair in combinations(sorted(bodies), 2)]
    members: dict[int, list[int]] = {}
    for k in range(len(elements)):
        members.setdefault(welded.of(k), []).append(k)
    members[GROUND] = [GROUND]
    apart = {pair for bodies in members.values() for pair in combinations(bodies, 2)}
    for a, b in joints:
        one, other = (end if end == GROUND else welded.of(end) for end in (a, b))
        if GROUND in (a, b):  # a part of a welded group is held to the ground: that one, and no other, stays off it
            apart.add((a, b))
        elif one != other:
            apart.update((x, y) for x in members[one] for y in members[other])
    return apart


class Groups:
    """Sets of numbers that were joined, directly or through others (union-find)."""

    def __init__(self):
        self.above: dict[int, int] = {}

    def of(self, number: int) -> int:
        """The smallest number of the set that a number is in, which stands for the set."""
        while number in self.above:
            number = self.above[number]
        return number

    def join(self, a: int, b: int) -> None:
        low, high = sorted((self.of(a), self.of(b)))
        if low != high:
            self.above[high] = low


def model_com(body) -> np.ndarray:
    """Where a body's own shape is centred, in its frame."""
    return getattr(body, "com", np.zeros(3))
