"""What a scene file says of a run: the options under `simulate`, and keyframes."""

import numpy as np

from linkwork.elements import Keyframe
from linkwork.elements.core import checks
from linkwork.errors import suggestion
from linkwork.formats.scene import schema

SECONDS = ("seconds", "dt", "record_every")  # options of `simulate` that are times,
WORDS = ("solver", "integrator", "tangent", "iterations", "method", "seed", "off", "keyframe")  # and no numbers with units
COMMANDS = ("N m", "N", "rad", "m", "rad/s", "m/s")
STATES = {"positions": ("rad", "m"), "velocities": ("rad/s", "m/s"), "controls": COMMANDS, "activations": COMMANDS}


def simulate_options(file, data):
    """The options as plain data: numbers in SI."""
    found = {}
    for name, raw in data.items():
        if name in WORDS:
            found[name] = _plain(raw)
        elif raw is not None:
            given = schema.numbers(name, ("s",) if name in SECONDS else ())
            found[name] = file.value("simulate", given, raw, data.lines[name], file.numbers)
    if {"solver", "integrator", "method"} & set(found):
        from linkwork.simulation.options import (  # imported by whoever simulates, and by nobody else
            AUTO,
            METHODS,
            METHODS_OF_AUTO,
            SOLVERS,
            TRAITS,
        )

        methods = METHODS_OF_AUTO if found.get("solver") == AUTO else METHODS
        for name, known in (("solver", (*SOLVERS, AUTO)), ("integrator", tuple(TRAITS)), ("method", methods)):
            if found.get(name) is not None and found[name] not in known:
                hint = suggestion(found[name], known).lstrip("; ") or f"there are {', '.join(known)}"
                file.fail(data.lines[name], f'simulate: there is no {name} "{found[name]}"', hint)
    return {name: value for name, value in found.items() if value is not None}


def keyframe(file, name, data):
    """A state under a name, of elements that the file has made; numbers in SI."""
    found: dict = {}
    for part, values in data.items():
        for who, raw in values.items():
            line = values.lines[who]
            if who not in file.made:
                hint = suggestion(who, [element.name for element in file.made.elements]) or "; name one that is"
                file.fail(line, f'keyframe "{name}" speaks of "{who}", which is not there', hint.lstrip("; "))
            value = file.value(f'keyframe "{name}"', schema.numbers(part, STATES[part]), raw, line, file.numbers)
            if isinstance(value, list) and not all(isinstance(each, (int, float)) for each in value):
                file.fail(line, f'keyframe "{name}": "{who}" is {checks.show(value)}', "give a number, or a list of them")
            found.setdefault(part, {})[who] = np.array(value, dtype=float) if isinstance(value, list) else float(value)
    return Keyframe(**found)


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
