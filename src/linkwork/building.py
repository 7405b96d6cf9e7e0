"""Building: from a world to a model in a workspace that can be stepped, and the checks of the start."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork import stops
from linkwork.control import Control
from linkwork.elements import checks
from linkwork.elements.base import Element, Pose
from linkwork.errors import LinkworkError, ModelError, Note
from linkwork.integrators import INTEGRATORS, Integrator
from linkwork.model.carrying import counters
from linkwork.model.compile import compile
from linkwork.model.feeding import Feed
from linkwork.model.graph import Order
from linkwork.model.present import Present
from linkwork.model.programs import Programs
from linkwork.model.trials import Trial, trials
from linkwork.model.types import Arrangement, Model, State
from linkwork.reports import PROXIMAL, Reports
from linkwork.solvers import SOLVERS
from linkwork.symbolic.bodies import GLOBALS
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.contact.touching import Touching

VIOLATED = 1e-6  # metres or radians by which a constraint may be off as built
INCONSISTENT = 1e-9  # metres or radians a second that are put right at the start ...
TOLD = 1e-6  # ... and those that are put right with a note
IMPULSES = 2  # that put them right: the second takes what rounding, and rows not linear in velocities, left of the first
MOST_BUILDS = 8  # of one world that are kept
UNSOLVED_TEXT = "are off the law of contact by"
UNMET_TEXT = "the run goes on, sim.solver_report() tells more"


class Build(NamedTuple):
    """A world as it is at some time, compiled."""

    model: Model
    trials: dict[str, Trial]
    programs: Programs
    integrator: Integrator
    touching: Touching | None


class Building(Reports):
    """What a Simulation is made of, and how it starts."""

    solver: str
    integrator_name: str
    steps: int
    age: int
    notes: list[str]
    _dt: float
    _given: tuple[float | None, float | None, float | None]  # tolerance, stiffness, damping
    _newton: tuple[str, int]  # tangent, iterations
    _arrangement: Arrangement
    _compiled_at: Mapping[str, Pose]  # where bodies were then, by name; none: as built
    _known_order: Order | None = None  # of elimination, for the next model
    _world_version = -1  # for which the builds are
    _known_builds: dict[Arrangement, Build]  # of this world: switching back and forth makes nothing anew

    @property
    def dt(self) -> float:
        """The step, in seconds; a Simulation keeps the one it was made with."""
        return self._dt

    @property
    def time(self) -> float:
        """Seconds."""
        return float(self.work[0])

    @time.setter
    def time(self, value: float) -> None:
        self.work[0] = checks.number(self, "time", value)
        self._touched()

    @property
    def _present(self) -> World | Present:
        """The world without what is switched off, with what this simulation has of its own."""
        off, own = self._arrangement.off, self._arrangement.own
        return Present(self.world, off, own) if off or own else self.world

    def _build(self) -> None:
        """Model, programs, workspace and integrator of the world as it is now."""
        if self.world.version != self._world_version:
            self._world_version, self._known_builds = self.world.version, {}
        if self._arrangement not in self._known_builds:
            self._known_builds[self._arrangement] = self._made()
            if len(self._known_builds) > MOST_BUILDS:
                del self._known_builds[next(iter(self._known_builds))]
        self.model, self._trials, self.programs, self.integrator, self._touching = self._known_builds[self._arrangement]
        for trial in self._trials.values():
            trial.check(trial.parameter.value)  # it may have changed since the elements were made
        self.work = self.programs.workspace()
        if self._touching is not None:
            self._touching.forget()
            self._touching.memory = None
        self.integrator.watched = not any(text.startswith((stops.NOT_CONVERGED, stops.LOOSE)) for text in self.notes)
        power, (_, stiffness, damping) = 1 if self.integrator_name == "first-order" else 2, self._given
        given = [(self.integrator.default_stiffness / self.dt**power, stiffness, "stiffness"),
                 (self.integrator.default_damping / self.dt, damping, "damping")]  # fmt: skip
        for default, value, name in given:
            self.work[GLOBALS.offset(name)] = default if value is None else checks.non_negative(self, name, value)
        if not self.integrator.takes_feedback and (stiffness, damping) != (None, None):
            self.integrator.remarks = [f"Simulation: stiffness and damping do nothing where rows are redundant, since "
                                       f"{self.integrator_name} projects positions there; leave them out"]  # fmt: skip
        self.work[GLOBALS.offset("step")] = self.dt
        self._stale = self._solved = self._impulses = self._unbooked = False
        self._tells_unsolved = not any(UNSOLVED_TEXT in text for text in self.notes)
        self._tells_unmet = not any(UNMET_TEXT in text for text in self.notes)
        self.__dict__.pop("_rows_of_reports", None)  # of the model before
        self._past: list[State] = []  # the last two that were kept; the next one will be at the step `_remember_at`
        self._remember_at = 0
        self.control, self._feed = Control(self), Feed(self.model)
        if self._feed:
            self._feed.put(self.work, self.time)

    def _made(self) -> Build:
        """What does not change while a simulation runs in a world as it is."""
        present = self._present
        touches = _first_contact(present) is not None
        make, solver, (tangent, iterations) = INTEGRATORS[self.integrator_name], SOLVERS[self.solver], self._newton
        if touches:  # some tenths of a second that others need not wait for
            from linkwork.integrators.in_contact import IN_CONTACT, level

            make, in_contact = IN_CONTACT[self.integrator_name], level(self.solver, self.integrator_name)
        model = compile(present, packed=make.packed, poses=self._compiled_at, drawn=dict(self._arrangement.drawn),
                        order=self._known_order, **solver.layout(tangent, iterations))  # fmt: skip
        programs = solver(model)
        programs.patient = not hasattr(self, "programs")  # else it is running, and somebody waits
        integrator = make.for_model(programs)(programs, self.dt, self._given[0], iterations)
        integrator.contact = in_contact(programs, integrator.answers, integrator.kicks) if touches else None
        return Build(model, trials(model), programs, integrator, integrator.contact)

    def _begin(self) -> None:
        """Check the constraints as built; make velocities consistent; start the turn counters."""
        self._stale = self._solved = False
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_counters()
        if not np.isfinite(self.work[self.model.state_index]).all():
            raise ModelError("World: some body starts at a place or speed that is not finite")
        worst, element = self._worst(velocity=False)
        if not worst <= VIOLATED:
            off = f"{checks.label(element)}: it is off by {worst:.3g} as built"
            if self.integrator_name != "first-order" or not np.isfinite(worst):
                raise ModelError(f"{off}; place its bodies so that it holds, or let world.assemble() do it")
            self.note(f"{off}; first-order motion draws it in")
        if self.integrator_name != "first-order":
            self._make_velocities_consistent(*self._worst(velocity=True))
        self._check_factors()
        self._tell_redundant()
        self._tell_unmet()
        for text in self.integrator.remarks:
            self.note(text)
        if self._touching is not None:
            from linkwork import contact_reports

            self._touching.look(self.work, self.dt)
            if (deep := contact_reports.deepest_as_built(self._touching)) is not None:
                self.note(deep)
            self._touching.forget()
        self._stale = True

    def _make_velocities_consistent(self, off: float, element: Element | None, when: str = "as built") -> None:
        """By impulses, where the rates of `element` are the farthest off."""
        if not off > INCONSISTENT:
            return
        for _ in range(IMPULSES + PROXIMAL if self.model.soft else IMPULSES):
            self._factor()
            if not self._multipliers_finite():
                self._refuse_start()
            self.integrator.run(self.work, self.programs.body("strike"))
        if off > TOLD:
            self.note(f"{checks.label(element)}: velocities {when} were off by {off:.3g}; an impulse made them consistent")

    def _tell_redundant(self, when: str = "as built") -> None:
        for k, rows in self.model.redundant.items():
            node = self.model.nodes[k]
            text = (f"{checks.label(node.elements[-1])}: {rows} of the {node.kind.size} rows between its bodies are "
                    f"redundant {when}, other constraints hold them already; all share the load with least norm, for "
                    "other reactions take a constraint with fewer rows, such as a Ball for a Hinge")  # fmt: skip
            if text not in self.notes:
                self.note(text)

    def _check_factors(self) -> None:
        """Rows that depend on each other show as a solution that is not finite, or as huge multipliers."""
        self._factor()
        if not (np.isfinite(self.work[self.integrator.sentinels]).all() and self._multipliers_finite()):
            self._refuse_start()

    def _refuse_start(self) -> None:
        """Name what is not finite as built, or a constraint that cannot be held."""
        stops.refuse_start(self)
        bad = [k for k in range(len(self.model.nodes)) if not np.isfinite(self.work[self.model.field_of_node(k, "x")]).all()]
        for node in (self.model.nodes[k] for k in bad if self.model.nodes[k].kind.aimed):
            raise ModelError(f"{checks.label(node.elements[0])}: the force that it names cannot hold its rows as built; "
                             "name one that moves what they speak of")  # fmt: skip
        if bad:
            element = self.model.nodes[bad[0]].elements[-1]
            raise ModelError(f"{checks.label(element)}: its rows cannot be told from those of other constraints as built "
                             "(redundant); remove it or take a constraint with fewer rows")  # fmt: skip

    def _multipliers_finite(self) -> bool:
        return bool(np.isfinite(self.work[self.model.multipliers].sum()))

    def _factor(self) -> None:
        """Factors and a velocity-level solve at the current configuration, by kernels that `rattle` has, too."""
        self.work[GLOBALS.offset("kick")] = 0.0
        p = self.programs
        self.integrator.run(self.work, p.body("place"), p.up("velocity", first=("kick",)), p.backward())

    def _clear_rows(self) -> None:
        for k in range(len(self.model.nodes)):
            self.work[self.model.field_of_node(k, "b")] = 0.0

    def _start_counters(self, known: Collection[int] | None = None) -> None:
        """The first count of a turn counter sets its sine, and whatever it counted as a crossing is none. While running, those
        of the elements with the ids `known` go on, and a force that counts the turns of a joint begins with the joint's."""
        fresh = [(element, entries) for element, entries in counters(self.model) if id(element) not in (known or ())]
        if not fresh:
            return
        counted = self.work.copy()
        self.integrator.run(counted, self.programs.count() if known is None else self.programs.count_all())
        for _, entries in fresh:
            self.work[entries] = counted[entries]
            self.work[entries[::2]] = 0.0
        if known is not None:
            of_joints = {id(element): entries for element, entries in counters(self.model)}
            for element, entries in fresh:
                joint = of_joints.get(id(getattr(element, "joint", None)), entries[:0])
                if len(joint) == len(entries):
                    self.work[entries] = self.work[joint]

    def note(self, text: str) -> None:
        """Keep and show a note."""
        self.notes.append(text)
        warnings.warn(text, Note, stacklevel=_level_outside())

    def _touched(self) -> None:
        """Something changed from outside: derived values are computed anew before the next step."""
        self._stale, self._solved = True, False
        if self._feed:
            self._feed.put(self.work, self.time)

    def _prepare(self) -> None:
        self.integrator.prepare(self.work)
        self._stale = False

    def _tell_unmet(self) -> None:
        """A note, once, where the solver could not meet all rows."""
        if self._tells_unmet and (text := self.programs.complaint(self.work)) is not None:
            self._tells_unmet = False
            self.note(f"{text} (until {self.time:.6g} s); {UNMET_TEXT}")

    def _refuse_contact(self) -> None:
        """Contact needs impulses within a step, which few integrators have a place for."""
        element = _first_contact(self._present)
        if element is not None and self.integrator_name not in SOLVERS[self.solver].takes_contact:
            able = [f'"{solver}" with "{name}"' for solver, kind in SOLVERS.items() for name in kind.takes_contact]
            raise LinkworkError(f'{checks.label(element)}: the solver "{self.solver}" with the integrator '
                                f'"{self.integrator_name}" takes no contact; use {", ".join(able)}')  # fmt: skip
        if element is not None and self._newton[0] == "exact":
            raise LinkworkError(f'{checks.label(element)}: contact needs a symmetric matrix; use tangent="symmetric", or leave '
                                "tangent out")  # fmt: skip

    def _refuse_velocity_forces(self) -> None:
        for force in self.model.forces:
            if force.kind.law.velocity_dependent:
                raise LinkworkError(f"{checks.label(force.element)}: it depends on velocity, which first-order motion does "
                                    "not have; remove it or use another integrator")  # fmt: skip
        for node in self.model.nodes:
            for part, element in zip(node.kind.parts, node.elements, strict=True):
                if part.relation.nonlinear:
                    raise LinkworkError(f"{checks.label(element)}: it is not linear in velocities, which first-order motion "
                                        "cannot hold; remove it or use another integrator")  # fmt: skip
        if self.model.velocity_forces:
            raise LinkworkError("Simulation: a body with damping cannot move first-order; set its damping to zero")


def _first_contact(world):
    """The first element that acts by contact, if there is any."""
    return next((element for element in world.contacts if element.acts), None)


def _level_outside() -> int:
    """The level of the first line outside of linkwork, for a warning that our caller gives."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "linkwork":
        level, frame = level + 1, frame.f_back
    return level
