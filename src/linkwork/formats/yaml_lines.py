"""YAML with line numbers, and without what makes it dangerous: no tags, no duplicate keys, bounded depth, size and aliases.

Plain words are words: of these, only null, true, false and numbers are something else ("on" and "no" are names like others).
Events of libyaml are read one by one, which is three times faster than its nodes.
"""

import math
import re
from typing import Any

import yaml

from linkwork.errors import FileError

MOST_DEPTH = 60
MOST_NODES = 5_000_000  # of one file, what aliases repeat counted
CONSTANTS = {"": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "True": True, "TRUE": True,
             "false": False, "False": False, "FALSE": False}  # fmt: skip
NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
WHOLE = re.compile(r"[-+]?\d{1,18}")
DECIMAL = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
TAB = re.compile(r" *\t")
NUMBER_STARTS = frozenset("0123456789.+-")
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Mapping(dict):
    """Keys are texts; `line` is where it begins, `lines` where each key stands."""

    line: int
    lines: dict

    def given(self):
        """Without keys that have no value."""
        found = Mapping({key: value for key, value in self.items() if value is not None})
        found.line, found.lines = self.line, self.lines
        return found


class Sequence(list):
    """`line` is where it begins, `lines` where each entry does."""

    line: int
    lines: list


def parse(text, path):
    """What a file with one YAML document says: Mappings, Sequences, texts, numbers, booleans and None."""
    try:
        return _Builder(path).document(yaml.parse(text, Loader=Loader))
    except yaml.YAMLError as error:
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        line = _line(error, text)
        if any(map(TAB.match, text.split("\n")[line - 1 : line])):
            raise FileError(f"{path}:{line}: a tab indents it, which YAML does not have; use spaces") from None
        raise FileError(f"{path}:{line}: it is no YAML ({reason}); mend that line") from None


def _line(error, text):
    """Where an error of YAML is: it has a mark, or the number of a character that no YAML has."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return 1 + (text.count("\n", 0, getattr(error, "position", 0)) if mark is None else mark.line)


class _Builder:
    def __init__(self, path):
        self.path = path
        self.count = 0  # of values so far, what aliases repeat counted
        self.anchored: dict = {}  # name -> (value, how many values it is)

    def fail(self, mark, problem, remedy):
        raise FileError(f"{self.path}:{mark.line + 1}: {problem}; {remedy}")

    def document(self, events):
        open_containers: list = []  # of (container, key that waits for its value, anchor, count when it began)
        container: Any = None
        key, result, documents = None, None, 0
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                value = self.scalar(event)
                if event.anchor is not None:
                    self.anchored[event.anchor] = value, 1
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self.refuse_tag(event)
                if type(container) is Mapping and key is None:
                    self.fail(event.start_mark, "a key is a list or a mapping", "give a word")
                open_containers.append((container, key, event.anchor, self.count))
                if len(open_containers) > MOST_DEPTH:
                    self.fail(event.start_mark, f"it nests more than {MOST_DEPTH} deep", "flatten it")
                container, key = (Mapping() if kind is yaml.MappingStartEvent else Sequence()), None
                container.line = event.start_mark.line + 1
                container.lines = {} if kind is yaml.MappingStartEvent else []
                continue
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                value, (container, key, anchor, before) = container, open_containers.pop()
                if anchor is not None:
                    self.anchored[anchor] = value, self.count - before + 1
            elif kind is yaml.AliasEvent:
                value = self.alias(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    self.fail(event.start_mark, "a second document begins", "give one document a file")
                continue
            else:  # the ends of streams and documents
                continue
            self.count += 1
            if self.count > MOST_NODES:
                self.refuse_size(event)
            if type(container) is Mapping:
                if key is None:
                    key = self.new_key(event, value, container)
                    continue
                container[key], key = value, None
            elif container is not None:
                container.append(value)
                container.lines.append(value.line if type(value) in (Mapping, Sequence) else event.start_mark.line + 1)
            else:
                result = value
        return result

    def refuse_size(self, event):
        self.fail(event.start_mark, f"more than {MOST_NODES} values, aliases counted", "split the file")

    def new_key(self, event, value, container):
        if type(event) is not yaml.ScalarEvent:
            self.fail(event.start_mark, "a key is an alias", "give a word")
        key = event.value
        if key in container:
            self.fail(event.start_mark, f'"{key[:80]}" stands twice here, first in line {container.lines[key]}', "remove one")
        container.lines[key] = event.start_mark.line + 1
        container[key] = None
        return key

    def alias(self, event):
        if event.anchor not in self.anchored:
            self.fail(
                event.start_mark, f"*{event.anchor[:80]} names nothing above it", f"give it a value with &{event.anchor[:80]}"
            )
        value, size = self.anchored[event.anchor]
        self.count += size
        return value

    def refuse_tag(self, event):
        if event.tag is not None and event.tag != "!":
            self.fail(event.start_mark, f"it has the tag {event.tag[:80]}", "remove it: tags are not read")

    def scalar(self, event):
        value = event.value
        if event.tag is not None:
            self.refuse_tag(event)
        if event.style or not event.implicit[0]:  # quoted
            return value
        if value in CONSTANTS:
            return CONSTANTS[value]
        if value[0] not in NUMBER_STARTS:
            return value
        if WHOLE.fullmatch(value):
            return int(value)
        if DECIMAL.fullmatch(value):
            number = float(value)
            if not math.isfinite(number):
                self.fail(event.start_mark, f"{value[:80]} is beyond the floating-point numbers", "give a smaller one")
            return number
        if NOT_FINITE.fullmatch(value):
            self.fail(event.start_mark, f"{value} is no finite number", "give one")
        return value
