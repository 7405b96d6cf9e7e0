"""One contact alone, exactly: f with c = D f + q and Coulomb's law. D (3, 3) is positive semidefinite; rows normal, tangents.

It opens where q_n >= 0. Else it sticks where -D^-1 q lies in the cone. Else it slides: f_t = mu f_n e with a unit vector e,
c_n = 0, and c_t along -e. With d(e) = D_nn + mu D_nt e these say f_n = -q_n / d and

    v(e) = d(e) q_t - q_n (D_tn + mu D_tt e),   v x e = 0,   v e <= 0,   d > 0,

one equation for an angle, a quartic in its half tangent. Newton's method from the last direction finds the root as a rule, or
from other fair guesses; where it does not, every root on the circle is tried.

A row with mu < 0 is dry friction of a joint: no normal, one direction, and an impulse within -mu of zero (N s). A companion has
tangents alone, and an impulse within a disc.
"""

from __future__ import annotations

import math

from linkwork.codegen.jit import jit, jit_inner
from linkwork.collision.vectors import long

SINGULAR = 1e-13  # part of a diagonal entry below which a pivot counts as zero
ROUNDING = 1e-13  # part of a sum's terms below which it cannot be told from zero
NEWTON = 8  # most steps of Newton's method along the circle, which converges in four or five where it does
ARCS, BISECTIONS = 360, 60  # where it does not: parts of the circle that are searched, and halvings of one, to the last bit
LONGEST = 1.0  # rad, of a step along the circle
SHIFTS = 50  # of Newton's method for a companion, at most: from below it takes a few


@jit
def one_contact(D, q0, q1, q2, mu, guess1, guess2):
    """Impulses (normal, tangent 1, tangent 2) of one contact. (guess1, guess2): a direction that friction might have.

    >>> import numpy as np
    >>> D = np.diag([1.0, 1.0, 1.0])
    >>> np.round(one_contact(D, 0.1, 5.0, 0.0, 0.5, 0.0, 0.0), 9).tolist()       # opens
    [0.0, 0.0, 0.0]
    >>> np.round(one_contact(D, -2.0, 0.5, -0.25, 0.5, 0.0, 0.0), 9).tolist()    # sticks
    [2.0, -0.5, 0.25]
    >>> np.round(one_contact(D, -2.0, 3.0, -4.0, 0.5, 0.0, 0.0), 9).tolist()     # slides
    [2.0, -0.6, 0.8]
    >>> one_contact(D, -2.0, 0.0, 0.0, -0.5, 0.0, 0.0)                           # dry friction, used up
    (0.5, 0.0, 0.0)
    """
    if mu < 0.0:
        return (min(max(-q0 / D[0, 0], mu), -mu) if D[0, 0] > 0.0 else 0.0), 0.0, 0.0
    if q0 >= 0.0 or D[0, 0] <= 0.0:
        return 0.0, 0.0, 0.0
    if mu <= 0.0:
        return -q0 / D[0, 0], 0.0, 0.0
    sticks, f0, f1, f2 = _stuck(D, q0, q1, q2)
    if sticks and f0 >= 0.0 and f1 * f1 + f2 * f2 <= (mu * f0) ** 2 * (1 + ROUNDING):
        return f0, f1, f2
    return slide(D, q0, q1, q2, mu, guess1, guess2, f1, f2)


@jit
def one_companion(D, q1, q2, radius):
    """Impulses (tangent 1, tangent 2) of a companion alone, of at most `radius` together: c = D f + q is zero, or f is
    -radius c / |c|: then (D + s) f = -q with a shift s > 0. Newton's method on 1 / |f|, which is concave in s, along the axes
    of D.

    >>> import numpy as np
    >>> D = np.diag([0.0, 2.0, 0.5])
    >>> np.round(one_companion(D, 1.0, 0.0, 0.6), 9).tolist(), np.round(one_companion(D, 1.0, 0.0, 0.25), 9).tolist()
    ([-0.5, -0.0], [-0.25, -0.0])
    """
    if not radius > 0.0:
        return 0.0, 0.0
    turn = 0.5 * math.atan2(2.0 * D[1, 2], D[1, 1] - D[2, 2])
    x, y, mean, half = math.cos(turn), math.sin(turn), 0.5 * (D[1, 1] + D[2, 2]), 0.5 * long(D[1, 1] - D[2, 2], 2.0 * D[1, 2])
    high, low = mean + half, max(0.0, mean - half)
    p, q = x * q1 + y * q2, x * q2 - y * q1  # along the axes
    if low <= SINGULAR * high and abs(q) <= ROUNDING * (abs(q1) + abs(q2)):
        low, q = 1.0, 0.0
    shift = max(0.0, long(p, q) / radius - high)
    for _ in range(SHIFTS):
        if not low + shift > 0.0:
            shift = abs(q) / radius
        f, g = -p / (high + shift) if p != 0.0 else 0.0, -q / (low + shift)
        far = long(f, g)
        if (shift == 0.0 and far <= radius) or abs(far - radius) <= ROUNDING * radius:
            break
        slope = (f * f / (high + shift) if p != 0.0 else 0.0) + g * g / (low + shift)
        shift = max(0.0, shift + (far - radius) / radius * far * far / slope)
    shrink = min(1.0, radius / far) if far > 0.0 else 1.0
    f, g = shrink * f, shrink * g
    return x * f - y * g, y * f + x * g


