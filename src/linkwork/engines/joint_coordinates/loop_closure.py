"""Loops in joint coordinates: rows that the spanning tree leaves open, solved with the factors of its inertia matrix.

    H qdd + C = tau + J^T y,   J qdd = r,   H = L^T D L
    Y = L^-T J^T,   W = Y^T D^-1 Y,   W y = r - Y^T D^-1 L^-T (tau - C)

(featherstone05, closing remark), or by responses Z = H^-1 J^T of the articulated-body algorithm, W = J Z (baraff96 section
8). J of a row is its Jacobian by the bodies' velocities times theirs by the joints'. Rows that depend on others are left out: W
is eliminated by its largest pivots, and stops where none is left.

A rotor of inertia a at a joint that closes a loop is a row, too, x - angle = 0 with x the joint's coordinate: a angle'' = -y,
so that the row gives way by y / a, and W has 1 / a more on its diagonal. It asks for no velocity and for no place: H + a J^T J
is the inertia that projections keep to.

The tree lies in the workspace of the model (`reduced/workspace.py`): both are swept over one array, each with its own table of
kernels.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.codegen.struct import Struct

ACCELERATION, VELOCITY, PLACE = range(3)  # what rows are asked for
ROUNDING = 1e-12  # an entry of J that is so small beside what it could be is zero: the tree holds that row already
DEPENDENT = 1e-11  # a pivot of W, with ones on its diagonal, that is this small is none
LEAST, LENGTH = range(
    2
)  # limits: of all entries of a row, where rows depend on others, the part below which it is left out, as
# soft pivots would do, or nothing; m, the size of a mechanism in which rows depend on others, else zero


class Inertia(Struct):
    """H = L^T D L of a tree: sweeps, and where the numbers lie. All empty where the articulated-body algorithm is used."""

    blocks: np.ndarray  # the sweep that makes H
    factoring: np.ndarray  # that factors it
    up: np.ndarray  # L^-T
    down: np.ndarray  # L^-1 D^-1
    blocks_at: np.ndarray  # int64: as `reduced.workspace.Inertia` has them
    tiles_at: np.ndarray
    pivots_at: np.ndarray
    right_at: np.ndarray
    joints_at: np.ndarray


class LoopRows(Struct):
    """What a tree leaves open, and room for it."""

    kernels: np.ndarray  # of the model
    own_kernels: np.ndarray  # of the tree
    operations: np.ndarray  # of the model: residuals, rates and Jacobians of nodes, one after another ...
    first: np.ndarray  # (nodes + 1,) ... and where those of each begin
    nodes: np.ndarray  # (nodes, 3): rows of the node, offset of their residuals, rows taken before
    taken: np.ndarray  # (rows, 3): row of the node, whether it is one of places, where its rotor's inertia is (-1: none)
    first_end: np.ndarray  # (nodes + 1,): where the bodies of each node begin among ...
    ends: np.ndarray  # ... bodies of all nodes, by their place among the touched ones
    first_column: np.ndarray  # (touched + 1,): where the columns of each touched body begin among ...
    columns: np.ndarray  # (columns, 3) ... offset of a column, distance from row to row, freedom in the order of elimination
    first_operation: np.ndarray  # (touched + 1,): where the operations begin ...
    making: np.ndarray  # ... that make the columns of each touched body
    turning: np.ndarray  # (touched,): where accelerations of touched bodies lie
    turned: np.ndarray  # the sweep that puts them there
    rest: np.ndarray  # sweeps of a response of the articulated-body algorithm
    response: np.ndarray
    joints_at: np.ndarray  # (nv,): x of the joints, in the order of J
    J: np.ndarray  # (rows, nv)
    right: np.ndarray  # (rows,)
    W: np.ndarray  # (rows, rows)
    y: np.ndarray  # (rows,)
    Z: np.ndarray  # (rows, nv)
    give: np.ndarray  # (rows,) by how much rows of rotors give way
    largest: np.ndarray  # (rows,) scratch
    limits: np.ndarray  # (2,) LEAST, LENGTH
    weights: np.ndarray  # (rows,) of rows when pivots are chosen: of those that say the same the larger one has more digits
    scratch: np.ndarray  # (1,) int64: where the model has room for single reports


@jit
def find_rows(work, loops, what):
    """J (rows, nv), in the order of elimination, and right of J x = right, and by how much rows of rotors give way; the largest
    of `right`. loops: `LoopRows`."""
    J, right, give, largest, nodes, taken = loops.J, loops.right, loops.give, loops.largest, loops.nodes, loops.taken
    first, first_end, first_column, columns, scratch = (
        loops.first,
        loops.first_end,
        loops.first_column,
        loops.columns,
        loops.scratch[0],
    )
    worst = 0.0
    for n in range(nodes.shape[0]):
        size, report, begin = nodes[n, 0], nodes[n, 1], nodes[n, 2]
        count = (nodes[n + 1, 2] if n + 1 < nodes.shape[0] else taken.shape[0]) - begin
        sweep(work, loops.kernels, loops.operations[first[n] : first[n + 1]])
        bias = scratch + 6 * size * (first_end[n + 1] - first_end[n])
        for k in range(count):
            row, of_place, inertia = taken[begin + k, 0], taken[begin + k, 1], taken[begin + k, 2]
            largest[k] = 0.0  # that an entry of a row could be
            for i in range(J.shape[1]):
                J[begin + k, i] = 0.0
            give[begin + k] = 1 / work[inertia] if inertia >= 0 else 0.0
            if what == ACCELERATION:
                right[begin + k] = -work[bias + row]
            elif what == VELOCITY:
                right[begin + k] = -work[report + size + row]
            else:
                right[begin + k] = -work[report + row] if of_place else 0.0
        for e in range(first_end[n], first_end[n + 1]):
            body, block = loops.ends[e], scratch + 6 * size * (e - first_end[n])
            sweep(work, loops.own_kernels, loops.making[loops.first_operation[body] : loops.first_operation[body + 1]])
            for k in range(count):
                at = block + 6 * taken[begin + k, 0]
                if what == ACCELERATION:
                    for i in range(6):
                        right[begin + k] -= work[at + i] * work[loops.turning[body] + i]
                for c in range(first_column[body], first_column[body + 1]):
                    offset, stride, freedom = columns[c, 0], columns[c, 1], columns[c, 2]
                    total, size_of_row, size_of_column = 0.0, 0.0, 0.0
                    for i in range(6):
                        total += work[at + i] * work[offset + i * stride]
                        size_of_row += abs(work[at + i])
                        size_of_column += abs(work[offset + i * stride])
                    J[begin + k, freedom] += total
                    largest[k] = max(largest[k], size_of_row * size_of_column)
        for k in range(count):
            most = 0.0
            for i in range(J.shape[1]):
                if abs(J[begin + k, i]) < ROUNDING * largest[k]:
                    J[begin + k, i] = 0.0
                most = max(most, abs(J[begin + k, i]))
            if loops.limits[LEAST] > 0.0:
                loops.weights[begin + k] = (most / largest[k]) ** 2 if largest[k] > 0.0 else 0.0
                if most < loops.limits[LEAST] * largest[k]:
                    for i in range(J.shape[1]):
                        J[begin + k, i] = 0.0
            worst = max(worst, abs(right[begin + k])) if right[begin + k] == right[begin + k] else np.inf
    return worst


@jit_inner
def factor(work, own_kernels, inertia):
    """H of links that are in place, and L^T D L of it."""
    sweep(work, own_kernels, inertia.blocks)
    for i in range(inertia.blocks_at.shape[0]):
        work[inertia.tiles_at[i]] = work[inertia.blocks_at[i]]
    sweep(work, own_kernels, inertia.factoring)


@jit_inner
def solve_tree(work, own_kernels, inertia):
    """x of the joints: H x = b, with b = -x as it is there."""
    right_at, joints_at = inertia.right_at, inertia.joints_at
    for i in range(right_at.shape[0]):
        work[right_at[i]] = -work[joints_at[i]]
    sweep(work, own_kernels, inertia.up)
    sweep(work, own_kernels, inertia.down)
    for i in range(right_at.shape[0]):
        work[joints_at[i]] = work[right_at[i]]


@jit_inner
def solve(work, inertia, loops, softness):
    """x of the joints: H x = b + J^T y and J x = right, with b = -x as it is there. J becomes Y^T. `softness`: of
    the rows, a part of what they would give."""
    right_at, joints_at = inertia.right_at, inertia.joints_at
    lift_rows(work, inertia, loops)
    for i in range(right_at.shape[0]):
        work[right_at[i]] = -work[joints_at[i]]
    sweep(work, loops.own_kernels, inertia.up)
    respond(work, inertia, loops, softness)
    sweep(work, loops.own_kernels, inertia.down)
    for i in range(right_at.shape[0]):
        work[joints_at[i]] = work[right_at[i]]


@jit_inner
def lift_rows(work, inertia, loops):
    """Y = L^-T J^T, in the place of J."""
    J, right_at = loops.J, inertia.right_at
    for k in range(J.shape[0]):
        for i in range(J.shape[1]):
            work[right_at[i]] = J[k, i]
        sweep(work, loops.own_kernels, inertia.up)
        for i in range(J.shape[1]):
            J[k, i] = work[right_at[i]]


@jit_inner
def respond(work, inertia, loops, softness):
    """Add Y y to L^-T b, with y that makes J x = right."""
    pivots_at, right_at = inertia.pivots_at, inertia.right_at
    J, right, W, y, give = loops.J, loops.right, loops.W, loops.y, loops.give
    m, n = J.shape
    for k in range(m):
        for i in range(n):
            right[k] -= J[k, i] * work[pivots_at[i]] * work[right_at[i]]
        for j in range(k + 1):
            total = 0.0
            for i in range(n):
                total += J[k, i] * work[pivots_at[i]] * J[j, i]
            W[k, j] = W[j, k] = total
        W[k, k] += give[k]
    solve_by_largest_pivots(W, right, y, loops.weights, softness)
    for k in range(m):
        for i in range(n):
            work[right_at[i]] += J[k, i] * y[k]


@jit_inner
def answer(work, loops, softness):
    """x of the joints changed so that J x changes by `right`, by responses: links must be at rest, factors there."""
    joints_at, J, Z, W, y, give = loops.joints_at, loops.J, loops.Z, loops.W, loops.y, loops.give
    m, n = J.shape
    x = np.empty(n)
    for i in range(n):
        x[i] = work[joints_at[i]]
    for k in range(m):
        for i in range(n):
            work[joints_at[i]] = J[k, i]
        sweep(work, loops.own_kernels, loops.response)
        for i in range(n):
            Z[k, i] = work[joints_at[i]]
    for k in range(m):
        for j in range(k + 1):
            total = 0.0
            for i in range(n):
                total += J[k, i] * Z[j, i]
            W[k, j] = W[j, k] = total
        W[k, k] += give[k]
    solve_by_largest_pivots(W, loops.right, y, loops.weights, softness)
    for k in range(m):
        for i in range(n):
            x[i] += Z[k, i] * y[k]
    for i in range(n):
        work[joints_at[i]] = x[i]


@jit_inner
def power(work, loops):
    """Of prescribed motion: the rows ask for J v = -forcing, and push with J^T y."""
    nodes, taken, y = loops.nodes, loops.taken, loops.y
    total = 0.0
    for n in range(nodes.shape[0]):
        size, report, begin = nodes[n, 0], nodes[n, 1], nodes[n, 2]
        end = nodes[n + 1, 2] if n + 1 < nodes.shape[0] else taken.shape[0]
        for k in range(begin, end):
            total -= y[k] * work[report + 2 * size + taken[k, 0]]
    return total


@jit
def solve_by_largest_pivots(W, right, y, weights, softness):
    """y of W y = right; W (m, m) is symmetric and positive semidefinite, and changed; so is right. y of rows that depend on
    others is zero. `weights` (m,): of rows when pivots are compared; `softness` is added to the ones on the diagonal."""
    m = W.shape[0]
    scale, left, order, count = np.empty(m), np.ones(m, np.bool_), np.empty(m, np.int64), 0
    for k in range(m):
        scale[k] = 1 / np.sqrt(W[k, k]) if W[k, k] > 0 else 0.0
    for k in range(m):
        for j in range(m):
            W[k, j] *= scale[k] * scale[j]
        right[k] *= scale[k]
        y[k] = 0.0
        if softness > 0.0 and scale[k] > 0.0:
            W[k, k] += softness
    while count < m:
        p, largest = -1, 0.0
        for k in range(m):
            if left[k] and W[k, k] > DEPENDENT and W[k, k] * weights[k] > largest:
                p, largest = k, W[k, k] * weights[k]
        if p < 0:
            break
        left[p] = False
        order[count] = p
        count += 1
        for k in range(m):
            if left[k]:
                factor = W[k, p] / W[p, p]
                for j in range(m):
                    if left[j]:
                        W[k, j] -= factor * W[p, j]
                right[k] -= factor * right[p]
    for place in range(count - 1, -1, -1):
        p = order[place]
        total = right[p]
        for later in range(place + 1, count):
            total -= W[p, order[later]] * y[order[later]]
        y[p] = total / W[p, p]
    for k in range(m):
        y[k] *= scale[k]
