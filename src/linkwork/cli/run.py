"""linkwork run: simulate a scene, print a report, leave a recording and pictures."""

from pathlib import Path

import typer

from ..errors import DivergenceError, LinkworkError


def run(
    scene: str = typer.Argument(help='A name that "linkwork scenes" lists.'),
    seconds: float = typer.Option(None, help="How long to simulate; each scene suggests a time."),
    dt: float = typer.Option(None, help="The time step in seconds; each scene suggests one."),
    solver: str = typer.Option(
        None,
        help="tree, fronts, anticipation, cg (many loops), dense, implicit (stiff forces); aba, ltdl, auto (joint "
        "coordinates); each scene suggests one.",
    ),
    integrator: str = typer.Option(None, help="rattle (constraints exact), euler, rk4, ...; each solver has one."),
    record_every: float = typer.Option(0.01, help="Seconds between recorded frames."),
    out: Path = typer.Option(None, metavar="DIR", help="Leave recording, plot, animation and report here."),
    settings: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="A parameter of the scene; repeatable."),
):
    """Simulate a scene and print a short report. Nothing is written without --out."""
    from .gallery import pick

    chosen, parameters = pick(scene, settings)
    options = {
        "seconds": chosen.seconds if seconds is None else seconds,
        "dt": chosen.dt if dt is None else dt,
        "solver": solver or chosen.options.get("solver", "tree"),
        "integrator": integrator,
        "record_every": record_every,
    }
    if out is not None:
        _make(out)
    try:
        recording, report = _simulate(chosen, parameters, options)
    except DivergenceError as error:
        recording = getattr(error, "recording", None)
        if out is not None and recording is not None:
            typer.echo(f"what was recorded until then is in {recording.save(out / 'recording.nc')}")
        raise
    from .report import text

    typer.echo(text(report))
    if out is not None:
        _leave(recording, report, out)
    if report["interrupted"]:
        raise typer.Exit(130)


def _simulate(chosen, parameters, options):
    """(Recording, report) of one run."""
    import time

    from .. import Simulation
    from . import report
    from .version import versions

    begin = time.perf_counter()
    world = chosen.build(**parameters)
    given = {"solver": options["solver"], "integrator": options["integrator"]}
    if given["solver"] == chosen.options.get("solver"):
        given = {**chosen.options, **given}
    sim = Simulation(world, dt=options["dt"], **given)
    options["solver"], options["integrator"] = sim.solver, sim.integrator_name  # as they were chosen
    start = report.energies(sim)
    compiled = time.perf_counter()
    recording = sim.run(options["seconds"], record_every=options["record_every"])
    took = time.perf_counter() - compiled
    steps = round(sim.time / options["dt"])
    recording.attributes |= {"scene": chosen.name, "parameters": parameters, **options}
    return recording, {
        "scene": chosen.name,
        "parameters": parameters,
        "options": options,
        "interrupted": steps < round(options["seconds"] / options["dt"]),  # nothing else ends a run early
        "time": float(sim.time),
        "steps": steps,
        "frames": len(recording),
        "compile_seconds": compiled - begin,
        "run_seconds": took,
        "steps_per_second": report.speed(sim),
        "steps_per_second_recording": steps / took,
        "drift": {
            "largest": float(recording.drift.max()),
            "end": float(sim.drift()),
            "end_velocity": float(sim.drift(velocity=True)),
        },
        "energy": {"start": start, "end": report.energies(sim)},
        "reactions": report.reactions(sim, world),
        "facts": report.facts(chosen, sim, parameters),
        "model": sim.model.summary(),
        "versions": versions(),
    }


def _make(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LinkworkError(f'--out "{folder}": {error.strerror}; give a folder that can be made') from None


def _leave(recording, report, folder):
    """The files of a run, in its folder."""
    import json

    from .report import text

    try:
        (folder / "report.txt").write_text(text(report) + "\n", encoding="utf-8")
        (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        recording.save(folder / "recording.nc")
        recording.plot(path=folder / "plot.png")
        recording.animate(folder / "motion.gif")
    except OSError as error:
        raise LinkworkError(f'--out "{folder}": {error.strerror or error}; give a folder with room to write') from None
    typer.echo(f"left in {folder}: recording.nc, plot.png, motion.gif, report.txt, report.json")
