"""Simulation: a compiled world in motion. `step` and `run` first, what can be asked of it below."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from linkwork import stops
from linkwork.control import Control
from linkwork.elements import checks
from linkwork.errors import DivergenceError, LinkworkError, ModelError, Note, UnknownNameError, suggestion
from linkwork.integrators import INTEGRATORS
from linkwork.integrators.base import CUT, OK
from linkwork.model.carrying import carried
from linkwork.model.compile import compile, no_collection
from linkwork.model.feeding import Feed
from linkwork.model.trials import trials
from linkwork.model.types import Model, State
from linkwork.ode import OdeView
from linkwork.recorder import Recorder, patient_interrupt
from linkwork.reports import PROXIMAL, Reports
from linkwork.solvers import SOLVERS, TANGENTS
from linkwork.symbolic.bodies import GLOBALS
from linkwork.symbolic.kernels import parameter_record

VIOLATED = 1e-6  # metres or radians by which a constraint may be off as built
INCONSISTENT = 1e-9  # metres or radians a second that are put right at the start
RECORD_EVERY = 0.01  # s between frames where nobody says anything else; the nearest number of steps will do
WHOLE = 1e-6  # relative: a number of steps this near to a whole one is whole
MOST_STEPS = 1e18  # of a run: beyond them they could not be counted
CHUNK = 1000  # steps between looks at the keyboard
REMEMBERED = 2_000_000  # entries of the workspace times steps between two states that are kept ...
SHORTEST, LONGEST = 50, 2000  # ... and the bounds of those steps
LOOKED_AT = 500  # steps of one iteration, after which somebody looks whether constraints hold
TOLD = 1e-6  # and those that are put right with a note
UNSOLVED_TEXT = "are off the law of contact by"
UNSOLVED = 1e-5  # m/s that contact velocities may be off without a word
IMPULSES = 2  # that put them right: the second takes what rounding, and rows not linear in velocities, left of the first


class Simulation(Reports, OdeView):
    """A world in motion.

    `solver`: tree (linear time), fronts (the same without joining bodies and joints), anticipation (a tree, and loops by their
    response, as one dense system), dense (the reference), implicit (stiff forces; its integrator is backward-euler); in joint
    coordinates, with joint-rk4, joint-euler or joint-implicit: aba (linear time), ltdl (by the inertia matrix, with loops) and
    auto (whichever of these two should be faster here).
    `integrator`: rattle (the default), euler, rk4, dopri5, first-order.
    `tolerance`: of rattle's position stage (m), of dopri5, and of Newton's method (m, rad) with implicit.
    `stiffness`, `damping`: Baumgarte feedback k_s (1/s^2) and k_d (1/s) of euler; first-order takes k_s in 1/s.
    `tangent`: of implicit, symmetric (the default) or exact; `iterations`: 1 is one linear solve a step, None goes on until
    the tolerance is met.

    It can be pickled and copied (`copy.deepcopy`): the copy, with a world of its own, goes on with the same bits. It is
    compiled from the world as it is at that moment; impulses of the last step are not kept.

    >>> import linkwork as lw
    >>> sim = lw.Simulation(lw.scenes.get("pendulum"), dt=1e-3)
    >>> rec = sim.run(0.1, record_every=0.05)
    >>> len(rec)
    3
    >>> import copy
    >>> copy.deepcopy(sim).time == sim.time
    True
    """

    def __init__(self, world, dt: float = 1e-3, solver: str = "tree", integrator: str | None = None, *,
                 tolerance: float | None = None, stiffness: float | None = None, damping: float | None = None,
                 tangent: str | None = None, iterations: int | None = None):  # fmt: skip
        self.world = world
        self._dt = checks.positive(self, "dt", dt)
        if not 1e-100 < self._dt < 1e100:
            raise LinkworkError(f"Simulation: dt is {dt:g} s; give a step between 1e-100 s and 1e100 s")
        solver = self.solver = _known("solver", solver, (*SOLVERS, "auto"))
        if solver == "auto":
            from linkwork.reduced.choice import faster  # as all of reduced: imported by those who use it

            solver = self.solver = faster(world)
        integrator = _known("integrator", integrator or SOLVERS[solver].integrators[0], INTEGRATORS)
        if integrator not in SOLVERS[solver].integrators:
            raise LinkworkError(f'Simulation: the solver "{solver}" does not go with the integrator "{integrator}"; '
                                f"with it go {', '.join(SOLVERS[solver].integrators)}")  # fmt: skip
        self.integrator_name = integrator
        make = INTEGRATORS[integrator]
        self._newton = _newton_options(self, tangent, iterations)
        self._refuse_contact()
        if tolerance is not None:
            checks.positive(self, "tolerance", tolerance)
            if tolerance < 1e-15:
                raise LinkworkError(
                    f"Simulation: tolerance is {tolerance:g}, below what double numbers can hold; give 1e-14 or more"
                )
            if not make.takes_tolerance:
                raise LinkworkError(f"Simulation: {integrator} takes no tolerance; use rattle or dopri5, or leave it out")
            if iterations == 1:
                raise LinkworkError("Simulation: one iteration meets no tolerance; leave tolerance out, or iterations")
        for name, value in (("stiffness", stiffness), ("damping", damping)):
            if value is not None and not make.takes_feedback:
                raise LinkworkError(f"Simulation: {integrator} takes no {name}; use euler, or leave it out")
        self._given = (tolerance, stiffness, damping)
        self.steps = 0
        self.age = 0
        self.notes: list[str] = []
        with no_collection():
            self._build()
            if integrator == "first-order":
                self._refuse_velocity_forces()
            self._begin()
        self._initial = self.state.copy()

    def __getstate__(self) -> dict:
        self._follow_world()
        return {
            "world": self.world,
            "options": (self._dt, self.solver, self.integrator_name, self._given, self._newton),
            "values": {name: self.get(name) for name in self.model.parameters},
            "commands": self.control.entries(),
            "state": self.state,
            "initial": self._initial,
            "notes": list(self.notes),
        }

    def __setstate__(self, kept: dict) -> None:
        self.world, self._initial, self.notes = kept["world"], kept["initial"], kept["notes"]
        self._dt, self.solver, self.integrator_name, self._given, self._newton = kept["options"]
        self._build()
        self._put(kept["values"], kept["commands"])
        self.state = kept["state"]

    def _put(self, values: Mapping[str, float], commands: Mapping[str, np.ndarray]) -> None:
        """Values of parameters and commands, where they are still there."""
        for name, value in values.items():
            if name in self.model.parameters:
                self.set(name, value)
        self.control.take(commands)

    def _build(self) -> None:
        """Model, programs, workspace and integrator of the world as it is now."""
        touches = _first_contact(self.world) is not None
        make, (tolerance, stiffness, damping) = INTEGRATORS[self.integrator_name], self._given
        if touches:  # some tenths of a second that others need not wait for
            from linkwork.integrators.in_contact import IN_CONTACT, level

            make, in_contact = IN_CONTACT[self.integrator_name], level(self.solver, self.integrator_name)
        self._world_version = self.world.version
        solver, (tangent, iterations) = SOLVERS[self.solver], self._newton
        self.model: Model = compile(self.world, packed=make.packed, **solver.layout(tangent, iterations))
        self._trials = trials(self.model)
        for trial in self._trials.values():
            trial.check(trial.parameter.value)  # it may have changed since the elements were made
        self.programs = solver(self.model)
        self.work = self.model.workspace()
        self.integrator = make(self.programs, self.dt, tolerance, iterations)
        self._touching = in_contact(self.programs, self.integrator.answers) if touches else None
        self.integrator.contact = self._touching
        self.integrator.watched = not any(text.startswith((stops.NOT_CONVERGED, stops.LOOSE)) for text in self.notes)
        power = 1 if self.integrator_name == "first-order" else 2
        given = [(make.default_stiffness / self.dt**power, stiffness, "stiffness"),
                 (make.default_damping / self.dt, damping, "damping")]  # fmt: skip
        for default, value, name in given:
            self.work[GLOBALS.offset(name)] = default if value is None else checks.non_negative(self, name, value)
        self.work[GLOBALS.offset("step")] = self.dt
        self._stale = self._solved = self._impulses = self._unbooked = False
        self._tells_unsolved = not any(UNSOLVED_TEXT in text for text in self.notes)
        self.__dict__.pop("_rows_of_reports", None)  # of the model before
        self._past: list[State] = []  # the last two that were kept; the next one will be at the step `_remember_at`
        self._remember_at = 0
        self.control, self._feed = Control(self), Feed(self.model)
        if self._feed:
            self._feed.put(self.work, self.time)

    def _follow_world(self) -> None:
        """Take up forces (and gravity) that have changed since the model was compiled; refuse other changes."""
        if self.world.version == self._world_version:
            return
        old, work, state, initial = self.model, self.work, self.state, self._initial
        kept = [e for node in old.nodes for e in node.elements]
        if list(old.bodies.elements) != list(self.world.bodies) or set(map(id, kept)) != set(map(id, self.world.constraints)):
            raise ModelError("World: bodies or constraints were changed after this Simulation was made; make a new one")
        values, commands = {name: work[entries[0]] for name, (_, entries) in old.parameters.items()}, self.control.entries()
        before = dict(vars(self))
        try:
            self._refuse_contact()
            self._build()
            if self.integrator_name == "first-order":
                self._refuse_velocity_forces()
            self._put(values, commands)
        except BaseException:  # as it was, until the world is one that can be followed
            vars(self).update(before)
            raise
        self.work[self.model.state_index] = carried(old, self.model, state.values)
        self.work[0] = state.time
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_counters(of_forces=True)
        now, start = self.work[self.model.state_index], carried(old, self.model, initial.values)
        self._keep_turns(now, _turns_of_forces(old, state.values), of_joints=True)
        self._keep_turns(start, _turns_of_forces(old, initial.values))
        self.work[self.model.state_index] = now
        self._initial = State(start, initial.time, initial.steps, initial.age, self.model.signature)
        if self._touching is not None and state.contact is not None and self._touching.same_colliders(before["_touching"]):
            self._touching.memory = state.contact
        self._touched()

    def _keep_turns(self, values: np.ndarray, known: dict[int, np.ndarray], of_joints: bool = False) -> None:
        """Put the counters that forces had into a state's values; new ones may have those of their joints."""
        elements = {id(force.element): force for force in self.model.forces}
        for key, turns in _turns_of_forces(self.model, values).items():
            if len(known.get(key, ())) == len(turns):
                turns[:] = known[key]
            elif of_joints and (joint := getattr(elements[key].element, "joint", None)) is not None:
                counted = self._numbers(*self._constraint(joint))["turns"]
                if len(counted) == len(turns):
                    turns[:] = counted

    # -- motion ------------------------------------------------------------------------------------------------
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

    def step(self, n: int = 1) -> None:
        """Make n steps of dt."""
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise LinkworkError(f"Simulation: n is {checks.show(n)}; give a whole number of steps, at least 0")
        self._follow_world()
        self._solved = False
        if n:
            self._impulses = self._unbooked = self.integrator.keeps_impulses
        while n > 0:
            if self._stale or self.steps >= self._remember_at:
                self._remember()
            if self._stale:
                self._prepare()
            made, status = self._advance(min(n, self._remember_at - self.steps))
            n -= made
            if status == CUT:
                status = self._make_in_parts()
                n -= 1
            if self._touching is not None and self._touching.unsolved > UNSOLVED and self._tells_unsolved:
                self._tells_unsolved = False
                off = f"some contact impulses until {self.time:.6g} s {UNSOLVED_TEXT} {self._touching.unsolved:.3g} m/s"
                self.note(f"Simulation: {off}, which was the best of many iterations; the run goes on, a smaller dt may help")
            if status != OK:
                self._stale, self._impulses, self._unbooked = True, False, False
                raise stops.reason(self, status)

    def _advance(self, n: int) -> tuple[int, int]:
        """n steps, each with the targets of its motions, if any: (how many were made, status of the last)."""
        made = 0
        for row in self._feed.rows(self.time, self.dt, n) if self._feed else (None,):
            if row is not None:
                self.work[self._feed.where] = row
            more, status, self.age = self.integrator.advance(self.work, n if row is None else 1, self.age)
            self.steps += more
            made += more
            if status != OK:
                break
        return made, status

    def _make_in_parts(self) -> int:
        """The first step that must be cut, with a note; from here on they are made without a word."""
        text = stops.not_converged(self)
        self.integrator.watched = False
        _, status = self._advance(1)
        if status == OK:
            self.note(f"{text}; this step was made in {self.work[GLOBALS.offset('parts')]:.0f} parts")
        return status

    def _remember(self) -> None:
        """Keep a state every so many steps and after each change from outside: from there a run that stops is looked into."""
        self._past = [*self._past[-1:], self.state]
        longest = LOOKED_AT if self.integrator.iterations == 1 else LONGEST
        self._remember_at = self.steps + max(SHORTEST, min(longest, REMEMBERED // self.model.size))
        self._tell_if_loose()

    def _tell_if_loose(self) -> None:
        """A note, once, where single iterations do not keep a constraint: no tolerance would tell."""
        if self.integrator.iterations == 1 and self.integrator.watched and (text := stops.loose(self)) is not None:
            self.integrator.watched = False
            self.note(text)

    def run(self, seconds: float, record_every: float | None = RECORD_EVERY, *, control: Callable | None = None,
            until: Callable | None = None, record: Iterable[str] = (), progress: bool | None = None):  # fmt: skip
        """Simulate for some seconds and return a Recording.

        `record_every`: seconds between frames, a whole number of steps or the nearest one; None: the two ends alone.
        `control(sim)` is called before each step, `until(sim)` after each step and ends the run when it is true.
        `record` names constraints whose reactions are recorded too. `progress`: a bar on stderr (None: when it takes
        longer than two seconds and stderr is a terminal).

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("pendulum"))
        >>> rec = sim.run(1.0, until=lambda sim: sim.time >= 0.2)
        >>> round(sim.time, 3)
        0.2
        """
        seconds = checks.non_negative(self, "seconds", seconds)
        for name, function in (("control", control), ("until", until)):
            if function is not None and not callable(function):
                raise LinkworkError(f"Simulation: {name} is {checks.show(function)}; give a function of the simulation")
        total = self._whole_run(seconds)
        every = self._steps_in(record_every) if record_every is not None else max(1, total)
        recorder = Recorder(self, [self._name(name) for name in record])
        if until is None:  # which may well end the run before memory does
            recorder.refuse_too_many(total // every, seconds)
        recorder.take()
        done = 0
        with recorder.watch(total, progress) as watched, patient_interrupt() as interrupted:
            try:
                while done < total and not interrupted():
                    chunk = min(every - done % every, total - done, CHUNK)
                    ended = self._chunk(chunk, control, until)
                    done += chunk if ended is None else ended
                    if done % every == 0 or done == total or ended is not None:
                        recorder.take()
                    watched(done)
                    if ended is not None:
                        recorder.note = f"stopped by until at {self.time:.6g} s"
                        break
                if done < total and interrupted():
                    recorder.take()
                    recorder.note = f"interrupted at {self.time:.6g} s"
            except DivergenceError as error:
                recorder.note = str(error)
                error.recording = recorder.recording()
                raise
        self._tell_if_loose()
        return recorder.recording()

    def _chunk(self, steps: int, control, until) -> int | None:
        """Steps without Python in between where nobody looks; returns the number made where `until` ended it."""
        if control is None and until is None:
            self.step(steps)
            return None
        for k in range(steps):
            if control is not None:
                control(self)
            self.step()
            if until is not None and until(self):
                return k + 1
        return None

    def reset(self) -> None:
        """Back to the start."""
        self.state = self._initial

    @property
    def state(self) -> State:
        """Everything that a run changes. Assigning a copy brings the same bits again."""
        contact = None if self._touching is None else self._touching.memory
        return State(self.work[self.model.state_index], self.time, self.steps, self.age, self.model.signature, contact)

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise LinkworkError(f"Simulation: state is {checks.show(state)}; give a copy of a state of this simulation")
        if len(state.values) != len(self.model.state_index):
            raise ModelError(f"Simulation: a state of {len(state.values)} numbers does not fit this model of "
                             f"{len(self.model.state_index)}; take one from the same model")  # fmt: skip
        if state.signature not in ("", self.model.signature):
            raise ModelError("Simulation: the state is one of another model, or from before a force that counts turns was "
                             "added or removed; take one from this model")  # fmt: skip
        self.work[self.model.state_index] = state.values
        self.work[0] = state.time
        self.steps, self.age = state.steps, state.age
        if self._touching is not None:
            self._touching.forget()
            self._touching.memory = state.contact
        self._impulses = self._unbooked = False
        self._past = []
        self._touched()

    def strike(self, body, impulse, at=None) -> None:
        """An impulse (N s, world) on a body at a local point (default: its position), felt through all joints at once.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("pendulum"))
        >>> sim.strike(sim.model.bodies.elements[0], (0, 0, 1.0))
        """
        number = self._body(body)
        impulse = checks.vector(self, "impulse", impulse)
        local = np.zeros(3) if at is None else checks.vector(self, "at", at)
        kind = self.model.bodies.kinds[number]
        if not kind.directions and np.any(local):
            raise LinkworkError(f'Simulation: "{self._name(body)}" is a point; leave `at` out')
        self._factor()
        self.work[GLOBALS.offset("kick")] = 0.0
        p = self.programs
        self.integrator.run(self.work, p.body("clear"))
        self.work[self.model.field_of_body(number, "b")] += self._point_jacobian(number, local).T @ impulse
        self._clear_rows()
        self.integrator.run(self.work, p.forward(), p.backward("strike"))
        self.integrator.book(self.work, impact=True)
        self._touched()
        self._impulses, self._unbooked = True, False

    @property
    def nbytes(self) -> int:
        """Bytes of model, state and workspace, the operation tables included."""
        return self.model.nbytes + self.programs.nbytes + self.work.nbytes + self._initial.values.nbytes

    # -- parameters --------------------------------------------------------------------------------------------------
    def set(self, parameter, value) -> None:
        """Change a Parameter, to a value that its elements take; nothing is compiled."""
        name = self._parameter(parameter)
        self.work[self.model.parameters[name][1]] = self._trials[name].check(value)
        self._touched()

    def get(self, parameter) -> float:
        """The value of a Parameter now."""
        return float(self.work[self.model.parameters[self._parameter(parameter)][1][0]])

    def _parameter(self, parameter) -> str:
        self._follow_world()
        name = getattr(parameter, "name", parameter)
        if name not in self.model.parameters:
            raise UnknownNameError(f'Simulation: no parameter is called "{name}"{suggestion(name, self.model.parameters)}')
        return name

    # -- inside ------------------------------------------------------------------------------------------------------
    def _begin(self) -> None:
        """Check the constraints as built; make velocities consistent; start the turn counters."""
        self._stale = self._solved = False
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_counters()
        if not np.isfinite(self.work[self.model.state_index]).all():
            raise ModelError("World: some body starts at a place or speed that is not finite")
        worst, element = self._worst(velocity=False)
        if not worst <= VIOLATED:
            raise ModelError(f"{checks.label(element)}: it is off by {worst:.3g} as built; place its bodies so that it holds")
        if self.integrator_name != "first-order":
            self._make_velocities_consistent()
        self._check_factors()
        self._tell_redundant()
        for text in self.integrator.remarks:
            self.note(text)
        if self._touching is not None:
            from linkwork import contact_reports

            self._touching.look(self.work, self.dt)
            if (deep := contact_reports.deepest_as_built(self._touching)) is not None:
                self.note(deep)
            self._touching.forget()
        self._stale = True

    def _make_velocities_consistent(self) -> None:
        off, element = self._worst(velocity=True)
        if not off > INCONSISTENT:
            return
        for _ in range(IMPULSES + PROXIMAL if self.model.soft else IMPULSES):
            self._factor()
            if not self._multipliers_finite():
                self._refuse_start()
            self.integrator.run(self.work, self.programs.body("strike"))
        if off > TOLD:
            self.note(f"{checks.label(element)}: velocities as built were off by {off:.3g}; an impulse made them consistent")

    def _tell_redundant(self) -> None:
        for k, rows in self.model.redundant.items():
            node = self.model.nodes[k]
            self.note(f"{checks.label(node.elements[-1])}: {rows} of the {node.kind.size} rows between its bodies are "
                      "redundant as built, other constraints hold them already; all share the load with least norm, for "
                      "other reactions take a constraint with fewer rows, such as a Ball for a Hinge")  # fmt: skip

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
        """Factors and a velocity-level solve at the current configuration."""
        self.work[GLOBALS.offset("kick")] = 0.0
        p = self.programs
        self.integrator.run(self.work, p.body("place", "kick"), p.up("velocity"), p.backward())

    def _clear_rows(self) -> None:
        for k in range(len(self.model.nodes)):
            self.work[self.model.field_of_node(k, "b")] = 0.0

    def _start_counters(self, of_forces: bool = False) -> None:
        """The first count sets the sine; whatever it counted as a crossing is none. `of_forces`: theirs alone."""
        kept = self.work.copy()
        self.integrator.run(self.work, self.programs.count())
        if of_forces:
            first = int(self.model.force_at[0]) if len(self.model.forces) else self.model.size
            self.work[:first] = kept[:first]
        for start, relation in self._counters(of_forces):
            where = parameter_record(relation).slice("turns")
            self.work[start + where.start : start + where.stop : 2] = 0.0

    def _counters(self, of_forces: bool = False):
        m = self.model
        for k, node in enumerate(() if of_forces else m.nodes):
            if node.kind.counters:
                start = m.parameters_at(k)
                for part in node.kind.parts:
                    if part.relation.counters:
                        yield start, part.relation
                    start += parameter_record(part.relation).size
        for k, force in enumerate(m.forces):
            if force.kind.law.counters:
                yield int(m.force_at[k]), force.kind.law

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

    def _refuse_contact(self) -> None:
        """Contact needs impulses within a step, which few integrators have a place for."""
        element = _first_contact(self.world)
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

    def _whole_run(self, seconds: float) -> int:
        if not seconds / self.dt < MOST_STEPS:
            raise LinkworkError(
                f"Simulation: seconds is {seconds:g}, {seconds / self.dt:.3g} steps of {self.dt:g} s; give less"
            )
        return round(seconds / self.dt)

    def _steps_in(self, record_every: float) -> int:
        """The steps from one frame to the next: at least one, and a note where that is not what was asked for."""
        asked = checks.positive(self, "record_every", record_every) / self.dt
        steps = max(1, round(asked))
        if abs(asked - steps) > WHOLE * steps and record_every != RECORD_EVERY:
            what = "less than dt" if asked < 1 else "no whole number of steps"
            kept = f"{'each step' if steps == 1 else f'one step in {steps}'} is recorded, {steps * self.dt:g} s apart"
            self.note(f"Simulation: record_every is {record_every:g} s, {what}; {kept}")
        return steps

    def __repr__(self) -> str:
        bodies = len(self.model.bodies.elements)
        return f"<Simulation at {self.time:.6g} s: {bodies} bodies, {self.solver}, {self.integrator_name}>"


def _first_contact(world):
    """The first element that acts by contact, if there is any."""
    return next((element for element in world.contacts if element.acts), None)


def _level_outside() -> int:
    """The level of the first line outside of linkwork, for a warning that our caller gives."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "linkwork":
        level, frame = level + 1, frame.f_back
    return level


def _turns_of_forces(model: Model, values: np.ndarray) -> dict[int, np.ndarray]:
    """Views of the counters of forces, which end a state's values, by the id of their elements."""
    sizes = [2 * force.kind.law.counters for force in model.forces]
    ends = len(values) - sum(sizes) + np.cumsum(sizes, dtype=int)
    return {id(force.element): values[end - size : end]
            for force, size, end in zip(model.forces, sizes, ends, strict=True) if size}  # fmt: skip


def _known(what: str, name, table) -> str:
    if name not in table:
        raise LinkworkError(f'Simulation: no {what} is called "{name}"{suggestion(name, table)}; '
                            f"there are {', '.join(table)}")  # fmt: skip
    return name


def _newton_options(sim: Simulation, tangent: str | None, iterations: int | None) -> tuple[str, int]:
    """(tangent, iterations; 0: until the tolerance is met), refused where the solver has none."""
    if sim.solver != "implicit":
        for name, value in (("tangent", tangent), ("iterations", iterations)):
            if value is not None:
                raise LinkworkError(
                    f'Simulation: the solver "{sim.solver}" takes no {name}; use solver="implicit", or leave it out'
                )
        return "symmetric", 0
    whole = isinstance(iterations, (int, np.integer)) and not isinstance(iterations, bool)
    if iterations is not None and not (whole and iterations >= 1):
        raise LinkworkError(f"Simulation: iterations is {checks.show(iterations)}; give a whole number, at least 1, or None")
    return _known("tangent", "symmetric" if tangent is None else tangent, TANGENTS), int(iterations or 0)
