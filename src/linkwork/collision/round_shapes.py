"""Spheres and capsules with each other and with boxes, and everything with a plane: closed forms.

Routines (see `routines`) write contacts (point, normal from the first to the second, gap) and return how many.
"""

import math

from linkwork.codegen.jit import jit_inner
from linkwork.collision.clipping import put
from linkwork.collision.pair_dispatch import collider, margin_of, results
from linkwork.collision.vectors import (
    across,
    along,
    axis,
    clamped,
    cross,
    dot,
    length,
    minus,
    plus,
    times,
    turn,
    turn_back,
    unit,
)

UP = (0.0, 0.0, 1.0)
PARALLEL = 1e-12  # squared sine
END = 1e-6  # relative: of two ends side by side, the first capsule's counts
ALIKE = 0.9  # cosine of the angle up to which points of one pair are taken together


@jit_inner
def balls(hits, tags, count, tag, p, r, q, s, otherwise):
    """The contact of a ball (p, r) with a ball (q, s); where the centres coincide the normal is `otherwise`."""
    d = minus(q, p)
    normal = unit(d, otherwise)
    gap = dot(d, normal) - r - s
    return put(hits, tags, count, tag, along(p, r + 0.5 * gap, normal), normal, gap)


@jit_inner
def plane_ball(hits, tags, count, tag, R, p, centre, radius, margin):
    normal = axis(R, 2)
    gap = dot(minus(centre, p), normal) - radius
    if gap > margin:
        return count
    return put(hits, tags, count, tag, along(centre, -radius - 0.5 * gap, normal), normal, gap)


def plane_sphere(numbers, integers, shape_numbers, shape_integers):
    (_, R, p), (size, _, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    return plane_ball(hits, tags, 0, 0, R, p, q, size[0], margin_of(numbers))


def plane_capsule(numbers, integers, shape_numbers, shape_integers):
    """Both ends."""
    (_, R, p), (size, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    margin = margin_of(numbers)
    half = times(size[1], axis(S, 2))
    count = plane_ball(hits, tags, 0, 0, R, p, minus(q, half), size[0], margin)
    return plane_ball(hits, tags, count, 1, R, p, plus(q, half), size[0], margin)


def plane_box(numbers, integers, shape_numbers, shape_integers):
    """All corners that are near."""
    (_, R, p), (size, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    margin, count = margin_of(numbers), 0
    for corner in range(8):
        x = size[0] if corner & 1 else -size[0]
        y = size[1] if corner & 2 else -size[1]
        z = size[2] if corner & 4 else -size[2]
        count = plane_ball(hits, tags, count, corner, R, p, plus(q, turn(S, (x, y, z))), 0.0, margin)
    return count


@jit_inner
def nearest_on_axis(S, q, half, p):
    """Where on the axis of a capsule, from -half to half, the point nearest to p lies."""
    return clamped(dot(minus(p, q), axis(S, 2)), -half, half)


def sphere_sphere(numbers, integers, shape_numbers, shape_integers):
    (size, _, p), (other, _, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    return balls(hits, tags, 0, 0, p, size[0], q, other[0], UP)


def sphere_capsule(numbers, integers, shape_numbers, shape_integers):
    (ball, _, p), (size, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    d, radius = axis(S, 2), ball[0]
    t = nearest_on_axis(S, q, size[1], p)
    return balls(hits, tags, 0, 0, p, radius, along(q, t, d), size[0], across(d))


@jit_inner
def nearest_parameters(d, half, e, other_half, r):
    """The parameters of the nearest points of two segments with unit directions; r leads from one middle to the other.

    Of parallel segments that pass each other, a pair in the middle of where they do.
    """
    b, rd, re = dot(d, e), dot(r, d), dot(r, e)
    spread = 1.0 - b * b
    if spread > PARALLEL:
        s = clamped((rd - b * re) / spread, -half, half)
    else:
        low, high = rd - abs(other_half), rd + abs(other_half)
        s = clamped(0.5 * (max(low, -half) + min(high, half)), -half, half)
    t = b * s - re
    if t < -other_half or t > other_half:
        t = clamped(t, -other_half, other_half)
        s = clamped(rd + b * t, -half, half)
    return s, t


def capsule_capsule(numbers, integers, shape_numbers, shape_integers):
    """The nearest points of the axes; and of capsules side by side, the ends of where they are."""
    (size, R, p), (other, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    d, e, r = axis(R, 2), axis(S, 2), minus(q, p)
    half, other_half = size[1], other[1]
    s, t = nearest_parameters(d, half, e, other_half, r)
    between = cross(d, e)
    sideways = between if dot(between, between) > PARALLEL else across(d)
    sideways = unit(sideways, UP)
    balls(hits, tags, 0, 0, along(p, s, d), size[0], along(q, t, e), other[0], sideways)
    normal = (hits[0, 3], hits[0, 4], hits[0, 5])
    deepest = hits[0, 6]
    # ends that lie beside the other axis
    count = 1
    for end in range(4):
        sign = 1.0 if end & 1 else -1.0
        if end < 2:
            s = sign * half
            t = dot(minus(along(p, s, d), q), e)
            beside = abs(t) <= other_half * (1.0 + END)
        else:
            t = sign * other_half
            s = dot(minus(along(q, t, e), p), d)
            beside = abs(s) <= half * (1.0 - END)
        if beside:
            balls(hits, tags, count, 1 + end, along(p, s, d), size[0], along(q, t, e), other[0], sideways)
            if dot((hits[count, 3], hits[count, 4], hits[count, 5]), normal) > ALIKE:
                count += 1
    # the nearest pair is one of those ends, or lies between them
    slack = 1e-12 * (size[0] + other[0] + half + other_half)
    for k in range(1, count):
        if hits[k, 6] <= deepest + slack:
            for i in range(1, count):
                tags[i - 1] = tags[i]
                for j in range(7):
                    hits[i - 1, j] = hits[i, j]
            return count - 1
    return count


@jit_inner
def to_box(size, local):
    """The point of a box nearest to a point, in its frame, the normal outwards there and the distance.

    Inside, the nearest face is taken; the distance is then negative.
    """
    inside = (clamped(local[0], -size[0], size[0]), clamped(local[1], -size[1], size[1]), clamped(local[2], -size[2], size[2]))
    d = minus(local, inside)
    far = length(d)
    if far > 0.0:
        return inside, unit(d, UP), far
    best, face = -math.inf, 0
    for i in range(3):
        depth = abs(local[i]) - size[i]
        if depth > best:
            best, face = depth, i
    sign = 1.0 if local[face] >= 0.0 else -1.0
    normal = (sign if face == 0 else 0.0, sign if face == 1 else 0.0, sign if face == 2 else 0.0)
    return along(local, -best, normal), normal, best


@jit_inner
def ball_box(hits, tags, count, tag, radius, p, size, S, q):
    nearest, normal, far = to_box(size, turn_back(S, minus(p, q)))
    gap = far - radius
    normal = turn(S, normal)
    return put(hits, tags, count, tag, along(p, -radius - 0.5 * gap, normal), times(-1.0, normal), gap)


def sphere_box(numbers, integers, shape_numbers, shape_integers):
    (ball, _, p), (size, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    return ball_box(hits, tags, 0, 0, ball[0], p, size, S, q)
