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

from linkwork.codegen.jit import check_interrupt, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.engines.scalars import KICK, SOFTNESS

ROUNDS = 20  # Newton iterations at most; about three are enough
CLOSED = 1e-15  # residual, relative to the size of the mechanism, that is left to rounding
ROUNDED = (
    1e-12  # relative residual (to that size, or to the distance from the origin) above which rounding does not stop rounds
)
SOFTEST = 1e-2  # the largest softness, relative to diag(J W J^T)
SLOW = 0.1  # a round that leaves more than this part of the residual was too soft, or the place is singular
HARDER = 0.1  # factor on the softness after such a round
SINGULAR = 5  # slow rounds after which the place is taken for singular
SIZE, SOFT_AT = range(2)  # RegularisedProjection.limits


class RegularisedProjection(Struct):
    """The sweeps of one model, and the scales by which residuals are judged."""

    kernels: np.ndarray  # addresses of the kernels of these sweeps
    check: np.ndarray
    kick: np.ndarray
    up_position: np.ndarray
    correct_position: np.ndarray
    up_velocity: np.ndarray
    apply_impulses: np.ndarray
    rows: np.ndarray  # int64: entries of the residuals of positions
    limits: np.ndarray  # (2,) m: the size of the mechanism; the softness of regular rows


@jit_inner
def project_regularised(work, s):
    """Bring positions, then velocities back onto the constraints; returns whether the place is regular."""
    regular = project_positions(work, s)
    factor(work, s)
    sweep(work, s.kernels, s.apply_impulses)
    return regular


@jit_inner
def factor(work, s):
    """Factor for velocities, without forces."""
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
    return worst / s.limits[SIZE]


@jit_inner
def project_positions(work, s):
    """Bring positions back onto the constraints; returns whether the place is regular."""
    before, part, slow = np.inf, 1.0, 0
    work[KICK] = 0.0
    for _ in range(ROUNDS):
        check_interrupt(work.shape[0])
        worst = violation(work, s)
        if worst > SLOW * before:
            if worst <= ROUNDED:
                break
            slow, part = slow + 1, HARDER * part
        if not worst > CLOSED or slow == SINGULAR:
            break
        before = worst
        work[SOFTNESS] = s.limits[SOFT_AT] + part * min(worst, SOFTEST)
        sweep(work, s.kernels, s.kick)
        sweep(work, s.kernels, s.up_position)
        sweep(work, s.kernels, s.correct_position)
    work[SOFTNESS] = s.limits[SOFT_AT]
    return slow < SINGULAR
