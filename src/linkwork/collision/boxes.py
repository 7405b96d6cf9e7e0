"""Boxes with boxes, by separating axes, and with capsules."""

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.collision.clipping import box_face, cut_by_sides, put, put_polygon, thin_out
from linkwork.collision.gjk import TOUCHING, distance
from linkwork.collision.layout import BOX
from linkwork.collision.pair_dispatch import collider, margin_of, polygons, results, simplex_of
from linkwork.collision.round_shapes import ball_box, nearest_parameters
from linkwork.collision.support import Solid
from linkwork.collision.vectors import along, axis, clamped, cross, dot, length, minus, plus, times, turn, turn_back

PARALLEL = 1e-12  # squared sine below which two edges make no axis
ROUNDING = 1e-12  # relative: what arithmetic may add to a gap
ALIGNED = 0.95  # cosine of the angle between a face and the contact up to which the face counts
TINY, HALVINGS = 1e-15, 60  # relative: a change that counts as none; steps until then
FIRST = 1e-3  # by so much the second face has to be better aligned to be the reference: features last
FACE = 1 << 14  # features: reference face and incident face stand above the two lines
WITNESS = 1 << 40  # the nearest points themselves
EDGES = 1 << 41  # two edges that cross
FROM_SECOND = 1 << 42  # the reference face is that of the second solid


@jit_inner
def most_separating_axis(size, R, p, other, S, q):
    """(separation, axis, unit normal from the first to the second box) of the largest of 15 separations.

    The axis is i for face i of the first, 3 + j for that of the second, 6 + 3 i + j for edges i and j.
    """
    d = minus(q, p)
    slack = ROUNDING * (size[0] + size[1] + size[2] + other[0] + other[1] + other[2])
    best, which, normal = -np.inf, 0, (0.0, 0.0, 1.0)
    for i in range(3):
        n = axis(R, i)
        away, across = dot(d, n), turn_back(S, n)
        apart = abs(away) - size[i] - (abs(across[0]) * other[0] + abs(across[1]) * other[1] + abs(across[2]) * other[2])
        if apart > best:
            best, which, normal = apart, i, n if away >= 0.0 else times(-1.0, n)
    for j in range(3):
        n = axis(S, j)
        away, across = dot(d, n), turn_back(R, n)
        apart = abs(away) - other[j] - (abs(across[0]) * size[0] + abs(across[1]) * size[1] + abs(across[2]) * size[2])
        if apart > best + slack:
            best, which, normal = apart, 3 + j, n if away >= 0.0 else times(-1.0, n)
    for i in range(3):
        for j in range(3):
            n = cross(axis(R, i), axis(S, j))
            nn = dot(n, n)
            if nn > PARALLEL:
                n = times(1.0 / np.sqrt(nn), n)
                away, a, b = dot(d, n), turn_back(R, n), turn_back(S, n)
                apart = abs(away) - (
                    abs(a[0]) * size[0]
                    + abs(a[1]) * size[1]
                    + abs(a[2]) * size[2]
                    + abs(b[0]) * other[0]
                    + abs(b[1]) * other[1]
                    + abs(b[2]) * other[2]
                )
                if apart > best + slack:
                    best, which, normal = apart, 6 + 3 * i + j, n if away >= 0.0 else times(-1.0, n)
    return best, which, normal


@jit_inner
def most_opposed_face(size, S, normal):
    """The face (i, sign) of a box that looks most against a direction."""
    local = turn_back(S, normal)
    x, y, z = abs(local[0]), abs(local[1]), abs(local[2])
    i = 0 if x >= y and x >= z else (1 if y >= z else 2)
    return i, -1.0 if local[i] > 0.0 else 1.0


@jit_inner
def box_on_face(hits, tags, size, R, p, other, S, q, normal, sign, margin, tag, room, lines):
    """Contacts, from place 0, of the incident face of the second box with that of the first which looks along a normal."""
    face, side = most_opposed_face(size, R, times(-1.0, normal))
    box_face(size, R, p, face, side, room[2], lines[2])
    i, turned = most_opposed_face(other, S, normal)
    n = box_face(other, S, q, i, turned, room[0], lines[0])
    n = cut_by_sides(room[2], 4, normal, room[0], lines[0], n, room[1], lines[1])
    facing = times(side, axis(R, face))
    offset = dot(facing, p) + size[face]
    tag += ((2 * face + (1 if side > 0.0 else 0)) * 6 + 2 * i + (1 if turned > 0.0 else 0)) * FACE
    return put_polygon(hits, tags, 0, room[0], lines[0], n, facing, offset, normal, sign, 0.0, margin, tag)


