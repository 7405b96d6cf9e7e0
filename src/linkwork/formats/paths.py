"""Where the files are that a model names: `package://`, `file://` and relative paths, in folders that are its own."""

import os
from pathlib import Path

from linkwork.errors import FileError

MODEL_FOLDERS = ("urdf", "robots")  # in a package, models lie in a folder of such a name, and what they name beside it


class Missing(Exception):
    """A file that cannot be found: says why, and what to do."""


class Outside(Exception):
    """A path that leads out of the folders that are the model's own: says where to, and what to do."""


def remedy(folder, path):
    """What to do about a file that lies outside of the folder which may be read: unless both have no folder in common but the
    whole disk, `root` may name one."""
    copied = "put a copy of it there"
    try:
        common = Path(os.path.commonpath([folder, path]))
    except ValueError:  # on different disks
        return copied
    if common == Path(common.anchor):
        return copied
    return f'give root="{common}" (--root) if all of that folder may be read, or {copied}'


class Folders:
    """The folders in which a model's files may lie: its package, or else its own folder, `root`, and those in `packages`.

    >>> from pathlib import Path
    >>> Folders(Path("robots/arm.urdf"), {}).find("meshes/none.stl")
    Traceback (most recent call last):
    linkwork.formats.paths.Missing: there is no such file; put it there
    """

    def __init__(self, model, packages, root=None, roots=()):
        if not isinstance(packages, dict) or not all(isinstance(name, str) for name in packages):
            raise FileError(f'{model}: packages is {packages!r}; give folders by name, such as {{"robot": "/folder/of/robot"}}')
        self.folder = _real(model).parent
        self.package, self.root = _package(self.folder), root
        self.roots = roots
        self.given = {name: _real(Path(folder)) for name, folder in packages.items()}

    def find(self, address):
        """The file that an address means; Missing or Outside where there is none that may be read."""
        scheme, colon, rest = address.partition("://")
        try:
            if not colon:
                found = self._beside(address)
            elif scheme == "file":
                found = self._beside(rest)
            elif scheme == "package":
                found = self._packaged(rest)
            else:
                raise Missing(f'"{scheme}://" is not followed; give a path, package:// or file://')
            if found.is_file():
                return found
        except (OSError, ValueError, RuntimeError) as error:  # too long a name, a circle of links
            raise Missing(f"it cannot be looked up ({error}); give another path") from None
        raise Missing("there is no such file; put it there")

    def _beside(self, path):
        home = self.package or self.folder
        given = Path(path)
        found = _real(self.folder / given)
        if _within(found, (home, *filter(None, (self.root,)), *self.given.values())):
            return found
        problem = f"it lies outside of {self.root or home}; {remedy(home, found)}"
        raise Missing(problem) if given.is_absolute() else Outside(problem)

    def _packaged(self, path):
        name, _, rest = path.lstrip("/").partition("/")
        if name in ("", ".", ".."):
            raise Outside(f'"{name}" is no name of a package; give package://name/path')
        folder = self.given.get(name) or self._known(name) or _below(self.roots, name) or _in_ros(name)
        if folder is None:
            raise Missing(f'there is no package "{name}" around it; give packages={{"{name}": folder}}')
        found = _real(folder / rest)
        if not _within(found, (folder,)):
            raise Outside(f'it lies outside of {folder}; keep what the package "{name}" needs inside of it')
        return found

    def _known(self, name):
        """An enclosing folder of that name, or one beside: either is the model's package, or says that it is one; or one in the
        folder that may be read."""
        own = self.package or self.folder
        if own.name == name:
            return own
        if self.root is not None and (self.root / name).is_dir():
            return _real(self.root / name)
        for folder in self.folder.parents:
            if folder.name == name and _is_package(folder):
                return folder
            if _is_package(folder / name):
                return _real(folder / name)
        return None


def package_folders(reading, given):
    """The folders that hold packages, as paths; what is none is refused."""
    items: list = [given] if isinstance(given, (str, Path)) else list(given) if isinstance(given, (list, tuple)) else [None]
    for item in items:
        if not (isinstance(item, (str, Path)) and Path(item).is_dir()):
            remedy = 'give folders that hold packages, such as ("/opt/ros/humble/share",)'
            reading.fail(None, f"package_roots is {given!r}, and {item!r} is no folder", remedy)
    return [_real(Path(item)) for item in items]


def _below(roots, name):
    """A package in one of the folders: beside others, in an install space that is merged, or in one that is isolated."""
    for root in roots:
        for folder in (root / name, root / "share" / name, root / name / "share" / name):
            if _is_package(folder):
                return _real(folder)
    return None


def found_packages(roots):
    """name -> folder of all packages in such folders."""
    found: dict[str, str] = {}
    for root in roots:
        for pattern in ("*", "share/*", "*/share/*"):
            for file in sorted(root.glob(f"{pattern}/package.xml")):
                found.setdefault(file.parent.name, str(file.parent))
    return found


def _package(folder):
    """The nearest enclosing folder that says it is a package; else the one above a folder of models; else None."""
    for above in (folder, *folder.parents):
        if _is_package(above):
            return above
    return folder.parent if folder.name in MODEL_FOLDERS else None


def _is_package(folder):
    return (folder / "package.xml").is_file()


def _in_ros(name):
    for entry in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
        for folder in (Path(entry), Path(entry) / name):
            if folder.name == name and folder.is_dir():
                return _real(folder)
    return None


def _real(path):
    """The path without links and dots."""
    return Path(os.path.realpath(path))


def _within(path, folders):
    return any(path.is_relative_to(folder) for folder in folders)
