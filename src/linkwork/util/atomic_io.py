"""Files that are written whole or not at all, and folders that one process writes to at a time."""

import contextlib
import errno
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from linkwork.errors import FileError

CLAIM = ".claimed"  # the file in a folder that the process which writes there has locked


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path beside this one to write to, which takes its place at the end; after an error nothing has changed."""
    if not path.parent.is_dir():
        raise FileError(f'the folder "{path.parent}" does not exist; make it first')
    beside = path.with_name(f".{uuid.uuid4().hex[:12]}{path.suffix}")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[bool]:
    """Hold a folder for this process alone, until the end or until the process dies. Yields whether it could be had."""
    handle = _lock(folder / CLAIM)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            (folder / CLAIM).unlink(missing_ok=True)  # while it is locked: who waits for it sees that it is another file
            os.close(handle)


def _lock(path: Path) -> int | None:
    """A file descriptor that locks a file, or None where another has it. The system lets go of it when a process ends."""
    if sys.platform == "win32":  # there a file can be made that lasts as long as it is open
        try:
            return os.open(path, os.O_CREAT | os.O_EXCL | os.O_TEMPORARY)
        except FileExistsError:
            return None
    import fcntl

    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return handle  # a file system without locks: the file is a sign that nobody looks at
            os.close(handle)
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        os.close(handle)  # the one who had it before has just removed it
