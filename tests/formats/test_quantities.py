"""Numbers with units, and the table of units beside what the comments at the fields say."""

import ast
import inspect
import math
import re

import pytest

from linkwork import elements
from linkwork.elements.core.units import BY_FUNCTION, units_of
from linkwork.formats.quantities import QuantityError, quantity, unit
from linkwork.formats.scene import schema

NO_UNITS = {"unit", "quaternion", "u", "u'", "F"}  # words that begin a comment where there is no unit


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("5 cm", ("m",), 0.05),
        ("40cm", ("m",), 0.4),
        ("1e-3", ("m",), 1e-3),
        ("-2.5e2 mm", ("m",), -0.25),
        ("30 deg", ("rad", "m"), math.pi / 6),
        ("180°", ("rad",), math.pi),
        ("90 rpm", ("rad/s",), 3 * math.pi),
        ("1.5 kN m/rad", ("N m/rad", "N/m"), 1500.0),
        ("2 N m", ("N m/rad",), 2.0),
        ("3 N m s/rad", ("N m s",), 3.0),
        ("4 N*m*s", ("N m s",), 4.0),
        ("5 kg·m²", ("kg m^2",), 5.0),
        ("6 kg m**2", ("kg m^2",), 6.0),
        ("7 g/cm^3", ("kg/m^3",), 7000.0),
        ("8 km/h", ("m/s",), 8 / 3.6),
        ("9 1/s", ("1/s",), 9.0),
        ("2 Hz", ("1/s",), 2.0),
        ("1 lbf", ("N",), 4.4482216152605),
        ("250 ms", ("s",), 0.25),
    ],
)
def test_units(text, units, value):
    assert quantity(text, units) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("number", [5.0, 37.0, 0.7, 12.25, 1e-7])
def test_prefixes_give_what_a_person_would_write(number):
    assert quantity(f"{number} cm", ("m",)) == number / 100
    assert quantity(f"{number} mm", ("m",)) == number / 1000
    assert quantity(f"{number} kN", ("N",)) == number * 1000


@pytest.mark.parametrize(
    ("text", "units", "said"),
    [
        ("5 kg", ("m",), 'is "5 kg", which is no m; give a number, or one with a unit such as "5 m"'),
        ("30 deg", ("m",), 'is "30 deg", which is no m'),
        ("2 Hz", ("rad/s",), 'is "2 Hz", which is no rad/s'),
        ("30 deg", (), 'is "30 deg", which has a unit; give a number alone'),
        ("2 N", ("N m", "m"), 'is "2 N", which is no N m and no m'),
        ("2 metre", ("m",), 'has the unit "metre", which is not known'),
        ("2 kgg", ("kg",), 'has the unit "kgg", which is not known; did you mean "kg"?'),
        ("2 m^", ("m",), "cannot be read"),
        ("1e300 km", ("m",), None),
        ("1e308 km", ("m",), 'is "1e308 km"; give a finite number'),
    ],
)
def test_wrong_units_are_refused(text, units, said):
    if said is None:
        assert quantity(text, units) == pytest.approx(1e303)
        return
    with pytest.raises(QuantityError) as error:
        quantity(text, units)
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["k", "", "sin(t)", "(1, 2)", "m"])
def test_what_begins_with_no_number_is_no_quantity(text):
    assert quantity(text, ("m",)) is None


def comments():
    """(kind, field, comment) of every field of every class of elements and shapes, from the sources."""
    found = []
    for name in elements.__all__:
        made = getattr(elements, name)
        if not inspect.isclass(made):
            continue
        for base in made.__mro__[:-1]:
            if not base.__module__.startswith("linkwork.elements"):
                continue
            source = inspect.getsource(base)
            lines = source.splitlines()
            for node in ast.parse(source).body[0].body:
                if isinstance(node, ast.AnnAssign) and "#" in lines[node.end_lineno - 1]:
                    comment = lines[node.end_lineno - 1].split("#", 1)[1].strip()
                    found.append((name, node.target.id, comment))
    return found


def units_in(comment):
    """The units that a comment begins with, after the shape: "(3,), m, world" gives m."""
    found = []
    for part in re.split(r"\bor\b|;", re.sub(r"\([\w, ]*\)", "", comment).strip(" ,:()")):
        word = re.split(r"[:,]| a turn| of a |`", part.strip(" ,"))[0].strip()
        if word and word not in NO_UNITS:
            try:
                unit(word)
            except QuantityError:
                continue
            found.append(word)
    return found


def test_the_table_of_units_is_what_comments_say():
    kinds, checked = {**schema.kinds(), **schema.shapes()}, 0
    for kind, field, comment in comments():
        if kind not in kinds or field not in kinds[kind].fields or "number" not in kinds[kind].fields[field].roles:
            continue
        said = units_in(comment)
        if said:
            checked += 1
            assert set(said) <= set(units_of(kind, field, kinds[kind].make)), f"{kind}.{field}: the comment says {comment}"
        elif comment.startswith("(") and not any(word in comment for word in ("((3,)", "commands")):
            assert not units_of(kind, field, kinds[kind].make), (
                f"{kind}.{field}: the table has {units_of(kind, field)}, the comment {comment}"
            )
    assert checked > 100


def test_every_unit_of_the_table_can_be_read_and_every_entry_is_used():
    kinds = {**schema.kinds(), **schema.shapes()}
    own = {f"{name}.{field}": units for name, kind in kinds.items() for field, units in getattr(kind.make, "UNITS", {}).items()}
    assert len(own) > 15
    for key, units in {**BY_FUNCTION, **own}.items():
        kind, field = key.split(".")
        assert kind in kinds and field in kinds[kind].fields, f"{key} is no field"
        for each in units:
            assert unit(each)[0] == 1.0, f"{each} is no SI unit"
