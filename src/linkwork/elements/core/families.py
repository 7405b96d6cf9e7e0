"""Families: classes that somebody derives from linkwork's own are known to tables and files by the class they derive from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks

if TYPE_CHECKING:
    from linkwork.elements.core.constraint_kind import Relation
    from linkwork.elements.core.element import Element


class OfFamily:
    """What has a family: of linkwork's own classes the one that it is, or the nearest that it is derived from."""

    family: ClassVar[type]

    def __init_subclass__(cls, abstract: bool = False) -> None:
        """What is derived from an abstract class alone is a family of its own."""
        super().__init_subclass__()
        ours = cls.__module__.startswith("linkwork.") and "family" not in vars(cls)
        if not abstract and (ours or not hasattr(cls, "family")):
            cls.family = cls


def of_family(
    table: dict[type[Element], Callable[..., Any] | type[Relation]], element: Element
) -> Callable[..., Any] | type[Relation]:
    """What a table has for the family of an element.

    >>> import linkwork as lw
    >>> class Wheel(lw.RigidBody):
    ...     __module__ = "vehicles"  # a module of somebody else
    >>> of_family({lw.RigidBody: "it rolls"}, Wheel(1.0, (1, 1, 1), name="front"))
    'it rolls'
    """
    found = table.get(element.family)
    if found is None:
        checks.fail(element, "linkwork has no equations for it", "derive it from a kind of element that can be simulated")
    return found
