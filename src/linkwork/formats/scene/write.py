"""Worlds as scene files: what `load` reads as the same world, field by field and bit by bit."""

import math
import re
from pathlib import Path

import numpy as np

from linkwork.elements import Element, Parameter, Shape, Trajectory
from linkwork.elements.core import checks
from linkwork.elements.core.trajectory import GAP
from linkwork.errors import FileError, LinkworkError
from linkwork.formats.formula_check import taken_name
from linkwork.formats.formula_writer import printed
from linkwork.formats.formulas import Formula
from linkwork.formats.scene import schema
from linkwork.util.atomic_io import whole

WIDTH = 120  # of lines, where it can be kept
PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ /.-][A-Za-z0-9_]+)*\Z")
NO_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"))  # to some reader of YAML
DERIVED = {"inertia": "inertia", "second_moment": "second_moment"}  # field -> what a shape gives for it, with the mass


def save(world, path):
    """Write a world to a scene file, whole or not at all. Returns the path.

    >>> import linkwork as lw, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(lw.scenes.get("pendulum"), pathlib.Path(folder) / "pendulum.yaml")
    ...     lw.load(path)
    <World: 1 body, 1 constraint, 0 forces>
    """
    path = Path(path)
    try:
        data = text(world).encode()
    except LinkworkError as error:
        raise FileError(f"{path}: {error}; nothing is written") from None
    except UnicodeEncodeError:
        raise FileError(f"{path}: a name holds half a character; give it another, nothing is written") from None
    try:
        with whole(path) as beside:
            beside.write_bytes(data)
    except OSError as error:
        raise FileError(f"{path}: it cannot be written ({error.strerror or error}); give a path that can") from None
    return path


def text(world):
    """The scene file of a world."""
    return _Writer(world).text()


class _Writer:
    def __init__(self, world):
        self.world, self.kinds = world, schema.kinds()
        self.traced: dict = {}  # (element's name, field) -> Traced
        self.known: dict = {}  # (id of a function, its arguments, their sizes) -> Traced
        self.printed: dict = {}  # id of a Traced -> its text
        self.words = self.name_parameters()

    def name_parameters(self):
        """Parameter's id -> the word for it in this file."""
        found: dict[int, str] = {}
        self.declared: dict[str, Parameter] = {}
        for element in self.world.elements:
            for parameter in [*element.parameters(), *self.parameters_of_functions(element)]:
                if id(parameter) in found:
                    continue
                word = name = parameter.name
                number = 0
                while word is None or not word.isidentifier() or taken_name(word) or (word != name and word in self.declared):
                    number += 1
                    word = f"parameter{number}"
                if word in self.declared:
                    raise FileError(
                        f'{checks.label(element)}: two Parameters have the name "{name}"; give another to one of them'
                    )
                found[id(parameter)] = word
                self.declared[word] = parameter
        return found

    def parameters_of_functions(self, element):
        found = []
        for field in element.FUNCTIONS:
            function = getattr(element, field)
            if callable(function):
                known = (id(function), element.arguments(field), *element.sizes().values())
                if known not in self.known:
                    self.known[known] = element.traced(field)
                traced = self.traced[element.name, field] = self.known[known]
                found += traced.parameters
        return found

    def text(self):
        world = self.world
        lines = ["linkwork: 1", "exact: true", f"gravity: {flow(world.gravity.tolist())}"]
        if self.declared:
            lines += ["parameters:", *(f"  {word}: {self.parameter(word, each)}" for word, each in self.declared.items())]
        if world.simulate:
            lines.append(f"simulate: {flow(world.simulate)}")
        if world.elements:
            lines.append("elements:")
            for element in world.elements:
                self.element(element, lines)
        if world.keyframes:
            lines.append("keyframes:")
            for name, state in world.keyframes.items():
                parts = {part: value for part, value in vars(state).items() if value}
                lines.append(f"  {word(name)}: {flow(_plain(parts))}")
        return "\n".join(lines) + "\n"

    def parameter(self, word, parameter):
        return flow(parameter.value) if word == parameter.name else flow({"name": parameter.name, "value": parameter.value})

    def element(self, element, lines):
        fields = self.fields(element)
        kind = type(element).__name__
        line = f"  - {kind}: {flow(fields)}"
        if len(line) <= WIDTH and "\n" not in line:
            lines.append(line)
            return
        lines.append(f"  - {kind}:")
        for name, value in fields.items():
            if isinstance(value, str) and "\n" in value and _is_block(value):
                lines += [f"      {name}: |-", *(f"        {row}" for row in value.split("\n"))]
            else:
                lines.append(f"      {name}: {flow(value)}")

    def fields(self, element):
        """What is to be written of an element: field -> plain data."""
        kind = self.kinds.get(type(element).__name__)
        if kind is None or kind.make is not type(element):
            raise FileError(f"{checks.label(element)}: scene files have no such kind; take one of linkwork's own")
        found: dict = {"name": escaped(element.name)}
        for name, given in kind.fields.items():
            if "path" in given.roles:
                found[name] = [[escaped(body.name), at.tolist()] for body, at in zip(element.bodies, element.at, strict=True)]
            elif name != "name" and name in vars(element) and not self.left_out(element, name, given):
                found[name] = self.value(element, name, vars(element)[name])
        if element.built:
            found["built"] = {escaped(name): _plain({key: value for key, value in vars(pose).items() if value is not None})
                              for name, pose in element.built.items()}  # fmt: skip
        return found

    def left_out(self, element, name, given):
        """What comes back without being written."""
        value = vars(element)[name]
        if value is None or _same(value, given.default):
            return True
        shape = vars(element).get("shape")
        if name in DERIVED and shape is not None and shape.family in _SIMPLE and np.ndim(value) == 2:
            return _same(value, getattr(shape, DERIVED[name])(element.mass))
        return element.follows(name)

    def value(self, element, name, value):
        if name in element.REFERENCES:
            return [escaped(each.name) for each in value] if isinstance(value, tuple) else escaped(value.name)
        if callable(value):
            return self.function(element, name, value)
        return self.plain(value)

    def function(self, element, name, function):
        traced = self.traced[element.name, name]
        if isinstance(function, Formula) and all(self.words[id(p)] == word for word, p in function.parameters.items()):
            return function.text
        if id(traced) not in self.printed:
            try:
                found = self.printed[id(traced)] = printed(traced, {id(p): self.words[id(p)] for p in traced.parameters})
                Formula(found)
            except LinkworkError as error:
                raise FileError(f"{checks.label(element)}: {name}: {error}") from None
        return self.printed[id(traced)]

    def plain(self, value):
        if isinstance(value, Parameter):
            return self.words[id(value)]
        if isinstance(value, Shape):
            return _shape(value)
        if isinstance(value, Trajectory):
            return _motion(value)
        if isinstance(value, Element):
            return escaped(value.name)
        if isinstance(value, str):
            return escaped(value)
        if isinstance(value, np.ndarray):
            value = value.tolist() if value.ndim else value.item()
        return [self.plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _same(value, default):
    """Whether a value is the default to the bit."""
    if default is None or isinstance(default, (str, bool)) or isinstance(value, (str, bool)):
        return type(value) is type(default) and value == default
    try:
        one, other = np.asarray(value, dtype=float), np.asarray(default, dtype=float)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, Parameter) and one.shape == other.shape and one.tobytes() == other.tobytes()


