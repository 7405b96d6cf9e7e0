"""All contacts of a configuration.

>>> import numpy as np
>>> from linkwork.collision.collider_table import Placed, compile_colliders, contacts_for, scratch_for
>>> from linkwork.elements import Box, Plane
>>> geometry = compile_colliders([Placed(Plane()), Placed(Box(0.2, 0.2, 0.2), body=0)])  # once
>>> scratch, out = scratch_for(geometry), contacts_for(10)
>>> R, p = np.eye(3)[None], np.array([[0, 0, 0.099]])
>>> count = detect(geometry, R, p, 0.01, scratch, out)  # every step: nothing is allocated
>>> count, out.normal[0].tolist(), round(float(out.gap[0]), 6)
(4, [0.0, 0.0, 1.0], -0.001)

R (n, 3, 3) and p (n, 3), m, are the rotations (of bodies that stretch: linear maps) and positions of the bodies, C-contiguous
floats; margin, m, is the largest gap that is reported. `out` holds a and b (colliders, a < b), feature, point (world, midway
between the two surfaces), normal (unit, from a to b) and gap (negative: penetration depth), ordered by (a, b, feature): the
same input gives the same bits, whatever happened before. A contact is known from step to step by (a, b, feature). If the count
returned is above the capacity of `out`, only that many were written: make room with `contacts_for` and call again.
"""

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.collision.broadphase import FEW, meet, overlap, partners, place, prepare
from linkwork.collision.layout import AT_INTEGERS, AT_NUMBERS, BODY, ELLIPSOID, KIND, POSITION, SIZE
from linkwork.collision.middles import add_middle
from linkwork.collision.pair_dispatch import AT_HITS, AT_TAGS, MARGIN, SOLID, call
from linkwork.collision.stretched import stretch_hulls


@jit
def detect(geometry, R, p, margin, scratch, out):
    """Write all contacts with a gap of at most `margin`, and of what is ahead of their bodies (`scratch.ahead`), to `out`;
    returns how many there are."""
    labels, boxes, poses, pairs = geometry.labels, scratch.boxes, scratch.poses, geometry.pairs
    place(geometry.constants, labels, R, p, margin, scratch.ahead, poses, boxes)
    if len(geometry.stretched) > 0:
        stretch_hulls(geometry, poses, boxes, margin, scratch.ahead)
    total = 0
    if labels.shape[0] <= FEW:
        for k in range(pairs.shape[0]):
            a, b = pairs[k, 0], pairs[k, 1]
            if meet(labels, poses, boxes, 0.5 * margin, a, b) if pairs[k, 2] else overlap(boxes, a, boxes, b):
                total = try_pair(geometry, scratch, a, b, margin, total, out)
        return total
    prepare(geometry.near, geometry.cell[0], boxes, scratch.sorting, scratch.tally, scratch.tree)
    for a in range(labels.shape[0]):
        near = partners(labels, geometry.apart, geometry.large, poses, boxes, margin, scratch.tree, scratch.sorting, a,
                        scratch.found)  # fmt: skip
        for i in range(near):
            total = try_pair(geometry, scratch, a, scratch.found[i], margin, total, out)
    return total


@jit_inner
def try_pair(geometry, scratch, a, b, margin, total, out):
    """Write the contacts of a pair; returns the new total."""
    constants, labels, poses, numbers, integers = (
        geometry.constants, geometry.labels, scratch.poses, scratch.numbers, scratch.integers
    )  # fmt: skip
    far = margin + ahead_of(labels, scratch.ahead, a) + ahead_of(labels, scratch.ahead, b)
    numbers[MARGIN] = far
    in_order = labels[a, KIND] <= labels[b, KIND]
    load(constants, labels, poses, a, 0 if in_order else 1, numbers, integers)
    load(constants, labels, poses, b, 1 if in_order else 0, numbers, integers)
    routine = geometry.routine[integers[4], integers[5]]
    count = call(routine, numbers, integers, geometry.shape_numbers, geometry.shape_integers)
    if integers[4] == ELLIPSOID or integers[5] == ELLIPSOID:
        count = add_middle(numbers, integers, count, far - margin)
    return report(a, b, 1.0 if in_order else -1.0, count, far, numbers, integers, total, out)


@jit_inline
def ahead_of(labels, ahead, c):
    body = labels[c, BODY]
    return ahead[body] if body >= 0 else 0.0


@jit_inline
def load(constants, labels, poses, c, which, numbers, integers):
    """Write a collider to where routines read it, as the first or the second of a pair."""
    begin = which * SOLID
    for i in range(3):
        numbers[begin + i] = constants[c, SIZE + i]
        numbers[begin + 12 + i] = poses[c, POSITION + i]
    for i in range(9):
        numbers[begin + 3 + i] = poses[c, i]
    integers[2 * which], integers[2 * which + 1] = labels[c, AT_NUMBERS], labels[c, AT_INTEGERS]
    integers[4 + which] = labels[c, KIND]


@jit_inner
def report(a, b, sign, count, margin, numbers, integers, total, out):
    """Write the contacts of a pair that are within the margin, sorted by feature; returns the new total."""
    start, room = total, out.a.shape[0]
    for k in range(count):
        hit, tag = AT_HITS + 7 * k, integers[AT_TAGS + k]
        if not numbers[hit + 6] <= margin:
            continue
        at = total
        while at > start and at <= room and out.feature[at - 1] > tag:
            if at < room:
                out.feature[at], out.gap[at] = out.feature[at - 1], out.gap[at - 1]
                for i in range(3):
                    out.point[at, i], out.normal[at, i] = out.point[at - 1, i], out.normal[at - 1, i]
            at -= 1
        if total < room:
            out.a[total], out.b[total] = a, b
        if at < room:
            out.feature[at], out.gap[at] = tag, numbers[hit + 6]
            for i in range(3):
                out.point[at, i], out.normal[at, i] = numbers[hit + i], sign * numbers[hit + 3 + i]
        total += 1
    return total
