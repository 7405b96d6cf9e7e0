"""Any two convex solids: the distance or the depth by their support functions, and further points where faces meet.

The nearest points give the exact gap and normal. Where a face of one lies against the other, the other's face, edge or
flat end is cut by its sides; rods that lie side by side touch at the ends of where they do.
"""

import math

import numpy as np

from linkwork.codegen.jit import jit_inline, jit_inner
from linkwork.collision.boxes import ALIGNED, FACE, FIRST, FROM_SECOND, WITNESS, most_opposed_face
from linkwork.collision.clipping import (
    MOST_CORNERS,
    box_face,
    cut_by_sides,
    cut_segment,
    put,
    put_polygon,
    rim,
    set_row,
    thin_out,
)
from linkwork.collision.epa import EXACT, ROUGH, from_outside, penetration
from linkwork.collision.gjk import distance
from linkwork.collision.layout import BOX, CAPSULE, CONVEX, CYLINDER, ELLIPSOID, HULL, SPHERE, TRIANGLE
from linkwork.collision.pair_dispatch import collider, margin_of, polygons, polytope_of, results, simplex_of, view
from linkwork.collision.round_shapes import ALIKE, plane_ball, to_box
from linkwork.collision.support import NUMBERS, Solid, core_support
from linkwork.collision.vectors import along, axis, cross, dot, length, minus, plus, row, tangent, times, turn, turn_back, unit

ATTAINED = 1e-9  # relative: a point that is as near as the nearest makes that one needless
FACES = 4096  # numbers of faces in features are taken modulo this
AROUND = 8  # directions around a normal in which a flat part of a solid from outside is sought
TILT = 0.01  # rad: by so much they are tilted. A surface of radius r moves by r TILT: what moves by sqrt(TILT) sizes is flat
ENDS = 1 << 39  # features of the ends of rods


@jit_inner
def solid_of(numbers, integers, shape_numbers, which):
    """The first (0) or second (1) collider of a pair as a Solid; of a hull, with its vertices."""
    size, R, p = collider(numbers, which)
    head = view(integers, 0, 6)
    kind, at = head[4 + which], head[2 * which]
    count = int(view(shape_numbers, at, 1)[0]) if kind == HULL else 0
    return Solid(kind, size, R, p, 0, count, view(shape_numbers, at + 1, 3 * count).reshape(count, 3))


@jit_inner
def outside_of(numbers, integers, shape_numbers, which):
    """The same for a shape from outside: its numbers stand in the place of vertices, the address of its support function in
    that of the first one."""
    size, R, p = collider(numbers, which)
    head = view(integers, 0, 6)
    return Solid(CONVEX, size, R, p, head[2 * which + 1], 0, view(shape_numbers, head[2 * which], NUMBERS))


@jit_inner
def roundness(solid):
    """By how much a solid is larger than its core, m."""
    return solid.size[0] if solid.kind == SPHERE or solid.kind == CAPSULE else 0.0


@jit_inner
def is_curved(solid):
    """Whether the core has a curved surface."""
    return solid.kind == CYLINDER or solid.kind == ELLIPSOID or solid.kind == CONVEX


@jit_inline
def _vertex(vertices, k):
    """A vertex of a hull or triangle; a solid from outside has none."""
    if vertices.ndim == 1:
        return (0.0, 0.0, 0.0)
    return (vertices[k, 0], vertices[k, 1], vertices[k, 2])


@jit_inner
def hull_face(solid, planes, loops, direction, polygon, lines):
    """The corners of the face of a hull that looks most along a direction; (how many, face, its normal)."""
    local = turn_back(solid.R, direction)
    faces, best, most = loops[0], 0, -np.inf
    for f in range(faces):
        facing = planes[f, 0] * local[0] + planes[f, 1] * local[1] + planes[f, 2] * local[2]
        if facing > most:
            best, most = f, facing
    begin, end = loops[1 + best], loops[2 + best]
    stride, n = (end - begin - 1) // MOST_CORNERS + 1, 0
    for k in range(begin, end, stride):
        set_row(polygon, n, plus(solid.p, turn(solid.R, _vertex(solid.vertices, loops[k]))))
        lines[n] = n
        n += 1
    return n, best, turn(solid.R, (planes[best, 0], planes[best, 1], planes[best, 2]))


