"""Contact in joint coordinates: the inverse mass of a tree at the bodies that touch, by the factors of its step.

With the articulated-body algorithm a link whose parent moves by a does

    X a - G (U X a) + T y,    T T^T = its response while its parent is held,

with y of unit mass, one for each freedom of its joint: from the root outwards, along the paths to the bodies that touch, that
gives L of R = L L^T. So it is where accelerations come from the inertia matrix: the algorithm's factors take a part of the time
of solves for each column. Where loops take back a part, R comes from whole responses:

    Z = H^-1 J^T,  Z_l = H^-1 J_l^T,  W = J_l Z_l      R = J (Z - Z_l W^+ J_l Z)

J the Jacobian of the touched bodies' reference points. For R the links on the paths from touched bodies, and from bodies that
close loops in their component, to the root are enough: the others neither push nor are asked. Impulses change the velocities of
all joints, in one solve.

A contact stage calls `respond` and `apply_impulses` by their addresses.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner, sweep
from linkwork.codegen.simd import add_multiple, add_multiples, copy, set_multiples
from linkwork.codegen.struct import Struct
from linkwork.contact.delassus import (
    MEMBER,
    MEMBER_BODY,
    MEMBER_J,
    MEMBERS,
    OF_MEMBER,
    PART,
    POSE,
    SPOT,
    TREE,
    Q,
    free_response,
)
from linkwork.engines.joint_coordinates.loop_closure import (
    VELOCITY,
    Inertia,
    LoopRows,
    find_rows,
    power,
)
from linkwork.engines.joint_coordinates.whole_responses import (
    DONE,
    F_AT,
    FACTORED,
    G_AT,
    LOOPED,
    P_AT,
    R_AT,
    T_AT,
    U_AT,
    add_jacobian,
    answered,
    keep_closed,
    of_spot,
    products,
    push_along,
)


class Links(Struct):
    """A tree, link by link, and scratch."""

    kernels: np.ndarray  # of the tree
    bodies: np.ndarray  # (n, 16) int64: as contact has them
    free: np.ndarray  # (components,) bool: a single body without constraints
    parent: np.ndarray  # (links,) int64, -1: the ground
    first: np.ndarray  # (links + 1,) int64: where the freedoms of each begin
    joints: np.ndarray  # (nv,) int64: x of each freedom in the tree's workspace
    places: np.ndarray  # (nv,) int64: its place in the order of elimination
    right: np.ndarray  # (nv,) int64: where the inertia matrix has it
    records: np.ndarray  # (links, 6) int64: where r, U, G, T (also J), p and f lie
    column: np.ndarray  # (links, operation) int32: J by these ...
    point: np.ndarray  # (bodies, operation) int32: ... once one of these has set the point
    link_of: np.ndarray  # (bodies,) int64, -1: fixed to the ground
    closing: np.ndarray  # int64: bodies of what closes loops
    factors: np.ndarray  # the sweep that leaves factors, where accelerations came without
    spread: np.ndarray  # (links, operation) int32: G and T
    inwards: np.ndarray  # (links, operation) int32: of a response of the articulated-body algorithm; none with the matrix
    outwards: np.ndarray  # (links, operation) int32: the same, nothing where a link is on the ground
    rest: np.ndarray  # operations before the first response
    response: np.ndarray  # of all links
    apply_impulses: np.ndarray  # qd changes by x
    inertia: Inertia
    loops: LoopRows
    marks: np.ndarray  # (3,) int64
    needed: np.ndarray  # (links,) bool: on a path
    chosen: np.ndarray  # (links,) int64: those that are, outwards
    begins: np.ndarray  # (links,) int64: where its freedoms begin among theirs
    at: np.ndarray  # (links,) int64: where its motions lie
    motions: np.ndarray  # (6, freedoms) of each link on a path: what y moves; and a row of scratch


@jit_inner
def choose_links(links, members):
    """Links on the paths from the members of a group, and from what closes loops of its component, to the root; how many they
    are, and their freedoms."""
    for link in range(links.parent.shape[0]):
        links.needed[link] = False
    for body in members:
        if links.bodies[body, POSE] != SPOT:
            _mark_path(links, body)
            continue
        for k in range(links.bodies[body, MEMBERS]):
            _mark_path(links, links.bodies[body, MEMBER + OF_MEMBER * k + MEMBER_BODY])
    for body in links.closing:
        if links.bodies[body, TREE] == links.bodies[members[0], TREE]:
            _mark_path(links, body)
    count, freedoms = 0, 0
    for link in range(links.parent.shape[0]):
        if links.needed[link]:
            links.chosen[count], links.begins[link] = link, freedoms
            freedoms += links.first[link + 1] - links.first[link]
            count += 1
    return count, freedoms


@jit_inner
def _mark_path(links, body):
    link = links.link_of[body]
    while link >= 0 and not links.needed[link]:
        links.needed[link] = True
        link = links.parent[link]


@jit
def respond(work, table, links, slots, R, groups):
    """R of all groups, 6 size x 6 size each, row-major, and rank -1; or L of R = L L^T, 6 size x rank in rows of 6 size."""
    if groups > 0:
        sweep(work, links.kernels, links.factors)
        if not links.marks[FACTORED]:
            sweep(work, links.kernels, links.rest)
            if links.marks[LOOPED]:
                find_rows(work, links.loops, VELOCITY)
    for g in range(groups):
        first, size, at = slots.first[g], slots.size[g], slots.at[g]
        n = 6 * size
        block, body = R[at : at + n * n], links.bodies[slots.body_of[first]]
        slots.rank[g] = -1
        if links.free[body[TREE]]:
            free_response(work, body, block)
            continue
        members = slots.body_of[first : first + size]
        count, freedoms = choose_links(links, members)
        if links.marks[FACTORED]:
            slots.rank[g] = _factored(work, links, members, count, freedoms, block)
        else:
            _by_responses(work, links, members, count, freedoms, block)
    return 0


@jit_inner
def _factored(work, links, members, count, freedoms, R):
    """L of the members of a group, from the root outwards; where there are more freedoms than rows, R of it. Returns the rank,
    or -1."""
    motions, at = links.motions, 0
    for k in range(count):
        link = links.chosen[k]
        above, begin = links.parent[link], links.begins[link]
        width = links.first[link + 1] - links.first[link]
        links.at[link] = at
        sweep(work, links.kernels, links.spread[link : link + 1])
        motion, before = motions[at : at + 6 * freedoms], 0
        if above >= 0:
            before = links.begins[above] + links.first[above + 1] - links.first[above]
            _carry(work, links, link, width, motions[links.at[above] :], before, freedoms, motion)
        place = links.records[link, T_AT]
        for i in range(6):
            for c in range(i * freedoms + before, i * freedoms + begin):
                motion[c] = 0.0
            for c in range(width):
                motion[i * freedoms + begin + c] = work[place + i * width + c]
        at += 6 * freedoms
    n = 6 * len(members)
    if freedoms > n:
        _multiply(work, links, members, freedoms, R)
        return -1
    for k in range(len(members)):
        _put_member(work, links, members[k], freedoms, n, R, 6 * k * n, freedoms)
    end = min((freedoms + 3) & ~3, n)  # strips of whole vectors are faster: freedoms that move nothing
    for row in range(n):
        for c in range(row * n + freedoms, row * n + end):
            R[c] = 0.0
    return end


@jit_inner
def _carry(work, links, link, width, source, count, freedoms, motion):
    """motion (6, count) = (1 - G U) X source (6, count), in rows of `freedoms`."""
    r, U, G = links.records[link, R_AT], links.records[link, U_AT], links.records[link, G_AT]
    x, y, z, n = work[r], work[r + 1], work[r + 2], freedoms
    for i in range(6):
        copy(motion, i * n, source, i * n, count)
    _add_turns(motion, 0, n, source, 0, n, count, (x, y, z))
    if width == 1:
        across, end = source, source.shape[0] - n  # room behind all motions
        set_multiples(across, end, motion, 0, n, count,
                      (work[U], work[U + 1], work[U + 2], work[U + 3], work[U + 4], work[U + 5]))  # fmt: skip
        for i in range(6):
            add_multiple(motion, i * n, across, end, count, -work[G + i])
        return
    for c in range(count):
        a0, a1, a2 = motion[c], motion[n + c], motion[2 * n + c]
        a3, a4, a5 = motion[3 * n + c], motion[4 * n + c], motion[5 * n + c]
        for j in range(width):
            u = U + 6 * j
            e = (work[u] * a0 + work[u + 1] * a1 + work[u + 2] * a2) + (work[u + 3] * a3 + work[u + 4] * a4 + work[u + 5] * a5)
            for i in range(6):
                motion[i * n + c] -= work[G + i * width + j] * e


@jit_inline
def _add_turns(target, to, apart, source, at, stride, count, arm):
    """Linear rows of motions += turns x arm; turns stand in the last three rows."""
    x, y, z = arm
    w = at + 3 * stride
    add_multiples(target, to, source, w + stride, stride, count, (z, -y))
    add_multiples(target, to + apart, source, w, 2 * stride, count, (-z, x))
    add_multiples(target, to + 2 * apart, source, w, stride, count, (y, -x))


@jit_inner
def _put_member(work, links, body, freedoms, n, R, row, end):
    """The motions of a slot, into six rows of n: of a body's reference point, or of a spot, by its J, of those of the bodies
    that it depends on."""
    spot = links.bodies[body]
    if spot[POSE] != SPOT:
        _put_body(work, links, body, freedoms, n, R, row, end)
        return
    for i in range(6):
        for c in range(row + i * n, row + i * n + end):
            R[c] = 0.0
    own = np.empty(6 * end)
    for k in range(MEMBER, MEMBER + OF_MEMBER * spot[MEMBERS], OF_MEMBER):
        _put_body(work, links, spot[k + MEMBER_BODY], freedoms, end, own, 0, end)
        for i in range(6):
            for j in range(6 if spot[PART + i] >= 0 else 0):
                factor = work[spot[k + MEMBER_J] + 6 * spot[PART + i] + j]
                for c in range(end):
                    R[row + i * n + c] += factor * own[j * end + c]


@jit_inner
def _put_body(work, links, body, freedoms, n, R, row, end):
    """The motions of a body's reference point, into six rows of n."""
    link = links.link_of[body]
    if link < 0:
        for i in range(6):
            for c in range(row + i * n, row + i * n + end):
                R[c] = 0.0
        return
    source, p, q, m = links.motions, links.records[link, P_AT], links.bodies[body, Q], freedoms
    at, count = links.at[link], links.begins[link] + links.first[link + 1] - links.first[link]
    x, y, z = work[q] - work[p], work[q + 1] - work[p + 1], work[q + 2] - work[p + 2]
    for i in range(6):
        copy(R, row + i * n, source, at + i * m, count)
    _add_turns(R, row, n, source, at, m, count, (x, y, z))
    for i in range(6):
        for c in range(row + i * n + count, row + i * n + end):
            R[c] = 0.0


