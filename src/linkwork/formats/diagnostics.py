"""What is wrong with a file, as sentences with the file, the line and a suggestion."""

import re

from pydantic import ValidationError

from linkwork.elements.core import checks
from linkwork.errors import FileError, suggestion
from linkwork.formats.scene import schema
from linkwork.formats.source import Reading

ENDLESS = re.compile(r"\S{200,}")


class Telling:
    """A file that is being read."""

    reading: Reading

    def fail(self, line, problem, remedy):
        self.reading.fail(line, _bounded(problem), _bounded(remedy))

    def told(self, line, error, who=""):
        """An error of a value, with the file and the line."""
        place = f"{self.reading.path}{'' if line is None else f':{line}'}"
        raise FileError(f"{place}: {_bounded(f'{who}{error}')}") from None

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
        """The first thing that a model does not like, as a sentence: names that are wrong or missing before values."""
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        for found in sorted(errors, key=lambda each: each["type"] not in ("extra_forbidden", "missing")):
            place = [part for part in found["loc"] if isinstance(part, str)]
            if not place:
                self.fail(line, f"{who}{checks.show(data)} is no mapping", "give fields")
            name = place[0]
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
            self.fail(line, f'{who}{name} has no "{inner}"', self.hint(name, given, inner))
        if found["type"] == "missing":
            self.fail(line, f"{who}{inner or name} has no {found['loc'][-1]}", "give it")
        wanted = given.wanted if isinstance(given, schema.Given) else found["msg"].lower().replace("input should be ", "")
        self.fail(line, f"{who}{inner or name} is {_written(value)}", f"give {wanted}")

    def hint(self, name, given, inner):
        """What else could be meant by a name below a field."""
        models = {"simulate": schema.Simulate, "keyframes": schema.State}
        if name in models:
            known = _names(models[name])
        else:
            known = list(schema.shapes()) if given is not None and "shape" in given.roles else []
        return suggestion(inner, known).lstrip("; ") or (f"there are {', '.join(known)}" if known else "leave it out")


def _bounded(sentence):
    """In one line, and without words that go on and on."""
    return ENDLESS.sub(lambda word: f"{word[0][:60]}...", " ".join(sentence.splitlines()))


def _names(model):
    return [field.alias or name for name, field in model.model_fields.items()]


def _written(value):
    """A value as the file has it."""
    if isinstance(value, str):
        return f'"{value[:80]}"'
    return {"None": "null", "True": "true", "False": "false"}.get(str(value)) or checks.show(value)
