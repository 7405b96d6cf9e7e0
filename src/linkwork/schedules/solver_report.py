"""How a solver that iterates has solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core.element import Element
from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.schedules.schedules import Schedules


@dataclass(frozen=True)
class IterativeReport:
    """How a solver that iterates has solved since the simulation was made. `residual` is what the last solve left of its
    right-hand side. `worst` is the largest residual of a row, in its own unit (m/s^2 or m/s; radians alike), of those that are
    worth a word, and `at` its constraint; `conflict`: no force could have made it smaller."""

    solves: int
    iterations: int
    most: int  # iterations of one solve
    residual: float
    worst: float
    at: Element | None
    conflict: bool


@dataclass(frozen=True)
class NewtonReport:
    """How the last implicit step was solved: iterations of Newton's method (of its last part), and the parts it was made in."""

    iterations: int
    parts: int


def report_of(schedules: Schedules, work: np.ndarray) -> IterativeReport | NewtonReport:
    """What the solver of a workspace tells; a solver that does not iterate is refused."""
    report = schedules.report(work)
    if report is None:
        raise LinkworkError(f'Simulation: the solver "{schedules.name}" does not iterate; ask one that uses "cg" or "implicit"')
    return report
