"""Fields of elements that are changed after they were made: checked before they are used, refused once the world is simulated.

Elements are made by the thousand, and a `__setattr__` in Python would nearly double the time that takes. So an element is made
as an instance of a twin of its class, which has none, and belongs to its class from then on.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ElementError, suggestion

if TYPE_CHECKING:
    from linkwork.elements.core.element import Element
    from linkwork.world import World


class UnchangeableError(ElementError, AttributeError):
    """A field that cannot be assigned, or is none."""


class _Making(type):
    """The class of classes of elements."""

    def __call__(cls, *given: Any, **named: Any) -> Any:
        made = type.__call__(_open(cls), *given, **named)
        made.__class__ = cls
        return made

    @property
    def __signature__(cls) -> inspect.Signature:
        """That of `__init__`, which schemas and help texts are made of; that of `__call__` says nothing."""
        own = inspect.signature(cls.__init__)  # type: ignore[misc]
        return own.replace(parameters=list(own.parameters.values())[1:])


if TYPE_CHECKING:
    Making = type  # a table with elements' classes as keys is one of types
else:
    Making = _Making


@cache
def _open(cls: Any) -> Any:
    """A class that differs in nothing but that fields are assigned without a look at them."""
    same = {
        "__setattr__": object.__setattr__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "family": cls.family,
    }
    return Making(cls.__name__, (cls,), same)


def change(element: Element, name: str, value: Any) -> None:
    """Give a field another value. One that does not fit the other fields is kept, for these may change next, and looked at
    again when the world is first used."""
    kind: Any = type(element)
    if name not in _names(kind):
        _check_known(element, name)
        vars(element)[name] = value
        return
    world = element._world()
    if world is not None:
        _refuse_if_used(element, name, world)
    before = vars(element)[name]
    vars(element)[name] = value
    try:
        twin = _checked(element, world)
    except ElementError:
        vars(element)["_unchecked"] = True
    except BaseException:  # such as a name that nobody has
        vars(element)[name] = before
        raise
    else:
        vars(element).update(vars(twin) if "_unchecked" in vars(element) else {name: vars(twin)[name]})
        vars(element).pop("_unchecked", None)
    if world is not None:
        world._changed()


def check_deleted(element: Element, name: str) -> None:
    """Refuse to delete a field; a subclass that somebody else wrote may have more than fields."""
    kind: Any = type(element)
    if name in _names(kind):
        world = element._world()
        if world is not None:
            _refuse_if_used(element, name, world)
        raise UnchangeableError(f"{checks.label(element)}: {name} cannot be deleted; give it another value")


def check(element: Element, world: World) -> None:
    """Refuse an element of which some field was given a value that does not fit."""
    if "_unchecked" in vars(element):
        vars(element).update(vars(_checked(element, world)))
        del vars(element)["_unchecked"]


def _checked(element: Element, world: World | None) -> Any:
    """A twin with the same fields, as they are once they have been checked; an error where they cannot be."""
    kind: Any = type(element)
    twin = object.__new__(_open(kind))
    vars(twin).update(vars(element))
    twin.__post_init__()
    if world is not None and element.REFERENCES:
        resolved = world._resolve(twin)
        if resolved:
            twin.replace_references(resolved)
    return twin


def seal(element: Element) -> None:
    """Nothing of it changes in place any more."""
    for value in vars(element).values():
        if type(value) is np.ndarray:
            value.flags.writeable = False


def unseal(element: Element) -> None:
    """It may be changed again, once it is in no world."""
    for value in vars(element).values():
        if type(value) is np.ndarray and value.flags.owndata:
            value.flags.writeable = True


@cache
def _names(cls: Any) -> frozenset[str]:
    return frozenset(field.name for field in fields(cls))


def _check_known(element: Element, name: str) -> None:
    """A subclass that somebody else wrote may have more than fields."""
    if not type(element).__module__.startswith("linkwork.") and not hasattr(type(element), name):
        return
    if name in vars(element) or (hasattr(type(element), name) and not hasattr(getattr(type(element), name), "__get__")):
        return
    if hasattr(type(element), name):
        raise UnchangeableError(f"{checks.label(element)}: {name} follows from other fields; change those")
    kind: Any = type(element)
    known = sorted(_names(kind))
    hint = suggestion(name, known) or f"; it has {', '.join(known)}"
    raise UnchangeableError(f'{checks.label(element)}: it has no field "{name}"{hint}')


def _refuse_if_used(element: Element, name: str, world: World) -> None:
    if name == "name":
        raise UnchangeableError(f"{checks.label(element)}: its world knows it by that name; remove it there first")
    if world._used:
        raise UnchangeableError(
            f"{checks.label(element)}: {name} cannot be changed, for its world has been simulated; give a Parameter and change "
            "that with sim.set, or remove the element, change it and add it again, or change a copy.deepcopy of the world"
        )
