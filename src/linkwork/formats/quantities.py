"""Numbers with units: "5 cm", "1.5 kN m/rad", "90 rpm". Numbers alone are SI.

An angle is a dimension of its own ("30 deg" is no length, and "2 Hz" no angular velocity), but in stiffnesses and dampings,
where N m/rad and N m are both written.
"""

import math
import re
from functools import lru_cache

from linkwork.errors import LinkworkError, suggestion

NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_QUANTITY = re.compile(rf"\s*({NUMBER})\s*(.*?)\s*\Z", re.DOTALL)
_TERM = re.compile(r"\s*([*·/]?)\s*([A-Za-zµμΩ°%]+|1(?![\d.]))\s*(?:(?:\^|\*\*)\s*([-+]?\d)|([²³]))?")
LONGEST = 100  # characters of a quantity

# name -> factor to SI, exponents of m, kg, s, rad
BASE: dict[str, tuple[float, tuple[int, int, int, int]]] = {
    "m": (1.0, (1, 0, 0, 0)),
    "g": (1e-3, (0, 1, 0, 0)),
    "s": (1.0, (0, 0, 1, 0)),
    "rad": (1.0, (0, 0, 0, 1)),
    "N": (1.0, (1, 1, -2, 0)),
    "J": (1.0, (2, 1, -2, 0)),
    "W": (1.0, (2, 1, -3, 0)),
    "Pa": (1.0, (-1, 1, -2, 0)),
    "Hz": (1.0, (0, 0, -1, 0)),
}
PREFIXES = {"µ": 1e-6, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3, "M": 1e6, "G": 1e9}
OTHERS: dict[str, tuple[float, tuple[int, int, int, int]]] = {
    "1": (1.0, (0, 0, 0, 0)),
    "deg": (math.pi / 180, (0, 0, 0, 1)),
    "°": (math.pi / 180, (0, 0, 0, 1)),
    "turn": (2 * math.pi, (0, 0, 0, 1)),
    "rev": (2 * math.pi, (0, 0, 0, 1)),
    "rpm": (2 * math.pi / 60, (0, 0, -1, 1)),
    "min": (60.0, (0, 0, 1, 0)),
    "h": (3600.0, (0, 0, 1, 0)),
    "t": (1e3, (0, 1, 0, 0)),
    "l": (1e-3, (3, 0, 0, 0)),
    "L": (1e-3, (3, 0, 0, 0)),
    "in": (0.0254, (1, 0, 0, 0)),
    "inch": (0.0254, (1, 0, 0, 0)),
    "ft": (0.3048, (1, 0, 0, 0)),
    "lb": (0.45359237, (0, 1, 0, 0)),
    "lbf": (0.45359237 * 9.80665, (1, 1, -2, 0)),
    "bar": (1e5, (-1, 1, -2, 0)),
}
UNITS = BASE | OTHERS | {prefix + name: (factor * PREFIXES[prefix], dimension) for name, (factor, dimension) in BASE.items()
                         for prefix in PREFIXES if name != "rad" or prefix == "m"}  # fmt: skip
KNOWN = tuple(sorted(UNITS))


class QuantityError(LinkworkError, ValueError):
    """A text that is no quantity, or one of another dimension; the message goes on after the name of the field."""


@lru_cache(maxsize=1000)
def unit(text):
    """(factor to SI, exponents of m, kg, s, rad) of a unit such as "kN m/rad".

    >>> unit("kN m/rad")
    (1000.0, (2, 1, -2, -1))
    """
    factor, at = 1.0, 0
    dimension: tuple = (0, 0, 0, 0)
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None or term.end() == at:
            raise QuantityError(f'has the unit "{text}", which cannot be read; write it as "kg m^2" or "N m/rad"')
        sign, name, power, superscript = term.groups()
        if name not in UNITS:
            hint = suggestion(name, KNOWN) or "; use SI units, with prefixes such as k and m"
            raise QuantityError(f'has the unit "{name}", which is not known{hint}')
        exponent = int(power or {"²": 2, "³": 3}.get(superscript, 1)) * (-1 if sign == "/" else 1)
        own, exponents = UNITS[name]
        factor *= own**exponent
        dimension = tuple(d + exponent * e for d, e in zip(dimension, exponents, strict=True))
        at = term.end()
    return factor, dimension


def split(text):
    """(number, unit as text) of a quantity, or None where the text does not begin as one."""
    found = _QUANTITY.match(text) if len(text) <= LONGEST else None
    return None if found is None else (float(found[1]), found[2])


def quantity(text, units):
    """The number in SI that a text says for a field with these units; None where it does not begin with a number.

    >>> quantity("5 cm", ("m",)), quantity("1e-3", ("m",)), quantity("k", ("m",))
    (0.05, 0.001, None)
    >>> quantity("5 kg", ("m",))
    Traceback (most recent call last):
    linkwork.formats.quantities.QuantityError: is "5 kg", which is no m; give a number, or one with a unit such as "5 m"
    """
    parts = split(text)
    if parts is None:
        return None
    number, name = parts
    if name:
        factor, dimension = unit(name)
        if not any(_same(dimension, unit(wanted)[1]) for wanted in units):
            wanted = " and no ".join(units)
            remedy = f'give a number, or one with a unit such as "{number:g} {units[0]}"' if units else "give a number alone"
            raise QuantityError(f'is "{text}", which {f"is no {wanted}" if units else "has a unit"}; {remedy}')
        number = number * factor if factor >= 1 else number / (1 / factor) if _exact(1 / factor) else number * factor
    if not math.isfinite(number):
        raise QuantityError(f'is "{text}"; give a finite number')
    return number


def _exact(value):
    """Whether a factor is a power of ten: 5 cm is 5 / 100, to the bit what a person writes as 0.05."""
    return value in (10.0, 100.0, 1e3, 1e6)


def _same(one, other):
    return one == other or (one[:3] == other[:3] and one[1] != 0)


def suggested(units):
    """ "a number, or one with a unit such as 1 kg", for messages and for the schema."""
    return f"numbers alone are in {' or '.join(units)}" if units else "a number"
