"""Simulation: a compiled world in motion. `step` and `run` first, what can be asked of it below."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from linkwork.elements import checks
from linkwork.elements.base import Element
from linkwork.errors import DivergenceError, LinkworkError, ModelError, Note, UnknownNameError, suggestion
from linkwork.integrators import INTEGRATORS
from linkwork.integrators.base import DIVERGED, OK, STUCK
from linkwork.model.compile import compile
from linkwork.model.types import Model, State
from linkwork.recorder import Recorder, patient_interrupt
from linkwork.reports import Reports
from linkwork.solvers import SOLVERS
from linkwork.symbolic.bodies import GLOBALS
from linkwork.symbolic.kernels import parameter_record

VIOLATED = 1e-6  # metres or radians by which a constraint may be off as built
INCONSISTENT = 1e-9  # metres or radians a second that are put right at the start
CHUNK = 1000  # steps between looks at the keyboard
TOLD = 1e-6  # and those that are put right with a note
IMPULSES = 2  # that put them right: the second takes what rounding, and rows not linear in velocities, left of the first


class Control(Mapping):
    """Commands of motors by name: `sim.control["drive"] = 2.0`."""

    def __init__(self, sim: Simulation):
        self._sim = sim
        self._entry: dict[str, int] = {}
        for k, force in enumerate(sim.model.forces):
            layout = parameter_record(force.kind.law)
            if "command" in layout:
                self._entry[force.element.name] = int(sim.model.force_at[k]) + layout.offset("command")

    def _where(self, name) -> int:
        self._sim._follow_world()
        if self._sim.control is not self:
            return self._sim.control._where(name)
        key = name.name if isinstance(name, Element) else name
        if key not in self._entry:
            raise UnknownNameError(f'Simulation: no motor is called "{key}"{suggestion(key, self._entry)}')
        return self._entry[key]

    def __getitem__(self, name) -> float:
        return float(self._sim.work[self._where(name)])

    def __setitem__(self, name, value) -> None:
        self._sim.work[self._where(name)] = checks.number(self._sim, f'control["{name}"]', value)
        self._sim._touched()

    def __iter__(self):
        return iter(self._entry)

    def __len__(self) -> int:
        return len(self._entry)


class Simulation(Reports):
    """A world in motion.

    `solver`: tree (linear time), fronts (the same without joining bodies and joints), dense (the reference).
    `integrator`: rattle, euler, rk4, dopri5, first-order. `tolerance`: of rattle's position stage (m) and of dopri5.
    `stiffness`, `damping`: Baumgarte feedback k_s (1/s^2) and k_d (1/s) of euler; first-order takes k_s in 1/s.

    >>> import linkwork as lw
    >>> sim = lw.Simulation(lw.scenes.get("pendulum"), dt=1e-3)
    >>> rec = sim.run(0.1, record_every=0.05)
    >>> len(rec)
    3
    """

    def __init__(self, world, dt: float = 1e-3, solver: str = "tree", integrator: str = "rattle", *,
                 tolerance: float | None = None, stiffness: float | None = None, damping: float | None = None):  # fmt: skip
        self.world = world
        self._dt = checks.positive(self, "dt", dt)
        if not 1e-100 < self._dt < 1e100:
            raise LinkworkError(f"Simulation: dt is {dt:g} s; give a step between 1e-100 s and 1e100 s")
        self.solver, self.integrator_name = _known("solver", solver, SOLVERS), _known("integrator", integrator, INTEGRATORS)
        make = INTEGRATORS[integrator]
        if tolerance is not None:
            checks.positive(self, "tolerance", tolerance)
            if tolerance < 1e-15:
                raise LinkworkError(
                    f"Simulation: tolerance is {tolerance:g}, below what double numbers can hold; give 1e-14 or more"
                )
            if not make.takes_tolerance:
                raise LinkworkError(f"Simulation: {integrator} takes no tolerance; use rattle or dopri5, or leave it out")
        self._given = (tolerance, stiffness, damping)
        self.steps = 0
        self.age = 0
        self.notes: list[str] = []
        self._build()
        if integrator == "first-order":
            self._refuse_velocity_forces()
        self._begin()
        self._initial = self.state.copy()

    def _build(self) -> None:
        """Model, programs, workspace and integrator of the world as it is now."""
        make, (tolerance, stiffness, damping) = INTEGRATORS[self.integrator_name], self._given
        self._world_version = self.world.version
        self.model: Model = compile(self.world, limbs=SOLVERS[self.solver].limbs, packed=make.packed)
        self.programs = SOLVERS[self.solver](self.model)
        self.work = self.model.workspace()
        self.integrator = make(self.programs, self.dt, tolerance)
        power = 1 if self.integrator_name == "first-order" else 2
        given = [(make.default_stiffness / self.dt**power, stiffness, "stiffness"),
                 (make.default_damping / self.dt, damping, "damping")]  # fmt: skip
        for default, value, name in given:
            self.work[GLOBALS.offset(name)] = default if value is None else checks.non_negative(self, name, value)
        self.work[GLOBALS.offset("step")] = self.dt
        self._stale = self._solved = self._impulses = False
        self.control = Control(self)

    def _follow_world(self) -> None:
        """Take up forces (and gravity) that have changed since the model was compiled; refuse other changes."""
        if self.world.version == self._world_version:
            return
        old, work, state, initial = self.model, self.work, self.state, self._initial
        kept = [e for node in old.nodes for e in node.elements]
        if list(old.bodies.elements) != list(self.world.bodies) or set(map(id, kept)) != set(map(id, self.world.constraints)):
            raise ModelError("World: bodies or constraints were changed after this Simulation was made; make a new one")
        commands = dict(self.control)
        self._build()
        if self.integrator_name == "first-order":
            self._refuse_velocity_forces()
        common = len(old.state_index) - sum(2 * force.kind.law.counters for force in old.forces)
        for name, value in commands.items():
            if name in self.control:
                self.control[name] = value
        for name, (_, entries) in old.parameters.items():
            if name in self.model.parameters:
                self.work[self.model.parameters[name][1]] = work[entries[0]]
        self.work[self.model.state_index[:common]] = state.values[:common]
        self.work[0] = state.time
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_counters(of_forces=True)
        now = self.work[self.model.state_index]
        self._initial = State(np.concatenate([initial.values[:common], now[common:]]), initial.time, initial.steps, initial.age)
        self._touched()

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
        if self._stale:
            self._prepare()
        self._solved = False
        self._impulses = self.integrator.keeps_impulses
        made, status, self.age = self.integrator.advance(self.work, n, self.age)
        self.steps += made
        if status != OK:
            self._stop(status)

    def run(self, seconds: float, record_every: float | None = 0.01, *, control: Callable | None = None,
            until: Callable | None = None, record: Iterable[str] = (), progress: bool | None = None):  # fmt: skip
        """Simulate for some seconds and return a Recording.

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
        every = self._steps_in(record_every) if record_every is not None else max(1, round(seconds / self.dt))
        total = round(seconds / self.dt)
        recorder = Recorder(self, [self._name(name) for name in record])
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
        return State(self.work[self.model.state_index], self.time, self.steps, self.age)

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise LinkworkError(f"Simulation: state is {checks.show(state)}; give a copy of a state of this simulation")
        if len(state.values) != len(self.model.state_index):
            raise ModelError(f"Simulation: a state of {len(state.values)} numbers does not fit this model of "
                             f"{len(self.model.state_index)}; take one from the same model")  # fmt: skip
        self.work[self.model.state_index] = state.values
        self.work[0] = state.time
        self.steps, self.age = state.steps, state.age
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
        self._touched()
        self._impulses = True

    @property
    def nbytes(self) -> int:
        """Bytes of model, state and workspace, the operation tables included."""
        return self.model.nbytes + self.programs.nbytes + self.work.nbytes + self._initial.values.nbytes

    # -- parameters --------------------------------------------------------------------------------------------------
    def set(self, parameter, value) -> None:
        """Change a Parameter; nothing is compiled."""
        self._follow_world()
        name = getattr(parameter, "name", parameter)
        if name not in self.model.parameters:
            raise UnknownNameError(f'Simulation: no parameter is called "{name}"{suggestion(name, self.model.parameters)}')
        self.work[self.model.parameters[name][1]] = checks.number(self, str(name), value)
        self._touched()

    def get(self, parameter) -> float:
        """The value of a Parameter now."""
        self._follow_world()
        name = getattr(parameter, "name", parameter)
        if name not in self.model.parameters:
            raise UnknownNameError(f'Simulation: no parameter is called "{name}"{suggestion(name, self.model.parameters)}')
        return float(self.work[self.model.parameters[name][1][0]])

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
        self._stale = True

    def _make_velocities_consistent(self) -> None:
        off, element = self._worst(velocity=True)
        if not off > INCONSISTENT:
            return
        for _ in range(IMPULSES):
            self._factor()
            self.integrator.run(self.work, self.programs.body("strike"))
        if off > TOLD:
            self.note(f"{checks.label(element)}: velocities as built were off by {off:.3g}; an impulse made them consistent")

    def _check_factors(self) -> None:
        """Rows that depend on each other show as a solution that is not finite, or as huge multipliers."""
        self._factor()
        if np.isfinite(self.work[self.integrator.sentinels]).all() and self._multipliers_finite():
            return
        bad = [k for k in range(len(self.model.nodes)) if not np.isfinite(self.work[self.model.field_of_node(k, "x")]).all()]
        if bad:
            element = self.model.nodes[bad[0]].elements[-1]
            raise ModelError(f"{checks.label(element)}: its rows cannot be told from those of other constraints as built "
                             "(redundant); remove it or take a constraint with fewer rows")  # fmt: skip

    def _multipliers_finite(self) -> bool:
        total = 0.0
        for k in range(len(self.model.nodes)):
            total += self.work[self.model.field_of_node(k, "x").start]
        return bool(np.isfinite(total))

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
        warnings.warn(text, Note, stacklevel=4)

    def _touched(self) -> None:
        """Something changed from outside: derived values are computed anew before the next step."""
        self._stale, self._solved = True, False

    def _prepare(self) -> None:
        self.integrator.prepare(self.work)
        self._stale = False

    def _stop(self, status: int) -> None:
        self._stale = True
        self._stop_collapsed()
        worst, element = self._worst(velocity=False)
        what = {DIVERGED: "diverged", STUCK: "could not be brought back onto its constraints"}[status]
        about = f"; the worst constraint is {checks.label(element)}, off by {worst:.3g}" if element is not None else ""
        raise DivergenceError(f"Simulation: it {what} in step {self.steps} at {self.time:.6g} s{about}; take a smaller dt",
                              step=self.steps, time=self.time, worst=element)  # fmt: skip

    def _stop_collapsed(self) -> None:
        """Name the body whose stretch has passed zero."""
        if self.work[GLOBALS.offset("fault")] == 0.0:
            return
        self.work[GLOBALS.offset("fault")] = 0.0
        body = next(b for k, b in enumerate(self.model.bodies.elements) if self._collapsed(k))
        raise DivergenceError(
            f"{checks.label(body)}: it has collapsed (its stretch has passed zero) in step {self.steps} at {self.time:.6g} s; "
            "give it more stiffness or a smaller load, or take a smaller dt",
            step=self.steps, time=self.time, worst=body,
        )  # fmt: skip

    def _collapsed(self, body: int) -> bool:
        name, q = self.model.bodies.kinds[body].name, self.work[self.model.field_of_body(body, "q")]
        if name == "ScalableBody":
            return not q[7:10].min() > 0
        return name == "AffineBody" and not np.linalg.det(q[3:].reshape(3, 3)) > 0

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

    def _steps_in(self, seconds: float) -> int:
        return max(1, round(checks.positive(self, "record_every", seconds) / self.dt))

    def __repr__(self) -> str:
        bodies = len(self.model.bodies.elements)
        return f"<Simulation at {self.time:.6g} s: {bodies} bodies, {self.solver}, {self.integrator_name}>"


def _known(what: str, name, table) -> str:
    if name not in table:
        raise LinkworkError(f'Simulation: no {what} is called "{name}"{suggestion(name, table)}; '
                            f"there are {', '.join(table)}")  # fmt: skip
    return name
