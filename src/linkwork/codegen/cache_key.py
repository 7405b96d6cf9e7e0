"""What compiled code depends on: digests of the sources it is written by, so that a stale copy is never loaded.

numba knows when the file of a function changes, but not when a file changes from which it takes another function or a number.
So a driver is kept under the digest of its module and of every module of this package which that one imports, directly or not.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
WRITE_KERNELS = ("codegen", "symbolic", "elements", "kernels", "model", "schedules", "engines", "reduced")  # folders
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(linkwork[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+(linkwork[\w.]*))", re.MULTILINE
)


@cache
def kernel_sources() -> str:
    """The digest of every file that takes part in writing kernels."""
    return _digest(path for folder in WRITE_KERNELS for path in sorted((PACKAGE / folder).rglob("*.py")))


@cache
def driver_sources(module: str) -> str:
    """The digest of a module and of all that it imports from this package; of all sources for a module of another one.

    >>> driver_sources("linkwork.contact.law") == driver_sources("linkwork.contact.proximal")
    False
    """
    if _file_of(module) is None:
        return _digest(sorted(PACKAGE.rglob("*.py")))
    found, ahead = set(), [module]
    while ahead:
        name = ahead.pop()
        if name not in found and _file_of(name) is not None:
            found.add(name)
            ahead += _imports(name)
    return _digest(_file_of(name) for name in sorted(found))


def _digest(paths) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(PACKAGE)}".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _file_of(module: str) -> Path | None:
    """The file of one of this package's modules; None for other names."""
    first, *rest = module.split(".")
    if first != "linkwork":
        return None
    place = PACKAGE.joinpath(*rest)
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if rest and path.is_file():
            return path
    return None


@cache
def _imports(module: str) -> list[str]:
    """Modules that one imports; of `from a import b` both a and a.b, which may be one."""
    path = _file_of(module)
    assert path is not None
    found = []
    for source, names, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
        found.append(source or plain)
        found += [f"{source}.{name}" for name in re.findall(r"\w+", names)]
    return found
