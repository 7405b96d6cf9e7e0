"""Rotors as rows (elements/drives.py)."""

from __future__ import annotations

import numpy as np

from linkwork.elements import drives
from linkwork.elements.core.constraint_kind import Relation, column
from linkwork.elements.core.joint import kind_of_joint
from linkwork.symbolic.autodiff import ROTOR
from linkwork.symbolic.constraints import RELATIONS


class Armature(Relation):
    """A rotor that is as far as its joint's coordinate; `speed` and `angle` are of a step."""

    levels = [ROTOR]
    needs_directions = (True, True)

    def __init__(self, element):
        self.joint = kind_of_joint(element.joint)
        self.sliding = self.joint.slides
        self.counters = 0 if self.sliding else 1
        self.key = f"Armature:{self.joint.key}"
        self.fields = {**self.joint.fields, "axis_a": 3, "inertia": 1, "speed": 1, "angle": 1}

    @staticmethod
    def bodies(element):
        return element.joint.a, element.joint.b

    def numbers(self, elements, A, B):
        of, nothing = [e.joint for e in elements], np.zeros((len(elements), 1))
        return {**self.joint.numbers(of, A, B), "axis_a": self.joint.frame(of, A, B)[0],
                "inertia": column(elements, "inertia"), "speed": nothing, "angle": nothing}  # fmt: skip

    def angles(self, handles, p):
        return self.joint.angles(handles, p)[: self.counters]

    def rows(self, handles, p, t):
        return [(ROTOR, self.joint.travel(handles, p) if self.sliding else self.counted(handles, p)[0])]


RELATIONS |= {drives.Armature: Armature}