@jit_inner
def flat_part(solid, direction, polygon, lines):
    """Corners of the flat part of a solid from outside around a direction, from AROUND directions that are tilted by TILT;
    returns how many; 1: there is none, or it is smaller than curvature would make it."""
    u = tangent(unit(direction, (0.0, 0.0, 1.0)))
    v = cross(unit(direction, (0.0, 0.0, 1.0)), u)
    first, far, n = core_support(solid, direction), 0.0, 0
    for k in range(AROUND):
        angle = 2.0 * math.pi * k / AROUND
        tilted = along(along(unit(direction, (0.0, 0.0, 1.0)), TILT * math.cos(angle), u), TILT * math.sin(angle), v)
        p = core_support(solid, tilted)
        far = max(far, length(minus(p, first)))
        if n == 0 or length(minus(p, row(polygon, n - 1))) > ATTAINED * length(solid.size):
            set_row(polygon, n, p)
            lines[n] = k
            n += 1
    if n > 1 and length(minus(row(polygon, 0), row(polygon, n - 1))) <= ATTAINED * length(solid.size):
        n -= 1
    return n if far > math.sqrt(TILT) * length(solid.size) else 1


@jit_inner
def _across(polygon, n, direction):
    """The normal of a polygon, on the side of a direction."""
    total, p = (0.0, 0.0, 0.0), row(polygon, 0)
    for k in range(1, n - 1):
        total = plus(total, cross(minus(row(polygon, k), p), minus(row(polygon, k + 1), p)))
    facing = unit(total, direction)
    return facing if dot(facing, direction) >= 0.0 else times(-1.0, facing)


@jit_inline
def _flat_of_outside(vertices, solid, direction, polygon, lines):
    """What `outline` says of a solid from outside; of others, that they are flat nowhere."""
    if vertices.ndim == 1:
        n = flat_part(solid, direction, polygon, lines)
        if n > 2:
            return n, 0, _across(polygon, n, direction)
    return 1, 0, direction


@jit_inner
def outline(solid, which, integers, shape_numbers, shape_integers, direction, polygon, lines):
    """The flat part of a core that looks along a direction: (corners, its number, its outward normal).

    Two corners: an edge; one: no flat part.
    """
    if solid.kind == BOX:
        i, sign = most_opposed_face(solid.size, solid.R, times(-1.0, direction))
        n = box_face(solid.size, solid.R, solid.p, i, sign, polygon, lines)
        return n, 2 * i + (1 if sign > 0.0 else 0), times(sign, axis(solid.R, i))
    if solid.kind == HULL:
        head = view(integers, 0, 6)
        faces = view(shape_integers, head[2 * which + 1], 1)[0]
        whole = view(shape_integers, head[2 * which + 1] + 1, 1)[0]
        loops = view(shape_integers, head[2 * which + 1] + 2, whole)
        begin = head[2 * which] + 1 + 3 * solid.vertex_count
        planes = view(shape_numbers, begin, 4 * faces).reshape(faces, 4)
        return hull_face(solid, planes, loops, direction, polygon, lines)
    if solid.kind == CYLINDER:
        d, upwards = turn_back(solid.R, direction), axis(solid.R, 2)
        around = math.hypot(d[0], d[1])
        if abs(d[2]) >= around:
            sign = 1.0 if d[2] >= 0.0 else -1.0
            return rim(solid.size, solid.R, solid.p, sign, polygon, lines), 1 if sign > 0.0 else 0, times(sign, upwards)
        outwards = turn(solid.R, (d[0] / around, d[1] / around, 0.0))
        middle = along(solid.p, solid.size[0], outwards)
        set_row(polygon, 0, along(middle, -solid.size[1], upwards))
        set_row(polygon, 1, along(middle, solid.size[1], upwards))
        return 2, 2, outwards
    if solid.kind == TRIANGLE:
        for k in range(3):
            set_row(polygon, k, plus(solid.p, turn(solid.R, _vertex(solid.vertices, k))))
            lines[k] = k
        p = row(polygon, 0)
        facing = unit(cross(minus(row(polygon, 1), p), minus(row(polygon, 2), p)), direction)
        return 3, 0, facing
    if solid.kind == CAPSULE:
        set_row(polygon, 0, along(solid.p, -solid.size[1], axis(solid.R, 2)))
        set_row(polygon, 1, along(solid.p, solid.size[1], axis(solid.R, 2)))
        return 2, 0, direction
    return _flat_of_outside(solid.vertices, solid, direction, polygon, lines)


