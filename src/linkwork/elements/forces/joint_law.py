"""What forces on a joint share: the element, the joint's own parameters, and the two axes of universals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.element import ForceElement
from linkwork.elements.core.force_kind import ForceKind
from linkwork.elements.core.joint import Joint, JointLike, kind_of_joint
from linkwork.elements.forces.coefficients import is_zero

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.freedom import FreedomLaw
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import FloatArray


@dataclass(eq=False, repr=False)
class JointForce(ForceElement):
    """A force on the two bodies of a joint."""

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint"}

    joint: JointLike

    def law(self) -> FreedomLaw:
        """How its joint measures what it leaves free (FreedomLaw)."""
        assert isinstance(self.joint, Joint)
        return kind_of_joint(self.joint).law


class JointLawKind(ForceKind):
    """On the bodies of a joint, with the joint's own numbers."""

    needs_directions = (True, True)
    relative = True

    def __init__(self, element: Any) -> None:
        self.joint = kind_of_joint(element.joint)
        self.key = f"{self.element.__name__}:{self.joint.key}"

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return element.joint.a, element.joint.b

    def joint_parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, FloatArray]:
        of = [e.joint for e in elements]
        return {**self.joint.parameters(of, A, B), "axis_a": self.joint.frame(of, A, B)[0]}


def apart_as_built(numbers: dict[str, FloatArray], A: Placement, B: Placement) -> FloatArray:
    """(k, 3), world: from the anchors on a to those on b."""
    return B.world_point(numbers["on_b"]) - A.world_point(numbers["on_a"])


class UniversalLawKind(JointLawKind):
    """About the cross's first axis (on a) and second axis (on b)."""

    counters, turns_only = 2, True
    crosses = {"second_a": 3, "third_a": 3, "first_b": 3, "third_b": 3}

    def __init__(self, element: Any) -> None:
        JointLawKind.__init__(self, element)
        self.velocity_dependent = not is_zero(element.damping)
        self.key += f"-{self.velocity_dependent}"

    def cross_parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, FloatArray]:
        of = [e.joint for e in elements]
        first, second = np.array([j.first for j in of]), np.array([j.second for j in of])
        third = np.cross(first, second)
        crosses = {"second_a": A.axis(second), "third_a": A.axis(third), "first_b": B.axis(first), "third_b": B.axis(third)}
        return {**self.joint.parameters(of, A, B), **crosses}

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        a, b = handles
        first, second = a.axis(p["first"]), b.axis(p["second"])
        return [(ca.dot(second, a.axis(p["third_a"])), ca.dot(second, a.axis(p["second_a"]))),
                (ca.dot(first, b.axis(p["third_b"])), ca.dot(first, b.axis(p["first_b"])))]  # fmt: skip

    @staticmethod
    def axes(handles: Sequence[Handle], p: Params) -> list[SX]:
        return [handles[0].axis(p["first"]), handles[1].axis(p["second"])]
