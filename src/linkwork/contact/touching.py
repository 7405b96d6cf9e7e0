"""From a world's colliders, contacts, ropes and hard limits to the arrays of contact stages; and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from linkwork.contact import stages
from linkwork.contact.colliders import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.contact.layout import BODY, MIDDLE, MOVED, RULES, SIZE
from linkwork.contact.problem import workspace
from linkwork.contact.responses import bodies_of, refuse_stretching, sweeping, trees_of
from linkwork.contact.rows import ROPE, TRAVEL, TURN, Materials, Stops, rows_for
from linkwork.elements import Collider, Contact, Cylindrical, HardLimit, Joint, NoContact, Rope, Slider
from linkwork.elements.checks import label
from linkwork.elements.contacts import BOUNCE_ABOVE, FRICTION, RECOVERY
from linkwork.errors import ModelError
from linkwork.model.frames import Fixed, product
from linkwork.model.graph import GROUND
from linkwork.model.programs import Programs
from linkwork.symbolic.kernels import parameter_record

LEAST_MARGIN, THIN = 0.002, 0.1  # m, and part of the smallest collider: contacts are looked for at least that far
TOUCHING = 0.01  # part of that: nearer counts as touching
ROOM = 2  # times what was too small


@dataclass(frozen=True)
class Memory:
    """What the next step takes from the last one: a part of the state."""

    margins: tuple[float, float]
    keys: np.ndarray  # (m, 3) int64
    impulses: np.ndarray  # (m, 6) N s: of both stages

    def __len__(self) -> int:
        return len(self.keys)


EMPTY = Memory((0.0, 0.0), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 6)))


@dataclass(frozen=True)
class Stop:
    """A rope, or one bound of a hard limit."""

    element: Rope | HardLimit
    sign: float


def acts(element) -> bool:
    """Whether an element acts by contact: colliders alone do not."""
    return isinstance(element, (Contact, Rope, HardLimit))


def wanted(world) -> bool:
    """Whether anything in a world acts by contact."""
    return any(acts(element) for element in world.contacts)


class Touching:
    """The contact of one simulation."""

    def __init__(self, programs: Programs):
        self.programs, self.model = programs, programs.model
        model = self.model
        elements = model.world.contacts
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self.names: list = []  # of colliders: a Collider, or the body whose shape it is
        self._stops: list[Stop] = []
        geometry, materials, sizes = self._colliders([e for e in elements if isinstance(e, Collider)], elements)
        stops = self._hard_stops([e for e in elements if isinstance(e, (Rope, HardLimit))])
        n = len(model.bodies.kinds)
        bodies, trees = bodies_of(programs), trees_of(programs)
        least = min(LEAST_MARGIN, THIN * min(sizes, default=1.0))
        first = max([0.0, *[c.bounce_above for c in self.contacts]]) if self.contacts else BOUNCE_ABOVE
        gravity = float(np.linalg.norm(model.gravity))
        settings = np.array([gravity, least, TOUCHING * least, first, RECOVERY, 0.0])
        whole, small = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
        slots = stages.Slots(np.zeros(n, dtype=np.bool_), whole.copy(), whole.copy(), small.copy(), small.copy(), whole.copy(),
                             np.zeros(36), np.zeros((n, 6)), np.zeros((n, 6)), np.zeros((n, 6)))  # fmt: skip
        self.sizes = sizes
        none = rows_for(0)
        self.touch = stages.Touch(
            np.zeros(16), settings, geometry, scratch_for(geometry), contacts_for(0), self._reach(geometry, stops),
            np.zeros((n, 3, 3)), np.zeros((n, 3)), materials, stops, bodies, trees, sweeping(trees), slots, none, none,
            stages.Cache(none.a, none.b, none.feature, none.impulse, none.total), workspace(1, 1, 1, 36),
            np.zeros(len(model.state_index)), model.state_index,
        )  # fmt: skip
        self._make_room(rows=max(32, 8 * len(geometry.labels)), responses=36 * n, blocks=36 * max(32, 8 * len(geometry.labels)))

    # -- from elements to arrays --------------------------------------------------------------------------------
    def _colliders(self, given: list[Collider], elements):
        """Geometry, materials, and half the smallest extent of each collider (m)."""
        model = self.model
        number = model.bodies.number
        placed, friction, restitution, groups, sizes = [], [], [], {}, []
        rules_of = self._rules()
        entries = [(c, c.body, c.shape, c.position, c.orientation, c.group, c.friction, c.restitution) for c in given]
        entries += [(body, body, body.shape, model_com(body), (1.0, 0.0, 0.0, 0.0), None, FRICTION, 0.0)
                    for body in model.bodies.elements if getattr(body, "shape", None) is not None]  # fmt: skip
        for source, body, shape, position, orientation, group, mu, e in entries:
            moving = GROUND if body.dim == 0 else number[id(body)]
            rules = rules_of(body)
            if not rules:
                continue
            refuse_stretching(model, self.contacts[rules[-1]], moving)
            frames = model.bodies.batch(None if moving == GROUND else model.bodies.kinds[moving], [moving])
            local = position if moving == GROUND else frames.user_point(position)[0]
            turned = orientation if moving == GROUND else product(frames.user_turn(), np.array([orientation]))[0]
            placed.append(Placed(shape, moving, local, turned, groups.setdefault(group, len(groups)) if group else -1, rules,
                                 source.name))  # fmt: skip
            self.names.append(source)
            friction.append(mu)
            restitution.append(e)
        self._refuse_bare({p.body for p in placed})
        geometry = compile_colliders(placed, self._apart([p.body for p in placed], elements))
        sizes = [float(size[size > 0].min(initial=np.inf)) for size in geometry.constants[:, SIZE : SIZE + 3]]
        named = [(c.friction, c.restitution, c.bounce_above, c.recovery) for c in self.contacts] or [(0, 0, 0, 0)]
        by_rule = [np.array([-1.0 if value is None else value for value in column], dtype=float) for column in zip(*named, strict=True)]
        own = geometry.labels[:, BODY].copy(), geometry.labels[:, RULES:].copy()
        return geometry, Materials(*own, np.array(friction, dtype=float), np.array(restitution, dtype=float), *by_rule), sizes

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
        """Pairs of colliders that never touch: of bodies that a joint connects, and of those that a NoContact names."""
        on: dict[int, list[int]] = {}
        for k, body in enumerate(body_of):
            on.setdefault(body, []).append(k)
        pairs = {node.ends for node in self.model.nodes if any(isinstance(element, Joint) for element in node.elements)}
        for element in elements:
            if isinstance(element, NoContact):
                numbers = [GROUND if body.dim == 0 else self.model.bodies.number[id(body)] for body in element.bodies]
                pairs.update(combinations(numbers, 2))
        return {(a, b) for one, other in pairs for a in on.get(one, ()) for b in on.get(other, ())}

    def _hard_stops(self, elements) -> Stops:
        rows = []
        for element in elements:
            rows += self._rope(element) if isinstance(element, Rope) else self._limit(element)
        names = ("kind", "body_a", "body_b", "on_a", "on_b", "ref_a", "side_a", "ref_b", "turns", "sign", "bound", "restitution")
        whole = ("kind", "body_a", "body_b", "turns")
        columns = list(zip(*rows, strict=True)) if rows else [[] for _ in names]
        arrays = {}
        for name, column in zip(names, columns, strict=True):
            array = np.array(column, dtype=np.int64 if name in whole else float)
            arrays[name] = array.reshape(-1, 3) if name[-2:] in ("_a", "_b") and name not in whole else array
        return Stops(**arrays)

    def _rope(self, element: Rope):
        bodies = self.model.bodies
        ends, local, world = [], [], []
        for body, on in ((element.a, element.on_a), (element.b, element.on_b)):
            number = GROUND if body.dim == 0 else bodies.number[id(body)]
            refuse_stretching(self.model, element, number)
            frames = Fixed(1) if number == GROUND else bodies.batch(bodies.kinds[number], [number])
            if number != GROUND and not bodies.kinds[number].directions and np.any(on):
                raise ModelError(f'Rope "{element.name}": "{body.name}" is a point; leave on_a and on_b out for it')
            local.append(frames.user_point(on)[0])
            world.append(frames.world_point(local[-1][None])[0])
            ends.append(number)
        built = float(np.linalg.norm(world[1] - world[0]))
        bound = built if element.length is None else element.length
        if not bound > 0.0:
            raise ModelError(f'Rope "{element.name}": its ends are at one place as built; give its length')
        self._stops.append(Stop(element, 1.0))
        zero = np.zeros(3)
        return [(ROPE, *ends, *local, zero, zero, zero, 0, 1.0, bound, element.restitution)]

    def _limit(self, element: HardLimit):
        model = self.model
        _, number, part = model.names[element.joint.name]
        node = model.nodes[number]
        piece = node.kind.parts[part]
        ends = node.ends[::-1] if piece.flipped else node.ends
        for end in ends:
            refuse_stretching(model, element, end)
        start = sum(parameter_record(other.relation).size for other in node.kind.parts[:part])
        layout = parameter_record(piece.relation)
        p = {name: node.values[start + at : start + at + size] for name, (at, size) in layout.fields.items()}
        travels = isinstance(element.joint, (Slider, Cylindrical))
        turns = 0 if travels else model.parameters_at(number) + start + layout.offset("turns")
        found = []
        for sign, bound in ((-1.0, element.lower), (1.0, element.upper)):
            if bound is not None:
                self._stops.append(Stop(element, sign))
                found.append((TRAVEL if travels else TURN, *ends, p["on_a"], p["on_b"], p["ref_a"], p["side_a"],
                              p.get("ref_b", np.zeros(3)), turns, sign, bound, element.restitution))  # fmt: skip
        return found

    def _reach(self, geometry, stops: Stops) -> np.ndarray:
        """How far from its origin each body can touch (m); -1 where it cannot."""
        reach = np.full(len(self.model.bodies.kinds), -1.0)
        for body, entries in zip(geometry.labels[:, BODY], geometry.constants, strict=True):
            if body >= 0:
                far = sum(np.linalg.norm(entries[at : at + 3]) for at in (MOVED, MIDDLE, SIZE))
                reach[body] = max(reach[body], far)
        for ends, on in ((stops.body_a, stops.on_a), (stops.body_b, stops.on_b)):
            for body, local in zip(ends, on, strict=True):
                if body >= 0:
                    reach[body] = max(reach[body], np.linalg.norm(local))
        return reach

    # -- room ---------------------------------------------------------------------------------------------------
    def grow(self) -> None:
        """Make room for what was too small."""
        info = self.touch.info
        self._make_room(*(int(ROOM * info[k]) for k in (stages.NEED_ROWS, stages.NEED_RESPONSES, stages.NEED_BLOCKS)))
        info[stages.NEED_ROWS] = info[stages.NEED_RESPONSES] = info[stages.NEED_BLOCKS] = 0.0

    def _make_room(self, rows: int, responses: int, blocks: int) -> None:
        old, memory = self.touch, self.memory
        contacts = max(rows, len(old.found.gap))
        total, n = contacts + len(old.stops.kind), len(old.bodies.q)
        length = max(responses, len(old.slots.R))
        widest = -(-max(blocks, len(old.solver.G), 36 * total) // (36 * total)) if total else 1
        rooms = rows_for(total), rows_for(total), rows_for(total)
        cache = stages.Cache(rooms[2].a, rooms[2].b, rooms[2].feature, rooms[2].impulse, rooms[2].total)
        self.touch = old._replace(
            found=contacts_for(contacts), rows=rooms[0], before=rooms[1], cache=cache,
            slots=old.slots._replace(R=np.zeros(length)), solver=workspace(n, n, total, length, widest),
        )  # fmt: skip
        self.forget()
        self.memory = memory

    # -- what is kept -------------------------------------------------------------------------------------------
    def forget(self) -> None:
        """Rows and responses are computed anew by the next stage; those of the last step are gone."""
        for entry in (stages.FRESH, stages.CONTACTS, stages.ROWS, stages.BEFORE):
            self.touch.info[entry] = 0.0

    def factors_change(self) -> None:
        """Steps factor anew before they move the bodies."""
        self.touch.settings[5] = 1.0

    def stale(self) -> None:
        """The configuration or the factors have changed."""
        self.touch.info[stages.FRESH] = 0.0

    @property
    def memory(self) -> Memory:
        cache, info = self.touch.cache, self.touch.info
        m = int(info[stages.CACHED])
        keys = np.stack([cache.a[:m], cache.b[:m], cache.feature[:m]], axis=1)
        return Memory((float(info[stages.MARGIN]), float(info[stages.TURN_MARGIN])), keys,
                      np.hstack([cache.opening[:m], cache.closing[:m]]))  # fmt: skip

    @memory.setter
    def memory(self, memory: Memory) -> None:
        m = len(memory)
        if m > len(self.touch.cache.a):
            self.touch.info[stages.CACHED] = 0.0
            self._make_room(rows=m, responses=0, blocks=0)
        cache, info = self.touch.cache, self.touch.info
        cache.a[:m], cache.b[:m], cache.feature[:m] = memory.keys.T
        cache.opening[:m], cache.closing[:m] = memory.impulses[:, :3], memory.impulses[:, 3:]
        info[stages.CACHED] = m
        info[stages.MARGIN], info[stages.TURN_MARGIN] = memory.margins

    def same_colliders(self, other: Touching | None) -> bool:
        """Whether what is remembered of the other means the same here."""
        return other is not None and self.names == other.names and [s.element for s in self._stops] == [s.element for s in other._stops]

    def look(self, work: np.ndarray, table: np.ndarray, h: float) -> None:
        """Rows of the present configuration."""
        self.touch.info[stages.MARGIN] = 0.0
        while not stages.detect(work, table, self.touch, h, 0.0):
            self.grow()


def model_com(body) -> np.ndarray:
    """Where a body's own shape is centred, in its frame."""
    return getattr(body, "com", np.zeros(3))
