"""What Drive and Motion of a joint share: rows on the joint's coordinate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.functions import on_tape
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


class OnJointKind(ConstraintKind):
    """The joint's own parameters, and a function of time."""

    function: ClassVar[str]  # the field that holds the function
    level: ClassVar[str]  # of the row: the coordinate is prescribed, or its rate

    forced = True

    def __init__(self, element: Any) -> None:
        self.joint = kind_of_joint(self.moved(element))
        self.sliding = self.joint.slides
        self.traced = element.traced(self.function, 1)
        self.user_parameters = tuple(self.traced.parameters)
        self.key = f"{self.element.__name__}:{self.joint.key}:{self.traced.digest}"
        self.levels = [self.level]
        self.fields = {**self.joint.fields, "axis_a": 3, "user": len(self.user_parameters)}
        self.needs_directions = (True, True)
        self.counters = 1 if self.level == POSITION and not self.sliding else 0

    @staticmethod
    @abstractmethod
    def moved(element: Any) -> Joint:
        """The joint that it moves."""

    @classmethod
    def bodies(cls, element: Any) -> tuple[Any, ...]:
        joint = cls.moved(element)
        return joint.a, joint.b

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        of = [self.moved(e) for e in elements]
        return {**self.joint.parameters(of, A, B), "axis_a": self.joint.frame(of, A, B)[0]}

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return self.joint.angles(handles, p)[: self.counters]

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        (level,) = self.levels
        wanted = on_tape(self.traced, [], [t], p["user"])
        if level == POSITION:
            return [(level, (self.joint.travel(handles, p) if self.sliding else self.counted(handles, p)[0]) - wanted)]
        if self.sliding:
            return [(level, self.joint.travel_rate(handles, p) - wanted)]
        a, b = handles
        return [(level, ca.dot(a.axis(p["axis_a"]), b.spin() - a.spin()) - wanted)]
