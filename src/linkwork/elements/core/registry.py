"""Which kind an element is: declared once, by a decorator on the kind.

    @kind_of(Gyrostat)
    class GyrostatKind(BodyKind): ...

A kind that lacks what its base class asks for is refused here, so that the import of its file fails.
"""

from __future__ import annotations

import hashlib
import inspect
import secrets
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from linkwork.errors import LinkworkError

K = TypeVar("K", bound=type)

_KINDS: dict[type, type] = {}  # element -> kind


def kind_of(element: type) -> Callable[[K], K]:
    """Declare that a class of kinds is that of an element."""

    def declare(kind: K) -> K:
        lacking = sorted(getattr(kind, "__abstractmethods__", ()))
        for flag, methods in getattr(kind, "PROMISES", {}).items():
            if getattr(kind, flag) is True:
                lacking += [name for name in methods if _owner(kind, name) is _root(kind)]
        if lacking:
            raise TypeError(f"{kind.__name__}: it lacks {', '.join(lacking)}; a kind of {element.__name__} needs them")
        if hasattr(kind, "check_declared"):
            kind.check_declared(element)
        _KINDS[element] = kind
        return kind

    return declare


def declared() -> list[type]:
    """The classes of elements whose kinds were declared so far."""
    return list(_KINDS)


def kind_class(element: type) -> type:
    """The class of kinds of an element's class. A subclass that has no field of its own is what its parent is.

    >>> from linkwork.elements import RigidBody
    >>> class Crank(RigidBody):
    ...     pass
    >>> kind_class(Crank) is kind_class(RigidBody)
    True
    """
    for cls in element.__mro__:
        if cls in _KINDS:
            return _KINDS[cls]
        if any(issubclass(known, cls) for known in _KINDS):
            break  # a base class that is no element by itself
        if own := sorted(_fields(cls) - set().union(*map(_fields, cls.__bases__))):
            raise LinkworkError(f"{element.__name__}: it has fields of its own ({', '.join(own)}), and no kind is declared for "
                                f"it; write one with @kind_of({cls.__name__})")  # fmt: skip
    raise LinkworkError(f"{element.__name__}: no kind is declared for it; derive it from an element that can be simulated, or "
                        f"write its kind with @kind_of({element.__name__})")  # fmt: skip


def _fields(cls: type) -> set[str]:
    return {f.name for f in fields(cls)} if is_dataclass(cls) else set()


def kind_for(element: Any) -> Any:
    """The kind of an element."""
    kind: Any = kind_class(type(element))
    return kind.of(element)


@cache
def outside_digest(kind: type) -> str:
    """ "" for a kind of linkwork; for one from outside a digest of the files in which it and its bases are declared. It goes
    into the keys of kernels, which are kept on disk: a changed file is another kernel. A class without a file is told apart
    from all others of other processes."""
    digest, outside = hashlib.sha256(), False
    for cls in kind.__mro__:
        if cls.__module__.split(".")[0] in ("linkwork", "builtins", "abc", "typing"):
            continue
        outside = True
        try:
            file = inspect.getsourcefile(cls)
        except TypeError:
            file = None
        digest.update(cls.__qualname__.encode())
        digest.update(_content(file) if file is not None else secrets.token_bytes(16))
    return f"@{digest.hexdigest()[:24]}" if outside else ""


def _content(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:
        return secrets.token_bytes(16)


def _root(kind: type) -> type:
    """The base class that asks: the first of the package that has PROMISES of its own."""
    return next(cls for cls in kind.__mro__ if "PROMISES" in vars(cls))


def _owner(kind: type, name: str) -> type:
    return next(cls for cls in kind.__mro__ if name in vars(cls))