@jit_inner
def _multiply(work, links, members, freedoms, R):
    """R = L L^T."""
    n = 6 * len(members)
    L = np.empty(n * freedoms)
    for k in range(len(members)):
        _put_member(work, links, members[k], freedoms, freedoms, L, 6 * k * freedoms, freedoms)
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for c in range(freedoms):
                total += L[i * freedoms + c] * L[j * freedoms + c]
            R[i * n + j] = R[j * n + i] = total


@jit_inner
def _by_responses(work, links, members, count, freedoms, R):
    """R from J (6 a member, freedoms) of the members of a group, and Z = H^-1 J^T, row by row."""
    J = np.zeros((6 * len(members), freedoms))
    for k in range(len(members)):
        spot = links.bodies[members[k]]
        if spot[POSE] != SPOT:
            add_jacobian(work, links, members[k], links.begins, J[6 * k : 6 * k + 6])
            continue
        for at in range(MEMBER, MEMBER + OF_MEMBER * spot[MEMBERS], OF_MEMBER):
            own = np.zeros((6, freedoms))
            add_jacobian(work, links, spot[at + MEMBER_BODY], links.begins, own)
            for i in range(6):
                for j in range(6 if spot[PART + i] >= 0 else 0):
                    factor = work[spot[at + MEMBER_J] + 6 * spot[PART + i] + j]
                    for c in range(freedoms):
                        J[6 * k + i, c] += factor * own[j, c]
    Z, chosen = J.copy(), links.chosen[:count]
    answered(work, links, chosen, Z)
    if links.marks[LOOPED]:
        keep_closed(work, links, chosen, Z, np.zeros(links.loops.y.shape[0]))
    products(J, Z, R)


