"""Which kind an element is: declared once, by a decorator on the kind.

    @kind_of(Gyrostat)
    class GyrostatKind(BodyKind): ...

A kind that lacks what its base class asks for is refused here, so that the import of its file fails. Elements that are one of
several kinds, as a Motion of a joint and a Motion of a body are, say which by `variant()`, and each kind is declared for one:

    @kind_of(Motion, "joint")
    class JointMotionKind(ConstraintKind): ...
"""

from __future__ import annotations

import hashlib
import inspect
import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from linkwork.errors import LinkworkError

K = TypeVar("K", bound=type)

_KINDS: dict[type, dict[Hashable, type]] = {}  # element -> variant -> kind


def kind_of(element: type, variant: Hashable = None) -> Callable[[K], K]:
    """Declare that a class of kinds is that of an element, or of one of its variants."""

    def declare(kind: K) -> K:
        if lacking := sorted(getattr(kind, "__abstractmethods__", ())) + _broken(kind, kind):
            raise TypeError(f"{kind.__name__}: it lacks {', '.join(lacking)}; a kind of {element.__name__} needs them")
        if hasattr(kind, "check_declared"):
            kind.check_declared(element)
        _KINDS.setdefault(element, {})[variant] = kind
        _variants.cache_clear()
        return kind

    return declare


def check_promises(kind: Any, cls: type, element: type) -> None:
    """Refuse a kind that has turned a flag on while it was made, and lacks what that promises."""
    if lacking := _broken(kind, cls):
        raise TypeError(f"{cls.__name__}: it lacks {', '.join(lacking)}; a kind of {element.__name__} needs them")


def _broken(kind: Any, cls: type) -> list[str]:
    """Methods that flags of a kind promise, and that its class does not have."""
    promises: Mapping[str, tuple[str, ...]] = getattr(cls, "PROMISES", {})
    on = [methods for flag, methods in promises.items() if getattr(kind, flag) is True]
    return [name for methods in on for name in methods if _owner(cls, name) is _root(cls)]


def check_complete(element: type, variants: Iterable[Hashable]) -> None:
    """Refuse an element of which some variant has no kind, where the last one was declared."""
    if lacking := [str(variant) for variant in variants if variant not in _KINDS.get(element, {})]:
        raise TypeError(f"{element.__name__}: it lacks a kind for {', '.join(lacking)}; declare one with kind_of")


def declared() -> list[type]:
    """The classes of elements whose kinds were declared so far."""
    return list(_KINDS)


def kind_class(element: type, variant: Hashable = None) -> type:
    """The class of kinds of an element's class. A subclass that has no field of its own is what its parent is.

    >>> from linkwork.elements import RigidBody
    >>> class Crank(RigidBody):
    ...     pass
    >>> kind_class(Crank) is kind_class(RigidBody)
    True
    """
    found = _variants(element)
    if variant not in found:
        raise LinkworkError(f"{element.__name__}: no kind is declared for one that is {variant}; write it with "
                            f"@kind_of({element.__name__}, {variant!r})")  # fmt: skip
    return found[variant]


@cache
def _variants(element: type) -> dict[Hashable, type]:
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


def kind_type(element: Any) -> Any:
    """The class of kinds of an element: what all of these have in common, without its rows or law being written."""
    return kind_class(type(element), element.variant())


def kind_for(element: Any) -> Any:
    """The kind of an element."""
    return kind_type(element).of(element)


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
