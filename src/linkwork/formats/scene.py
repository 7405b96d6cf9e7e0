"""linkwork's own scene files in YAML: see docs/files-scene.md. Everything that is wrong is told with the file and the line."""

import inspect
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from ..elements import Keyframe, Parameter, Trajectory, checks
from ..elements.base import Pose
from ..errors import FileError, LinkworkError, suggestion
from ..world import World
from . import schema, yaml_lines
from .expressions import CONSTANTS, FUNCTIONS, Formula, FormulaError, number
from .including import placed, taken_over
from .quantities import QuantityError, quantity, split, unit
from .reading import MOST_ELEMENTS, Reading, decode, read
from .templates import filled

DEEPEST = 20  # files that include one another
ROUNDING = 1e-12  # relative: what a constructor changes by normalising what is normalised
PLAIN = frozenset({int, float})


def load(reading, *, parameters=None):
    """The World that a scene file says; `parameters`: name -> number, in the place of those that it declares."""
    path = reading.path.resolve()
    return _File(reading, path.parent, (path,), _Budget()).world(parameters or {})


class _Budget:
    """How many elements there have been, in all files together."""

    def __init__(self):
        self.spent = 0

    def spend(self, count, fail):
        self.spent += count
        if self.spent > MOST_ELEMENTS:
            fail(f"more than {MOST_ELEMENTS} elements, repetitions counted", "repeat less, or split the scene")


