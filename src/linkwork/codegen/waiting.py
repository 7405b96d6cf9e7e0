"""Ctrl-C while numba and LLVM are at work: felt within a fraction of a second, raised where nothing is lost by it.

Python runs the handlers of signals in its main thread, between two of its own instructions: any two. What a handler raises
inside llvmlite's finalisers is printed and lost; inside its lock, the lock is never released; inside the Python that numba's
wrappers call, it becomes a SystemError. LLVM optimises a large module for seconds without a Python instruction.

So compilation runs in a thread of its own, for which the main thread waits, and while the main thread waits or calls these
libraries it defers interrupts: a handler of ours takes the place of the user's, and notes that the signal came. The user's own
handler is called at the next `safe_point`, or where the deferring ends. The longest time between safe points is that of one
kernel. A thread that nobody waits for any more stops at the next place where it can (`stop_if_abandoned`).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes enums of what these give: 10 us a call, in every build many
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from linkwork.codegen import interrupts

SIGINT = int(signal.SIGINT)
LOOK = 0.2  # s between two safe points of the main thread while it waits

T = TypeVar("T")
_abandoned: set[int] = set()  # threads
_depth = 0  # of contexts in which the main thread defers interrupts
_noted: list[FrameType | None] = []  # where signals came meanwhile
_theirs: Any = None  # the handler that was there before


class DeferredInterrupts:
    """A context in which SIGINT is noted instead of handled: by the main thread alone, and where Python handles it at all."""

    def __enter__(self) -> None:
        global _depth, _theirs
        if threading.current_thread() is not threading.main_thread():
            return
        if _depth == 0:
            theirs = _signal.getsignal(SIGINT)
            if not callable(theirs):  # ignored, or left to the system
                return
            _theirs = theirs
            _noted.clear()
            _signal.signal(SIGINT, _note)
        _depth += 1

    def __exit__(self, *_failure: object) -> None:
        global _depth
        if _depth == 0 or threading.current_thread() is not threading.main_thread():
            return
        _depth -= 1
        if _depth == 0:
            _signal.signal(SIGINT, _theirs)  # notes first what has come until now
            _handle()


INTERRUPTS_DEFERRED = DeferredInterrupts()


def _note(number: int, frame: FrameType | None) -> None:
    """Handles SIGINT while interrupts are deferred. Compiled code that looks for signals can be left at once."""
    if interrupts.looking():
        _theirs(number, frame)
    else:
        _noted.append(frame)


def _handle() -> None:
    if _noted:
        frame = _noted[-1]
        _noted.clear()  # several that came at once are one, as they are to Python
        _theirs(SIGINT, frame)


def safe_point() -> None:
    """Handle the interrupts that were deferred: nothing is lost if the handler raises here."""
    if threading.current_thread() is threading.main_thread():
        _handle()


def interruptible(work: Callable[[], T], *, leave: bool = False) -> T:
    """What `work` returns or raises, which runs in another thread if this is the main one. leave: the end of the process does
    not wait for it, which it must for compilers."""
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

    with INTERRUPTS_DEFERRED:
        thread = threading.Thread(target=run, name="linkwork works", daemon=leave)
        thread.start()
        try:
            while not done.wait(LOOK):
                safe_point()
        except BaseException:
            if thread.ident is not None and not done.is_set():
                _abandoned.add(thread.ident)
            raise
    if failed:
        raise failed[0]
    return found[0]


def compiling() -> bool:
    """Whether the main thread makes or waits for machine code: what it was about to do has not begun."""
    return _depth > 0


def stop_if_abandoned() -> None:
    """Raise in a thread that nobody waits for any more."""
    if threading.get_ident() in _abandoned:
        raise KeyboardInterrupt
