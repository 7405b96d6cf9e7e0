"""The folder in which compiled code is kept: what is read from it is run, so it is looked at first.

A file is a digest and the content it is of. The digest counts the file's name too, so that one file does not pass for another.
A file that is cut short or has a wrong bit is as good as none: its content is compiled anew. So is a file that another user
wrote or may have changed: a digest says that a file is whole, only its owner says whose it is.

Nothing here fails a run: without a folder, or with one that is read-only or full, code is compiled in each run, and a sentence
says so once.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

DIGEST = 32  # bytes
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no link to elsewhere, no pipe that is waited for
REMEDY = "set LINKWORK_CACHE to a folder that you alone can write to"


@cache
def cache_folder() -> Path | None:
    """Where compiled code is kept: LINKWORK_CACHE, or the user's cache folder. None where there is no such folder to be had."""
    chosen = os.environ.get("LINKWORK_CACHE")
    if chosen:
        return Path(chosen).absolute()
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if caches.is_absolute():
        return caches / "linkwork"
    try:
        return Path.home() / ".cache" / "linkwork"
    except RuntimeError:  # no HOME, and the system does not know this user
        return None


def read(name: str) -> bytes | None:
    """What was kept under a name, a path within the folder; None where there is nothing that can be trusted."""
    folder = cache_folder()
    return None if folder is None else _read(folder / name, name, _trusted, REMEDY)


def read_shipped(folder: Path, name: str) -> bytes | None:
    """What was installed with this package. It counts if nobody but who may change the sources beside it may change it."""
    return _read(folder / name, name, _as_sources, "install linkwork anew")


def _read(path: Path, name: str, trusted: Callable[[os.stat_result, Path], bool], remedy: str) -> bytes | None:
    try:
        with open(path, "rb", opener=lambda file, flags: os.open(file, flags | _FLAGS)) as file:
            if not trusted(os.fstat(file.fileno()), path.parent):
                _tell("foreign", f'"{path}" belongs to another user or can be changed by one, so it is not run', remedy)
                return None
            kept = file.read()
    except OSError:
        return None
    content = kept[DIGEST:]
    return content if kept[:DIGEST] == _digest(name, content) else None


def packed(name: str, content: bytes) -> bytes:
    """A file: its digest, and the content."""
    return _digest(name, content) + content


def keep(name: str, content: bytes) -> None:
    """Keep this under a name; no reader ever sees half of it, and a folder that takes nothing is no reason to stop."""
    folder = cache_folder()
    if folder is None:
        return _tell("keep", "there is no home folder to keep compiled code in, so each run compiles it anew", REMEDY)
    path, beside = folder / name, None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent)  # readable and writable by this user alone
        with open(handle, "wb") as file:
            file.write(packed(name, content))
        os.replace(beside, path)
        beside = None
    except OSError as error:
        why = error.strerror or type(error).__name__
        _tell("keep", f'compiled code cannot be kept in "{folder}" ({why}), so each run compiles it anew', REMEDY)
    finally:
        if beside is not None:
            os.unlink(beside)


def _digest(name: str, content: bytes) -> bytes:
    digest = hashlib.blake2b(content, digest_size=DIGEST)
    digest.update(name.encode())
    return digest.digest()


def _trusted(found: os.stat_result, folder: Path) -> bool:
    """Whether a file can only have been written by this user, or by the system's administrator in a folder that is closed to
    everyone else."""
    if not stat.S_ISREG(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are the user's own
        return True
    if found.st_mode & OTHERS_WRITE:
        return False
    if found.st_uid == os.geteuid():
        return True
    around = os.stat(folder)
    return found.st_uid == 0 == around.st_uid and not around.st_mode & OTHERS_WRITE


def _as_sources(found: os.stat_result, folder: Path) -> bool:
    """Whether the file is as safe as this one, and its folder as safe as this one's."""
    here = Path(__file__)
    for one, beside in ((found, os.stat(here)), (os.stat(folder), os.stat(here.parent))):
        if one.st_uid != beside.st_uid or one.st_mode & OTHERS_WRITE & ~beside.st_mode:
            return False
    return stat.S_ISREG(found.st_mode)


_TOLD: set[str] = set()


def _tell(kind: str, what: str, remedy: str) -> None:
    """Say a sentence, once of each kind."""
    if kind not in _TOLD:
        _TOLD.add(kind)
        print(f"linkwork: {what}; {remedy}", file=sys.stderr, flush=True)