def _shape(shape):
    given, kind = shape.given(), shape.family.__name__
    if shape.family in _SIMPLE:
        return {kind: list(given.values())} if given else kind
    return {kind: given}


SIZES = {"x", "y", "z", "radius", "length", "thickness"}
_SIMPLE = {each.make for each in schema.shapes().values() if each.fields.keys() <= SIZES}


def _motion(motion):
    found = {"times": motion.times.tolist(), "positions": motion.positions.tolist()}
    if motion.orientations is not None:
        found["orientations"] = motion.orientations.tolist()
    steps = np.diff(motion.times)
    if steps.max() > GAP * np.median(steps):
        found["gap"] = float(steps.max())
    return found


def _plain(value):
    """Arrays as lists, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def escaped(name):
    """A text in which braces are braces."""
    return name.replace("{", "{{").replace("}", "}}") if "{" in name or "}" in name else name


def flow(value):
    """Plain data in YAML, in one line.

    >>> flow({"name": "arm 1", "mass": 1.5, "at": [0.0, -0.0, 1e-9], "on": True, "no": "no"})
    '{name: arm 1, mass: 1.5, at: [0, -0.0, 1.0e-09], "on": true, "no": "no"}'
    """
    if type(value) is float:
        return _number(value)
    if isinstance(value, str):
        return word(value)
    if isinstance(value, dict):
        return f"{{{', '.join([f'{word(key)}: {flow(each)}' for key, each in value.items()])}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([flow(each) for each in value])}]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(float(value)) if not isinstance(value, int) else str(value)


def _number(value):
    if not math.isfinite(value):
        raise FileError(f"there is the number {value}, which no file holds; give finite numbers")
    if value == int(value) and abs(value) < 1e15 and (value or math.copysign(1.0, value) > 0):
        return str(int(value))
    written = repr(value)
    return written.replace("e", ".0e") if "e" in written and "." not in written else written


def word(value):
    """A text in YAML: as it is where every reader takes it for a text, else quoted."""
    if PLAIN_WORD.match(value) and value.lower() not in NO_WORDS:
        return value
    signs = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(signs.get(sign) or (sign if _printable(sign) else _escape(sign)) for sign in value) + '"'


def _is_block(text):
    """Whether lines of a text can stand as they are; blanks around them would be lost."""
    return text == text.strip() and all(map(_printable, text.replace("\n", "")))


def _printable(sign):
    return sign == " " or (sign.isprintable() and not 0xD800 <= ord(sign) <= 0xDFFF)


def _escape(sign):
    code = ord(sign)
    if 0xD800 <= code <= 0xDFFF:
        raise FileError(f"a name holds half a character, {sign!r}; give it another")
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
