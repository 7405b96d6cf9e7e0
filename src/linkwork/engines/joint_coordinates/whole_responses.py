"""Whole responses of a tree in joint coordinates: Jacobians of bodies that touch, H^-1 of forces at the joints, and what loops
take back of it."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inner, sweep, sweep_some
from linkwork.contact.delassus import MEMBER_J, PART, drop_rounding
from linkwork.engines.joint_coordinates.loop_closure import solve_by_largest_pivots

FACTORED, LOOPED, DONE = range(3)  # marks: R comes from factors; there are loops; the entry of the work of prescribed motion
R_AT, U_AT, G_AT, T_AT, P_AT, F_AT = range(6)  # columns of `records`


@jit_inner
def add_jacobian(work, links, body, begins, J):
    """Add to J (6, freedoms) that of a body's reference point; `begins`: where the freedoms of each link stand."""
    sweep(work, links.kernels, links.point[body : body + 1])
    link = links.link_of[body]
    while link >= 0:
        sweep(work, links.kernels, links.column[link : link + 1])
        width, place = links.first[link + 1] - links.first[link], links.records[link, T_AT]
        for i in range(6):
            for j in range(width):
                J[i, begins[link] + j] += work[place + i * width + j]
        link = links.parent[link]


@jit_inner
def answered(work, links, chosen, Z):
    """H^-1 of each row of Z, in its place; the freedoms are those of the chosen links."""
    if links.right.shape[0] > 0:
        for k in range(Z.shape[0]):
            for i in links.right:
                work[i] = 0.0
            put(work, links, links.right, chosen, Z[k])
            sweep(work, links.kernels, links.inertia.up)
            sweep(work, links.kernels, links.inertia.down)
            take(work, links, links.right, chosen, Z[k])
        return
    inwards = chosen[::-1].copy()
    for k in range(Z.shape[0]):
        put(work, links, links.joints, chosen, Z[k])
        sweep_some(work, links.kernels, links.inwards, inwards)
        for link in chosen:
            if links.parent[link] >= 0:
                sweep(work, links.kernels, links.outwards[link : link + 1])
        take(work, links, links.joints, chosen, Z[k])


@jit_inner
def put(work, links, there, chosen, values):
    n = 0
    for link in chosen:
        for j in range(links.first[link], links.first[link + 1]):
            work[there[j]] = values[n]
            n += 1


@jit_inner
def take(work, links, there, chosen, values):
    n = 0
    for link in chosen:
        for j in range(links.first[link], links.first[link + 1]):
            values[n] = work[there[j]]
            n += 1


@jit_inner
def keep_closed(work, links, chosen, Z, pull):
    """Take from rows of Z, which are H^-1 of something, what would move loops, whose J is there. pull (rows of loops): what the
    loops put on the joints for it, added up."""
    loops = links.loops
    m, W, give = loops.J.shape[0], loops.W, loops.give
    right, y, ones = np.zeros(m), np.zeros(m), np.ones(m)
    J = np.zeros((m, Z.shape[1]))
    for k in range(m):
        take(loops.J[k], links, links.places, chosen, J[k])
    Z_l = J.copy()
    answered(work, links, chosen, Z_l)
    for row in range(Z.shape[0]):
        for k in range(m):
            right[k] = 0.0
            for i in range(Z.shape[1]):
                right[k] -= J[k, i] * Z[row, i]
            for j in range(k + 1):
                total = 0.0
                for i in range(Z.shape[1]):
                    total += J[k, i] * Z_l[j, i]
                W[k, j] = W[j, k] = total
            W[k, k] += give[k]
        solve_by_largest_pivots(W, right, y, ones, 0.0)
        for k in range(m):
            pull[k] += y[k]
            for i in range(Z.shape[1]):
                Z[row, i] += Z_l[k, i] * y[k]


@jit_inner
def products(J, Z, R):
    """R = J Z^T, row by row; it is symmetric. What rounding has left of motions that loops do not allow is dropped."""
    n = J.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(J.shape[1]):
                total += J[i, k] * Z[j, k]
            R[i * n + j] = R[j * n + i] = total
    drop_rounding(R, n)


@jit_inner
def of_spot(work, spot, k, wrench):
    """What the wrench on a spot is on one of the bodies that it depends on, whose numbers begin at k."""
    own = np.zeros(6)
    for i in range(6):
        for j in range(6 if spot[PART + i] >= 0 else 0):
            own[j] += work[spot[k + MEMBER_J] + 6 * spot[PART + i] + j] * wrench[i]
    return own


@jit_inner
def push_along(work, links, body, wrench, forces):
    """Add J^T of the wrench on a body."""
    sweep(work, links.kernels, links.point[body : body + 1])
    link = links.link_of[body]
    while link >= 0:
        sweep(work, links.kernels, links.column[link : link + 1])
        width, place = links.first[link + 1] - links.first[link], links.records[link, T_AT]
        for j in range(width):
            for i in range(6):
                forces[links.first[link] + j] += work[place + i * width + j] * wrench[i]
        link = links.parent[link]
