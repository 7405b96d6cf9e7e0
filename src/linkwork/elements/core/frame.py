"""Frame: a named place on a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, BodyLike, Element
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.included import placed_moved
from linkwork.elements.core.registry import kind_for

ALIGNED, LOCAL, WORLD = AXES = "aligned", "local", "world"  # in which twists and Jacobians are told: see docs/conventions.md


@dataclass(eq=False, repr=False)
class Frame(Element):
    """A named frame on a body, or on the ground: a tool, a sensor's place, a camera. It takes no part in the motion.

    `position` and `orientation` are those of the frame in the body's own.

    >>> Frame("hand", position=(0, 0, 0.1), name="tool")
    <Frame "tool">
    """

    sort: ClassVar[str] = "frame"
    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}

    body: BodyLike
    position: VectorField = default(checks.ZERO)  # (3,), m, in the body's frame
    orientation: VectorField = default(checks.IDENTITY)  # (4,): w, x, y, z, in the body's frame

    include_at = placed_moved

    def __post_init__(self) -> None:
        super().__post_init__()
        self.position = checks.vector(self, "position", self.position)
        self.orientation = checks.quaternion(self, "orientation", self.orientation)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        (body,) = resolved
        if body.dim and not kind_for(body).framed:
            checks.fail(self, f"{checks.label(body)} has no axes", "give a body with a frame, such as a RigidBody")


FrameLike: TypeAlias = Frame | Body | str  # a frame, a body (its own frame), or the name of either
