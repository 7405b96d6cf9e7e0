"""The law of contact as a map, and Newton's view of it: what a proximal step solves, contact by contact.

Alart and Curnier's form of the law is f = F(f - rho c) for any rho > 0, with c the velocity of a contact,

    F(z):  z_n <= 0: 0 (open);   |z_t| <= mu F_n: z (stuck);   else F_t = mu F_n e, e = z_t / |z_t| (sliding),   F_n = z_n.

A proximal step holds the impulses on the right, its centre, and looks for velocities with f = F(centre - rho c). Compliance E
(c_n + E f_n in the place of c_n) makes F_n = z_n / (1 + rho E): rho and centre of the normal row are divided by 1 + rho E,
and nothing else changes. Dry friction of a joint (mu < 0) has one row, F = z clamped to +-mu. A companion has no normal: its
F_t is bounded by mu F_n of the contact that it follows.

A row that F holds where it is has no unknown; others have as many as their state says. Of a sliding contact these are the
normal and what is across e: along e friction follows the normal, and there Newton's matrix is not symmetric. Of a companion at
its bound it is what is across e alone; along e it follows the normal of its contact.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.collision.vectors import long

OPEN, HELD, SLIDING, STUCK, GIVING, RESTING = range(6)  # states; of companions at their bound and within it the last two
FLAT = 0.1  # part of the slope at the start of a search at which it ends; more exact ones save no step
LONGEST = 4.0  # Newton steps that a search goes at most
SECANTS = 20  # points that it looks at, at most


class Taken(Struct):
    """The contacts that take part in proximal steps, and where these are. Arrays go by the numbers of contacts."""

    taken: np.ndarray  # (m,) int64: which contacts these are, ascending
    state: np.ndarray  # (m,) int64: OPEN, HELD, SLIDING, STUCK; of companions OPEN, GIVING, RESTING
    centre: np.ndarray  # (m, 3) impulses that the step holds (N s), of compliant rows divided
    rho: np.ndarray  # (m, 2) of normal and tangents (kg)
    c: np.ndarray  # (m, 3) velocities (m/s)
    dc: np.ndarray  # (m, 3) their change along the Newton step
    answer: np.ndarray  # (m, 3) F (N s)
    off: np.ndarray  # (m, 3) by which velocities differ from those that F makes (m/s)
    slip: np.ndarray  # (m, 3) of what slides: e, and h = mu F_n / |z_t|, by which friction across e yields


def taken(contacts: int) -> Taken:
    whole = [np.zeros(contacts, dtype=np.int64) for _ in range(2)]
    vectors = [np.zeros((contacts, 3)) for _ in range(5)]
    return Taken(*whole, vectors[0], np.zeros((contacts, 2)), *vectors[1:], np.zeros((contacts, 3)))


@jit_inner
def hold(problem, scale, work, count, stiffness):
    """The centre of a proximal step at the impulses of the problem; stiffness: rho times a contact's inverse mass."""
    for i in range(count):
        k = work.taken[i]
        rho, centre, f = stiffness / scale[k], work.centre[k], problem.impulse[k]
        divided = 1.0 + rho * problem.compliance[k]
        work.rho[k, 0], work.rho[k, 1] = rho / divided, rho
        centre[0], centre[1], centre[2] = f[0] / divided, f[1], f[2]


@jit_inline
def unknowns(state):
    """How many unknowns a contact has: none, the normal, two, all three; a companion none, one or two."""
    return state if state <= STUCK else state - STUCK


@jit_inner
def answer_all(problem, work, count):
    """F and the states at the velocities c."""
    mu, follows = problem.mu, problem.follows
    for i in range(count):
        k = work.taken[i]
        centre, c, answer, slip = work.centre[k], work.c[k], work.answer[k], work.slip[k]
        z0, rho = centre[0] - work.rho[k, 0] * c[0], work.rho[k, 1]
        answer[1] = answer[2] = 0.0
        if mu[k] < 0.0:
            answer[0] = min(max(z0, mu[k]), -mu[k])
            work.state[k] = HELD if answer[0] == z0 else OPEN
            continue
        leads = follows[k] < 0
        if not leads:
            z0 = work.answer[follows[k], 0]
        if not z0 > 0.0:
            answer[0] = 0.0
            work.state[k] = OPEN
            continue
        answer[0] = z0 if leads else 0.0
        work.state[k] = HELD
        if mu[k] == 0.0:
            continue
        z1, z2 = centre[1] - rho * c[1], centre[2] - rho * c[2]
        length = long(z1, z2)
        answer[1], answer[2] = z1, z2
        work.state[k] = STUCK if leads else RESTING
        if length > mu[k] * z0:
            slip[0], slip[1], slip[2] = z1 / length, z2 / length, mu[k] * z0 / length
            answer[1], answer[2] = mu[k] * z0 * slip[0], mu[k] * z0 * slip[1]
            work.state[k] = SLIDING if leads else GIVING


@jit_inner
def _slope(problem, work, count, yx, xx, along):
    """x . r at y + along x, r = y - G^T F: yx + along xx - the sum of F . dc."""
    slope, mu, follows = yx + along * xx, problem.mu, problem.follows
    for i in range(count):
        k = work.taken[i]
        centre, c, dc, rho = work.centre[k], work.c[k], work.dc[k], work.rho[k, 1]
        lead = follows[k] if follows[k] >= 0 else k
        z0 = work.centre[lead, 0] - work.rho[lead, 0] * (work.c[lead, 0] + along * work.dc[lead, 0])
        if mu[k] < 0.0:
            slope -= min(max(z0, mu[k]), -mu[k]) * dc[0]
        elif z0 > 0.0:
            slope -= z0 * dc[0]  # of companions zero
            if mu[k] > 0.0:
                z1, z2 = centre[1] - rho * (c[1] + along * dc[1]), centre[2] - rho * (c[2] + along * dc[2])
                length = long(z1, z2)
                shrink = mu[k] * z0 / length if length > mu[k] * z0 else 1.0
                slope -= shrink * (z1 * dc[1] + z2 * dc[2])
    return slope


@jit_inner
def search(problem, work, count, yx, xx):
    """How far to go along x: to where x . r = 0, nearly, by false position; 0 where it does not begin below zero. yx, xx: the
    products of y and x with x."""
    start = _slope(problem, work, count, yx, xx, 0.0)
    if not start < 0.0:
        return 0.0
    low, low_slope, high, high_slope, along = 0.0, start, np.inf, 0.0, 1.0
    for _ in range(SECANTS):
        slope = _slope(problem, work, count, yx, xx, along)
        if abs(slope) <= -FLAT * start or (slope < 0.0 and along >= LONGEST):
            break
        if slope < 0.0:
            low, low_slope = along, slope
            if high == np.inf:
                along *= 2.0
                continue
        else:
            high, high_slope = along, slope
        width = high - low
        along = low - low_slope * width / (high_slope - low_slope)
        along = min(max(along, low + 0.1 * width), high - 0.1 * width)
    return along


@jit_inline
def advance(work, count, along):
    """Velocities after the step."""
    for i in range(count):
        c, dc = work.c[work.taken[i]], work.dc[work.taken[i]]
        c[0], c[1], c[2] = c[0] + along * dc[0], c[1] + along * dc[1], c[2] + along * dc[2]


@jit_inline
def largest_off(work, count):
    """m/s: how far velocities are from those that F makes."""
    worst = 0.0
    for i in range(count):
        off = work.off[work.taken[i]]
        worst = max(worst, abs(off[0]), abs(off[1]), abs(off[2]))
    return worst
