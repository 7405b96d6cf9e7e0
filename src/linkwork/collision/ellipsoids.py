"""Balls and capsules with ellipsoids: the nearest point of an ellipsoid to a point outside it, by one equation, and where on
the axis of a capsule that is least far. A support function would take dozens of steps along such surfaces."""

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.collision.boxes import WITNESS
from linkwork.collision.clipping import put
from linkwork.collision.convex import any_two
from linkwork.collision.pair_dispatch import collider, margin_of, results
from linkwork.collision.vectors import along, axis, clamped, dot, length, minus, times, turn, turn_back

STEPS = 60  # of either search
EXACT = 1e-15  # relative: a change that counts as none
STEEP = 1e-14  # cosine that counts as none
CLOSE = 1e-9  # of the size: points so near the surface have no normal to be trusted


@jit_inline
def _share(size, y, s):
    """(|w|, sum of w_i^2 / (a_i^2 + s)) with w_i = a_i y_i / (a_i^2 + s): |w| is 1 where s is that of the nearest point."""
    d0, d1, d2 = 1.0 / (size[0] * size[0] + s), 1.0 / (size[1] * size[1] + s), 1.0 / (size[2] * size[2] + s)
    w = (size[0] * y[0] * d0, size[1] * y[1] * d1, size[2] * y[2] * d2)
    return length(w), w[0] * w[0] * d0 + w[1] * w[1] * d1 + w[2] * w[2] * d2


@jit_inner
def nearest_on_ellipsoid(size, y):
    """(whether a point is outside an ellipsoid of semi-axes `size`, both in its frame; its nearest point, x_i = a_i^2 y_i /
    (a_i^2 + s)). 1 / |w| is nearly linear in s: Newton's method on it comes to the root from below."""
    s = max(0.0, max(size[0] * (abs(y[0]) - size[0]), size[1] * (abs(y[1]) - size[1]), size[2] * (abs(y[2]) - size[2])))
    long, slope = _share(size, y, s)
    if s == 0.0 and not long > 1.0:
        return False, y
    for _ in range(STEPS):
        change = long * long * (long - 1.0) / slope
        s += change
        if not change > EXACT * s:
            break
        long, slope = _share(size, y, s)
    a, b, c = size[0] * size[0], size[1] * size[1], size[2] * size[2]
    return True, (a * y[0] / (a + s), b * y[1] / (b + s), c * y[2] / (c + s))


@jit_inline
def _look(size, y):
    """(whether a point is well outside, the unit vector from the ellipsoid to it, their distance)."""
    outside, x = nearest_on_ellipsoid(size, y)
    away = minus(y, x)
    far = length(away)
    if not outside or not far > CLOSE * length(size):
        return False, away, 0.0
    return True, times(1.0 / far, away), far


@jit_inner
def nearest_to_ellipsoid(size, middle, d, half):
    """Of a segment about `middle` along d, in the frame of an ellipsoid: (whether its nearest point is well outside; where that
    lies on it; the unit vector from the ellipsoid to it; their distance). The distance is convex along the segment: its slope,
    the cosine of that vector and d, is brought to zero by secants within what is known to hold the least."""
    low, high, t = -half, half, clamped(-dot(middle, d), -half, half)
    outside, n, far = _look(size, along(middle, t, d))
    slope = dot(n, d)
    before, slope_before = t, slope
    after = t - slope * (far + min(size[0], size[1], size[2]))
    for _ in range(STEPS):
        if not outside or abs(slope) <= STEEP or (t == low and slope >= 0.0) or (t == high and slope <= 0.0):
            break
        if slope > 0.0:
            high = t
        else:
            low = t
        after = clamped(after, low, high)
        if after == before or after == t:
            after = 0.5 * (low + high)
        if abs(after - t) <= EXACT * half:
            break
        before, slope_before, t = t, slope, after
        outside, n, far = _look(size, along(middle, t, d))
        slope = dot(n, d)
        after = t - slope * (t - before) / (slope - slope_before) if slope != slope_before else 0.5 * (low + high)
    return outside, t, n, far


def capsule_ellipsoid(numbers, integers, shape_numbers, shape_integers):
    """The nearest point of a capsule's axis, or of a ball's centre; within the ellipsoid, as any two solids."""
    (size, R, p), (other, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    radius, half, margin = size[0], size[1], margin_of(numbers)
    d, middle = axis(R, 2), minus(p, q)
    apart = length(along(middle, clamped(-dot(middle, d), -half, half), d)) - max(other[0], other[1], other[2])
    if apart > margin + radius:
        return 0
    outside, t, n, far = nearest_to_ellipsoid(other, turn_back(S, middle), turn_back(S, d), half)
    if not outside:
        return any_two(numbers, integers, shape_numbers, shape_integers)
    gap = far - radius
    if gap > margin:
        return 0
    normal = turn(S, times(-1.0, n))
    return put(hits, tags, 0, WITNESS, along(along(p, t, d), radius + 0.5 * gap, normal), normal, gap)
