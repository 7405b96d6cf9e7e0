"""One check for each notion: each takes (who, field, value), returns the normalised value or raises ElementError.

`who` is the element whose field is checked, for the message. Where `parameter=True`, a Parameter may stand for a
number; it is checked by its value and kept, and a vector that holds one is an array of dtype object.
"""

import inspect
import math
import numbers
import sys
from collections.abc import Iterable, Mapping

import numpy as np

from linkwork.elements.core.parameter import Parameter
from linkwork.errors import ElementError, printable

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


def label(who):
    """`Hinge "knee"`, or `Hinge` before it has a name."""
    given = getattr(who, "name", None)
    kind = who if isinstance(who, str) else type(who).__name__
    return f'{kind} "{printable(given)}"' if isinstance(given, str) else kind


def labels(several, most=3):
    """`Hinge "a", Hinge "b", Hinge "c" and 47 more`: the first of several elements by name, and how many others there are."""
    known = [label(who) for who in several]
    shown = known if len(known) <= most + 1 else known[:most]
    if len(shown) == len(known):
        return " and ".join(filter(None, (", ".join(known[:-1]), *known[-1:])))
    return f"{', '.join(shown)} and {len(known) - most} more"


def fail(who, problem, remedy):
    raise ElementError(f"{label(who)}: {problem}; {remedy}")


