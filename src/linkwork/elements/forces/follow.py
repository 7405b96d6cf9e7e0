"""Follow: springs that pull a body along a motion. The element and its law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.element_kind import user_points
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.force_kind import ForceKind, Term
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.trajectory import Trajectory
from linkwork.elements.core.units import POSITION, QUATERNION
from linkwork.elements.forces.coefficients import is_zero, wide
from linkwork.elements.forces.rotation_law import turn_tangent
from linkwork.symbolic import rotation

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.placement import Placement
    from linkwork.elements.core.units import Quantity
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Follow(ForceElement):
    """Springs and dampers that pull the point `at` of a body, and its orientation, along a motion.

    The motion is a Trajectory; without one it is live, at rest where the body is built until `sim.control[name]` is given a
    position, or (position, orientation). Orientations are taken the shorter way.

    >>> wave = Trajectory([0, 1, 2], [(0, 0, 1), (0.1, 0, 1), (0, 0, 1)])
    >>> Follow("hand", wave, stiffness=200.0, damping=10.0, at=(0, 0, 0.1), name="puppeteer")
    <Follow "puppeteer">
    """

    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}
    COEFFICIENTS: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "angular_stiffness", "angular_damping")

    body: BodyLike
    motion: Trajectory | None = None
    stiffness: float | Parameter = field(default=0.0, kw_only=True)  # N/m
    damping: float | Parameter = field(default=0.0, kw_only=True)  # N s/m
    angular_stiffness: float | Parameter = field(default=0.0, kw_only=True)  # N m/rad
    angular_damping: float | Parameter = field(default=0.0, kw_only=True)  # N m s
    at: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in the body's frame

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.motion is not None and not isinstance(self.motion, Trajectory):
            remedy = "give a Trajectory, or leave it out and set sim.control"
            checks.fail(self, f"motion is {checks.show(self.motion)}", remedy)
        for name in self.COEFFICIENTS:
            setattr(self, name, checks.non_negative(self, name, getattr(self, name), parameter=True))
        if all(is_zero(getattr(self, name)) for name in self.COEFFICIENTS):
            checks.fail(self, "it has neither stiffness nor damping", "give stiffness= or angular_stiffness=")
        if self.turns and self.motion is not None and self.motion.orientations is None:
            checks.fail(self, f"{self.motion!r} has no orientations", "give some, or leave the angular coefficients out")
        self.at = checks.vector(self, "at", self.at)

    def include_at(self, move: Move) -> str | None:
        vars(self)["motion"] = None if self.motion is None else move.motion(self.motion)
        return None

    @property
    def turns(self) -> bool:
        """Whether it takes hold of the body's orientation."""
        return not (is_zero(self.angular_stiffness) and is_zero(self.angular_damping))


@kind_of(Follow)
class FollowKind(ForceKind):
    """Springs to a target (position, orientation, velocity, angular velocity) given for the time `when`: at other times it
    has moved on evenly. The orientation is that of the user's frame."""

    target = {"when": 1, "position": 3, "orientation": 4, "velocity": 3, "spin": 3}

    def __init__(self, element: Any) -> None:
        self.turns = element.turns
        self.velocity_dependent = not (is_zero(element.damping) and is_zero(element.angular_damping))
        self.needs_directions = (False, self.turns)
        self.key = f"Follow-{self.turns}-{self.velocity_dependent}"
        self.fields = {"on_b": 3, "turn_b": 4, **dict.fromkeys(element.COEFFICIENTS, 1), **self.target}

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.body

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        on_b = user_points(elements, B, "at")
        found = {name: wide(elements, name, 1) for name in elements[0].COEFFICIENTS}
        found |= {"on_b": on_b, "position": B.world_point(on_b)}
        if self.turns:
            found |= {"turn_b": B.user_turn(), "orientation": B.user_orientation()}
        return found

    def trajectory(self, element: Any) -> Any:
        return element.motion

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        """Of one without a motion: where it pulls the body."""
        if element.motion is not None:
            return {}
        return {"position": POSITION, "orientation": QUATERNION} if self.turns else {"position": POSITION}

    def _off(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[SX, SX]:
        """(3,): the point from where it should be; (4,): the turn of the body from its target, in the world."""
        b, late = handles[1], t - p["when"]
        off = b.point(p["on_b"]) - (p["position"] + late * p["velocity"])
        if not self.turns:
            return off, SX(4, 1)
        wanted = rotation.turned(p["orientation"], late * p["spin"])
        turn = rotation.product(rotation.product(b.quaternion(), p["turn_b"]), rotation.conjugate(wanted))
        return off, rotation.shorter(turn)

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        b, (off, turn) = handles[1], self._off(handles, p, t)
        force, energy = -p["stiffness"] * off, 0.5 * p["stiffness"] * ca.sumsqr(off)
        if self.velocity_dependent:
            force -= p["damping"] * (b.point_rate(p["on_b"]) - p["velocity"])
        if not self.turns:
            return [(1, "force", p["on_b"], force)], energy
        phi, _ = rotation.vector(turn)
        torque = -p["angular_stiffness"] * phi
        if self.velocity_dependent:
            torque -= p["angular_damping"] * (b.spin() - p["spin"])
        energy += 0.5 * p["angular_stiffness"] * ca.sumsqr(phi)
        return [(1, "force", p["on_b"], force), (1, "torque", None, torque)], energy

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        one, (_, turn) = SX.eye(3), self._off(handles, p, t)
        found = [Term([(1, "point", p["on_b"], one)], p["stiffness"] * one, p["damping"] * one)]
        if self.turns:
            stiffness, damping = p["angular_stiffness"] * turn_tangent(turn), p["angular_damping"] * one
            found.append(Term([(1, "spin", None, one)], stiffness, damping))
        return found