@jit
def apply_impulses(work, table, links, slots, groups, scale):
    """All joints change their velocities by what the wrenches on slots do; loops do the work of prescribed motion."""
    used = 0
    for g in range(groups):
        used += slots.size[g]
    if links.marks[FACTORED]:
        _push_links(work, links, slots, used)
    else:
        _push_joints(work, links, slots, used)
    sweep(work, links.kernels, links.apply_impulses)
    return 0


@jit_inner
def _push_links(work, links, slots, used):
    """By one response of all links to the wrenches on them."""
    sweep(work, links.kernels, links.rest)
    for i in links.joints:
        work[i] = 0.0
    for slot in range(used):
        spot, wrench = links.bodies[slots.body_of[slot]], slots.wrench[slot]
        if spot[POSE] != SPOT:
            _push_link(work, links, slots.body_of[slot], wrench)
            continue
        for k in range(MEMBER, MEMBER + OF_MEMBER * spot[MEMBERS], OF_MEMBER):
            _push_link(work, links, spot[k + MEMBER_BODY], of_spot(work, spot, k, wrench))
    sweep(work, links.kernels, links.response)


@jit_inner
def _push_link(work, links, body, wrench):
    """Put the wrench on a body, about its reference point, on its link."""
    link = links.link_of[body]
    if link < 0:
        return
    f, p, q = links.records[link, F_AT], links.records[link, P_AT], links.bodies[body, Q]
    x, y, z = work[q] - work[p], work[q + 1] - work[p + 1], work[q + 2] - work[p + 2]
    for i in range(3):
        work[f + i] -= wrench[i]
    work[f + 3] -= wrench[3] + (y * wrench[2] - z * wrench[1])
    work[f + 4] -= wrench[4] + (z * wrench[0] - x * wrench[2])
    work[f + 5] -= wrench[5] + (x * wrench[1] - y * wrench[0])


@jit_inner
def _push_joints(work, links, slots, used):
    """By J^T of the wrenches at the joints."""
    forces = np.zeros((1, links.joints.shape[0]))
    for slot in range(used):
        spot, wrench = links.bodies[slots.body_of[slot]], slots.wrench[slot]
        if spot[POSE] != SPOT:
            push_along(work, links, slots.body_of[slot], wrench, forces[0])
            continue
        for k in range(MEMBER, MEMBER + OF_MEMBER * spot[MEMBERS], OF_MEMBER):
            push_along(work, links, spot[k + MEMBER_BODY], of_spot(work, spot, k, wrench), forces[0])
    everything = np.arange(links.parent.shape[0])
    answered(work, links, everything, forces)
    if links.marks[LOOPED]:
        pull = links.loops.y
        for k in range(pull.shape[0]):
            pull[k] = 0.0
        keep_closed(work, links, everything, forces, pull)
        work[links.marks[DONE]] += power(work, links.loops)
    for i in range(links.joints.shape[0]):
        work[links.joints[i]] = forces[0, i]
