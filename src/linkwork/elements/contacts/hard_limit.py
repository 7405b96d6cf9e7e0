"""HardLimit: a hard stop of what a joint leaves free. The element and its rows, which the joint's kind gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.elements.contacts.ball_limit import BallLimitRows
from linkwork.elements.contacts.tendon_rows import TendonRows, on_a_tendon
from linkwork.elements.core import checks
from linkwork.elements.core.element import ContactElement, Element
from linkwork.elements.core.field_types import BoundsField, OptionalVectorField, default
from linkwork.elements.core.freedom import FreedomLaw
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.stop_kind import StopKind, StopRow, function_row

if TYPE_CHECKING:
    from linkwork.elements.core.stop_kind import Site

WORDS = {"bounds": "lower= or upper=", "cone": "cone=", "twist": "twist=", "x": "x=", "y": "y=", "reach": "reach="}
PAIRS = ("twist", "x", "y")  # of a lower and an upper bound


@dataclass(eq=False, repr=False)
class HardLimit(ContactElement):
    """A hard stop: what a joint leaves free stays between `lower` and `upper`, of which one may be left out. `JointLimit` is
    the soft one.

    They bound the angle of hinges and screws (rad, turns counted), the travel of sliders and cylinders (m), both angles of
    universals (two numbers each, or one for both) and the angle of a plane about its normal. Turns of these two are not
    counted: bounds are below pi, and with one alone what turns the other way goes round and past it.

    - A ball is held within a `cone` (rad) about an `axis` (world, as built), the largest angle between that axis on a and on b.
      Its turn about that axis stays between the two of `twist` (rad, from -2 pi to 2 pi). `upper` alone is the largest angle by
      which it may be turned from how it was built, about whatever axis.
    - The turn of a cylinder stays between the two of `twist` (rad, turns counted).
    - The length of a FixedTendon or a Cable, given in the place of the joint, stays between `lower` and `upper`.
    - What slides in a plane has its travels between the two of `x` (m), along the `axis` in that plane, and of `y`, across it;
      the distance of its anchors is within `reach` (m).

    >>> HardLimit("elbow", lower=0.0, upper=2.0, name="elbow stop").upper
    2.0
    >>> HardLimit("hip", cone=0.8, twist=(-0.3, 0.3), axis=(0, 0, -1), name="socket").cone
    0.8
    >>> HardLimit("puck", x=(-0.5, 0.5), y=(-0.2, 0.2), axis=(1, 0, 0), name="rim").x
    array([-0.5,  0.5])
    """

    REFERENCES: ClassVar[dict[str, str]] = {"joint": "joint or force"}

    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("axis",)
    is_stop: ClassVar[bool] = True
    bounds_joint: ClassVar[bool] = True

    joint: Element | str
    lower: BoundsField = default(None)  # rad or m; (2,) rad
    upper: BoundsField = default(None)  # rad or m; (2,) rad
    restitution: float = field(default=0.0, kw_only=True)
    cone: float | None = field(default=None, kw_only=True)  # rad, below pi
    twist: OptionalVectorField = field(default=default(None), kw_only=True)  # (2,), rad
    axis: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, world
    x: OptionalVectorField = field(default=default(None), kw_only=True)  # (2,), m
    y: OptionalVectorField = field(default=default(None), kw_only=True)  # (2,), m
    reach: float | None = field(default=None, kw_only=True)  # m

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"x": ("m",), "y": ("m",), "reach": ("m",)}

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
        self.reach = checks.optional(checks.positive, self, "reach", self.reach)
        for name in PAIRS:
            value = getattr(self, name)
            setattr(self, name, None if value is None else checks.vector(self, name, value, 2))
        self.axis = checks.optional(checks.direction, self, "axis", self.axis)
        if not self.given():
            checks.fail(self, "it has neither a lower nor an upper bound", "give lower=, upper= or both; of a ball, cone=")
        pairs = [tuple(getattr(self, name).tolist()) for name in PAIRS if getattr(self, name) is not None]
        for lower, upper in [*self.bounds(2), *pairs]:
            if lower is not None and upper is not None and not lower < upper:
                checks.fail(self, f"lower is {lower:g} and upper {upper:g}", "give lower < upper")
        self._check_restitution()

    def given(self) -> tuple[str, ...]:
        """Which of a joint's coordinates are bounded: "bounds" (lower, upper), or those that the keys of WORDS are called."""
        there = {"bounds": self.lower is not None or self.upper is not None}
        return tuple(name for name in WORDS if there.get(name, getattr(self, name, None) is not None))

    def bounds(self, count: int) -> list[tuple[float | None, float | None]]:
        """(lower, upper), None where there is none, of so many coordinates."""
        ends = [value.tolist() if isinstance(value, np.ndarray) else [value] * count for value in (self.lower, self.upper)]
        return list(zip(*ends, strict=True))

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        (joint,) = resolved
        if on_a_tendon(self, joint):
            self._check_tendon(joint)
            return
        kind = kind_of_joint(joint)
        bounded = kind.bounded
        turns = kind.law is FreedomLaw.ROTATION
        words = WORDS | ({"bounds": "upper="} if turns else {})
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
        if turns and self.lower is not None:
            checks.fail(self, f"lower is {checks.show(self.lower)} on {checks.label(joint)}, whose turn has no sign",
                        "give upper= alone, or twist= with an axis")  # fmt: skip
        if turns and self.twist is not None and np.abs(self.twist).max() > 2 * math.pi:
            checks.fail(self, f"twist is {checks.show(self.twist)}", "give angles of at most a turn, 2 pi")
        if not kind.whole_turns:
            for bound in [end for pair in self.bounds(2) for end in pair if end is not None]:
                if not abs(bound) < math.pi:
                    checks.fail(self, f"a bound of {checks.label(joint)} is {bound:g}", "give angles between -pi and pi")
        self._check_axis(joint, turns)

    def _check_tendon(self, tendon: Any) -> None:
        """A length has one lower and one upper bound, and nothing else."""
        for name in ("cone", "twist", "x", "y", "reach", "axis"):
            if getattr(self, name) is not None:
                checks.fail(self, f"{checks.label(tendon)} has no use for {name}=", "give lower= or upper=")
        for name in ("lower", "upper"):
            if checks.entries(getattr(self, name)) is not None:
                checks.fail(self, f"{name} is {checks.show(getattr(self, name))} on {checks.label(tendon)}", "give one number")

    def _check_axis(self, joint: Any, turns: bool) -> None:
        """Cones and twists of a ball, and travels in a plane, are about and along an axis; nothing else is."""
        about = [name for name in self.given() if name in ("x", "y") or (turns and name != "bounds")]
        if about and self.axis is None:
            checks.fail(
                self, f"axis is missing, which {WORDS[about[0]]} is told by", "give axis=, a direction of the world as built"
            )
        if not about and self.axis is not None:
            has = "the angle of a whole turn has none" if turns else f"{checks.label(joint)} has an axis of its own"
            checks.fail(self, f"it has an axis, and {has}", "leave axis out")
        if about and not turns and self.axis is not None:
            checks.not_parallel(self, "axis", self.axis, "the normal of its joint", joint.normal)

    include_at = carried_along


