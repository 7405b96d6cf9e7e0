"""One check for each notion: each takes (who, field, value), returns the normalised value or raises ElementError.

`who` is the element whose field is checked, for the message. Where `parameter=True`, a Parameter may stand for a
number; it is checked by its value and kept, and a vector that holds one is an array of dtype object.
"""

from __future__ import annotations

import inspect
import math
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, overload

import numpy as np

from linkwork.elements.core.parameter import Parameter
from linkwork.errors import ElementError, printable

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, IntArray

T = TypeVar("T")

QUATERNION_SLACK = 1e-3  # |q| - 1: 0.7071 is off by 1e-5, a forgotten component by far more
TRIANGLE_SLACK = 1e-9  # relative; flat plates lie on the bound
PARALLEL = 1e-6  # sine of the angle below which two directions are the same
THIN = 1e-15  # the smallest principal value relative to the largest at or below which a moment has no inverse
PERPENDICULAR = 1e-3  # cosine of the angle up to which two directions are taken as meant perpendicular

LARGEST = sys.float_info.max
ZERO = (0.0, 0.0, 0.0)  # the default of most vectors: known by identity, it needs no check
IDENTITY = (1.0, 0.0, 0.0, 0.0)  # so is that of orientations
USUAL = frozenset({float, int, np.float64})  # the types that nearly all numbers given have
VECTOR_REMEDIES = {n: f"give {n} finite numbers such as ({'0, ' * (n - 1)}1)" for n in (2, 3, 4)}


def label(who: object) -> str:
    """`Hinge "knee"`, or `Hinge` before it has a name."""
    given = getattr(who, "name", None)
    kind = who if isinstance(who, str) else type(who).__name__
    return f'{kind} "{printable(given)}"' if isinstance(given, str) else kind


def labels(several: Iterable[object], most: int = 3) -> str:
    """`Hinge "a", Hinge "b", Hinge "c" and 47 more`: the first of several elements by name, and how many others there are."""
    known = [label(who) for who in several]
    shown = known if len(known) <= most + 1 else known[:most]
    if len(shown) == len(known):
        return " and ".join(filter(None, (", ".join(known[:-1]), *known[-1:])))
    return f"{', '.join(shown)} and {len(known) - most} more"


def fail(who: object, problem: str, remedy: str) -> NoReturn:
    raise ElementError(f"{label(who)}: {problem}; {remedy}")


