"""Solids on surfaces of triangles, from outside.

Every triangle near the solid is taken as a thin solid of its own. What it says is believed only where the whole surface
agrees: a contact on an edge or at a vertex needs all that meets there to lie behind the contact's plane. So an edge
inside a flat floor, or at the bottom of a valley, trips nothing. Contacts that push to the inside are left out too: at an edge
the sum of the two normals, at a vertex the sum of all, each by its angle, tells where outside is (Baerentzen and Aanaes).
"""

from linkwork.codegen.jit import jit_inner
from linkwork.collision.boxes import WITNESS
from linkwork.collision.broadphase import overlap
from linkwork.collision.clipping import thin_out
from linkwork.collision.convex import nearest_points, outside_of, put_all, roundness, solid_of
from linkwork.collision.layout import TRIANGLE
from linkwork.collision.pair_dispatch import AT_OWN, HITS, collider, margin_of, polygons, results, simplex_of, view
from linkwork.collision.support import Solid, core_support
from linkwork.collision.vectors import along, axis, cross, dot, length, minus, plus, row, tangent, times, turn, turn_back, unit

ON_EDGE = 1e-7  # weight of a corner that a point on the other side of the triangle does not have
BEHIND = 1e-5  # sine of the angle by which neighbours may rise above a contact's plane
SAME = 0.999  # cosine of the angle up to which contacts are thinned out together
BELIEVED, SHARED, INNER, WRONG = range(4)
PER_TRIANGLE = 28  # contacts of one triangle before they are thinned out, at most
TRIANGLE_TAG = 1 << 24  # features: the triangle stands above what is known of the contact within it
HEAD = 4  # integers before the arrays of a surface: vertices, triangles, leaves, entries of the stars


@jit_inner
def _weights(p, x, y, z):
    """Weights of the corners x, y, z for a point of a triangle."""
    n = cross(minus(y, x), minus(z, x))
    nn = dot(n, n)
    u = dot(cross(minus(z, y), minus(p, y)), n) / nn
    v = dot(cross(minus(x, z), minus(p, z)), n) / nn
    return u, v, 1.0 - u - v


@jit_inner
def _behind(m, at, other):
    """Whether a vertex lies behind the plane across m through a point."""
    d = minus(other, at)
    return dot(m, d) <= BEHIND * length(d)


@jit_inner
def _believed(t, p, m, vertices, normals, triangles, opposite, owned, star_begin, star):
    """Whether a contact of triangle t at its point p with the direction m outwards (both local) is one of the surface.

    Returns BELIEVED; SHARED, if so but another triangle reports its point; INNER, on an edge or vertex that is no corner of
    the surface; or WRONG, if it leads inwards.
    """
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    x, y, z = row(vertices, i), row(vertices, j), row(vertices, k)
    outwards = unit(cross(minus(y, x), minus(z, x)), m)
    u, v, w = _weights(p, x, y, z)
    missing = (1 if u <= ON_EDGE else 0) + (1 if v <= ON_EDGE else 0) + (1 if w <= ON_EDGE else 0)
    if missing == 0:
        return BELIEVED if dot(m, outwards) > 0.0 else WRONG
    if missing == 1:
        edge = 1 if u <= ON_EDGE else (2 if v <= ON_EDGE else 0)  # edge e leads from corner e to the next
        if opposite[t, edge] >= 0:
            o, e, f = (
                row(vertices, opposite[t, edge]),
                row(vertices, triangles[t, edge]),
                row(vertices, triangles[t, (edge + 1) % 3]),
            )
            if not _behind(m, p, o):
                return INNER
            outwards = plus(outwards, unit(cross(minus(e, f), minus(o, f)), outwards))
        if dot(m, outwards) < -BEHIND:
            return WRONG
        return BELIEVED if owned[t] >> edge & 1 else SHARED
    corner = 0 if u > ON_EDGE else (1 if v > ON_EDGE else 2)
    vertex = triangles[t, corner]
    for s in range(star_begin[vertex], star_begin[vertex + 1]):
        if not _behind(m, row(vertices, vertex), row(vertices, star[s])):
            return INNER
    if dot(m, row(normals, vertex)) < -BEHIND:
        return WRONG
    return BELIEVED if owned[t] >> 3 + corner & 1 else SHARED


