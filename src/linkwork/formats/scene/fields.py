"""What stands in the fields of a scene file: numbers in SI, Parameters, names, Formulas, shapes, motions."""

import numpy as np

from linkwork.elements import Trajectory
from linkwork.elements.core import checks
from linkwork.errors import FileError, LinkworkError, suggestion
from linkwork.formats import yaml_lines
from linkwork.formats.diagnostics import Telling
from linkwork.formats.formula_check import FormulaError
from linkwork.formats.formulas import Formula
from linkwork.formats.paths import remedy
from linkwork.formats.quantities import QuantityError, quantity, split, unit
from linkwork.formats.scene import schema
from linkwork.formats.scene.templates import filled
from linkwork.formats.source import read

ROUNDING = 1e-12  # relative: what a constructor changes by normalising what is normalised
PLAIN = frozenset({int, float})


class Values(Telling):
    """Values of fields, as the file's numbers, parameters and folder make them."""

    def __init__(self, reading, root, trail):
        self.reading, self.root, self.trail = reading, root, trail  # root: the folder that no path leaves; trail: of files
        self.exact = False  # whether numbers stand as constructors have made them
        self.numbers: dict = {}  # name -> number, of what {...} may speak of
        self.parameters: dict = {}  # name -> Parameter
        self.fitting: set = set()  # (kind, id) of mappings that have its fields, of which repetitions ask again

    def value(self, who, given, raw, line, numbers):
        """What a field is given: numbers in SI, Parameters, names, Formulas, shapes, motions."""
        kind = type(raw)
        if kind in PLAIN or kind is bool:
            return raw
        try:
            if kind is str and "shape" in given.roles:
                return self.shape(raw, None, numbers, line)
            if kind is str:
                return self.text(given, raw, numbers)
            if kind is yaml_lines.Mapping:
                return self.nested(who, given, raw, line, numbers)
            if "path" in given.roles:
                return [(str(filled(body, numbers)), self.entries(given, at, numbers)) for body, at in raw]
            if "number" not in given.roles:
                return [str(filled(each, numbers)) for each in raw]
            return self.entries(given, raw, numbers)
        except FileError:
            raise
        except (FormulaError, QuantityError) as error:
            self.told(line, error, f"{who}: {given.name} ")
        except LinkworkError as error:
            self.told(line, error, f"{who}: {given.name}: ")
        except (ArithmeticError, ValueError, TypeError) as error:
            self.fail(line, f"{who}: {given.name} cannot be made of what it is given ({error})", "mend it")

    def entries(self, given, raw, numbers):
        for each in raw:
            if type(each) not in PLAIN:
                return [self.entries(given, each, numbers) if isinstance(each, list) else self.text(given, each, numbers)
                        if type(each) is str else each for each in raw]  # fmt: skip
        return list(raw)

    def text(self, given, raw, numbers):
        if given.roles & {"number", "path"}:
            value = filled(raw, numbers) if "{" in raw or "}" in raw else raw
            if type(value) is not str:
                return value
            found = quantity(value, given.units) if value[:1] not in "([" and not _is_formula(given, value) else None
            if found is not None:
                return found
            if value in self.parameters and given.live:
                return self.parameters[value]
            if "function" not in given.roles:
                self.refuse_text(given, value)
        if "function" in given.roles:
            return Formula(filled(raw, numbers, formula=True), self.parameters)
        return str(filled(raw, numbers))

    def refuse_text(self, given, value):
        if value in self.parameters:
            raise QuantityError(
                f'is "{value}", and a Parameter cannot stand there; write "{{{value}}}" for the number that it has'
            )
        hint = suggestion(value, self.parameters).lstrip("; ")
        names = value.replace("_", "").isalnum()
        other = "declare it under parameters:" if names else 'write "{...}" for what is computed'
        raise QuantityError(f'is "{value[:80]}"; {hint or f"{other}, or give {given.wanted}"}')

    def nested(self, who, given, raw, line, numbers):
        """A mapping in a field: a shape, a motion, or an axis and an angle."""
        if "shape" in given.roles:
            if len(raw) != 1:
                raise QuantityError(f"names {len(raw)} shapes; give one, such as {{Box: [0.4, 0.1, 0.1]}}")
            ((name, below),) = raw.items()
            return self.shape(name, below, numbers, raw.lines[name])
        if "motion" in given.roles:
            return self.motion(raw, line, numbers)
        axis = self.value(who, schema.numbers("axis"), raw["axis"], line, numbers)
        angle = self.value(who, schema.numbers("angle", ("rad",)), raw["angle"], line, numbers)
        half = 0.5 * checks.number(who, "angle", angle)
        return [float(np.cos(half)), *(np.sin(half) * checks.direction(who, "axis", axis)).tolist()]

    def shape(self, name, raw, numbers, line):
        kinds = schema.shapes()
        if name not in kinds:
            hint = suggestion(name, kinds) or f"; there are {', '.join(kinds)}"
            raise QuantityError(f'is of the kind "{name}", which is no shape{hint}')
        kind = kinds[name]
        lines = getattr(raw, "lines", {}) if isinstance(raw, dict) else {}
        fields = self.in_order(kind, raw, line) if isinstance(raw, list) else raw or {}
        if not self.fits(kind, fields):
            self.explain(kind, fields, line, lines)
        values = {field: self.value(name, kind.fields[field], value, lines.get(field, line), numbers)
                  for field, value in fields.items()}  # fmt: skip
        made = kind.make(**values)
        if self.exact and "points" in values and made.points.shape == np.shape(values["points"]):
            made._keep(points=near(made.points, values["points"]))
        return made

    def motion(self, raw, line, numbers):
        kind = schema.motion()
        values = {name: self.value("motion", kind.fields[name], value, raw.lines[name], numbers)
                  for name, value in raw.items() if value is not None and name not in ("file", "of")}  # fmt: skip
        if "file" in raw:
            path = self.inside(raw["file"], raw.lines["file"])
            read(path)  # which knows how large a file may be
            return Trajectory.load(path, of=raw.get("of"), **values)
        made = kind.make(**values)
        if self.exact and made.orientations is not None:
            made.turn_through(near(made.orientations, values["orientations"]))
        return made

    def any_number(self, who, value, line, numbers):
        """A number, or one with any unit at all."""
        try:
            if isinstance(value, str):
                value = filled(value, numbers)
            if isinstance(value, str):
                name = (split(value) or (0, ""))[1]
                found = quantity(value, (name,) if name and unit(name) else ())
                if found is None:
                    raise QuantityError(f'is "{value}"; give a number, or one with a unit such as "5 cm"')
                value = found
            return value if type(value) is int else checks.number(who, "value", value)
        except (FormulaError, QuantityError) as error:
            self.told(line, error, f"{who} ")
        except LinkworkError as error:
            self.told(line, error)

    def in_order(self, kind, raw, line):
        """Arguments in the order of Python's as fields."""
        if kind.many is not None:
            if len(raw) > 1 and "function" in kind.fields:
                return {kind.many: list(raw[:-1]), "function": raw[-1]}
            return {kind.many: list(raw)}
        if len(raw) > len(kind.positional):
            remedy = f"it takes {len(kind.positional)} at most: {', '.join(kind.positional)}"
            self.fail(line, f"{kind.name} is given {len(raw)} values", remedy)
        return dict(zip(kind.positional, raw, strict=False))

    def fits(self, kind, raw):
        known = kind.name, id(raw)
        if known in self.fitting:
            return True
        found = kind.fits(raw)
        if found and type(raw) is yaml_lines.Mapping:  # which lives as long as the file is read
            self.fitting.add(known)
        return found

    def inside(self, given, line):
        """A path from this file that does not leave the scene's folder."""
        try:
            path = (self.trail[-1].parent / given).resolve()
        except (OSError, ValueError, RuntimeError):
            self.fail(line, f"{checks.show(given)} is no path", "give one from this file")
        if not path.is_relative_to(self.root):
            self.fail(line, f'"{given[:200]}" lies outside of the folder {self.root}', remedy(self.root, path))
        return path


def _is_formula(given, value):
    """Whether a text that begins with a number goes on as a formula: "2 * t" where a function may stand."""
    parts = split(value) if "function" in given.roles else None
    if parts is None or not parts[1]:
        return False
    try:
        unit(parts[1])
    except QuantityError:
        return True
    return parts[1][0] in "*/"


def near(made, given):
    """What was given where it is what was made but for rounding, else what was made."""
    given = np.array(given, dtype=float)
    return given if np.abs(given - made).max(initial=0.0) <= ROUNDING * max(1.0, np.abs(made).max(initial=0.0)) else made


def keep(made, given):
    """Put back what was given where a constructor has only rounded it."""
    if isinstance(made, tuple) and isinstance(given, list) and len(made) == len(given):
        for part, below in zip(made, given, strict=True):
            keep(part, below)
    elif isinstance(made, np.ndarray) and isinstance(given, list) and made.tolist() != given:
        if made.dtype != object and made.shape == np.shape(given):
            made[...] = near(made, given)
