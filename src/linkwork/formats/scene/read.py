"""linkwork's own scene files in YAML: see docs/files-scene.md. Everything that is wrong is told with the file and the line."""

import inspect
from collections import Counter
from collections.abc import Mapping
from functools import partial
from importlib import import_module

import numpy as np

from linkwork.elements import Parameter
from linkwork.elements.core import checks
from linkwork.elements.core.element import Pose
from linkwork.errors import LinkworkError, suggestion
from linkwork.formats import yaml_lines
from linkwork.formats.formula_check import CONSTANTS, FUNCTIONS, FormulaError, taken_name
from linkwork.formats.formulas import Formula, number
from linkwork.formats.include import placed, taken_over
from linkwork.formats.scene import schema
from linkwork.formats.scene.budget import Budget
from linkwork.formats.scene.fields import Values, keep
from linkwork.formats.scene.run_settings import keyframe, simulate_options
from linkwork.formats.scene.templates import filled
from linkwork.formats.source import Reading, decode, read
from linkwork.world import World

CONTACT = {"hard": True, "none": False}  # the words of an include -> what the reader of URDF calls them
DEEPEST = 20  # files that include one another
LONGEST = 200  # characters of a prefix


def load(reading, *, parameters=None):
    """The World that a scene file says; `parameters`: name -> number, in the place of those that it declares."""
    if not isinstance(parameters, Mapping | None):
        reading.fail(None, f"parameters is {checks.show(parameters)}", 'give numbers by name, such as {"k": 2.5}')
    path = reading.path.resolve()
    with np.errstate(all="ignore"):  # what is not finite is refused by those who are given it
        return _File(reading, reading.root or path.parent, (path,), Budget()).world(parameters or {})


