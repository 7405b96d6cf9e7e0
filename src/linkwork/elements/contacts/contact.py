"""Contact, NoContact: which bodies touch each other, and which never do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ContactElement
from linkwork.elements.core.included import carried_along

if TYPE_CHECKING:
    pass


BOUNCE_ABOVE = 0.1  # m/s, the speed of approach below which nothing bounces
RECOVERY = 1.0  # m/s, the largest speed at which penetration is taken back


@dataclass(eq=False, repr=False, init=False)
class Contact(ContactElement):
    """Bodies that touch each other, and the ground's colliders: all bodies that have a shape or a collider, or those that are
    named alone. Of several Contacts that speak of the same pair the last one counts.

    `friction` and `restitution` are those of all its pairs, where they are given. Nothing bounces that approaches more slowly
    than `bounce_above` (m/s). Bodies that are built one inside the other leave each other with at most `recovery` (m/s).

    With a `stiffness` (N/m) its pairs are soft: each point at which they touch has a spring, and a damper of `damping` (N s/m),
    that push and do not pull. Friction is as ever; how they bounce is left to spring and damper, and restitution is not.

    `torsion` and `rolling` (m) are those of all its pairs, where they are given: at each point the couple about the normal is
    at most torsion times the push and against the relative spin, that about the tangents at most rolling times the push and
    against the relative rolling. Nothing resists either where nobody names them.

    Coefficients that it does not give are those of colliders and bodies: of a pair the geometric mean, or with
    `combine="larger"` the larger of each.

    >>> Contact(friction=0.6, restitution=0.1).bounce_above
    0.1
    >>> len(Contact("ball", "pin1", "pin2", friction=0.2).bodies)
    3
    >>> Contact("finger", "cup", friction=1.0, stiffness=2e3, damping=5.0, name="flesh")
    <Contact "flesh">
    >>> Contact(friction=0.6, torsion=0.002, rolling=0.0005).rolling
    0.0005
    """

    REFERENCES: ClassVar[dict[str, str]] = {"bodies": "body"}
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"torsion": ("m",), "rolling": ("m",)}

    bodies: tuple[Any, ...] = ()
    friction: float | None = None
    restitution: float | None = None
    bounce_above: float = BOUNCE_ABOVE  # m/s
    recovery: float = RECOVERY  # m/s
    stiffness: float | None = None  # N/m, of each point of contact; None: hard
    damping: float = 0.0  # N s/m, of each point of contact
    torsion: float | None = None  # m, couple about the normal by push
    rolling: float | None = None  # m, couple about the tangents by push
    combine: str = "mean"

    def __init__(self, *bodies: BodyLike, friction: float | None = None, restitution: float | None = None,
                 bounce_above: float = BOUNCE_ABOVE, recovery: float = RECOVERY, stiffness: float | None = None,
                 damping: float = 0.0, torsion: float | None = None, rolling: float | None = None,
                 combine: str = "mean", name: str | None = None) -> None:  # fmt: skip
        self.bodies, self.name = bodies, name
        self.__post_init__()
        self.friction = checks.optional(checks.non_negative, self, "friction", friction)
        self.torsion = checks.optional(checks.non_negative, self, "torsion", torsion)
        self.rolling = checks.optional(checks.non_negative, self, "rolling", rolling)
        self.combine = checks.choice(self, "combine", combine, ("mean", "larger"))
        self.restitution = restitution
        if restitution is not None:
            self._check_restitution()
        self.bounce_above = checks.non_negative(self, "bounce_above", bounce_above)
        self.recovery = checks.non_negative(self, "recovery", recovery)
        self.stiffness = checks.optional(checks.positive, self, "stiffness", stiffness)
        self.damping = checks.non_negative(self, "damping", damping)
        if self.damping > 0.0 and self.stiffness is None:
            checks.fail(self, f"damping is {self.damping:g} and stiffness is missing", "give the stiffness that it goes with")
        if self.stiffness is not None and (self.restitution or 0.0) > 0.0:
            checks.fail(self, f"restitution is {self.restitution:g} and stiffness is {self.stiffness:g}",
                        "leave restitution out: a soft contact bounces as stiffness and damping have it")  # fmt: skip

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        moving = [body for body in resolved if body.dim]
        if resolved and not moving:
            checks.fail(self, "it names the ground alone", "give a body that moves, or none for all of them")

    include_at = carried_along


@dataclass(eq=False, repr=False, init=False)
class NoContact(ContactElement):
    """Bodies that never touch one another, whatever Contacts say. A Collider in the place of a body speaks of itself alone.

    >>> NoContact("thigh", "pelvis", name="hip clearance")
    <NoContact "hip clearance">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"bodies": "body or contact collider"}
    acts: ClassVar[bool] = False

    bodies: tuple[Any, ...] = ()

    def __init__(self, *bodies: BodyLike, name: str | None = None) -> None:
        self.bodies, self.name = bodies, name
        self.__post_init__()
        if len(bodies) < 2:
            checks.fail(self, f"it names {len(bodies)} bodies", "give at least two")

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        for k, item in enumerate(resolved):
            if isinstance(item, ContactElement) and not item.touched:
                checks.fail(self, f"it names {checks.label(item)}", "give bodies or Colliders")
            if item in resolved[:k]:
                checks.fail(self, f"it names {checks.label(item)} twice", "give different bodies")

    include_at = carried_along
