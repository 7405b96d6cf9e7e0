"""Drive: the rate of a joint's coordinate is prescribed. The element and its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.elements.constraints.on_joint import OnJointKind
from linkwork.elements.core import checks
from linkwork.elements.core.element import ConstraintElement
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import JointLike, has_coordinate
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import VELOCITY

if TYPE_CHECKING:
    from linkwork.elements.core.joint import Joint


@dataclass(eq=False, repr=False)
class Drive(ConstraintElement):
    """Prescribes the rate of a hinge or screw (rad/s) or slider (m/s): a number, a Parameter or a function of t.

    >>> Drive("axle", lambda t: 2 * t, name="spin-up")
    <Drive "spin-up">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint"}
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"rate": ("t",)}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"rate": ("rad/s", "m/s")}

    joint: JointLike
    rate: float | Parameter | Callable[..., Any]

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        if callable(self.rate):
            self.rate = checks.function(self, "rate", self.rate, ("t",))
        else:
            self.rate = checks.number(self, "rate", self.rate, parameter=True)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        has_coordinate(self, resolved[0])


@kind_of(Drive)
class DriveKind(OnJointKind):
    function, level = "rate", VELOCITY

    @staticmethod
    def moved(element: Any) -> Joint:
        found: Joint = element.joint
        return found
