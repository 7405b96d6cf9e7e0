"""Runner: steps, one after another, with what is told about them, and runs that are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from linkwork.elements.core import checks
from linkwork.engines.step_driver import CUT, OK
from linkwork.errors import DivergenceError, LinkworkError
from linkwork.model.states import MOST_STEPS
from linkwork.simulation import diagnose
from linkwork.simulation.editor import Editor
from linkwork.simulation.hands import Hands
from linkwork.simulation.notes import Notes
from linkwork.simulation.progress import patient_interrupt
from linkwork.simulation.recorder import Recorder
from linkwork.simulation.system import System
from linkwork.simulation.watch import make_in_parts

if TYPE_CHECKING:
    from linkwork.recording.recording import Recording
    from linkwork.simulation.query import Query
    from linkwork.simulation.simulation import Simulation

RECORD_EVERY = 0.01  # s between frames where nobody says anything else; the nearest number of steps will do
WHOLE = 1e-6  # relative: a number of steps this near to a whole one is whole
CHUNK = 1000  # steps between looks at the recording and the bar

Callback: TypeAlias = "Callable[[Simulation], object]"


class Runner:
    """Makes the steps of a simulation."""

    __slots__ = ("editor", "hands", "interrupted", "query")

    def __init__(self, editor: Editor, hands: Hands, query: Query) -> None:
        self.editor, self.hands, self.query = editor, hands, query
        self.interrupted: Callable[[], bool] | None = None  # of a run: whether Ctrl-C was pressed

    def step(self, n: int) -> None:
        """Make n steps of dt."""
        if not (type(n) is int and 0 <= n <= MOST_STEPS):  # nearly never
            n = checks.whole("Simulation", "n", n, most=MOST_STEPS)
        editor, hands, interrupted = self.editor, self.hands, self.interrupted
        system = editor.follow()
        if system.contact is not None:
            system.contact.count_anew()
        while n > 0 and (interrupted is None or not interrupted()):
            watch, validity = system.watch, system.validity
            most = self._until_sample(n) if system.samples else n
            if not validity.kept or system.steps >= watch.remember_at:
                watch.remember(system)
            if not validity.ready:
                system.prepare()
            if most > 1:
                most = min(most, watch.remember_at - system.steps)
                if watch.compares:
                    most = min(most, max(1, watch.compare_at - system.steps))
                if system.arrangement.drawn:
                    most = editor.steps_to_end(most)
            if hands.handles:
                made, status = hands.advance(most, interrupted)
                system = editor.system
                watch = system.watch
            else:
                made, status = system.advance(most, interrupted)
            n -= made
            if status != OK:
                n -= self._past_trouble(system, status)
            elif system.contact is not None or system.schedules.iterates:
                watch.after(system)
            if watch.compares and system.steps >= watch.compare_at:
                watch.compare(system)
            if system.samples:
                self.query.sensors().after_step()
            if n and system.arrangement.drawn and editor.ended():
                system = editor.follow()

    def _until_sample(self, n: int) -> int:
        """How many of n steps can be made before a sensor samples, which those begin with that have no sample yet."""
        readout = self.query.sensors()
        readout.begin()
        return readout.steps_to_next(n)

    def _past_trouble(self, system: System, status: int) -> int:
        """How many more steps were made, after steps ended with a status that is not OK: one that must be made in parts is
        made; else the error says why it stopped."""
        more = 0
        if status == CUT:
            status = make_in_parts(system)
            more = 1
        system.watch.after(system, status == OK)
        if status != OK:
            system.validity.failed()
            raise diagnose.reason(system, status, self.editor.start_in(system))
        return more

    def in_long_step(self) -> bool:
        """Whether a step is under way that takes long and can be taken back."""
        return self.editor.system.before is not None

    # -- runs ------------------------------------------------------------------------------------------------------------
    def run(self, sim: Simulation, seconds: float, record_every: float | None, control: Callback | None,
            until: Callback | None, record: Iterable[str], progress: bool | None) -> Recording:  # fmt: skip
        """Simulate for some seconds and return a Recording."""
        seconds = checks.non_negative("Simulation", "seconds", seconds)
        for name, function in (("control", control), ("until", until)):
            if function is not None and not callable(function):
                raise LinkworkError(f"Simulation: {name} is {checks.show(function)}; give a function of the simulation")
        if progress is not None:
            checks.flag("Simulation", "progress", progress)
        notes, dt = self.editor.system.notes, self.editor.system.dt
        total = whole_run(seconds, dt, notes)
        every = steps_in(record_every, dt, notes) if record_every is not None else max(1, total)
        names = [str(getattr(name, "name", name)) for name in checks.several("Simulation", "record", record)]
        recorder = Recorder(sim, names)
        if until is None:  # which may well end the run before memory does
            recorder.refuse_too_many(total // every, seconds)
        recorder.take()
        with recorder.watch(total, progress) as watched, patient_interrupt(self.in_long_step) as interrupted:
            self.interrupted = interrupted
            try:
                self._record(sim, recorder, total, every, watched, control, until)
            except DivergenceError as error:
                recorder.note = str(error)
                error.recording = recorder.recording()
                raise
            finally:
                self.interrupted = None
        system = self.editor.system
        system.watch.at_the_end(system)
        return recorder.recording()

    def _record(self, sim: Simulation, recorder: Recorder, total: int, every: int, watched: Callable[[int], None],
                control: Callback | None, until: Callback | None) -> None:  # fmt: skip
        """The steps of a run, and a sample every so many of them."""
        done, interrupted = 0, self.interrupted
        assert interrupted is not None
        while done < total and not interrupted():
            chunk = min(every - done % every, total - done, CHUNK)
            made, ended = self._chunk(sim, chunk, control, until)
            done += made
            if done % every == 0 or done == total or ended:
                recorder.take()
            watched(done)
            if ended:
                recorder.note = f"stopped by until at {sim.time:.6g} s"
                return
        if done < total and interrupted():
            if done % every:
                recorder.take()
            recorder.note = f"interrupted at {sim.time:.6g} s"

    def _chunk(self, sim: Simulation, steps: int, control: Callback | None, until: Callback | None) -> tuple[int, bool]:
        """Steps without Python in between where nobody looks: (how many were made, whether `until` ended them). Fewer are made
        where Ctrl-C was pressed."""
        if control is None and until is None:
            before = sim.steps
            sim.step(steps)
            return sim.steps - before, False
        for k in range(steps):
            if self.interrupted is not None and self.interrupted():
                return k, False
            if control is not None:
                control(sim)
            sim.step()
            if until is not None and until(sim):
                return k + 1, True
        return steps, False


def whole_run(seconds: float, dt: float, notes: Notes) -> int:
    """The steps of a run of so many seconds."""
    if not seconds / dt < MOST_STEPS:
        raise LinkworkError(f"Simulation: seconds is {seconds:g}, {seconds / dt:.3g} steps of {dt:g} s; give less")
    steps = round(seconds / dt)
    if seconds > 0 and not steps:
        notes.add(f"Simulation: seconds is {seconds:g}, less than half a step of {dt:g} s: none is made; take a smaller dt")
    return steps


def steps_in(record_every: float, dt: float, notes: Notes) -> int:
    """The steps from one frame to the next: at least one, and a note where that is not what was asked for."""
    asked = checks.positive("Simulation", "record_every", record_every) / dt
    if not asked < MOST_STEPS:
        raise LinkworkError(
            f"Simulation: record_every is {record_every:g} s, {asked:.3g} steps; give less, or None for the two ends alone"
        )
    steps = max(1, round(asked))
    if abs(asked - steps) > WHOLE * steps and record_every != RECORD_EVERY:
        what = "less than dt" if asked < 1 else "no whole number of steps"
        kept = f"{'each step' if steps == 1 else f'one step in {steps}'} is recorded, {steps * dt:g} s apart"
        notes.add(f"Simulation: record_every is {record_every:g} s, {what}; {kept}")
    return steps
