"""What kinds of constraints and of forces share: which bodies they act on, their parameters in memory, the angles they count.

A kind is shared by all elements of one `key`. `bodies(element)` gives the bodies (None: the ground stands in where there is
only one), `parameters(elements, A, B)` the parameters as arrays with a row an element. A and B are the batches of body frames
as built (placement.py). Only users' functions, gears and cables may have more bodies than two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.element import Element
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import check_promises, outside_digest
from linkwork.elements.core.units import Quantity

if TYPE_CHECKING:
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


Params = Mapping[str, SX]  # of one element, by name: as `fields` says


def column(elements: Sequence[Any], name: str) -> FloatArray:
    """One scalar field of all elements, (k, 1); Parameters stay as they are."""
    values = [getattr(e, name) for e in elements]
    plain = all(isinstance(v, (int, float)) for v in values)
    return np.array(values, dtype=float if plain else object).reshape(-1, 1)


def vectors(elements: Sequence[Any], name: str) -> FloatArray:
    """One vector field of all elements, (k, 3)."""
    return np.array([getattr(e, name) for e in elements], dtype=float)


def user_points(elements: Sequence[Any], frames: Any, name: str) -> FloatArray:
    """(k, 3): points that users gave in the frames of bodies, in their internal frames."""
    found: FloatArray = frames.user_point(vectors(elements, name))
    return found


def apart(handles: Sequence[Handle], p: Params) -> SX:
    """From a's anchor to b's."""
    a, b = handles
    return b.point(p["on_b"]) - a.point(p["on_a"])


def crossing(side: SX, s: SX, c: SX) -> SX:
    """+1 or -1 where an angle has passed half a turn since its sine was `side`, else 0."""
    up, down = ca.logic_and(side >= 0, s < 0), ca.logic_and(side < 0, s >= 0)
    return ca.if_else(c < 0, ca.if_else(up, 1, 0) - ca.if_else(down, 1, 0), 0)


class ElementKind(ABC):
    """The base of both. A kind whose rows or law depend on more than the class of its element has an `__init__(element)`, which
    sets `key` to a text that says all of it; of one without, a single instance serves all elements."""

    fields: Mapping[str, int] = {}  # parameters in memory: name -> size
    counters = 0  # angles whose turns it counts
    needs_directions: tuple[bool, ...] = (False, False)  # which of its bodies must have directions
    rigid_only: tuple[bool, ...] = (False, False)  # which of its bodies must not stretch
    state_fields: Mapping[str, int] = {}  # numbers of the state: `updated_state`; "unknowns" are found by `equations`
    clocks: tuple[str, ...] = ()  # those of them that begin with the time at which it comes into force
    direct = False  # its only command, times its element's `gear`, is the effort along the only coordinate of its `joint`
    commanded = False  # commands write its state fields: steps leave them as they are
    user_parameters: tuple[Parameter, ...] = ()  # Parameters of a user's function
    users_function = False  # its equations are a user's

    PROMISES: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # flag -> methods that a kind with it has
    element: ClassVar[type[Element]]  # whose kind it is: as declared
    _only: ClassVar[ElementKind | None] = None

    def __init__(self) -> None:
        self.key = self.element.__name__

    @property
    def key(self) -> str:
        """All that the code of its kernels depends on, beside the sources of this package."""
        return self._key

    @key.setter
    def key(self, text: str) -> None:
        self._key = text + outside_digest(type(self))

    @classmethod
    def check_declared(cls, element: type[Element]) -> None:
        """Remember whose kind it is."""
        cls.element = element

    @classmethod
    def of(cls, element: Any) -> Any:
        """The kind of an element: the only instance, or one of its own."""
        if cls.__init__ is not ElementKind.__init__:
            made: Any = cls
            kind = made(element)
            check_promises(kind, cls, cls.element)
            return kind
        if cls.__dict__.get("_only") is None:
            cls._only = cls()
        return cls._only

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        """The bodies that it acts on; None is the ground."""
        return element.a, element.b

    @abstractmethod
    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        """The parameters of elements, (k, size) each, as `fields` and `state_fields` say; A and B are their bodies as built."""

    def updated_state(self, handles: Sequence[Handle], p: Params) -> dict[str, SX]:
        """Its state fields at the end of a step."""
        return {}

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        """(sine, cosine) of each counted angle."""
        return []

    def counted(self, handles: Sequence[Handle], p: Params) -> list[SX]:
        """The counted angles, turns included (p["turns"]: turns and last sine of each)."""
        found = []
        for k, (s, c) in enumerate(self.angles(handles, p)):
            turns, side = p["turns"][2 * k], p["turns"][2 * k + 1]
            found.append(ca.atan2(s, c) + 2 * np.pi * (turns + crossing(side, s, c)))
        return found

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        """The fields that commands are written to, which lie one after another, and what their numbers are."""
        return {}

    def points_of(self, end: int) -> list[tuple[float, ...]]:
        """The points that a user's function asks its body `end` for."""
        return []

    def points_beside(self, end: int) -> bool:
        """Whether one of these is another than the body's position."""
        return any(any(local) for local in self.points_of(end))


def asked_points(functions: Any, end: int) -> list[tuple[float, ...]]:
    """`points_of` of traced functions, whose first body has the number 0 among the ends."""
    return [local for f in functions for n, what, local in f.requests if n == end and what.startswith("point")]
