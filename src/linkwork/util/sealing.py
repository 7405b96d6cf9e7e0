"""Objects whose public attributes are read: assigning one that cannot be assigned, or that is none, and deleting any
is refused by name.

Code inside assigns them by `vars(self)`, which is also many times faster than a `__setattr__` in Python.
"""

from __future__ import annotations

from typing import ClassVar

from linkwork.errors import LinkworkError, suggestion


class SealedError(LinkworkError, AttributeError):
    """An attribute that cannot be assigned, or is none."""


class Sealed:
    """The base. Attributes that begin with an underscore, `OPEN` ones, and properties that have a setter are assigned. A
    subclass that somebody else wrote may have more."""

    OPEN: ClassVar[frozenset[str]] = frozenset()
    REMEDIES: ClassVar[dict[str, str]] = {}  # attribute -> what to do instead; "": where there is no such attribute
    _assigned: ClassVar[frozenset[str]] = frozenset()
    _known: ClassVar[frozenset[str]] = frozenset()  # of linkwork's own classes

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls._assigned = cls.OPEN.union(name for name in dir(cls) if getattr(getattr(cls, name, None), "fset", None))
        own = [vars(c) for c in cls.__mro__ if c.__module__.startswith("linkwork.")]
        cls._known = frozenset(name for names in own for name in (*names, *names.get("__annotations__", ())))

    def __setattr__(self, name: str, value: object) -> None:
        if name[:1] != "_" and name not in self._assigned:
            self._refuse(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name[:1] != "_" and (name in self._known or type(self).__module__.startswith("linkwork.")):
            raise SealedError(f"{type(self).__name__}: {name} cannot be deleted; leave it as it is")
        object.__delattr__(self, name)

    def _refuse(self, name: str) -> None:
        kind, ours = type(self).__name__, type(self).__module__.startswith("linkwork.")
        if name in self._known or (ours and name in self.__dict__):
            raise SealedError(f"{kind}: {name} cannot be assigned; {self.REMEDIES.get(name, f'make another {kind}')}")
        if ours:
            remedy = suggestion(name, self._assigned) or f"; {self.REMEDIES.get('', 'leave it out')}"
            raise SealedError(f'{kind}: it has no attribute "{name}"{remedy}')
