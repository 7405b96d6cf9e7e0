"""Simulation: a compiled world in motion. `step` and `run` first, what can be asked of it below."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter

import numpy as np

from linkwork.elements.core import checks
from linkwork.engines.engine import CUT, OK
from linkwork.engines.integrators import INTEGRATORS
from linkwork.engines.solvers import METHODS, SOLVERS, TANGENTS
from linkwork.errors import DivergenceError, LinkworkError, suggestion
from linkwork.model.model import Arrangement
from linkwork.model.states import MOST_STEPS
from linkwork.simulation import diagnose
from linkwork.simulation.hands import Grabbing
from linkwork.simulation.ode import OdeView
from linkwork.simulation.recorder import Recorder, patient_interrupt
from linkwork.simulation.system import HELD_TEXT, STRETCHED_TEXT, TURNING_TEXT, UNSOLVED_TEXT
from linkwork.symbolic.views import GLOBALS
from linkwork.util.resources import no_collection
from linkwork.util.sealing import Sealed
from linkwork.world import World

RECORD_EVERY = 0.01  # s between frames where nobody says anything else; the nearest number of steps will do
WHOLE = 1e-6  # relative: a number of steps this near to a whole one is whole
CHUNK = 1000  # steps between looks at the recording and the bar
PIECE = 0.05  # s: of steps in one compiled call, after which Python sees whether Ctrl-C was pressed
GROWTH = 8  # times as many steps as in the last piece, at most
REMEMBERED = 2_000_000  # entries of the workspace times steps between two states that are kept ...
SHORTEST, LONGEST = 50, 2000  # ... and the bounds of those steps
LOOKED_AT = 500  # steps of one iteration, after which somebody looks whether constraints hold
DRAWN_IN = 20.0  # times that feedback of first-order motion takes to draw in most of what is off, before somebody looks
UNSOLVED = 1e-5  # m/s that contact velocities may be off without a word


class Simulation(Sealed, Grabbing, OdeView):
    """A world in motion.

    `solver`: tree (linear time), fronts (the same without joining bodies and joints), anticipation (a tree, and loops by their
    response, as one dense system), cg (conjugate gradients: many loops, as in nets), dense (the reference), implicit (stiff
    forces; its integrator is backward-euler); in joint coordinates, with joint-rk4, joint-euler or joint-implicit: aba (linear
    time), ltdl (by the inertia matrix, with loops) and auto (whichever of these two should be faster here).
    `integrator`: rattle (the default), euler, rk4, dopri5, first-order.
    `tolerance`: of rattle's position stage (m), of dopri5, and of Newton's method (m, rad) with implicit.
    `stiffness`, `damping`: Baumgarte feedback k_s (1/s^2) and k_d (1/s) of euler; first-order takes k_s in 1/s.
    `off`: elements that are switched off at the start (`switch`).
    `tangent`: of implicit, symmetric (the default) or exact; `iterations`: 1 is one linear solve a step, None goes on until
    the tolerance is met. `method`: of cg, least-residual (the default), or least-squares, which is as witkin97 prints it and
    squares the condition of the system: many more iterations.

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
    _interrupted: Callable[[], bool] | None = None  # of a run: whether Ctrl-C was pressed
    _piece = 1  # steps of the next compiled call

    def __init__(self, world, dt: float = 1e-3, solver: str = "tree", integrator: str | None = None, *,
                 tolerance: float | None = None, stiffness: float | None = None, damping: float | None = None,
                 tangent: str | None = None, iterations: int | None = None, method: str | None = None,
                 off: Iterable = ()):  # fmt: skip
        if not isinstance(world, World):
            raise LinkworkError(f"Simulation: world is {checks.show(world)}; give a World")
        vars(self).update(world=world, steps=0, age=0, notes=[])
        self._arrangement, self._compiled_at = Arrangement(self._switched(off)), {}
        self._dt = checks.positive(self, "dt", dt)
        if not 1e-100 < self._dt < 1e100:
            raise LinkworkError(f"Simulation: dt is {dt:g} s; give a step between 1e-100 s and 1e100 s")
        solver = vars(self)["solver"] = _known("solver", solver, (*SOLVERS, "auto"))
        if solver == "auto":
            from linkwork.reduced.choice import faster  # as all of reduced: imported by those who use it

            solver = vars(self)["solver"] = faster(self._present)
        integrator = _known("integrator", SOLVERS[solver].integrators[0] if integrator is None else integrator, INTEGRATORS)
        if integrator not in SOLVERS[solver].integrators:
            raise LinkworkError(f'Simulation: the solver "{solver}" does not go with the integrator "{integrator}"; '
                                f"with it go {', '.join(SOLVERS[solver].integrators)}")  # fmt: skip
        vars(self)["integrator_name"] = integrator
        make = INTEGRATORS[integrator]
        self._newton = _newton_options(self, tangent, iterations, method)
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
        with no_collection():
            self._build()
            if integrator == "first-order":
                self._refuse_velocity_forces()
            self._begin()
        self._start = self.model, self.state.copy()

    def __getstate__(self) -> dict:
        self._follow_world()
        if self._hands:
            raise LinkworkError(f"Simulation: {len(self._hands)} hands hold on to it; release them before it is copied")
        return {
            "world": self.world,
            "options": (self._dt, self.solver, self.integrator_name, self._given, self._newton),
            "values": {name: self.get(name) for name in self.model.parameters},
            "compiled at": dict(self._compiled_at),
            "state": self.state,
            "start": self._start_here(),
            "notes": list(self.notes),
        }

    def __setstate__(self, kept: dict) -> None:
        dt, solver, integrator, given, newton = kept["options"]
        vars(self).update(world=kept["world"], notes=kept["notes"], solver=solver, integrator_name=integrator)
        self._arrangement, self._compiled_at = kept["state"].arrangement, kept["compiled at"]
        self._dt, self._given, self._newton = dt, given, newton
        self._build()
        self._put(kept["values"], {})
        self._start = self.model, kept["start"]
        self.state = kept["state"]

    # -- motion ------------------------------------------------------------------------------------------------
    def step(self, n: int = 1) -> None:
        """Make n steps of dt."""
        if not (type(n) is int and 0 <= n <= MOST_STEPS):  # nearly never
            n = checks.whole(self, "n", n, most=MOST_STEPS)
        self._follow_world()
        own = self.__dict__  # to which one assigns much faster than by Sealed
        own["_solved"] = False
        touching, interrupted = self._touching, self._interrupted
        if touching is not None:
            touching.count_anew()
        while n > 0 and (interrupted is None or not interrupted()):
            if self._stale or self.steps >= self._remember_at:
                self._remember()
            if self._stale:
                self._prepare()
            own["_impulses"] = own["_unbooked"] = self.integrator.keeps_impulses
            most = n
            if n > 1:
                most = min(n, self._remember_at - self.steps)
                if self._compares:
                    most = min(most, max(1, self._compare_at - self.steps))
                if self._arrangement.drawn:
                    most = self._steps_to_end(most)
            made, status = self._advance_by_hand(most) if self._hands else self._advance(most)
            n -= made
            if status == CUT:
                status = self._make_in_parts()
                n -= 1
            if touching is not None and self._tells_unsolved and touching.unsolved > UNSOLVED:
                self._tells_unsolved = False
                if not self._tell_contradictions(f"at {self.time:.6g} s"):
                    off = f"some contact impulses until {self.time:.6g} s {UNSOLVED_TEXT} {touching.unsolved:.3g} m/s"
                    self.note(f"Simulation: {off}, which was the best of many iterations; the run goes on")
            if self.programs.iterates:
                self._tell_unmet()
            if status != OK:
                self._stale, self._impulses, self._unbooked = True, False, False
                raise diagnose.reason(self, status)
            if touching is not None and self._tells_held and (held := touching.unanswered) is not None:
                self._tells_held = False
                self._tell_held(*held)
            if touching is not None and self._tells_stretched and (stretched := touching.stretched) is not None:
                self._tells_stretched = False
                self._tell_stretched(*stretched)
            if self._compares and self.steps >= self._compare_at:
                self._compare()
            if n and self._ended():
                self._follow_world()
                touching = self._touching

    def _advance(self, n: int) -> tuple[int, int]:
        """n steps, each with the targets of its motions, if any: (how many were made, status of the last)."""
        own = self.__dict__
        if n == 1 and not self._feed.motions:
            made, status, own["age"] = self.integrator.advance(self.work, n, self.age)
            own["steps"] += made
            return made, status
        made, status = 0, OK
        if not self._feed.motions:
            while made < n and status == OK and not (self._interrupted is not None and self._interrupted()):
                made, status = self._advance_a_piece(n, made)
            return made, status
        for row in self._feed.rows(self.time, self.dt, n):
            self.work[self._feed.where] = row
            more, status, own["age"] = self.integrator.advance(self.work, 1, self.age)
            own["steps"] += more
            made += more
            if status != OK or (self._interrupted is not None and self._interrupted()):
                break
        return made, status

    def _advance_a_piece(self, n: int, made: int) -> tuple[int, int]:
        """Some more of n steps, as many as take a part of a second: (how many are made then, status). How steps are divided
        into calls changes no bit of them."""
        begin = perf_counter()
        own = self.__dict__
        more, status, own["age"] = self.integrator.advance(self.work, min(n - made, self._piece), self.age)
        taken = max(perf_counter() - begin, 1e-9)
        own["_piece"] = max(1, min(GROWTH * self._piece, int(PIECE / taken * max(1, more))))
        own["steps"] += more
        return made + more, status

    def _tell_held(self, pairs: int, named: list) -> None:
        """A note, once, on what presses without an answer."""
        first, others = " and ".join(map(checks.label, named)), f", the first of {pairs} such pairs" if pairs > 1 else ""
        if len(named) == 1:
            self.note(f"{first}: it is at its bound{others}, but constraints or motions hold its bodies, so that {HELD_TEXT}")
            return
        self.note(f"Simulation: {first} press on each other{others}, but joints or motions hold them, so that {HELD_TEXT}; "
                  "give NoContact if they are not meant to touch")  # fmt: skip

    def _tell_stretched(self, element, off: float) -> None:
        """A note, once, on a rope or hard limit that steps do not hold."""
        implicit = self.solver == "implicit"
        better = "iterations=None" if implicit else 'solver="implicit"'
        self.note(f"{checks.label(element)}: {STRETCHED_TEXT} {off:.3g} until {self.time:.6g} s, since a step takes what "
                  f"it holds for straight; {better} holds it at the end of every step")  # fmt: skip

    def _make_in_parts(self) -> int:
        """The first step that must be cut, with a note; from here on they are made without a word."""
        text = diagnose.not_converged(self)
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
        if self.steps >= self._turn_at:
            self._turn_at = 2 * self.steps + 1  # seldom: a look costs as much as many steps of a small world
            self._tell_turning()

    def _tell_turning(self) -> None:
        """A note, once, on a body that turns further in a step than the integrator is good for."""
        if self._tells_turning and self.integrator.most_mixed < np.inf and (found := self._fastest_turn()) is not None:
            mixed, rate, body = found
            if mixed > self.integrator.most_mixed:
                self._tells_turning = False
                better = self.dt * np.sqrt(self.integrator.most_mixed / mixed)
                self.note(f"{checks.label(body)}: {TURNING_TEXT} {rate * self.dt:.2g} rad ({rate:.3g} rad/s) in a step of "
                          f"{self.dt:g} s at {self.time:.6g} s, {self.integrator.mixing.format(better)}")  # fmt: skip

    def _tell_if_loose(self) -> None:
        """A note, once, where single iterations, or feedback that had its time, do not keep a constraint: no tolerance would
        tell."""
        rate = float(self.work[GLOBALS.offset("stiffness")]) if self.integrator_name == "first-order" else 0.0
        looks = self.integrator.iterations == 1 or rate * self.dt * self.steps > DRAWN_IN
        if looks and self.integrator.watched and (text := diagnose.loose(self)) is not None:
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
        if progress is not None:
            checks.flag(self, "progress", progress)
        total = self._whole_run(seconds)
        every = self._steps_in(record_every) if record_every is not None else max(1, total)
        recorder = Recorder(self, [self._name(name) for name in checks.several(self, "record", record)])
        if until is None:  # which may well end the run before memory does
            recorder.refuse_too_many(total // every, seconds)
        recorder.take()
        done = 0
        with recorder.watch(total, progress) as watched, patient_interrupt() as interrupted:
            self._interrupted = interrupted
            try:
                while done < total and not interrupted():
                    chunk = min(every - done % every, total - done, CHUNK)
                    made, ended = self._chunk(chunk, control, until)
                    done += made
                    if done % every == 0 or done == total or ended:
                        recorder.take()
                    watched(done)
                    if ended:
                        recorder.note = f"stopped by until at {self.time:.6g} s"
                        break
                if done < total and interrupted():
                    if done % every:
                        recorder.take()
                    recorder.note = f"interrupted at {self.time:.6g} s"
            except DivergenceError as error:
                recorder.note = str(error)
                error.recording = recorder.recording()
                raise
            finally:
                self._interrupted = None
        self._tell_if_loose()
        self._tell_turning()
        if self._compares:
            self._compare()
        return recorder.recording()

    def _chunk(self, steps: int, control, until) -> tuple[int, bool]:
        """Steps without Python in between where nobody looks: (how many were made, whether `until` ended them). Fewer are made
        where Ctrl-C was pressed."""
        if control is None and until is None:
            before = self.steps
            self.step(steps)
            return self.steps - before, False
        for k in range(steps):
            if self._interrupted is not None and self._interrupted():
                return k, False
            if control is not None:
                control(self)
            self.step()
            if until is not None and until(self):
                return k + 1, True
        return steps, False

    def strike(self, body, impulse, at=None) -> None:
        """An impulse (N s, world) on a body at a local point (default: its position), felt through all joints at once.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("pendulum"))
        >>> sim.strike(sim.model.bodies.elements[0], (0, 0, 1.0))
        """
        number = self._body(body)
        impulse = checks.vector(self, "impulse", impulse)
        local = self._local(number, np.zeros(3) if at is None else checks.vector(self, "at", at))
        kind = self.model.bodies.kinds[number]
        if kind.is_a_point and np.any(local):
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
        return self.model.nbytes + self.programs.nbytes + self.work.nbytes + self._start[1].values.nbytes

    # -- inside ------------------------------------------------------------------------------------------------------

    def _whole_run(self, seconds: float) -> int:
        if not seconds / self.dt < MOST_STEPS:
            raise LinkworkError(
                f"Simulation: seconds is {seconds:g}, {seconds / self.dt:.3g} steps of {self.dt:g} s; give less"
            )
        steps = round(seconds / self.dt)
        if seconds > 0 and not steps:
            self.note(
                f"Simulation: seconds is {seconds:g}, less than half a step of {self.dt:g} s: none is made; take a smaller dt"
            )
        return steps

    def _steps_in(self, record_every: float) -> int:
        """The steps from one frame to the next: at least one, and a note where that is not what was asked for."""
        asked = checks.positive(self, "record_every", record_every) / self.dt
        if not asked < MOST_STEPS:
            raise LinkworkError(
                f"Simulation: record_every is {record_every:g} s, {asked:.3g} steps; give less, or None for the two ends alone"
            )
        steps = max(1, round(asked))
        if abs(asked - steps) > WHOLE * steps and record_every != RECORD_EVERY:
            what = "less than dt" if asked < 1 else "no whole number of steps"
            kept = f"{'each step' if steps == 1 else f'one step in {steps}'} is recorded, {steps * self.dt:g} s apart"
            self.note(f"Simulation: record_every is {record_every:g} s, {what}; {kept}")
        return steps

    def __repr__(self) -> str:
        bodies = len(self.model.bodies.elements)
        return f"<Simulation at {self.time:.6g} s: {bodies} bodies, {self.solver}, {self.integrator_name}>"


def _known(what: str, name, table) -> str:
    if not isinstance(name, str) or name not in table:
        shown = f'"{name}"' if isinstance(name, str) else checks.show(name)
        raise LinkworkError(f"Simulation: no {what} is called {shown}{suggestion(name, table)}; "
                            f"there are {', '.join(table)}")  # fmt: skip
    return name


def _newton_options(sim: Simulation, tangent: str | None, iterations: int | None, method: str | None) -> tuple[str, int]:
    """(tangent, iterations; 0: until the tolerance is met), of cg (method, 0), refused where the solver has none."""
    if method is not None and sim.solver != "cg":
        raise LinkworkError(f'Simulation: the solver "{sim.solver}" takes no method; use solver="cg", or leave it out')
    if sim.solver != "implicit":
        for name, value in (("tangent", tangent), ("iterations", iterations)):
            if value is not None:
                raise LinkworkError(
                    f'Simulation: the solver "{sim.solver}" takes no {name}; use solver="implicit", or leave it out'
                )
        return _known("method", METHODS[0] if method is None else method, METHODS) if sim.solver == "cg" else "symmetric", 0
    whole = isinstance(iterations, (int, np.integer)) and not isinstance(iterations, bool)
    if iterations is not None and not (whole and iterations >= 1):
        raise LinkworkError(f"Simulation: iterations is {checks.show(iterations)}; give a whole number, at least 1, or None")
    return _known("tangent", "symmetric" if tangent is None else tangent, TANGENTS), int(iterations or 0)
