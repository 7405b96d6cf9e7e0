"""What drives of joints bring along: the inertia of rotors."""

from dataclasses import dataclass
from typing import ClassVar

from linkwork.elements.constraints import has_coordinate
from linkwork.elements.core import checks
from linkwork.elements.core.element import ConstraintElement
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.parameter import Parameter


@dataclass(eq=False, repr=False)
class Armature(ConstraintElement):
    """The inertia of a rotor that a joint turns, behind its gears: kinetic energy inertia x'^2 / 2 with x the coordinate of a
    hinge, slider or screw. It weighs nothing and has no momentum in space.

    >>> Armature("axle", 0.02, name="rotor").inertia
    0.02
    """

    REFERENCES: ClassVar[dict] = {"joint": "joint"}

    joint: Joint | str
    inertia: float | Parameter  # kg m^2, of a slider kg

    def __post_init__(self):
        super().__post_init__()
        self.inertia = checks.positive(self, "inertia", self.inertia, parameter=True)

    def check_resolved(self, resolved):
        has_coordinate(self, resolved[0])
