"""Files that are written whole or not at all."""

import contextlib
import os
import uuid

from .errors import FileError


@contextlib.contextmanager
def whole(path):
    """A path beside this one to write to, which takes its place at the end; after an error nothing has changed."""
    if not path.parent.is_dir():
        raise FileError(f'the folder "{path.parent}" does not exist; make it first')
    beside = path.with_name(f".{uuid.uuid4().hex[:12]}{path.suffix}")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
