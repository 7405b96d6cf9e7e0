"""System: one compiled world in one state, everything that must change together. An edit makes another System (editor.py).

Builds (build.py) are kept, so that switching back and forth compiles nothing anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.codegen.interrupts import raise_if_stopped
from linkwork.elements.core.element import Element, Pose
from linkwork.engines.step_driver import OK
from linkwork.kernels.node import parameter_record
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.model import readout
from linkwork.model.active_world import ActiveWorld
from linkwork.model.graph import Order
from linkwork.model.held_samples import Held
from linkwork.model.least_norm import LeastNorm
from linkwork.model.model import Arrangement, Model, State
from linkwork.model.states import Layout, converted
from linkwork.model.trajectory_input import TrajectoryInput
from linkwork.schedules.schedules import Schedules
from linkwork.simulation.build import Build
from linkwork.simulation.control import Commands
from linkwork.simulation.notes import Notes
from linkwork.simulation.options import Options
from linkwork.simulation.sampling import still_held, tell_timing
from linkwork.simulation.validity import Validity
from linkwork.simulation.watch import Watch
from linkwork.symbolic.views import GLOBALS
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem
    from linkwork.engines.engine import Engine
    from linkwork.util.array_types import FloatArray

MOST_BUILDS = 8  # of one world that are kept
PIECE = 0.05  # s: of steps in one compiled call, after which Python sees whether Ctrl-C was pressed
GROWTH = 8  # times as many steps as in the last piece, at most


class System:
    """A compiled world in one state. Its workspace is written by steps, by `take`, and from outside, followed by `changed`."""

    __slots__ = (
        "age",
        "arrangement",
        "before",
        "build",
        "builds",
        "commands",
        "compiled_at",
        "contact",
        "dt",
        "feed",
        "held",
        "integrator",
        "layout",
        "least_norm",
        "model",
        "notes",
        "options",
        "parted",
        "piece",
        "plain",
        "report_rows",
        "samples",
        "schedules",
        "starting",
        "steps",
        "validity",
        "version",
        "watch",
        "work",
        "world",
    )  # fmt: skip

    world: World
    version: int  # of the world, that it is compiled from
    arrangement: Arrangement  # what of the world is in force
    options: Options
    build: Build
    builds: dict[Arrangement, Build]  # of this version of the world
    compiled_at: Mapping[str, Pose]  # where bodies were when it was compiled, by name; none: as built
    notes: Notes
    model: Model
    schedules: Schedules
    integrator: Engine
    contact: ContactSystem | None  # what touches, if anything can
    layout: Layout  # of states
    work: FloatArray
    validity: Validity  # what of the workspace can be used as it is
    least_norm: LeastNorm | None  # of redundant constraints, at the last solve for accelerations
    commands: Commands
    feed: TrajectoryInput
    watch: Watch
    dt: float  # s; other than that of the options only while a diagnosis tries shorter steps
    steps: int
    age: int  # steps since the position stage began afresh
    starting: bool  # from the world as built or from a keyframe: overlaps have not been looked at
    parted: set[frozenset[int]]  # pairs of bodies that a joint kept from touching, until their overlaps have been looked at
    piece: int  # steps of the next compiled call
    samples: bool  # some sensor is slow or late
    held: Held  # what such sensors have sampled, by name; never changed in place
    plain: bool  # steps are compiled calls and nothing else
    before: State | None  # while a step is under way that takes long: Ctrl-C leads back there
    report_rows: tuple[Any, ...] | None  # see residuals.py

    @classmethod
    def create(cls, world: World, arrangement: Arrangement, options: Options, notes: Notes, *, like: System | None = None,
               compiled_at: Mapping[str, Pose] | None = None, order: Order | None = None) -> System:  # fmt: skip
        """Model, schedules, workspace and integrator of the world as it is now, with bodies as built. `like`: what ran before,
        whose builds may serve; `compiled_at`: where bodies are, if not as built; `order`: of elimination, if it is known."""
        world._use()
        self = cls()
        self.world, self.version, self.arrangement, self.options, self.notes = world, world.version, arrangement, options, notes
        self.compiled_at = {} if compiled_at is None else compiled_at
        same = like is not None and like.version == world.version and like.options == options
        self.builds = like.builds if like is not None and same else {}
        if arrangement not in self.builds:
            self.builds[arrangement] = Build.made(
                self.active_world, options, arrangement, self.compiled_at, order, like is None
            )
            if len(self.builds) > MOST_BUILDS:
                del self.builds[next(iter(self.builds))]
        self._use_build(self.builds[arrangement])
        self.work = self.schedules.workspace()
        if self.contact is not None:
            self.contact.forget()
            self.contact.memory = None
        self.integrator.stop_before_cut = Watch.of_steps(notes)
        self.steps, self.age, self.starting = (0, 0, False) if like is None else (like.steps, like.age, like.starting)
        self.parted = set() if like is None else like.parted
        self.held = {} if like is None else still_held(world, like.held)
        tell_timing(world, self.dt, notes)
        self._put_feedback()
        self.validity = Validity()
        self.watch = Watch(self)
        if self.feed:
            self.feed.put(self.work, self.time)
        return self

    def _use_build(self, build: Build) -> None:
        self.build, self.dt, self.piece, self.least_norm, self.report_rows = build, self.options.dt, 1, None, None
        self.before = None
        self.model, _, self.schedules, self.integrator, self.contact, self.layout = build
        for trial in build.parameter_checks.values():
            trial.check(trial.parameter.value)  # it may have changed since the elements were made
        self.samples = any(sensor.sampled for sensor in self.world.sensors)
        self.commands, self.feed = Commands(self.model), TrajectoryInput(self.model)
        self.plain = not self.feed.motions and not self.schedules.calls_python

    def _put_feedback(self) -> None:
        """Baumgarte feedback, as given or as the integrator has it, and the step."""
        options, traits = self.options, self.integrator.traits
        stiffness, damping, power = options.stiffness, options.damping, 1 if options.first_order else 2
        given = [(traits.default_stiffness / self.dt**power, stiffness, "stiffness"),
                 (traits.default_damping / self.dt, damping, "damping")]  # fmt: skip
        for default, value, name in given:
            self.work[GLOBALS.offset(name)] = default if value is None else value
        if options.first_order and stiffness is not None and stiffness * self.dt > 1.0:
            self.work[GLOBALS.offset("stiffness")] = 1.0 / self.dt
        if not traits.takes_feedback and (stiffness, damping) != (None, None):
            self.integrator.remarks = [f"Simulation: stiffness and damping do nothing where rows are redundant, since "
                                  f"{options.integrator} projects positions there; leave them out"]  # fmt: skip
        self.work[GLOBALS.offset("step")] = self.dt

    def copy(self) -> System:
        """Another System of the same Build, in the same state, to be changed and then put in the place of this one: only one
        of the two can be stepped, since they share buffers of contact."""
        other = type(self)()
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other.work, other.validity, other.watch = self.work.copy(), Validity(), self.watch.copy()
        other.validity.facts = self.validity.facts
        return other

    @property
    def active_world(self) -> World | ActiveWorld:
        """The world without what is switched off, with what this simulation has of its own."""
        return active_world(self.world, self.arrangement)

    @property
    def time(self) -> float:
        """Seconds."""
        return float(self.work[0])

    @property
    def nbytes(self) -> int:
        """Bytes of model and workspace, the operation tables included."""
        return self.model.nbytes + self.schedules.nbytes + self.work.nbytes

    # -- motion ----------------------------------------------------------------------------------------------------------
    def run(self, *sweeps: FloatArray) -> None:
        """Run sweeps over the workspace."""
        self.integrator.run(self.work, *sweeps)

    def changed(self) -> None:
        """Something was written from outside: derived values are computed anew before the next step."""
        self.validity.changed()
        if self.feed.motions:
            self.feed.put(self.work, self.time)

    def place(self) -> None:
        """Poses up to date with the coordinates (they are after every step)."""
        if not self.validity.poses:
            self.integrator.run(self.work, self.schedules.body(BodyKernel.UPDATE_POSE))
            self.validity.placed()

    def prepare(self) -> None:
        """Bring everything to where a step can begin."""
        if self.starting:
            self._look_at_overlaps()
        elif self.parted:
            self._look_at_overlaps(f"at {self.time:.6g} s, where no joint keeps them apart any more", self.parted)
        self.integrator.prepare(self.work)
        self.validity.prepared()

    def _look_at_overlaps(self, when: str = "as built", among: set[frozenset[int]] | None = None) -> None:
        """A note on the deepest overlap when stepping starts, wherever a keyframe or state has put the bodies by then, or among
        bodies that a joint has kept from touching."""
        if self.contact is not None:
            from linkwork.simulation import contact_query

            self.run(self.schedules.body(BodyKernel.UPDATE_POSE))
            self.contact.look(self.work, self.dt)
            if (deep := contact_query.deepest(self.contact, when, among)) is not None and deep not in self.notes:
                self.notes.add(deep)
            self.contact.forget()
        self.starting, self.parted = False, set()

    def advance(self, n: int, interrupted: Callable[[], bool] | None = None) -> tuple[int, int]:
        """n steps, each with the targets of its motions, if any: (how many were made, status of the last). Fewer are made where
        `interrupted` says so. KeyboardInterrupt, which may be raised in the middle of a step, takes that step back."""
        self.validity.stepped(self.integrator.traits.keeps_impulses)
        made, status = 0, OK
        try:
            if n == 1 and self.plain and interrupted is None:
                made, status, self.age = self.integrator.advance(self.work, n, self.age)
                self.steps += made
            else:
                while made < n and status == OK and not (interrupted is not None and interrupted()):
                    made, status = self._advance_a_piece(n, made)
        except KeyboardInterrupt:
            known, self.before = self.before, None
            self._go_back(known)
            if known is None or interrupted is None or not interrupted():
                raise
        return made, status

    def _advance_a_piece(self, n: int, made: int) -> tuple[int, int]:
        """Some more of n steps, as many as take a part of a second: (how many are made then, status). How steps are divided
        into calls changes no bit of them."""
        begin, count = perf_counter(), min(n - made, self.piece)
        if self.feed.motions:
            self.integrator.feed(self.feed.where, self.feed.rows(self.time, self.dt, count))
        self.before = self.state() if self.piece == 1 else None
        try:
            more, status, self.age = self.integrator.advance(self.work, count, self.age)
        except Exception:
            self.before = None
            raise
        if self.schedules.calls_python:
            raise_if_stopped()
        self.before = None
        taken = max(perf_counter() - begin, 1e-9)
        self.piece = max(1, min(GROWTH * self.piece, int(PIECE / taken * max(1, more))))
        self.steps += more
        return made + more, status

    def _go_back(self, before: State | None) -> None:
        """From the middle of a step to the state before it, or where that is not known to the last one that was kept."""
        if before is not None or self.watch.past:
            self.take(before or self.watch.past[-1])
        else:
            self.validity.failed()

    def factor(self) -> None:
        """Factors and a velocity-level solve at the current configuration, by kernels that `rattle` has, too."""
        self.work[GLOBALS.offset("kick")] = 0.0
        p = self.schedules
        self.run(p.body(BodyKernel.UPDATE_POSE), p.up(RowMode.VELOCITY, first=(BodyKernel.KICK,)), p.backward())

    def multipliers_finite(self) -> bool:
        return bool(np.isfinite(self.work[self.model.multipliers].sum()))

    # -- state and parameters --------------------------------------------------------------------------------------------
    def state(self) -> State:
        contact = None if self.contact is None else self.contact.memory
        values = self.work[self.model.state_index]
        return State(values, self.time, self.steps, self.age, self.layout, contact, self.arrangement, self.held or None)

    def take(self, state: State) -> None:
        """Go to a state that fits (`state_check.refuse_misfit`)."""
        values, age, contact, own = state.values, state.age, state.contact, self.layout
        theirs = own if state.layout is None else state.layout
        if theirs is not own and theirs.digest != own.digest:
            values = converted(values, theirs, own, self.work[self.model.state_index])
            age = age if theirs.fits_history(own) else 0
            contact = None if contact is None else contact.elsewhere()
        if theirs is not own and contact is not None and not (self.contact is not None and self.contact.knows(contact)):
            contact = None
        self.work[self.model.state_index] = values
        self.work[0] = state.time
        if self.contact is not None:
            self.contact.forget()
            self.contact.memory = contact
        self.steps, self.age = state.steps, age
        self.held = still_held(self.world, state.held or {}) if theirs.made_with[2] == own.made_with[2] else {}
        self.starting = self.starting and state.steps == 0
        self.watch.begin_anew()
        self.validity.forgotten()
        self.changed()

    def values(self) -> dict[str, float]:
        """The values of all Parameters now, by name."""
        return {name: float(self.work[entries[0]]) for name, (_, entries) in self.model.parameters.items()}

    def put(self, values: Mapping[str, float], commands: Mapping[str, FloatArray]) -> None:
        """Values of parameters and commands, where they are still there."""
        for name, value in values.items():
            if name in self.model.parameters:
                self.work[self.model.parameters[name][1]] = self.build.parameter_checks[name].check(value)
        self.commands.take(self.work, commands)

    def has(self, element: Element) -> bool:
        """Whether this is one of the simulation's own elements, and in force."""
        return any(other is element for other in self.arrangement.own)

    def write_own(self, element: Element) -> None:
        """The numbers of what a hand does into the workspace, if it is in force."""
        if self.has(element):
            fields = self._fields_of(element)
            for name in element.MOVING:
                fields[name][:] = getattr(element, name)
            self.changed()

    def _fields_of(self, element: Element) -> dict[str, FloatArray]:
        sort, number, part = self.model.names[str(element.name)]
        if sort == "constraint":
            return readout.numbers(self.model, self.work, number, part)
        layout, at = parameter_record(self.model.forces[number].kind.law), int(self.model.force_at[number])
        return {name: self.work[at + where : at + where + size] for name, (where, size) in layout.fields.items()}


def active_world(world: World, arrangement: Arrangement) -> World | ActiveWorld:
    """A world without what is switched off, with what a simulation has of its own."""
    off, own = arrangement.off, arrangement.own
    return ActiveWorld(world, off, own) if off or own else world
