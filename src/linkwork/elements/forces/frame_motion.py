"""The motion of a frame along and about its own axes, or those of another frame, as a transmission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.force_kind import Coordinate
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.functions import cross
from linkwork.elements.core.placement import matrices
from linkwork.elements.core.transmission import Transmission, moving_bodies, places_of
from linkwork.symbolic import rotation

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


class FrameMotion(Transmission):
    """With the gear (6): a force along its first three numbers and a torque about the others, in the axes of the motor's
    frame. x' is the power of a unit effort, and x is zero. With a `reference` both are in the axes of that frame, on whose body
    their opposites act at the same place; x is the gear's part of where the frame is from there, and of its rotation vector."""

    def __init__(self, motor: Any) -> None:
        self.ends = [motor.joint, *filter(None, [motor.reference])]
        self.bodies = moving_bodies([frame.body for frame in self.ends])
        self.places = places_of([frame.body for frame in self.ends], self.bodies)
        self.key = f"frame {self.places}"
        self.fields = {"gears": 6, "at": 3 * len(self.ends), "axes": 9 * len(self.ends)}
        self.freedom = Freedom.LENGTH if np.any(_numbers(motor.gear)[:3]) else Freedom.TURN
        self.needs_directions = tuple(body is not None for body in self.bodies)
        self.relative = len(self.ends) > 1

    def parameters(self, items: Sequence[Any], frames: Sequence[Placement]) -> dict[str, AnyArray]:
        at: list[FloatArray] = []
        axes: list[FloatArray] = []
        for k, place in enumerate(self.places):
            F = frames[0].ground() if place is None else frames[place]
            ends = [item.joint if k == 0 else item.reference for item in items]
            turned = matrices(np.array([end.orientation for end in ends]))
            at.append(F.user_point(np.array([end.position for end in ends])))
            for j in range(3):
                axes.append(F.user_axis(turned[:, :, j]))
        gears = np.array([list(item.gear) for item in items], dtype=object)
        return {"gears": gears, "at": np.hstack(at), "axes": np.hstack(axes)}

    def coordinate(self, handles: Sequence[Handle], p: Params, counted: Sequence[SX]) -> Coordinate:
        ways = [handles[0].ground() if place is None else handles[place] for place in self.places]
        at = [p["at"][3 * k : 3 * k + 3] for k in range(len(ways))]
        R = [ca.horzcat(*[way.axis(p["axes"][9 * k + 3 * j : 9 * k + 3 * j + 3]) for j in range(3)])
             for k, way in enumerate(ways)]  # fmt: skip
        along, about = R[-1] @ p["gears"][0:3], R[-1] @ p["gears"][3:6]
        value, motion = SX(1, 1), [(self.places[0], "point", at[0], along.T), (self.places[0], "spin", None, about.T)]
        if len(ways) > 1:
            apart = ways[0].point(at[0]) - ways[1].point(at[1])
            turn, _ = rotation.vector(rotation.quaternion(R[1].T @ R[0]))
            value = ca.dot(along, apart) + ca.dot(p["gears"][3:6], turn)
            opposite = -(cross(apart, along) + about)
            motion += [(self.places[1], "point", at[1], -along.T), (self.places[1], "spin", None, opposite.T)]
        return Coordinate(value, [(place, what, where, weight) for place, what, where, weight in motion if place is not None])


def _numbers(values: Any) -> FloatArray:
    return np.array([float(value) for value in values])