@kind_of(HardLimit)
class HardLimitKind(StopKind):
    """A row for each bound of a joint; of balls with more than a cone, and of tendons, of what a kernel measures."""

    def measured(self, element: Any) -> BallLimitRows | TendonRows | None:
        if on_a_tendon(element, element.joint):
            return TendonRows(element)
        turns = kind_of_joint(element.joint).law is FreedomLaw.ROTATION
        return BallLimitRows(element) if turns and element.given() != ("cone",) else None

    def rows(self, element: Any, site: Site) -> list[StopRow]:
        if (kind := self.measured(element)) is not None:
            return self._measured_rows(element, kind.bounded, site)
        joint, found = site.joint(element), []
        for coordinate, row in enumerate(kind_of_joint(element.joint).limit_rows(element, joint.p, *joint.built)):
            ends, turns = joint.ends[::-1] if row.swapped else joint.ends, joint.turns if row.counted else None
            for sign, bound in zip((-1.0, 1.0), row.bounds, strict=True):
                if bound is not None:
                    found.append(StopRow(row.sort, ends, row.frame, sign, bound, element.restitution, turns, coordinate))
        return found

    @staticmethod
    def _measured_rows(element: Any, names: Sequence[str], site: Site) -> list[StopRow]:
        bounds = {"cone": (None, element.cone), "bounds": (element.lower, element.upper), "twist": element.twist}
        return [function_row(component, sign, float(bound), element.restitution, k)
                for k, (name, component) in enumerate(zip(names, site.functions(element), strict=True))
                for sign, bound in zip((-1.0, 1.0), bounds[name], strict=True) if bound is not None]  # fmt: skip
