"""TorsionSpring: keeps the orientation of b relative to a. The element and its law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.field_types import GivenOpenVector, OpenVectorField, OptionalVectorField, default
from linkwork.elements.core.included import spring_moved
from linkwork.elements.core.registry import kind_of
from linkwork.elements.forces.coefficients import coefficients, size
from linkwork.elements.forces.rotation_law import RotationSpringKind


@dataclass(eq=False, repr=False)
class TorsionSpring(ForceElement):
    """A spring and damper that keep the orientation of b relative to a: what JointSpring is to a ball, without a joint.

    >>> TorsionSpring("torso", "head", 30.0, damping=1.0, name="neck")
    <TorsionSpring "neck">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"a": "body", "b": "body"}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"stiffness": ("N m/rad",), "damping": ("N m s",)}

    a: BodyLike
    b: BodyLike
    stiffness: GivenOpenVector  # N m/rad: one, or three along the world's axes as built, which a carries
    damping: OpenVectorField = default(0.0)  # N m s
    rest: OptionalVectorField = default(None)  # (4,): b relative to a, the identity as built

    include_at = spring_moved

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("stiffness", "damping"):
            value = coefficients(self, name, getattr(self, name))
            if size(value) == 2:
                checks.fail(self, f"{name} is {checks.show(value)}", "give one or three of them")
            setattr(self, name, value)
        self.rest = checks.optional(checks.quaternion, self, "rest", self.rest)


@kind_of(TorsionSpring)
class TorsionSpringKind(RotationSpringKind):
    """Without a joint."""
