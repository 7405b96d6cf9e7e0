"""The contact of one simulation: buffers of its stages, room in them, and what can be read of the last step."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from linkwork.codegen.callbacks import PythonCallback
from linkwork.codegen.jit import INTERPRETED, compiled_address, sweep
from linkwork.collision.collider_table import contacts_for, scratch_for
from linkwork.contact import stage_kernels
from linkwork.contact.collide import Finding, find
from linkwork.contact.contact_build import ContactElements
from linkwork.contact.contact_memory import EMPTY, Memory, knows, transferred
from linkwork.contact.delassus import PART, TREE, push
from linkwork.contact.delassus_tables import bodies_of, stretched_of
from linkwork.contact.hook import (
    ANSWERED,
    BEFORE,
    BLOCKS,
    CACHED,
    ENDED,
    FRESH,
    FULL,
    LACKS,
    OPENING,
    WANTED,
    WRITTEN,
    ContactHook,
)
from linkwork.contact.inverse_mass import InverseMass
from linkwork.contact.rows import (
    BODY_A,
    BODY_B,
    BOUND,
    COLLIDER_A,
    ON_A,
    ON_B,
    ROPE,
    STOP_A,
    STOP_B,
    STOP_KIND,
    Rows,
    rows_for,
)
from linkwork.contact.solver import SOLVE, run_solver, solver_workspace
from linkwork.contact.stage import CONTACTS, PANELS, RESPONSES, Again, Stage, contact_stage
from linkwork.contact.stage_solve import ITERATIONS, RESIDUAL, UNMET_A, UNSOLVED, WORST_A, solving
from linkwork.contact.stop_rows import Stop
from linkwork.contact.stretched import carry_all
from linkwork.contact.told import named
from linkwork.elements.contacts.contact import BOUNCE_ABOVE, RECOVERY
from linkwork.elements.core.element import Element
from linkwork.schedules.schedules import Schedules
from linkwork.symbolic.vocabulary import Moment

LEAST_MARGIN, THIN = 0.002, 0.1  # m, and part of the smallest collider: contacts are looked for at least that far
TOUCHING = 0.01  # part of that: nearer counts as touching
ROOM = 2  # times what was too small
LONGER, FAR_BEYOND = 0.1, 0.1  # part of its length by which a rope, m or rad by which a limit may be exceeded without a word
BENT = 0.1  # part of that by which a step may lead it further: one that does is made in parts, where it can be
LIKELY = 50_000  # numbers: room that is made before it is asked for


def _flag(number: int) -> property:
    """One of the flags that compiled stages read and write."""
    return property(lambda self: int(self.flags[number]), lambda self, value: self.flags.__setitem__(number, value))


def _counted(number: int) -> property:
    return property(lambda self: int(self.counts[number]))


def _told(number: int) -> property:
    return property(lambda self: float(self.told[number]))


class ContactSystem:
    """The contact of one simulation. What touches are bodies, and points of Lagrangian bodies: these are numbered behind the
    bodies, and have slots of their own."""

    turn, before_count, cached, blocks = _flag(WRITTEN), _flag(BEFORE), _flag(CACHED), _flag(BLOCKS)
    fresh = _flag(FRESH)  # rows are those of the present configuration and factors
    answered = _flag(ANSWERED)  # responses are
    ended = _flag(ENDED)  # rows are those of the end of a step
    residual, unsolved = _told(RESIDUAL), _told(UNSOLVED)  # m/s: the largest; that of solves which did not converge
    used, groups, length = _counted(1), _counted(2), _counted(3)

    def __init__(self, schedules: Schedules, inverse_mass: InverseMass, phases: int = 1, again: InverseMass | None = None):
        """phases: of a step, of which each has its part of what dry friction gives; again: how bodies answer in another
        iteration of a step."""
        self.schedules, self.model = schedules, schedules.model
        self.inverse_mass, self.repeat_inverse_mass = inverse_mass, again
        model, elements = self.model, ContactElements(schedules.model)
        self.contacts, self.names, self.stops, self.sizes = elements.contacts, elements.names, elements.stops, elements.sizes
        self.geometry, self.materials, self.hard_stops = elements.geometry, elements.materials, elements.hard_stops
        self.materials.of_rule[:, 4:6] /= phases  # springs and dampers
        n = len(inverse_mass.bodies)
        self.body_of, self.phases, self.stretching = elements.body_of, phases, stretched_of(model, n)
        self.gravity = float(np.linalg.norm(model.gravity))
        self.least = min(LEAST_MARGIN, THIN * min(self.sizes, default=1.0))
        self.near = TOUCHING * self.least
        self.speeds = np.array([min([c.bounce_above for c in self.contacts], default=BOUNCE_ABOVE), RECOVERY, 1.0 / phases])
        whole = [np.zeros(n, dtype=kind) for kind in (np.bool_, np.int64, np.int64, np.int32, np.int32, np.int64, np.int64)]
        real = [np.zeros((n, 6)) for _ in range(3)]
        self.slots = stage_kernels.Slots(*whole, *real)  # type: ignore[call-arg]
        self.margins = np.zeros(1 + n)
        self.scratch = scratch_for(self.geometry, self.margins[1:])
        self.reach = elements.reach(n)
        self.axes, self.origins = np.zeros((n, 3, 3)), np.zeros((n, 3))
        self.over = np.full((len(self.stops), 2), -1.0)  # m or rad: of ropes and hard limits beyond their bounds
        ropes, bounds = self.hard_stops.labels[:, STOP_KIND] == ROPE, self.hard_stops.numbers[:, BOUND]
        self.bearable = np.where(ropes, LONGER * bounds, FAR_BEYOND)  # m or rad
        self.R, self.found = np.zeros(0), contacts_for(0)
        self.flags, self.counts = np.zeros(FULL + 1, dtype=np.int64), np.zeros(5, dtype=np.int64)
        self.panels = 0
        self.asked = PythonCallback(self._give_what_lacks, self.flags[FULL:])
        self.run_solver: Any = [None] if INTERPRETED else np.zeros(1, dtype=np.int64)  # its address, once steps are made
        self.both, self.told = (rows_for(0, 0), rows_for(0, 1)), np.zeros(UNMET_A + 2)
        self.noise = np.zeros(1)  # m/s: of the last solve of another iteration, where it is not within the tolerance
        self.work: np.ndarray | None = None  # of the steps that are being made
        self.of_forces = False  # rows give forces, not impulses
        self.stages: list[tuple[Stage, InverseMass]] = []  # which get new arrays where there was too little room
        self.impact_stage: Stage | None = None  # for impulses between steps
        self._make_room(max(16, 4 * len(self.names)), *self._likely_room(n))

    def duration(self, dt: float) -> float:
        """s: what the impulses of a step of dt are divided by to become mean forces; 1 where rows give forces."""
        return 1.0 if self.of_forces else dt

    # -- room ---------------------------------------------------------------------------------------------------
    def _likely_room(self, n: int) -> tuple[int, int]:
        """For responses and blocks of all bodies of small models at once, and of a part of large ones."""
        sizes = np.bincount(self.inverse_mass.bodies[:, TREE]) if n else np.zeros(1, dtype=np.int64)
        return min(LIKELY, int(36 * (sizes**2).sum())), min(LIKELY, int(36 * sizes.max() * max(16, 2 * len(self.names))))

    def _make_room(self, contacts: int, responses: int, blocks: int) -> None:
        """For so many contacts, entries of R and of the solver's blocks; what is remembered stays."""
        contacts, n = max(contacts, len(self.found.gap)), len(self.reach)
        if contacts > len(self.found.gap):
            memory = self.memory if self.cached else EMPTY
            rows = contacts * (1 + int(self.materials.resists.sum())) + len(self.stops)
            self.found, self.both = contacts_for(contacts), (rows_for(rows, 0), rows_for(rows, 1))
            self.cache_labels, self.cache = np.zeros((rows, 5), dtype=np.int64), np.zeros((rows, 9))
            self.leaving = np.zeros(rows)  # m/s: of rows that bounced, the normal velocity after that
            self.bent = np.zeros(rows)  # m/s: what targets get in another iteration of a step
            self.before_count = 0
            self._remember(memory)
        if responses > len(self.R):
            self.R = np.zeros(responses)
        self.blocks = max(blocks, self.blocks)
        rows = max(1, len(self.rows.mu))
        solver = solver_workspace(n, n, rows, len(self.R), -(-self.blocks // (36 * rows)), self.panels)
        known = self.told, self.axes, self.cache_labels, self.cache, self.leaving, self.bent
        self.solving = [solving(rows, self.slots, self.R, solver, self.run_solver, *known) for rows in self.both]
        self.finding = Finding(self.schedules.material_points(), self.reach, self.geometry, self.scratch, self.found,
                               self.materials, self.stretching, self.hard_stops, self.axes, self.origins, self.margins,
                               self.speeds, self.slots, self.counts, self.over)  # fmt: skip
        for stage, _ in self.stages:
            stage.renew(place=self.finding, even=self.solving[0], odd=self.solving[1])

    @cached_property
    def stage(self) -> Stage:
        """The arguments of the compiled contact stage of a step."""
        return self.stage_of(self.inverse_mass)

    def stage_of(self, inverse_mass: InverseMass) -> Stage:
        """The same, with another response of bodies to impulses."""
        n = len(self.reach)
        numbers = [self.least, self.gravity, self.near, inverse_mass.carried, inverse_mass.scale, inverse_mass.turning]
        made = Stage(inverse_mass.bodies, inverse_mass.order, inverse_mass.calls(self.slots), self._again(), self.finding,
                     *self.solving, self.flags, self.margins, self.noise, np.array(numbers, dtype=float), self.asked.routine,
                     self.asked.request, bodies_of(self.schedules, "v1"), np.zeros((n, 3, 3)), np.zeros((n, 3)),
                     BENT * self.bearable, np.zeros((2, 6)))  # fmt: skip
        self.stages.append((made, inverse_mass))
        return made

    def _again(self) -> Again:
        inverse_mass, none = self.repeat_inverse_mass, self.schedules.body()
        if inverse_mass is None:
            return Again(np.zeros((0, 16), dtype=np.int64), np.zeros(3, dtype=np.int64), none, np.zeros(3), np.zeros(6))
        moves = self.stops and (self.model.material_points or self.model.measures)
        spots = self.schedules.material_points(Moment.END) if moves else none
        numbers = np.array([inverse_mass.carried, inverse_mass.scale, inverse_mass.turning], dtype=float)
        return Again(inverse_mass.bodies, inverse_mass.calls(self.slots), spots, numbers, np.zeros(6))

    @cached_property
    def hook(self) -> ContactHook:
        """Where steps call contact."""
        self.load_solver()
        given = np.zeros(0), np.zeros(0, dtype=np.int64), self.stage, 0.0, OPENING
        return self._hook(compiled_address(contact_stage, *given), self.stage)

    def load_solver(self) -> None:
        """The address of the solver, which stages call."""
        own = self.solving[0]
        self.run_solver[0] = compiled_address(run_solver, own.problem, own.solver, own.outcome, SOLVE, 0.0, 0.0)

    def _hook(self, address, needs) -> ContactHook:
        calls = (address, needs) if INTERPRETED else np.array([address, needs.address], dtype=np.int64)
        return ContactHook(calls, self.flags, self.margins, self.counts, self.hard_stops.chosen, self.hard_stops.labels,
                           self.noise)  # fmt: skip

    def _give_what_lacks(self) -> None:
        """Enlarge the arrays that were too small for a compiled stage, as its flags say."""
        lacks, wanted = self.flags[[LACKS, WANTED]].tolist()
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
        """The rows of the stage at the beginning of the step."""
        return self.both[1 - self.turn]

    def count_anew(self) -> None:
        """Steps are asked for: from now on the most iterations, the worst residual, that of solves which did not converge."""
        self.told.fill(0.0)

    @property
    def iterations(self) -> int:
        return int(self.told[ITERATIONS])

    @property
    def worst(self) -> list[Element] | None:
        """Where the largest residual is."""
        return named(self, WORST_A)

    @property
    def crowded(self) -> Element | None:
        """A body that stretches and touched at more points than are looked at."""
        body = int(self.stretching.crowded[0]) - 1
        return None if body < 0 else self.model.bodies.elements[body]

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
        """Drop the contacts and impulses of the last step."""
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
        table, bodies, order = self.schedules.table, self.inverse_mass.bodies, self.inverse_mass.order
        while (count := find(work, table, bodies, order, self.finding, self.rows, self.least, h, carried, scale)) > len(
            self.found.gap
        ):
            self._make_room(ROOM * count, 0, 0)
        return self.length, int(self.counts[4])

    def _give_panels(self) -> None:
        """Factors fill in: room for more."""
        self.panels = ROOM * max(self.panels, 36 * self.groups)
        self._make_room(0, 0, 0)

    def knows(self, memory: Memory) -> bool:
        """Whether it speaks of colliders, stops and bodies that are here, as one from a file may not."""
        return knows(self, memory)

    def recall(self, memory: Memory, other: ContactSystem) -> None:
        """Remember what another one did, before the world was changed, of the colliders and stops that are here too; there is
        as much room as there."""
        self.panels = max(self.panels, other.panels)
        self._make_room(len(other.found.gap), len(other.R), other.blocks)
        self.memory = transferred(memory, other, self)

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
        sweep(work, self.schedules.table, self.schedules.material_points())
        carry_all(work, self.inverse_mass.bodies, self.stretching)
        for body, wrench in zip(self.inverse_mass.bodies, self._wrenches() / self.duration(dt), strict=True):
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
        if point >= 0:
            return np.array(self.model.material_points[point].internal)
        return self.hard_stops.numbers[number, at : at + 3]

    def of_element(self, element) -> list[tuple[Stop, Rows, int]]:
        """Rows of a rope or hard limit in the last step."""
        numbers = {len(self.names) + k: stop for k, stop in enumerate(self.stops) if stop.element is element}
        return [(numbers[rows.labels[k, COLLIDER_A]], rows, k) for rows, m in self.steps() for k in range(m)
                if rows.labels[k, COLLIDER_A] in numbers]  # fmt: skip
