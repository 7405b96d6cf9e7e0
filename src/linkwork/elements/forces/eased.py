"""A spring and a damper that act on one side alone: the damper is eased, so that the force begins without a jump."""

from __future__ import annotations

import casadi as ca
from casadi import SX


def eased(push: SX, drag: SX) -> SX:
    """What a spring and a damper push together, the damper by no more than the spring: no jump where they begin, no pull
    where they end."""
    most = ca.fabs(push)
    return push + ca.fmin(ca.fmax(drag, -most), most)


def eased_shares(push: SX, drag: SX) -> tuple[SX, SX]:
    """How many stiffnesses and dampings answer to a small motion: one each; (2, 0) or (0, 0) where the damper is held back."""
    there, held = push != 0, ca.fabs(drag) >= ca.fabs(push)  # numbers, 0 or 1: CasADi copies if_else into every product
    return there * (1 + held * (2 * (push * drag > 0) - 1)), there * (1 - held)
