"""The distance of two convex solids by their support functions (Gilbert, Johnson and Keerthi), with witness points.

Solids are taken as *cores*: a sphere is its centre, a capsule its axis; what is left out is a radius that the caller
subtracts. Everything is relative to the centre of the first solid, so that digits do not depend on where the world is.
"""

import math

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.collision.support import core_support
from linkwork.collision.vectors import along, cross, dot, length, minus, plus, times

TOUCHING = 1e-8  # relative: a distance below this has no direction that can be trusted
PRECISION = 1e-13  # relative: of the distance
ACCURACY = 1e-12  # relative to the size: of the distance
STEPS = 100  # at most: so that it ends whatever rounding does


@jit_inner
def _of_segment(a, b):
    """Weights of the point of a segment nearest to the origin."""
    d = minus(b, a)
    dd = dot(d, d)
    t = -dot(a, d) / dd if dd > 0.0 else 0.0
    if t <= 0.0:
        return (1.0, 0.0)
    if t >= 1.0:
        return (0.0, 1.0)
    return (1.0 - t, t)


@jit_inner
def _of_triangle(a, b, c):
    """Weights of the point of a triangle nearest to the origin."""
    ab, ac = minus(b, a), minus(c, a)
    normal = cross(ab, ac)
    nn = dot(normal, normal)
    if nn > 0.0:
        # signed areas, each from the vertices nearest to it
        wa, wb, wc = dot(cross(b, c), normal), dot(cross(c, a), normal), dot(cross(a, b), normal)
        if wa > 0.0 and wb > 0.0 and wc > 0.0:
            whole = wa + wb + wc
            return (wa / whole, wb / whole, wc / whole)
    u, v = _of_segment(a, b)
    best, nearest = (u, v, 0.0), _squared(u, a, v, b)
    u, v = _of_segment(b, c)
    d = _squared(u, b, v, c)
    if d < nearest:
        best, nearest = (0.0, u, v), d
    u, v = _of_segment(c, a)
    d = _squared(u, c, v, a)
    if d < nearest:
        best, nearest = (v, 0.0, u), d
    return best


@jit_inner
def _squared(u, a, v, b):
    q = along(times(u, a), v, b)
    return dot(q, q)


@jit_inner
def _volume(a, b, c):
    return dot(a, cross(b, c))


@jit_inner
def _of_tetrahedron(a, b, c, d):
    """Weights of the point of a tetrahedron nearest to the origin; all four positive: the origin is inside."""
    whole = _volume(minus(b, a), minus(c, a), minus(d, a))
    wa, wb, wc, wd = _volume(b, c, d), -_volume(a, c, d), _volume(a, b, d), -_volume(a, b, c)
    if whole < 0.0:
        whole, wa, wb, wc, wd = -whole, -wa, -wb, -wc, -wd
    if whole > 0.0 and wa > 0.0 and wb > 0.0 and wc > 0.0 and wd > 0.0:
        return (wa / whole, wb / whole, wc / whole, wd / whole)
    best, nearest = (1.0, 0.0, 0.0, 0.0), np.inf
    if not wd > 0.0:
        u, v, w = _of_triangle(a, b, c)
        q = along(along(times(u, a), v, b), w, c)
        if dot(q, q) < nearest:
            best, nearest = (u, v, w, 0.0), dot(q, q)
    if not wc > 0.0:
        u, v, w = _of_triangle(a, b, d)
        q = along(along(times(u, a), v, b), w, d)
        if dot(q, q) < nearest:
            best, nearest = (u, v, 0.0, w), dot(q, q)
    if not wb > 0.0:
        u, v, w = _of_triangle(a, c, d)
        q = along(along(times(u, a), v, c), w, d)
        if dot(q, q) < nearest:
            best, nearest = (u, 0.0, v, w), dot(q, q)
    if not wa > 0.0:
        u, v, w = _of_triangle(b, c, d)
        q = along(along(times(u, b), v, c), w, d)
        if dot(q, q) < nearest:
            best, nearest = (0.0, u, v, w), dot(q, q)
    return best


@jit_inner
def _keep(simplex, n, w, s):
    simplex[4, 0] = n
    for k in range(4):
        for i in range(3):
            simplex[k, i], simplex[k, 3 + i] = w[k][i], s[k][i]


@jit_inline
def _replaced(items, k, item):
    """A tuple of four items with item k replaced."""
    if k == 0:
        return (item, items[1], items[2], items[3])
    if k == 1:
        return (items[0], item, items[2], items[3])
    if k == 2:
        return (items[0], items[1], item, items[3])
    return (items[0], items[1], items[2], item)


