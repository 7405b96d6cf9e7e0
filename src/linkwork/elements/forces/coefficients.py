"""Coefficients of forces: one number, or one an axis; any may be a Parameter. Checked for elements, and as arrays for kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.parameter import Parameter

if TYPE_CHECKING:
    from linkwork.elements.core.element import ForceElement
    from linkwork.elements.core.field_types import OpenNumbers
    from linkwork.util.array_types import AnyArray, FloatArray


def check_coefficients(force: ForceElement, *names: str) -> None:
    for name in names:
        setattr(force, name, checks.non_negative(force, name, getattr(force, name), parameter=True))


def size(value: Any) -> int:
    """The number of numbers in one that is a number, or in a vector."""
    return len(value) if hasattr(value, "__len__") else 1


def is_zero(value: Any) -> bool:
    """Whether a number is zero for good: a Parameter may change."""
    return not isinstance(value, Parameter) and size(value) == 1 and float(value) == 0.0


def coefficients(who: ForceElement, name: str, value: OpenNumbers) -> float | Parameter | AnyArray:
    """One that is at least zero, or two or three of them."""
    given = checks.entries(value)
    if given is None:
        return checks.non_negative(who, name, value, parameter=True)
    if len(given) not in (2, 3):
        checks.fail(who, f"{name} is {checks.show(value)}", "give one number, or two or three")
    result = checks.vector(who, name, value, len(given), parameter=True)
    for item in result:
        checks.non_negative(who, name, item, parameter=True)
    return result


def table(rows: Sequence[Any]) -> AnyArray:
    """(k, n); of floats where no Parameter stands in it."""
    open_ended = any(isinstance(x, Parameter) for row in rows for x in row)
    return np.array(rows, dtype=object if open_ended else float)


def wide(elements: Sequence[Any], name: str, count: int) -> AnyArray:
    """(k, count): a field of one number or of `count`."""
    return table([list(value) if size(value := getattr(e, name)) > 1 else [value] * count for e in elements])


def resting(elements: Sequence[Any], name: str, built: FloatArray) -> AnyArray:
    """(k, n): a field, and where it is None what holds as built, (k, n)."""
    given = [getattr(e, name) for e in elements]
    return table([b if x is None else list(x) if size(x) > 1 else [x] for x, b in zip(given, built, strict=True)])
