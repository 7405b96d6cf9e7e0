"""The law of motors, whatever they act along.

With the command u (or the activation that a filter makes of it), x and x' of the transmission times the gear, the effort is

    torque    u                     velocity  kd (u - x')
    position  kp (u - x) - kd x'    damper    -kd u x'
    general   u (g0 + g1 x + g2 x') + b0 + b1 x + b2 x'

held within the limits; the transmission takes gear times that. A filter has a' = (u - a) / filter: with a command that stands
still a is known at any time, so that all stages of a step take it exactly, and steps of any length lead to the same activation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.element_kind import column
from linkwork.elements.core.force_kind import AlongJoint, Coordinate, ForceKind
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.units import Quantity
from linkwork.elements.forces.coefficients import size

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load, Term
    from linkwork.elements.core.freedom import Freedom
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


class MotorLaw(ForceKind):
    """An effort by command along a coordinate."""

    drives = True

    def take_manner(self, element: Any, moved: str) -> None:
        """What does not depend on what it moves: flags, the key, the fields of memory and of the state."""
        self.kind, self.limited = element.kind, element.limit is not None
        self.bounds = size(element.limit) if self.limited else 0
        self.geared, self.ranged = isinstance(element.gear, Parameter) or _is_gear(element.gear), element.range is not None
        self.filtered = element.filter is not None
        self.key = f"Motor:{moved}-{self.kind}-{self.limited}-{self.geared}-{self.ranged}"
        self.key += f"-{self.bounds}" * (self.bounds > 1) + "-filtered" * self.filtered
        self.velocity_dependent = self.yields = self.kind != "torque"
        gains = {"gain": 3, "bias": 3} if self.kind == "general" else {"kp": 1, "kd": 1}
        self.fields = {**gains, "limit": max(1, self.bounds), "command": 1}
        self.fields |= ({"gear": 1} if self.geared else {}) | ({"range": 2} if self.ranged else {})
        self.fields |= {"filter": 1} if self.filtered else {}
        self.state_fields = {"activation": 1, "since": 1} if self.filtered else {}
        self.clocks = ("since",) if self.filtered else ()

    def gains(self, elements: Sequence[Any]) -> dict[str, AnyArray | FloatArray]:
        """The fields that `take_manner` declares."""
        count, names = len(elements), ("gain", "bias") if self.kind == "general" else ("kp", "kd")
        limits = [[0.0] if e.limit is None else np.ravel(np.array(e.limit, dtype=object)).tolist() for e in elements]
        found = {"limit": np.array(limits, dtype=object), "command": np.zeros((count, 1))}
        for name in names:
            found[name] = column(elements, name) if name in ("kp", "kd") else np.array(
                [list(getattr(e, name)) for e in elements], dtype=object)  # fmt: skip
        if self.geared:
            found["gear"] = column(elements, "gear")
        if self.ranged:
            found["range"] = np.array([list(e.range) for e in elements], dtype=object)
        if self.filtered:
            found |= {"filter": column(elements, "filter"), "activation": np.zeros((count, 1)), "since": np.zeros((count, 1))}
        return found

    def told(self, freedom: Freedom | None) -> Mapping[str, tuple[Quantity, ...]]:
        """The command, where the units of the coordinate are known."""
        if self.kind in ("damper", "general"):
            return {"command": (Quantity("command", ""),)}
        if freedom is None:
            return {"command": (Quantity("generalised force" if self.kind == "torque" else self.kind, ""),)}
        if self.kind == "torque":
            return {"command": (Quantity("torque" if freedom.effort == "N m" else "force", freedom.effort),)}
        return {"command": (Quantity(self.kind, freedom.unit if self.kind == "position" else freedom.rate),)}

    def _wanted(self, p: Params) -> SX:
        """The command, within its range."""
        command = p["command"]
        return ca.fmin(ca.fmax(command, p["range"][0]), p["range"][1]) if self.ranged else command

    def _activation(self, p: Params, t: SX) -> SX:
        wanted = self._wanted(p)
        if not self.filtered:
            return wanted
        return wanted + (p["activation"] - wanted) * ca.exp(-(t - p["since"]) / p["filter"])

    def updated_state(self, handles: Sequence[Handle], p: Params) -> dict[str, SX]:
        t = handles[0].time
        return {"activation": self._activation(p, t), "since": t} if self.filtered else {}

    def _gear(self, p: Params) -> SX:
        return p["gear"] if self.geared else SX(1)

    def _effort(self, handles: Sequence[Handle], p: Params, x: Coordinate | AlongJoint, t: SX) -> SX:
        """Of the motor, before it is limited."""
        u, gear = self._activation(p, t), self._gear(p)
        if self.kind == "torque":
            return u
        rate = gear * x.rate(handles)
        if self.kind == "velocity":
            return p["kd"] * (u - rate)
        if self.kind == "damper":
            return -p["kd"] * u * rate
        value = gear * x.value
        if self.kind == "general":
            gain, bias = p["gain"], p["bias"]
            return u * (gain[0] + gain[1] * value + gain[2] * rate) + bias[0] + bias[1] * value + bias[2] * rate
        return p["kp"] * (u - value) - p["kd"] * rate

    def _bounds(self, p: Params) -> tuple[SX, SX]:
        return (p["limit"][0], p["limit"][1]) if self.bounds > 1 else (-p["limit"], p["limit"])

    def geared_effort(self, handles: Sequence[Handle], p: Params, x: Coordinate | AlongJoint, t: SX) -> SX:
        """Along the coordinate."""
        effort = self._effort(handles, p, x, t)
        if self.limited:
            lower, upper = self._bounds(p)
            effort = ca.fmin(ca.fmax(effort, lower), upper)
        return self._gear(p) * effort

    def effort(self, handles: Sequence[Handle], p: Params) -> SX:
        return self.geared_effort(handles, p, self.coordinate(handles, p), handles[0].time)

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        x = self.coordinate(handles, p)
        return x.loads(self.geared_effort(handles, p, x, t)), SX(0)

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        """Of a damper, and of a general motor, as far as they resist."""
        if self.kind == "torque":
            return []
        x, u = self.coordinate(handles, p), self._activation(p, t)
        free = SX(1)
        if self.limited:
            effort, (lower, upper) = self._effort(handles, p, x, t), self._bounds(p)
            free = ca.fabs(effort) < p["limit"] if self.bounds == 1 else ca.logic_and(effort > lower, effort < upper)
        square = self._gear(p) ** 2
        stiffness, damping = self._slopes(p, u)
        if self.kind in ("velocity", "damper"):
            return [x.term(SX(1, 1), ca.if_else(free, square * damping, 0))]
        return [x.term(ca.if_else(free, square * stiffness, 0), ca.if_else(free, square * damping, 0))]

    def _slopes(self, p: Params, u: SX) -> tuple[SX, SX]:
        """By which the effort falls with x and with x', as far as it does."""
        if self.kind == "general":
            falls = [-(p["bias"][k] + p["gain"][k] * u) for k in (1, 2)]
            return ca.fmax(0, falls[0]), ca.fmax(0, falls[1])
        if self.kind == "damper":
            return SX(0), ca.fmax(0, p["kd"] * u)
        return p["kp"], p["kd"]


def _is_gear(gear: Any) -> bool:
    """Whether it is a number other than 1: of frames it belongs to what the motor acts along."""
    return size(gear) == 1 and float(gear) != 1.0
