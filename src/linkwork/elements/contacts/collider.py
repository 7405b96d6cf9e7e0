"""Collider: a shape on a body that others can touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ContactElement
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.included import placed_moved
from linkwork.elements.core.shape import Shape, check_placed

if TYPE_CHECKING:
    from linkwork.elements.core.element import Body


DIMENSIONS = (1, 3, 4, 6)  # of contacts: what they have beside a push
FRICTION = 0.5  # of colliders and bodies' own shapes where nobody says anything else


@dataclass(eq=False, repr=False)
class Collider(ContactElement):
    """A shape on a body, or on the ground, that others can touch; a body's own `shape` is one already.

    `position` and `orientation` are those of the shape in the body's frame. `friction` and `restitution` make the values of
    a pair: the geometric mean of the one, the larger of the other, unless a Contact names them. `torsion` and `rolling` (m)
    are the couples about the normal and about the tangents that resist turning, by the push; of a pair they have the geometric
    mean, as friction, so that both colliders must name them; a Contact may say that it is the larger of each. Of two
    colliders the one with the higher `priority` decides all three alone. The `dimensions` of a pair, the larger of the two
    unless priorities differ, say what there is at all: 1 no friction, 3 friction, 4 torsion too, 6 rolling too. Those of the
    same `group` never touch each other. On a LagrangianBody it is a Sphere around the point that `position` names, such as
    body.point(1): it does not turn, and what touches it pushes the point. On a body that stretches a Sphere does the same, and
    every other solid follows the body, as its own shape does.

    >>> from linkwork.elements import Sphere
    >>> Collider("hand", Sphere(0.02), position=(0, 0, 0.1), friction=0.8, name="fingertip")
    <Collider "fingertip">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"torsion": ("m",), "rolling": ("m",)}
    GROUPS: ClassVar[tuple[str, ...]] = ("group",)
    acts: ClassVar[bool] = False
    touched: ClassVar[bool] = True

    body: BodyLike
    shape: Shape
    position: VectorField = default(checks.ZERO)  # (3,), m, in the body's frame
    orientation: VectorField = default(checks.IDENTITY)  # (4,): w, x, y, z, in the body's frame
    friction: float = FRICTION
    restitution: float = 0.0
    group: str | None = None
    torsion: float = 0.0  # m
    rolling: float = 0.0  # m
    priority: int = 0
    dimensions: int = 6  # of friction, as above

    def __post_init__(self) -> None:
        super().__post_init__()
        check_placed(self)
        self.friction = checks.non_negative(self, "friction", self.friction)
        self._check_restitution()
        self.torsion = checks.non_negative(self, "torsion", self.torsion)
        self.rolling = checks.non_negative(self, "rolling", self.rolling)
        if type(self.priority) is not int:
            checks.fail(self, f"priority is {checks.show(self.priority)}", "give a whole number")
        if type(self.dimensions) is not int or self.dimensions not in DIMENSIONS:
            checks.fail(self, f"dimensions is {checks.show(self.dimensions)}", "give 1, 3, 4 or 6")
        if self.group is not None and not (isinstance(self.group, str) and self.group):
            checks.fail(self, f"group is {checks.show(self.group)}", 'give a string such as "left"')

    include_at = placed_moved

    def points(self) -> list[Any]:
        return [(self.body, self.position)]

    def check_point(self, body: Body) -> None:
        if not self.shape.isotropic:
            checks.fail(self, f"a {type(self.shape).__name__} is on {checks.label(body)}, whose points do not turn",
                        "give Sphere(radius), at each point that can be touched")  # fmt: skip
