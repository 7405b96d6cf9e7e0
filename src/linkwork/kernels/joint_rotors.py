"""Rotors in the pivot of a body and a joint that is free about axes.

A row J_e of a rotor of inertia a (`Rotor`) adds a (J_e (S u + G r) - r_e)^2 / 2 to the quadratic form of the child, whatever
the parent does (joint_elimination.py has S, G, u, r):

    K = S^T D S + a s^T s    L^-1 (S^T f - a s^T d) in the place of L^-1 S^T f    s = J_e S    d = J_e G r - r_e
    rotor: y_e = a (s u + d)    other rows: what they are without it, less G^T J_e^T y_e

An angle about the axis depends on turns alone, so s and J_e G are products of three.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Trace
from linkwork.elements.core.joint_kind import ClosedAngle
from linkwork.kernels.node_kernels import right_side
from linkwork.kernels.vocabulary import RowMode
from linkwork.symbolic.autodiff import Rows

FIELDS = ("s", "g", "inertia")


def fields(rotors: int, axes: int) -> dict[str, int]:
    """What a joint's record has of them."""
    return {"s": rotors * axes, "g": rotors * (3 - axes), "inertia": rotors} if rotors else {}


@dataclass
class TurnedRotors:
    """Rotors of one joint."""

    s: SX  # (e, k): how far they turn with each freedom ...
    g: SX  # (e, 3 - k): ... and with what each turning row asks for
    inertia: SX  # (e,): kg m^2
    right: SX  # (e,): right-hand sides of their rows

    @classmethod
    def of(
        cls, trace: Trace, mode: RowMode, derived: Rows, child: int, angle: ClosedAngle | None, axes: SX, dual: SX
    ) -> TurnedRotors:
        """By the closed form of the joint's angle, where it has one."""
        numbers = list(derived.rotors)
        gradient = derived.jacobians[child][numbers, 3:6]
        if angle is not None:
            gradient = ca.repmat(angle.gradient.T, len(numbers), 1)
            derived.rate[numbers], derived.bias[numbers] = angle.rate, angle.bias
        inertia = ca.vertcat(*[rotor.inertia for rotor in derived.rotors.values()])
        return cls(gradient @ axes, gradient @ dual, inertia, right_side(trace, derived, mode)[numbers])

    def added(self) -> SX:
        """To K."""
        return self.s.T @ ca.diag(self.inertia) @ self.s

    def taken(self, turning: SX) -> SX:
        """From the force along the freedoms; turning (3 - k,): what the turning rows ask for."""
        return self.s.T @ (self.inertia * (self.g @ turning - self.right))

    def multipliers(self, u: SX, turning: SX) -> SX:
        return self.inertia * (self.s @ u + self.g @ turning - self.right)
