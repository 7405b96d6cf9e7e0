"""Gear: the coordinates of two joints keep a ratio. The element and its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import ConstraintElement, check_ends
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.joint import JointLike, has_coordinate, kind_of_joint
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element import Pose
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Gear(ConstraintElement):
    """Couples two joints, each a hinge, slider or screw, anywhere: x_a = ratio * x_b + offset, with x their coordinates.

    Without an offset they keep the one they have as built. At the level "velocity" only the rates are coupled. Two meshing
    wheels on the ground turn opposite ways: a negative ratio.

    >>> Gear("axle1", "axle2", -2.0, name="mesh").level
    'position'
    >>> Gear("finger", "thumb", 1.0, 0.1, name="mimic").offset
    0.1
    """

    REFERENCES: ClassVar[dict[str, str]] = {"a": "joint", "b": "joint"}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"ratio": ("rad/m", "m/rad"), "offset": ("rad", "m")}

    a: JointLike
    b: JointLike
    ratio: float | Parameter  # of a hinge and a slider: rad/m or m/rad
    offset: float | Parameter | None = None  # rad or m
    level: str = field(default="position", kw_only=True)

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ratio = checks.number(self, "ratio", self.ratio, parameter=True)
        if float(self.ratio) == 0.0:
            checks.fail(self, "ratio is 0", "give a number other than 0")
        self.offset = checks.optional(checks.number, self, "offset", self.offset, parameter=True)
        self.level = checks.choice(self, "level", self.level, ("position", "velocity"))
        if self.offset is not None and self.level == "velocity":
            checks.fail(self, f"offset is {checks.show(self.offset)} but only rates are coupled", "leave offset= out")

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        check_ends(self, resolved)
        for joint in resolved:
            has_coordinate(self, joint)
        one, other = resolved
        if {id(one.a), id(one.b)} == {id(other.a), id(other.b)}:
            problem = f"both its joints are between {checks.label(one.a)} and {checks.label(one.b)}"
            checks.fail(self, problem, "give joints that do not hold the same two bodies")

    def poses(self) -> dict[str, Pose]:
        """An offset is that of the joints' own coordinates, whenever the gear was made."""
        if self.offset is None:
            return super().poses()
        return {name: pose for _, _, joint in self.references() for name, pose in (joint.built or {}).items()}


@kind_of(Gear)
class GearKind(ConstraintKind):
    """Coordinates of two joints, or their rates, keep a ratio. Its bodies are those of both joints that move, each once."""

    couples_joints = True

    def __init__(self, element: Any) -> None:
        pair = {"a": element.a, "b": element.b}
        self.joints = {end: kind_of_joint(joint) for end, joint in pair.items()}
        self.sliding = {end: joint.slides for end, joint in self.joints.items()}
        moving = self.bodies(element)
        self.ends = {end: [_place(moving, body) for body in (joint.a, joint.b)] for end, joint in pair.items()}
        self.key = f"Gear-{element.level}-{[j.key for j in self.joints.values()]}-{list(self.ends.values())}"
        self.levels = [element.level]
        self.turning = [end for end in "ab" if not self.sliding[end]] if element.level == POSITION else []
        self.counters = len(self.turning)
        self.fields = {f"{end}_{name}": size for end, joint in self.joints.items()
                       for name, size in ({**joint.fields, "axis_a": 3}).items()}  # fmt: skip
        self.fields |= {"ratio": 1, "offset": 1}
        self.needs_directions, self.rigid_only = (True,) * len(moving), (False,) * len(moving)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        every = [body for joint in (element.a, element.b) for body in (joint.a, joint.b)]
        return tuple(dict.fromkeys(body for body in every if body.dim))

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        offsets = [0.0 if e.offset is None else e.offset for e in elements]
        found = {"ratio": column(elements, "ratio"), "offset": np.array(offsets, dtype=object).reshape(-1, 1)}
        for end, joint in self.joints.items():
            of = [getattr(e, end) for e in elements]
            A, B = (frames[0].ground() if k is None else frames[k] for k in self.ends[end])
            own = {**joint.parameters(of, A, B), "axis_a": joint.frame(of, A, B)[0]}
            found |= {f"{end}_{name}": values for name, values in own.items()}
        return found

    def _of(self, end: str, handles: Sequence[Handle], p: Params) -> tuple[list[Handle], dict[str, SX]]:
        """The two bodies of a joint, and its numbers."""
        names = (*self.joints[end].fields, "axis_a")
        return [handles[0].ground() if k is None else handles[k] for k in self.ends[end]], {n: p[f"{end}_{n}"] for n in names}

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return [self.joints[end].angle(*self._of(end, handles, p)) for end in self.turning]

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        found, angles = [], iter(self.counted(handles, p))
        for end, joint in self.joints.items():
            (a, b), own = self._of(end, handles, p)
            if self.levels == [POSITION]:
                found.append(joint.travel((a, b), own) if self.sliding[end] else next(angles))
            else:
                on_ground = self.ends[end][1] is None  # whose axis does not drift
                axis = b.axis(own["axis_b"]) if on_ground else a.axis(own["axis_a"])
                spin = ca.dot(axis, b.spin() - a.spin())
                found.append(joint.travel_rate((a, b), own) if self.sliding[end] else spin)
        return [(self.levels[0], found[0] - p["ratio"] * found[1] - p["offset"])]


def _place(moving: Any, body: Any) -> int | None:
    """Which of some bodies this is; None: the ground."""
    return None if body.dim == 0 else moving.index(body)
