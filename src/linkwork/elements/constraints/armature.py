"""Armature: the inertia of a rotor that turns with a joint. The element and its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import ConstraintElement
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import JointLike, has_coordinate, kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import ROTOR

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Armature(ConstraintElement):
    """The inertia of a rotor that a joint turns, behind its gears: kinetic energy inertia x'^2 / 2 with x the coordinate of a
    hinge, slider or screw. It weighs nothing and has no momentum in space.

    >>> Armature("axle", 0.02, name="rotor").inertia
    0.02
    """

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint"}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"inertia": ("kg m^2", "kg")}

    joint: JointLike
    inertia: float | Parameter  # kg m^2, of a slider kg

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inertia = checks.positive(self, "inertia", self.inertia, parameter=True)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        has_coordinate(self, resolved[0])


@kind_of(Armature)
class ArmatureKind(ConstraintKind):
    """A rotor that is as far as its joint's coordinate; `speed` and `angle` are of a step."""

    levels = [ROTOR]
    is_rotor = True
    needs_directions = (True, True)

    def __init__(self, element: Any) -> None:
        self.joint = kind_of_joint(element.joint)
        self.sliding = self.joint.slides
        self.counters = 0 if self.sliding else 1
        self.key = f"Armature:{self.joint.key}"
        self.fields = {**self.joint.fields, "axis_a": 3, "inertia": 1, "speed": 1, "angle": 1}

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.joint.a, element.joint.b

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        of, nothing = [e.joint for e in elements], np.zeros((len(elements), 1))
        return {**self.joint.parameters(of, A, B), "axis_a": self.joint.frame(of, A, B)[0],
                "inertia": column(elements, "inertia"), "speed": nothing, "angle": nothing}  # fmt: skip

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return self.joint.angles(handles, p)[: self.counters]

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return [(ROTOR, self.joint.travel(handles, p) if self.sliding else self.counted(handles, p)[0])]