class _File:
    """One scene file while it is read."""

    def __init__(self, reading, root, trail, budget):
        self.reading, self.root, self.trail, self.budget = reading, root, trail, budget
        self.numbers: dict = {}  # name -> number, of what {...} may speak of
        self.parameters: dict = {}  # name -> Parameter
        self.kinds = schema.kinds()

    def fail(self, line, problem, remedy):
        self.reading.fail(line, problem, remedy)

    def told(self, line, error, who=""):
        """An error of a value, with the file and the line."""
        place = f"{self.reading.path}{'' if line is None else f':{line}'}"
        raise FileError(f"{place}: {who}{error}") from None

    def world(self, given):
        data = yaml_lines.parse(decode(self.reading.path, read(self.reading.path)), self.reading.path)
        if type(data) is not yaml_lines.Mapping:
            self.fail(1, "it is no scene", 'begin it with "linkwork: 1", then "elements:" and a list of them')
        self.check(schema.Head, data, data.line, "")
        if data["linkwork"] != schema.VERSION:
            self.fail(data.lines["linkwork"], f"it is of version {data['linkwork']}", f"this linkwork reads {schema.VERSION}")
        self.exact = data.get("exact", False)
        self.declare(data.get("parameters") or {}, data, given)
        world = self.made = World()
        if "gravity" in data:
            self.gravity(data)
        if data.get("simulate") is not None:
            world.simulate = self.simulate(data["simulate"])
        elements = data.get("elements")
        if elements is not None:
            self.items(elements, self.numbers)
        for name, state in (data.get("keyframes") or {}).items():
            world.keyframes[name] = self.keyframe(name, state, data["keyframes"].lines[name])
        return world

    # what stands at the top

    def declare(self, declared, data, given):
        for name in given:
            if name not in declared:
                hint = suggestion(name, declared) or f"; it declares {', '.join(declared) or 'none'}"
                self.fail(data.lines.get("parameters"), f'it declares no parameter "{name}"', hint.lstrip("; "))
        for name, value in declared.items():
            line = declared.lines[name]
            if not name.isidentifier() or name in FUNCTIONS or name in CONSTANTS or name in ("t", "p", "u", "a", "b", "lambda"):
                self.fail(line, f'a parameter cannot have the name "{name}"', "give another word, of letters and digits")
            value = self.any_number(f'parameter "{name}"', given.get(name, value), line)
            self.numbers[name] = value
            self.parameters[name] = Parameter(float(value), name=name)

    def any_number(self, who, value, line):
        """A number, or one with any unit at all."""
        try:
            if isinstance(value, str):
                value = filled(value, self.numbers)
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

    def gravity(self, data):
        given = schema.Given("gravity", frozenset({"number"}), ("m/s^2",), False, True, None)
        line = data.lines["gravity"]
        try:
            self.made.gravity = self.value("World", given, data["gravity"], line, self.numbers)
        except LinkworkError as error:
            self.told_once(line, error)

    def simulate(self, data):
        """The options as plain data: numbers in SI."""
        found = {}
        for name, value in data.items():
            units = ("s",) if name in ("seconds", "dt", "record_every") else ()
            numeric = name not in ("solver", "integrator", "tangent", "iterations", "seed", "off")
            given = schema.Given(name, frozenset({"number"}), units, False, False, None)
            line = data.lines[name]
            if value is not None:
                found[name] = self.value("simulate", given, value, line, self.numbers) if numeric else _plain(value)
        self.check_choices(data, found)
        return found

    def check_choices(self, data, found):
        if "solver" in found or "integrator" in found:
            from ..simulation import INTEGRATORS, SOLVERS  # imported by whoever simulates, and by nobody else

            for name, known in (("solver", (*SOLVERS, "auto")), ("integrator", tuple(INTEGRATORS))):
                if found.get(name, known[0]) not in known:
                    hint = suggestion(found[name], known).lstrip("; ") or f"there are {', '.join(known)}"
                    self.fail(data.lines[name], f'simulate: there is no {name} "{found[name]}"', hint)

    def keyframe(self, name, data, line):
        found = {}
        for part, values in (data or {}).items():
            units = {"positions": ("rad", "m"), "velocities": ("rad/s", "m/s"), "controls": ("N m", "N", "rad", "m", "rad/s", "m/s")}
            given = schema.Given(part, frozenset({"number"}), units[part], False, False, None)
            for who in values or {}:
                if who not in self.made:
                    hint = suggestion(who, [element.name for element in self.made.elements]) or "; name one that is"
                    self.fail(values.lines[who], f'keyframe "{name}" speaks of "{who}", which is not there', hint.lstrip("; "))
            found[part] = {who: self.value(f'keyframe "{name}"', given, value, values.lines[who], self.numbers)
                           for who, value in (values or {}).items()}  # fmt: skip
        return Keyframe(**found)

    # items: elements, repetitions, includes

    def items(self, sequence, numbers):
        for item, line in zip(sequence, sequence.lines, strict=True):
            if type(item) is yaml_lines.Mapping and len(item) == 1:
                ((name, raw),) = item.items()
                if name in self.kinds:
                    self.element(self.kinds[name], raw, line, numbers)
                    continue
            if isinstance(item, str) and item in self.kinds:
                self.element(self.kinds[item], None, line, numbers)
            elif type(item) is yaml_lines.Mapping and "repeat" in item:
                self.repeat(item, line, numbers)
            elif type(item) is yaml_lines.Mapping and "include" in item:
                self.include(item, line, numbers)
            else:
                self.refuse_item(item, line)

    def refuse_item(self, item, line):
        if type(item) is yaml_lines.Mapping and len(item) > 1:
            keys = ", ".join(f'"{key[:40]}"' for key in list(item)[:3])
            self.fail(line, f"an element has the keys {keys}", "give one kind, and what belongs to it indented below or in {...}")
        name = next(iter(item)) if type(item) is yaml_lines.Mapping and item else item
        if not isinstance(name, str):
            self.fail(line, f"an element is {checks.show(item)}", "write it as RigidBody: {mass: 1, ...}")
        hint = suggestion(name, [*self.kinds, "repeat", "include"]).lstrip("; ")
        self.fail(line, f'there is no element of the kind "{name[:80]}"', hint or 'give one of linkwork\'s, such as "RigidBody"')

    def repeat(self, item, line, numbers):
        self.check(schema.Repeat, item, line, "repeat: ")
        name = item.get("as", "i")
        if not name.isidentifier() or name in numbers or name in FUNCTIONS or name in CONSTANTS:
            self.fail(item.lines.get("as", line), f'a repetition cannot count with "{name}"', "give another word with as:")
        try:
            count = item["repeat"]
            if isinstance(count, str):
                count = filled(count, numbers)
            if isinstance(count, str):
                count = number(count, numbers)
        except FormulaError as error:
            self.told(item.lines["repeat"], error, "repeat ")
        if isinstance(count, list) or count != int(count) or count < 0:
            self.fail(item.lines["repeat"], f"repeat is {checks.show(count)}", "give a whole number of at least 0")
        for k in range(int(count)):
            self.budget.spend(1, partial(self.fail, line))
            self.items(item["elements"], {**numbers, name: k})

    def include(self, item, line, numbers):
        self.check(schema.Include, item, line, "include: ")
        path, reading = self.included_path(item, line, numbers)
        options = {key: _plain(item[key]) for key in ("floating", "packages") if item.get(key) is not None}
        if "packages" in options:
            options["packages"] = {name: str(self.inside(folder, item.lines["packages"])) for name, folder in options["packages"].items()}
        from . import _format

        reader = import_module(f".{_format(path)}", __package__)
        if item.get("parameters") is not None:
            values = item["parameters"]
            options["parameters"] = {name: self.any_number(f'parameter "{name}"', filled(value, numbers) if isinstance(value, str) else value,
                                                           values.lines[name]) for name, value in values.items()}  # fmt: skip
        for option in options:
            if option not in inspect.signature(reader.load).parameters:
                self.fail(item.lines[option], f'"{path.name}" takes no {option}', "leave it out")
        if reader is import_module(__name__):
            other = _File(reading, self.root, (*self.trail, path), self.budget).world(options.get("parameters", {}))
        else:
            other = reader.load(reading, **options)
            self.budget.spend(len(other.elements), partial(self.fail, line))
        try:
            place = self.place(item, line, numbers)
            if place is not None:
                placed(other, *place)
            taken_over(self.made, other, filled(item.get("prefix", ""), numbers))
        except LinkworkError as error:
            self.told_once(line, error)
        if not np.array_equal(other.gravity, self.made.gravity) and not np.array_equal(other.gravity, World().gravity):
            why = f"its gravity {checks.show(other.gravity)} does not count, that of this scene does"
            self.reading.remark(line, f'include "{path.name}"', why)

    def included_path(self, item, line, numbers):
        line = item.lines["include"]
        try:
            given = str(filled(item["include"], numbers))
        except FormulaError as error:
            self.told(line, error, "include ")
        path = self.inside(given, line)
        if path in self.trail:
            chain = " -> ".join(each.name for each in (*self.trail[self.trail.index(path) :], path))
            self.fail(line, f"files include one another in a circle: {chain}", "remove one of the includes")
        if len(self.trail) >= DEEPEST:
            self.fail(line, f"more than {DEEPEST} files include one another", "include fewer")
        if not path.is_file():
            self.fail(line, f'there is no file "{given[:200]}"', "give the path of one from this file")
        return path, Reading(path, self.reading.strict, self.reading.remarks)

    def inside(self, given, line):
        """A path from this file that does not leave the scene's folder."""
        try:
            path = (self.trail[-1].parent / given).resolve()
        except (OSError, ValueError, RuntimeError):
            self.fail(line, f"{checks.show(given)} is no path", "give one from this file")
        if not path.is_relative_to(self.root):
            self.fail(line, f'"{given[:200]}" lies outside of the folder {self.root}', "put it inside")
        return path

    def place(self, item, line, numbers):
        """(position, orientation) or None."""
        if item.get("position") is None and item.get("orientation") is None:
            return None
        found = []
        for name, units, default in (("position", ("m",), checks.ZERO), ("orientation", (), checks.IDENTITY)):
            given = schema.Given(name, frozenset({"number"}), units, False, False, None)
            raw = item.get(name)
            found.append(default if raw is None else self.value("include", given, raw, item.lines[name], numbers))
        return checks.vector("include", "position", found[0]), checks.quaternion("include", "orientation", found[1])

    # elements

    def element(self, kind, raw, line, numbers):
        self.budget.spend(1, partial(self.fail, line))
        lines = {}
        if type(raw) is yaml_lines.Mapping:
            lines = raw.lines
        elif type(raw) is yaml_lines.Sequence:
            raw = self.in_order(kind, raw, line)
        elif raw is None:
            raw = {}
        if type(raw) is str or not kind.fits(raw):
            self.explain(kind, raw, line, lines)
        who, values, built = kind.name, {}, None
        if "name" in raw:
            name = raw["name"]
            who = f'{kind.name} "{name}"'
        for name, value in raw.items():
            if name == "built":
                built = value
            elif value is not None:
                values[name] = self.value(who, kind.fields[name], value, lines.get(name, line), numbers)
        try:
            for field, arguments in kind.functions.items():
                values[field].bind(arguments)
            many = values.pop(kind.many, ()) if kind.many else ()
            made = kind.make(*many, **values)
            self.finish(made, built, values, lines, line)
            self.made.add(made)
        except LinkworkError as error:
            self.told_once(line, error)

    def finish(self, element, built, values, lines, line):
        """What can be said once an element is made: its formulas know their arguments."""
        for field in element.FUNCTIONS:
            function = getattr(element, field)
            if isinstance(function, Formula):
                where = lines.get(field, line)
                try:
                    function.bind(element.arguments(field))
                except FormulaError as error:
                    self.told(where, error, f"{checks.label(element)}: {field} ")
                try:
                    element.traced(field)
                except LinkworkError as error:
                    self.told(where, error)
        if built:
            element.built = {name: _pose(name, pose) for name, pose in built.items()}
        if self.exact:
            for field, value in values.items():
                if field in vars(element):
                    _keep(vars(element)[field], value)

    def in_order(self, kind, raw, line):
        """Arguments in the order of Python's as fields."""
        if kind.many is not None:
            names = [kind.many, "function"] if "function" in kind.fields else [kind.many]
            if len(raw) > 1 and "function" in kind.fields:
                return dict(zip(names, (raw[:-1], raw[-1]), strict=True))
            return {kind.many: list(raw)}
        if len(raw) > len(kind.positional):
            self.fail(line, f"{kind.name} is given {len(raw)} values", f"it takes {len(kind.positional)} at most: {', '.join(kind.positional)}")
        return dict(zip(kind.positional, raw, strict=False))

    def told_once(self, line, error):
        """An error of an element, with the file and the line unless it has them."""
        if isinstance(error, FileError):
            raise error
        self.told(line, error)

    def check(self, model, data, line, who):
        """That a mapping is as its model says."""
        try:
            model.model_validate(data)
        except ValidationError as error:
            self.refuse(error, {name: None for name in _names(model)}, data, line, getattr(data, "lines", {}), who)

    def explain(self, kind, raw, line, lines):
        """Why a mapping is not what its kind has."""
        if not isinstance(raw, dict):
            self.fail(line, f"{kind.name} is {checks.show(raw)}", f"give its fields: {', '.join(kind.fields)}")
        label = f'{kind.name} "{raw["name"]}"' if isinstance(raw.get("name"), str) else kind.name
        try:
            kind.model.model_validate(raw)
        except ValidationError as error:
            self.refuse(error, kind.fields, raw, line, lines, f"{label}: ")

    def refuse(self, error, known, data, line, lines, who):
        """The first thing that a model does not like, as a sentence."""
        for found in error.errors(include_url=False, include_context=False, include_input=False):
            place = [part for part in found["loc"] if isinstance(part, str)]
            name = place[0] if place else None
            if name is None:
                self.fail(line, f"{who}{checks.show(data)} is no mapping", "give fields")
            if found["type"] == "missing" and len(found["loc"]) == 1:
                self.fail(line, f"{who}{name} is missing", "give it")
            if found["type"] == "extra_forbidden" and len(found["loc"]) == 1:
                hint = suggestion(name, known).lstrip("; ") or f"there are {', '.join(known)}"
                self.fail(lines.get(name, line), f'{who}there is no "{name[:80]}"', hint)
            self.refuse_value(found, known.get(name), data, lines.get(name, line), who, name)

    def refuse_value(self, found, given, data, line, who, name):
        inner, value = None, data[name]
        for part in found["loc"][1:]:
            if isinstance(value, dict) and part in value:
                inner, line, value = part, getattr(value, "lines", {}).get(part, line), value[part]
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                line, value = (getattr(value, "lines", None) or [line] * len(value))[part], value[part]
        if found["type"] == "extra_forbidden" and inner is not None:
            self.fail(line, f'{who}{name} has no "{inner}"', "leave it out, or mend its name")
        wanted = given.wanted if isinstance(given, schema.Given) else found["msg"].lower().replace("input should be ", "")
        self.fail(line, f"{who}{inner or name} is {_written(value)}", f"give {wanted}")

    # values

    def value(self, who, given, raw, line, numbers):
        """What a field is given: numbers in SI, Parameters, names, Formulas, shapes, motions."""
        kind = type(raw)
        if kind in PLAIN or kind is bool:
            return raw
        try:
            if kind is str:
                return self.text(given, raw, numbers)
            if kind is yaml_lines.Mapping:
                return self.nested(who, given, raw, line, numbers)
            if "number" not in given.roles:
                return [str(filled(each, numbers)) for each in raw]
            return self.entries(given, raw, numbers)
        except FileError:
            raise
        except (FormulaError, QuantityError) as error:
            self.told(line, error, f"{who}: {given.name} ")
        except LinkworkError as error:
            self.told(line, error, f"{who}: {given.name}: ")

    def entries(self, given, raw, numbers):
        for each in raw:
            if type(each) not in PLAIN:
                return [self.entries(given, each, numbers) if isinstance(each, list) else self.text(given, each, numbers)
                        if type(each) is str else each for each in raw]  # fmt: skip
        return list(raw)

    def text(self, given, raw, numbers):
        if "number" in given.roles:
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
        if "shape" in given.roles:
            return self.shape(raw, None, numbers)
        return str(filled(raw, numbers))

    def refuse_text(self, given, value):
        if value in self.parameters:
            raise QuantityError(f'is "{value}", and a Parameter cannot stand there; write "{{{value}}}" for the number that it has')
        hint = suggestion(value, self.parameters).lstrip("; ")
        names = value.replace("_", "").isalnum()
        remedy = hint or ("declare it under parameters:, or " if names else 'write "{...}" for what is computed, or ') + f"give {given.wanted}"
        raise QuantityError(f'is "{value[:80]}"; {remedy}')

    def nested(self, who, given, raw, line, numbers):
        """A mapping in a field: a shape, a motion, or an axis and an angle."""
        if "shape" in given.roles:
            ((name, below),) = raw.items()
            return self.shape(name, below, numbers, raw.lines[name])
        if "motion" in given.roles:
            return self.motion(raw, line, numbers)
        axis = self.value(who, schema.Given("axis", frozenset({"number"}), (), False, True, None), raw["axis"], line, numbers)
        angle = self.value(who, schema.Given("angle", frozenset({"number"}), ("rad",), False, True, None), raw["angle"], line, numbers)
        half = 0.5 * checks.number(who, "angle", angle)
        return [float(np.cos(half)), *(np.sin(half) * checks.direction(who, "axis", axis)).tolist()]

    def shape(self, name, raw, numbers, line=None):
        kinds = schema.shapes()
        if name not in kinds:
            hint = suggestion(name, kinds) or f"; there are {', '.join(kinds)}"
            raise QuantityError(f'is of the kind "{name}", which is no shape{hint}')
        kind = kinds[name]
        lines = getattr(raw, "lines", {}) if isinstance(raw, dict) else {}
        fields = self.in_order(kind, raw, line) if isinstance(raw, list) else raw or {}
        if not kind.fits(fields):
            self.explain(kind, fields, line, lines)
        values = {field: self.value(name, kind.fields[field], value, lines.get(field, line), numbers) for field, value in fields.items()}
        made = kind.make(**values)
        if self.exact and "points" in values and made.points.shape == np.shape(values["points"]):
            made._keep(points=_near(made.points, values["points"]))
        return made

    def motion(self, raw, line, numbers):
        if "file" in raw:
            return Trajectory.load(self.inside(raw["file"], raw.lines["file"]), gap=raw.get("gap"))
        kind = schema.motion()
        values = {name: self.value("motion", kind.fields[name], value, raw.lines[name], numbers) for name, value in raw.items() if value is not None}
        return kind.make(**values)


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


