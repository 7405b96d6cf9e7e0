"""Families: classes that somebody derives from linkwork's own are known to tables and files by the class they derive from."""

from __future__ import annotations

from typing import ClassVar


class OfFamily:
    """What has a family: of linkwork's own classes the one that it is, or the nearest that it is derived from."""

    family: ClassVar[type]

    def __init_subclass__(cls, abstract: bool = False) -> None:
        """What is derived from an abstract class alone is a family of its own."""
        super().__init_subclass__()
        ours = cls.__module__.startswith("linkwork.") and "family" not in vars(cls)
        if not abstract and (ours or not hasattr(cls, "family")):
            cls.family = cls
