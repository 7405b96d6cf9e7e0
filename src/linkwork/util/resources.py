"""What this machine can hold, so that what it plainly cannot is refused before it is begun; and a collector that waits."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

A_BODY = 7500  # bytes of a body with its joint while a model is compiled: world 2,000, model 3,100, arrays 2,400


@contextmanager
def no_collection() -> Iterator[None]:
    """Many small objects are made and kept: the garbage collector would look at them again and again in vain."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def installed() -> int | None:
    """Bytes of memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def too_large(size: float) -> str | None:
    """`about 7.5 TB, and this machine has 25 GB` where so many bytes do not fit into memory, else None."""
    held = installed()
    if held is None or size <= held:
        return None
    return f"about {readable(size)}, and this machine has {readable(held)}"


def readable(size: float) -> str:
    """Bytes as a person says them.

    >>> readable(2400), readable(7.5e12)
    ('2.4 KB', '7.5 TB')
    """
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