def show(value: object) -> str:
    """A value as a person would write it, in at most 80 characters."""
    text = _text(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _text(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
        return _text(value)
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(_text(x) for x in value) + ")"
    return repr(value)


def name(who: object, value: str | None) -> str | None:
    """A non-empty string, or None for a default given by the world."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    fail(type(who).__name__, f"name is {show(value)}", 'give a string such as "arm"')


@overload
def number(who: object, field: str, value: Any, *, above: float | None = None, least: float | None = None,
           parameter: Literal[False] = False, remedy: str | None = None) -> float: ...  # fmt: skip
@overload
def number(who: object, field: str, value: Any, *, above: float | None = None, least: float | None = None,
           parameter: bool, remedy: str | None = None) -> float | Parameter: ...  # fmt: skip
def number(who: object, field: str, value: Any, *, above: float | None = None, least: float | None = None,
           parameter: bool = False, remedy: str | None = None) -> float | Parameter:  # fmt: skip
    """A finite float > above or >= least, or a Parameter with such a value."""
    if isinstance(value, Parameter):
        if not parameter:
            fail(who, f"{field} is {value!r}", "a Parameter cannot stand here, give a number")
        number(who, field, value.value, above=above, least=least, remedy=remedy)
        return value
    if _is_finite(value) and (above is None or value > above) and (least is None or value >= least):
        return float(value)
    bound = f" greater than {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    fail(who, f"{field} is {show(value)}", remedy or f"give a finite number{bound}")


def _is_finite(value: Any) -> bool:
    """A real number, no bool (nor a time, which numpy takes for an integer), neither infinite nor NaN."""
    if type(value) is float:  # nearly always; the rest is four times slower
        return math.isfinite(value)
    real = (
        type(value) is int
        or isinstance(value, numbers.Real)
        or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuf")
    )
    try:
        return real and not isinstance(value, (bool, np.timedelta64)) and math.isfinite(value)
    except OverflowError:  # an int beyond the floats
        return False


def is_zero(value: Any) -> bool:
    """A number that is zero; neither a Parameter nor False."""
    return _is_finite(value) and value == 0


def whole(who: object, field: str, value: Any, *, least: int = 0, most: int | None = None) -> int:
    """An int >= least and <= most."""
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.timedelta64)):
        given = int(value)
        if given >= least and (most is None or given <= most):
            return given
    fail(
        who,
        f"{field} is {show(value)}",
        f"give a whole number of at least {least}{'' if most is None else f', at most {most}'}",
    )


@overload
def positive(who: object, field: str, value: Any, *, parameter: Literal[False] = False, remedy: str | None = None) -> float: ...
@overload
def positive(who: object, field: str, value: Any, *, parameter: bool, remedy: str | None = None) -> float | Parameter: ...
def positive(who: object, field: str, value: Any, *, parameter: bool = False, remedy: str | None = None) -> float | Parameter:
    if type(value) is float and 0.0 < value <= LARGEST:  # nearly always
        return value
    return number(who, field, value, above=0.0, parameter=parameter, remedy=remedy)


@overload
def non_negative(who: object, field: str, value: Any, *, parameter: Literal[False] = False,
                 remedy: str | None = None) -> float: ...  # fmt: skip
@overload
def non_negative(who: object, field: str, value: Any, *, parameter: bool, remedy: str | None = None) -> float | Parameter: ...
def non_negative(who: object, field: str, value: Any, *, parameter: bool = False,
                 remedy: str | None = None) -> float | Parameter:  # fmt: skip
    return number(who, field, value, least=0.0, parameter=parameter, remedy=remedy)


def vector(who: object, field: str, value: Any, size: int = 3, *, parameter: bool = False) -> FloatArray:
    """An array (size,) of finite floats, copied; dtype object if it holds a Parameter."""
    if value is ZERO and size == 3:
        return np.zeros(3)
    given = _plain(value, size)
    if given is not None:
        return np.array(given, dtype=float)
    given = entries(value)
    if given is None or len(given) != size or not all(isinstance(x, Parameter) or _is_finite(x) for x in given):
        fail(who, f"{field} is {show(value)}", VECTOR_REMEDIES.get(size, f"give {size} finite numbers"))
    checked = [number(who, field, x, parameter=parameter) for x in given]
    return np.array(checked, dtype=object if any(isinstance(x, Parameter) for x in checked) else float)


def _plain(value: Any, size: int) -> list[float] | tuple[float, ...] | None:
    """The entries if they are `size` finite numbers of the usual types, so that nothing is left to check; else None."""
    if type(value) is not tuple and type(value) is not list:
        if type(value) is not np.ndarray or value.ndim != 1 or value.dtype.kind not in "iuf":
            return None
        value = value.tolist()
    if len(value) != size:
        return None
    for x in value:
        if type(x) not in USUAL or not -LARGEST <= x <= LARGEST:
            return None
    plain: list[float] | tuple[float, ...] = value
    return plain


def optional(check: Callable[..., T], who: object, field: str, value: Any, *args: Any, **options: Any) -> T | None:
    """None stays None, anything else is checked."""
    return None if value is None else check(who, field, value, *args, **options)


def matrix(who: object, field: str, value: Any, remedy: str = "give a 3 by 3 matrix") -> FloatArray:
    """An array (3, 3) of finite floats, copied."""
    rows = entries(value)
    if rows is None or len(rows) != 3 or any(len(entries(row) or ()) != 3 for row in rows):
        fail(who, f"{field} is {show(value)}", remedy)
    return np.array([vector(who, f"{field}[{i}]", row) for i, row in enumerate(rows)])


def rows(who: object, field: str, value: Any) -> FloatArray:
    """An array (n, 3) of finite floats, copied, n at least one."""
    result = _floats(who, field, value, "give points as rows of three numbers, such as [(0, 0, 0), (1, 0, 0)]", 2)
    if result.shape[1] != 3 or not len(result):
        fail(who, f"{field} has the shape {result.shape}", "give points as rows of three numbers")
    return result


def table(who: object, field: str, value: Any) -> FloatArray:
    """An array (n, m) of finite floats, copied, with two rows and columns at least."""
    result = _floats(who, field, value, "give rows of equally many numbers", 2)
    if min(result.shape) < 2:
        fail(who, f"{field} has the shape {result.shape}", "give two rows and two columns at least")
    return result


def _floats(who: object, field: str, value: Any, remedy: str, dimensions: int) -> FloatArray:
    try:
        result = np.array(value, dtype=float)
    except (TypeError, ValueError):
        fail(who, f"{field} is {show(value)}", remedy)
    if result.ndim != dimensions:
        fail(who, f"{field} has the shape {result.shape}", remedy)
    wrong = np.argwhere(~np.isfinite(result))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        fail(who, f"{field}{list(at)} is {result[at]:g}", "give finite numbers")
    return result


def indices(who: object, field: str, value: Any, count: int) -> IntArray:
    """An array (n, 3) of integers from 0 to count - 1, copied, n at least one."""
    result = np.array(value)
    if result.ndim != 2 or result.shape[1] != 3 or not len(result) or result.dtype.kind not in "iu":
        fail(who, f"{field} is {show(value)}", "give rows of three numbers of vertices, such as [(0, 1, 2)]")
    wrong = np.argwhere((result < 0) | (result >= count))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        fail(who, f"{field}{list(at)} is {result[at]} but there are {count} vertices", f"give numbers from 0 to {count - 1}")
    return result.astype(np.int64)


def entries(value: Any) -> list[Any] | None:
    """The entries of a list, tuple or array; None for anything else."""
    if isinstance(value, np.ndarray):
        return list(value) if value.ndim else None
    return list(value) if isinstance(value, (tuple, list)) else None


def direction(who: object, field: str, value: Any) -> FloatArray:
    """A unit vector (3,) along value."""
    given = _plain(value, 3) or vector(who, field, value).tolist()  # three floats are faster without numpy
    length = math.hypot(*given)
    if not 1e-100 < length < 1e100:
        largest = max(map(abs, given))
        if largest == 0.0:
            fail(who, f"{field} has zero length", "give a direction such as (0, 1, 0)")
        given = [x / largest for x in given]  # so that tiny and huge ones neither vanish nor overflow
        length = math.hypot(*given)
    x, y, z = given
    return np.array((x / length, y / length, z / length))


def not_parallel(who: object, field: str, value: FloatArray, other_field: str, other: FloatArray) -> None:
    """Two unit directions that span a plane."""
    if np.linalg.norm(np.cross(value, other)) < PARALLEL:
        fail(who, f"{field} {show(value)} is parallel to {other_field}", "give a direction across it")


def perpendicular(who: object, field: str, value: FloatArray, other_field: str, other: FloatArray) -> FloatArray:
    """The unit direction value made exactly perpendicular to the unit direction other, if nearly so."""
    cosine = float(value @ other)
    if abs(cosine) > PERPENDICULAR:
        angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
        fail(who, f"{field} {show(value)} is at {angle:.4g} degrees to {other_field}", "give perpendicular directions")
    result = value - cosine * other
    return result / np.linalg.norm(result)


def quaternion(who: object, field: str, value: Any) -> FloatArray:
    """A unit quaternion (w, x, y, z) from one that is nearly so."""
    if value is IDENTITY:
        return np.array(value)
    result = vector(who, field, value, 4)
    length = math.hypot(*result.tolist())
    if abs(length - 1.0) > QUATERNION_SLACK:
        remedy = "give a unit quaternion (w, x, y, z) such as (1, 0, 0, 0)"
        fail(who, f"{field} {show(value)} has length {length:g}", remedy)
    return result / length


def moment(who: object, field: str, value: Any) -> FloatArray:
    """A symmetric positive definite (3, 3) from three diagonal entries or the whole matrix."""
    return _moment(who, field, value)[0]


def symmetric(who: object, field: str, value: Any) -> FloatArray:
    """A symmetric (3, 3) from three diagonal entries or the whole matrix."""
    return _symmetric(who, field, value)[0]


def _moment(who: object, field: str, value: Any) -> tuple[FloatArray, list[float]]:
    """`moment` and its principal values, ascending."""
    result, principal = _symmetric(who, field, value)
    smallest, _, largest = principal
    if smallest <= THIN * largest:  # also when all are zero or negative
        fail(who, f"{field} {show(value)} has the principal value {smallest:g}", "all three must be positive")
    return result, principal


def _symmetric(who: object, field: str, value: Any) -> tuple[FloatArray, list[float]]:
    """A symmetric (3, 3) and its principal values, ascending: those of a diagonal one need no eigenvalues."""
    plain = _plain(value, 3)
    if plain is not None:
        return diagonal(*plain), sorted(map(float, plain))
    given = entries(value)
    flat = given is not None and len(given) == 3 and all(entries(x) is None for x in given)
    remedy = "give three diagonal entries or a 3 by 3 matrix"
    result = np.diag(vector(who, field, value)) if flat else matrix(who, field, value, remedy)
    if np.abs(result - result.T).max() > 1e-9 * np.abs(result).max():
        fail(who, f"{field} {show(value)} is not symmetric", "give a symmetric matrix or three diagonal entries")
    result = 0.5 * (result + result.T)
    return result, np.linalg.eigvalsh(result).tolist()


def diagonal(x: float, y: float, z: float) -> FloatArray:
    """The matrix (3, 3) with these on its diagonal: numpy.diag is several times slower."""
    result = np.zeros((3, 3))
    result[0, 0] = x
    result[1, 1] = y
    result[2, 2] = z
    return result


def inertia(who: object, field: str, value: Any) -> FloatArray:
    """A moment of inertia (3, 3) that some distribution of mass has: no principal one exceeds the sum of the others."""
    result, (low, middle, high) = _moment(who, field, value)
    if high > (low + middle) * (1.0 + TRIANGLE_SLACK):
        problem = f"{field} has the principal values {show((low, middle, high))}, which no body has"
        fail(who, problem, "none may exceed the sum of the other two")
    return result


def several(who: object, field: str, value: Iterable[T], what: str = "names") -> list[T]:
    """The items of a list, tuple, set or other iterable, but of no text."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        fail(who, f"{field} is {show(value)}", f"give a list of {what}")
    return list(value)


def mapping(who: object, field: str, value: Mapping[str, T]) -> dict[str, T]:
    """A dict with names as keys, copied."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        fail(who, f"{field} is {show(value)}", "give a dict with names as keys")
    return dict(value)


def choice(who: object, field: str, value: str, allowed: Iterable[str]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    fail(who, f"{field} is {show(value)}", "give " + " or ".join(f'"{x}"' for x in allowed))


def flag(who: object, field: str, value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    fail(who, f"{field} is {show(value)}", "give True or False")


def function(who: object, field: str, value: Callable[..., Any] | None, arguments: Sequence[str]) -> Callable[..., Any]:
    """A callable that takes these arguments, such as ("a", "b", "t")."""
    example = f"lambda {', '.join(arguments)}: ..."
    if not callable(value) or isinstance(value, type):
        fail(who, f"{field} is {show(value)}", f"give a function such as {example}")
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # some built-ins do not tell
        return value
    try:
        signature.bind(*arguments)
    except TypeError:
        fail(who, f"{field} cannot be called with ({', '.join(arguments)})", f"write it as {example}")
    return value
