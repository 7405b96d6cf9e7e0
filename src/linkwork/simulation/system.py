"""Building: from a world to a model in a workspace that can be stepped, and the checks of the start."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.elements import Armature, Joint
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element, Pose
from linkwork.elements.core.joint import kind_of_joint
from linkwork.engines.integrators import INTEGRATORS, Integrator
from linkwork.engines.solvers import SOLVERS
from linkwork.errors import LinkworkError, ModelError, Note, printable
from linkwork.model.active_world import Present
from linkwork.model.compile_model import compile
from linkwork.model.graph import Order
from linkwork.model.model import Arrangement, Model, State
from linkwork.model.parameter_check import Trial, trials
from linkwork.model.state_transfer import counters, named_number
from linkwork.model.states import Layout
from linkwork.model.trajectory_input import Feed
from linkwork.schedules.schedules import Programs
from linkwork.simulation import contradictions, diagnose
from linkwork.simulation.contradictions import Contradiction
from linkwork.simulation.control import Control
from linkwork.simulation.query import PROXIMAL, Reports
from linkwork.symbolic.views import GLOBALS
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.contact.contact_system import Touching

VIOLATED = 1e-6  # metres or radians by which a constraint may be off as built
INCONSISTENT = 1e-9  # metres or radians a second that are put right at the start ...
TOLD = 1e-6  # ... and those that are put right with a note
IMPULSES = 2  # that put them right: the second takes what rounding, and rows not linear in velocities, left of the first
MOST_BUILDS = 8  # of one world that are kept
UNSOLVED_TEXT = "are off the law of contact by"
STRETCHED_TEXT = "it was beyond its bound by"
HELD_TEXT = "no push moves them apart: such contacts are left out"
UNMET_TEXT = "the run goes on, sim.solver_report() tells more"
TURNING_TEXT = "it tumbles by"
CONTRADICTING_TEXT = "not all of them can hold"
MOST_CONTRADICTIONS = 3  # that are told
RARELY = 256  # steps between looks for them


class Build(NamedTuple):
    """A world as it is at some time, compiled."""

    model: Model
    trials: dict[str, Trial]
    programs: Programs
    integrator: Integrator
    touching: Touching | None
    layout: Layout  # of states


class Building(Reports):
    """What a Simulation is made of, and how it starts."""

    solver: str
    integrator_name: str
    steps: int
    age: int
    notes: list[str]
    control: Control
    _dt: float
    _given: tuple[float | None, float | None, float | None]  # tolerance, stiffness, damping
    _newton: tuple[str, int]  # tangent (of cg: its method), iterations
    _arrangement: Arrangement
    _compiled_at: Mapping[str, Pose]  # where bodies were then, by name; none: as built
    _parted: set | None = None  # pairs of bodies that a joint kept from touching, until their overlaps have been looked at
    _starting = False  # from the world as built or from a keyframe: overlaps have not been looked at
    _pause: int
    _compare_at: int
    _turn_at: int
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
        self.world._use()
        if self.world.version != self._world_version:
            self._world_version, self._known_builds = self.world.version, {}
        if self._arrangement not in self._known_builds:
            self._known_builds[self._arrangement] = self._made()
            if len(self._known_builds) > MOST_BUILDS:
                del self._known_builds[next(iter(self._known_builds))]
        build = self._known_builds[self._arrangement]
        vars(self).update(model=build.model, programs=build.programs, integrator=build.integrator)
        self._trials, self._touching, self._layout = build.trials, build.touching, build.layout
        for trial in self._trials.values():
            trial.check(trial.parameter.value)  # it may have changed since the elements were made
        vars(self)["work"] = self.programs.workspace()
        if self._touching is not None:
            self._touching.forget()
            self._touching.memory = None
        self.integrator.watched = not any(
            text.startswith((diagnose.NOT_CONVERGED, diagnose.LOOSE, diagnose.SLACK)) for text in self.notes
        )
        power, (_, stiffness, damping) = 1 if self.integrator_name == "first-order" else 2, self._given
        given = [(self.integrator.default_stiffness / self.dt**power, stiffness, "stiffness"),
                 (self.integrator.default_damping / self.dt, damping, "damping")]  # fmt: skip
        for default, value, name in given:
            self.work[GLOBALS.offset(name)] = default if value is None else checks.non_negative(self, name, value)
        if self.integrator_name == "first-order" and stiffness is not None and stiffness * self.dt > 1.0:
            self.work[GLOBALS.offset("stiffness")] = 1.0 / self.dt
        if not self.integrator.takes_feedback and (stiffness, damping) != (None, None):
            self.integrator.remarks = [f"Simulation: stiffness and damping do nothing where rows are redundant, since "
                                       f"{self.integrator_name} projects positions there; leave them out"]  # fmt: skip
        self.work[GLOBALS.offset("step")] = self.dt
        self._stale = self._solved = self._impulses = self._unbooked = False
        self._tells_unsolved = not any(UNSOLVED_TEXT in text for text in self.notes)
        self._tells_unmet = not any(UNMET_TEXT in text for text in self.notes)
        self._tells_stretched = not any(STRETCHED_TEXT in text for text in self.notes)
        self._tells_held = not any(HELD_TEXT in text for text in self.notes)
        self._tells_turning = not any(TURNING_TEXT in text for text in self.notes)
        told = sum(CONTRADICTING_TEXT in text for text in self.notes)
        at_risk = told < MOST_CONTRADICTIONS and contradictions.trees_at_risk(self.model, self._touching is not None)
        self._compares = bool(at_risk)  # whether prescribed motion may contradict something
        self._pause, self._compare_at = 1, 0  # steps between looks, and the next one
        self._turn_at = 0  # the next look at bodies that turn fast
        self.__dict__.pop("_rows_of_reports", None)  # of the model before
        self._past: list[State] = []  # the last two that were kept; the next one will be at the step `_remember_at`
        self._remember_at = 0
        vars(self)["control"], self._feed = Control(self), Feed(self.model)
        if self._feed:
            self._feed.put(self.work, self.time)

    def _made(self) -> Build:
        """What does not change while a simulation runs in a world as it is."""
        present = self._present
        touches = _first_contact(present) is not None
        make, solver, (tangent, iterations) = INTEGRATORS[self.integrator_name], SOLVERS[self.solver], self._newton
        if touches:  # some tenths of a second that others need not wait for
            from linkwork.engines.in_contact import IN_CONTACT, level

            make, in_contact = IN_CONTACT[self.integrator_name], level(self.solver, self.integrator_name)
        model = compile(present, packed=make.packed, poses=self._compiled_at, drawn=dict(self._arrangement.drawn),
                        order=self._known_order, **solver.layout(tangent, iterations))  # fmt: skip
        programs = solver(model)
        programs.variant = tangent
        programs.patient = not hasattr(self, "programs")  # else it is running, and somebody waits
        integrator = make.for_model(programs)(programs, self.dt, self._given[0], iterations)
        model = programs.model  # with what the integrator keeps
        integrator.contact = in_contact(programs, integrator.answers, integrator.kicks) if touches else None
        layout = Layout.of(model, (self.solver, self.integrator_name, self.dt))
        return Build(model, trials(model), programs, integrator, integrator.contact, layout)

    def _begin(self) -> None:
        """Check the constraints as built; make velocities consistent; start the turn counters."""
        self._stale = self._solved = False
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_counters()
        start = self.work[self.model.state_index]
        if len(wrong := np.flatnonzero(~np.isfinite(start))):
            whose = named_number(self.model, self._layout, self._layout, int(wrong[0]))
            raise ModelError(f"World: {whose} is {start[wrong[0]]:g} as built; give finite numbers")
        worst, element = self._worst(velocity=False)
        if not worst <= VIOLATED:
            off = f"{checks.label(element)}: it is off by {worst:.3g} as built"
            if not self._fed_back or not np.isfinite(worst):
                raise ModelError(f"{off}; place its bodies so that it holds, or let world.assemble() do it")
            how = "first-order motion" if self.integrator_name == "first-order" else self._feedback_in_words()
            self.note(f"{off}; {how} draws it in")
        if self.integrator_name != "first-order":
            self._make_velocities_consistent(*self._worst(velocity=True))
        self._check_factors()
        self._tell_redundant(found=self._tell_contradictions("as built"))
        self._tell_unmet()
        for text in self.integrator.remarks:
            self.note(text)
        stiffness = self._given[1]
        if self.integrator_name == "first-order" and stiffness is not None and stiffness * self.dt > 1.0:
            most = 1.0 / self.dt
            self.note(f"Simulation: stiffness is {stiffness:g} 1/s, of which {most:g} 1/s are taken: all that is off goes "
                      f"away in a step of {self.dt:g} s with these, and more would bring it back")  # fmt: skip
        self._stale = self._starting = True

    @property
    def _fed_back(self) -> bool:
        """Whether steps draw violated constraints in, so that a start may violate them."""
        feeds = self.integrator_name == "euler" and self.integrator.takes_feedback
        fed = feeds and self.work[GLOBALS.offset("stiffness")] > 0.0
        return fed or self.integrator_name == "first-order"

    def _feedback_in_words(self) -> str:
        stiffness, damping = (self.work[GLOBALS.offset(name)] for name in ("stiffness", "damping"))
        return f"the feedback of euler (k_s = {stiffness:.3g} 1/s^2, k_d = {damping:.3g} 1/s)"

    def _make_velocities_consistent(self, off: float, element: Element | None, when: str = "as built") -> None:
        """By impulses, where the rates of `element` are the farthest off."""
        if not off > INCONSISTENT:
            return
        for _ in range(IMPULSES + PROXIMAL if self.model.soft else IMPULSES):
            self._factor()
            if not self._multipliers_finite():
                self._refuse_start()
            self.integrator.run(self.work, self.programs.body("strike"))
        if off > TOLD and self._worst(velocity=True)[0] <= TOLD:  # else something contradicts, which is told
            self.note(f"{checks.label(element)}: velocities {when} were off by {off:.3g}; an impulse made them consistent")

    def _tell_contradictions(self, when: str) -> list[Contradiction]:
        """A note on each set of constraints that contradict each other, once; returns those that do."""
        if not self._compares or not self._looks_off():
            return []
        found = contradictions.found(self)
        for one in found[:MOST_CONTRADICTIONS]:
            text = f"Simulation: {one}"
            if not any(known.startswith(text.rsplit(" by ", 1)[0]) for known in self.notes):
                self.note(f"{text} {when}; {CONTRADICTING_TEXT}: remove one of them, or ask for what can be met")
        return found

    def _looks_off(self) -> bool:
        """Whether something may contradict: rates or places are off, or what touches overlaps."""
        deep = self._touching is not None and contradictions.overlaps(self)
        return deep or self._worst(velocity=True)[0] > INCONSISTENT or self._worst(velocity=False)[0] > VIOLATED

    def _compare(self) -> None:
        """Look for constraints that have come to contradict each other. Where rates are off and nothing contradicts, as with
        feedback, the next look is as far off again."""
        self._tell_contradictions(f"at {self.time:.6g} s")
        self._compares = sum(CONTRADICTING_TEXT in text for text in self.notes) < MOST_CONTRADICTIONS
        self._pause = 2 * self._pause if self._looks_off() else min(RARELY, 2 * self._pause)
        self._compare_at = self.steps + self._pause

    def _tell_redundant(self, when: str = "as built", found: Iterable[Contradiction] = ()) -> None:
        """One note on all rows that depend on others, counted, but for those that contradict others."""
        redundant = dict(self.model.redundant)
        for one in found:
            numbers = [self.model.names[str(element.name)][1] for element in one.elements if isinstance(element, Element)]
            number = next((k for k in sorted(numbers, reverse=True) if redundant.get(k)), None)
            if number is not None:
                redundant[number] -= 1
        nodes = [self.model.nodes[k] for k, rows in redundant.items() if rows]
        if not nodes:
            return
        whose = "its" if len(nodes) == 1 else "their"
        rows, size = sum(redundant.values()), sum(node.kind.size - len(node.kind.rotors) for node in nodes)
        named = [next(e for e in reversed(node.elements) if not isinstance(e, Armature)) for node in nodes]
        known = f"{checks.labels(named)}: {rows} of the {size} rows between {whose} bodies are redundant "
        if not any(text.startswith(printable(known)) for text in self.notes):
            self.note(f"{known}{when}, other constraints hold them already; all share the load with least norm, for "
                      "other reactions take a constraint with fewer rows, such as a Ball for a Hinge")  # fmt: skip

    def _check_factors(self) -> None:
        """Rows that depend on each other show as a solution that is not finite, or as huge multipliers."""
        self._factor()
        if not (np.isfinite(self.work[self.integrator.sentinels]).all() and self._multipliers_finite()):
            self._refuse_start()

    def _refuse_start(self) -> None:
        """Name what is not finite as built, or a constraint that cannot be held."""
        diagnose.refuse_start(self)
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
        of the elements with the ids `known` go on, and a force that counts the turns of a joint begins with the joint's. Joints
        that are as built have not turned, and those of limbs need no count then: they are counted on their way up."""
        fresh = [(element, entries) for element, entries in counters(self.model) if id(element) not in (known or ())]
        if not fresh:
            return
        counted = self.work.copy()
        as_built = known is None and not any(element.poses() for element, _ in fresh)
        self.integrator.run(counted, self.programs.count() if as_built else self.programs.count_all())
        for _, entries in fresh:
            self.work[entries] = counted[entries]
            self.work[entries[::2]] = 0.0
        if known is not None:
            of_joints = {id(element): entries for element, entries in counters(self.model)}
            for element, entries in fresh:
                joint = of_joints.get(id(getattr(element, "joint", None)), entries[:0])
                if len(joint) == len(entries):
                    self.work[entries] = self.work[joint]

    def _start_turns(self, angles: Mapping[int, np.ndarray]) -> None:
        """Counters where the bodies are now, with the turns that make up the angles (rad) of joints, by id. Joints without one
        have turned by less than half a turn."""
        counting = list(counters(self.model))
        if not counting:
            return
        entries = np.concatenate([entries for _, entries in counting])
        found = []
        for side in (1.0, -1.0):  # from where an angle beyond a quarter turn counts a crossing, from one side or the other
            work = self.work.copy()
            work[entries[::2]], work[entries[1::2]] = 0.0, side
            self.integrator.run(work, self.programs.count_all())
            found.append(work[entries])
        sine = found[0][1::2]
        angle = np.arcsin(np.clip(sine, -1.0, 1.0))
        angle = np.where(found[0][::2] != found[1][::2], np.copysign(np.pi, sine) - angle, angle)
        joints = [pair for element, own in counting for pair in _counted(element, len(own) // 2)]
        wanted = [angles[id(joint)][k] if id(joint) in angles else now for (joint, k), now in zip(joints, angle, strict=True)]
        self.work[entries[::2]], self.work[entries[1::2]] = np.round((wanted - angle) / (2 * np.pi)), sine

    def note(self, text: str) -> None:
        """Keep and show a note."""
        text = printable(text)
        self.notes.append(text)
        warnings.warn(text, Note, stacklevel=_level_outside())

    def _touched(self) -> None:
        """Something changed from outside: derived values are computed anew before the next step."""
        own = self.__dict__
        own["_stale"], own["_solved"] = True, False
        if self._feed:
            self._feed.put(self.work, self.time)

    def _prepare(self) -> None:
        if self._starting:
            self._look_at_overlaps()
        elif self._parted:
            self._look_at_overlaps(f"at {self.time:.6g} s, where no joint keeps them apart any more", self._parted)
        self.integrator.prepare(self.work)
        self._stale = False

    def _look_at_overlaps(self, when: str = "as built", among=None) -> None:
        """A note on the deepest overlap when stepping starts, wherever a keyframe or state has put the bodies by then, or among
        bodies that a joint has kept from touching."""
        if self._touching is not None:
            from linkwork.simulation import contact_query

            self.integrator.run(self.work, self.programs.body("place"))
            self._touching.look(self.work, self.dt)
            if (deep := contact_query.deepest(self._touching, when, among)) is not None and deep not in self.notes:
                self.note(deep)
            self._touching.forget()
        self._starting, self._parted = False, None

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


def _counted(element: Element, count: int) -> list[tuple[Element, int]]:
    """Whose angles an element counts: joints, and which of their angles."""
    named = [element] if isinstance(element, Joint) else [other for _, _, other in element.references()]
    turning = [joint for joint in named if isinstance(joint, Joint) and not kind_of_joint(joint).slides]
    return [(turning[0], k) for k in range(count)] if len(turning) == 1 else [(joint, 0) for joint in turning]


def _first_contact(world):
    """The first element that acts by contact, if there is any."""
    return next((element for element in world.contacts if element.acts), None)


def _level_outside() -> int:
    """The level of the first line outside of linkwork, for a warning that our caller gives."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "linkwork":
        level, frame = level + 1, frame.f_back
    return level
