"""From a world's colliders, contacts, ropes and hard limits to the arrays of contact stages; and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from linkwork.codegen.callbacks import Asked
from linkwork.codegen.jit import compiled_address, entry, sweep
from linkwork.collision.collider_table import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.collision.layout import (
    ANSWERED,
    BEFORE,
    BLOCKS,
    BODY,
    CACHED,
    ENDED,
    FRESH,
    FULL,
    LACKS,
    MIDDLE,
    MOVED,
    OPENING,
    RULES,
    SIZE,
    WANTED,
    WRITTEN,
)
from linkwork.contact import stage_kernels
from linkwork.contact.bending import bend
from linkwork.contact.collide import Finding, find
from linkwork.contact.delassus import PART, TREE, push
from linkwork.contact.delassus_tables import bodies_of, refuse_stretching
from linkwork.contact.inverse_mass import InverseMass
from linkwork.contact.newton import newton_workspace
from linkwork.contact.rows import (
    BODY_A,
    BODY_B,
    BOUND,
    COLLIDER_A,
    COLLIDER_B,
    CONE,
    ON_A,
    ON_B,
    ROPE,
    STOP_A,
    STOP_B,
    STOP_KIND,
    TRAVEL,
    TURN,
    UNCOUNTED,
    Materials,
    Rows,
    Stops,
    rows_for,
)
from linkwork.contact.stage import CONTACTS, PANELS, RESPONSES, Stage, contact_stage
from linkwork.contact.stage_solve import (
    HELD_A,
    HELD_B,
    ITERATIONS,
    LAST,
    RESIDUAL,
    TOLERANCE,
    UNSOLVED,
    solve_again,
    solving,
)
from linkwork.elements import (
    Collider,
    Contact,
    HardLimit,
    Joint,
    JointFriction,
    NoContact,
    Rope,
)
from linkwork.elements.contacts.collider import FRICTION
from linkwork.elements.contacts.contact import BOUNCE_ABOVE, RECOVERY
from linkwork.elements.core.checks import label
from linkwork.elements.core.element import Element
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.joint_kind import LimitSort
from linkwork.elements.core.placement import Fixed, product
from linkwork.errors import ModelError
from linkwork.kernels.node import parameter_record
from linkwork.model.graph import GROUND
from linkwork.schedules.schedules import Programs

LEAST_MARGIN, THIN = 0.002, 0.1  # m, and part of the smallest collider: contacts are looked for at least that far
TOUCHING = 0.01  # part of that: nearer counts as touching
ROOM = 2  # times what was too small
LONGER, FAR_BEYOND = 0.1, 0.1  # part of its length by which a rope, m or rad by which a limit may be exceeded without a word
BENT = 0.1  # part of that by which a step may lead it further: one that does is made in parts, where it can be
LIKELY = 50_000  # numbers: room that is made before it is asked for
SORTS = {LimitSort.TURN: TURN, LimitSort.TRAVEL: TRAVEL, LimitSort.CONE: CONE}  # of rows of hard limits


@dataclass(frozen=True)
class Memory:
    """What the next step takes from the last one: a part of the state."""

    margins: np.ndarray  # (1 + bodies,) rad, m: as in `Finding`
    labels: np.ndarray  # (m, 5) int64: of rows
    impulses: np.ndarray  # (m, 9) N s, m: of the last solve of both stages, in the world, and their points

    def __len__(self) -> int:
        return len(self.labels)

    def elsewhere(self) -> Memory:
        """What another solver or integrator can start from: how far bodies may move until a new search is its own matter."""
        return Memory(EMPTY.margins, self.labels, self.impulses)

    def wrong(self) -> str | None:
        """What is no number in it, in words; a margin without end looks at everything."""
        if np.isnan(self.margins.max(initial=0.0)):
            return "a margin that is none"
        if not np.isfinite(self.impulses.sum()) and not (fine := np.isfinite(self.impulses)).all():
            return f"the impulse {self.impulses[~fine][0]:g}"
        return None


EMPTY = Memory(np.zeros(1), np.zeros((0, 5), dtype=np.int64), np.zeros((0, 9)))


@dataclass(frozen=True)
class Stop:
    """A rope, one bound of a hard limit, or dry friction."""

    element: Rope | HardLimit | JointFriction
    sign: float
    coordinate: int = 0  # of those that a hard limit bounds


def _mark(number: int) -> property:
    """One of the marks that compiled stages read and write."""
    return property(lambda self: int(self.marks[number]), lambda self, value: self.marks.__setitem__(number, value))


def _counted(number: int) -> property:
    return property(lambda self: int(self.counts[number]))


class Touching:
    """The contact of one simulation. What touches are bodies, and points of Lagrangian bodies: these are numbered behind the
    bodies, and have slots of their own."""

    turn, before_count, cached, blocks = _mark(WRITTEN), _mark(BEFORE), _mark(CACHED), _mark(BLOCKS)
    fresh = _mark(FRESH)  # rows are those of the present configuration and factors
    answered = _mark(ANSWERED)  # responses are
    ended = _mark(ENDED)  # rows are those of the end of a step
    used, groups, length = _counted(1), _counted(2), _counted(3)

    def __init__(self, programs: Programs, answers: InverseMass, kicks: int = 1):
        """kicks: stages of a step, of which each has its part of what dry friction gives."""
        self.programs, self.model, self.answers = programs, programs.model, answers
        model = self.model
        elements = model.world.contacts
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self.names: list  # of colliders: a Collider, or the body whose shape it is
        self.stops: list[Stop] = []
        self.geometry, self.materials, self.sizes = self._colliders([e for e in elements if isinstance(e, Collider)], elements)
        self.hard_stops = self._hard_stops([e for e in elements if isinstance(e, (Rope, HardLimit, JointFriction))])
        n = len(answers.bodies)
        self.gravity = float(np.linalg.norm(model.gravity))
        self.least = min(LEAST_MARGIN, THIN * min(self.sizes, default=1.0))
        self.near = TOUCHING * self.least
        self.speeds = np.array([min([c.bounce_above for c in self.contacts], default=BOUNCE_ABOVE), RECOVERY, 1.0 / kicks])
        whole = [np.zeros(n, dtype=kind) for kind in (np.bool_, np.int64, np.int64, np.int32, np.int32, np.int64, np.int64)]
        real = [np.zeros((n, 6)) for _ in range(3)]
        self.slots = stage_kernels.Slots(*whole, *real)  # type: ignore[call-arg]
        self.margins = np.zeros(1 + n)
        self.scratch = scratch_for(self.geometry, self.margins[1:])
        self.reach = self._reach(self.geometry, self.hard_stops)
        self.axes, self.origins = np.zeros((n, 3, 3)), np.zeros((n, 3))
        self.bending = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros(6)
        self.over = np.full((len(self.stops), 2), -1.0)  # m or rad: of ropes and hard limits beyond their bounds
        ropes, bounds = self.hard_stops.labels[:, STOP_KIND] == ROPE, self.hard_stops.numbers[:, BOUND]
        self.bearable = np.where(ropes, LONGER * bounds, FAR_BEYOND)  # m or rad
        self.R, self.found = np.zeros(0), contacts_for(0)
        self.marks, self.counts = np.zeros(FULL + 1, dtype=np.int64), np.zeros(5, dtype=np.int64)
        self.panels = 0
        self.asked = Asked(self._give_what_lacks, self.marks[FULL:])
        self.both, self.told = (rows_for(0), rows_for(0)), np.zeros(6)
        self.off = 0.0  # m/s: of the last solve of another iteration, where it is not within the tolerance
        self._make_room(max(16, 4 * len(self.names)), *self._likely_room(n))

    # -- from elements to arrays --------------------------------------------------------------------------------
    def _colliders(self, given: list[Collider], elements):
        """Geometry, materials, and half the smallest extent of each collider (m)."""
        model, rules_of = self.model, self._rules()
        entries: list[tuple] = [
            (c, c.body, c.shape, c.position, c.orientation, c.group, c.friction, c.restitution) for c in given
        ]
        entries += [(body, body, body.shape, model_com(body), (1.0, 0.0, 0.0, 0.0), None, FRICTION, 0.0)
                    for body in model.bodies.elements if getattr(body, "shape", None) is not None]  # fmt: skip
        entries = [entry for entry in entries if rules_of(entry[1])]
        numbers = [GROUND if body.dim == 0 else model.bodies.number[id(body)] for _, body, *_ in entries]
        local, turned = self._in_bodies(numbers, [entry[3] for entry in entries], [entry[4] for entry in entries])
        placed, groups = [], dict[str, int]()
        for k, (source, body, shape, _, _, group, _, _) in enumerate(entries):
            rules = rules_of(body)
            spot = self._spot(numbers[k], entries[k][3])
            if spot is None:
                refuse_stretching(model, self.contacts[rules[-1]], numbers[k])
            else:
                numbers[k], local[k] = spot, 0.0
            together = groups.setdefault(group, len(groups)) if group else -1
            placed.append(Placed(shape, numbers[k], local[k], turned[k], together, rules, source.name))
        self.names = [source for source, *_ in entries]
        owners = [self.body_of(number) for number in numbers]
        self._refuse_bare(set(owners))
        geometry = compile_colliders(placed, self._apart(owners, elements))
        extents = geometry.constants[:, SIZE : SIZE + 3]
        sizes = np.where(extents > 0, extents, np.inf).min(axis=1).tolist()
        named = [(c.friction, c.restitution, c.bounce_above, c.recovery) for c in self.contacts] or [(0, 0, 0, 0)]
        of_rule = np.array([[-1.0 if value is None else value for value in values] for values in named], dtype=float)
        own = np.array([entry[6:] for entry in entries], dtype=float).reshape(-1, 2)
        labels = geometry.labels
        return geometry, Materials(labels[:, BODY].copy(), labels[:, RULES:].copy(), own, of_rule), sizes

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
        named = tuple(float(x) for x in local) if self.model.spots else ()
        numbered = enumerate(self.model.spots, start=len(self.model.bodies.kinds))
        return next((k for k, spot in numbered if (spot.body, spot.local) == (body, named)), None)

    def body_of(self, number: int) -> int:
        """The body that a number stands for: it itself, or the one that a point belongs to."""
        n = len(self.model.bodies.kinds)
        return self.model.spots[number - n].body if number >= n else int(number)

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
        pairs.update((spot.body, spot.body) for spot in self.model.spots)
        groups = [(on.get(one, ()), on.get(other, ())) for one, other in pairs]
        for element in elements:
            if isinstance(element, NoContact):
                members = [alone.get(id(item), ()) if isinstance(item, Collider)
                           else on.get(GROUND if item.dim == 0 else self.model.bodies.number[id(item)], ())
                           for item in element.bodies]  # fmt: skip
                groups += combinations(members, 2)
        return {(a, b) for one, other in groups for a in one for b in other}

    def _hard_stops(self, elements) -> Stops:
        rows = []
        for element in elements:
            if isinstance(element, Rope):
                rows += self._rope(element)
            else:
                rows += self._limit(element) if isinstance(element, HardLimit) else self._friction(element)
        labels = np.array([label for label, _ in rows], dtype=np.int64).reshape(-1, 4)
        numbers = np.array([np.hstack(numbers) for _, numbers in rows], dtype=float).reshape(-1, 18)
        return Stops(labels, numbers, np.zeros(len(rows), dtype=np.int8))

    def _rope(self, element: Rope):
        bodies = self.model.bodies
        ends, local, world = [], [], []
        for body, on in ((element.a, element.on_a), (element.b, element.on_b)):
            assert not isinstance(body, str)
            number = GROUND if body.dim == 0 else bodies.number[id(body)]
            spot = self._spot(number, on)
            if spot is None:
                refuse_stretching(self.model, element, number)
            frames = Fixed(1) if number == GROUND else bodies.batch(bodies.kinds[number], [number])
            if number != GROUND and bodies.kinds[number].is_a_point and np.any(on):
                raise ModelError(f'Rope "{element.name}": "{body.name}" is a point; leave on_a and on_b out for it')
            local.append(frames.user_point(on)[0])
            world.append(frames.world_point(local[-1][None])[0])
            if spot is not None:
                number, local[-1] = spot, np.zeros(3)
            ends.append(number)
        built = float(np.linalg.norm(world[1] - world[0]))
        bound = built if element.length is None else element.length
        if not bound > 0.0:
            raise ModelError(f'Rope "{element.name}": its ends are at one place as built; give its length')
        self.stops.append(Stop(element, 1.0))
        zero = np.zeros(3)
        return [((ROPE, *ends, 0), (*local, zero, zero, zero, 1.0, bound, element.restitution))]

    def _friction(self, element: JointFriction):
        """Along the coordinate of its joint: no bound, and its force in the place of one."""
        ends, p, _ = self._joint(element)
        assert isinstance(element.joint, Joint)
        kind = TRAVEL if kind_of_joint(element.joint).slides else TURN
        self.stops.append(Stop(element, 1.0))
        frame = p["on_a"], p["on_b"], p["ref_a"], p["side_a"], p["ref_b"]
        return [((kind, *ends, UNCOUNTED), (*frame, 0.0, element.friction, 0.0))]

    def _joint(self, element: HardLimit | JointFriction) -> tuple[tuple[int, ...], dict[str, np.ndarray], int]:
        """The bodies of its joint, the joint's numbers, and where its turn counter lies, if it has one."""
        model = self.model
        _, number, part = model.names[str(getattr(element.joint, "name", element.joint))]
        node = model.nodes[number]
        piece = node.kind.parts[part]
        ends = node.ends[::-1] if piece.flipped else node.ends
        for end in ends:
            refuse_stretching(model, element, end)
        start = sum(parameter_record(other.relation).size for other in node.kind.parts[:part])
        layout = parameter_record(piece.relation)
        p = {name: node.values[start + at : start + at + size] for name, (at, size) in layout.fields.items()}
        return ends, p, model.parameters_at(number) + start + layout.offset("turns") if "turns" in layout.fields else UNCOUNTED

    def _limit(self, element: HardLimit):
        ends, p, turns = self._joint(element)
        assert isinstance(element.joint, Joint)
        bodies, found = self.model.bodies, []
        built = [Fixed(1) if end == GROUND else bodies.batch(bodies.kinds[end], [end]) for end in ends]
        for coordinate, row in enumerate(kind_of_joint(element.joint).limit_rows(element, p, *built)):
            label = SORTS[row.sort], *(ends[::-1] if row.swapped else ends), turns if row.counted else UNCOUNTED
            for sign, bound in zip((-1.0, 1.0), row.bounds, strict=True):
                if bound is not None:
                    self.stops.append(Stop(element, sign, coordinate))
                    found.append((label, (*row.frame, sign, bound, element.restitution)))
        return found

    def _reach(self, geometry, stops: Stops) -> np.ndarray:
        """How far from its origin each body can touch (m); -1 where it cannot."""
        reach = np.full(1 + len(self.answers.bodies), -1.0)  # the ground is the last
        constants = geometry.constants
        far = sum(np.linalg.norm(constants[:, at : at + 3], axis=1) for at in (MOVED, MIDDLE, SIZE))
        np.maximum.at(reach, geometry.labels[:, BODY], far)
        for end, at in ((STOP_A, ON_A), (STOP_B, ON_B)):
            np.maximum.at(reach, stops.labels[:, end], np.linalg.norm(stops.numbers[:, at : at + 3], axis=1))
        return reach[:-1].copy()

    # -- room ---------------------------------------------------------------------------------------------------
    def _likely_room(self, n: int) -> tuple[int, int]:
        """For responses and blocks of all bodies of small models at once, and of a part of large ones."""
        sizes = np.bincount(self.answers.bodies[:, TREE]) if n else np.zeros(1, dtype=np.int64)
        return min(LIKELY, int(36 * (sizes**2).sum())), min(LIKELY, int(36 * sizes.max() * max(16, 2 * len(self.names))))

    def _make_room(self, contacts: int, responses: int, blocks: int) -> None:
        """For so many contacts, entries of R and of the solver's blocks; what is remembered stays."""
        contacts, n = max(contacts, len(self.found.gap)), len(self.reach)
        if contacts > len(self.found.gap):
            memory = self.memory if self.cached else EMPTY
            rows = contacts + len(self.stops)
            self.found, self.both = contacts_for(contacts), (rows_for(rows), rows_for(rows))
            self.cache_labels, self.cache = np.zeros((rows, 5), dtype=np.int64), np.zeros((rows, 9))
            self.leaving = np.zeros(rows)  # m/s: of rows that bounced, the normal velocity after that
            self.bent = np.zeros(rows)  # m/s: what targets get in another iteration of a step
            self.before_count = 0
            self._remember(memory)
        if responses > len(self.R):
            self.R = np.zeros(responses)
        self.blocks = max(blocks, self.blocks)
        rows = max(1, len(self.rows.mu))
        solver = newton_workspace(n, n, rows, len(self.R), -(-self.blocks // (36 * rows)), self.panels)
        known = self.axes, self.cache_labels, self.cache, self.leaving, self.bent
        self.solving = [solving(rows, self.slots, self.R, solver, self.told, *known) for rows in self.both]
        self.finding = Finding(self.programs.spots(), self.reach, self.geometry, self.scratch, self.found, self.materials,
                               self.hard_stops, self.axes, self.origins, self.margins, self.speeds, self.slots,
                               self.counts, self.over)  # fmt: skip
        if "stage" in self.__dict__:
            self.stage.renew(place=self.finding, even=self.solving[0], odd=self.solving[1])

    @cached_property
    def stage(self) -> Stage:
        """For stages in one compiled call."""
        answers = self.answers
        numbers = [self.least, self.gravity, self.near, answers.carried, answers.scale, answers.turning]
        return Stage(answers.bodies, answers.order, answers.calls(self.slots), self.finding, *self.solving, self.marks,
                     np.array(numbers, dtype=float), self.asked.routine, self.asked.request,
                     bodies_of(self.programs, "v1"), *self.bending[:2], BENT * self.bearable, np.zeros((2, 6)))  # fmt: skip

    def _give_what_lacks(self) -> None:
        """Room for what a compiled stage has too little of."""
        lacks, wanted = self.marks[[LACKS, WANTED]].tolist()
        if lacks == CONTACTS:
            self._make_room(ROOM * wanted, 0, 0)
        elif lacks == RESPONSES:
            self._make_room(0, ROOM * self.length, ROOM * wanted)
        elif lacks == PANELS:
            self._give_panels()

    @property
    def count(self) -> int:
        """Rows of the stage that is at work, or was last."""
        return int(self.counts[0])

    @count.setter
    def count(self, rows: int) -> None:
        self.counts[0] = rows

    @property
    def rows(self) -> Rows:
        """Of the stage that is at work, or was last."""
        return self.both[self.turn]

    @property
    def before(self) -> Rows:
        """Of the beginning of the step."""
        return self.both[1 - self.turn]

    def count_anew(self) -> None:
        """Steps are asked for: from now on the most iterations, the worst residual, that of solves which did not converge."""
        self.told.fill(0.0)

    @property
    def iterations(self) -> int:
        return int(self.told[ITERATIONS])

    @property
    def residual(self) -> float:
        """m/s."""
        return float(self.told[RESIDUAL])

    @property
    def unanswered(self) -> tuple[int, list[Element]] | None:
        """(how many pairs press now though joints hold both, so that no impulse along their normal moves them apart; the first
        of them), or None. A rope or hard limit is named alone."""
        first = self.told[[HELD_A, HELD_B]].astype(int) - 1
        if first[0] < 0:
            return None
        pairs = {tuple(first.tolist())}
        base, m = self.solving[0].solver.base, self.count
        left_out = (base.there[:m] != 0) & (base.scale[:m] == 0.0) & (self.rows.mu[:m] >= 0.0)
        pairs.update(map(tuple, self.rows.labels[:m, [COLLIDER_A, COLLIDER_B]][left_out].tolist()))
        n = len(self.names)
        one, other = first.tolist()
        return len(pairs), [self.stops[one - n].element] if one >= n else [self.names[one], self.names[other]]

    @property
    def unsolved(self) -> float:
        """m/s; zero where all solves converged."""
        return self.told.item(UNSOLVED)

    @property
    def stretched(self) -> tuple[Element, float] | None:
        """The rope or hard limit that was beyond its bound by the most that no step should leave, and by how much (m or rad)
        more than when it was first seen."""
        if not len(self.over):
            return None
        more = self.over[:, 1] - self.over[:, 0]
        worst = int((more / self.bearable).argmax())
        return (self.stops[worst].element, float(more[worst])) if more[worst] > self.bearable[worst] else None

    # -- what is kept -------------------------------------------------------------------------------------------
    def forget(self) -> None:
        """What the last step has found and given is gone."""
        self.fresh, self.ended, self.count, self.before_count = False, False, 0, 0

    @property
    def memory(self) -> Memory:
        m = self.cached
        return Memory(self.margins.copy(), self.cache_labels[:m].copy(), self.cache[:m].copy())

    @memory.setter
    def memory(self, memory: Memory | None) -> None:
        memory = memory or EMPTY
        if len(memory) > len(self.cache):
            self.cached = 0
            self._make_room(len(memory), 0, 0)
        self._remember(memory)

    def _remember(self, memory: Memory) -> None:
        m = self.cached = len(memory)
        self.cache_labels[:m], self.cache[:m] = memory.labels, memory.impulses
        self.margins[:] = memory.margins if len(memory.margins) == len(self.margins) else 0.0

    # -- the stages ---------------------------------------------------------------------------------------------
    def _find(self, work: np.ndarray, h: float, carried: float, scale: float) -> tuple[int, int]:
        """Rows and slots of the present configuration, at velocities carried v + scale x; (length of all responses, entries
        of blocks)."""
        table, bodies, order = self.programs.table, self.answers.bodies, self.answers.order
        while (count := find(work, table, bodies, order, self.finding, self.rows, self.least, h, carried, scale)) > len(
            self.found.gap
        ):
            self._make_room(ROOM * count, 0, 0)
        return self.length, int(self.counts[4])

    def _forget_blocks(self) -> None:
        """Rows or responses are others now."""
        self.solving[0].solver.base.known[0] = 0

    def before_motion(self, work: np.ndarray, h: float) -> None:
        """The stage at the beginning of a step: the velocities that are about to move the bodies get what contact adds."""
        self._in_one_call(*self._given(work, h, OPENING))
        self.asked.raise_failure()

    def _given(self, work: np.ndarray, h: float = 0.0, stage: int = OPENING) -> tuple:
        return work, self.programs.table, self.stage, float(h), stage

    @cached_property
    def _in_one_call(self) -> Callable:
        return entry(contact_stage, *self._given(np.zeros(0)))

    @cached_property
    def by_address(self) -> tuple:
        """What a compiled step takes to call a stage: its address, and what it needs."""
        return compiled_address(contact_stage, *self._given(np.zeros(0))), self.stage

    def once_more(self, work: np.ndarray, h: float, answers: InverseMass) -> None:
        """The same stage with other factors, for another iteration of the same step. What bounced in the first one shall leave
        with the speeds that it had then; ropes and limits are where the iterate has them."""
        self._set_aside()
        if self.count:
            if self.stops and self.model.spots:
                spots = self.programs.spots("next")  # before the table, which it extends
                sweep(work, self.programs.table, spots)
            answers.respond(work, self.slots, self.groups, self.R)
            self._forget_blocks()
            if self.stops:
                bend(work, answers.bodies, self.rows, self.count, len(self.names), self.hard_stops, *self.bending[:2], h,
                     *self.bending[2:], self.bent)  # fmt: skip
            self._solve(solve_again, work, h, OPENING, answers)
            self.off = self.told[LAST] if self.told[LAST] > TOLERANCE else 0.0
        self._set_aside()

    def _set_aside(self) -> None:
        """Rows become those of the beginning of the step, or these rows again."""
        self.turn, self.before_count, self.ended = 1 - self.turn, self.count, False

    def end_single(self) -> None:
        """The end of a step with one stage."""
        self.cached = self.count
        given = self.before, self.count, self.cache_labels, self.cache, self.before, self.before_count, False
        self._remembering(*given)
        self.begin_again()

    @cached_property
    def _remembering(self) -> Callable:
        rows = self.before
        return entry(stage_kernels.remember, rows, 0, self.cache_labels, self.cache, rows, 0, False)

    def begin_again(self) -> None:
        """The next stage looks for itself what touches."""
        self.fresh, self.margins[0] = False, 0.0

    def _give_panels(self) -> None:
        """Factors fill in: room for more."""
        self.panels = ROOM * max(self.panels, 36 * self.groups)
        self._make_room(0, 0, 0)

    def _solve(self, solve, work: np.ndarray, h: float, stage: int, answers: InverseMass) -> None:
        """Find the impulses of a stage, and have bodies answer them."""
        lengths = self.count, self.used, self.groups, self.length
        read = answers.carried, answers.scale, answers.turning
        while not solve(
            work, answers.bodies, self.solving[self.turn], lengths, h, self.gravity, self.near, stage, *read, self.cached
        ):
            self._give_panels()
        answers.strike(work, self.slots, self.groups)

    def knows(self, memory: Memory) -> bool:
        """Whether it speaks of colliders, stops and bodies that are here, as one from a file may not."""
        colliders, bodies = memory.labels[:, [COLLIDER_A, COLLIDER_B]], memory.labels[:, [BODY_A, BODY_B]]
        here = len(self.names) + len(self.stops), len(self.answers.bodies)
        known = all(x.min(initial=0) >= least and x.max(initial=-1) < most
                    for x, least, most in ((colliders, 0, here[0]), (bodies, GROUND, here[1])))  # fmt: skip
        return known and memory.margins.min(initial=0.0) >= 0.0

    def recall(self, memory: Memory, other: Touching) -> None:
        """Remember what another one did, before the world was changed, of the colliders and stops that are here too; there is
        as much room as there."""
        self.panels = max(self.panels, other.panels)
        self._make_room(len(other.found.gap), len(other.R), other.blocks)
        places = {key: k for k, key in enumerate(self._keys())}
        number = np.array([places.get(key, -1) for key in other._keys()], dtype=np.int64)
        here = {key: k for k, key in enumerate(self._bodies())}
        body = np.array([*(here.get(key, GROUND) for key in other._bodies()), GROUND], dtype=np.int64)
        labels, of_stops = memory.labels.copy(), memory.labels[:, COLLIDER_A] >= len(other.names)
        labels[:, COLLIDER_A] = number[memory.labels[:, COLLIDER_A]]
        labels[:, COLLIDER_B] = np.where(of_stops, 0, number[memory.labels[:, COLLIDER_B]])
        labels[:, [BODY_A, BODY_B]] = body[memory.labels[:, [BODY_A, BODY_B]]]
        left = np.flatnonzero((labels[:, [COLLIDER_A, COLLIDER_B]] >= 0).all(axis=1))
        left = left[np.lexsort((labels[left, COLLIDER_B], labels[left, COLLIDER_A]))]
        self.memory = Memory(EMPTY.margins, labels[left], memory.impulses[left])

    def _bodies(self) -> list[tuple]:
        """What each number stands for: bodies, then points of them."""
        bodies = self.model.bodies.elements
        return [(id(body), None) for body in bodies] + [(id(bodies[spot.body]), spot.local) for spot in self.model.spots]

    def _keys(self) -> list[tuple[int, float]]:
        """What each collider is, then each stop."""
        return [(id(source), 0.0) for source in self.names] + [(id(stop.element), stop.sign) for stop in self.stops]

    # -- what can be told -----------------------------------------------------------------------------------------
    def look(self, work: np.ndarray, h: float) -> None:
        """Rows of the present configuration, without impulses; the next step finds its own."""
        margins = self.margins.copy()
        self.margins[0] = 0.0
        self._find(work, h, 1.0, 0.0)
        self.margins[:] = margins
        self.rows.total[: self.count] = self.rows.given[: self.count] = 0.0
        self.fresh, self.before_count = False, 0

    def steps(self) -> list[tuple[Rows, int]]:
        """Rows of the last step, with what they gave: those at its end (none of a step with one stage), those at its
        beginning."""
        return [(self.rows, self.count if self.ended else 0), (self.before, self.before_count)]

    def add_forces(self, work: np.ndarray, dt: float) -> None:
        """Add to b of all bodies the mean contact forces of the last step; those on points act along dq/du as it is now."""
        sweep(work, self.programs.table, self.programs.spots())
        for body, wrench in zip(self.answers.bodies, self._wrenches() / dt, strict=True):
            for part, value in zip(body[PART : PART + 6].tolist(), wrench.tolist(), strict=True):
                if part >= 0 and value != 0.0:
                    push(work, body, part, value)

    def _wrenches(self) -> np.ndarray:
        """(n, 6) N s, N m s: what rows gave to each body or point in the last step, about the origins of internal frames."""
        found = np.zeros((len(self.reach), 6))
        for rows, m in self.steps():
            for end, J in ((BODY_A, rows.Ja), (BODY_B, rows.Jb)):
                body = rows.labels[:m, end]
                np.add.at(found, body[body >= 0], np.einsum("kji,kj->ki", J[:m], rows.total[:m])[body >= 0])
        return found

    def _number_of(self, element) -> int:
        return next(k for k, stop in enumerate(self.stops) if stop.element is element)

    def coordinates_of(self, element) -> int:
        """How many coordinates a rope or hard limit bounds."""
        return 1 + max(stop.coordinate for stop in self.stops if stop.element is element)

    def ends_of(self, element) -> tuple[int, int]:
        """The bodies of a rope or hard limit."""
        label = self.hard_stops.labels[self._number_of(element)]
        return self.body_of(label[STOP_A]), self.body_of(label[STOP_B])

    def anchor_of(self, element, body: int) -> np.ndarray:
        """Where it acts on one of them, in its internal frame."""
        number, (end, at) = self._number_of(element), (STOP_B, ON_B) if self.ends_of(element)[1] == body else (STOP_A, ON_A)
        point = self.hard_stops.labels[number, end] - len(self.model.bodies.kinds)
        return np.array(self.model.spots[point].local) if point >= 0 else self.hard_stops.numbers[number, at : at + 3]

    def of_element(self, element) -> list[tuple[Stop, Rows, int]]:
        """Rows of a rope or hard limit in the last step."""
        numbers = {len(self.names) + k: stop for k, stop in enumerate(self.stops) if stop.element is element}
        return [(numbers[rows.labels[k, COLLIDER_A]], rows, k) for rows, m in self.steps() for k in range(m)
                if rows.labels[k, COLLIDER_A] in numbers]  # fmt: skip


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
    """Numbers that were joined, directly or through others."""

    def __init__(self):
        self.above: dict[int, int] = {}

    def of(self, number: int) -> int:
        """The least number of its group."""
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
