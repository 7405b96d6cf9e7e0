"""JointFriction: dry friction of a joint's coordinate. The element and its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.contacts.tendon_rows import TendonRows, on_a_tendon
from linkwork.elements.core import checks
from linkwork.elements.core.element import ContactElement, Element
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import has_coordinate, kind_of_joint
from linkwork.elements.core.joint_kind import LimitSort
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.stop_kind import StopKind, StopRow, function_row

if TYPE_CHECKING:
    from linkwork.elements.core.stop_kind import Site


@dataclass(eq=False, repr=False)
class JointFriction(ContactElement):
    """Dry friction of a hinge, slider or screw, or of the length of a FixedTendon or a Cable: it sticks, exactly, until what
    drives the joint is larger than `friction`, and slips with that torque (N m; of a slider the force, N) against its motion.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    >>> world.add(JointFriction(axle, 6.0, name="brake"))
    <JointFriction "brake">
    >>> sim = lw.Simulation(world)
    >>> sim.step(100)
    >>> bool(abs(sim.angle(axle)) < 1e-9), sim.reaction("brake").generalised.round(6) + 0.0
    (True, array([-5.]))
    """

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint or force"}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"friction": ("N m", "N")}
    is_stop: ClassVar[bool] = True
    rubs: ClassVar[bool] = True

    joint: Element | str
    friction: float  # N m or N

    def __post_init__(self) -> None:
        super().__post_init__()
        self.friction = checks.positive(self, "friction", self.friction)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        if not on_a_tendon(self, resolved[0]):
            has_coordinate(self, resolved[0])

    include_at = carried_along


@kind_of(JointFriction)
class JointFrictionKind(StopKind):
    """Along the coordinate of its joint: no bound, and its force in the place of one. The length of a tendon is measured."""

    def measured(self, element: Any) -> TendonRows | None:
        return TendonRows(element) if on_a_tendon(element, element.joint) else None

    def rows(self, element: Any, site: Site) -> list[StopRow]:
        if on_a_tendon(element, element.joint):
            return [function_row(site.functions(element)[0], 0.0, element.friction, 0.0, 0)]
        joint, slides = site.joint(element), kind_of_joint(element.joint).slides
        frame = tuple(joint.p[name] for name in ("on_a", "on_b", "ref_a", "side_a", "ref_b"))
        return [StopRow(LimitSort.TRAVEL if slides else LimitSort.TURN, joint.ends, frame, 0.0, element.friction)]
