"""Whether two worlds are the same: element by element, field by field, bit by bit."""

import numpy as np

from linkwork.elements import Element, Parameter, Shape


def differences(one, other):
    """Sentences about where two worlds differ; functions are compared by their expressions."""
    names = [[element.name for element in world.elements] for world in (one, other)]
    if names[0] != names[1]:
        return [f"their names are {names[0][:5]}... and {names[1][:5]}..."]
    found = [] if one.gravity.tobytes() == other.gravity.tobytes() else ["their gravity"]
    found += [] if plain(one.simulate) == plain(other.simulate) else [f"{one.simulate} and {other.simulate}"]
    found += [] if states(one) == states(other) else [f"{one.keyframes} and {other.keyframes}"]
    for a, b in zip(one.elements, other.elements, strict=True):
        if type(a) is not type(b):
            found.append(f"{a!r} and {b!r}")
            continue
        for field in sorted({*vars(a), *vars(b)} - {"_world"}):
            if field in a.FUNCTIONS and callable(getattr(a, field)):
                same = a.traced(field).digest == b.traced(field).digest
                same = same and plain(a.traced(field).parameters) == plain(b.traced(field).parameters)
            else:
                same = plain(getattr(a, field)) == plain(getattr(b, field))
            if not same:
                found.append(f"{a!r}.{field}: {getattr(a, field)!r} and {getattr(b, field)!r}")
    return found


def states(world):
    """Its keyframes, of which numbers may be in lists or in arrays."""
    return {
        (name, part, who): np.asarray(value, dtype=float).tolist()
        for name, state in world.keyframes.items()
        for part, values in vars(state).items()
        for who, value in values.items()
    }


def plain(value):
    """What can be compared with ==; numbers by their bits."""
    if isinstance(value, Element):
        return type(value).__name__, value.name
    if isinstance(value, Parameter):
        return "Parameter", value.name, value.value
    if isinstance(value, Shape):
        return type(value).__name__, plain(value.given())
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.kind, value.shape, np.ascontiguousarray(value).tobytes()
    if isinstance(value, (float, int, np.generic)) and not isinstance(value, bool):
        return float(value).hex()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    return {key: plain(each) for key, each in vars(value).items()} if hasattr(value, "__dict__") else value
