"""Batch: n worlds of one model, each with its own state, commands and parameters, stepped by compiled loops on threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.batches import rollouts
from linkwork.batches.arrays import Arrays
from linkwork.batches.readable import ReadableBatch
from linkwork.batches.selection import chosen_worlds, of_world, rows_for
from linkwork.batches.stepping import AGE, BEGUN, MADE, STATUS, STEPS, UNMADE
from linkwork.batches.threads import MOST, Threads, cores
from linkwork.elements.core import checks
from linkwork.engines.step_driver import OK
from linkwork.errors import LinkworkError
from linkwork.model.model import State
from linkwork.model.states import MOST_STEPS
from linkwork.simulation import diagnose
from linkwork.simulation.editor import parameter_name
from linkwork.simulation.simulation import Simulation
from linkwork.simulation.state_check import refuse_misfit
from linkwork.simulation.state_setting import set_state

if TYPE_CHECKING:
    from xarray import Dataset

    from linkwork.batches.lender import Lender
    from linkwork.elements import Keyframe
    from linkwork.elements.core.element import ElementLike
    from linkwork.elements.core.parameter import Parameter
    from linkwork.util.array_types import BoolArray, FloatArray, IntArray, Numbers
    from linkwork.world import World

WHO = "Batch"
MOST_WORLDS = 10**7

Worlds = Any  # numbers of worlds, a mask (n,), or None: all


class Batch(ReadableBatch):
    """n worlds of one model, each with its own state, commands and Parameters. Solver, integrator, dt and all other options are
    the same for all, and are given as to a `Simulation`. A world makes the same bits as a Simulation in the same state with the
    same Parameters, whatever the number of threads and whichever worlds are stepped together.

    `threads`: how many of them step worlds; as many as there are cores unless told.

    A world that cannot be stepped on stays in the last state that it reached: `failed` marks it, `reason(i)` says why, and the
    others go on. `reset` or `put` brings it back.

    >>> import linkwork as lw
    >>> import numpy as np
    >>> batch = lw.Batch(lw.scenes.get("double-pendulum"), 4, dt=1e-3)
    >>> batch.set_state(q=[[0.1 * k, 0.0] for k in range(4)])
    >>> batch.step(100)
    >>> batch.q.shape, batch.time.round(6).tolist()
    ((4, 2), [0.1, 0.1, 0.1, 0.1])
    >>> one = batch.simulation(3)
    >>> one.step(), batch.step(worlds=[3])
    (None, None)
    >>> bool(np.array_equal(one.q, batch.q[3]))
    True
    """

    REMEDIES = {
        "controls": "write into it, as in batch.controls[:] = u",
        "": "give a Parameter to the elements, and change it with batch.set",
    }

    def __init__(self, world: World, n: int, dt: float = 1e-3, solver: str | None = None, integrator: str | None = None, *,
                 threads: int | None = None, tolerance: float | None = None, stiffness: float | None = None,
                 damping: float | None = None, tangent: str | None = None, iterations: int | None = None,
                 method: str | None = None, off: Iterable[ElementLike] = ()) -> None:  # fmt: skip
        self._n = checks.whole(WHO, "n", n, least=1, most=MOST_WORLDS)
        number = cores() if threads is None else checks.whole(WHO, "threads", threads, least=1, most=MOST)
        off = off if isinstance(off, str) else tuple(off)

        def make() -> Simulation:
            return Simulation(world, dt, solver, integrator, tolerance=tolerance, stiffness=stiffness, damping=damping,
                              tangent=tangent, iterations=iterations, method=method, off=off)  # fmt: skip

        def make_another() -> Simulation:
            self._refuse_changed_world()
            return make()

        first = make()
        system = first._system
        system.prepare()
        self._world, self._version, self._start = world, world.version, first.state.copy()
        arrays = Arrays(system, self._n)
        self._compose(Threads(min(number, self._n), make_another, first, arrays), arrays)
        self._failed = np.zeros(self._n, dtype=bool)
        self._stopped: dict[int, int] = {}  # with which status worlds have failed
        self._reasons: dict[int, str] = {}

    def __repr__(self) -> str:
        bodies = len(self._threads.first.system.model.bodies.elements)
        pair = f"{self.solver}, {self.integrator_name}"
        return f"<Batch of {self.n} worlds: {bodies} bodies, {pair}, {self.threads} threads>"

    # -- what it is ------------------------------------------------------------------------------------------------------
    @property
    def n(self) -> int:
        """The number of worlds."""
        return self._n

    @property
    def world(self) -> World:
        """The world that all of them are."""
        return self._world

    @property
    def threads(self) -> int:
        """The number of threads that step worlds; one where steps call Python, as with the solvers `dense` and `anticipation`,
        with contact on the level of accelerations, and with motions that are read from a Trajectory."""
        return self._threads.number if self._arrays.compiled else 1

    # -- steps -----------------------------------------------------------------------------------------------------------
    def step(self, n: int = 1, worlds: Worlds = None) -> None:
        """Make n steps of dt with the chosen worlds (numbers or a mask; None: all), those that failed left out. Ctrl-C leaves
        each world before or behind the call: `time` tells which.

        >>> import linkwork as lw
        >>> batch = lw.Batch(lw.scenes.get("pendulum"), 3)
        >>> batch.step(10, worlds=[True, False, True])
        >>> batch.steps.tolist()
        [10, 0, 10]
        """
        steps, chosen = checks.whole(WHO, "n", n, most=MOST_STEPS), self._chosen(worlds)
        chosen = chosen[~self._failed[chosen]]
        self._check_controls()
        if not (len(chosen) and steps):
            return
        numbers = self._arrays.worlds.numbers
        numbers[chosen, STATUS], numbers[chosen, MADE] = UNMADE, 0

        def deed(lender: Lender, part: IntArray) -> None:
            lender.prepare(part)
            lender.step(part, steps)

        try:
            self._threads.share("step", chosen, deed)
        except BaseException:
            for i in chosen[numbers[chosen, STATUS] == BEGUN].tolist():
                self._arrays.go_back(i)
            raise
        finally:
            self._moved(chosen)
        for i in chosen[numbers[chosen, STATUS] != OK].tolist():
            self._freeze(i)

    def _refuse_changed_world(self) -> None:
        if self._world.version != self._version:
            raise LinkworkError("Batch: its world was changed after it was made; make another Batch")

    def _chosen(self, worlds: Worlds) -> IntArray:
        self._refuse_changed_world()
        return chosen_worlds(self._n, worlds)

    def _check_controls(self) -> None:
        """Commands that users have written."""
        commands, given = self._threads.first.system.commands, self.controls
        if not np.isfinite(given).all():
            i, k = np.argwhere(~np.isfinite(given))[0].tolist()
            raise LinkworkError(f'Batch: controls[{i}, {k}] ("{commands.names[k]}") is {given[i, k]:g}; give finite numbers')
        if commands.quaternions:
            given[:] = [commands.normalised(row) for row in given]

    def _freeze(self, i: int) -> None:
        """Leave a world that has stopped in the last state that it reached."""
        numbers = self._arrays.worlds.numbers[i]
        self._stopped[i], good = int(numbers[STATUS]), max(0, int(numbers[MADE]) - 1)
        self._arrays.go_back(i)
        if good:
            self._threads.first.step_alone(i, good)
        self._failed[i] = True

    @property
    def failed(self) -> BoolArray:
        """(n,): the worlds that cannot be stepped on."""
        return self._failed.copy()

    def reason(self, world: int) -> str | None:
        """Why a world cannot be stepped on; None where it can.

        >>> import linkwork as lw
        >>> lw.Batch(lw.scenes.get("pendulum"), 2).reason(1) is None
        True
        """
        i = int(self._chosen([checks.whole(WHO, "world", world)])[0])
        if not self._failed[i]:
            return None
        if i not in self._reasons:
            here = self._arrays.copy_of(i)
            with self._threads.first.visit(i) as system:
                system.prepare()
                system.watch.past = [system.state()]
                system.advance(1)
                self._reasons[i] = str(diagnose.reason(system, self._stopped[i], self._start))
            self._arrays.put_copy(i, here)
        return self._reasons[i]

    def rollout(self, controls: Numbers | rollouts.Policy | None = None, steps: int | None = None, *, hold: int = 1,
                record: Iterable[str] = ("q", "qd"), worlds: Worlds = None,
                out: Mapping[str, FloatArray] | None = None) -> dict[str, FloatArray]:  # fmt: skip
        """Step the chosen worlds under commands, and record: arrays (worlds, steps, ...) by name.

        `controls`: (worlds, steps, commands), or (steps, commands) for all of them; or a function of the batch that gives the
        commands of all worlds, called before each of `steps`; None: they stay as they are. Each is held for `hold` steps,
        after which `record` is taken: of "q", "qd", "positions", "orientations", "velocities", "time", "controls". `out`:
        arrays to record into. A world that fails repeats its last state.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("pendulum")
        >>> motor = world.add(lw.Motor(world.constraints[0], name="motor"))
        >>> batch = lw.Batch(world, 8, dt=0.01)
        >>> found = batch.rollout(lambda batch: -3.0 * batch.qd, steps=50, record=["q", "time"])
        >>> found["q"].shape, found["time"][0, -1].round(6)
        ((8, 50, 1), np.float64(0.5))
        """
        self._chosen(worlds)
        return rollouts.rollout(self, controls, steps, hold, record, worlds, out)

    def labelled(self, found: Mapping[str, FloatArray], worlds: Worlds = None, hold: int = 1) -> Dataset:
        """What `rollout` has recorded of these worlds as an xarray Dataset, with names and units.

        >>> import linkwork as lw
        >>> batch = lw.Batch(lw.scenes.get("double-pendulum"), 3)
        >>> data = batch.labelled(batch.rollout(steps=5, record=["q", "positions"]))
        >>> data.positions.dims
        ('world', 'step', 'body', 'axis')
        """
        return rollouts.labelled(self, found, self._chosen(worlds), hold)

    # -- setting them ----------------------------------------------------------------------------------------------------
    def set_state(self, worlds: Worlds = None, *, q: Numbers | None = None, qd: Numbers | None = None,
                  positions: Numbers | None = None, orientations: Numbers | None = None, velocities: Numbers | None = None,
                  project: bool = False) -> None:  # fmt: skip
        """Set the chosen worlds as `Simulation.set_state` sets one: arrays with a row for each of them, or one row for all.
        Where one of the worlds is refused none is changed.

        >>> import linkwork as lw
        >>> batch = lw.Batch(lw.scenes.get("double-pendulum"), 3)
        >>> batch.set_state([0, 2], q=[[0.1, 0.0], [0.2, 0.0]])
        >>> batch.q[:, 0].round(12).tolist()
        [0.1, 0.0, 0.2]
        """
        chosen, project = self._chosen(worlds), checks.flag(WHO, "project", project)
        own, bodies = self._threads.first.reads.coordinates, len(self.body_names)
        shapes = {"q": (own.nq,), "qd": (own.nv,), "positions": (bodies, 3), "orientations": (bodies, 4),
                  "velocities": (bodies, 6)}  # fmt: skip
        given = {"q": q, "qd": qd, "positions": positions, "orientations": orientations, "velocities": velocities}
        rows = {name: rows_for(name, value, len(chosen), *shapes[name]) for name, value in given.items() if value is not None}
        lender = self._threads.first
        with self._all_or_none(chosen):
            for k, i in enumerate(chosen.tolist()):
                with lender.visit(i), of_world(i):
                    set_state(lender.reads, {name: values[k] for name, values in rows.items()}, project)
        self._revive(chosen)

    def reset(self, worlds: Worlds = None, keyframe: str | Keyframe | None = None) -> None:
        """The chosen worlds back to the start, or to a keyframe, as `Simulation.reset` does; Parameters stay, and commands but
        with a keyframe.

        >>> import linkwork as lw
        >>> batch = lw.Batch(lw.scenes.get("pendulum"), 2)
        >>> batch.step(5)
        >>> batch.reset([1])
        >>> batch.steps.tolist()
        [5, 0]
        """
        state, chosen = self._start, self._chosen(worlds)
        if keyframe is not None:
            sim = self._threads.make_quietly()
            sim.reset(keyframe)
            if sim._system.arrangement != self._threads.first.system.arrangement:
                raise LinkworkError("Batch: the keyframe violates constraints, which would be drawn in; give one that does "
                                    "not, or let a Simulation draw them in and put its state")  # fmt: skip
            state = sim.state
        self._put(chosen, state, commands=keyframe is not None)

    def put(self, worlds: Worlds, state: State | Simulation) -> None:
        """Bring the chosen worlds to a state, of any simulation of the same world; of a Simulation also its Parameters.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("pendulum")
        >>> sim, batch = lw.Simulation(world), lw.Batch(world, 2)
        >>> sim.step(7)
        >>> batch.put([0], sim)
        >>> batch.steps.tolist()
        [7, 0]
        """
        chosen, system, values = self._chosen(worlds), self._threads.first.system, dict[str, float]()
        if isinstance(state, Simulation):
            values = {name: state.get(name) for name in system.model.parameters}
            state = state.state
        if not isinstance(state, State):
            raise LinkworkError(f"Batch: state is {checks.show(state)}; give a state, or a Simulation of the same world")
        refuse_misfit(system, state)
        for name, value in values.items():
            self.set(name, value, worlds)
        self._put(chosen, state, commands=True)

    def _put(self, chosen: IntArray, state: State, commands: bool) -> None:
        """Bring worlds to a state, with its commands or with their own."""
        if not len(chosen):
            return
        arrays, numbers, lender = self._arrays, self._arrays.worlds.numbers, self._threads.first
        first = int(chosen[0])
        with lender.visit(first) as system:
            system.take(state)
        arrays.make_room()
        arrays.rows[np.ix_(chosen, arrays.worlds.state)] = arrays.rows[first, arrays.worlds.state]
        if commands:
            arrays.worlds.controls[chosen] = arrays.rows[first, arrays.worlds.commands]
        arrays.rows[chosen, 0] = arrays.rows[first, 0]
        numbers[chosen, AGE], numbers[chosen, STEPS] = numbers[first, AGE], numbers[first, STEPS]
        if arrays.memories is not None:
            memory = arrays.memory(first)
            for i in chosen.tolist():
                arrays.remember(i, memory)
        self._revive(chosen)

    def _revive(self, chosen: IntArray) -> None:
        """Worlds were written: what failed goes on."""
        self._arrays.ready[chosen] = self._failed[chosen] = False
        for i in chosen.tolist() if self._stopped else ():
            self._stopped.pop(i, None)
            self._reasons.pop(i, None)
        self._moved(chosen)

    @contextmanager
    def _all_or_none(self, chosen: IntArray) -> Iterator[None]:
        before = [self._arrays.copy_of(i) for i in chosen.tolist()]
        try:
            yield
        except BaseException:
            for i, copy in zip(chosen.tolist(), before, strict=True):
                self._arrays.put_copy(i, copy)
            raise

    def state(self, world: int) -> State:
        """The state of a world, which any simulation of the same world takes."""
        i = int(self._chosen([checks.whole(WHO, "world", world)])[0])
        self._check_controls()
        self._arrays.rows[i, self._arrays.worlds.commands] = self.controls[i]
        return self._arrays.state(i, self._start)

    def simulation(self, world: int) -> Simulation:
        """A Simulation with the options of the batch, in the state and with the Parameters of a world. `put` brings it back."""
        state = self.state(world)
        sim = self._threads.make_quietly()
        for name in sim.model.parameters:
            sim.set(name, float(self.get(name)[world]))
        sim.state = state
        return sim

    def set(self, parameter: Parameter | str, values: Numbers, worlds: Worlds = None) -> None:
        """Values of a Parameter, one for each of the chosen worlds or one for all of them; nothing is compiled.

        >>> import linkwork as lw
        >>> k = lw.Parameter(50.0, "k")
        >>> world = lw.World()
        >>> bob = world.add(lw.Particle(1.0, position=(0, 0, -1), name="bob"))
        >>> spring = world.add(lw.Spring(world.ground, bob, stiffness=k, rest=1.0))
        >>> batch = lw.Batch(world, 3)
        >>> batch.set("k", [20.0, 50.0, 80.0])
        >>> batch.step(100)
        >>> batch.positions[:, 0, 2].round(4).tolist()
        [-1.0482, -1.047, -1.0459]
        """
        chosen = self._chosen(worlds)
        system = self._threads.first.system
        name = parameter_name(system.model, parameter)
        rows, check = rows_for(name, values, len(chosen)), system.build.parameter_checks[name].check
        checked = {value: check(value) for value in np.unique(rows).tolist()}
        written = np.array([checked[value] for value in rows.tolist()])
        self._arrays.rows[np.ix_(chosen, system.model.parameters[name][1])] = written[:, None]
        self._arrays.ready[chosen] = False
        self._moved(chosen)

    def get(self, parameter: Parameter | str) -> FloatArray:
        """(n,): the values of a Parameter."""
        system = self._threads.first.system
        found: FloatArray = self._arrays.rows[:, system.model.parameters[parameter_name(system.model, parameter)][1][0]].copy()
        return found
