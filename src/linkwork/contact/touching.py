"""From a world's colliders, contacts, ropes and hard limits to the arrays of contact stages; and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from linkwork.contact import stages
from linkwork.contact.colliders import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.contact.detect import detect
from linkwork.contact.layout import BODY, MIDDLE, MOVED, RULES, SIZE
from linkwork.contact.newton import newton, newton_workspace
from linkwork.contact.problem import TOO_SMALL, Problem
from linkwork.contact.responses import responses, sweeping
from linkwork.contact.rows import (
    BODY_A,
    BODY_B,
    COLLIDER_A,
    COLLIDER_B,
    ON_A,
    ON_B,
    ROPE,
    STOP_A,
    STOP_B,
    TRAVEL,
    TURN,
    Materials,
    Rows,
    Stops,
    rows_for,
)
from linkwork.contact.trees import refuse_stretching, trees_of
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
PASSES = 32  # of bounces through rows of bodies; what still approaches then does not bounce
TOLERANCE, AT_FIRST = 1e-9, 10  # m/s: how far velocities may be from the law of contact, if so many iterations reach it
ENOUGH, ITERATIONS = 1e-6, 80  # m/s: and what will do, reached in so many more
MANY = 200  # rows of problems for which that is all that is asked


@dataclass(frozen=True)
class Memory:
    """What the next step takes from the last one: a part of the state."""

    margins: tuple[float, float]  # m, rad
    labels: np.ndarray  # (m, 5) int64: of rows
    impulses: np.ndarray  # (m, 9) N s, m: of the last solve of both stages, in the world, and their points

    def __len__(self) -> int:
        return len(self.labels)


EMPTY = Memory((0.0, 0.0), np.zeros((0, 5), dtype=np.int64), np.zeros((0, 9)))


@dataclass(frozen=True)
class Stop:
    """A rope, or one bound of a hard limit."""

    element: Rope | HardLimit
    sign: float


class Touching:
    """The contact of one simulation."""

    def __init__(self, programs: Programs):
        self.programs, self.model = programs, programs.model
        model = self.model
        elements = model.world.contacts
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self.names: list = []  # of colliders: a Collider, or the body whose shape it is
        self.stops: list[Stop] = []
        self.geometry, self.materials, self.sizes = self._colliders([e for e in elements if isinstance(e, Collider)], elements)
        self.hard_stops = self._hard_stops([e for e in elements if isinstance(e, (Rope, HardLimit))])
        n = len(model.bodies.kinds)
        self.trees = trees_of(programs)
        self.sweeping = sweeping(self.trees)
        self.gravity = float(np.linalg.norm(model.gravity))
        self.least = min(LEAST_MARGIN, THIN * min(self.sizes, default=1.0))
        self.near = TOUCHING * self.least
        self.speeds = np.array([min([c.bounce_above for c in self.contacts], default=BOUNCE_ABOVE), RECOVERY])
        whole = [np.zeros(n, dtype=kind) for kind in (np.bool_, np.int64, np.int64, np.int32, np.int32, np.int64)]
        real = [np.zeros((n, 6)) for _ in range(3)]
        self.slots = stages.Slots(*whole, *real)  # type: ignore[call-arg]
        self.scratch = scratch_for(self.geometry)
        self.reach = self._reach(self.geometry, self.hard_stops)
        self.axes, self.origins, self.margins = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros(2)
        self.R, self.found = np.zeros(0), contacts_for(0)
        self.count = self.before_count = self.used = self.groups = self.cached = self.blocks = self.panels = 0
        self.iterations, self.residual = 0, 0.0  # the most and the worst since steps were last asked for
        self.unsolved = 0.0  # the worst residual of solves that did not converge
        self.fresh = False  # rows and responses are those of the present configuration and factors
        self.ended = False  # rows are those of the end of a step
        self._make_room(max(16, 4 * len(self.names)), 0, 0)

    # -- from elements to arrays --------------------------------------------------------------------------------
    def _colliders(self, given: list[Collider], elements):
        """Geometry, materials, and half the smallest extent of each collider (m)."""
        model = self.model
        number = model.bodies.number
        placed, friction, restitution = [], [], []
        groups: dict[str, int] = {}
        rules_of = self._rules()
        turns = {name: frames.user_turn() for name, frames in model.bodies.frames.items()}
        entries = [(c, c.body, c.shape, c.position, c.orientation, c.group, c.friction, c.restitution) for c in given]
        entries += [(body, body, body.shape, model_com(body), (1.0, 0.0, 0.0, 0.0), None, FRICTION, 0.0)
                    for body in model.bodies.elements if getattr(body, "shape", None) is not None]  # fmt: skip
        for source, body, shape, position, orientation, group, mu, e in entries:
            assert not isinstance(body, str)
            moving = GROUND if body.dim == 0 else number[id(body)]
            rules = rules_of(body)
            if not rules:
                continue
            refuse_stretching(model, self.contacts[rules[-1]], moving)
            frames = model.bodies.batch(None if moving == GROUND else model.bodies.kinds[moving], [moving])
            local = position if moving == GROUND else frames.user_point(position)[0]
            turned = orientation
            if moving != GROUND:
                own = turns[model.bodies.kinds[moving].name][model.bodies.place[moving]]
                turned = product(own[None], np.array([orientation]))[0]
            placed.append(Placed(shape, moving, local, turned, groups.setdefault(group, len(groups)) if group else -1, rules,
                                 source.name))  # fmt: skip
            self.names.append(source)
            friction.append(mu)
            restitution.append(e)
        self._refuse_bare({p.body for p in placed})
        geometry = compile_colliders(placed, self._apart([p.body for p in placed], elements))
        sizes = [float(size[size > 0].min(initial=np.inf)) for size in geometry.constants[:, SIZE : SIZE + 3]]
        named = [(c.friction, c.restitution, c.bounce_above, c.recovery) for c in self.contacts] or [(0, 0, 0, 0)]
        of_rule = np.array([[-1.0 if value is None else value for value in values] for values in named], dtype=float)
        own = np.array([friction, restitution], dtype=float).T.reshape(-1, 2).copy()
        labels = geometry.labels
        return geometry, Materials(labels[:, BODY].copy(), labels[:, RULES:].copy(), own, of_rule), sizes

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
        labels = np.array([label for label, _ in rows], dtype=np.int64).reshape(-1, 4)
        return Stops(labels, np.array([np.hstack(numbers) for _, numbers in rows], dtype=float).reshape(-1, 18))

    def _rope(self, element: Rope):
        bodies = self.model.bodies
        ends, local, world = [], [], []
        for body, on in ((element.a, element.on_a), (element.b, element.on_b)):
            assert not isinstance(body, str)
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
        self.stops.append(Stop(element, 1.0))
        zero = np.zeros(3)
        return [((ROPE, *ends, 0), (*local, zero, zero, zero, 1.0, bound, element.restitution))]

    def _limit(self, element: HardLimit):
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
        travels = isinstance(element.joint, (Slider, Cylindrical))
        turns = 0 if travels else model.parameters_at(number) + start + layout.offset("turns")
        found = []
        for sign, bound in ((-1.0, element.lower), (1.0, element.upper)):
            if bound is not None:
                self.stops.append(Stop(element, sign))
                numbers = (
                    p["on_a"],
                    p["on_b"],
                    p["ref_a"],
                    p["side_a"],
                    p.get("ref_b", np.zeros(3)),
                    sign,
                    bound,
                    element.restitution,
                )
                found.append(((TRAVEL if travels else TURN, *ends, turns), numbers))
        return found

    def _reach(self, geometry, stops: Stops) -> np.ndarray:
        """How far from its origin each body can touch (m); -1 where it cannot."""
        reach = np.full(len(self.model.bodies.kinds), -1.0)
        for body, entries in zip(geometry.labels[:, BODY], geometry.constants, strict=True):
            if body >= 0:
                far = sum(np.linalg.norm(entries[at : at + 3]) for at in (MOVED, MIDDLE, SIZE))
                reach[body] = max(reach[body], far)
        for end, at in ((STOP_A, ON_A), (STOP_B, ON_B)):
            for body, local in zip(stops.labels[:, end], stops.numbers[:, at : at + 3], strict=True):
                if body >= 0:
                    reach[body] = max(reach[body], np.linalg.norm(local))
        return reach

    # -- room ---------------------------------------------------------------------------------------------------
    def _make_room(self, contacts: int, responses: int, blocks: int) -> None:
        """For so many contacts, entries of R and of the solver's blocks; what is remembered stays."""
        contacts, n = max(contacts, len(self.found.gap)), len(self.reach)
        if contacts > len(self.found.gap):
            memory = self.memory if self.cached else EMPTY
            rows = contacts + len(self.stops)
            self.found, self.rows, self.before = contacts_for(contacts), rows_for(rows), rows_for(rows)
            self.cache_labels, self.cache = np.zeros((rows, 5), dtype=np.int64), np.zeros((rows, 9))
            self.before_count = 0
            self._remember(memory)
        self.R = np.zeros(max(responses, len(self.R)))
        self.blocks = max(blocks, self.blocks)
        rows = max(1, len(self.rows.mu))
        self.solver = newton_workspace(n, n, rows, len(self.R), -(-self.blocks // (36 * rows)), self.panels)

    # -- what is kept -------------------------------------------------------------------------------------------
    def forget(self) -> None:
        """What the last step has found and given is gone."""
        self.fresh, self.ended, self.count, self.before_count = False, False, 0, 0

    @property
    def memory(self) -> Memory:
        m = self.cached
        return Memory((float(self.margins[0]), float(self.margins[1])), self.cache_labels[:m].copy(), self.cache[:m].copy())

    @memory.setter
    def memory(self, memory: Memory | None) -> None:
        memory = memory or EMPTY
        if len(memory) > len(self.cache):
            self.cached = 0
            self._make_room(len(memory), 0, 0)
        self._remember(memory)

    def _remember(self, memory: Memory) -> None:
        m = self.cached = len(memory)
        self.cache_labels[:m], self.cache[:m], self.margins[:] = memory.labels, memory.impulses, memory.margins

    # -- the stages ---------------------------------------------------------------------------------------------
    def _find(self, work: np.ndarray, h: float, scale: float) -> tuple[int, int]:
        """Rows and slots of the present configuration; (length of all responses, entries of blocks)."""
        trees = self.trees
        stages.find_poses_and_margins(
            work, trees.bodies, self.reach, self.axes, self.origins, self.least, h, scale, self.margins
        )
        count = 0
        if len(self.names) and np.isfinite(self.margins[0]):
            while (count := detect(self.geometry, self.axes, self.origins, self.margins[0], self.scratch, self.found)) > len(
                self.found.gap
            ):
                self._make_room(ROOM * count, 0, 0)
        self.count, self.used, self.groups, length, blocks = stages.find_rows(
            work, trees.bodies, trees.order, self.rows, self.found, count, self.materials, self.hard_stops, self.axes,
            self.origins, self.margins, self.speeds, self.slots)  # fmt: skip
        return length, blocks

    def detect(self, work: np.ndarray, h: float, scale: float) -> None:
        """Rows, slots and responses of the present configuration and factors."""
        slots = self.slots
        length, blocks = self._find(work, h, scale)
        if length > len(self.R) or blocks > self.blocks:
            self._make_room(0, ROOM * length, ROOM * blocks)
        responses(
            work,
            self.programs.table,
            self.trees,
            self.sweeping,
            slots.body_of,
            slots.first,
            slots.size,
            slots.at,
            self.R,
            self.groups,
        )
        self.length, self.fresh = length, True

    def before_motion(self, work: np.ndarray, h: float, scale: float = 1.0, turning: bool = False) -> None:
        """The stage at the beginning of a step: x of the solve that is about to move the bodies gets what contact adds to it.
        The velocities that move them are v + scale x."""
        if not self.fresh:
            self.detect(work, h, scale)
        self._stage(work, h, scale, turning, stages.OPENING)
        self.rows, self.before, self.before_count, self.ended = self.before, self.rows, self.count, False

    def after_motion(self, work: np.ndarray, h: float) -> None:
        """The stage at the end of a step of two kicks: what touches there stops approaching. Its rows and responses serve the
        next step."""
        self.margins[0] = 0.0
        self.detect(work, h, 1.0)
        self._stage(work, h, 1.0, False, stages.CLOSING)
        self._commit(self.rows)
        self.ended = True

    def end_single(self) -> None:
        """The end of a step with one stage."""
        self._commit(self.before)
        self.fresh, self.margins[0] = False, 0.0

    def _stage(self, work: np.ndarray, h: float, scale: float, turning: bool, stage: int) -> None:
        rows, slots, m = self.rows, self.slots, self.count
        rows.total[:m] = 0.0
        if m == 0:
            return
        stages.predict(work, self.trees.bodies, slots.body_of, self.used, self.axes, slots.u, slots.before, scale, turning)
        slow = stages.RESTING * self.gravity * h
        for _ in range(PASSES):
            if not stages.bounce(rows, m, slots.u, h, slow, self.near, stage):
                break
            self._solve()
        stages.aim(rows, m, slots.u, h, self.near, stage, self.cache_labels, self.cache, self.cached)
        self._solve()
        stages.apply(work, self.programs.table, self.trees, self.sweeping, rows, m, slots, self.used, self.groups, scale)

    def _solve(self) -> None:
        """From the impulses that stand in the rows; they are added to those of the stage."""
        rows, slots, m, g = self.rows, self.slots, self.count, self.groups
        grouped = slots.first[:g], slots.size[:g], slots.at[:g], self.R[: self.length]
        given = rows.slot_a, rows.slot_b, rows.Ja, rows.Jb, rows.mu, rows.target, rows.impulse
        problem = Problem(slots.u[: self.used], *grouped, *(array[:m] for array in given))  # type: ignore[call-arg]
        without = problem.u.copy()
        iterations, residual = self._converge(problem, TOLERANCE, AT_FIRST) if m <= MANY else (0, np.inf)
        if residual > ENOUGH:  # what is in violent motion need not be as exact as what rests
            problem.u[:] = without
            more, residual = self._converge(problem, ENOUGH, ITERATIONS)
            iterations += more
        self.iterations, self.residual = max(self.iterations, iterations), max(self.residual, residual)
        if residual > ENOUGH:
            self.unsolved = max(self.unsolved, residual)
        stages.add_up(rows, m)

    def _converge(self, problem: Problem, tolerance: float, iterations: int) -> tuple[int, float]:
        """(iterations, residual) of the solver."""
        while (solved := newton(problem, self.solver, tolerance, iterations))[0] == TOO_SMALL:  # the factors fill in
            self.panels = ROOM * max(self.panels, 36 * self.groups)
            self._make_room(0, 0, 0)
        return solved[1], solved[2]

    def _commit(self, rows) -> None:
        """The cache of the next step: rows as they are now, with the impulses of the last solve of each stage."""
        m = self.cached = self.count
        self.cache_labels[:m] = rows.labels[:m]
        stages.carry_over(rows, m, self.cache, self.before, self.before_count)
        self.cache[:m, 3:6] = 0.0
        if rows is self.rows:
            stages.in_world(rows, m, 3, self.cache)

    def recall(self, memory: Memory, other: Touching) -> None:
        """Remember what another one did, before the world was changed, of the colliders and stops that are here too."""
        places = {key: k for k, key in enumerate(self._keys())}
        number = np.array([places.get(key, -1) for key in other._keys()], dtype=np.int64)
        here = self.model.bodies.number
        body = np.array([*(here.get(id(b), GROUND) for b in other.model.bodies.elements), GROUND], dtype=np.int64)
        labels, of_stops = memory.labels.copy(), memory.labels[:, COLLIDER_A] >= len(other.names)
        labels[:, COLLIDER_A] = number[memory.labels[:, COLLIDER_A]]
        labels[:, COLLIDER_B] = np.where(of_stops, 0, number[memory.labels[:, COLLIDER_B]])
        labels[:, [BODY_A, BODY_B]] = body[memory.labels[:, [BODY_A, BODY_B]]]
        left = np.flatnonzero((labels[:, [COLLIDER_A, COLLIDER_B]] >= 0).all(axis=1))
        left = left[np.lexsort((labels[left, COLLIDER_B], labels[left, COLLIDER_A]))]
        self.memory = Memory(memory.margins, labels[left], memory.impulses[left])

    def _keys(self) -> list[tuple[int, float]]:
        """What each collider is, then each stop."""
        return [(id(source), 0.0) for source in self.names] + [(id(stop.element), stop.sign) for stop in self.stops]

    # -- what can be told -----------------------------------------------------------------------------------------
    def look(self, work: np.ndarray, h: float) -> None:
        """Rows of the present configuration, without impulses; the next step finds its own."""
        margins = self.margins.copy()
        self.margins[0] = 0.0
        self._find(work, h, 0.0)
        self.margins[:] = margins
        self.rows.total[: self.count] = self.rows.given[: self.count] = 0.0
        self.fresh, self.before_count = False, 0

    def steps(self) -> list[tuple[Rows, int]]:
        """Rows of the last step, with what they gave: those at its end (none of a step with one stage), those at its
        beginning."""
        return [(self.rows, self.count if self.ended else 0), (self.before, self.before_count)]

    def wrenches(self) -> np.ndarray:
        """(n, 6) N s, N m s: what rows gave to each body in the last step, about the origins of internal frames."""
        found = np.zeros((len(self.reach), 6))
        for rows, m in self.steps():
            for end, J in ((BODY_A, rows.Ja), (BODY_B, rows.Jb)):
                body = rows.labels[:m, end]
                np.add.at(found, body[body >= 0], np.einsum("kji,kj->ki", J[:m], rows.total[:m])[body >= 0])
        return found

    def _number_of(self, element) -> int:
        return next(k for k, stop in enumerate(self.stops) if stop.element is element)

    def ends_of(self, element) -> tuple[int, int]:
        """The bodies of a rope or hard limit."""
        label = self.hard_stops.labels[self._number_of(element)]
        return int(label[STOP_A]), int(label[STOP_B])

    def anchor_of(self, element, body: int) -> np.ndarray:
        """Where it acts on one of them, in its internal frame."""
        at = ON_B if self.ends_of(element)[1] == body else ON_A
        return self.hard_stops.numbers[self._number_of(element), at : at + 3]

    def of_element(self, element) -> list[tuple[Stop, Rows, int]]:
        """Rows of a rope or hard limit in the last step."""
        numbers = {len(self.names) + k: stop for k, stop in enumerate(self.stops) if stop.element is element}
        return [(numbers[rows.labels[k, COLLIDER_A]], rows, k) for rows, m in self.steps() for k in range(m)
                if rows.labels[k, COLLIDER_A] in numbers]  # fmt: skip


def model_com(body) -> np.ndarray:
    """Where a body's own shape is centred, in its frame."""
    return getattr(body, "com", np.zeros(3))
