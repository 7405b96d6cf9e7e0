"""Motions and forces (6,), linear part first, and inertias moved along an arm r, in the world's axes."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
from casadi import SX

from linkwork.symbolic import blocks
from linkwork.symbolic.blocks import cross, lower, skew


def at(q: SX, function: Callable[[SX], SX]) -> SX:
    """The function at q, which may be an expression: derivatives are taken by symbols."""
    if q.is_valid_input():
        return function(q)
    symbol = SX.sym("q", q.shape[0])
    return ca.substitute(function(symbol), symbol, q)


def lifted(F, r) -> SX:
    """X^T F for each column."""
    return ca.vertcat(F[0:3, :], F[3:6, :] + skew(r) @ F[0:3, :])


def matrix33(column) -> SX:
    return blocks.rows(column, 3, 3)


def blocks_of_identity() -> SX:
    """The identity matrix as entries, row by row."""
    return ca.reshape(SX.eye(3), 9, 1)


def carried(a, r) -> SX:
    """X a: the acceleration (6,) of a point r away that moves with the frame, but for its velocity products."""
    return ca.vertcat(a[0:3] + cross(a[3:6], r), a[3:6])


def brought(f, r) -> SX:
    """X^T f: a force (6,) at a point r away, about the origin."""
    return ca.vertcat(f[0:3], f[3:6] + cross(r, f[0:3]))


def spatial(m, h, I) -> SX:
    """The inertia (6, 6) from mass, first and second moment."""
    return ca.blockcat([[m * SX.eye(3), -skew(h)], [skew(h), I]])


def shifted(I, r) -> SX:
    """The lower triangle of X^T I X."""
    E, A = skew(r), I[0:3, 0:3]
    side = I[0:3, 3:6] - A @ E
    return lower(ca.blockcat([[A, side], [side.T, E @ side + I[3:6, 3:6] - I[3:6, 0:3] @ E]]))


def solved(L, reciprocal, right) -> SX:
    return blocks.backward(L, reciprocal * blocks.forward(L, right))