class _File(Values):
    """One scene file while it is read."""

    def __init__(self, reading, root, trail, budget):
        super().__init__(reading, root, trail)
        self.budget, self.kinds, self.made = budget, schema.kinds(), World()
        self.sound: set = set()  # (text, arguments, sizes) of formulas that have been tried

    def begin(self, given):
        """What the file says, once its head is sound and it has these parameters."""
        path = self.reading.path
        if path not in self.budget.parsed:
            self.budget.parsed[path] = yaml_lines.parse(decode(path, read(path)), path)
        data = self.budget.parsed[path]
        if type(data) is not yaml_lines.Mapping:
            self.fail(1, "it is no scene", 'begin it with "linkwork: 1", then "elements:" and a list of them')
        self.check(schema.Head, data, data.line, "")
        if data["linkwork"] != schema.VERSION:
            self.fail(data.lines["linkwork"], f"it is of version {data['linkwork']}", f"this linkwork reads {schema.VERSION}")
        self.declare(data.get("parameters", {}), data, given)
        return data

    def world(self, given):
        """The world that the file says, with these parameters."""
        data = self.begin(given)
        self.exact = data.get("exact", False)
        if len(self.trail) == 1 and _includes(data.get("elements", ())):
            foreseen = self.foresee(data["elements"], self.numbers)
            self.budget.robots = Counter({path: n for path, n in foreseen.items() if not isinstance(path, str)})
        if "gravity" in data:
            self.gravity(data["gravity"], data.lines["gravity"])
        if data.get("simulate") is not None:
            self.made.simulate = simulate_options(self, data["simulate"])
        if "elements" in data:
            self.items(data["elements"], self.numbers)
        for name, state in data.get("keyframes", {}).items():
            self.made.keyframes[name] = keyframe(self, name, state)
        start, known = self.made.simulate.get("keyframe"), self.made.keyframes
        if start is not None and start not in known:
            hint = suggestion(start, known).lstrip("; ") or f"there {'are ' + ', '.join(known) if known else 'is none'}"
            self.fail(data["simulate"].lines["keyframe"], f'simulate: no keyframe is called "{start}"', hint)
        return self.made

    # what stands at the top

    def declare(self, declared, data, given):
        for name in given:
            if name not in declared:
                hint = suggestion(name, declared) or f"; it declares {', '.join(declared) or 'none'}"
                self.fail(data.lines.get("parameters"), f'it declares no parameter "{name}"', hint.lstrip("; "))
        for name, value in declared.items():
            line = declared.lines[name]
            if not name.isidentifier() or taken_name(name):
                self.fail(line, f'a parameter cannot have the name "{name}"', "give another word, of letters and digits")
            called = name
            if isinstance(value, dict):
                called, value = value["name"], value["value"]
            value = self.any_number(f'parameter "{name}"', given.get(name, value), line, self.numbers)
            self.numbers[name] = value
            self.parameters[name] = Parameter(float(value), name=called)

    def gravity(self, raw, line):
        try:
            self.made.gravity = self.value("World", schema.numbers("gravity", ("m/s^2",)), raw, line, self.numbers)
        except LinkworkError as error:
            self.told_once(line, error)

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
            remedy = "give one kind, and what belongs to it indented below or in {...}"
            self.fail(line, f"an element has the keys {keys}", remedy)
        name = next(iter(item)) if type(item) is yaml_lines.Mapping and item else item
        if not isinstance(name, str):
            self.fail(line, f"an element is {checks.show(item)}", "write it as RigidBody: {mass: 1, ...}")
        hint = suggestion(name, [*self.kinds, "repeat", "include"]).lstrip("; ")
        self.fail(line, f'there is no element of the kind "{name[:80]}"', hint or 'give one such as "RigidBody"')

    def foresee(self, sequence, numbers):
        """How many "elements" and "includes" these items come to, and how often each URDF or MJCF is included, by its path:
        found without making any, since two includes in each of twenty files are a million. Of a robot's own elements nothing
        is known before it is read."""
        found: Counter = Counter()
        for item, line in zip(sequence, sequence.lines, strict=True):
            if type(item) is yaml_lines.Mapping and "repeat" in item:
                name, count = self.repetitions(item, line, numbers)
                if not any(map(_nests, item["elements"])):
                    found["elements"] += count * (1 + len(item["elements"]))
                    count = 0
                for k in range(count):
                    found["elements"] += 1
                    found.update(self.foresee(item["elements"], {**numbers, name: k}))
                    self.budget.ask_all(found, partial(self.fail, line))
            elif type(item) is yaml_lines.Mapping and "include" in item:
                found.update(self.foresee_include(item, line, numbers))
            else:
                found["elements"] += 1
            self.budget.ask_all(found, partial(self.fail, line))
        return found

    def foresee_include(self, item, line, numbers):
        try:
            path, kind, options = self.wanted(item, line, numbers)
        except FormulaError as error:
            self.told(line, error, "include ")
        if kind != "scene":
            return Counter({"includes": 1, path: 1})
        given = options.get("parameters", {})
        key = path, *sorted(given.items())
        if key not in self.budget.foreseen:
            other = self.file(Reading(path, self.reading.strict, self.reading.remarks, self.root))
            self.budget.foreseen[key] = Counter({"includes": 1})
            self.budget.foreseen[key].update(other.foresee(other.begin(given).get("elements", _NOTHING), other.numbers))
        return self.budget.foreseen[key]

    def repetitions(self, item, line, numbers):
        """The word that a repetition counts with, and how many there are."""
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
        self.budget.ask(count * max(1, len(item["elements"])), partial(self.fail, line))
        return name, int(count)

    def repeat(self, item, line, numbers):
        name, count = self.repetitions(item, line, numbers)
        for k in range(count):
            self.budget.spend(1, partial(self.fail, line))
            self.items(item["elements"], {**numbers, name: k})

    def include(self, item, line, numbers):
        try:
            path, kind, options = self.wanted(item, line, numbers)
            item = item.given()
            other = self.included(path, kind, options, item.lines["include"])
            if "position" in item or "orientation" in item:
                placed(other, *self.place(item, numbers))
            prefix = str(filled(item.get("prefix", ""), numbers))
            if len(prefix) > LONGEST:
                self.fail(item.lines["prefix"], f"the prefix has {len(prefix)} characters", f"give at most {LONGEST}")
            taken_over(self.made, other, prefix, groups=kind != "mjcf")
        except FormulaError as error:
            self.told(line, error, "include ")
        except LinkworkError as error:
            self.told_once(line, error)
        if not np.array_equal(other.gravity, self.made.gravity) and not np.array_equal(other.gravity, World().gravity):
            why = f"its gravity {checks.show(other.gravity)} does not count, that of this scene does"
            self.reading.remark(line, f'include "{item["include"]}"', why)

    def wanted(self, item, line, numbers):
        """The path of another file, its kind, and the options for who reads it."""
        from linkwork.formats import format_of

        self.check(schema.Include, item, line, "include: ")
        item = item.given()
        path = self.included_path(str(filled(item["include"], numbers)), item.lines["include"])
        options = {name: item[name] for name in ("floating", "limits", "friction", "contact") if name in item}
        if "packages" in item:
            folders = item["packages"]
            options["packages"] = {name: self.inside(folder, folders.lines[name]) for name, folder in folders.items()}
        if "package_roots" in item:
            options["package_roots"] = [self.inside(folder, item.lines["package_roots"]) for folder in item["package_roots"]]
        if "parameters" in item:
            given = item["parameters"]
            options["parameters"] = {name: self.any_number(f'parameter "{name}"', value, given.lines[name], numbers)
                                     for name, value in given.items()}  # fmt: skip
        kind = format_of(path)
        for option in options:
            if option not in inspect.signature(_reader(kind)).parameters:
                self.fail(item.lines[option], f'"{path.name}" takes no {option}', "leave it out")
        if kind == "urdf" and "contact" in options:
            if options["contact"] not in CONTACT:
                self.fail(item.lines["contact"], f'contact is "{options["contact"]}"', f"give {' or '.join(CONTACT)}")
            options["contact"] = CONTACT[options["contact"]]
        return path, kind, options

    def included(self, path, kind, options, line):
        """The world of another file."""
        reading = Reading(path, self.reading.strict, self.reading.remarks, self.root)
        if kind == "scene":
            return self.file(reading).world(options.get("parameters", {}))
        other = _reader(kind)(reading, **options)
        self.budget.ask(len(other.elements) * self.budget.robots.pop(path, 1), partial(self.fail, line))  # of all its copies
        self.budget.spend(len(other.elements), partial(self.fail, line))
        return other

    def file(self, reading):
        """Another one, which this one includes."""
        return _File(reading, self.root, (*self.trail, reading.path), self.budget)

    def included_path(self, given, line):
        path = self.inside(given, line)
        if path in self.trail:
            chain = " -> ".join(each.name for each in (*self.trail[self.trail.index(path) :], path))
            self.fail(line, f"files include one another in a circle: {chain}", "remove one of the includes")
        if len(self.trail) >= DEEPEST:
            self.fail(line, f"more than {DEEPEST} files include one another", "include fewer")
        if not path.is_file():
            self.fail(line, f'there is no file "{given[:200]}"', "give the path of one from this file")
        return path

    def place(self, item, numbers):
        """The position and the orientation of what is included."""
        found = []
        for name, units, default in (("position", ("m",), checks.ZERO), ("orientation", (), checks.IDENTITY)):
            given = schema.numbers(name, units)
            found.append(self.value("include", given, item[name], item.lines[name], numbers) if name in item else default)
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
        if type(raw) is str or not self.fits(kind, raw):
            self.explain(kind, raw, line, lines)
        who = f'{kind.name} "{raw["name"]}"' if "name" in raw else kind.name
        values = {name: self.value(who, kind.fields[name], value, lines.get(name, line), numbers)
                  for name, value in raw.items() if value is not None and name != "built"}  # fmt: skip
        try:
            for field, arguments in kind.functions.items():
                self.bind(who, field, values[field], arguments, lines.get(field, line))
            many = values.pop(kind.many, ()) if kind.many else ()
            made = kind.make(*many, **values)
            self.finish(made, raw.get("built"), values, lines, line)
            self.made.add(made)
        except LinkworkError as error:
            self.told_once(line, error)
        except (ArithmeticError, ValueError, TypeError) as error:
            self.fail(line, f"{who}: it cannot be made of its fields ({error})", "mend them")

    def bind(self, who, field, formula, arguments, line):
        try:
            formula.bind(arguments)
        except FormulaError as error:
            self.told(line, error, f"{who}: {field} ")

    def finish(self, element, built, values, lines, line):
        """What can be said once an element is made: its formulas know their arguments."""
        for field in element.FUNCTIONS:
            function = getattr(element, field)
            if isinstance(function, Formula):
                where = lines.get(field, line)
                self.bind(checks.label(element), field, function, element.arguments(field), where)
                self.try_out(element, field, where)
        if built:
            vars(element)["built"] = {str(filled(name, {})): _pose(name, pose) for name, pose in built.items()}
        if self.exact:
            for field, value in values.items():
                if field in vars(element):
                    keep(vars(element)[field], value)

    def try_out(self, element, field, line):
        """What only a formula's expression tells: vectors of the wrong size, entries that are not there."""
        sizes = self.sizes(element)
        tried = (getattr(element, field).text, element.arguments(field), *sizes.values())
        if tried not in self.sound:
            try:
                element.traced(field, sizes=sizes)
            except LinkworkError as error:
                self.told(line, error)
            self.sound.add(tried)

    def sizes(self, element):
        """The sizes of the arguments of an element's formulas, where its bodies are only names yet."""
        found = element.sizes()
        if None in found.values():
            named = [self.made.find(item) if item in self.made else None for _, _, item in element.references()]
            found = {name: getattr(body, "generalised", 0) for name, body in zip(found, named, strict=True)}
        return found


_NOTHING = yaml_lines.Sequence()
_NOTHING.lines = []


def _nests(item):
    """Whether an item stands for others."""
    return type(item) is yaml_lines.Mapping and ("repeat" in item or "include" in item)


def _includes(items):
    """Whether there is an include among items, those of repetitions counted."""
    for item in items:
        if type(item) is yaml_lines.Mapping:
            inner = item.get("elements") if "repeat" in item else None
            if "include" in item or (isinstance(inner, list) and _includes(inner)):
                return True
    return False


def _reader(kind):
    """The function that reads files of a kind."""
    return import_module(f"linkwork.formats.{kind}.read").load


def _pose(name, data):
    coordinates = data.get("coordinates")
    return Pose(
        checks.vector(name, "position", data["position"]),
        checks.vector(name, "orientation", data["orientation"], 4),
        checks.matrix(name, "frame", data["frame"]),
        None if coordinates is None else np.array([checks.number(name, "coordinates", x) for x in coordinates]),
    )
