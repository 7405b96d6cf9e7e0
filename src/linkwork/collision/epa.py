"""How deep two convex solids overlap, by a polytope that grows inside their Minkowski difference towards its surface.

The difference of the points of a and those of b holds the origin where the two overlap; the nearest point of its
surface is the shortest way out. The polytope's nearest face is pushed out until the surface is reached: exactly where that
is flat (faces and edges of polytopes, flat ends, lines of cylinders). Where it is curved that takes many slivers, so a rough
answer is made exact from outside: a point a little above the surface, straight over its nearest point, has that same
nearest point, and the distance of solids that are apart is a matter of `gjk`.
"""

import numpy as np

from linkwork.codegen.jit import jit_inner
from linkwork.collision.gjk import distance
from linkwork.collision.support import Solid, core_support
from linkwork.collision.vectors import across, along, cross, dot, length, minus, plus, row, times, unit

EXACT, ROUGH = 1e-12, 1e-5  # relative: of depths
ABOVE = 1e-3  # relative: how far above the surface
ROUNDS = 12  # of `from_outside`, at most: each leaves less of the error of the normal
ENOUGH = 1e-12  # squared angle
FLAT = 1e-9  # relative: a simplex thinner than that is blown up first


@jit_inner
def _support(a, b, d, corners, k):
    """Write the farthest point of the difference along d to corner k, and the point of a; returns how far it is."""
    on_a = minus(core_support(a, d), a.p)
    on_b = minus(core_support(b, times(-1.0, d)), a.p)
    for i in range(3):
        corners[k, i], corners[k, 3 + i] = on_a[i] - on_b[i], on_a[i]
    return dot(row(corners, k), d)


