"""Simulation: a compiled world in motion. What it is made of: options, a System (system.py) that the Editor replaces when the
world is changed, and parts that read it (Query), step it (Runner), lay hands on it (Hands) and see it as an ODE (OdeView)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from linkwork.elements import Keyframe
from linkwork.elements.core import checks
from linkwork.engines.engine import Engine
from linkwork.errors import LinkworkError
from linkwork.model.model import Arrangement, Model, State
from linkwork.schedules.schedules import Schedules
from linkwork.simulation import start
from linkwork.simulation.choice import chosen
from linkwork.simulation.control import Control
from linkwork.simulation.editor import Editor, switched_off
from linkwork.simulation.hands import Handle, Hands
from linkwork.simulation.notes import Notes
from linkwork.simulation.ode import OdeView
from linkwork.simulation.options import Choice, Options
from linkwork.simulation.query import Query
from linkwork.simulation.readable import Readable
from linkwork.simulation.runner import RECORD_EVERY, Runner
from linkwork.simulation.state_setting import set_state
from linkwork.simulation.system import System, active_world
from linkwork.util.resources import no_collection
from linkwork.util.sealing import Sealed
from linkwork.world import E, Several, World

if TYPE_CHECKING:
    from linkwork.elements.core.element import BodyLike, ElementLike
    from linkwork.elements.core.parameter import Parameter
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import FloatArray, Matrix, Numbers, Vector


class Simulation(Sealed, Readable):
    """A world in motion.

    `solver`: tree (linear time), fronts (the same without joining bodies and joints), anticipation (a tree, and loops by their
    response, as one dense system), cg (conjugate gradients: many loops, as in nets), dense (the reference), implicit (stiff
    forces; its integrator is backward-euler); in joint coordinates, with joint-rk4, joint-euler or joint-implicit: aba (linear
    time) and ltdl (by the inertia matrix, with loops). Or auto: the pair that suits the model and dt (`choice` says which and
    why). Unless told it is auto for robots from URDF and MJCF files (their `world.simulate` says so), and tree for all others.
    `integrator`: rattle (the default), euler, rk4, dopri5, first-order.
    `tolerance`: of rattle's position stage (m), of dopri5, and of Newton's method (m, rad) with implicit.
    `stiffness`, `damping`: Baumgarte feedback k_s (1/s^2) and k_d (1/s) of euler; first-order takes k_s in 1/s.
    `off`: elements that are switched off at the start (`switch`).
    `tangent`: of implicit, symmetric (the default) or exact; `iterations`: 1 is one linear solve a step, None goes on until
    the tolerance is met. `method`: of cg, least-residual (the default), or least-squares, which is as witkin97 prints it and
    squares the condition of the system: many more iterations; of auto, known (the default: the same choice on every machine),
    or measured (which of aba and ltdl is faster is measured here, once).

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

    REMEDIES = {
        "world": "make another Simulation of the other world",
        "control": 'assign a command by its name, as in sim.control["drive"] = 2.0',
        "": "give a Parameter to the elements, and change it with sim.set",
    }

    def __init__(self, world: World, dt: float = 1e-3, solver: str | None = None, integrator: str | None = None, *,
                 tolerance: float | None = None, stiffness: float | None = None, damping: float | None = None,
                 tangent: str | None = None, iterations: int | None = None, method: str | None = None,
                 off: Iterable[ElementLike] = ()) -> None:  # fmt: skip
        if not isinstance(world, World):
            raise LinkworkError(f"Simulation: world is {checks.show(world)}; give a World")
        arrangement = Arrangement(switched_off(world, off))
        now = active_world(world, arrangement)
        options = Options.checked(now, dt, solver, integrator, chosen, tolerance=tolerance, stiffness=stiffness,
                                  damping=damping, tangent=tangent, iterations=iterations, method=method)  # fmt: skip
        with no_collection():
            system = System.create(world, arrangement, options, Notes())
            start.begin(system)
        self._compose(Editor(system))

    def _compose(self, editor: Editor) -> None:
        """The parts: all of them ask the editor for the System of now."""
        self._editor, self._query = editor, Query(editor)
        self._hands, self._ode = Hands(editor, self._query), OdeView(editor)
        self._runner, self._control = Runner(editor, self._hands, self._query), Control(editor.follow)

    def __getstate__(self) -> dict[str, Any]:
        system = self._editor.follow()
        if held := self._hands.held:
            raise LinkworkError(f"Simulation: {len(held)} hands hold on to it; release them before it is copied")
        return {
            "world": system.world,
            "options": system.options.plain(),
            "values": system.values(),
            "compiled at": dict(system.compiled_at),
            "state": system.state(),
            "start": self._editor.start_in(system),
            "notes": list(system.notes),
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        state, options = kept["state"], Options.from_plain(kept["options"])
        system = System.create(kept["world"], state.arrangement, options, Notes(kept["notes"]), compiled_at=kept["compiled at"])
        system.put(kept["values"], {})
        self._compose(Editor(system, (system.model, kept["start"])))
        self._editor.restore(state)

    def __repr__(self) -> str:
        bodies = len(self.model.bodies.elements)
        return f"<Simulation at {self.time:.6g} s: {bodies} bodies, {self.solver}, {self.integrator_name}>"

    @property
    def _system(self) -> System:
        """The System of now."""
        return self._editor.system

    @property
    def world(self) -> World:
        """The world that it is a simulation of."""
        return self._editor.system.world

    @property
    def solver(self) -> str:
        """The name of its solver."""
        return self._editor.system.options.solver

    @property
    def integrator_name(self) -> str:
        """The name of its integrator."""
        return self._editor.system.options.integrator

    @property
    def choice(self) -> Choice | None:
        """What `solver="auto"` has chosen, and why, in one sentence; None where solver and integrator were given.

        >>> import linkwork as lw
        >>> lw.Simulation(lw.scenes.get("hanging-chain"), dt=0.01, solver="auto").choice[:2]
        ('aba', 'joint-implicit')
        """
        return self._editor.system.options.choice

    @property
    def dt(self) -> float:
        """The step, in seconds; a Simulation keeps the one it was made with."""
        return self._editor.system.options.dt

    @property
    def model(self) -> Model:
        """The compiled world."""
        return self._editor.system.model

    @property
    def schedules(self) -> Schedules:
        """Schedules of the solver: what is computed, in which order."""
        return self._editor.system.schedules

    @property
    def integrator(self) -> Engine:
        """What makes the steps."""
        return self._editor.system.integrator

    @property
    def work(self) -> FloatArray:
        """The workspace: all numbers of the model, one after another."""
        return self._editor.system.work

    @property
    def control(self) -> Control:
        """Commands of motors and of what follows a motion, by name."""
        return self._control

    @property
    def notes(self) -> Notes:
        """The notes that were given so far."""
        return self._editor.system.notes

    @property
    def steps(self) -> int:
        """The number of steps that were made."""
        return self._editor.system.steps

    @property
    def age(self) -> int:
        """Steps since the position stage began afresh."""
        return self._editor.system.age

    @property
    def nbytes(self) -> int:
        """Bytes of model, state and workspace, the operation tables included."""
        return self._editor.system.nbytes + self._editor.start[1].values.nbytes

    def note(self, text: str) -> None:
        """Keep and show a note."""
        self.notes.add(text)

    def step(self, n: int = 1) -> None:
        """Make n steps of dt."""
        self._runner.step(n)

    def run(self, seconds: float, record_every: float | None = RECORD_EVERY, *,
            control: Callable[[Simulation], object] | None = None, until: Callable[[Simulation], object] | None = None,
            record: Iterable[str] = (), progress: bool | None = None) -> Recording:  # fmt: skip
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
        return self._runner.run(self, seconds, record_every, control, until, record, progress)

    def strike(self, body: BodyLike, impulse: Vector, at: Vector | None = None) -> None:
        """An impulse (N s, world) on a body at a local point (default: its position), felt through all joints at once, and
        through what touches.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("pendulum"))
        >>> sim.strike(sim.model.bodies.elements[0], (0, 0, 1.0))
        """
        self._hands.strike(body, impulse, at)

    def grab(self, body: BodyLike, point: Vector | None = None, *, by: str = "spring", stiffness: float | None = None,
             damping: float | None = None, limit: float | None = None) -> Handle:  # fmt: skip
        """Take hold of a body at a point of the world (3, m; default: its position), and return a Handle to pull with.

        `by`: "spring" (`stiffness` N/m and `damping` N s/m; unless told, the body alone would come to the goal in about 0.3 s)
        or "constraint", which leads the point. `limit` (N) bounds the force; unless told it is three times the weight of all
        bodies. First-order motion, in which a force is mass times velocity, knows no damping.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, 0))
        >>> lamp = world.add(lw.Particle(2.0, name="lamp"))
        >>> sim = lw.Simulation(world)
        >>> with sim.grab("lamp") as hand:
        ...     hand.to((0, 0, 1))
        ...     sim.step(2000)
        >>> sim.position("lamp").round(3).tolist(), hand.held
        ([0.0, 0.0, 1.0], False)
        """
        return self._hands.grab(body, point, by, stiffness, damping, limit)

    @property
    def time(self) -> float:
        """Seconds."""
        return self._editor.system.time

    @time.setter
    def time(self, value: float) -> None:
        self._editor.system.work[0] = checks.number("Simulation", "time", value)
        self._editor.system.changed()

    @property
    def state(self) -> State:
        """Everything that a run changes: poses, velocities, turns counted, commands, warm starts, time, and what is switched
        off. Assigning a copy brings the same bits again; one of a simulation of the same world with another solver, integrator
        or dt is the same to rounding, without warm starts that do not fit.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("pendulum")
        >>> first, second = lw.Simulation(world), lw.Simulation(world, solver="dense", integrator="rk4")
        >>> first.step(100)
        >>> second.state = first.state
        >>> bool(abs(second.angle("pivot") - first.angle("pivot")) < 1e-12)
        True
        """
        return self._editor.follow().state()

    @state.setter
    def state(self, state: State) -> None:
        self._editor.restore(state)

    def set_state(self, *, q: Vector | None = None, qd: Vector | None = None, positions: Matrix | None = None,
                  orientations: Matrix | None = None, velocities: Matrix | None = None,
                  project: bool = False) -> None:  # fmt: skip
        """Set everything at once: coordinates `q` and velocities `qd` as `sim.q` and `sim.qd` have them, or `positions`,
        `orientations` and `velocities` of all bodies. What is left out stays as it is: of joints their coordinates and rates,
        of bodies their poses and velocities. Time, parameters and commands stay. Angles count turns, where q has them, and
        else go to the nearest turn.

        A state that is off the constraints is refused by the name of the worst one, and nothing changes; with `project` it is
        brought onto them by the least displacement and the least impulse.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("double-pendulum"))
        >>> sim.set_state(q=[0.3, 7.0], qd=[0.0, 1.0])
        >>> sim.q.round(12).tolist(), sim.qd.round(12).tolist()
        ([0.3, 7.0], [0.0, 1.0])
        """
        given: dict[str, Numbers | None] = {"q": q, "qd": qd, "positions": positions, "orientations": orientations,
                                            "velocities": velocities}  # fmt: skip
        set_state(self._query.reads(), given, checks.flag("Simulation", "project", project))

    def reset(self, keyframe: str | Keyframe | None = None) -> None:
        """Back to the start: the state in which the simulation was made, with the same parts switched on; commands stay as they
        are. What was added since then is as built. With a keyframe, one of `world.keyframes` by its name or any other, bodies
        are where its joint coordinates put them, turns counted, and motors have its commands.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("double-pendulum"))
        >>> first = sim.world.constraints[0].name
        >>> sim.reset(lw.Keyframe(positions={first: 7.0}, velocities={first: 2.0}))
        >>> round(sim.angle(first), 9), round(sim.rate(first), 9)
        (7.0, 2.0)
        """
        self._editor.reset(keyframe)

    def set(self, parameter: Parameter | str, value: float) -> None:
        """Change a Parameter, to a value that its elements take; nothing is compiled."""
        self._editor.set(parameter, value)

    def get(self, parameter: Parameter | str) -> float:
        """The value of a Parameter now."""
        return self._editor.get(parameter)

    def switch(self, element: ElementLike, on: bool) -> None:
        """Switch a constraint, force or contact on or off, in this simulation. What refers to it, as a motor to its hinge, goes
        with it; a constraint that is violated when it comes on is drawn in at a bounded speed.

        >>> import linkwork as lw
        >>> world = lw.World()
        >>> lamp = world.add(lw.Particle(2.0, position=(0, 0, 1), name="lamp"))
        >>> hook = world.add(lw.Ball(world.ground, lamp, at=(0, 0, 1), name="hook"))
        >>> sim = lw.Simulation(world)
        >>> sim.switch("hook", on=False)
        >>> sim.step(100)
        >>> round(float(sim.velocity("lamp")[2]), 3), sim.off
        (-0.981, ('hook',))
        """
        self._editor.switch(element, on)

    @property
    def off(self) -> tuple[str, ...]:
        """The names of what is switched off."""
        return tuple(sorted(self._editor.system.arrangement.off))

    @overload
    def add(self, element: E) -> E: ...

    @overload
    def add(self, element: Several) -> Several: ...

    def add(self, element: Any) -> Any:
        """Add to the world what is made for this moment: `at`, `axis` and lengths that are left out are those of the bodies
        where they are now in this simulation, not as built. Otherwise as `world.add`.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, 0))
        >>> puck = world.add(lw.Particle(1.0, velocity=(2, 0, 0), name="puck"))
        >>> sim = lw.Simulation(world)
        >>> sim.step(500)
        >>> rod = sim.add(lw.Distance(world.ground, puck, name="rod"))
        >>> sim.step(), round(sim.drift(), 9)
        (None, 0.0)
        """
        self._editor.add(element)
        return element

    def pack(self) -> FloatArray:
        """y: coordinates and velocities of all bodies, body by body in order of addition, as the model has them (a rigid body's
        coordinates are a place and a unit quaternion).

        >>> import linkwork as lw
        >>> from scipy.integrate import solve_ivp
        >>> sim = lw.Simulation(lw.scenes.get("pendulum"))
        >>> found = solve_ivp(sim.derivative, (0, 0.1), sim.pack(), rtol=1e-9)
        >>> sim.unpack(found.y[:, -1])
        >>> sim.drift() < 1e-6
        True
        """
        return self._ode.pack()

    def unpack(self, y: Vector) -> None:
        """Put all bodies where y says; time, counted turns and the rest of the state stay. Quaternions are made unit ones."""
        self._ode.unpack(y)

    def derivative(self, t: float, y: Vector) -> FloatArray:
        """y' at the time t (s): rates of coordinates, accelerations. Parameters and commands are those of now. Where y is
        not finite, nothing of it is."""
        return self._ode.derivative(t, y)