@jit_inner
def alignment(R, normal):
    """The cosine of the angle between a normal and the nearest face of a box."""
    local = turn_back(R, normal)
    return max(abs(local[0]), abs(local[1]), abs(local[2]))


@jit_inner
def box_edges(hits, tags, count, size, R, p, i, other, S, q, j, normal, margin):
    """The contact of the edges along i of the first and j of the second box that meet across a normal."""
    n, m = turn_back(R, normal), turn_back(S, normal)
    at, bt = p, q
    corner = 0
    for k in range(3):
        if k != i:
            at = along(at, size[k] if n[k] > 0.0 else -size[k], axis(R, k))
            corner |= (1 if n[k] > 0.0 else 0) << k
        if k != j:
            bt = along(bt, -other[k] if m[k] > 0.0 else other[k], axis(S, k))
            corner |= (1 if m[k] > 0.0 else 0) << 3 + k
    s, t = nearest_parameters(axis(R, i), size[i], axis(S, j), other[j], minus(bt, at))
    at, bt = along(at, s, axis(R, i)), along(bt, t, axis(S, j))
    between = minus(bt, at)
    gap = dot(between, normal)
    if gap > margin or (gap > 0.0 and length(between) > gap + ROUNDING * (length(size) + length(other))):  # past an end
        return count
    tag = EDGES + (3 * i + j) * 64 + corner
    return put(hits, tags, count, tag, times(0.5, plus(at, bt)), normal, gap)


def box_box(numbers, integers, shape_numbers, shape_integers):
    """Faces with faces and edges with edges by the largest separation; corners that are apart by their distance."""
    (size, R, p), (other, S, q) = collider(numbers, 0), collider(numbers, 1)
    (hits, tags), (room, lines) = results(numbers, integers), polygons(numbers, integers)
    margin = margin_of(numbers)
    apart, which, normal = most_separating_axis(size, R, p, other, S, q)
    if apart > margin:
        return 0
    aligned, other_aligned, count = alignment(R, normal), alignment(S, normal), 0
    if max(aligned, other_aligned) >= ALIGNED:  # all points along the one normal; which face is cut by which stays the same
        if aligned >= other_aligned - FIRST:
            count = box_on_face(hits, tags, size, R, p, other, S, q, normal, 1.0, margin, 0, room, lines)
        else:
            back = times(-1.0, normal)
            count = box_on_face(hits, tags, other, S, q, size, R, p, back, -1.0, margin, FROM_SECOND, room, lines)
    attained = apart + ROUNDING * (length(size) + length(other))
    nearest = _smallest_gap(hits, count)
    if nearest > attained and which >= 6:
        i, j = (which - 6) // 3, (which - 6) % 3
        count = box_edges(hits, tags, count, size, R, p, i, other, S, q, j, normal, margin)
        nearest = _smallest_gap(hits, count)
    if nearest > attained and apart > 0.0:  # the axis is a bound that no pair of points attains
        count = _box_box_apart(hits, tags, count, size, R, p, other, S, q, normal, apart, margin, simplex_of(numbers))
    face, _ = most_opposed_face(size, R, normal)
    return thin_out(hits, tags, 0, count, axis(R, (face + 1) % 3), axis(R, (face + 2) % 3))


@jit_inner
def _smallest_gap(hits, count):
    nearest = np.inf
    for k in range(count):
        nearest = min(nearest, hits[k, 6])
    return nearest


@jit_inner
def _box_box_apart(hits, tags, count, size, R, p, other, S, q, normal, bound, margin, simplex):
    """Add the nearest points of two boxes that are apart, corner to corner or corner to edge."""
    a, b = Solid(BOX, size, R, p, 0, 0, hits), Solid(BOX, other, S, q, 0, 0, hits)  # no vertices
    apart, towards, on_a, on_b = distance(a, b, minus(q, p), margin, simplex)
    if apart > margin:
        return count
    if apart == 0.0:  # touching to rounding: the best axis stands for the normal
        towards, apart = normal, bound
        local = turn_back(R, minus(q, p))
        on_a = plus(
            p,
            turn(
                R,
                (
                    clamped(local[0], -size[0], size[0]),
                    clamped(local[1], -size[1], size[1]),
                    clamped(local[2], -size[2], size[2]),
                ),
            ),
        )
        on_b = on_a
    return put(hits, tags, count, WITNESS, times(0.5, plus(on_a, on_b)), towards, apart)


