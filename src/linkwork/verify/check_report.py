"""What lw.check found, and when a derivative counts as wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from linkwork.errors import printable
from linkwork.verify.finite_differences import STEPS, Place, Slopes

Naming: TypeAlias = Callable[[tuple[int, ...]], str]  # of the number at a place of an array, for people

OFF = 1e-6  # by which a derivative may differ, relative to one plus its size ...
NEARS = 0.3  # ... unless smaller steps leave less than this part of it each time


@dataclass
class CheckReport:
    """What lw.check found: `problems`, a sentence each, none if all is well; `notes` on places where it has no value, but which
    it may never reach; `errors`, of each quantity the largest difference from finite differences, relative to one plus its
    size; `states`, how many were looked at. True where there is no problem."""

    label: str
    states: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)
    _told: set[Any] = field(default_factory=set, repr=False)

    @property
    def ok(self) -> bool:
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        verdict = "nothing wrong" if self.ok else f"{len(self.problems)} problem{'s' if len(self.problems) > 1 else ''}"
        lines = [f"{printable(self.label)}: {verdict} in {self.states} states"]
        lines += [f"  - {printable(problem)}" for problem in self.problems]
        lines += [f"  (note) {printable(note)}" for note in self.notes]
        lines += [f"  {name}: off by at most {error:.1e}" for name, error in self.errors.items()]
        return "\n".join(lines)

    __repr__ = __str__

    def tell(self, text: str, about: object = None, note: bool = False) -> None:
        """A problem (or a note) about something, once."""
        about = text if about is None else about
        if about not in self._told:
            self._told.add(about)
            (self.notes if note else self.problems).append(text)

    def compare(self, name: str, found: np.ndarray, slopes: Slopes, place: Place, what: Naming) -> None:
        """Note the largest difference from slopes. Where it is too large, and smaller steps do not come nearer, tell what."""
        found = np.asarray(found, dtype=float)
        gaps = [_gap(found, slopes(STEPS[0]))]
        if not found.size or np.isnan(gaps[0]).any():  # a value that is not finite nearby is told where it is
            return
        if gaps[0].max() > OFF:
            gaps += [_gap(found, slopes(step)) for step in STEPS[1:]]
        nearing = np.all([b <= np.maximum(NEARS * a, OFF) for a, b in itertools.pairwise(gaps)], axis=0)
        least = np.min(gaps, axis=0)
        self.errors[name] = max(self.errors.get(name, 0.0), float(np.where(nearing, least, gaps[0]).max()))
        wrong = np.argwhere((gaps[0] > OFF) & ~nearing)
        if len(wrong):
            at = tuple(int(k) for k in wrong[0])
            other = float(np.broadcast_to(slopes(STEPS[0]), found.shape)[at])
            text = (
                f"{what(at)} is {found[at] + 0.0:.6g} where differences give {other:.6g}, {place.name}; it has a kink or jump"
            )
            self.tell(text, (what(at), "kink"), note=not place.serious)


def _gap(found: np.ndarray, other: np.ndarray) -> np.ndarray:
    gap: np.ndarray = np.abs(found - other) / (1 + np.abs(found))
    return gap
