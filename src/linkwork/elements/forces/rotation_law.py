"""What torques along a rotation vector share: the turn of b relative to a, springs in it, and tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.force_kind import ForceKind, Term
from linkwork.elements.core.functions import cross
from linkwork.elements.forces.coefficients import is_zero, size, wide
from linkwork.symbolic import rotation

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


class RotationLawKind(ForceKind):
    """The base of laws on the turn of b relative to a since they were built, and to a rest."""

    needs_directions = (True, True)
    turns_only = relative = True
    turns = {"turn_a": 4, "turn_b": 4}

    def turn_parameters(self, rests: FloatArray, A: Placement, B: Placement) -> dict[str, FloatArray]:
        """rests: (k, 4). The frames whose orientations are the world's on a, and the world's on b at rest."""
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(rests), 1))
        shorter = np.where(rests[:, :1] < 0, -rests, rests)
        return {"turn_a": A.turn(still), "turn_b": B.turn(shorter * (1, -1, -1, -1))}

    @staticmethod
    def turn(handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """(4,): the turn of b relative to a, in the world; (4,): the orientation of the axes that a carries."""
        a, b = handles
        frame = rotation.product(a.quaternion(), p["turn_a"])
        turn = rotation.product(rotation.product(b.quaternion(), p["turn_b"]), rotation.conjugate(frame))
        return turn if a.counts_turns and b.counts_turns else rotation.shorter(turn), frame


class RotationSpringKind(RotationLawKind):
    """A torque along the rotation vector, T = -k phi u - c (w_b - w_a); with three stiffnesses down the gradient of
    sum k_i phi_i^2 / 2, phi_i along the axes that a carries."""

    def __init__(self, element: Any) -> None:
        self.count = 3 if size(element.stiffness) == 3 or size(element.damping) == 3 else 1
        self.velocity_dependent = not is_zero(element.damping)
        self.key = f"BallSpring-{self.count}-{self.velocity_dependent}"
        self.fields = {**self.turns, "stiffness": self.count, "damping": self.count}

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        rests = [(1.0, 0.0, 0.0, 0.0) if e.rest is None else e.rest for e in elements]
        springs = {name: wide(elements, name, self.count) for name in ("stiffness", "damping")}
        return {**self.turn_parameters(np.array(rests, dtype=float), A, B), **springs}

    def _in_world(self, frame: SX, coefficients: SX) -> SX:
        """(3, 3): coefficients along the axes that a carries."""
        if self.count == 1:
            return coefficients * SX.eye(3)
        axes = rotation.matrix(frame)
        return axes @ ca.diag(coefficients) @ axes.T

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        turn, frame = self.turn(handles, p)
        phi, u = rotation.vector(turn)
        pull = self._in_world(frame, p["stiffness"]) @ phi
        torque = -pull if self.count == 1 else -by_turn(turn, phi, u, pull)
        if self.velocity_dependent:
            torque -= self._in_world(frame, p["damping"]) @ (handles[1].spin() - handles[0].spin())
        return [(0, "torque", None, -torque), (1, "torque", None, torque)], 0.5 * ca.dot(phi, pull)

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term] | None:
        turn, frame = self.turn(handles, p)
        half = turn_tangent(turn, root=True)
        stiffness = half @ self._in_world(frame, p["stiffness"]) @ half
        if self.count == 1:
            stiffness = p["stiffness"] * turn_tangent(turn)
        damping = self._in_world(frame, p["damping"]) if self.velocity_dependent else SX(3, 3)
        return [Term([(0, "spin", None, -SX.eye(3)), (1, "spin", None, SX.eye(3))], stiffness, damping)]


def by_turn(turn: SX, phi: SX, u: SX, pull: SX) -> SX:
    """Jl^-T pull, where the rotation vector phi changes by Jl^-1 times a turn: the torque that pulls along phi."""
    g = rotation.slack(turn)
    return g * pull + (1 - g) * ca.dot(u, pull) * u + 0.5 * cross(phi, pull)


def turn_tangent(turn: SX, root: bool = False) -> SX:
    """S = sym(Jl^-1) = g 1 + (1 - g) u u^T, positive semidefinite: g is taken as zero beyond pi. Or its root."""
    g, (_, u) = ca.fmax(rotation.slack(turn), 0), rotation.vector(turn)
    g = ca.sqrt(g) if root else g
    return g * SX.eye(3) + (1 - g) * (u @ u.T)
