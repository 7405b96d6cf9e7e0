"""Names of a package that are loaded when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, where: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names stand in other modules: name -> module.

    A name that is that of the module itself, such as "scenes": "linkwork.scenes", is the module.

    >>> get, names = lazy_names("linkwork", {"LinkworkError": "linkwork.errors"})
    >>> get("LinkworkError").__name__
    'LinkworkError'
    >>> get("Linkwork")
    Traceback (most recent call last):
    AttributeError: module 'linkwork' has no attribute 'Linkwork'
    """

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(where[name])
        value = module if where[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where})

    return get, names