@jit_inner
def put_ends(hits, tags, count, rod, other, normal, least, sign, margin, tag):
    """Contacts of the ends of a rod (capsule, or side of a cylinder) that lie beside another one.

    normal: from the rod to the other, least: the gap there; sign: of what is reported.
    """
    radius = rod.size[0] if rod.kind == CAPSULE else 0.0
    out = along(normal, -dot(normal, axis(rod.R, 2)), axis(rod.R, 2))
    out = times(0.0 if rod.kind == CAPSULE else rod.size[0], unit(out, normal))
    e = axis(other.R, 2)
    for end in range(2):
        at = plus(along(rod.p, rod.size[1] if end else -rod.size[1], axis(rod.R, 2)), out)
        t = dot(minus(at, other.p), e)
        if abs(t) > other.size[1]:
            continue
        between = minus(along(other.p, t, e), at)
        towards = unit(between, normal)
        gap = dot(between, towards) - radius - other.size[0]
        if least <= gap <= margin and dot(towards, normal) > ALIKE:
            count = put(hits, tags, count, tag + end, along(at, radius + 0.5 * gap, towards), times(sign, towards), gap)
    return count


@jit_inner
def further_points(hits, tags, a, b, normal, least, margin, integers, shape_numbers, shape_integers, room, lines):
    """Contacts where a flat part of one solid lies against the other, from place 0; returns how many."""
    n, face, facing = outline(a, 0, integers, shape_numbers, shape_integers, normal, room[0], lines[0])
    back = times(-1.0, normal)
    m, other_face, other_facing = outline(b, 1, integers, shape_numbers, shape_integers, back, room[2], lines[2])
    if n == 1 or m == 1:
        return 0
    if n == 2 and m == 2:
        count = put_ends(hits, tags, 0, a, b, normal, least, 1.0, margin, ENDS)
        return put_ends(hits, tags, count, b, a, back, least, -1.0, margin, ENDS + 2)
    aligned = dot(facing, normal) if n > 2 else -1.0
    other_aligned = dot(other_facing, back) if m > 2 else -1.0
    if max(aligned, other_aligned) < ALIGNED:
        return 0
    if aligned >= other_aligned - FIRST:
        offset, radius = dot(facing, (room[0, 0, 0], room[0, 0, 1], room[0, 0, 2])), roundness(b)
        if m == 2:
            m = cut_segment(room[0], n, normal, room[2], lines[2])
        else:
            m = cut_by_sides(room[0], n, normal, room[2], lines[2], m, room[1], lines[1])
        tag = (face % FACES * FACES + other_face % FACES) * FACE
        return put_polygon(hits, tags, 0, room[2], lines[2], m, facing, offset, normal, 1.0, radius, margin, tag)
    offset, radius = dot(other_facing, (room[2, 0, 0], room[2, 0, 1], room[2, 0, 2])), roundness(a)
    if n == 2:
        n = cut_segment(room[2], m, back, room[0], lines[0])
    else:
        n = cut_by_sides(room[2], m, back, room[0], lines[0], n, room[1], lines[1])
    tag = FROM_SECOND + (other_face % FACES * FACES + face % FACES) * FACE
    return put_polygon(hits, tags, 0, room[0], lines[0], n, other_facing, offset, back, -1.0, radius, margin, tag)