@jit_inner
def _box_around(solid, R, p, margin, box):
    """The bounding box of a solid in the frame of a surface, with the margin."""
    grown = roundness(solid) + margin
    for i in range(3):
        d = axis(R, i)
        box[0, 3 + i] = dot(minus(core_support(solid, d), p), d) + grown
        box[0, i] = dot(minus(core_support(solid, times(-1.0, d)), p), d) - grown


@jit_inner
def _through_face(solid, R, p, corners):
    """(gap, normal, points of the cores, answer) of a solid straight through the face of a triangle.

    Near an inner edge the shortest way out may lead sideways, or be that of a face that is tilted a little: the way out of the
    surface is this one. BELIEVED if the lowest point is in the triangle, SHARED if not, WRONG if the middle is inside.
    """
    x, y, z = row(corners, 0), row(corners, 1), row(corners, 2)
    outwards = turn(R, unit(cross(minus(y, x), minus(z, x)), (0.0, 0.0, 1.0)))
    lowest = core_support(solid, times(-1.0, outwards))
    u, v, w = _weights(turn_back(R, minus(lowest, p)), x, y, z)
    at = plus(p, turn(R, x))
    height = dot(minus(lowest, at), outwards)
    answer = BELIEVED if u >= -ON_EDGE and v >= -ON_EDGE and w >= -ON_EDGE else SHARED
    if dot(minus(solid.p, at), outwards) <= 0.0:
        answer = WRONG
    return height - roundness(solid), times(-1.0, outwards), lowest, along(lowest, -height, outwards), answer


@jit_inner
def _thin_all(hits, tags, count):
    """Thin out the contacts of each direction; returns the new count."""
    begin = 0
    while begin < count:
        n, end = (hits[begin, 3], hits[begin, 4], hits[begin, 5]), begin + 1
        for k in range(begin + 1, count):  # those of this direction come first
            if dot(n, (hits[k, 3], hits[k, 4], hits[k, 5])) > SAME:
                for i in range(7):
                    hits[k, i], hits[end, i] = hits[end, i], hits[k, i]
                tags[k], tags[end] = tags[end], tags[k]
                end += 1
        u = tangent(n)
        kept = thin_out(hits, tags, begin, end, u, cross(n, u))
        for k in range(end, count):
            for i in range(7):
                hits[kept + k - end, i] = hits[k, i]
            tags[kept + k - end] = tags[k]
        count -= end - kept
        begin = kept
    return count


@jit_inner
def _deepest_first(hits, tags, count, most):
    """Keep the deepest contacts, if there are too many."""
    for k in range(min(count, most)):
        best = k
        for j in range(k + 1, count):
            if hits[j, 6] < hits[best, 6]:
                best = j
        for i in range(7):
            hits[k, i], hits[best, i] = hits[best, i], hits[k, i]
        tags[k], tags[best] = tags[best], tags[k]
    return min(count, most)


def solid_surface(numbers, integers, shape_numbers, shape_integers):
    """A solid and a surface of triangles."""
    return on_surface(solid_of(numbers, integers, shape_numbers, 0), numbers, integers, shape_numbers, shape_integers)


def outside_surface(numbers, integers, shape_numbers, shape_integers):
    """A solid from outside and a surface of triangles."""
    return on_surface(outside_of(numbers, integers, shape_numbers, 0), numbers, integers, shape_numbers, shape_integers)


