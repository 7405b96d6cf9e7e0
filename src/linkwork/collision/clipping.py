"""Contact points of two faces: one polygon is cut by the sides of the other, and few points are kept.

A corner of a polygon is where two lines meet. Each corner remembers the line after it, so that a point of the result
is known by two lines (edges of the incident face, or sides of the reference face) for as long as they meet there.
"""

import math

import numpy as np

from linkwork.codegen.jit import jit_inner
from linkwork.collision.vectors import along, cross, dot, minus, plus, row, times, turn

LINES = 64  # more edges than any face has
MOST_CORNERS = 24  # of a face; of more, evenly spread ones are taken
RIM = 8  # corners that stand for the rim of a cylinder


@jit_inner
def put(hits, tags, k, tag, point, normal, gap):
    """Write contact k of a pair; returns k + 1."""
    if k >= hits.shape[0]:
        return k
    tags[k] = tag
    for i in range(3):
        hits[k, i] = point[i]
        hits[k, 3 + i] = normal[i]
    hits[k, 6] = gap
    return k + 1


@jit_inner
def set_row(array, i, a):
    array[i, 0], array[i, 1], array[i, 2] = a


@jit_inner
def box_face(size, R, p, i, sign, polygon, lines):
    """The four corners of face (i, sign) of a box, anticlockwise seen from outside; returns 4."""
    j, k = (i + 1) % 3, (i + 2) % 3
    u, v = times(size[j], (R[0, j], R[1, j], R[2, j])), times(sign * size[k], (R[0, k], R[1, k], R[2, k]))
    middle = along(p, sign * size[i], (R[0, i], R[1, i], R[2, i]))
    set_row(polygon, 0, plus(plus(middle, u), v))
    set_row(polygon, 1, plus(minus(middle, u), v))
    set_row(polygon, 2, minus(minus(middle, u), v))
    set_row(polygon, 3, minus(plus(middle, u), v))
    for corner in range(4):
        lines[corner] = corner
    return 4


@jit_inner
def rim(size, R, p, sign, polygon, lines):
    """Corners on the rim of one end of a cylinder, fixed in its frame, anticlockwise seen from outside; returns how many."""
    for k in range(RIM):
        angle = sign * 2.0 * math.pi / RIM * k
        local = (size[0] * math.cos(angle), size[0] * math.sin(angle), sign * size[1])
        set_row(polygon, k, plus(p, turn(R, local)))
        lines[k] = k
    return RIM


@jit_inner
def cut(polygon, lines, n, spare, spare_lines, outwards, offset, line):
    """Keep the part of a polygon in which outwards . x <= offset; returns how many corners are left."""
    kept = 0
    for i in range(n):
        p, q = row(polygon, i), row(polygon, (i + 1) % n)
        here, there = dot(outwards, p) - offset, dot(outwards, q) - offset
        if here <= 0.0:
            set_row(spare, kept, p)
            spare_lines[kept] = lines[i]
            kept += 1
            if there > 0.0 and kept < spare.shape[0]:
                if here < 0.0:
                    set_row(spare, kept, along(p, here / (here - there), minus(q, p)))
                    spare_lines[kept] = line
                    kept += 1
                else:
                    spare_lines[kept - 1] = line
        elif there < 0.0 and kept < spare.shape[0]:
            set_row(spare, kept, along(p, here / (here - there), minus(q, p)))
            spare_lines[kept] = lines[i]
            kept += 1
    for i in range(kept):
        set_row(polygon, i, row(spare, i))
        lines[i] = spare_lines[i]
    return kept


@jit_inner
def cut_by_sides(reference, sides, normal, polygon, lines, n, spare, spare_lines):
    """Cut a polygon by the planes through the edges of a reference polygon, along its normal."""
    for k in range(sides):
        p, q = row(reference, k), row(reference, (k + 1) % sides)
        outwards = cross(minus(q, p), normal)
        n = cut(polygon, lines, n, spare, spare_lines, outwards, dot(outwards, p), LINES + k)
        if n == 0:
            return 0
    return n


@jit_inner
def cut_segment(reference, sides, normal, polygon, lines):
    """The same for a segment, two corners; returns 2, or 0 if nothing is left."""
    p, q = row(polygon, 0), row(polygon, 1)
    d, low, high = minus(q, p), 0.0, 1.0
    lines[0], lines[1] = 0, 1
    for k in range(sides):
        at = row(reference, k)
        outwards = cross(minus(row(reference, (k + 1) % sides), at), normal)
        here, slope = dot(outwards, minus(p, at)), dot(outwards, d)
        if slope > 0.0:
            if -here < high * slope:
                high, lines[1] = -here / slope, LINES + k
        elif slope < 0.0:
            if -here < low * slope:
                low, lines[0] = -here / slope, LINES + k
        elif here > 0.0:
            return 0
    if low > high:
        return 0
    set_row(polygon, 0, along(p, low, d))
    set_row(polygon, 1, along(p, high, d))
    return 2


@jit_inner
def put_polygon(hits, tags, count, polygon, lines, n, facing, offset, normal, sign, radius, margin, tag):
    """Contacts of the corners of an incident polygon with the reference plane facing . x = offset, along a normal.

    The reported normal is sign times that; radius is what the incident solid is larger than its core.
    """
    steep = 1.0 / dot(facing, normal)
    for i in range(n):
        p = row(polygon, i)
        gap = (dot(facing, p) - offset) * steep - radius
        if gap <= margin:
            point = along(p, -radius - 0.5 * gap, normal)
            before = lines[i - 1] if i > 0 else lines[n - 1]
            count = put(hits, tags, count, tag + before * 2 * LINES + lines[i], point, times(sign, normal), gap)
    return count


@jit_inner
def thin_out(hits, tags, begin, count, u, v):
    """Keep the extreme points in four directions of the plane of u and v, and the deepest; returns the new count."""
    if count - begin <= 4:
        return count
    c0 = c1 = c2 = c3 = deepest = begin
    s0 = s1 = s2 = s3 = -np.inf
    for k in range(begin, count):
        p = row(hits, k)
        x, y = dot(p, u), dot(p, v)
        along_1, along_2 = x + 0.41 * y, y - 0.41 * x  # askew, so that boxes on boxes have no ties
        if along_1 > s0:
            c0, s0 = k, along_1
        if along_2 > s1:
            c1, s1 = k, along_2
        if -along_1 > s2:
            c2, s2 = k, -along_1
        if -along_2 > s3:
            c3, s3 = k, -along_2
        if hits[k, 6] < hits[deepest, 6]:
            deepest = k
    chosen = (c0, c1, c2, c3, deepest)
    kept = begin
    for k in range(begin, count):
        wanted = False
        for c in range(5):
            wanted |= chosen[c] == k
        if wanted:
            tags[kept] = tags[k]
            for i in range(7):
                hits[kept, i] = hits[k, i]
            kept += 1
    return kept
