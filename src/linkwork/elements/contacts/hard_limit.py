"""HardLimit: a hard stop of what a joint leaves free. The element and its rows, which the joint's kind gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import ContactElement
from linkwork.elements.core.field_types import BoundsField, OptionalVectorField, default
from linkwork.elements.core.freedom import FreedomLaw
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import JointLike, kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.stop_kind import StopKind, StopRow

if TYPE_CHECKING:
    from linkwork.elements.core.stop_kind import Site


@dataclass(eq=False, repr=False)
class HardLimit(ContactElement):
    """A hard stop: what a joint leaves free stays between `lower` and `upper`, of which one may be left out. `JointLimit` is
    the soft one.

    They bound the angle of hinges and screws (rad, turns counted), the travel of sliders and cylinders (m), both angles of
    universals (two numbers each, or one for both) and the angle of a plane about its normal. Turns of these two are not
    counted: bounds are below pi, and with one alone what turns the other way goes round and past it. A ball is held within a
    `cone` (rad) about an `axis` (world, as built): the largest angle between that axis on a and on b. The turn of a cylinder
    stays between the two of `twist` (rad, turns counted).

    >>> HardLimit("elbow", lower=0.0, upper=2.0, name="elbow stop").upper
    2.0
    >>> HardLimit("hip", cone=0.8, axis=(0, 0, -1), name="socket").cone
    0.8
    """

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint"}

    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("axis",)
    is_stop: ClassVar[bool] = True

    joint: JointLike
    lower: BoundsField = default(None)  # rad or m; (2,) rad
    upper: BoundsField = default(None)  # rad or m; (2,) rad
    restitution: float = field(default=0.0, kw_only=True)
    cone: float | None = field(default=None, kw_only=True)  # rad, below pi
    twist: OptionalVectorField = field(default=default(None), kw_only=True)  # (2,), rad
    axis: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, world

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("lower", "upper"):
            value = getattr(self, name)
            pair = checks.entries(value) is not None
            setattr(
                self, name, checks.vector(self, name, value, 2) if pair else checks.optional(checks.number, self, name, value)
            )
        self.cone = checks.optional(checks.positive, self, "cone", self.cone)
        if self.cone is not None and not self.cone < math.pi:
            checks.fail(self, f"cone is {self.cone:g}", "give an angle below pi")
        self.twist = None if self.twist is None else checks.vector(self, "twist", self.twist, 2)
        self.axis = checks.optional(checks.direction, self, "axis", self.axis)
        if not self.given():
            checks.fail(self, "it has neither a lower nor an upper bound", "give lower=, upper= or both; of a ball, cone=")
        for lower, upper in [*self.bounds(2), *([] if self.twist is None else [tuple(self.twist.tolist())])]:
            if lower is not None and upper is not None and not lower < upper:
                checks.fail(self, f"lower is {lower:g} and upper {upper:g}", "give lower < upper")
        self._check_restitution()

    def given(self) -> tuple[str, ...]:
        """Which of a joint's coordinates are bounded: "bounds" (lower, upper), "cone", "twist"."""
        there = {"bounds": self.lower is not None or self.upper is not None, "cone": self.cone is not None,
                 "twist": self.twist is not None}  # fmt: skip
        return tuple(name for name, is_there in there.items() if is_there)

    def bounds(self, count: int) -> list[tuple[float | None, float | None]]:
        """(lower, upper), None where there is none, of so many coordinates."""
        ends = [value.tolist() if isinstance(value, np.ndarray) else [value] * count for value in (self.lower, self.upper)]
        return list(zip(*ends, strict=True))

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        (joint,) = resolved
        kind = kind_of_joint(joint)
        bounded = kind.bounded
        words = {"bounds": "lower= or upper=", "cone": "cone=", "twist": "twist="}
        if not bounded:
            checks.fail(self, f"{checks.label(joint)} has no coordinate to bound", "give another joint")
        for name in self.given():
            if name not in bounded:
                checks.fail(self, f"{checks.label(joint)} has no use for {words[name]}",
                            f"give {' or '.join(words[each] for each in bounded)}")  # fmt: skip
        for name in ("lower", "upper"):
            value = checks.entries(getattr(self, name))
            if value is not None and kind.law is not FreedomLaw.CROSS:
                checks.fail(self, f"{name} is {checks.show(value)} on {checks.label(joint)}", "give one number")
        if not kind.whole_turns:
            for bound in [end for pair in self.bounds(2) for end in pair if end is not None]:
                if not abs(bound) < math.pi:
                    checks.fail(self, f"a bound of {checks.label(joint)} is {bound:g}", "give angles between -pi and pi")
        if (kind.law is FreedomLaw.ROTATION) != (self.axis is not None):
            problem = "axis is missing" if self.axis is None else f"{checks.label(joint)} has an axis of its own"
            checks.fail(self, problem, "give axis= for a ball, and only there")

    include_at = carried_along


@kind_of(HardLimit)
class HardLimitKind(StopKind):
    """A row for each bound of what the joint says."""

    def rows(self, element: Any, site: Site) -> list[StopRow]:
        joint, found = site.joint(element), []
        for coordinate, row in enumerate(kind_of_joint(element.joint).limit_rows(element, joint.p, *joint.built)):
            ends, turns = joint.ends[::-1] if row.swapped else joint.ends, joint.turns if row.counted else None
            for sign, bound in zip((-1.0, 1.0), row.bounds, strict=True):
                if bound is not None:
                    found.append(StopRow(row.sort, ends, row.frame, sign, bound, element.restitution, turns, coordinate))
        return found
