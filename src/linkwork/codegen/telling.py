"""What whoever waits for a driver to be compiled is told: on a terminal a bar, elsewhere one line.

A driver is compiled with all that it calls, function by function, and made machine code at the end.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from types import ModuleType

from numba.core import event
from numba.core.registry import CPUDispatcher

PATIENCE, SILENCE = 1.0, 3.0  # s of compiling one driver after which a terminal, and what is none, is told
PERIOD, CELLS = 0.2, 20  # s between two pictures of the bar, and its length


class Telling(event.Listener):
    """Tells of one driver. `machine_code` is to be set once all functions are lowered.

    >>> telling = Telling("contact.stage", {print, len, abs}, sys.stderr)
    >>> telling.heard(abs)
    >>> telling.line(80)
    'linkwork: compiling contact.stage [######..............] 1 of 3: abs'
    """

    def __init__(self, title: str, functions: set, stream=None):
        self.title, self.ahead, self.count = title, set(functions), len(functions)
        self.stream, self.now, self.machine_code = stream or sys.stderr, "", False
        self.ended, self.painted, self.began = threading.Event(), 0, time.perf_counter()
        self.thread = threading.Thread(target=self._watch, name="linkwork tells", daemon=True)

    def __enter__(self) -> Telling:
        event.register("numba:compile", self)
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        event.unregister("numba:compile", self)
        self.ended.set()
        self.thread.join()
        self.clear()

    def on_start(self, event) -> None:
        self.heard(event.data["dispatcher"])

    def on_end(self, event) -> None:
        pass

    def heard(self, function) -> None:
        """A function is being lowered."""
        self.ahead.discard(function)
        self.now = function.__name__

    def line(self, width: int) -> str:
        """What a terminal of so many columns shows."""
        done = self.count - len(self.ahead)
        full = CELLS if self.machine_code else CELLS * done // max(1, self.count)
        what = "machine code" if self.machine_code else f"{done} of {self.count}: {self.now}"
        return f"linkwork: compiling {self.title} [{'#' * full}{'.' * (CELLS - full)}] {what}"[: width - 1]

    def tell(self, seconds: float) -> float | None:
        """Say what there is to say after this time; how long to wait until there is more, None for ever."""
        if not self.stream.isatty():
            if seconds < SILENCE:
                return SILENCE - seconds
            if not _TOLD:
                _TOLD.append(self.title)
                print(f"linkwork: compiling {self.title} and others (kept for next time) ...", file=self.stream, flush=True)
            return None
        if seconds < PATIENCE:
            return PATIENCE - seconds
        line = self.line(shutil.get_terminal_size().columns)
        print(f"\r{line.ljust(self.painted)}", end="", file=self.stream, flush=True)
        self.painted = len(line)
        return PERIOD

    def clear(self) -> None:
        """Take the bar away."""
        if self.painted:
            print(f"\r{' ' * self.painted}\r", end="", file=self.stream, flush=True)
            self.painted = 0

    def _watch(self) -> None:
        pause = self.tell(0.0)
        while not self.ended.wait(pause):
            pause = self.tell(time.perf_counter() - self.began)


_TOLD: list[str] = []  # once in a process


def reached(dispatcher) -> set:
    """The functions that are compiled with a driver: those that it names, that these name, and so on, but for what is there."""
    found, ahead = {dispatcher}, [dispatcher]
    while ahead:
        function = ahead.pop().py_func
        space = function.__globals__ | dict(zip(function.__code__.co_freevars, _cells(function), strict=True))
        for name in _names(function.__code__):
            for one in (space.get(name), *(getattr(space[m], name, None) for m in _modules(function, space))):
                if isinstance(one, CPUDispatcher) and one not in found and not one.overloads:
                    found.add(one)
                    ahead.append(one)
    return found


def _cells(function) -> list:
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _names(code) -> set[str]:
    inner = [constant for constant in code.co_consts if hasattr(constant, "co_names")]
    return set(code.co_names).union(code.co_freevars, *map(_names, inner))


def _modules(function, space: dict) -> list[str]:
    """Modules that a function names."""
    return [name for name in function.__code__.co_names if isinstance(space.get(name), ModuleType)]
