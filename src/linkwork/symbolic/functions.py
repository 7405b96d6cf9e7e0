"""Users' functions: what stands in their expressions, and their place on the tape of a constraint or force.

`dot`, `cross`, `norm`, `where`, ... take and give CasADi expressions. How a function is traced: elements/traced.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import SX

from linkwork.elements.traced import Traced, vector
from linkwork.symbolic.bodies import View
from linkwork.symbolic.tape import Handle


def dot(a, b) -> SX:
    """The scalar product."""
    return ca.dot(vector(a), vector(b))


def cross(a, b) -> SX:
    """The vector product."""
    return ca.cross(vector(a), vector(b))


def norm(a) -> SX:
    """The length of a vector; its derivative at zero is zero (plain square roots give NaN there)."""
    square = ca.sumsqr(vector(a))
    positive = square > 0
    return ca.if_else(positive, ca.sqrt(ca.if_else(positive, square, 1)), 0)


def where(condition, a, b) -> SX:
    """a where the condition holds, else b."""
    return ca.if_else(condition, a, b)


def minimum(a, b) -> SX:
    return ca.fmin(a, b)


def maximum(a, b) -> SX:
    return ca.fmax(a, b)


sin, cos, tan, exp, log, sqrt, tanh, atan2 = ca.sin, ca.cos, ca.tan, ca.exp, ca.log, ca.sqrt, ca.tanh, ca.atan2


def on_tape(traced: Traced, handles: Sequence[Handle], others: Sequence[SX], parameters: SX) -> SX:
    """The rows of a user's function on the tape of these handles; `others`: its point or time."""
    values = [_answer(handles[number], what, local) for number, what, local in traced.requests]
    return traced.function(*values, *others, parameters)


def _answer(handle: Handle, what: str, local) -> SX:
    if what == "spin":
        return handle.spin()
    p = SX(ca.DM(local))
    view: View | None = handle.view
    if view is not None and "home" in view.kind.record:  # the body's own frame may differ from the user's
        turn = ca.reshape(view.field("turn"), 3, 3).T
        p = turn @ p + (view.field("home") if what.startswith("point") else 0)
    return getattr(handle, what)(p)
