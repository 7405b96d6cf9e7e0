"""Elements by name or by themselves: the numbers that a compiled world has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.elements.core import checks
from linkwork.elements.core.element import ContactElement, Element
from linkwork.elements.core.frame import Frame
from linkwork.errors import LinkworkError, UnknownNameError, suggestion

if TYPE_CHECKING:
    from linkwork.elements.core.element import BodyLike, ElementLike
    from linkwork.simulation.system import System


def name_of(element: ElementLike) -> str:
    """The name of an element that is given by itself or by name."""
    return str(element.name if isinstance(element, Element) else element)


def lookup(system: System, element: ElementLike, sort: str) -> tuple[int, int]:
    """(number, part) of a body, constraint or force, refused where there is none of that name."""
    name = name_of(element)
    found = system.model.names.get(name)
    if found is None or found[0] != sort:
        known = system.world.find(name) if found is None and name in system.world else None
        if isinstance(known, Frame):
            body = checks.label(known.body)
            raise LinkworkError(f"{checks.label(known)}: it is a frame on {body}, and no {sort}; give the {sort} itself")
        if isinstance(known, ContactElement) and not known.is_stop and sort != "body":
            raise LinkworkError(f"{checks.label(known)}: it is no {sort}; sim.contacts tells where bodies touch")
        if known is not None and sort != "body":
            raise LinkworkError(f"{checks.label(known)}: it is switched off, or what it refers to is; switch it on first")
        names = [n for n, (s, _, _) in system.model.names.items() if s == sort]
        raise UnknownNameError(f'Simulation: no {sort} is called "{name}"{suggestion(name, names)}')
    return found[1], found[2]


def body_number(system: System, body: BodyLike) -> int:
    """The number of a body in the model."""
    return lookup(system, body, "body")[0]
