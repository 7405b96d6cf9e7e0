"""What a force kind offers: what a force does to its bodies, and its potential energy.

`law(handles, p, t)` gives the loads, a list of (body, kind, where, vector) with kind "force" (at the local point
`where`), "torque" or "generalised" (along the body's own coordinates), and the potential energy in joules. Laws are written
with *coordinates*: numbers x of two bodies, and the motion whose rate is x'. Forces e along x put the loads weight^T e on the
bodies, which is virtual work; the same motion carries the tangent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import casadi as ca
from casadi import SX

from linkwork.elements.core.element_kind import ElementKind
from linkwork.elements.core.element_kind import apart as apart_of
from linkwork.elements.core.functions import cross
from linkwork.elements.core.trajectory import Trajectory

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.symbolic.autodiff import Handle

Load: TypeAlias = tuple[int, str, SX | None, SX]  # body, what acts or moves, where (3,), and how much


@dataclass
class Term:
    """A part of a force's symmetric tangent: a relative motion of the bodies, and how the force answers to it.

    The motion's rate is the sum of weight @ (rate of the point `where`, spin, or rates of coordinates) over its parts; -df/dq
    adds B^T stiffness B, -df/dv adds B^T damping B, with B that rate's derivative by the bodies' velocities.
    """

    motion: Sequence[Load]  # body, "point", "spin" or "coordinates", where (3,), weight (k, 3 or n)
    stiffness: SX  # (k, k), symmetric, positive semidefinite
    damping: SX  # (k, k), the same


LOADS = {"point": "force", "spin": "torque", "coordinates": "generalised"}  # what moves -> the kind of load that moves it


def _rate(handle: Handle, what: str, where: SX | None) -> SX:
    if what == "coordinates":
        return handle.coordinate_rates()
    return handle.spin() if what == "spin" or where is None else handle.point_rate(where)


@dataclass
class Coordinate:
    """Numbers x (k,) of two bodies; `motion` as in Term: the sum of weight @ (rate of a point, or spin) is x'."""

    value: SX
    motion: Sequence[Load]

    def rate(self, handles: Sequence[Handle]) -> SX:
        rates = [weight @ _rate(handles[body], what, where) for body, what, where, weight in self.motion]
        return sum(rates[1:], rates[0])

    def loads(self, effort: SX) -> list[Load]:
        """What efforts (k,) along the coordinate put on the bodies."""
        return [(body, LOADS[what], where, weight.T @ effort) for body, what, where, weight in self.motion]

    def term(self, stiffness: SX, damping: SX) -> Term:
        return Term(self.motion, ca.diag(stiffness), ca.diag(damping))


@dataclass
class AlongJoint:
    """The coordinate of a joint that has one, where it is the joint that is known and not its bodies."""

    value: SX  # (1,)
    velocity: SX  # (1,)

    def rate(self, handles: Sequence[Handle]) -> SX:
        return self.velocity


def turning(value: SX, axes: list[SX]) -> Coordinate:
    """Angles of b relative to a about axes (3,) of the world."""
    weight = ca.horzcat(*axes).T
    return Coordinate(value, [(0, "spin", None, -weight), (1, "spin", None, weight)])


def travelling(handles: Sequence[Handle], p: Params, axes: list[SX]) -> Coordinate:
    """Travels of b's anchor from a's along axes (3,) that a carries: on a they act along a line through b's anchor."""
    apart, weight = apart_of(handles, p), ca.horzcat(*axes).T
    lever = ca.horzcat(*[cross(axis, apart) for axis in axes]).T
    return Coordinate(weight @ apart, [(1, "point", p["on_b"], weight), (0, "point", p["on_a"], -weight),
                                       (0, "spin", None, lever)])  # fmt: skip


class ForceKind(ElementKind):
    """The base of force kinds."""

    velocity_dependent = True
    turns_only = False  # a torque that depends on how its bodies are turned, and on nothing else of them
    relative = False  # depends on how its bodies stand and move relative to each other alone
    yields = True  # depends on where its bodies are, or how they move: it may be stiff
    drives = False  # moves something by command: `effort`
    axial = False  # acts along the coordinate of a joint that has one, and depends on that and its rate alone: `along`

    PROMISES: ClassVar = {"axial": ("along",), "drives": ("effort",)}
    target: Mapping[str, int] = {}  # of a kind that follows a Trajectory: the fields that hold where it is, time first

    @abstractmethod
    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        """The loads, and the potential energy (J)."""

    def along(self, x: AlongJoint, p: Params) -> SX:
        """Of a kind that is `axial`: the force along the coordinate of its joint, (1,)."""
        raise NotImplementedError

    def coordinate(self, handles: Sequence[Handle], p: Params) -> Coordinate:
        """Of tendons and motors: what they act along."""
        raise NotImplementedError

    def effort(self, handles: Sequence[Handle], p: Params) -> SX:
        """Of a kind that `drives`: what it puts along what it moves, (1,)."""
        raise NotImplementedError

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term] | None:
        """The symmetric tangent that implicit steps use, an empty list where it vanishes; None: the symmetric part of the
        exact one."""
        return None

    def always_on(self, element: Any) -> Sequence[Any]:
        """Of a force that acts only beyond a bound: elements as stiff that always act, which tell how fast it can be."""
        return ()

    def trajectory(self, element: Any) -> Trajectory | None:
        """The recorded motion that it follows, which is written to `target` in each step."""
        return None