@jit_inner
def slide(D, q0, q1, q2, mu, guess1, guess2, f1, f2):
    """Impulses of a contact that slides. (f1, f2): the friction that would make it stick."""
    terms = (D[0, 0] + mu * (abs(D[0, 1]) + abs(D[0, 2]))) * (abs(q1) + abs(q2))
    terms -= q0 * (abs(D[1, 0]) + abs(D[2, 0]) + mu * (D[1, 1] + D[2, 2]))
    slides, e1, e2 = False, 1.0, 0.0
    for g1, g2 in ((guess1, guess2), (f1, f2), (-q1, -q2), (-guess1, -guess2)):  # the last one, if it would stick, against slip
        length = long(g1, g2)
        if length > 0.0 and not slides:
            slides, e1, e2 = _slide_from(D, q0, q1, q2, mu, g1 / length, g2 / length, ROUNDING * terms)
    if not slides:
        slides, e1, e2 = _slide_anywhere(D, q0, q1, q2, mu, e1, e2, ROUNDING * terms)
    d = D[0, 0] + mu * (D[0, 1] * e1 + D[0, 2] * e2)
    f0 = -q0 / (d if d > 0.0 else D[0, 0])
    return f0, mu * f0 * e1, mu * f0 * e2


@jit_inner
def _stuck(D, q0, q1, q2):
    """-D^-1 q by elimination; directions without response take no impulse, and if c is not zero then, it does not stick."""
    l10, l20 = D[1, 0] / D[0, 0], D[2, 0] / D[0, 0]
    d1 = D[1, 1] - l10 * D[1, 0]
    r1, r2 = q1 - l10 * q0, q2 - l20 * q0
    fine1 = d1 > SINGULAR * D[1, 1]
    l21 = (D[2, 1] - l20 * D[1, 0]) / d1 if fine1 else 0.0
    d2 = D[2, 2] - l20 * D[2, 0] - l21 * l21 * (d1 if fine1 else 0.0)
    r2 -= l21 * r1
    fine2 = d2 > SINGULAR * D[2, 2]
    size = abs(q0) + abs(q1) + abs(q2)
    if (not fine1 and abs(r1) > ROUNDING * size) or (not fine2 and abs(r2) > ROUNDING * size):
        return False, 0.0, 0.0, 0.0
    f2 = -r2 / d2 if fine2 else 0.0
    f1 = (-r1 / d1 if fine1 else 0.0) - l21 * f2
    f0 = -q0 / D[0, 0] - l10 * f1 - l20 * f2
    return True, f0, f1, f2


@jit_inner
def _slip(D, q0, q1, q2, mu, e1, e2):
    """The velocity v(e) of a contact that slides along e, times d(e), and d(e) itself, the response of the normal velocity."""
    d = D[0, 0] + mu * (D[0, 1] * e1 + D[0, 2] * e2)
    v1 = d * q1 - q0 * (D[1, 0] + mu * (D[1, 1] * e1 + D[1, 2] * e2))
    v2 = d * q2 - q0 * (D[2, 0] + mu * (D[2, 1] * e1 + D[2, 2] * e2))
    return v1, v2, d


@jit_inner
def _slide_from(D, q0, q1, q2, mu, e1, e2, noise):
    """Newton's method along the circle. noise: v that cannot be told from zero."""
    for _ in range(NEWTON):
        v1, v2, d = _slip(D, q0, q1, q2, mu, e1, e2)
        cross = v1 * e2 - v2 * e1
        if abs(cross) <= noise:
            return d > 0.0 and v1 * e1 + v2 * e2 <= noise, e1, e2
        t1, t2 = -e2, e1  # the way that e turns
        turned = mu * (D[0, 1] * t1 + D[0, 2] * t2)
        w1 = turned * q1 - q0 * mu * (D[1, 1] * t1 + D[1, 2] * t2)
        w2 = turned * q2 - q0 * mu * (D[2, 1] * t1 + D[2, 2] * t2)
        slope = w1 * e2 - w2 * e1 + v1 * t2 - v2 * t1
        if slope == 0.0:
            return False, e1, e2
        angle = max(-LONGEST, min(LONGEST, -cross / slope))
        e1, e2 = e1 + angle * t1, e2 + angle * t2
        length = long(e1, e2)
        e1, e2 = e1 / length, e2 / length
    return False, e1, e2


@jit_inner
def _slide_anywhere(D, q0, q1, q2, mu, e1, e2, noise):
    """Every root on the circle by arcs and bisection, from the direction e on; of those that meet the law, the first."""
    start, step = math.atan2(e2, e1), 2 * math.pi / ARCS
    v1, v2, d = _slip(D, q0, q1, q2, mu, e1, e2)
    before = v1 * e2 - v2 * e1
    for arc in range(ARCS):
        low, high = start + arc * step, start + (arc + 1) * step
        h1, h2 = math.cos(high), math.sin(high)
        v1, v2, d = _slip(D, q0, q1, q2, mu, h1, h2)
        after = v1 * h2 - v2 * h1
        if (before <= 0.0) != (after <= 0.0):
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                m1, m2 = math.cos(middle), math.sin(middle)
                v1, v2, d = _slip(D, q0, q1, q2, mu, m1, m2)
                if (v1 * m2 - v2 * m1 <= 0.0) == (before <= 0.0):
                    low = middle
                else:
                    high = middle
            m1, m2 = math.cos(low), math.sin(low)
            v1, v2, d = _slip(D, q0, q1, q2, mu, m1, m2)
            if d > 0.0 and v1 * m1 + v2 * m2 <= noise:
                return True, m1, m2
        before = after
    return False, e1, e2
