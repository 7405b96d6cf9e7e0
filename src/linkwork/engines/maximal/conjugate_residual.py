"""Conjugate gradients on A = J W J^T (witkin97 section 4.4) in the form that minimises the residual; A is never formed.

With the factors of a body's mass, M = L D L^T, its block of J becomes G = J L^-T D^-1/2, so that A = G G^T. The rows of each
node are then made orthonormal by the factors of its diagonal block of A, which is block-Jacobi preconditioning: from here on G
stands for the rows so made, and all diagonal blocks of A = G G^T are unit matrices. One iteration (conjugate residuals) is

    alpha = r.Ar / Ap.Ap;   y += alpha p;   r -= alpha Ap;   beta = (r.Ar)' / r.Ar;   p = r + beta p;   Ap = Ar + beta Ap

with Ar = G (G^T r) and r.Ar = |G^T r|^2, never negative. On a matrix that is symmetric and positive semidefinite these are the
iterates of MINRES: the residual never grows, redundant rows do no harm, and rows that contradict each other are met in the
sense of least squares. The residual is computed afresh at the end, and the iteration begun again where rounding has led it
astray.

A rotor of inertia a is a body of one velocity: its mass is a, its block of J is 1 in the row that turns it, nothing pushes it.

The method "least-squares" is the one that witkin97 prints: conjugate gradients on |A y - right|^2, with A = J W J^T as it is.

    alpha = s.s / Ap.Ap;   y += alpha p;   r -= alpha Ap;   s = A r;   beta = (s.s)' / s.s;   p = s + beta p

It bears redundant and contradicting rows as well, but its condition is the square of A's, and an iteration has twice the
products.

All numbers are in one area of the workspace (model/cg_layout.py). Nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inner, opened
from linkwork.engines.maximal.cg_constants import LIMIT, NO_FORCE, NOTHING, OFF, RESTARTS, SQUARED_LIMIT
from linkwork.engines.maximal.preconditioned_rows import (
    at,
    copy,
    dot,
    fill,
    product,
    scale_rows,
    subtract_product,
    take_right_sides,
    transposed_product,
)
from linkwork.model.cg_layout import COLUMN_VECTORS, HEAD, METHOD, REMEMBERED, ROW_VECTORS, TOLD, WARM

SOLVES, ITERATIONS, MOST, RESIDUAL, WORST, WORST_ROW, CONFLICT = range(TOLD)


def step(base, area, warm, tolerance, fresh, _5, _6, _7):
    """As an operation of a sweep: offsets of the area, of what is remembered (0: nothing) and of the tolerance; fresh: not zero
    where J and the masses are new. Before it bodies have L^-1 of their right-hand sides, after it with what the rows add."""
    work, area, warm, tolerance, fresh = opened(base, area, warm, tolerance, fresh)
    told, vectors, column_vectors, G, factors, tables = areas(work, area)
    right, y, r, _, _, _ = vectors
    root, given, added, _, _ = column_vectors
    rows = y.shape[0]
    printed = work[area + METHOD] > 0.0
    if fresh > 0:
        scale_rows(work, root, G, factors, tables, printed)
    take_right_sides(work, right, root, given, G, factors, tables)
    size = dot(right, right)
    copy(right, r)
    fill(y, 0.0)
    fill(added, 0.0)
    memory = work[warm : warm + 1 + REMEMBERED * rows]
    if warm > 0 and memory[0] > 0.0:
        start_warm(memory[1:], 1.0, 0.0, 0.0, vectors, column_vectors, G, factors, tables)
    if warm > 0 and memory[0] >= REMEMBERED:
        start_warm(memory[1:], 3.0, -3.0, 1.0, vectors, column_vectors, G, factors, tables)
    limit = 100 + (SQUARED_LIMIT if printed else LIMIT) * rows
    iterations, left, conflict = minimise(vectors, column_vectors, G, tables, size, work[tolerance], limit, printed)
    put_solutions(work, y, root, added, factors, tables)
    if warm > 0:
        remember(work, memory, left <= OFF * OFF * size, tables)
    tell(told, iterations, left, size, conflict, r, factors, tables, work[tolerance])


@jit_inner
def areas(work, area):
    """(told, vectors of rows, vectors of columns, G, factors, tables) of an area."""
    rows, columns, bodies, nodes, links, entries, triangles = (
        int(work[area + 1]), int(work[area + 2]), int(work[area + 3]), int(work[area + 4]), int(work[area + 5]),
        int(work[area + 6]), int(work[area + 7]),
    )  # fmt: skip
    at = area + HEAD
    told = work[at : at + TOLD]
    at += TOLD + WARM * (1 + REMEMBERED * rows)
    v = work[at : at + ROW_VECTORS * rows].reshape(ROW_VECTORS, rows)
    at += ROW_VECTORS * rows
    c = work[at : at + COLUMN_VECTORS * columns].reshape(COLUMN_VECTORS, columns)
    at += COLUMN_VECTORS * columns
    G, factors = work[at : at + entries], work[at + entries : at + entries + triangles]
    at += entries + triangles
    integers = 3 * bodies + 3 * nodes + 4 + 2 * links + 3 * rows + entries
    whole = work[at : at + (integers + 1) // 2].view(np.int32)
    b1 = bodies
    b2 = b1 + bodies
    b3 = b2 + bodies + 1
    n1 = b3 + nodes + 1
    n2 = n1 + nodes + 1
    n3 = n2 + nodes
    l1 = n3 + links
    l2 = l1 + links
    r1 = l2 + rows
    r2 = r1 + rows
    r3 = r2 + rows + 1
    tables = (whole[:b1], whole[b1:b2], whole[b2:b3], whole[b3:n1], whole[n1:n2], whole[n2:n3], whole[n3:l1], whole[l1:l2],
              whole[r1:r2], whole[l2:r1], whole[r2:r3], whole[r3 : r3 + entries])  # fmt: skip
    return told, (v[0], v[1], v[2], v[3], v[4], v[5]), (c[0], c[1], c[2], c[3], c[4]), G, factors, tables


@jit_inner
def start_warm(memory, w1, w2, w3, vectors, column_vectors, G, factors, tables):
    """Start from these weights of the last multipliers, if that leaves less than what is there."""
    right, y, r, _, guess, left = vectors
    _, _, added, _, adding = column_vectors
    rows, first_row, factor_at = y.shape[0], tables[3], tables[5]
    for k in range(rows):
        left[k] = w1 * memory[k] + w2 * memory[rows + k] + w3 * memory[2 * rows + k]
    for node in range(factor_at.shape[0]):
        row, m, factor = first_row[node], first_row[node + 1] - first_row[node], factors[factor_at[node] :]
        for i in range(m):
            value = left[row + i]
            for k in range(i + 1, m):
                value += factor[at(k, i)] * left[row + k]
            guess[row + i] = value / factor[at(i, i)]
    transposed_product(adding, G, guess, tables)
    copy(right, left)
    subtract_product(left, G, adding, tables)
    if dot(left, left) < dot(r, r):
        copy(left, r)
        copy(guess, y)
        copy(adding, added)


@jit_inner
def remember(work, memory, good, tables):
    """The multipliers of this solve, before those of earlier ones; nothing where it did not go well."""
    rows = tables[8].shape[0]
    memory[0] = min(memory[0] + 1.0, float(REMEMBERED)) if good else 0.0
    for k in range(REMEMBERED * rows - 1, rows - 1, -1):
        memory[1 + k] = memory[1 + k - rows] if good else 0.0
    for k in range(rows):
        memory[1 + k] = -work[tables[8][k]] if good else 0.0


@jit_inner
def go_along(alpha, y, p, r, Ap, added, of_p):
    """A step of alpha along p, and r.r then; of_p: what p adds."""
    left = 0.0
    for k in range(y.shape[0]):
        y[k] += alpha * p[k]
        r[k] -= alpha * Ap[k]
        left += r[k] * r[k]
    for k in range(added.shape[0]):
        added[k] += alpha * of_p[k]
    return left


@jit_inner
def minimise(vectors, column_vectors, G, tables, size, tolerance, limit, squares):
    """(iterations, r.r, whether no force can make it smaller): y and what it adds, until |r| <= tolerance |right|. By conjugate
    residuals, or by conjugate gradients on |A y - right|^2 (`squares`)."""
    right, y, r = vectors[:3]
    added = column_vectors[2]
    enough = tolerance * tolerance * size
    iterations, left, conflict = 0, dot(r, r), False
    if not left < np.inf:  # not a number anywhere is not a number everywhere
        fill(y, np.nan)
        fill(added, np.nan)
        return 0, left, False
    for _ in range(RESTARTS):
        if left <= enough or iterations >= limit or conflict:
            break
        most = limit - iterations
        if squares:
            made, conflict = follow_squares(vectors, column_vectors, G, tables, left, enough, most)
        else:
            made, conflict = follow_residuals(vectors, column_vectors, G, tables, left, enough, most)
        iterations += made
        copy(right, r)  # without what rounding has added to it
        subtract_product(r, G, added, tables)
        left = dot(r, r)
    return iterations, left, conflict


@jit_inner
def follow_residuals(vectors, column_vectors, G, tables, left, enough, limit):
    """(iterations, conflict) of conjugate residuals from r on."""
    _, y, r, Ar, p, Ap = vectors
    _, _, added, of_r, of_p = column_vectors
    transposed_product(of_r, G, r, tables)
    product(Ar, G, of_r, tables)
    copy(r, p)
    copy(Ar, Ap)
    copy(of_r, of_p)
    rAr, iterations = dot(of_r, of_r), 0
    while left > enough and iterations < limit:
        if not rAr > NO_FORCE * left:
            return iterations, True
        left = go_along(rAr / dot(Ap, Ap), y, p, r, Ap, added, of_p)
        transposed_product(of_r, G, r, tables)
        product(Ar, G, of_r, tables)
        before, rAr = rAr, dot(of_r, of_r)
        beta = rAr / before
        for k in range(y.shape[0]):
            p[k] = r[k] + beta * p[k]
            Ap[k] = Ar[k] + beta * Ap[k]
        for k in range(added.shape[0]):
            of_p[k] = of_r[k] + beta * of_p[k]
        iterations += 1
    return iterations, False


@jit_inner
def follow_squares(vectors, column_vectors, G, tables, left, enough, limit):
    """The same, of conjugate gradients on the squares."""
    _, y, r, s, p, Ap = vectors
    _, _, added, of_r, of_p = column_vectors
    usual = dot(G, G) / y.shape[0]  # a diagonal entry of A, in the mean
    transposed_product(of_r, G, r, tables)
    product(s, G, of_r, tables)
    copy(s, p)
    ss, iterations = dot(s, s), 0
    while left > enough and iterations < limit:
        if not dot(of_r, of_r) > NO_FORCE * usual * left:
            return iterations, True
        transposed_product(of_p, G, p, tables)
        product(Ap, G, of_p, tables)
        left = go_along(ss / dot(Ap, Ap), y, p, r, Ap, added, of_p)
        transposed_product(of_r, G, r, tables)
        product(s, G, of_r, tables)
        before, ss = ss, dot(s, s)
        for k in range(y.shape[0]):
            p[k] = s[k] + ss / before * p[k]
        iterations += 1
    return iterations, False


@jit_inner
def put_solutions(work, y, root, added, factors, tables):
    """Minus the multipliers into the nodes; what they add to the right-hand sides of the bodies."""
    body_D, body_b, first_column, first_row, _, factor_at, _, _, x_at, _, _, _ = tables
    for node in range(factor_at.shape[0]):
        row, m, factor = first_row[node], first_row[node + 1] - first_row[node], factors[factor_at[node] :]
        for i in range(m - 1, -1, -1):
            value = -factor[at(i, i)] * y[row + i]
            for k in range(i + 1, m):
                value -= factor[at(k, i)] * work[x_at[row + k]]
            work[x_at[row + i]] = value
    for body in range(body_D.shape[0]):
        for i in range(first_column[body + 1] - first_column[body] if body_b[body] != NOTHING else 0):
            work[body_b[body] + i] += added[first_column[body] + i] / root[first_column[body] + i]


@jit_inner
def tell(told, iterations, left, size, conflict, r, factors, tables, tolerance):
    """Count, and keep the largest residual of a row (in its own unit) of those that are worth a word."""
    told[SOLVES] += 1.0
    told[ITERATIONS] += iterations
    told[MOST] = max(told[MOST], float(iterations))
    relative = np.sqrt(left / size) if size > 0.0 else 0.0
    told[RESIDUAL] = relative
    if not relative > OFF or tolerance > OFF:
        return
    first_row, factor_at = tables[3], tables[5]
    for node in range(factor_at.shape[0]):
        row, m, factor = first_row[node], first_row[node + 1] - first_row[node], factors[factor_at[node] :]
        for i in range(m):
            value = r[row + i] / factor[at(i, i)]
            for j in range(i):
                value += factor[at(i, j)] * r[row + j] / factor[at(j, j)]
            if abs(value) > max(OFF, told[WORST]):
                told[WORST], told[WORST_ROW] = abs(value), float(row + i)
                told[CONFLICT] = 1.0 if conflict else 0.0