@jit_inline
def _beyond(size, local, slope, t):
    """How far the point at t of a line, in the frame of a box, lies beyond its faces: (vector, half the rate at which the
    square of its length changes with t, half the rate at which that does)."""
    x, y, z = local[0] + t * slope[0], local[1] + t * slope[1], local[2] + t * slope[2]
    out = (x - clamped(x, -size[0], size[0]), y - clamped(y, -size[1], size[1]), z - clamped(z, -size[2], size[2]))
    curvature = 0.0
    for k in range(3):
        if out[k] != 0.0:
            curvature += slope[k] * slope[k]
    return out, dot(out, slope), curvature


@jit_inner
def nearest_to_box(size, local, slope, half):
    """Where on a segment, from -half to half in the frame of a box, the point nearest to the box lies. The square of the
    distance is convex and quadratic between a few places: Newton's method, within what is known to hold the least."""
    low, high = -half, half
    if _beyond(size, local, slope, low)[1] >= 0.0:
        return low
    if _beyond(size, local, slope, high)[1] <= 0.0:
        return high
    t = clamped(-dot(local, slope), low, high)
    for _ in range(HALVINGS):
        _, rate, curvature = _beyond(size, local, slope, t)
        if rate == 0.0:
            break
        if rate < 0.0:
            low = t
        else:
            high = t
        after = t - rate / curvature
        if not low < after < high:
            after = 0.5 * (low + high)
        if abs(after - t) <= TINY * half:
            break
        t = after
    return t


def capsule_box(numbers, integers, shape_numbers, shape_integers):
    """A capsule touches a box as balls do that sit on its axis: at the nearest point, and where it leaves the face."""
    (size, R, p), (other, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    margin = margin_of(numbers)
    radius, half, d = size[0], size[1], axis(R, 2)
    local, slope = turn_back(S, minus(p, q)), turn_back(S, d)
    where = nearest_to_box(other, local, slope, half)
    beyond, _, _ = _beyond(other, local, slope, where)
    apart, on_a = length(beyond), along(p, where, d)
    if apart > margin + radius:
        return 0
    deep = apart <= TOUCHING * (half + length(other))
    normal = turn(S, times(-1.0 / apart, beyond)) if not deep else d
    thin = (0.0, 0.0, half)
    if deep:
        apart, which, normal = most_separating_axis(thin, R, p, other, S, q)
        if which >= 6:
            count = box_edges(hits, tags, 0, thin, R, p, 2, other, S, q, (which - 6) % 3, normal, np.inf)
            at = (hits[0, 0], hits[0, 1], hits[0, 2])
            gap = hits[0, 6] - radius
            return put(hits, tags, 0, 0, along(at, 0.5 * radius, normal), normal, gap)
    i, sign = most_opposed_face(other, S, normal)
    low, high = -half, half
    for k in range(3):
        if k != i and slope[k] != 0.0:
            s, t = (-other[k] - local[k]) / slope[k], (other[k] - local[k]) / slope[k]
            low, high = max(low, min(s, t)), min(high, max(s, t))
    count = 0
    if low <= high:
        for end in range(2):
            at = along(p, high if end else low, d)
            if deep:
                gap = dot(minus(along(q, sign * other[i], axis(S, i)), at), normal) - radius
                count = put(hits, tags, count, 1 + end, along(at, radius + 0.5 * gap, normal), normal, gap)
            else:
                count = ball_box(hits, tags, count, 1 + end, radius, at, other, S, q)
        if high - low <= ROUNDING * half:
            count -= 1
    nearest = np.inf
    for k in range(count):
        nearest = min(nearest, hits[k, 6])
    if not deep and nearest > apart - radius + ROUNDING * (half + length(other)):
        gap = apart - radius
        count = put(hits, tags, count, 0, along(on_a, radius + 0.5 * gap, normal), normal, gap)
    return count
