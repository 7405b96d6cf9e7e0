"""What hard stops offer: ropes, hard limits and dry friction, each as rows of the contact solver.

A row bounds one distance or coordinate of two bodies, or rubs in it. The kind says what is bounded, in the frames of its
bodies; a `Site` tells it what these are called in the contact solver, and the parameters of joints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from linkwork.elements.core.joint_kind import LimitSort

if TYPE_CHECKING:
    from linkwork.elements.core.constraint_kind import ConstraintKind

NO_BODY = -1  # the ground, among the ends of a stop


@dataclass(frozen=True)
class StopRow:
    """One bound; vectors are in the bodies' internal frames."""

    sort: LimitSort
    ends: tuple[int, ...]  # both bodies, as the Site calls them
    frame: tuple[np.ndarray, ...]  # five (3,): see LimitSort
    sign: float  # 1: at most the bound, -1: at least; 0: dry friction, with its force (N or N m) in the place of a bound
    bound: float  # m or rad
    restitution: float = 0.0
    turns: int | None = None  # where its turns are counted, if they are; of a function, where its value is
    coordinate: int = 0  # which of those that the element bounds


@dataclass(frozen=True)
class StopEnd:
    """A point of a body, or of the ground."""

    number: int  # of the body, or of the point where it moves as no frame does
    local: np.ndarray  # (3,), m, in the internal frame
    world: np.ndarray  # (3,), m, as built


@dataclass(frozen=True)
class JointSite:
    """A joint in the model."""

    ends: tuple[int, ...]
    p: Mapping[str, np.ndarray]  # its parameters
    turns: int | None  # where its turns are counted
    built: tuple[Any, Any]  # its bodies as built (Placement)


@dataclass(frozen=True)
class Component:
    """One number of what a kernel measures."""

    slot: int  # what moves with it, as the Site calls it: among its velocities is the number's rate ...
    part: int  # ... this one
    value: int  # where the number is


def function_row(
    found: Component, sign: float, bound: float, restitution: float, coordinate: int, friction: float = 0.0, slips: int = 0
) -> StopRow:
    """A bound of a number that a kernel measures; behind it stand the speeds of sliding, 0 to 2, that friction acts on."""
    zero, what = np.zeros(3), np.array([found.part, friction, slips])
    return StopRow(LimitSort.FUNCTION, (NO_BODY, found.slot), (zero, zero, what, zero, zero), sign, bound, restitution,
                   found.value, coordinate)  # fmt: skip


class Site(Protocol):
    """Where stops hold on to bodies."""

    def functions(self, element: Any) -> list[Component]:
        """The rows of what `measured` says of an element."""

    def end(self, element: Any, body: Any, on: np.ndarray) -> StopEnd:
        """A point in the frame of a body; what cannot be held there is refused in the element's name."""

    def joint(self, element: Any) -> JointSite:
        """The element's `joint`."""


class StopKind(ABC):
    """The base of kinds of stops; it keeps nothing of an element."""

    @classmethod
    def of(cls, element: Any) -> StopKind:
        return cls()

    def measured(self, element: Any) -> ConstraintKind | None:
        """The kind of the rows that a kernel measures and that have no closed form, if it has some."""
        return None

    @abstractmethod
    def rows(self, element: Any, site: Site) -> list[StopRow]:
        """One for each bound."""