@jit_inline
def _weights(n, w):
    """Weights of the point nearest to the origin of the first n of four corners."""
    if n == 1:
        return (1.0, 0.0, 0.0, 0.0)
    if n == 2:
        u, v = _of_segment(w[0], w[1])
        return (u, v, 0.0, 0.0)
    if n == 3:
        u, v, x = _of_triangle(w[0], w[1], w[2])
        return (u, v, x, 0.0)
    return _of_tetrahedron(w[0], w[1], w[2], w[3])


@jit_inline
def _carrying(n, w, s, l):
    """How many of the first n corners carry weight; these, their points of a and their weights come first."""
    kept = 1 if l[0] > 0.0 else 0
    if n > 1 and l[1] > 0.0:
        w, s, l = _replaced(w, kept, w[1]), _replaced(s, kept, s[1]), _replaced(l, kept, l[1])
        kept += 1
    if n > 2 and l[2] > 0.0:
        w, s, l = _replaced(w, kept, w[2]), _replaced(s, kept, s[2]), _replaced(l, kept, l[2])
        kept += 1
    if n > 3 and l[3] > 0.0:
        w, s, l = _replaced(w, kept, w[3]), _replaced(s, kept, s[3]), _replaced(l, kept, l[3])
        kept += 1
    return kept, w, s, l


@jit_inline
def _weighed(n, points, l):
    """The sum of up to three points by their weights."""
    found = times(l[0], points[0])
    if n > 1:
        found = along(found, l[1], points[1])
    if n > 2:
        found = along(found, l[2], points[2])
    return found


@jit_inner
def distance(a, b, towards, beyond, simplex):
    """The distance of two cores, m, the unit normal from a to b and the nearest points of both.

    towards: about where b is seen from a, of any length. A distance of 0 says that they overlap or nearly touch; the normal
    then has no meaning, and `simplex` (5, 6) holds the points of a minus those of b around (or next to) the origin, the
    points of a beside them (both relative to a), and how many in simplex[4, 0]. Once it is certain that they are farther
    apart than `beyond`, a lower bound is returned that is itself larger than `beyond`. In the end too the distance is that of
    two planes across the normal: the largest lower bound, since the last steps on curved solids improve the points and
    spoil the direction.
    """
    zero = (0.0, 0.0, 0.0)
    v = times(-1.0, towards)
    if dot(v, v) == 0.0:
        v = (1.0, 0.0, 0.0)
    n = 0
    w = s = (zero, zero, zero, zero)  # corners of the simplex: points of a minus points of b; and the points of a
    l = (0.0, 0.0, 0.0, 0.0)
    nearest, lower, normal = np.inf, 0.0, zero
    size = 0.0
    for _ in range(STEPS):
        on_a = minus(core_support(a, times(-1.0, v)), a.p)
        on_b = minus(core_support(b, v), a.p)
        new = minus(on_a, on_b)
        size = max(size, abs(new[0]), abs(new[1]), abs(new[2]))
        vw = dot(v, new)
        if vw > 0.0:  # the plane across v keeps the two that far apart
            size_of_v = length(v)
            if vw > lower * size_of_v:
                lower, normal = vw / size_of_v, times(-1.0 / size_of_v, v)
                if lower > beyond:
                    return lower, normal, zero, zero
        if n > 0 and nearest - vw <= max(PRECISION * nearest, ACCURACY * size * math.sqrt(nearest)):
            break
        if (n > 0 and new == w[0]) or (n > 1 and new == w[1]) or (n > 2 and new == w[2]) or (n > 3 and new == w[3]):
            break
        w, s = _replaced(w, n, new), _replaced(s, n, on_a)
        n += 1
        l = _weights(n, w)
        if n == 4 and l[0] > 0.0 and l[1] > 0.0 and l[2] > 0.0 and l[3] > 0.0:
            _keep(simplex, 4, w, s)
            return 0.0, zero, zero, zero
        n, w, s, l = _carrying(n, w, s, l)
        v_new = _weighed(n, w, l)
        vv = dot(v_new, v_new)
        if vv <= (TOUCHING * size) ** 2:
            _keep(simplex, n, w, s)
            return 0.0, zero, zero, zero
        if vv >= nearest:  # rounding: no further progress
            break
        v, nearest = v_new, vv
    if lower == 0.0:  # rounding hides which side is which
        _keep(simplex, n, w, s)
        return 0.0, zero, zero, zero
    on_a = plus(a.p, _weighed(n, s, l))
    return lower, normal, on_a, minus(on_a, v)