@jit_inner
def _blow_up(a, b, n, corners):
    """Complete n corners to a tetrahedron with some volume; false if the difference itself is flat."""
    if n == 1:
        x = row(corners, 0)
        for k in range(6):
            d = ((1.0 if k < 2 else 0.0), (1.0 if k // 2 == 1 else 0.0), (1.0 if k > 3 else 0.0))
            _support(a, b, times(1.0 if k & 1 else -1.0, d), corners, 1)
            e = minus(row(corners, 1), x)
            if dot(e, e) > 0.0:
                break
        n = 2
    size = length(minus(row(corners, 1), row(corners, 0)))
    if n == 2:
        d = unit(minus(row(corners, 1), row(corners, 0)), (0.0, 0.0, 1.0))
        u = across(d)
        v = cross(d, u)
        best, far = 0, -1.0
        for k in range(4):
            e = times(1.0 if k & 1 else -1.0, u if k < 2 else v)
            _support(a, b, e, corners, 2)
            off = minus(row(corners, 2), row(corners, 0))
            off = along(off, -dot(off, d), d)
            if length(off) > far:
                best, far = k, length(off)
        _support(a, b, times(1.0 if best & 1 else -1.0, u if best < 2 else v), corners, 2)
        size = max(size, far)
        n = 3
    if n == 3:
        p = row(corners, 0)
        d = unit(cross(minus(row(corners, 1), p), minus(row(corners, 2), p)), (0.0, 0.0, 1.0))
        below = _support(a, b, times(-1.0, d), corners, 3) + dot(p, d)
        above = _support(a, b, d, corners, 3) - dot(p, d)
        if below > above:
            _support(a, b, times(-1.0, d), corners, 3)
        return max(below, above) > FLAT * max(size, length(minus(row(corners, 2), p)))
    return True


@jit_inner
def _face(corners, planes, faces, f, i, j, k):
    """Write face f through three corners, anticlockwise seen from outside; one without area is never the nearest."""
    p = row(corners, i)
    n = cross(minus(row(corners, j), p), minus(row(corners, k), p))
    size = length(n)
    faces[f, 0], faces[f, 1], faces[f, 2] = i, j, k
    planes[f, 3] = np.inf
    if size > 0.0:
        n = times(1.0 / size, n)
        planes[f, 0], planes[f, 1], planes[f, 2], planes[f, 3] = n[0], n[1], n[2], dot(n, p)


@jit_inner
def _push_out(corners, planes, faces, count, w, slack):
    """Replace the faces that corner w sees by those from their rim to w; returns how many faces there are now.

    Columns 3 and 4 of `faces` hold the edges of the rim.
    """
    p = row(corners, w)
    rim, kept = 0, 0
    for f in range(count):
        if planes[f, 3] < np.inf and dot(row(planes, f), p) > planes[f, 3] + slack:
            for e in range(3):
                i, j = faces[f, e], faces[f, (e + 1) % 3]
                again = -1
                for r in range(rim):
                    if faces[r, 3] == j and faces[r, 4] == i:
                        again = r
                        break
                if again >= 0:
                    rim -= 1
                    faces[again, 3], faces[again, 4] = faces[rim, 3], faces[rim, 4]
                elif rim < faces.shape[0]:
                    faces[rim, 3], faces[rim, 4] = i, j
                    rim += 1
        else:
            if kept != f:
                for i in range(3):
                    faces[kept, i] = faces[f, i]
                for i in range(4):
                    planes[kept, i] = planes[f, i]
            kept += 1
    if kept + rim > faces.shape[0]:
        return -1
    for r in range(rim):
        _face(corners, planes, faces, kept + r, faces[r, 3], faces[r, 4], w)
    return kept + rim


@jit_inner
def penetration(a, b, simplex, precision, corners, planes, faces):
    """(depth, unit normal from a to b, point of a, point of b, whether that is exact) of cores that overlap.

    simplex: that of `gjk.distance`; precision: relative to the size. What is not exact is the best so far, a start for
    `from_outside`.
    """
    n = int(simplex[4, 0])
    for k in range(n):
        for i in range(6):
            corners[k, i] = simplex[k, i]
    if not _blow_up(a, b, n, corners):
        p = row(corners, 0)
        normal = unit(cross(minus(row(corners, 1), p), minus(row(corners, 2), p)), (0.0, 0.0, 1.0))
        return 0.0, normal, a.p, a.p, False
    p, size = row(corners, 0), 0.0
    for k in range(4):
        size = max(size, length(row(corners, k)))
    turned = dot(cross(minus(row(corners, 1), p), minus(row(corners, 2), p)), minus(row(corners, 3), p)) > 0.0
    _face(corners, planes, faces, 0, 0, 2 if turned else 1, 1 if turned else 2)
    _face(corners, planes, faces, 1, 0, 1 if turned else 3, 3 if turned else 1)
    _face(corners, planes, faces, 2, 0, 3 if turned else 2, 2 if turned else 3)
    _face(corners, planes, faces, 3, 1, 2 if turned else 3, 3 if turned else 2)
    used, count = 4, 4
    depth, normal, before = np.inf, (0.0, 0.0, 1.0), -np.inf
    while True:
        nearest = 0
        for f in range(1, count):
            if planes[f, 3] < planes[nearest, 3]:
                nearest = f
        d, bound = row(planes, nearest), planes[nearest, 3]
        far = _support(a, b, d, corners, used)
        if far < depth:
            depth, normal = far, d
        if far - bound <= precision * size:
            break
        size = max(size, far)
        left = _push_out(corners, planes, faces, count, used, 1e-14 * size) if used + 1 < corners.shape[0] else -1
        if left < 0 or bound < before - FLAT * size:  # no room, or slivers have spoilt the polytope
            return depth, normal, a.p, a.p, False
        count, used, before = left, used + 1, bound
    # a flat part of the surface is made of several faces: the foot of the origin is in one of them
    inmost, at, slack = -np.inf, nearest, 1e-12
    while inmost < -slack and slack < 1e-3:
        slack *= 10.0
        for f in range(count):
            if planes[f, 3] <= bound + slack * size and dot(row(planes, f), d) > 1.0 - slack:
                u, v, w = _weights(corners, faces[f, 0], faces[f, 1], faces[f, 2])
                if min(u, v, w) > inmost:
                    inmost, at = min(u, v, w), f
    on_a, on_b = _witnesses(a, corners, faces[at, 0], faces[at, 1], faces[at, 2])
    return far, d, on_a, on_b, far - bound <= EXACT * size


@jit_inner
def from_outside(a, b, depth, normal, simplex):
    """The same as `penetration`, from a depth and a normal that are nearly right.

    With a surface of radius r, an error e of the normal becomes e (depth + above) / (r + above).
    """
    above = ABOVE * (depth + length(a.size) + length(b.size))
    best, best_normal, on_a, on_b = np.inf, normal, a.p, a.p
    for _ in range(ROUNDS):
        shift = times(depth + above, normal)
        moved = Solid(b.kind, b.size, b.R, plus(b.p, shift), b.first, b.vertex_count, b.vertices)
        apart, towards, at_a, at_b = distance(a, moved, normal, np.inf, simplex)
        if apart == 0.0:
            break
        reached = dot(towards, shift) - apart
        turned = minus(towards, normal)
        if reached < best:
            best, best_normal, on_a, on_b = reached, towards, at_a, minus(at_b, shift)
        depth, normal = reached, towards
        if dot(turned, turned) < ENOUGH:
            break
    return best, best_normal, on_a, on_b


@jit_inner
def _weights(corners, i, j, k):
    """Weights of three corners for the foot of the origin in their plane."""
    x, y, z = row(corners, i), row(corners, j), row(corners, k)
    n = cross(minus(y, x), minus(z, x))
    u, v, w = dot(cross(y, z), n), dot(cross(z, x), n), dot(cross(x, y), n)
    whole = u + v + w
    if not whole > 0.0:
        return 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0
    return u / whole, v / whole, w / whole


@jit_inner
def _witnesses(a, corners, i, j, k):
    """The points of a and b whose difference is where the face i, j, k is nearest to the origin."""
    u, v, w = _weights(corners, i, j, k)
    u, v, w = max(u, 0.0), max(v, 0.0), max(w, 0.0)
    whole = 1.0 / (u + v + w)
    u, v, w = u * whole, v * whole, w * whole
    difference = along(along(times(u, row(corners, i)), v, row(corners, j)), w, row(corners, k))
    on_a = (
        u * corners[i, 3] + v * corners[j, 3] + w * corners[k, 3],
        u * corners[i, 4] + v * corners[j, 4] + w * corners[k, 4],
        u * corners[i, 5] + v * corners[j, 5] + w * corners[k, 5],
    )
    return plus(a.p, on_a), plus(a.p, minus(on_a, difference))
