"""Fields of elements that are changed after they were made: checked as when they are made, refused once the world is simulated.

Elements are made by the thousand, and a `__setattr__` in Python would nearly double the time that takes. So an element is made
as an instance of a twin of its class, which has none, and belongs to its class from then on.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache

import numpy as np

from ..errors import ElementError, suggestion
from . import checks


class UnchangeableError(ElementError, AttributeError):
    """A field that cannot be assigned, or is none."""


class Making(type):
    """The class of classes of elements."""

    def __call__(cls, *given, **named):
        made = type.__call__(_open(cls), *given, **named)
        made.__class__ = cls
        return made


@cache
def _open(cls):
    """A class that differs in nothing but that fields are assigned without a look at them."""
    same = {
        "__setattr__": object.__setattr__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    return Making(cls.__name__, (cls,), same)


def change(element, name, value):
    """Give a field another value, which must be one that the element could have been made with."""
    if name not in _names(type(element)):
        _check_known(element, name)
        vars(element)[name] = value
        return
    world = element._world()
    if world is not None:
        _refuse_if_used(element, name, world)
    twin = object.__new__(_open(type(element)))
    vars(twin).update(vars(element))
    vars(twin)[name] = value
    twin.__post_init__()
    if world is not None and name in element.REFERENCES:
        resolved = world._resolve(twin)
        if resolved:
            twin.replace_references(resolved)
    vars(element)[name] = vars(twin)[name]
    if world is not None:
        world._changed()


def seal(element):
    """Nothing of it changes in place any more."""
    for value in vars(element).values():
        if type(value) is np.ndarray:
            value.flags.writeable = False


def unseal(element):
    """It may be changed again, once it is in no world."""
    vars(element).pop("_sealed", None)
    for value in vars(element).values():
        if type(value) is np.ndarray and value.flags.owndata:
            value.flags.writeable = True


@cache
def _names(cls):
    return frozenset(field.name for field in fields(cls))


def _check_known(element, name):
    """A subclass may have more than fields."""
    if name in vars(element) or (hasattr(type(element), name) and not hasattr(getattr(type(element), name), "__get__")):
        return
    if hasattr(type(element), name):
        raise UnchangeableError(f"{checks.label(element)}: {name} follows from other fields; change those")
    known = sorted(_names(type(element)))
    hint = suggestion(name, known) or f"; it has {', '.join(known)}"
    raise UnchangeableError(f'{checks.label(element)}: it has no field "{name}"{hint}')


def _refuse_if_used(element, name, world):
    if name == "name":
        raise UnchangeableError(f"{checks.label(element)}: its world knows it by that name; remove it there first")
    if world._used:
        raise UnchangeableError(
            f"{checks.label(element)}: {name} cannot be changed, for its world has been simulated; give a Parameter and change "
            "that with sim.set, or remove the element, change it and add it again, or change a copy.deepcopy of the world"
        )
