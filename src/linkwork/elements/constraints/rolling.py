"""Rolling: a ball or disc rolls on a plane without slip. The element and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.constraints.unknowns import unit
from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind, perpendicular
from linkwork.elements.core.element import PairConstraint
from linkwork.elements.core.element_kind import column
from linkwork.elements.core.field_types import OptionalVectorField, VectorField, default
from linkwork.elements.core.functions import cross
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION, VELOCITY

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Rolling(PairConstraint):
    """b rolls without slip on the plane of a through `at` with `normal` (one position row, two velocity rows).

    Without an axis b is a ball; with one it is a disc with that axle. On a body that stretches ball, disc and plane follow it:
    the radius is that of the unstretched body, and what touches is the material that is lowest then.

    >>> Rolling("ground", "wheel", 0.3, axis=(0, 1, 0)).radius
    0.3
    """

    WORLD_POINTS: ClassVar[tuple[str, ...]] = ("at",)
    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ("normal", "axis")

    radius: float | Parameter  # m
    at: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, world: a point of the plane
    normal: VectorField = field(default=default((0.0, 0.0, 1.0)), kw_only=True)  # (3,), unit, world: towards b
    axis: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), unit, world

    def __post_init__(self) -> None:
        super().__post_init__()
        self.radius = checks.positive(self, "radius", self.radius, parameter=True)
        self.at = checks.vector(self, "at", self.at)
        self.normal = checks.direction(self, "normal", self.normal)
        self.axis = checks.optional(checks.direction, self, "axis", self.axis)
        if self.axis is not None:
            checks.not_parallel(self, "axis", self.axis, "normal", self.normal)


@kind_of(Rolling)
class RollingKind(ConstraintKind):
    """b (a ball, or a disc with an axle) touches a plane of a and does not slip: one position row, two velocity rows."""

    fields = {"on_a": 3, "normal": 3, "first": 3, "second": 3, "centre": 3, "radius": 1, "axle": 3}
    levels = [POSITION, VELOCITY, VELOCITY]
    needs_directions = (True, True)

    def __init__(self, element: Any) -> None:
        self.disc = element.axis is not None
        self.key = f"Rolling-{'disc' if self.disc else 'ball'}"

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        k = len(elements)
        towards = np.array([e.normal for e in elements])
        normal = A.normal(towards) if A.stretches else A.axis(towards)
        first = perpendicular(normal)
        axle = B.axis(np.array([e.axis for e in elements])) if self.disc else np.zeros((k, 3))
        return {"on_a": A.point(np.array([e.at for e in elements])), "normal": normal, "first": first,
                "second": np.cross(normal, first), "centre": B.user_point(np.zeros((k, 3))),
                "radius": column(elements, "radius"), "axle": axle}  # fmt: skip

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        a, b = handles
        if a.stretches or b.stretches:
            return self._stretched_rows(a, b, p)
        n, centre, foot = a.axis(p["normal"]), b.point(p["centre"]), a.point(p["on_a"])
        if self.disc:
            axle = b.axis(p["axle"])
            down = n - ca.dot(n, axle) * axle
            height = ca.sqrt(ca.sumsqr(down))
            arm = -p["radius"] * down / height
            gap = ca.dot(n, centre - foot) - p["radius"] * height
        else:
            arm = -p["radius"] * n
            gap = ca.dot(n, centre - foot) - p["radius"]
        slip = b.point_rate(p["centre"]) + cross(b.spin(), arm)
        slip -= a.point_rate(p["on_a"]) + cross(a.spin(), centre + arm - foot)
        return [(POSITION, gap), *[(VELOCITY, ca.dot(a.axis(p[name]), slip)) for name in ("first", "second")]]

    def _stretched_rows(self, a: Handle, b: Handle, p: Params) -> list[tuple[str, SX]]:
        """The same by material points. The plane's normal is a covector; what is lowest of a solid that a linear map has
        stretched is what is farthest along the map's transpose of -n."""
        n, foot, centre = unit(a.normal(p["normal"])), a.point(p["on_a"]), b.point(p["centre"])
        down = -_axes(b).T @ n
        if self.disc:
            axle = unit(p["axle"])
            down -= ca.dot(down, axle) * axle
        lowest = p["radius"] * unit(down)
        arm = _axes(b) @ lowest
        slip = _velocity(b, p["centre"], lowest) - _velocity(a, p["on_a"], _inside(a, centre + arm - foot))
        along = unit(a.line(p["first"]))
        return [(POSITION, ca.dot(n, centre + arm - foot)),
                *[(VELOCITY, ca.dot(tangent, slip)) for tangent in (along, cross(n, along))]]  # fmt: skip


def _axes(handle: Handle) -> SX:
    """(3, 3): what the body makes of unit vectors of its frame."""
    return ca.horzcat(*[handle.line(SX(ca.DM(e))) for e in np.eye(3)])


def _inside(handle: Handle, vector: SX) -> SX:
    """A vector of the world in the frame of a body."""
    axes = _axes(handle)
    return rotation.inverse_transpose(axes).T @ vector if handle.stretches else axes.T @ vector


def _velocity(handle: Handle, origin: SX, beside: SX) -> SX:
    """Of the material beside a point of a body, in its frame."""
    rate = handle.point_rate(origin)
    for k, e in enumerate(np.eye(3)):
        rate += beside[k] * (handle.point_rate(origin + ca.DM(e)) - handle.point_rate(origin))
    return rate