@jit_inner
def _ball_apart(a, b):
    """A distance that b is from a at least, if a is an ellipsoid, and b one or a box: from a ball around it."""
    if a.kind != ELLIPSOID:
        return 0.0
    far, local = max(a.size[0], a.size[1], a.size[2]), minus(a.p, b.p)
    if b.kind == ELLIPSOID:
        return length(local) - far - max(b.size[0], b.size[1], b.size[2])
    if b.kind == BOX:
        return to_box(b.size, turn_back(b.R, local))[2] - far
    return 0.0


@jit_inner
def nearest_points(a, b, margin, simplex, numbers, integers):
    """(gap, normal from a to b, points of the cores) of two solids; a gap above the margin says no more than that."""
    radius = roundness(a) + roundness(b)
    bound = max(_ball_apart(a, b), _ball_apart(b, a)) - radius
    if bound > margin:
        return bound, (0.0, 0.0, 1.0), a.p, b.p
    apart, normal, on_a, on_b = distance(a, b, minus(b.p, a.p), margin + radius, simplex)
    if apart == 0.0:
        corners, planes, faces = polytope_of(numbers, integers)
        precision = ROUGH if is_curved(a) or is_curved(b) else EXACT
        depth, normal, on_a, on_b, exact = penetration(a, b, simplex, precision, corners, planes, faces)
        if not exact:
            depth, normal, on_a, on_b = from_outside(a, b, depth, normal, simplex)
        apart = -depth
    return apart - radius, normal, on_a, on_b


@jit_inner
def put_all(hits, tags, a, b, gap, normal, on_a, on_b, margin, integers, shape_numbers, shape_integers, room, lines):
    """The contacts of two solids from place 0 of hits, given their nearest points; returns how many."""
    slack, nearest = ATTAINED * (length(a.size) + length(b.size)), np.inf
    least = gap - slack
    count = further_points(hits, tags, a, b, normal, least, margin, integers, shape_numbers, shape_integers, room, lines)
    for k in range(count):
        nearest = min(nearest, hits[k, 6])
    u = tangent(normal)
    count = thin_out(hits, tags, 0, count, u, cross(normal, u))
    if nearest > gap + slack:
        middle = times(0.5, plus(along(on_a, roundness(a), normal), along(on_b, -roundness(b), normal)))
        count = put(hits, tags, count, WITNESS, middle, normal, gap)
    return count


def convex_convex(numbers, integers, shape_numbers, shape_integers):
    """The nearest points of two solids, or the deepest, and what else touches there."""
    return any_two(numbers, integers, shape_numbers, shape_integers)


def convex_outside(numbers, integers, shape_numbers, shape_integers):
    """Contacts of a solid of this package with one from outside, whose support function is called by address."""
    a, b = solid_of(numbers, integers, shape_numbers, 0), outside_of(numbers, integers, shape_numbers, 1)
    return both(a, b, numbers, integers, shape_numbers, shape_integers)


def outside_outside(numbers, integers, shape_numbers, shape_integers):
    """Contacts of two solids from outside."""
    a, b = outside_of(numbers, integers, shape_numbers, 0), outside_of(numbers, integers, shape_numbers, 1)
    return both(a, b, numbers, integers, shape_numbers, shape_integers)


@jit_inner
def any_two(numbers, integers, shape_numbers, shape_integers):
    """The same, for other routines."""
    a, b = solid_of(numbers, integers, shape_numbers, 0), solid_of(numbers, integers, shape_numbers, 1)
    return both(a, b, numbers, integers, shape_numbers, shape_integers)


