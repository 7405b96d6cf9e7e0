"""Back onto the constraints where rows depend on others, by the method of Levenberg and Marquardt.

Rows of Bennett's linkage depend on others on the constraints, and only there. At a distance d from them, after a step or in a
stage of a Runge-Kutta method, they are independent, with singular values of about d. Solved for as they are, they take away the
freedom that the linkage has. So positions and velocities are brought back before rows are solved for, and on the way the rows
are as soft as they are violated (W = M^-1, l the size of the mechanism):

    (J W J^T + |C| / l diag(J W J^T)) y = -C,   dq = W J^T y

A row that depends on others has an eigenvalue of about d^2, far below |C| / l, which is about d: it hardly acts, and moves the
mechanism along its freedom by d^2 at most. The others have a softness of order d, as little as Newton's method needs to
converge quadratically. Both rest on |C| being no less than about d (the error bound of Yamashita and Fukushima, 2001). In a
singular place it is of order d^2, as of a chain drawn straight between two nails, and no softness helps: every round leaves a
quarter or more, by which such a place is known.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import heed, jit, jit_inner, sweep
from linkwork.codegen.struct import Bundle
from linkwork.engines.engine import KICK, SOFTNESS
from linkwork.kernels.node import SOFT
from linkwork.model.model import Model
from linkwork.schedules.schedules import Programs
from linkwork.symbolic.autodiff import POSITION

ROUNDS = 20  # at most; three or so are enough
CLOSED = 1e-15  # of the size of the mechanism: what is left to rounding
ROUNDED = 1e-12  # of the same, or of the distance from the origin: what may be all that rounding lets reach
SOFTEST = 1e-2  # of what rows would give to unit multipliers
SLOW = 0.1  # of a residual: a round that leaves more has been too soft, or the place is singular
HARDER = 0.1  # the part of the softness in the next round then
SINGULAR = 5  # such rounds by which a singular place is known


class Settling(Bundle):
    """Sweeps of one model, and what they are measured by."""

    kernels: np.ndarray  # their table
    check: np.ndarray
    kick: np.ndarray
    up_position: np.ndarray
    nudge: np.ndarray
    up_velocity: np.ndarray
    strike: np.ndarray
    rows: np.ndarray  # int64: where the residuals of positions are
    length: np.ndarray  # (1,) m


@jit_inner
def settle(work, s):
    """Positions, then velocities; whether the place is regular."""
    regular = settle_positions(work, s)
    factor(work, s)
    sweep(work, s.kernels, s.strike)
    return regular


@jit_inner
def factor(work, s):
    """Factors for velocities, without forces."""
    work[KICK] = 0.0
    sweep(work, s.kernels, s.kick)
    sweep(work, s.kernels, s.up_velocity)


@jit_inner
def violation(work, s):
    """|C| / l of positions as they are."""
    sweep(work, s.kernels, s.check)
    worst = 0.0
    for i in s.rows:
        worst = max(worst, abs(work[i])) if abs(work[i]) < np.inf else np.inf
    return worst / s.length[0]


@jit
def violated(work, s):
    """The same, for callers in Python."""
    return violation(work, s)


@jit_inner
def settle_positions(work, s):
    """Positions back onto the constraints; whether the place is regular."""
    before, part, slow = np.inf, 1.0, 0
    work[KICK] = 0.0
    for _ in range(ROUNDS):
        heed(work.shape[0])
        worst = violation(work, s)
        if worst > SLOW * before:
            if worst <= ROUNDED:
                break
            slow, part = slow + 1, HARDER * part
        if not worst > CLOSED or slow == SINGULAR:
            break
        before = worst
        work[SOFTNESS] = SOFT + part * min(worst, SOFTEST)
        sweep(work, s.kernels, s.kick)
        sweep(work, s.kernels, s.up_position)
        sweep(work, s.kernels, s.nudge)
    work[SOFTNESS] = SOFT
    return slow < SINGULAR


def settling(programs: Programs) -> Settling:
    """Of a model in which rows depend on others."""
    p, m = programs, programs.model
    with p.at_once():
        sweeps = p.check(), p.body("kick"), p.up("project"), p.backward("nudge"), p.up("velocity"), p.backward("strike")
    return Settling(p.table, *sweeps, position_rows(m), np.array([size(m)]))


def position_rows(model: Model) -> np.ndarray:
    """Where `check` leaves the residuals of positions."""
    found = [int(model.report_at[k]) + i for k, node in enumerate(model.nodes)
             for i, level in enumerate(node.kind.levels) if level == POSITION]  # fmt: skip
    return np.array(found, dtype=np.int64)


def _places(model: Model, tree: int) -> np.ndarray:
    """(bodies, 3) m: of the bodies of a component, as built."""
    places = [getattr(body, "position", None) for b, body in enumerate(model.bodies.elements) if model.forest.tree[b] == tree]
    return np.array([np.resize(x, 3) for x in places if x is not None]).reshape(-1, 3)


def _components(model: Model) -> set[int]:
    """In which rows depend on others."""
    return {model.forest.tree[model.nodes[k].ends[-1]] for k in model.redundant}


def size(model: Model) -> float:
    """m: how far the bodies of a component in which rows depend on others are from their middle, as built; of the smallest such
    component. A metre where there is one body alone."""
    places = [_places(model, tree) for tree in _components(model)]
    found = [float(np.linalg.norm(x - x.mean(axis=0), axis=1).max()) for x in places if len(x) > 1]
    return min((x for x in found if x > 0), default=1.0)


def reach(model: Model) -> float:
    """m: how far from the origin such a component is, as built."""
    return max((float(np.abs(_places(model, tree)).max(initial=0.0)) for tree in _components(model)), default=0.0)