def _names(model):
    return [field.alias or name for name, field in model.model_fields.items()]


def _written(value):
    return f'"{value[:80]}"' if isinstance(value, str) else "null" if value is None else str(value).lower() if isinstance(value, bool) else checks.show(value)


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _pose(name, data):
    coordinates = data.get("coordinates")
    return Pose(checks.vector(name, "position", data["position"]), checks.vector(name, "orientation", data["orientation"], 4),
                checks.matrix(name, "frame", data["frame"]), None if coordinates is None else np.array(coordinates, dtype=float))  # fmt: skip


def _near(made, given):
    """What was given where it is what was made but for rounding, else what was made."""
    given = np.array(given, dtype=float)
    return given if np.abs(given - made).max(initial=0.0) <= ROUNDING * max(1.0, np.abs(made).max(initial=0.0)) else made


def _keep(made, given):
    """Put back what was given where a constructor has only rounded it."""
    if isinstance(made, tuple) and isinstance(given, list) and len(made) == len(given):
        for part, below in zip(made, given, strict=True):
            _keep(part, below)
    elif isinstance(made, np.ndarray) and made.dtype != object and isinstance(given, list) and made.shape == np.shape(given):
        made[...] = _near(made, given)


def resolved(path):
    """A path without links and dots."""
    return Path(path).resolve()
