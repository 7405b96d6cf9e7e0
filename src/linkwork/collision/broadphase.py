"""Which colliders are near each other: a tree of boxes over the colliders in Morton order, made anew in every step.

Colliders are sorted along a space-filling curve; the tree is the binary heap over that order, so that it needs neither
pointers nor a builder: node k has the children 2k and 2k + 1, the leaves are nodes m to 2m - 1. Nothing is remembered
from step to step. Planes, and what is far larger than the rest, stand beside the tree and are tried with everything.
"""

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.collision.layout import (
    BODY,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    KIND,
    LARGE,
    MIDDLE,
    MOVED,
    PLANE,
    POSITION,
    ROTATION,
    SIZE,
    SPHERE,
    TURNED,
)
from linkwork.collision.pairs import may_touch

BITS = 21  # of each coordinate in a Morton code
DIGIT = 11  # bits that one pass of the sort takes
FEW = 48  # colliders of which all pairs are known, without a tree
SORTING = 4  # rows of the room for the sort: items, codes, and both once more


@jit
def place(constants, labels, R, p, margin, ahead, poses, boxes):
    """Poses of the colliders in the world, and their bounding boxes grown on every side by half the margin and by what their
    bodies are looked for ahead."""
    for c in range(labels.shape[0]):
        body, own, pose = labels[c, BODY], constants[c], poses[c]
        grown = 0.5 * margin + (ahead[body] if body >= 0 else 0.0)
        for i in range(3):
            if body < 0:
                pose[POSITION + i] = own[MOVED + i]
                for j in range(3):
                    pose[ROTATION + 3 * i + j] = own[TURNED + 3 * i + j]
            else:
                pose[POSITION + i] = p[body, i]
                for j in range(3):
                    pose[POSITION + i] += R[body, i, j] * own[MOVED + j]
                    pose[ROTATION + 3 * i + j] = (
                        R[body, i, 0] * own[TURNED + j]
                        + R[body, i, 1] * own[TURNED + 3 + j]
                        + R[body, i, 2] * own[TURNED + 6 + j]
                    )
            x, y, z = pose[ROTATION + 3 * i], pose[ROTATION + 3 * i + 1], pose[ROTATION + 3 * i + 2]
            middle = pose[POSITION + i] + x * own[MIDDLE] + y * own[MIDDLE + 1] + z * own[MIDDLE + 2]
            half = _reach(labels[c, KIND], own[SIZE], own[SIZE + 1], own[SIZE + 2], x, y, z) + grown
            boxes[c, i], boxes[c, 3 + i] = middle - half, middle + half


@jit
def _reach(kind, a, b, c, x, y, z):
    """Half the length of a solid of sizes a, b, c along a direction (x, y, z) of its own frame, or more."""
    if kind == SPHERE:
        return a
    if kind == CAPSULE:
        return a + abs(z) * b
    if kind == CYLINDER:
        return a * math.hypot(x, y) + abs(z) * b
    if kind == ELLIPSOID:
        return math.sqrt((x * a) ** 2 + (y * b) ** 2 + (z * c) ** 2)
    if kind == PLANE:
        return np.inf
    return abs(x) * a + abs(y) * b + abs(z) * c


@jit_inline
def overlap(boxes, k, other_boxes, l):
    """Whether box k of an array (n, 6), low and high, overlaps box l of another. One that is not finite overlaps nothing. All
    is compared: a branch that is taken now and then costs more."""
    one, other = boxes[np.uint64(k)], other_boxes[np.uint64(l)]  # which are not counted from the end
    return (
        (one[0] <= other[3])
        & (other[0] <= one[3])
        & (one[1] <= other[4])
        & (other[1] <= one[4])
        & (one[2] <= other[5])
        & (other[2] <= one[5])
    )


@jit
def _spread(x):
    """The bits of x, two zeros between each and the next."""
    x = (x | x << 32) & 0x1F00000000FFFF
    x = (x | x << 16) & 0x1F0000FF0000FF
    x = (x | x << 8) & 0x100F00F00F00F00F
    x = (x | x << 4) & 0x10C30C30C30C30C3
    return (x | x << 2) & 0x1249249249249249


@jit
def _cell(low, high, cell):
    """The number of the cell in which the middle lies, counted from far below; NaN counts as far below."""
    most = 1 << (BITS - 1)
    x = math.floor(0.5 * (low + high) / cell)
    if not x > -most:
        return 0
    return 2 * most - 1 if x >= most else int(x) + most


