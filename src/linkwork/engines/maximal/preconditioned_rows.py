"""The rows G of conjugate gradients: J with the factors of the masses, orthonormal within each node; products with them.

What G is stands at the head of `conjugate_residual`. `tables` are those of `conjugate_residual.areas`.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit_inner
from linkwork.engines.maximal.cg_constants import DEPENDENT, NOTHING


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
