"""One run of the command line: options, the loop with its checkpoints, what is left in the folder."""

import contextlib
import json
import sys
import time
import warnings

from linkwork import Simulation
from linkwork.cli import report as reports
from linkwork.cli.run import CHECKPOINT, COMPARED, RECORDING, SCENE, SHAKE, refuse_a_run
from linkwork.cli.version import versions
from linkwork.elements.core import checks
from linkwork.errors import DivergenceError, FileError, LinkworkError, Note
from linkwork.formats.scene.write import text as text_of
from linkwork.recording.recording import Recording
from linkwork.simulation import checkpoints
from linkwork.simulation.progress import Bar, Interrupted, Lines, patient_interrupt, watch
from linkwork.simulation.recorder import Recorder
from linkwork.simulation.runner import steps_in, whole_run
from linkwork.util.atomic_io import claimed, whole

OFTEN = 60.0  # seconds between checkpoints; they also take no more than about a twentieth of the time of a run
SHARE = 20  # times what the last checkpoint took
CHUNK = 1000  # steps between looks at the keyboard and the clock
WORDS = ("settings", "strict", "floating", "meshes_as_found", "packages")  # of the command, by which the world was made
REACTIONS = 12  # constraints whose reactions are recorded, the first ones


class Run:
    """A run that is being made: `simulate`, then `report`, then `leave`."""

    def __init__(self, chosen, given, out, kept, words, held, overwrite=False):
        self.chosen, self.out, self.kept, self.words = chosen, out, kept, words
        self.options = _options(chosen, given, None if self.kept is None else self.kept.facts)
        world, options = chosen.world, self.options
        if options["seed"] is not None:
            push(world, options["seed"], options["shake"])
        begin = time.perf_counter()
        own = _of_simulation(chosen, options)
        with warnings.catch_warnings():
            if options["seed"] is not None:  # pushes know nothing of constraints: it is no news that these take some of them
                warnings.filterwarnings("ignore", ".*velocities as built were off", Note)
            self.sim = sim = _simulation(chosen, own)
        options["solver"], options["integrator"] = sim.solver, sim.integrator_name  # as they were chosen
        if sim.choice is not None:
            options["method"] = None
        suggested = ("seconds", "dt", "solver", "integrator", "method", "record_every", "keyframe")
        world.simulate = {name: options[name] for name in suggested if options[name] is not None} | {
            name: value for name, value in own.items() if name not in options
        }
        if options["keyframe"] is not None:
            sim.reset(options["keyframe"])
        self.start = reports.energies(sim)
        self.total = whole_run(checks.non_negative(sim, "seconds", options["seconds"]), sim.dt, sim.notes)
        self.every = steps_in(options["record_every"], sim.dt, sim.notes)
        self.recorder = Recorder(sim, [c.name for c in world.constraints[:REACTIONS]])
        self.recorder.refuse_too_many(self.total // self.every, options["seconds"])
        self.before: Recording | None = None
        if self.kept is not None:
            self._go_on()
        elif out is not None:
            self._begin(overwrite, held)
        self.compile_seconds = time.perf_counter() - begin
        self.first = sim.steps
        self.interrupted = False

    # -- motion ------------------------------------------------------------------------------------------------
    def simulate(self):
        """The Recording of the whole run; Ctrl-C ends it after a whole step."""
        sim, recorder, begin = self.sim, self.recorder, time.perf_counter()
        shown = Bar if sys.stderr.isatty() else Lines
        if self.before is None:
            recorder.take()
        left, saved, cost = self.total - sim.steps, begin, 0.0
        with watch(left, True, shown) as watched, patient_interrupt(sim._runner.in_long_step) as pressed:
            try:
                while sim.steps < self.total and not pressed():
                    sim.step(min(self.every - sim.steps % self.every, self.total - sim.steps, CHUNK))
                    if sim.steps % self.every == 0 or sim.steps == self.total:
                        recorder.take()
                    watched(sim.steps - self.first)
                    now = time.perf_counter()
                    if self.out is not None and now - saved > max(OFTEN, SHARE * cost):
                        self._check()
                        saved = time.perf_counter()
                        cost = saved - now
            except Interrupted:
                pass
            except DivergenceError as error:
                recorder.note = str(error)
                error.recording = self._recording()
                raise
        self.interrupted = sim.steps < self.total
        if self.interrupted and sim.steps % self.every:
            recorder.take()
        if self.interrupted:
            recorder.note = f"interrupted at {sim.time:.6g} s"
        self.run_seconds = time.perf_counter() - begin
        return self._recording()

    def _recording(self):
        """All frames from the start, also those from before the run went on."""
        found = self.before
        if self.recorder.samples:
            fresh = self.recorder.recording()
            found = fresh if found is None else found.joined(fresh)
        assert found is not None  # there is a frame from before, or one at the start
        found.attributes |= {"scene": self.chosen.name, "parameters": self.chosen.parameters, **self.options}
        found.attributes["steps"] = self.sim.steps
        if self.recorder.note is None:
            found.attributes.pop("note", None)
        return found

    # -- what is kept ------------------------------------------------------------------------------------------
    def _begin(self, overwrite, held):
        """The folder, with the scene in it: the first that is written, once the model stands. Another run may be at work in it
        by now, or have been."""
        with self._writing():
            self.out.mkdir(parents=True, exist_ok=True)
        hold(self.out, held)
        if not overwrite:
            refuse_a_run(self.out)
        with self._writing():
            for name in (CHECKPOINT, RECORDING):
                (self.out / name).unlink(missing_ok=True)
            self._save_scene()

    def _save_scene(self):
        """The exact scene, with the options of this run: `linkwork run scene.yaml` is the same run again."""
        with whole(self.out / SCENE) as beside:
            beside.write_text(text_of(self.chosen.world), encoding="utf-8")

    def _go_on(self):
        """Take up the state of the checkpoint, and the frames until then."""
        said = (self.out / SCENE).read_text(encoding="utf-8", errors="replace")
        if _without_options(said) != _without_options(text_of(self.chosen.world)):
            remedy = "give what the run began with, or another folder"
            raise LinkworkError(f'--resume: "{self.chosen.name}" is no longer what {self.out / SCENE} says; {remedy}')
        if self.total < self.kept.state.steps:
            there = f'the run in "{self.out}" is at {self.kept.state.time:g} s already'
            raise LinkworkError(f"--seconds: {there}, and {self.options['seconds']:g} s are less; give more, or leave it out")
        self.before = Recording.load(self.out / RECORDING)
        self.kept.put(self.sim)
        frames = self.sim.steps // self.every + 1
        if len(self.before) < frames:
            raise LinkworkError(f'--resume: "{self.out / RECORDING}" ends before its checkpoint; begin the run anew')
        self.before = self.before.first(frames)
        with self._writing():
            self._save_scene()

    def _check(self):
        """A checkpoint, after the frames that belong to it."""
        self.save(self._recording())
        self._save_state()

    def _save_state(self):
        facts = {**self.options, **self.words, "scene": self.chosen.name, "versions": versions()}
        with self._writing():
            checkpoints.save(self.sim, self.out / CHECKPOINT, **facts)

    def save(self, recording):
        with self._writing():
            return recording.save(self.out / RECORDING)

    def leave(self, recording, report):
        """Write the files of the run; returns their names."""
        self.save(recording)
        self._save_state()
        with self._writing():
            for name, text in (("report.txt", reports.text(report)), ("report.json", json.dumps(report, indent=2))):
                with whole(self.out / name) as beside:
                    beside.write_text(text + "\n", encoding="utf-8")
            recording.plot(path=self.out / "plot.png")
            return [RECORDING, CHECKPOINT, SCENE, "plot.png", self._moving_picture(recording), "report.txt", "report.json"]

    def _moving_picture(self, recording):
        """A replay page; where viser is not installed, an animation."""
        try:
            import viser  # noqa: F401
        except ImportError:
            return recording.animate(self.out / "motion.gif").name
        return recording.replay(self.out / "replay.html").name

    def _writing(self):
        return _writing(self.out)

    def report(self, recording):
        """What is to be told of the run, as plain data."""
        sim, world = self.sim, self.chosen.world
        made = sim.steps - self.first
        forces_known = made or not world.contacts  # those of contacts are of the last step, and not part of the state
        found = {
            "scene": self.chosen.name,
            "file": None if self.chosen.path is None else str(self.chosen.path),
            "parameters": self.chosen.parameters,
            "options": self.options,
            "choice": None if self.sim.choice is None else str(self.sim.choice),
            "interrupted": self.interrupted,
            "resumed": None if self.kept is None else self.first,
            "time": float(sim.time),
            "steps": sim.steps,
            "frames": len(recording),
            "compile_seconds": self.compile_seconds,
            "run_seconds": self.run_seconds,
            "steps_per_second_recording": made / self.run_seconds,
            "drift": {
                "largest": float(recording.drift.max()),
                "end": float(sim.drift()),
                "end_velocity": float(sim.drift(velocity=True)),
            },
            "energy": {"start": self.start, "end": reports.energies(sim)},
            "reactions": reports.reactions(sim, world) if forces_known else [],
            "facts": reports.facts(self.chosen, sim) if forces_known else [],
            "model": sim.model.summary(),
            "remarks": [str(remark) for remark in world.remarks],
            "versions": versions(),
        }
        # last: a simulation that is put back where it was has the state of the end, but not the forces of its last step
        return found | {"steps_per_second": reports.speed(sim, self.options["keyframe"])}


@contextlib.contextmanager
def _writing(out):
    try:
        yield
    except OSError as error:
        raise LinkworkError(f'--out "{out}": {error.strerror or error}; give a folder that can be made and has room') from None


def hold(folder, held):
    """Keep every other run out of a folder until this one is done; `held` is the ExitStack that lets go of it."""
    with _writing(folder):
        alone = held.enter_context(claimed(folder))
    if not alone:
        raise LinkworkError(f'--out "{folder}": another run is writing to it; give another folder, or wait until it is done')


def kept_in(folder):
    """The Checkpoint of the run in a folder."""
    kept = checkpoints.load(folder / CHECKPOINT)
    kept.facts.setdefault("method", None)  # which runs of older versions do not name, for there was one alone
    missing = {"seconds", *COMPARED, *WORDS} - set(kept.facts)
    if missing:
        raise LinkworkError(f'--resume: "{folder / CHECKPOINT}" says nothing of {min(missing)}; it is of no run, begin anew')
    return kept


def push(world, seed, shake):
    """Add velocities drawn at random (standard deviation `shake`, m/s) to those that bodies start with; constraints then take
    of them what they do not allow."""
    import numpy as np

    shake = checks.positive("run", "shake", shake)
    random = np.random.default_rng(seed)
    for body in world.bodies:
        velocity = getattr(body, "velocity", None)
        if velocity is not None and body.mass > 0:
            body.velocity = velocity + shake * random.normal(size=len(velocity))
    world._changed()


def _options(chosen, given, kept):
    """All options of a run: those given, then those of the run that goes on or those that the scene suggests."""
    unless_told = dict.fromkeys(("integrator", "method", "keyframe", "seed", "shake"))
    suggested = {"solver": "tree", **unless_told, **chosen.suggested}
    if kept is not None:
        for name in COMPARED:
            if name in given and given[name] != kept[name]:
                raise LinkworkError(
                    f"--{name.replace('_', '-')}: the run that goes on has {kept[name]}, not {given[name]}; leave it out"
                )
        suggested = {name: kept[name] for name in ("seconds", *COMPARED)}
    options = {name: given.get(name, suggested[name]) for name in ("seconds", *COMPARED)}
    if "solver" in given and kept is None and given["solver"] != chosen.suggested.get("solver"):
        options |= {name: given.get(name) for name in ("integrator", "method")}  # which go with the solver
    if None not in (options["seed"], options["keyframe"]) and kept is None:
        raise LinkworkError(
            f'--seed: the keyframe "{options["keyframe"]}" says how fast everything starts, and pushes are lost; leave one out'
        )
    if options["seed"] is None and "shake" in given:
        raise LinkworkError("--shake: without --seed nothing is pushed; give --seed too")
    if options["seed"] is not None and options["shake"] is None:
        options["shake"] = SHAKE
    return options


def _simulation(chosen, own):
    """A Simulation; what it refuses is said of the file, if there is one."""
    try:
        return Simulation(chosen.world, **own)
    except LinkworkError as error:
        raise error if chosen.path is None else FileError(f"{chosen.path}: {error}") from None


def _of_simulation(chosen, options):
    """Keyword arguments of the Simulation: what the scene suggests for its own solver goes with that one alone."""
    own = chosen.options
    more = own if options["solver"] == own.get("solver", "tree") else {k: v for k, v in own.items() if k == "off"}
    return {**more, **{name: options[name] for name in ("dt", "solver", "integrator", "method")}}


def _without_options(text):
    """The text of a scene but for the line of options, of which the seconds may change when a run goes on."""
    return [line for line in text.splitlines() if not line.startswith("simulate: ")]
