"""The contact problem as arrays: what goes in, what all solvers work on, and how far a result is from the law.

Every contact has a relative velocity c = J u - target (rows normal, tangent 1, tangent 2; m/s) and an impulse f (N s). The law:

    0 <= f_n, c_n >= 0, f_n c_n = 0;  |f_t| <= mu f_n;  f_t = -mu f_n c_t / |c_t| where c_t is not zero,

Coulomb's cone as it is, without a pyramid and without the normal velocity that convex relaxations add to slip. Where mu < 0 the
row is dry friction of a joint: |f_n| <= -mu (N s), f_n = mu c_n / |c_n| where c_n is not zero, and no tangents. A row that
yields has a compliance E: the law has c_n + E f_n in the place of c_n. A companion follows a contact of the same bodies that
stands before it: it has tangents alone, and f_n of that contact in the law of these.

A group of slots answers impulses P by velocities R P; solvers work in coordinates of unit mass (`contact/unit_mass.py`).
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inline
from linkwork.codegen.struct import Struct
from linkwork.collision.vectors import long

CONVERGED = 0  # the residual is within the tolerance
UNCONVERGED = 1  # the bound on iterations came first
INCONSISTENT = 2  # no impulses meet the law, or the method sees none: bodies squeezed between fixed ones, Painleve's paradox
TOO_SMALL = 3  # the workspace has no room for this problem; nothing was done


class Problem(Struct):
    """Contacts between slots. Arrays have the lengths that are in use (leading parts of larger ones), contiguous."""

    u: (
        np.ndarray
    )  # (s, 6) velocity of each slot without contact (linear, angular; m/s, rad/s), float64; with contact afterwards
    first: np.ndarray  # (g,) the first slot of each group, int32
    size: np.ndarray  # (g,) number of slots of each group, int32; groups follow each other: first[g + 1] = first[g] + size[g]
    at: np.ndarray  # (g,) where the group's response begins in R, int64
    R: (
        np.ndarray
    )  # responses, (6 size) x (6 size) each, row-major, symmetric, positive semidefinite (1/kg, 1/(kg m), 1/(kg m^2))
    slot_a: np.ndarray  # (m,) int32; -1: the ground
    slot_b: np.ndarray  # (m,) int32; -1: the ground
    Ja: np.ndarray  # (m, 3, 6) rows normal, tangent 1, tangent 2; relative velocity Ja u_a + Jb u_b
    Jb: np.ndarray  # (m, 3, 6)
    mu: np.ndarray  # (m,) coefficient of friction, finite; negative: the largest impulse of dry friction (N s)
    target: np.ndarray  # (m, 3) relative velocity to reach (m/s)
    impulse: np.ndarray  # (m, 3) a guess on the way in, the result on the way out (N s)
    compliance: np.ndarray  # (m,) E: c_n + E f_n in the place of c_n (1/kg); 0: hard
    follows: np.ndarray  # (m,) int64: of a companion the contact whose normal bounds its tangents; -1: none


class Workspace(Struct):
    """Scratch of a solver, made once by `workspace`, for any problem that fits in it. `residual` may be read afterwards."""

    group: np.ndarray  # (s,) group of each slot
    given: np.ndarray  # (g,) rank of groups whose R is L already, 6 size x rank in rows of 6 size; -1: R itself
    rank: np.ndarray  # (g,) freedoms of each group
    reach: np.ndarray  # (s,) how many of its group's freedoms, from the first, move a slot
    active: np.ndarray  # (m,) contacts that press or approach, as of the last look at residuals
    there: np.ndarray  # (m,) whether G, D and scale of a contact are there: all others have no impulse
    known: (
        np.ndarray
    )  # (1,) whether those of the last problem are those of the next one: nothing but u, target and impulse changes
    end: np.ndarray  # (1,) of all G
    unanswered: np.ndarray  # (1,) one more than the first contact that approaches while its normal answers nothing; 0: none
    now: np.ndarray  # (s, 6) velocities with the impulses of the last look
    y_at: np.ndarray  # (g + 1,) where the group's freedoms begin in y
    L: np.ndarray  # L of each group that is not given, (6 size) x rank, at the place of its R
    left: np.ndarray  # (6 s,) diagonal that the split has still to explain
    y: np.ndarray  # (6 s,) coordinates of unit mass (sqrt(kg) m/s)
    G: np.ndarray  # J L of each contact, 3 x width_a and then 3 x width_b, row-major
    side: np.ndarray  # (m, 5) where its G begins; first coordinate in y that side a moves, how many (0: ground); the same for b
    c0: np.ndarray  # (m, 3) J u - target without impulses (m/s)
    D: np.ndarray  # (m, 3, 3) diagonal blocks of W (1/kg)
    scale: (
        np.ndarray
    )  # (m,) inverse mass that turns impulses into velocities: a third of the trace of D, or its normal entry (1/kg)
    residual: np.ndarray  # (m,) distance from the law (m/s)


def workspace(slots: int, groups: int, contacts: int, responses: int, widest: int = 1) -> Workspace:
    """Scratch for problems up to this size: `responses` the length of R, `widest` the number of slots of the largest group.

    >>> workspace(slots=3, groups=2, contacts=8, responses=36 + 144, widest=2).D.shape
    (8, 3, 3)
    """
    index = {
        "group": slots, "given": groups, "rank": groups, "reach": slots, "active": contacts,
        "there": contacts, "known": 1, "end": 1, "unanswered": 1, "y_at": groups + 1, "side": (contacts, 5),
    }  # fmt: skip
    real = {
        "now": (slots, 6), "L": responses, "left": 6 * slots, "y": 6 * slots, "G": contacts * 36 * widest,
        "c0": (contacts, 3), "D": (contacts, 3, 3), "scale": contacts, "residual": contacts,
    }  # fmt: skip
    arrays = {name: np.full(n, -1 if name == "given" else 0, dtype=np.int64) for name, n in index.items()}
    return Workspace(**arrays, **{name: np.zeros(n) for name, n in real.items()})


@jit_inline
def clear(numbers, start, end):
    """Zeros from start to end. A loop, as numba takes a second to compile each assignment to a slice."""
    for i in range(start, end):
        numbers[i] = 0.0


@jit
def law_residual(f0, f1, f2, c0, c1, c2, mu, scale):
    """How far one contact is from the law, in m/s: impulses count by the velocities that they make.

    The natural map of the law: f_n - max(0, f_n - c_n), and f_t less the point next to f_t - c_t of the disc of radius
    mu max(0, f_n - c_n), with f times `scale` (1/kg). It vanishes where the law holds, and nowhere else.

    >>> round(law_residual(2.0, 0.5, 0.0, 0.0, 0.1, 0.0, 0.8, 1.0), 12)  # held by friction that is not used up, yet slips
    0.1
    >>> law_residual(0.0, 0.0, 0.0, 0.3, 5.0, 0.0, 0.8, 1.0)              # apart
    0.0
    """
    n, t1, t2 = scale * f0, scale * f1, scale * f2
    if mu < 0.0:
        return abs(n - min(max(n - c0, scale * mu), -scale * mu))
    kept = max(0.0, n - c0)
    w1, w2 = t1 - c1, t2 - c2
    length, radius = long(w1, w2), mu * kept
    shrink = radius / length if length > radius else 1.0
    return max(abs(n - kept), long(t1 - shrink * w1, t2 - shrink * w2))


@jit
def law_residual_of_companion(f1, f2, c1, c2, radius, scale):
    """The same of a companion; radius: the largest impulse that it may have, times `scale`.

    >>> law_residual_of_companion(0.0, 0.0, 0.3, 0.0, 0.0, 1.0)  # nothing presses
    0.0
    >>> law_residual_of_companion(0.0, 0.0, 0.3, 0.0, 0.1, 1.0)  # it turns against nothing
    0.1
    """
    t1, t2 = scale * f1, scale * f2
    w1, w2 = t1 - c1, t2 - c2
    length = long(w1, w2)
    shrink = radius / length if length > radius else 1.0
    return long(t1 - shrink * w1, t2 - shrink * w2)


@jit_inline
def approach(rows, k, u):
    """The normal velocity of a contact, of a `Problem` or of `Rows`."""
    a, b, c = rows.slot_a[k], rows.slot_b[k], 0.0
    for i in range(6):
        if a >= 0:
            c += rows.Ja[k, 0, i] * u[a, i]
        if b >= 0:
            c += rows.Jb[k, 0, i] * u[b, i]
    return c
