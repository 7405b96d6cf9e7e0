"""FixedTendon: a sum of joints' coordinates that a spring, motors and stops act along. The element and its law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import ForceElement
from linkwork.elements.core.field_types import OpenVectorField, OptionalOpenVectorField, default
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import JointLike, has_coordinate
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.transmission import OfJoints
from linkwork.elements.forces.coefficients import check_coefficients
from linkwork.elements.forces.tendon_law import TendonKind, checked_rest


@dataclass(eq=False, repr=False)
class FixedTendon(ForceElement):
    """A tendon whose length is a sum over joints, each a hinge, slider or screw: x = sum of coefficient times coordinate, with
    turns counted and zero as built.

    Its own tension is stiffness (x - rest) + damping x'; between the two of `rest=(lower, upper)` the spring is slack, and
    below them it pushes. It is at rest as built unless told. A Motor, a HardLimit, a JointFriction and a Coupling take it in
    the place of a joint: an effort e along it is coefficient times e at each joint.

    >>> FixedTendon(("index", "middle"), (0.5, 0.5), stiffness=20.0, name="grasp").coefficients.tolist()
    [0.5, 0.5]
    """

    REFERENCES: ClassVar[dict[str, str]] = {"joints": "joint"}
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {
        "coefficients": ("", "m/rad", "rad/m"),
        "stiffness": ("N/m", "N m/rad"),
        "damping": ("N s/m", "N m s"),
        "rest": ("m", "rad"),
    }

    joints: tuple[JointLike, ...]
    coefficients: OpenVectorField = default(())  # (n,), m/rad, of travels none: length by coordinate
    stiffness: float | Parameter = field(default=0.0, kw_only=True)  # N/m or N m/rad
    damping: float | Parameter = field(default=0.0, kw_only=True)  # N s/m or N m s
    rest: OptionalOpenVectorField = field(default=default(None), kw_only=True)  # m or rad, or (2,)

    include_at = carried_along

    def __post_init__(self) -> None:
        given = checks.entries(self.joints)
        if not given:
            checks.fail(self, f"joints is {checks.show(self.joints)}", 'give one or more, such as ("index", "middle")')
        self.joints = tuple(given)
        super().__post_init__()
        self.coefficients = checks.vector(self, "coefficients", self.coefficients, len(self.joints), parameter=True)
        check_coefficients(self, "stiffness", "damping")
        self.rest = checked_rest(self, self.rest, -float("inf"))

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        for k, joint in enumerate(resolved):
            has_coordinate(self, joint)
            if any(joint is other for other in resolved[:k]):
                checks.fail(self, f"it names {checks.label(joint)} twice", "add its coefficients")

    def transmission(self) -> OfJoints:
        """What a Motor, a HardLimit, a JointFriction or a Coupling of it acts along."""
        return OfJoints(self.joints)


@kind_of(FixedTendon)
class FixedTendonKind(TendonKind):
    """On all bodies of its joints."""
