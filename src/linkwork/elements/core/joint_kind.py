"""What a joint kind offers: its rows, its coordinates, the closed forms of its elimination, and what its limits bound.

A kind is declared with `kind_of`, in the file of its element; what it lacks is an error there. What is abstract every joint
must have; what CONDITIONS name, those that say so. Springs and soft limits are products of a force and a joint: their laws
stand with the forces, and a joint says which of them fits (`law`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element_kind import Params, apart
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.elements.core.units import Quantity

if TYPE_CHECKING:
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import FloatArray


class Pivot(Enum):
    """How a rigid body and its joint to the parent are eliminated together."""

    BLOCK = "block"  # the anchors meet and every turn is free: a 3 x 3 block
    AXES = "axes"  # the anchors meet, and turns about one or two axes are free: `turning`
    GENERAL = "general"  # from rows and `world_subspace`


class LimitSort(Enum):
    """What a hard stop bounds, from its frame: two anchors and three directions."""

    TURN = "turn"  # (on_a, on_b, ref_a, side_a, ref_b): the angle from ref_a towards side_a to ref_b
    TRAVEL = "travel"  # (on_a, on_b, ref_a, side_a, any): along ref_a x side_a, from a's anchor to b's
    CONE = "cone"  # (on_a, on_b, axis on a, any, axis on b): the angle between both axes
    ROPE = "rope"  # (on_a, on_b, any, any, any): the distance of the anchors
    FUNCTION = "function"  # (any, any, (part, friction, slips), any, any): what a kernel measures; `stop_kind.function_row`


@dataclass(frozen=True)
class LimitRow:
    """One coordinate that a hard limit bounds; vectors are in the bodies' internal frames."""

    sort: LimitSort
    frame: tuple[FloatArray, ...]  # five (3,): see LimitSort
    bounds: tuple[float | None, float | None]  # rad or m: lower, upper
    counted: bool = False  # its turns are those that the joint counts
    swapped: bool = False  # the frame is that of b and a


class Bounds(Protocol):
    """What a joint asks a hard limit for."""

    joint: Any
    lower: Any  # rad or m, or several, or None
    upper: Any  # the same
    x: Any  # (2,) m or None
    y: Any  # (2,) m or None
    reach: Any  # m or None
    twist: Any  # (2,) rad or None
    cone: Any  # rad or None
    axis: Any  # (3,), world as built, or None

    def bounds(self, count: int) -> list[tuple[float | None, float | None]]:
        """(lower, upper) of so many coordinates."""


@dataclass(frozen=True)
class Pose:
    """A rigid body's internal frame, or the world's for the ground."""

    R: SX  # (3, 3)
    x: SX  # (3,), m


@dataclass(frozen=True)
class ClosedRows:
    """Turning rows in closed form: row i is t_i . value, its rate t_i . rate, its bias t_i . bias; and (sine, cosine) of the
    angle whose turns are counted."""

    directions: tuple[SX, SX]  # t_1, t_2: (3,)
    value: SX  # (3,)
    rate: SX  # (3,)
    bias: SX  # (3,)
    angle: tuple[SX, SX]


@dataclass(frozen=True)
class ClosedAngle:
    """The angle of a joint in closed form."""

    gradient: SX  # (3,): how it changes with turns of the body in question
    rate: SX
    bias: SX  # its second derivative where no velocity changes


@dataclass(frozen=True)
class Turning:
    """What the turning rows of a joint leave free to one of its bodies, and what they ask of it."""

    axes: SX  # (3, k): of the world
    dual: SX  # (3, 3 - k): turns of that body that change one turning row each, and no other
    rows: ClosedRows | None = None  # else the rows are derived
    angle: ClosedAngle | None = None  # that rotors follow; else it is derived


