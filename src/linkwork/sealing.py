"""Objects whose public attributes are read: assigning one that cannot be assigned, or that is none, is refused by name.

Code inside assigns them by `vars(self)`, which is also many times faster than a `__setattr__` in Python.
"""

from __future__ import annotations

from typing import ClassVar

from linkwork.errors import LinkworkError, suggestion


class SealedError(LinkworkError, AttributeError):
    """An attribute that cannot be assigned, or is none."""


class Sealed:
    """The base. Attributes that begin with an underscore, `OPEN` ones, and properties that have a setter are assigned."""

    OPEN: ClassVar[frozenset[str]] = frozenset()
    REMEDIES: ClassVar[dict[str, str]] = {}  # attribute -> what to do instead; "": where there is no such attribute
    _assigned: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        cls._assigned = cls.OPEN.union(name for name in dir(cls) if getattr(getattr(cls, name, None), "fset", None))

    def __setattr__(self, name: str, value) -> None:
        if name[:1] != "_" and name not in self._assigned:
            self._refuse(name)
        object.__setattr__(self, name, value)

    def _refuse(self, name: str) -> None:
        kind = type(self).__name__
        if name in self.__dict__ or hasattr(type(self), name):
            raise SealedError(f"{kind}: {name} cannot be assigned; {self.REMEDIES.get(name, f'make another {kind}')}")
        remedy = suggestion(name, self._assigned) or f"; {self.REMEDIES.get('', 'leave it out')}"
        raise SealedError(f'{kind}: it has no attribute "{name}"{remedy}')
