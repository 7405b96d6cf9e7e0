"""Motion: a joint's coordinate or a point of a body moves as a function of time, or a whole body by command. The element and
the rows of each of these."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.elements.constraints.on_joint import OnJointKind
from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind, position_rows
from linkwork.elements.core.element import Body, ConstraintElement, check_ends
from linkwork.elements.core.field_types import OptionalVectorField, default
from linkwork.elements.core.functions import on_tape
from linkwork.elements.core.joint import Joint, has_coordinate
from linkwork.elements.core.registry import check_complete, kind_for, kind_of
from linkwork.elements.core.trajectory import product
from linkwork.elements.core.units import POSITION as PLACE
from linkwork.elements.core.units import QUATERNION
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.placement import Placement
    from linkwork.elements.core.units import Quantity
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


OF_A_JOINT, OF_A_POINT, LIVE = "of a joint", "of a point", "live"
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
FEWEST_STEPS = 4  # in which a live Motion goes where it is told to be


@dataclass(eq=False, repr=False)
class Motion(ConstraintElement):
    """Prescribes a motion in time.

    Of a joint: t -> its angle or travel. Of a body: t -> the three world coordinates of its point `at` (in its own
    frame; its `position` if not given).

    Without a function it is live: a rigid body is where and how it was built until `sim.control[name]` is given a position, or
    (position, orientation). It goes there in `within` seconds, but no less than four steps, from the velocity that it has to
    rest (a cubic in time; orientations the shorter way), whatever pushes it. In first-order motion, which knows no velocity at
    the beginning, it slows down all the way.

    >>> Motion("hand", lambda t: (0.1 * t, 0, 1), at=(0, 0, 0.2), name="path")
    <Motion "path">
    >>> Motion("gripper", within=0.1, name="hand of the user").live
    True
    """

    REFERENCES: ClassVar[dict[str, str]] = {"target": "body or joint"}
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"function": ("t",)}

    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"within": ("s",)}

    target: Body | Joint | str
    function: Callable[..., Any] | None = None
    at: OptionalVectorField = field(default=default(None), kw_only=True)  # (3,), m, in the body's frame
    within: float = field(default=0.02, kw_only=True)  # s, of a live one

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.live:
            self.function = checks.function(self, "function", self.function, ("t",))
        self.at = checks.optional(checks.vector, self, "at", self.at)
        self.within = checks.non_negative(self, "within", self.within)

    @property
    def live(self) -> bool:
        """Whether commands move it."""
        return self.function is None

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        check_ends(self, resolved)
        if self.live:
            if isinstance(resolved[0], Joint) or not kind_for(resolved[0]).posed:
                checks.fail(self, f"{checks.label(resolved[0])} takes no commands as a whole", "give a function of t")
            if self.at is not None:
                checks.fail(self, f"at is {checks.show(self.at)} but the whole body is commanded", "leave at= out")
        if isinstance(resolved[0], Joint):
            has_coordinate(self, resolved[0])
            if self.at is not None:
                checks.fail(self, f"at is {checks.show(self.at)} but the target is a joint", "leave at= out")

    def include_at(self, move: Move) -> str | None:
        return "its function gives places in the world" if self.variant() == OF_A_POINT else None

    def variant(self) -> Hashable:
        if self.live:
            return LIVE
        return OF_A_JOINT if isinstance(self.target, Joint) else OF_A_POINT


@kind_of(Motion, OF_A_JOINT)
class JointMotionKind(OnJointKind):
    function, level, leads = "function", POSITION, True

    @staticmethod
    def moved(element: Any) -> Joint:
        found: Joint = element.target
        return found


@kind_of(Motion, OF_A_POINT)
class PointMotionKind(ConstraintKind):
    """A point of the body follows a function of time."""

    forced = leads = True
    levels = [POSITION] * 3

    def __init__(self, element: Any) -> None:
        self.traced = element.traced("function", 3)
        self.user_parameters = tuple(self.traced.parameters)
        self.key = f"Motion:{self.traced.digest}"
        self.fields = {"on_b": 3, "user": len(self.user_parameters)}

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.target

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        local = np.array([np.zeros(3) if e.at is None else e.at for e in elements], dtype=float)
        return {"on_b": B.user_point(local)}

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return position_rows(handles[1].point(p["on_b"]) - on_tape(self.traced, [], [t], p["user"]))


@kind_of(Motion, LIVE)
class LiveMotionKind(ConstraintKind):
    """A body goes to where it is told to be: with s = (t - begin) / over, from 0 to 1,

        x = from + over v (s - 2 s^2 + s^3) + (to - from) (3 s^2 - 2 s^3)

    so that x' is v at first and 0 at last, and its rotation vector from where it was likewise, with the spin w and the whole
    turn. Its frame stays aligned with that.
    """

    forced = commanded = leads = True
    slower = "give it a nearer place or more time (within=)"
    levels = [POSITION] * 6
    needs_directions = (False, True)
    rigid_only = (False, True)
    fields = {"on_b": 3, "axes_b": 9}
    state_fields = {
        "begin": 1,
        "over": 1,
        "x": 3,
        "v": 3,
        "w": 3,
        "q": 4,
        "turn": 3,
        "to": 7,
    }  # to: the command

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.target

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        k = len(elements)
        on_b = B.user_point(np.zeros((k, 3)))
        x, q, nothing = B.world_point(on_b), B.user_orientation(), np.zeros((k, 3))
        axes_b = [B.user_axis(np.tile(e, (k, 1))) for e in np.eye(3)]
        return {"on_b": on_b, "axes_b": np.hstack(axes_b), "begin": np.zeros((k, 1)), "over": np.ones((k, 1)), "x": x,
                "v": nothing, "w": nothing, "q": q, "turn": nothing, "to": np.hstack([x, q])}  # fmt: skip

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        b = handles[1]
        s = ca.if_else(t < p["begin"] + p["over"], (t - p["begin"]) / p["over"], 1.0)
        first, last = p["over"] * s * (1 - s) ** 2, s * s * (3 - 2 * s)
        x = p["x"] + first * p["v"] + last * (p["to"][0:3] - p["x"])
        wanted = rotation.matrix(rotation.product(rotation.smooth_exponential(first * p["w"] + last * p["turn"]), p["q"]))
        axes = [b.axis(p["axes_b"][3 * k : 3 * k + 3]) for k in range(3)]
        off = [ca.dot(wanted[:, (k + 1) % 3], axes[(k + 2) % 3]) for k in range(3)]
        return position_rows(b.point(p["on_b"]) - x, *off)

    def commands(self, element: Any) -> Mapping[str, tuple[Quantity, ...]]:
        return {"to": (*PLACE, *QUATERNION)}

    def sent(self, element: Any, pose: Any, goal: Any, time: Any, dt: Any, first_order: bool) -> Any:
        """Its way begins where its body is, as fast as that is, and ends at the goal. In first-order motion velocities are no
        state, and a step moves bodies as fast as they go at its beginning: there it begins with the velocity with which the
        cubic slows down all the way, 1 - (1 - s)^3."""
        q = pose.orientation[0]
        way = product(goal[None, 3:7], (q * CONJUGATE)[None])[0]
        way = way if way[0] >= 0.0 else -way
        sine = float(np.linalg.norm(way[1:]))
        turn = 2 * np.arctan2(sine, way[0]) / sine * way[1:] if sine > 0.0 else np.zeros(3)
        x, v, w, over = pose.position[0], pose.velocity[0], pose.angular_velocity[0], max(element.within, FEWEST_STEPS * dt)
        if first_order:
            v, w = 3 * (goal[:3] - x) / over, 3 * turn / over
        return {"begin": time, "over": over, "x": x, "v": v, "w": w, "q": q, "turn": turn}

    def stayed(self, pose: Any, time: Any) -> Any:
        x, q = pose.position[0], pose.orientation[0]
        return {"begin": time, "over": 1.0, "x": x, "v": 0.0, "w": 0.0, "q": q, "turn": 0.0, "to": np.r_[x, q]}


check_complete(Motion, (OF_A_JOINT, OF_A_POINT, LIVE))
