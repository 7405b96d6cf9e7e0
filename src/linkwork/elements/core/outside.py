"""Elements and shapes from other packages: installed ones, which name them as entry points of the group "linkwork.elements".

Files name elements and never import anything: what they can name is decided by what is installed.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from linkwork import elements
from linkwork.elements.core.element import Element
from linkwork.elements.core.shape import Shape
from linkwork.errors import LinkworkError

GROUP = "linkwork.elements"


@cache
def outside() -> MappingProxyType[str, type]:
    """Name -> class, of all that installed packages offer; they are imported now."""
    found: dict[str, type] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        who = f'Entry point "{entry.name} = {entry.value}"'
        if entry.name in elements.WHERE or entry.name in found:
            raise LinkworkError(f"{who}: there is an element of this name already; rename it")
        made = entry.load()
        if not (isinstance(made, type) and issubclass(made, (Element, Shape)) and made.__name__ == entry.name):
            raise LinkworkError(f"{who}: it is no class of elements or shapes of this name; name one in the group {GROUP}")
        found[entry.name] = made
    return MappingProxyType(found)


def named(name: str) -> Any:
    """The class or function that a file means by a name: one of linkwork's, or of an installed package; None if there is none.

    >>> named("Box").__name__, named("Boxx") is None
    ('Box', True)
    """
    return getattr(elements, name) if name in elements.WHERE else outside().get(name)