@jit
def morton_order(boxes, which, cell, sorting, tally):
    """Sort the items `which` by the Morton code of the middle of their boxes (n, 6): a stable radix sort into sorting[0]."""
    n = which.shape[0]
    items, codes, other_items, other_codes = sorting[0], sorting[1], sorting[2], sorting[3]
    differing = 0
    for i in range(n):
        box = boxes[which[i]]
        items[i] = which[i]
        codes[i] = (
            _spread(_cell(box[0], box[3], cell))
            | _spread(_cell(box[1], box[4], cell)) << 1
            | _spread(_cell(box[2], box[5], cell)) << 2
        )
        differing |= codes[i] ^ codes[0]
    mask = (1 << DIGIT) - 1
    for shift in range(0, 3 * BITS, DIGIT):
        if (differing >> shift) & mask == 0:
            continue
        for d in range(len(tally)):
            tally[d] = 0
        for i in range(n):
            tally[(codes[i] >> shift) & mask] += 1
        before = 0
        for d in range(mask + 1):
            here = tally[d]
            tally[d] = before
            before += here
        for i in range(n):
            d = (codes[i] >> shift) & mask
            other_items[tally[d]] = items[i]
            other_codes[tally[d]] = codes[i]
            tally[d] += 1
        items, codes, other_items, other_codes = other_items, other_codes, items, codes
    for i in range(n):
        sorting[0, i] = items[i]


@jit
def build(boxes, order, n, tree):
    """The boxes of all nodes (2 leaves, 6), from the leaves up; leaves beyond the n-th are empty."""
    leaves = tree.shape[0] // 2
    for i in range(leaves):
        for j in range(3):
            tree[leaves + i, j] = boxes[order[i], j] if i < n else np.inf
            tree[leaves + i, 3 + j] = boxes[order[i], 3 + j] if i < n else -np.inf
    for k in range(leaves - 1, 0, -1):
        for j in range(3):
            low, other = tree[2 * k, j], tree[2 * k + 1, j]
            tree[k, j] = other if other < low or low != low else low  # NaN never wins
            high, other = tree[2 * k, 3 + j], tree[2 * k + 1, 3 + j]
            tree[k, 3 + j] = other if other > high or high != high else high


@jit
def gather(tree, boxes, a, order, found):
    """Write the items whose boxes overlap box a to `found`, in the order of leaves; returns how many."""
    leaves, count, k = tree.shape[0] // 2, 0, 1
    while True:
        if overlap(tree, k, boxes, a):
            if k < leaves:
                k *= 2
                continue
            found[count] = order[k - leaves]
            count += 1
        k += 1  # the subtree after this one; after the last, 1 again
        while k & 1 == 0:
            k >>= 1
        if k == 1:
            return count


@jit
def prepare(near, cell, boxes, sorting, tally, tree):
    """Sort the colliders and build the tree."""
    morton_order(boxes, near, cell, sorting, tally)
    build(boxes, sorting[0], near.shape[0], tree)


@jit_inner
def _in_plane(poses, plane, boxes, c, slack):
    """Whether the bounding box of a collider reaches into the half space of a plane, or within slack of it."""
    reach = 0.0
    for i in range(3):
        n = poses[plane, ROTATION + 3 * i + 2]
        if n > 0.0:
            reach += n * (boxes[c, i] - poses[plane, POSITION + i])
        elif n < 0.0:
            reach += n * (boxes[c, 3 + i] - poses[plane, POSITION + i])
    return reach <= slack


@jit_inner
def meet(labels, poses, boxes, slack, a, b):
    """Whether two colliders are near."""
    if labels[a, KIND] == PLANE:
        return labels[b, KIND] != PLANE and _in_plane(poses, a, boxes, b, slack)
    if labels[b, KIND] == PLANE:
        return _in_plane(poses, b, boxes, a, slack)
    return overlap(boxes, a, boxes, b)


@jit
def partners(labels, apart, large, poses, boxes, margin, tree, sorting, a, found):
    """Write the colliders b > a that may touch a and are near it to `found`, ascending; returns how many.

    sorting: row 0 the order of the leaves; row 1 is used.
    """
    count, slack = 0, 0.5 * margin
    if labels[a, LARGE]:
        for b in range(a + 1, labels.shape[0]):
            if meet(labels, poses, boxes, slack, a, b) and may_touch(labels, apart, a, b):
                found[count] = b
                count += 1
        return count
    met = gather(tree, boxes, a, sorting[0], sorting[1])
    for i in range(met):
        b = sorting[1, i]
        if b > a and may_touch(labels, apart, a, b):
            count = _insert(found, count, b)
    for i in range(large.shape[0]):
        b = large[i]
        if b > a and meet(labels, poses, boxes, slack, a, b) and may_touch(labels, apart, a, b):
            count = _insert(found, count, b)
    return count


@jit
def _insert(found, count, b):
    """Keep `found` ascending."""
    i = count
    while i > 0 and found[i - 1] > b:
        found[i] = found[i - 1]
        i -= 1
    found[i] = b
    return count + 1
