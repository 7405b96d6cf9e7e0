"""Waiting for what takes long inside a library, so that Ctrl-C is felt at once.

Python runs the handlers of signals in its main thread, between two of its own instructions. LLVM optimises a large module for
seconds without any, and where it calls back into Python an exception is printed and lost. So compilation runs in a thread of
its own while the main thread waits, which a signal ends. A thread that nobody waits for any more stops at the next place where
it can (`stop_if_abandoned`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

LOOK = 0.2  # s: waits are not interrupted on all systems, so they are short

T = TypeVar("T")
_abandoned: set[int] = set()  # threads
_waits = 0  # of the main thread


def interruptible(work: Callable[[], T], *, leave: bool = False) -> T:
    """What `work` returns or raises, which runs in another thread if this is the main one. leave: the end of the process does
    not wait for it, which it must for compilers."""
    global _waits
    if threading.current_thread() is not threading.main_thread():
        return work()
    found: list[T] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as failure:
            failed.append(failure)
        finally:
            _abandoned.discard(threading.get_ident())
            done.set()

    thread = threading.Thread(target=run, name="linkwork works", daemon=leave)
    _waits += 1
    try:
        thread.start()
        while not done.wait(LOOK):
            pass
    except BaseException:
        if thread.ident is not None and not done.is_set():
            _abandoned.add(thread.ident)
        raise
    finally:
        _waits -= 1
    if failed:
        raise failed[0]
    return found[0]


def compiling() -> bool:
    """Whether the main thread waits for something to be compiled."""
    return _waits > 0


def stop_if_abandoned() -> None:
    """Raise in a thread that nobody waits for any more."""
    if threading.get_ident() in _abandoned:
        raise KeyboardInterrupt
