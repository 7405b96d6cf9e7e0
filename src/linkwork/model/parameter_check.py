"""Whether a value may stand for a Parameter: the elements that hold it are asked, by the checks that they make when built."""

from __future__ import annotations

import copy

import numpy as np

from linkwork.elements.core.element import Element
from linkwork.elements.core.parameter import Parameter
from linkwork.model.model import Model


class ParameterCheck:
    """Copies of the elements that hold a Parameter, one of each kind, with a stand-in for it that tries values."""

    def __init__(self, parameter: Parameter):
        self.parameter = parameter
        self.stand_in = Parameter(parameter.value, name=parameter.name)
        self.copies: dict[tuple[type, str], Element] = {}

    def take(self, element: Element) -> None:
        """Copy an element, unless one of its kind holds the Parameter in the same place."""
        for field in element.PARAMETERS:
            key, value = (type(element), field), self._replaced(getattr(element, field))
            if value is not None and key not in self.copies:
                self.copies[key] = copy.copy(element)
                setattr(self.copies[key], field, value)

    def check(self, value: float) -> float:
        """The value, finite and such that every element takes it; or the error of the first that does not."""
        self.stand_in.value = value
        for element in self.copies.values():
            element.__post_init__()
        return self.stand_in.value

    def _replaced(self, value):
        """The field's value with the stand-in in the place of the Parameter; None where the Parameter is not in it."""
        if value is self.parameter:
            return self.stand_in
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            entries = [self.stand_in if x is self.parameter else x for x in value]
            return np.array(entries, dtype=object) if self.stand_in in entries else None
        return None


def parameter_checks(model: Model) -> dict[str, ParameterCheck]:
    """A Trial for each Parameter of a model, by name."""
    found = {name: ParameterCheck(parameter) for name, (parameter, _) in model.parameters.items()}
    if found:
        for element in [e for node in model.nodes for e in node.elements] + [force.element for force in model.forces]:
            for parameter in element.parameters():
                found[parameter.name].take(element)
    return found
