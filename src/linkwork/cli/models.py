"""What is to be simulated, from the words of a command: a scene of the gallery or a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from linkwork.errors import LinkworkError

FILES = {".urdf", ".xacro", ".xml", ".mjcf", ".yaml", ".yml"}
SECONDS, DT, RECORD_EVERY = 5.0, 1e-3, 0.01  # s: of files that suggest nothing
OF_RUNS = ("seconds", "record_every", "seed", "shake", "keyframe")  # what a file may suggest beside options of a Simulation


@dataclass(frozen=True)
class Chosen:
    """A world, and how it is best simulated."""

    name: str
    summary: str
    world: object  # World
    parameters: dict
    suggested: dict  # seconds, dt, record_every, seed, and options of the Simulation
    check: Callable | None = None  # sim -> what is known without simulating
    path: Path | None = None  # of the file

    @property
    def options(self):
        """Of the Simulation."""
        return {name: value for name, value in self.suggested.items() if name not in OF_RUNS}


def pick(name, settings=(), *, strict=False, floating=False, meshes_as_found=False, packages=(), root=None):
    """Chosen, from a name or path and a list of "parameter=number"."""
    given = _given(settings)
    path = Path(name)
    if path.suffix.lower() in FILES or path.is_file():
        return _file(path, given, strict, floating, meshes_as_found, packages, root)
    if path.is_dir():
        raise LinkworkError(f'"{name}": it is a folder; give a file in it, such as {path / "scene.yaml"}')
    if strict or floating or meshes_as_found or packages or root is not None:
        words = "--strict, --floating, --meshes-as-found, --package and --root"
        raise LinkworkError(f'"{name}": {words} are for files; leave them out')
    from linkwork import scenes

    scene = scenes.find(name)
    parameters: dict[str, Any] = scene.complete(given)
    suggested = {"seconds": scene.seconds, "dt": scene.dt, "record_every": RECORD_EVERY, **scene.options}
    world = scene.build(**parameters)
    return Chosen(scene.name, scene.summary, world, parameters, suggested, partial(scene.check, **parameters))


def _file(path, given, strict, floating, meshes_as_found, packages, root):
    from linkwork import formats

    options: dict = {}
    kind = formats.format_of(path)
    named = [text for text in packages if "=" in text or not Path(text).is_dir()]
    roots = [text for text in packages if text not in named]
    folders = {"packages": dict(map(_folder, named)), "package_roots": roots}
    for given_word, what, option in ((floating, "--floating sets the root link of a URDF free", {"floating": True}),
                                     (meshes_as_found, "--meshes-as-found is for URDF", {"meshes": "as found"}),
                                     (packages, "--package is for URDF", folders)):  # fmt: skip
        if given_word and kind != "urdf":
            raise LinkworkError(f"{path}: {what}; leave it out")
        options |= option if given_word else {}
    if given and kind != "scene":
        raise LinkworkError(f"{path}: --set {next(iter(given))}: only scene files have parameters; leave it out")
    if given:
        options["parameters"] = given
    world = formats.load(path, strict=strict, root=root, **options)
    suggested = {"seconds": SECONDS, "dt": DT, "record_every": RECORD_EVERY, **world.simulate}
    values = {name: parameter.value for name, parameter in world.parameters.items()} | given
    return Chosen(path.stem, f"from {path}", world, values, suggested, path=path)


def _given(settings):
    """Parameter -> number."""
    found: dict = {}
    for text in settings:
        name, value = _setting(text)
        if name in found:
            raise LinkworkError(f"--set {name}: it is given twice, {found[name]} and {value}; give it once")
        found[name] = value
    return found


def _folder(text):
    name, equals, folder = text.partition("=")
    if not (name.strip() and equals and folder.strip()):
        raise LinkworkError(f'--package "{text}": give a name and a folder, such as --package robot=/folder/of/robot, or a '
                            "folder that holds packages")  # fmt: skip
    return name.strip(), folder.strip()


def _setting(text):
    name, equals, value = text.partition("=")
    try:
        if not equals:
            raise ValueError
        return name.strip(), int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    except ValueError:
        raise LinkworkError(f'--set "{text}": give a parameter and a number, such as --set n=5') from None
