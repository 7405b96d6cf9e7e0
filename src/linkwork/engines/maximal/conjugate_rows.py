"""Rows of conjugate gradients: where their numbers lie, G from J and the masses, products with it (conjugate_residual.py)."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inner
from linkwork.model.cg_layout import COLUMN_VECTORS, HEAD, REMEMBERED, ROW_VECTORS, TOLD, WARM

DEPENDENT = 1e-8  # a pivot of a node's block, beside its diagonal, from which on its rows are only scaled
NOTHING = -1  # where a rotor has its right-hand side, which is zero; -1 - row in the place of its block of J


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
def scale_rows(work, root, G, factors, tables, printed):
    """G and the factors of its diagonal blocks, from J and the factors of the masses; `printed`: rows stay as they are."""
    body_D, _, first_column, first_row, first_link, factor_at, slot, link_body, _, _, first_entry, _ = tables
    for body in range(body_D.shape[0]):
        for i in range(first_column[body + 1] - first_column[body]):
            root[first_column[body] + i] = np.sqrt(abs(work[body_D[body] + i * (i + 3) // 2]))
    for node in range(factor_at.shape[0]):
        row, m = first_row[node], first_row[node + 1] - first_row[node]
        start, width = first_entry[row], first_entry[row + 1] - first_entry[row]
        side = 0
        for link in range(first_link[node], first_link[node + 1]):
            body = link_body[link]
            d, D, column = first_column[body + 1] - first_column[body], body_D[body], first_column[body]
            for i in range(m):
                source, target = slot[link] + i * d, start + i * width + side
                for a in range(d):
                    value = work[source + a] if slot[link] >= 0 else 1.0 if i == -1 - slot[link] else 0.0
                    for c in range(a):
                        value -= work[D + a * (a + 1) // 2 + c] * G[target + c]
                    G[target + a] = value
                for a in range(d):
                    G[target + a] *= root[column + a]
            side += d
        if printed:
            leave_alone(m, factors[factor_at[node] :])
        else:
            make_orthonormal(G[start : start + m * width].reshape(m, width), factors[factor_at[node] :])


@jit_inner
def leave_alone(m, factor):
    """The factors of rows that are as they were."""
    for i in range(m):
        for j in range(i):
            factor[at(i, j)] = 0.0
        factor[at(i, i)] = 1.0


@jit_inner
def make_orthonormal(rows, factor):
    """Rows (m, width) times the inverse of L D^1/2, where L D L^T is their block of A; L and D^-1/2 go into `factor`, a packed
    triangle. Where rows depend on each other they are only scaled."""
    m, width = rows.shape
    regular = True
    for i in range(m):
        whole = dot(rows[i], rows[i])
        pivot = whole
        for j in range(i):
            value = dot(rows[i], rows[j])
            for k in range(j):
                value -= factor[at(i, k)] * factor[at(j, k)] * factor[at(k, k)]
            factor[at(i, j)] = value / factor[at(j, j)]
            pivot -= value * factor[at(i, j)]
        factor[at(i, i)] = pivot
        if not pivot > DEPENDENT * whole:
            regular = False
            break
    for i in range(m):
        if not regular:
            for j in range(i):
                factor[at(i, j)] = 0.0
            factor[at(i, i)] = dot(rows[i], rows[i])
        for j in range(i):
            for k in range(width):
                rows[i, k] -= factor[at(i, j)] * rows[j, k]
    for i in range(m):
        pivot = factor[at(i, i)]
        factor[at(i, i)] = 1.0 / np.sqrt(pivot) if pivot != 0.0 else 1.0
        for k in range(width):
            rows[i, k] *= factor[at(i, i)]


@jit_inner
def at(i, j):
    """The place of an entry in a packed triangle."""
    return i * (i + 1) // 2 + j


@jit_inner
def fill(target, value):
    for k in range(target.shape[0]):
        target[k] = value


@jit_inner
def copy(source, target):
    for k in range(source.shape[0]):
        target[k] = source[k]


@jit_inner
def dot(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@jit_inner
def take_right_sides(work, right, root, given, G, factors, tables):
    """right = the rows' right-hand sides, made like the rows of G, less what forces alone do (`given`: G^T side of it)."""
    body_D, body_b, first_column, first_row, _, factor_at, _, _, _, b_at, _, _ = tables
    for body in range(body_D.shape[0]):
        for i in range(first_column[body + 1] - first_column[body]):
            column = first_column[body] + i
            given[column] = work[body_b[body] + i] * root[column] if body_b[body] != NOTHING else 0.0
    for node in range(factor_at.shape[0]):
        row, m, factor = first_row[node], first_row[node + 1] - first_row[node], factors[factor_at[node] :]
        for i in range(m):
            value = work[b_at[row + i]]
            for j in range(i):
                value -= factor[at(i, j)] * right[row + j]
            right[row + i] = value
        for i in range(m):
            right[row + i] *= factor[at(i, i)]
    subtract_product(right, G, given, tables)


@jit_inner
def subtract_product(target, G, columns, tables):
    """target -= G columns."""
    first_entry, column = tables[10], tables[11]
    for row in range(target.shape[0]):
        total = 0.0
        for e in range(first_entry[row], first_entry[row + 1]):
            total += G[e] * columns[column[e]]
        target[row] -= total


@jit_inner
def product(target, G, columns, tables):
    """target = G columns."""
    first_entry, column = tables[10], tables[11]
    for row in range(target.shape[0]):
        total = 0.0
        for e in range(first_entry[row], first_entry[row + 1]):
            total += G[e] * columns[column[e]]
        target[row] = total


@jit_inner
def transposed_product(target, G, rows, tables):
    """target = G^T rows."""
    first_entry, column = tables[10], tables[11]
    fill(target, 0.0)
    for row in range(rows.shape[0]):
        value = rows[row]
        for e in range(first_entry[row], first_entry[row + 1]):
            target[column[e]] += G[e] * value
