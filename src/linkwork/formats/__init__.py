"""Worlds from files and to files: URDF and MJCF of robots, and linkwork's own scene files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from linkwork.elements.core import checks
from linkwork.errors import FileError, Note, suggestion
from linkwork.formats.source import MOST_BYTES, Reading, decode, read
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.errors import Remark
    from linkwork.util.array_types import FilePath


def load(path: FilePath | ModuleType, *, strict: bool = False, root: FilePath | None = None, **options: Any) -> World:
    """A World from a URDF, an MJCF or a scene file, as its ending and its root element say.

    What the file says and linkwork does not do is in `world.remarks`, and told in a Note; with `strict` it is refused. Meshes
    and included files are read from the file's own folder (of URDF: its package); `root` names a folder around it that may be
    read as a whole, for robots that keep their meshes in "../meshes". Of URDF `floating=True` leaves the root link free, which
    else stands still; `packages={"name": folder}` says where `package://name` is, `package_roots` which folders hold
    packages. In the place of a path may stand a module of robot_descriptions. Of MJCF `limits`, `friction` and `contact` are
    "hard", or "none" to leave them out; limits may be "soft". Of scene files `parameters={"name": number}` sets what the file
    declares.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bead.yaml"
    >>> _ = path.write_text('''linkwork: 1
    ... parameters: {length: 20 cm}
    ... elements:
    ...   - Particle: {name: bead, mass: 50 g, position: [0, 0, "{-length}"]}
    ...   - Distance: {name: thread, a: ground, b: bead}
    ... ''')
    >>> load(path, parameters={"length": 0.5}).find("bead").position
    array([ 0. ,  0. , -0.5])
    """
    path, root = _described(path, root)
    checks.flag("load", "strict", strict)
    reader = import_module(f".{format_of(path)}.read", __name__)
    _check_options(path, reader.load, options)
    reading = Reading(path, strict, root=_root(path, root))
    world = reader.load(reading, **options)
    world.remarks = tuple(reading.remarks)
    if world.remarks:
        warnings.warn(_told(path, world.remarks), Note, stacklevel=2)
    found: World = world
    return found


def save(world: World, path: FilePath) -> Path:
    """Write a World to a scene file (.yaml), which `load` reads as the same world. Returns the path.

    >>> import tempfile
    >>> from linkwork.scenes import get
    >>> path = save(get("pendulum"), Path(tempfile.mkdtemp()) / "pendulum.yaml")
    >>> load(path)
    <World: 1 body, 1 constraint, 0 forces>
    """
    if not isinstance(world, World):
        raise FileError(f"save: world is {checks.show(world)}; give a World, of a Simulation sim.world")
    path = _path("save", path)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise FileError(f'{path}: scene files end in .yaml; give a path such as "{path.stem}.yaml"')
    found: Path = import_module(".scene.write", __name__).save(world, path)
    return found


def format_of(path: Path) -> str:
    """ "urdf", "mjcf" or "scene": the module that reads such a file."""
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return "scene"
    if suffix == ".xacro":
        return "urdf"
    if suffix not in (".urdf", ".xml", ".mjcf"):
        raise FileError(f"{path}: linkwork reads .urdf, .xacro, .xml (MJCF), .mjcf and .yaml; give one of these")
    root = import_module(".xml", __name__).root_name(decode(path, read(path, MOST_BYTES)), path)
    if root not in ("robot", "mujoco"):
        raise FileError(f"{path}: its root element is <{root}>; a URDF has <robot> and an MJCF <mujoco>")
    return {"robot": "urdf", "mujoco": "mjcf"}[root]


def _described(given: FilePath | ModuleType, root: FilePath | None) -> tuple[Path, FilePath | None]:
    """The file, and the folder that may be read: of a module of robot_descriptions its model and its repository."""
    if not isinstance(given, ModuleType):
        return _path("load", given), root
    found = next((getattr(given, word) for word in ("URDF_PATH", "XACRO_PATH", "MJCF_PATH") if hasattr(given, word)), None)
    if found is None:
        raise FileError(f"load: the module {given.__name__} names no model; give one with URDF_PATH or MJCF_PATH")
    folders = (getattr(given, word, None) for word in ("REPOSITORY_PATH", "PACKAGE_PATH"))
    return _path("load", found), root if root is not None else next(filter(None, folders), None)


def _path(who: str, given: FilePath) -> Path:
    try:
        return Path(given)
    except TypeError:
        raise FileError(f"{who}: path is {checks.show(given)}; give the path of a file, as text or a Path") from None


def _root(path: Path, given: FilePath | None) -> Path | None:
    """The folder that may be read, without links; the file must lie in it."""
    if given is None:
        return None
    try:
        root = Path(given).resolve()
        inside = path.resolve().is_relative_to(root)
        if root.is_dir() and inside:
            return root
    except (TypeError, OSError, ValueError, RuntimeError):
        raise FileError(f"{path}: root is {checks.show(given)}; give the path of a folder") from None
    problem = "in which this file does not lie" if root.is_dir() else "which is no folder"
    raise FileError(f"{path}: root is {root}, {problem}; give a folder around the file and all that it names")


def _check_options(
    path: Path, reader: Callable[..., World], options: dict[str, str | dict[str, float] | tuple[int, int, float]]
) -> None:
    known = [name for name in signature(reader).parameters if name != "reading"]
    for name in options:
        if name not in known:
            hint = suggestion(name, known) or f"; it takes {', '.join(known)}"
            raise FileError(f'{path}: such a file takes no option "{name}"{hint}')


def _told(path: Path, remarks: tuple[Remark, ...]) -> str:
    """A note of one line: how many remarks there are, and the first; of one alone, why."""
    first = remarks[0]
    place = f"line {first.line}: " if first.file == str(path) and first.line is not None else ""
    place = place if first.file == str(path) else f"{first.file}{'' if first.line is None else f':{first.line}'}: "
    if len(remarks) == 1:
        return f"{path}: 1 thing in it not taken as written: {place}{first.what}: {first.why}; it is in world.remarks"
    where = 'world.remarks has them all, "linkwork info" lists them'
    return f"{path}: {len(remarks)} things in it not taken as written, first {place}{first.what}; {where}"