def show(value):
    """A value as a person would write it, in at most 80 characters."""
    text = _text(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _text(value):
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
        return _text(value)
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(_text(x) for x in value) + ")"
    return repr(value)


def name(who, value):
    """A non-empty string, or None for a default given by the world."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    fail(type(who).__name__, f"name is {show(value)}", 'give a string such as "arm"')


def number(who, field, value, *, above=None, least=None, parameter=False, remedy=None):
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


def _is_finite(value):
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


def is_zero(value):
    """A number that is zero; neither a Parameter nor False."""
    return _is_finite(value) and value == 0


def whole(who, field, value, *, least=0, most=None):
    """An int >= least and <= most."""
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.timedelta64)) and value >= least:
        if most is None or value <= most:
            return int(value)
    fail(
        who,
        f"{field} is {show(value)}",
        f"give a whole number of at least {least}{'' if most is None else f', at most {most}'}",
    )


def positive(who, field, value, *, parameter=False, remedy=None):
    if type(value) is float and 0.0 < value <= LARGEST:  # nearly always
        return value
    return number(who, field, value, above=0.0, parameter=parameter, remedy=remedy)


def non_negative(who, field, value, *, parameter=False, remedy=None):
    return number(who, field, value, least=0.0, parameter=parameter, remedy=remedy)


def vector(who, field, value, size=3, *, parameter=False):
    """An array (size,) of finite floats, copied; dtype object if it holds a Parameter."""
    if value is ZERO and size == 3:
        return np.zeros(3)
    given = _plain(value, size)
    if given is not None:
        return np.array(given, dtype=float)
    given = entries(value)
    if given is None or len(given) != size or not all(isinstance(x, Parameter) or _is_finite(x) for x in given):
        fail(who, f"{field} is {show(value)}", VECTOR_REMEDIES[size])
    checked = [number(who, field, x, parameter=parameter) for x in given]
    return np.array(checked, dtype=object if any(isinstance(x, Parameter) for x in checked) else float)


def _plain(value, size):
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
    return value


def optional(check, who, field, value, *args, **options):
    """None stays None, anything else is checked."""
    return None if value is None else check(who, field, value, *args, **options)


def matrix(who, field, value, remedy="give a 3 by 3 matrix"):
    """An array (3, 3) of finite floats, copied."""
    rows = entries(value)
    if rows is None or len(rows) != 3 or any(len(entries(row) or ()) != 3 for row in rows):
        fail(who, f"{field} is {show(value)}", remedy)
    return np.array([vector(who, f"{field}[{i}]", row) for i, row in enumerate(rows)])


def rows(who, field, value):
    """An array (n, 3) of finite floats, copied, n at least one."""
    result = _floats(who, field, value, "give points as rows of three numbers, such as [(0, 0, 0), (1, 0, 0)]", 2)
    if result.shape[1] != 3 or not len(result):
        fail(who, f"{field} has the shape {result.shape}", "give points as rows of three numbers")
    return result


def table(who, field, value):
    """An array (n, m) of finite floats, copied, with two rows and columns at least."""
    result = _floats(who, field, value, "give rows of equally many numbers", 2)
    if min(result.shape) < 2:
        fail(who, f"{field} has the shape {result.shape}", "give two rows and two columns at least")
    return result


def _floats(who, field, value, remedy, dimensions):
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


def indices(who, field, value, count):
    """An array (n, 3) of integers from 0 to count - 1, copied, n at least one."""
    result = np.array(value)
    if result.ndim != 2 or result.shape[1] != 3 or not len(result) or result.dtype.kind not in "iu":
        fail(who, f"{field} is {show(value)}", "give rows of three numbers of vertices, such as [(0, 1, 2)]")
    wrong = np.argwhere((result < 0) | (result >= count))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        fail(who, f"{field}{list(at)} is {result[at]} but there are {count} vertices", f"give numbers from 0 to {count - 1}")
    return result.astype(np.int64)


def entries(value):
    """The entries of a list, tuple or array; None for anything else."""
    if isinstance(value, np.ndarray):
        return list(value) if value.ndim else None
    return list(value) if isinstance(value, (tuple, list)) else None


def direction(who, field, value):
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


def not_parallel(who, field, value, other_field, other):
    """Two unit directions that span a plane."""
    if np.linalg.norm(np.cross(value, other)) < PARALLEL:
        fail(who, f"{field} {show(value)} is parallel to {other_field}", "give a direction across it")


def perpendicular(who, field, value, other_field, other):
    """The unit direction value made exactly perpendicular to the unit direction other, if nearly so."""
    cosine = float(value @ other)
    if abs(cosine) > PERPENDICULAR:
        angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
        fail(who, f"{field} {show(value)} is at {angle:.4g} degrees to {other_field}", "give perpendicular directions")
    result = value - cosine * other
    return result / np.linalg.norm(result)


def quaternion(who, field, value):
    """A unit quaternion (w, x, y, z) from one that is nearly so."""
    if value is IDENTITY:
        return np.array(value)
    result = vector(who, field, value, 4)
    length = math.hypot(*result.tolist())
    if abs(length - 1.0) > QUATERNION_SLACK:
        remedy = "give a unit quaternion (w, x, y, z) such as (1, 0, 0, 0)"
        fail(who, f"{field} {show(value)} has length {length:g}", remedy)
    return result / length


def moment(who, field, value):
    """A symmetric positive definite (3, 3) from three diagonal entries or the whole matrix."""
    return _moment(who, field, value)[0]


def symmetric(who, field, value):
    """A symmetric (3, 3) from three diagonal entries or the whole matrix."""
    return _symmetric(who, field, value)[0]


def _moment(who, field, value):
    """`moment` and its principal values, ascending."""
    result, principal = _symmetric(who, field, value)
    smallest, _, largest = principal
    if smallest <= THIN * largest:  # also when all are zero or negative
        fail(who, f"{field} {show(value)} has the principal value {smallest:g}", "all three must be positive")
    return result, principal


def _symmetric(who, field, value):
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


def diagonal(x, y, z):
    """The matrix (3, 3) with these on its diagonal: numpy.diag is several times slower."""
    result = np.zeros((3, 3))
    result[0, 0] = x
    result[1, 1] = y
    result[2, 2] = z
    return result


def inertia(who, field, value):
    """A moment of inertia (3, 3) that some distribution of mass has: no principal one exceeds the sum of the others."""
    result, (low, middle, high) = _moment(who, field, value)
    if high > (low + middle) * (1.0 + TRIANGLE_SLACK):
        problem = f"{field} has the principal values {show((low, middle, high))}, which no body has"
        fail(who, problem, "none may exceed the sum of the other two")
    return result


def several(who, field, value, what="names"):
    """The items of a list, tuple, set or other iterable, but of no text."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        fail(who, f"{field} is {show(value)}", f"give a list of {what}")
    return list(value)


def mapping(who, field, value):
    """A dict with names as keys, copied."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        fail(who, f"{field} is {show(value)}", "give a dict with names as keys")
    return dict(value)


def choice(who, field, value, allowed):
    if isinstance(value, str) and value in allowed:
        return value
    fail(who, f"{field} is {show(value)}", "give " + " or ".join(f'"{x}"' for x in allowed))


def flag(who, field, value):
    if isinstance(value, bool | np.bool_):
        return bool(value)
    fail(who, f"{field} is {show(value)}", "give True or False")


def function(who, field, value, arguments):
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