@jit_inner
def _arrays_of(at, begin, shape_numbers, shape_integers):
    """(leaves of its tree, triangles at these, the tree's boxes, what `_believed` asks for) of a surface whose numbers begin at
    `at`, its integers at `begin`."""
    sizes = view(shape_integers, begin, HEAD)
    V, T, leaves, S = sizes[0], sizes[1], sizes[2], sizes[3]
    whole = view(shape_integers, begin + HEAD, 8 * T + V + 1 + S)
    triangles, opposite = whole[: 3 * T].reshape(T, 3), whole[3 * T : 6 * T].reshape(T, 3)
    owned, order = whole[6 * T : 7 * T], whole[7 * T : 8 * T]
    star_begin, star = whole[8 * T : 8 * T + V + 1], whole[8 * T + V + 1 :]
    vertices = view(shape_numbers, at, 3 * V).reshape(V, 3)
    normals = view(shape_numbers, at + 3 * V, 3 * V).reshape(V, 3)
    tree = view(shape_numbers, at + 6 * V, 12 * leaves).reshape(2 * leaves, 6)
    return leaves, order, tree, (vertices, normals, triangles, opposite, owned, star_begin, star)


@jit_inner
def on_surface(a, numbers, integers, shape_numbers, shape_integers):
    """The contacts of a solid with a surface."""
    _, R, p = collider(numbers, 1)
    (hits, tags), (room, lines), simplex = results(numbers, integers), polygons(numbers, integers), simplex_of(numbers)
    margin, head = margin_of(numbers), view(integers, 0, 6)
    leaves, order, tree, surface = _arrays_of(head[2], head[3], shape_numbers, shape_integers)
    vertices, triangles = surface[0], surface[2]
    own = view(numbers, AT_OWN, 64)
    box, corners = own[:6].reshape(1, 6), own[6:15].reshape(3, 3)
    half, dropped = own[15:18], own[18:25]
    _box_around(a, R, p, margin, box)

    total, last, k = 0, -1, 1
    while True:
        if overlap(tree, k, box, 0):
            if k < leaves:
                k *= 2
                continue
            t = order[k - leaves]
            for i in range(3):
                half[i] = 0.5 * (tree[k, 3 + i] - tree[k, i])
                for j in range(3):
                    corners[i, j] = vertices[triangles[t, i], j]
            b = Solid(TRIANGLE, (half[0], half[1], half[2]), R, p, 0, 3, corners)
            if total > HITS - PER_TRIANGLE:
                total = _deepest_first(hits, tags, _thin_all(hits, tags, total), HITS - PER_TRIANGLE)
            found, found_tags = hits[total : total + PER_TRIANGLE], tags[total : total + PER_TRIANGLE]
            gap, normal, on_a, on_b = nearest_points(a, b, margin, simplex, numbers, integers)
            overlaps = gap < 0.0
            if gap <= margin:
                foot, m = turn_back(R, minus(on_b, p)), turn_back(R, times(-1.0, normal))
                answer = _believed(t, foot, m, *surface)
                if answer == INNER:
                    gap, normal, on_a, on_b, answer = _through_face(a, R, p, corners)
                if answer != WRONG:
                    count = put_all(found, found_tags, a, b, gap, normal, on_a, on_b, margin, integers, shape_numbers,
                                    shape_integers, room, lines)  # fmt: skip
                    if answer == SHARED and count > 0 and found_tags[count - 1] == WITNESS:
                        count -= 1
                        if overlaps and (last < 0 or found[count, 6] > dropped[6]):
                            last = t
                            for i in range(7):
                                dropped[i] = found[count, i]
                    for c in range(count):
                        found_tags[c] = found_tags[c] % TRIANGLE_TAG + t * TRIANGLE_TAG
                    total += count
        k += 1
        while k & 1 == 0:
            k >>= 1
        if k == 1:
            break
    if total == 0 and last >= 0:  # deep inside: each triangle left it to another one, so the shortest way out is taken
        for i in range(7):
            hits[0, i] = dropped[i]
        tags[0], total = WITNESS % TRIANGLE_TAG + last * TRIANGLE_TAG, 1
    return _thin_all(hits, tags, total)
