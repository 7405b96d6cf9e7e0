"""Progress of a run on stderr, and Ctrl-C, which ends a run after a whole step."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from linkwork.codegen.waiting import compiling

PATIENCE = 2.0  # seconds after which progress is shown
QUIET = 10.0  # seconds between lines of progress where there is no terminal


@contextmanager
def watch(total: int, shown: bool, kind: type[Bar | Lines] | None = None) -> Iterator[Callable[[int], None]]:
    """A function of the steps done that shows a Bar, or what else shows them, once it takes long. How fast it goes is counted
    from its first call on: what is compiled before the first step takes no part in it."""
    first: tuple[float, int] | None = None
    bar = None

    def watched(done: int) -> None:
        nonlocal bar, first
        now = time.perf_counter()
        first = first or (now, done)
        took, made = now - first[0], done - first[1]
        if bar is None and shown and took > PATIENCE and made and done < total:
            bar = (kind or Bar)(total)
        if bar is not None:
            bar.show(done, made / took, took)

    try:
        yield watched
    finally:
        if bar is not None:
            bar.stop()


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a step that takes long and is taken back: the run ends before it."""


@contextmanager
def patient_interrupt(in_long_step: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """A function that tells whether Ctrl-C was pressed: a run ends after a whole step, or before one that takes long. A second
    press ends it at once, as does the first one while something is being compiled, which takes long and is no step."""
    pressed: list[bool] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def handler(number: int, frame: object) -> None:
        if pressed or compiling():
            raise KeyboardInterrupt
        pressed.append(True)
        if in_long_step():
            raise Interrupted

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


class Bar:
    """Progress on stderr: steps made, how fast, and the time left."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.total = total
        self.progress = Progress(TextColumn("{task.completed:,.0f} of {task.total:,.0f} steps"), BarColumn(),
                                 TextColumn("{task.description}"), console=Console(stderr=True))  # fmt: skip
        self.task = self.progress.add_task("", total=total)
        self.progress.start()

    def show(self, done: int, speed: float, took: float) -> None:
        """Steps done, steps a second, and the seconds since this began."""
        self.progress.update(self.task, completed=done, description=pace(self.total - done, speed))

    def stop(self) -> None:
        self.progress.stop()


class Lines:
    """The same where stderr is no terminal: a line now and then."""

    def __init__(self, total: int) -> None:
        self.total, self.next = total, QUIET

    def show(self, done: int, speed: float, took: float) -> None:
        if took >= self.next and done < self.total:
            self.next = took + QUIET
            print(f"{done:,.0f} of {self.total:,.0f} steps, {pace(self.total - done, speed)}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        pass


def pace(left: int, speed: float) -> str:
    """`12,000 steps/s, 1:07 left`."""
    return f"{speed:,.0f} steps/s, {duration(left / speed)} left"


def duration(seconds: float) -> str:
    """A time as a person says it: 1:07, 2:05:00, 12 days, 3.2e+04 years."""
    minutes, rest = divmod(round(min(seconds, 1e15)), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d}"
    if minutes < 48 * 60:
        return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
    days = seconds / 86400
    return f"{days:.0f} days" if days < 730 else f"{days / 365.25:.3g} years"
