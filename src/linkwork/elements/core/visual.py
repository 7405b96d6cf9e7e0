"""What is seen and never touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, Element
from linkwork.elements.core.field_types import OptionalVectorField, VectorField, default
from linkwork.elements.core.included import placed_moved
from linkwork.elements.core.shape import Shape, check_placed


@dataclass(eq=False, repr=False)
class Visual(Element):
    """A shape on a body, or on the ground, that pictures show in the place of the body's own. It takes no part in the motion.

    `position` and `orientation` are those of the shape in the body's frame; `color` is red, green, blue and opacity, 0 to 1.

    >>> from linkwork.elements import Sphere
    >>> Visual("head", Sphere(0.1), position=(0, 0, 0.1), color=(0.9, 0.7, 0.6, 1), name="face")
    <Visual "face">
    """

    sort: ClassVar[str] = "visual"
    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}

    body: BodyLike
    shape: Shape
    position: VectorField = default(checks.ZERO)  # (3,), m, in the body's frame
    orientation: VectorField = default(checks.IDENTITY)  # (4,): w, x, y, z, in the body's frame
    color: OptionalVectorField = default(None)  # (4,): red, green, blue, opacity

    include_at = placed_moved

    def __post_init__(self) -> None:
        super().__post_init__()
        check_placed(self)
        self.color = checks.optional(checks.vector, self, "color", self.color, 4)
        if self.color is not None and not (0.0 <= self.color.min() and self.color.max() <= 1.0):
            checks.fail(self, f"color is {checks.show(self.color)}", "give red, green, blue and opacity from 0 to 1")