class JointKind(ConstraintKind):
    """The base of joint kinds; one instance serves all joints of a class."""

    anchored = True

    mobilizer: Mobilizer
    law: FreedomLaw
    pivot: Pivot = Pivot.GENERAL
    full_rank = False  # its rows are independent on either of two rigid bodies alone, whatever the configuration
    reading: Freedom | None = None  # what `sim.angle` tells, if anything
    bounded: tuple[str, ...] = ()  # what a hard limit may bound: "bounds" (lower and upper), "twist", "cone", ...
    constant_fields: tuple[str, ...] = ()  # the fields of the element that `constants` are made of

    # -- what every joint has -------------------------------------------------------------------------------------
    @abstractmethod
    def frames(self, joint: Joint, A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
        """The axes of the joint's frames on a and on b as built, columns in the world; the mobilizer is told from them."""

    @abstractmethod
    def world_subspace(self, a: Pose, b: Pose, p: Params, child: int) -> SX:
        """(6, nv): what the joint leaves free to one of its bodies (`child`: 0 or 1) at its anchor, linear, then angular, in
        the world, where nothing has drifted. Its columns span those of the mobilizer's S."""

    # -- what some have -------------------------------------------------------------------------------------------
    def turning(self, Ra: SX, wa: SX, Rb: SX, wb: SX, p: Params, sign: float) -> Turning:
        """Of Pivot.AXES: rotations and angular velocities in, what is free out; `sign`: 1 if the child is b, -1 if it is a."""
        raise NotImplementedError

    def least_turn(self, Ra: SX, Rb: SX, p: Params, own: int) -> SX | None:
        """Of joints whose anchors meet: the least turn of one body (`own`: 0 or 1), a quaternion in the world, after which the
        joint's directions agree; None if it has none."""
        raise NotImplementedError

    def frame(self, elements: Sequence[Any], A: Placement, B: Placement) -> tuple[FloatArray, ...]:
        """Of joints on an axis, as `AxisJointKind` has it: (k, 3) each, axis, ref and side on a, axis and ref on b."""
        raise NotImplementedError

    def angle(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """Of joints on an axis: (sine, cosine) of the turn of b about it."""
        raise NotImplementedError

    def apart(self, handles: Sequence[Handle], p: Params) -> SX:
        """Of joints on an axis: from a's anchor to b's."""
        raise NotImplementedError

    def travel(self, handles: Sequence[Handle], p: Params) -> SX:
        """Of joints on an axis: how far b's anchor is along it from a's."""
        raise NotImplementedError

    def travel_rate(self, handles: Sequence[Handle], p: Params) -> SX:
        """Of joints on an axis: the rate of `travel`."""
        raise NotImplementedError

    @property
    def read_names(self) -> tuple[Quantity, ...]:  # type: ignore[override]
        """What its coordinates are, with units; those that would be called the same are numbered."""
        return _numbered([quantity for freedom in self.freedoms for quantity in freedom.coordinates])

    @property
    def read_rates(self) -> tuple[Quantity, ...]:  # type: ignore[override]
        return _numbered([quantity for freedom in self.freedoms for quantity in freedom.velocities])

    @property
    def read_fields(self) -> dict[str, int]:  # type: ignore[override]
        """The axes of its frames on both bodies, one after another, and the mobilizer's constants."""
        return {"frame_a": 9, "frame_b": 9, "constants": self.mobilizer.constants}

    def read_numbers(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, FloatArray]:
        frames: tuple[list[FloatArray], list[FloatArray]] = [], []
        for k, joint in enumerate(elements):
            one, each = np.array([k]), self.frames(joint, A.pick([k]), B.pick([k]))
            for batch, axes, found in zip((A, B), each, frames, strict=True):
                found.append(np.concatenate([batch.axis(axis[None], one)[0] for axis in axes.T]))
        constants = np.array([self.constants(joint) for joint in elements], dtype=float).reshape(len(elements), -1)
        return {"frame_a": np.array(frames[0]), "frame_b": np.array(frames[1]), "constants": constants}

    def read_coordinates(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """By the mobilizer, from both bodies: for kinds without a closed form of their own."""
        a, b = handles
        axes = [p["frame_a"][k : k + 3] for k in (0, 3, 6)]
        P, rate = (ca.horzcat(*[of(axis) for axis in axes]) for of in (a.axis, a.axis_rate))
        E = P.T @ ca.horzcat(*[b.axis(p["frame_b"][k : k + 3]) for k in (0, 3, 6)])
        d, speed = apart(handles, p), b.point_rate(p["on_b"]) - a.point_rate(p["on_a"])
        q, symbol = self.mobilizer.coordinates(E, P.T @ d, p["constants"]), SX.sym("q", self.mobilizer.nq)
        S = ca.substitute(self.mobilizer.subspace(symbol, p["constants"]), symbol, q)  # derivatives are taken by symbols
        motion = ca.vertcat(P.T @ speed + rate.T @ d, P.T @ (b.spin() - a.spin()))
        return q, ca.solve(S.T @ S, S.T @ motion)

    def limit_rows(self, limit: Bounds, p: Mapping[str, FloatArray], A: Placement, B: Placement) -> list[LimitRow]:
        """Of joints that hard limits bound: their rows. p: the joint's parameters; A and B: its bodies as built."""
        raise NotImplementedError

    def constants(self, joint: Joint) -> list[float]:
        """What the mobilizer keeps beside its coordinates."""
        return []

    # -- what follows ---------------------------------------------------------------------------------------------
    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return self.mobilizer.freedoms

    @property
    def slides(self) -> bool:
        """Its one coordinate is a travel."""
        return self.freedoms == (Freedom.LENGTH,)

    @property
    def lengths(self) -> int:
        """How many of its freedoms are travels."""
        return self.freedoms.count(Freedom.LENGTH)

    @property
    def whole_turns(self) -> bool:
        """Angles are bounded below half a turn where nobody counts."""
        return bool(self.counters) or Freedom.TURN not in self.freedoms

    @classmethod
    def check_declared(cls, element: type[Joint]) -> None:  # type: ignore[override]
        """Refuse a kind that lacks something."""
        missing = [name for name in ("mobilizer", "law", "levels", "fields") if not hasattr(cls, name)]
        if missing:
            raise TypeError(f"{cls.__name__}: it lacks {', '.join(missing)}; a joint kind has all of them")
        for why, (applies, asked) in CONDITIONS.items():
            missing = [name for name in asked if getattr(cls, name, None) is getattr(JointKind, name, None)]
            if applies(cls, element) and missing:
                raise TypeError(f"{cls.__name__}: it lacks {', '.join(missing)}, which {why} asks for; define it")
        if not {"on_a", "on_b"} <= set(cls.fields):
            raise TypeError(f"{cls.__name__}: fields lack the anchors on_a and on_b, where reactions are told; add them")
        known = {item.name for item in fields(element)}
        wanted = ["first", "second"] if cls.law is FreedomLaw.CROSS else []
        wanted += ["normal"] if cls.law is FreedomLaw.AXIS and cls.mobilizer.freedoms.count(Freedom.LENGTH) == 2 else []
        if not known.issuperset((*wanted, *cls.constant_fields)):
            missing = [name for name in (*wanted, *cls.constant_fields) if name not in known]
            raise TypeError(f"{cls.__name__}: {element.__name__} lacks the fields {', '.join(missing)}; add them")
        if element.rows != len(cls.levels):
            raise TypeError(f"{cls.__name__}: {element.__name__} has rows = {element.rows}, but there are {len(cls.levels)} "
                            "levels; make them agree")  # fmt: skip
        if element.rows + sum(freedom.nv for freedom in cls.mobilizer.freedoms) != 6:
            raise TypeError(
                f"{cls.__name__}: {element.rows} rows and {cls.mobilizer.nv} freedoms do not make 6; make them agree"
            )
        if element.has_coordinate and cls.mobilizer.freedoms == (Freedom.TURN,) and cls.counters != 1:
            raise TypeError(f"{cls.__name__}: its coordinate is an angle, whose turns are counted; give counters = 1")
        super().check_declared(element)


def _numbered(quantities: list[Quantity]) -> tuple[Quantity, ...]:
    """The same, where several have one name with numbers."""
    names, found = [quantity.what for quantity in quantities], []
    for k, (what, unit) in enumerate(quantities):
        number = f" {names[:k].count(what) + 1}" if names.count(what) > 1 else ""
        found.append(Quantity(f"{what}{number}", unit))
    return tuple(found)


ON_AN_AXIS = ("frame", "angle", "apart", "travel", "travel_rate")
CONDITIONS = {
    "pivot = Pivot.AXES": (lambda kind, element: kind.pivot is Pivot.AXES, ("turning",)),
    "meets = True": (lambda kind, element: kind.meets, ("least_turn",)),
    "bounded": (lambda kind, element: kind.bounded, ("limit_rows",)),
    "law = FreedomLaw.AXIS": (lambda kind, element: kind.law is FreedomLaw.AXIS, ON_AN_AXIS),
    "has_coordinate = True": (lambda kind, element: element.has_coordinate, ON_AN_AXIS),
    "mobilizer.constants": (lambda kind, element: kind.mobilizer.constants, ("constants",)),
}
