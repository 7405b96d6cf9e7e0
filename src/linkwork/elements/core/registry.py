"""Kinds by element: which class has the mathematics of which class of elements, and what its kernels are called.

A kind is declared where it is written, by a decorator; a declaration that lacks something is an error there and then. Kinds of
other packages are declared in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

from linkwork.codegen.cache_key import OUTSIDE

K = TypeVar("K", bound=type)

_KINDS: dict[type, Any] = {}
_NUMBERS = count()


def kind_of(element: type) -> Callable[[K], K]:
    """Declares a class to be the kind of a class of elements: a decorator.

    >>> @kind_of(int)
    ... class Incomplete:
    ...     @classmethod
    ...     def check_declared(cls, element):
    ...         raise TypeError(f"{cls.__name__}: it has no rows; define them")
    Traceback (most recent call last):
    TypeError: Incomplete: it has no rows; define them
    """

    def declare(kind: K) -> K:
        kind.check_declared(element)  # type: ignore[attr-defined]
        _KINDS[element] = kind
        return kind

    return declare


def declared(element: type) -> tuple[Any, Any]:
    """The class that declared the kind of a class of elements, itself or one that it is derived from, and that kind; (None,
    None) if there is none."""
    for cls in element.__mro__:
        if cls in _KINDS:
            return cls, _KINDS[cls]
    return None, None


def elements_with_kinds() -> list[type]:
    """All classes of elements whose kinds were declared so far."""
    return list(_KINDS)


def kernel_name(kind: type, plain: str) -> str:
    """What kernels of a kind are called: its plain name in this package, else a name that no other class has.

    >>> kernel_name(kernel_name.__class__, "Cam").startswith(OUTSIDE)
    True
    """
    if kind.__module__.partition(".")[0] == "linkwork":
        return plain
    own = vars(kind).get("_kernel_number")
    if own is None:
        own = next(_NUMBERS)
        try:
            kind._kernel_number = own  # type: ignore[attr-defined]
        except TypeError:  # a class of C
            pass
    return f"{OUTSIDE}{kind.__module__}.{kind.__qualname__}#{own}"