@jit_inner
def both(a, b, numbers, integers, shape_numbers, shape_integers):
    """The contacts of two solids."""
    (hits, tags), (room, lines), margin = results(numbers, integers), polygons(numbers, integers), margin_of(numbers)
    gap, normal, on_a, on_b = nearest_points(a, b, margin, simplex_of(numbers), numbers, integers)
    if gap > margin:
        return 0
    return put_all(hits, tags, a, b, gap, normal, on_a, on_b, margin, integers, shape_numbers, shape_integers, room, lines)


def plane_cylinder(numbers, integers, shape_numbers, shape_integers):
    """The lowest point of either rim, and four of the lower one that are fixed in the cylinder."""
    (_, R, p), (size, S, q) = collider(numbers, 0), collider(numbers, 1)
    hits, tags = results(numbers, integers)
    margin = margin_of(numbers)
    down = turn_back(S, times(-1.0, axis(R, 2)))
    around = math.hypot(down[0], down[1])
    scale = size[0] / around if around > 0.0 else 0.0
    count, lower = 0, 1.0 if down[2] >= 0.0 else -1.0
    if around > 0.0:
        for end in range(2):
            lowest = (down[0] * scale, down[1] * scale, size[1] if end else -size[1])
            count = plane_ball(hits, tags, count, end, R, p, plus(q, turn(S, lowest)), 0.0, margin)
    for k in range(4):
        fixed = (
            size[0] if k == 0 else (-size[0] if k == 2 else 0.0),
            size[0] if k == 1 else (-size[0] if k == 3 else 0.0),
            lower * size[1],
        )
        count = plane_ball(hits, tags, count, (4 if lower > 0.0 else 8) + k, R, p, plus(q, turn(S, fixed)), 0.0, margin)
    return count


def plane_ellipsoid(numbers, integers, shape_numbers, shape_integers):
    """The lowest point."""
    (_, R, p), hull = collider(numbers, 0), solid_of(numbers, integers, shape_numbers, 1)
    hits, tags = results(numbers, integers)
    lowest = core_support(hull, times(-1.0, axis(R, 2)))
    return plane_ball(hits, tags, 0, 0, R, p, lowest, 0.0, margin_of(numbers))


def plane_outside(numbers, integers, shape_numbers, shape_integers):
    """The lowest point, and the corners of a flat part around it."""
    (_, R, p), solid = collider(numbers, 0), outside_of(numbers, integers, shape_numbers, 1)
    (hits, tags), (room, lines), margin = results(numbers, integers), polygons(numbers, integers), margin_of(numbers)
    down = times(-1.0, axis(R, 2))
    count, n = 0, flat_part(solid, down, room[0], lines[0])
    for k in range(n if n > 1 else 0):
        count = plane_ball(hits, tags, count, 1 + lines[0, k], R, p, row(room[0], k), 0.0, margin)
    if n == 1:
        count = plane_ball(hits, tags, count, 0, R, p, core_support(solid, down), 0.0, margin)
    return thin_out(hits, tags, 0, count, axis(R, 0), axis(R, 1))


def plane_hull(numbers, integers, shape_numbers, shape_integers):
    """The outermost of the vertices that are near, and the lowest."""
    (_, R, p), hull = collider(numbers, 0), solid_of(numbers, integers, shape_numbers, 1)
    hits, tags = results(numbers, integers)
    margin, count = margin_of(numbers), 0
    for k in range(hull.vertex_count):
        vertex = (hull.vertices[k, 0], hull.vertices[k, 1], hull.vertices[k, 2])
        if count == hits.shape[0]:
            count = thin_out(hits, tags, 0, count, axis(R, 0), axis(R, 1))
        count = plane_ball(hits, tags, count, k, R, p, plus(hull.p, turn(hull.R, vertex)), 0.0, margin)
    return thin_out(hits, tags, 0, count, axis(R, 0), axis(R, 1))
