"""linkwork run: simulate a scene or a file, print a report, leave a recording, pictures and what is needed to go on."""

from contextlib import ExitStack
from pathlib import Path

import typer

from linkwork.cli.options import AsFound, Floating, Packages, Root, Settings, Strict, say
from linkwork.errors import DivergenceError, LinkworkError

CHECKPOINT, RECORDING, SCENE = "checkpoint.npz", "recording.nc", "scene.yaml"
OF_A_RUN = (CHECKPOINT, RECORDING, SCENE, "report.json")  # by these a folder is known to hold one
COMPARED = (
    "dt",
    "solver",
    "integrator",
    "method",
    "record_every",
    "keyframe",
    "seed",
    "shake",
)  # which must be the same when a run goes on
SHAKE = 0.1  # m/s


def run(
    scene: str = typer.Argument(help='A name that "linkwork scenes" lists, or a .urdf, .xml (MJCF) or .yaml file.'),
    seconds: float = typer.Option(None, help="How long to simulate, from the start; scenes suggest a time, files 5 s."),
    dt: float = typer.Option(None, help="The time step in seconds; scenes suggest one, files 0.001."),
    solver: str = typer.Option(
        None,
        help="tree, fronts, anticipation, cg (many loops), dense, implicit (stiff forces); aba, ltdl, auto (joint "
        "coordinates); each scene suggests one.",
    ),
    integrator: str = typer.Option(None, help="rattle (constraints exact), euler, rk4, ...; each solver has one."),
    method: str = typer.Option(None, help="Of cg: least-residual, or least-squares as witkin97 prints it, which takes longer."),
    record_every: float = typer.Option(None, help="Seconds between recorded frames; 0.01 unless the scene says otherwise."),
    out: Path = typer.Option(None, metavar="DIR", help="Leave recording, plots, replay page, scene and report here."),
    keyframe: str = typer.Option(None, metavar="NAME", help="Start from this keyframe of the file."),
    seed: int = typer.Option(
        None, min=0, help="Start each body with a push at random, by this seed. Nothing else in a run is random."
    ),
    shake: float = typer.Option(None, help="How fast these pushes are, m/s (standard deviation); 0.1 unless told otherwise."),
    settings: Settings = [],  # noqa: B006
    resume: bool = typer.Option(False, "--resume", help="Go on with the run in --out from its checkpoint, bit for bit."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace the run that is in --out."),
    strict: Strict = False,
    floating: Floating = False,
    meshes_as_found: AsFound = False,
    packages: Packages = [],  # noqa: B006
    root: Root = None,
):
    """Simulate a scene or a file and print a short report. Nothing is written without --out. Ctrl-C ends a run after a whole
    step and keeps it; --resume goes on with it."""
    given = {
        "seconds": seconds, "dt": dt, "solver": solver, "integrator": integrator, "record_every": record_every, "seed": seed,
        "shake": shake, "keyframe": keyframe, "method": method,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    _look(out, resume, overwrite)
    words = {"settings": settings, "strict": strict, "floating": floating, "meshes_as_found": meshes_as_found,
             "packages": packages, "root": root}  # fmt: skip
    with ExitStack() as held:  # the folder, from the moment when there is one
        _run(scene, given, words, out, resume, overwrite, held)


def _run(scene, given, words, out, resume, overwrite, held):
    kept = None
    if resume:
        from linkwork.cli.run_loop import hold, kept_in

        hold(out, held)
        kept = kept_in(out)
        words = {name: value or kept.facts.get(name) for name, value in words.items()}
    chosen = _pick(scene, words, kept, out)
    from linkwork.cli.run_loop import Run

    work = Run(chosen, given, out, kept, words, held, overwrite)
    try:
        recording = work.simulate()
    except DivergenceError as error:
        recording = getattr(error, "recording", None)
        if out is not None and recording is not None:
            say(f"what was recorded until then is in {work.save(recording)}")
        raise
    from linkwork.cli.report import text

    report = work.report(recording)
    say(text(report))
    if out is not None:
        say(f"left in {out}: {', '.join(work.leave(recording, report))}")
    if report["interrupted"]:
        again = f'; "linkwork run {scene} --out {out} --resume" goes on' if out is not None else ""
        say(f"linkwork: stopped by Ctrl-C at {report['time']:g} s{again}", err=True)
        raise typer.Exit(130)


def _pick(scene, words, kept, out):
    """What is to be simulated; where a run goes on, what is refused may come from the words that it began with."""
    from linkwork.cli.models import pick

    try:
        return pick(scene, **words)
    except LinkworkError as error:
        if kept is None:
            raise
        began = " ".join([f'"{kept.facts["scene"]}"', *(f"--set {text}" for text in kept.facts["settings"])])
        raise LinkworkError(f'--resume: the run in "{out}" began with {began}: {error}') from None


def _look(out, resume, overwrite):
    """Refuse a folder that holds a run, or none where one goes on."""
    if resume and out is None:
        raise LinkworkError("--resume: there is no folder to go on from; give --out with the folder of the run")
    if resume and overwrite:
        raise LinkworkError("--resume and --overwrite exclude each other; leave one of them out")
    if out is None:
        return
    missing = next((name for name in (CHECKPOINT, RECORDING, SCENE) if not (out / name).is_file()), None)
    if resume and missing is not None:
        raise LinkworkError(f'--resume: "{out}" holds no {missing} to go on from; begin the run anew')
    if not (resume or overwrite):
        refuse_a_run(out)


def refuse_a_run(out):
    """A folder in which there is something that a run would write over."""
    held = next((name for name in OF_A_RUN if (out / name).exists()), None)
    if held is not None:
        go_on = "--resume to go on, " if (out / CHECKPOINT).is_file() else ""
        raise LinkworkError(f'--out "{out}": it holds a run already ({held}); give another folder, {go_on}or --overwrite')
