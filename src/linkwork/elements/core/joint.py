"""What all joints share as elements: two bodies and an anchor.

`a` and `b` are bodies or their names. `at` and `axis` are in the world as built; `on_a`, `on_b`, `axis_a`, `axis_b` are
in the frames of the bodies. Where only one of `on_a`, `on_b` (or of `axis_a`, `axis_b`) is given, the other one is
where that point (direction) lies as built. Positions in metres; axes are unit vectors once made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ConstraintElement
from linkwork.elements.core.field_types import OptionalVectorField, default
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.registry import kind_for

if TYPE_CHECKING:
    from linkwork.elements.core.element import Element
    from linkwork.elements.core.joint_kind import JointKind


@dataclass(eq=False, repr=False)
class Joint(ConstraintElement):
    """What all joints share: two bodies and the anchor."""

    sort: ClassVar[str] = "joint"
    REFERENCES: ClassVar[dict[str, str]] = {"a": "body", "b": "body"}
    WORLD_POINTS: ClassVar[tuple[str, ...]] = ("at",)
    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("axis", "normal", "first", "second")
    rows: ClassVar[int]  # constraint rows between two rigid bodies
    has_coordinate: ClassVar[bool] = False  # one angle or travel, which Motor, Drive and Motion can act on

    a: BodyLike
    b: BodyLike
    at: OptionalVectorField = default(None)  # (3,), m, world
    on_a: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), m, in a's frame
    on_b: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_anchor()

    include_at = carried_along

    def _check_anchor(self) -> None:
        one_way(self, checks.vector, "at", ("on_a", "on_b"), "at=(0, 0, 0)")


JointLike: TypeAlias = Joint | str  # a joint or its name


def one_way(
    who: ConstraintElement, check: Callable[..., Any], world: str, local: tuple[str, ...], example: str, **options: Any
) -> None:
    """Check a point or direction: it is given in the world, or in the bodies' frames (with these options), not both."""
    in_world = getattr(who, world)
    if in_world is not None:
        setattr(who, world, check(who, world, in_world))
    given = None
    for name in local:
        value = getattr(who, name)
        if value is not None:
            setattr(who, name, check(who, name, value, **options))
            given = given or name
    if (given is None) != (in_world is None):
        return
    ways = " or ".join(f"{name}=" for name in local)
    if given is None:
        checks.fail(who, f"{world} is missing", f"give {example}, or {ways}")
    checks.fail(who, f"both {world} and {given} are given", f"give {world}= or {ways}, not both")


def has_coordinate(who: Element, joint: Joint) -> None:
    """A joint with one angle or travel."""
    if not joint.has_coordinate:
        checks.fail(who, f"{checks.label(joint)} has no single coordinate", "give a hinge, a slider or a screw")


def kind_of_joint(joint: Joint) -> JointKind:
    """The kind of a joint.

    >>> import linkwork as lw
    >>> kind = kind_of_joint(lw.Cylindrical("sleeve", "shaft", at=(0, 0, 0), axis=(0, 0, 1)))
    >>> [freedom.unit for freedom in kind.freedoms]
    ['rad', 'm']
    """
    found: JointKind = kind_for(joint)
    return found
