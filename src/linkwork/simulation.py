"""Simulation: a compiled world in motion. `step` and `run` first, what can be asked of it below."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork.elements import checks
from linkwork.elements.base import Element
from linkwork.errors import DivergenceError, LinkworkError, ModelError, Note, UnknownNameError, suggestion
from linkwork.integrators import INTEGRATORS
from linkwork.integrators.base import DIVERGED, OK, STUCK
from linkwork.model import readout
from linkwork.model.compile import compile
from linkwork.model.graph import GROUND
from linkwork.model.types import Model, State
from linkwork.recorder import Recorder, patient_interrupt
from linkwork.solvers import SOLVERS
from linkwork.symbolic.bodies import GLOBALS
from linkwork.symbolic.kernels import parameter_record

VIOLATED = 1e-6  # metres or radians by which a constraint may be off as built
INCONSISTENT = 1e-9  # metres or radians a second that are put right at the start
CHUNK = 1000  # steps between looks at the keyboard
TOLD = 1e-6  # and those that are put right with a note


@dataclass(frozen=True)
class Energy:
    """Joules. `work` is what prescribed motion has put in since the start: total - work is constant without other
    forces that do work."""

    kinetic: float
    potential: float
    work: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential


@dataclass(frozen=True)
class Reaction:
    """What a constraint puts on a body: force (3, N) and torque (3, N m) about `at`, in the world; `generalised` are the
    multipliers of its rows."""

    force: np.ndarray
    torque: np.ndarray
    at: np.ndarray
    generalised: np.ndarray


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


class Simulation:
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

    name = None

    def __init__(self, world, dt: float = 1e-3, solver: str = "tree", integrator: str = "rattle", *,
                 tolerance: float | None = None, stiffness: float | None = None, damping: float | None = None):  # fmt: skip
        self.world = world
        self.dt = checks.positive(self, "dt", dt)
        self.solver, self.integrator_name = _known("solver", solver, SOLVERS), _known("integrator", integrator, INTEGRATORS)
        make = INTEGRATORS[integrator]
        if tolerance is not None:
            checks.positive(self, "tolerance", tolerance)
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
        self._stale = self._solved = False
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

    # -- reports: bodies, in the world frame -------------------------------------------------------------------------
    def position(self, body) -> np.ndarray:
        """Where the body's `position` is now (3, m)."""
        return readout.poses(self.model, self.work, self._body(body)).position[0]

    def orientation(self, body) -> np.ndarray:
        """Unit quaternion w x y z."""
        return readout.poses(self.model, self.work, self._body(body)).orientation[0]

    def velocity(self, body) -> np.ndarray:
        """Of the body's `position` (3, m/s)."""
        return readout.poses(self.model, self.work, self._body(body)).velocity[0]

    def angular_velocity(self, body) -> np.ndarray:
        """(3, rad/s)."""
        return readout.poses(self.model, self.work, self._body(body)).angular_velocity[0]

    def frame(self, body) -> np.ndarray:
        """(3, 3): a vector of the body, in the world. A rotation for bodies that do not stretch."""
        return readout.poses(self.model, self.work, self._body(body)).frame[0]

    def point(self, body, local) -> np.ndarray:
        """Where a local point of the body is now (3, m)."""
        pose = readout.poses(self.model, self.work, self._body(body))
        return pose.position[0] + pose.frame[0] @ checks.vector(self, "local", local)

    def jacobian(self, body, local=(0.0, 0.0, 0.0)) -> np.ndarray:
        """(3, dim): the velocity of a local point by the body's own velocity components. A rigid body's are the velocity
        of its `position` and its angular velocity."""
        number = self._body(body)
        J = self._point_jacobian(number, checks.vector(self, "local", local))
        if self.model.bodies.kinds[number].name == "RigidBody":
            pose = readout.poses(self.model, self.work, number)
            arm = pose.frame[0] @ np.asarray(local, dtype=float)
            J = np.hstack([np.eye(3), -_skew(arm)])
        return J

    def acceleration(self, body) -> np.ndarray:
        """Of the body's `position` (3, m/s^2), from the forces and constraints of this moment."""
        return self._accelerations(self._body(body))[0]

    def angular_acceleration(self, body) -> np.ndarray:
        """(3, rad/s^2), of bodies with an angular velocity among their components."""
        return self._accelerations(self._body(body))[1]

    # -- reports: constraints ----------------------------------------------------------------------------------------
    def angle(self, joint) -> float:
        """The joint's coordinate: the angle of a hinge, cylinder or screw (turns counted, rad), the travel of a slider
        (m); zero as built."""
        return self._coordinate(joint)[0]

    def rate(self, joint) -> float:
        """The rate of the joint's coordinate."""
        return self._coordinate(joint)[1]

    def reaction(self, constraint, body=None) -> Reaction:
        """The force and torque that a constraint puts on its second body (on its only body), at the anchor, from the
        accelerations of this moment. `body`: on another of its bodies."""
        node_number, part = self._constraint(constraint)
        self._solve_accelerations()
        node = self.model.nodes[node_number]
        element = node.elements[part]
        rows = node.rows_of(element)
        multipliers = -self.work[self.model.field_of_node(node_number, "x")]
        J = self._node_jacobians(node_number)
        target = self._second_body(node.kind.parts[part].relation, element) if body is None else self._body(body)
        if target not in node.ends:
            raise LinkworkError(f'{checks.label(element)}: it does not act on "{self._name(body)}"; name one of its bodies')
        generalised = J[node.ends.index(target)][rows].T @ multipliers[rows]
        at = self._anchor(node_number, part, target)
        force, torque = readout.wrench(self.model, self.work, target, generalised, at)
        return Reaction(force, torque, at, multipliers[rows])

    def impulse(self, constraint) -> np.ndarray:
        """The multipliers of the constraint's rows in the last kick of the last step (rattle) or impact, N s or N m s."""
        node_number, part = self._constraint(constraint)
        node = self.model.nodes[node_number]
        if self._solved:
            raise LinkworkError("Simulation: accelerations were asked for after the last step; ask for impulses first")
        rows = node.rows_of(node.elements[part])
        return -self.work[self.model.field_of_node(node_number, "x")][rows]

    def drift(self, velocity: bool = False) -> float:
        """The largest |C| over all position rows (m; radians count as metres); with velocity=True the largest
        |J v + C_t| and |g| over all rows."""
        return float(np.abs(self._residuals(velocity)[0]).max(initial=0.0))

    def energy(self) -> Energy:
        """Kinetic and potential energy now, and the work of prescribed motion so far."""
        self._derive()
        for name in ("kinetic", "potential"):
            self.work[GLOBALS.offset(name)] = 0.0
        self.integrator.run(self.work, self.programs.energy())
        return Energy(*(float(self.work[GLOBALS.offset(name)]) for name in ("kinetic", "potential", "work")))

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
        self._factor()
        self.integrator.run(self.work, self.programs.backward("strike"))
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

    def _derive(self) -> None:
        """Poses up to date with the coordinates (they are after every step)."""
        if self._stale:
            self.integrator.run(self.work, self.programs.body("place"))

    def _solve_accelerations(self) -> None:
        """Accelerations and multipliers of this moment, without feedback; the next step starts from fresh factors."""
        if self._solved:
            return
        feedback = [GLOBALS.offset("stiffness"), GLOBALS.offset("damping")]
        kept = self.work[feedback]
        self.work[feedback] = 0.0
        self.work[GLOBALS.offset("kick")] = 1.0
        p = self.programs
        self.integrator.run(self.work, p.body("place", "accelerate"), p.up("acceleration"), p.backward())
        self.work[feedback] = kept
        self._stale = self._solved = True

    def _accelerations(self, body: int):
        self._solve_accelerations()
        m = self.model
        x = self.work[m.field_of_body(body, "x")]
        name = m.bodies.kinds[body].name
        pose = readout.poses(m, self.work, body)
        if name == "RigidBody":
            arm = pose.position[0] - self.work[m.field_of_body(body, "q")][:3]
            w = pose.angular_velocity[0]
            return x[:3] + np.cross(x[3:], arm) + np.cross(w, np.cross(w, arm)), x[3:].copy()
        if name.startswith("Planar"):
            first, second, normal = readout.PLANES[name.split("-")[1]]
            linear, angular = np.zeros(3), np.zeros(3)
            linear[[first, second]] = x[:2]
            angular[normal] = x[2] if len(x) == 3 else 0.0
            return linear, angular
        return x[:3].copy(), x[3:6].copy() if name == "ScalableBody" else np.zeros(3)

    def _point_jacobian(self, body: int, local: np.ndarray) -> np.ndarray:
        """(3, nv) in the body's internal velocity components; `local` in the user's frame."""
        m = self.model
        kind = m.bodies.kinds[body]
        pose = readout.poses(m, self.work, body)
        world = pose.position[0] + pose.frame[0] @ local
        q = self.work[m.field_of_body(body, "q")]
        if kind.name == "RigidBody":
            return np.hstack([np.eye(3), -_skew(world - q[:3])])
        if kind.name == "Particle":
            return np.eye(3)
        if kind.name == "ScalableBody":
            R = readout.matrices(q[None, 3:7])[0]
            return np.hstack([np.eye(3), -_skew(world - q[:3]), R * local])
        if kind.name == "AffineBody":
            return np.hstack([np.eye(3), np.kron(np.eye(3), local)])
        first, second, normal = readout.PLANES[kind.name.split("-")[1]]
        J = np.zeros((3, kind.nv))
        J[first, 0] = J[second, 1] = 1.0
        if kind.nv == 3:
            J[:, 2] = np.cross(np.eye(3)[normal], world - pose.position[0])
        return J

    def _node_jacobians(self, node: int) -> list[np.ndarray]:
        self._derive()
        self.integrator.run(self.work, self.programs.jacobian(node))
        kind, offset, found = self.model.nodes[node].kind, self.model.scratch, []
        for body in kind.kinds:
            size = kind.size * (body.nv if body else 0)
            found.append(self.work[offset : offset + size].reshape(kind.size, -1) if size else np.zeros((kind.size, 0)))
            offset += size
        return found

    def _residuals(self, velocity: bool) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of all position rows, or rates of all rows; and the node of each."""
        self._derive()
        self.integrator.run(self.work, self.programs.check())
        entries, nodes = self._rows_of_reports[velocity]
        return self.work[entries], nodes

    @cached_property
    def _rows_of_reports(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Entries of the report area and the nodes they belong to: residuals of position rows, rates of all rows."""
        residuals: tuple[list[int], list[int]] = ([], [])
        rates: tuple[list[int], list[int]] = ([], [])
        for k, node in enumerate(self.model.nodes):
            at, m = int(self.model.report_at[k]), node.kind.size
            for row, level in enumerate(node.kind.levels):
                if level == "position":
                    residuals[0].append(at + row)
                    residuals[1].append(k)
                rates[0].append(at + m + row)
                rates[1].append(k)
        found = [tuple(np.array(x, dtype=np.int64) for x in pair) for pair in (residuals, rates)]
        return found[0], found[1]  # type: ignore[return-value]

    def _worst(self, velocity: bool):
        """(largest residual, its element)."""
        residuals, nodes = self._residuals(velocity)
        if not len(residuals):
            return 0.0, None
        wrong = np.flatnonzero(~np.isfinite(residuals))
        k = int(wrong[0]) if len(wrong) else int(np.argmax(np.abs(residuals)))
        row = int(self._rows_of_reports[velocity][0][k]) - int(self.model.report_at[nodes[k]])
        node = self.model.nodes[nodes[k]]
        row -= node.kind.size if velocity else 0
        element = next(e for e in node.elements if node.rows_of(e).start <= row < node.rows_of(e).stop)
        return float(abs(residuals[k])), element

    def _coordinate(self, joint) -> tuple[float, float]:
        node_number, part = self._constraint(joint)
        node = self.model.nodes[node_number]
        element, piece = node.elements[part], node.kind.parts[part]
        relation = piece.relation
        if not hasattr(relation, "travel") or not (relation.counters or hasattr(element, "axis")):
            raise LinkworkError(f"{checks.label(element)}: it has no angle or travel; ask a hinge, slider, cylinder or screw")
        self._derive()
        p = self._numbers(node_number, part)
        a, b = node.ends[::-1] if piece.flipped else node.ends
        (Ra, _, _, wa), (Rb, _, _, wb) = self._pose_of(a), self._pose_of(b)
        if relation.counters:
            value = readout.angle(Ra[None], Rb[None], p, p["turns"].reshape(1, -1))[0]
            axis = np.cross(Ra @ p["ref_a"], Ra @ p["side_a"])
            return float(value), float(axis @ (wb - wa))
        axis = Ra @ p["axis_a"]
        (pa, va), (pb, vb) = self._carried(a, p["on_a"]), self._carried(b, p["on_b"])
        apart, apart_rate = pb - pa, vb - va
        return float(axis @ apart), float(axis @ apart_rate + np.cross(wa, axis) @ apart)

    def _numbers(self, node_number: int, part: int) -> dict[str, np.ndarray]:
        """Views of the parameters of one constraint, by name."""
        parts = self.model.nodes[node_number].kind.parts
        start = self.model.parameters_at(node_number)
        start += sum(parameter_record(other.relation).size for other in parts[:part])
        layout = parameter_record(parts[part].relation)
        return {name: self.work[start + o : start + o + size] for name, (o, size) in layout.fields.items()}

    def _pose_of(self, body: int):
        """(axes, origin, velocity, spin) of a body's internal frame; the ground's is the world."""
        if body == GROUND:
            return np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
        m = self.model
        pose = readout.poses(m, self.work, body)
        if m.bodies.kinds[body].name == "RigidBody":
            q, v = self.work[m.field_of_body(body, "q")], self.work[m.field_of_body(body, "v")]
            return readout.matrices(q[None, 3:7])[0], q[:3], v[:3], v[3:6]
        return readout.matrices(pose.orientation)[0], pose.position[0], pose.velocity[0], pose.angular_velocity[0]

    def _anchor(self, node_number: int, part: int, body: int) -> np.ndarray:
        """The world point at which a reaction is reported: the anchor on the second body, else the body's position."""
        node = self.model.nodes[node_number]
        relation = node.kind.parts[part].relation
        second = self._second_body(relation, node.elements[part])
        p = self._numbers(node_number, part)
        first_is_moving = self.model.bodies.ends(relation, node.elements[part])[1] == GROUND
        local = p.get("on_a") if first_is_moving else p.get("on_b", p.get("centre"))
        if local is None:
            return readout.poses(self.model, self.work, body).position[0]
        return self._carried(second, local)[0]

    def _carried(self, body: int, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where a point (internal coordinates) of a body is, and its velocity."""
        R, x, v, w = self._pose_of(body)
        if body == GROUND or self.model.bodies.kinds[body].name == "RigidBody":
            return x + R @ local, v + np.cross(w, R @ local)
        pose = readout.poses(self.model, self.work, body)
        rate = self._point_jacobian(body, local) @ self.work[self.model.field_of_body(body, "v")]
        return pose.position[0] + pose.frame[0] @ local, rate

    def _second_body(self, relation, element) -> int:
        a, b = self.model.bodies.ends(relation, element)
        return b if b != GROUND else a

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

    def _name(self, element) -> str:
        return str(element.name if isinstance(element, Element) else element)

    def _lookup(self, element, sort: str) -> tuple[int, int]:
        self._follow_world()
        name = self._name(element)
        found = self.model.names.get(name)
        if found is None or found[0] != sort:
            known = [n for n, (s, _, _) in self.model.names.items() if s == sort]
            raise UnknownNameError(f'Simulation: no {sort} is called "{name}"{suggestion(name, known)}')
        return found[1], found[2]

    def _body(self, body) -> int:
        return self._lookup(body, "body")[0]

    def _constraint(self, constraint) -> tuple[int, int]:
        return self._lookup(constraint, "constraint")

    def __repr__(self) -> str:
        bodies = len(self.model.bodies.elements)
        return f"<Simulation at {self.time:.6g} s: {bodies} bodies, {self.solver}, {self.integrator_name}>"


def _skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _known(what: str, name, table) -> str:
    if name not in table:
        raise LinkworkError(f'Simulation: no {what} is called "{name}"{suggestion(name, table)}; '
                            f"there are {', '.join(table)}")  # fmt: skip
    return name
