"""Inverse kinematics, compiled: the least sum of squares of what frames are off their targets, within bounds.

    least over q of 1/2 |e|^2,    e_k = (weight (x* - x), weight log(R* R^T)) of each frame k, in the world's axes

A step d solves (J^T J + L D) d = J^T e within the bounds: what would leave them is set on them, one round after the other, and
the rest is solved for anew. D are the largest diagonal entries of J^T J so far, so that units of coordinates do not matter.
J^T e is the exact slope (the derivative of log(R* R^T) by a turn leaves the logarithm itself as it is). A step is taken if it
lowers the sum by a part of what J predicts; else L grows, until it points down the slope and is short enough. So the sum falls
in every step, q stays within its bounds, and what q tends to is a place from which no direction within them leads down.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.codegen.struct import Struct

FIRST, LEAST, MOST = 1e-3, 1e-12, 1e12  # L at first, and its bounds
GOOD = 1e-4  # part of the predicted decrease with which a step is taken
STILL = 1e-14  # a decrease, relative to the sum, that is rounding
POSE = 12  # numbers of a target: position, rotation row by row
SHORT, LONG = 60, 400  # steps of a descent that may be tried elsewhere, and of one that may not
POSTURES = (1e-2, 1e-4, 1e-6)  # weights of the way to the posture, one after the other
REACHED, STUCK, LIMIT = 0, 1, 2  # how a descent ends: at the targets, where nothing leads on, after so many steps


class Chain(Struct):
    """The links that move some frames, as a program; n velocities of theirs are sought, of K frames."""

    work: np.ndarray  # workspace of the tree whose bodies are the frames
    table: np.ndarray  # int64: kernels
    operations: np.ndarray  # int32: links and frames in place; then the columns of each frame; steps of q; differences of q
    begins: np.ndarray  # (K + 4,) int64: where these begin, and the end
    poses: np.ndarray  # (K,) int64: entries where each frame's pose begins
    columns: np.ndarray  # (c, 3) int64: frame, entry of J's first row in the first column, ...
    strides: np.ndarray  # (c, 2) int64: ... entries between rows, and which of the n velocities
    q: np.ndarray  # (nq,) int64: entries
    end: np.ndarray  # (nq,) int64: entries of the other q of a difference
    moved: np.ndarray  # (n,) int64: entries of velocities
    single: np.ndarray  # (n,) int64: of a velocity the place in q that is its only coordinate, -1: it has none
    lower: np.ndarray  # (n,) bounds of these
    upper: np.ndarray  # (n,)


class Room(Struct):
    """Scratch of a descent."""

    e: np.ndarray  # (6 K,)
    J: np.ndarray  # (6 K, n)
    A: np.ndarray  # (n, n)
    L: np.ndarray  # (n, n): Cholesky factor of the free part
    g: np.ndarray  # (n,)
    d: np.ndarray  # (n,): the step
    right: np.ndarray  # (n,)
    scale: np.ndarray  # (n,): D
    rest: np.ndarray  # (n,): the way to the posture ...
    tried: np.ndarray  # (n,): ... and what it would be after a step
    before: np.ndarray  # (nq,): q before a step
    off: np.ndarray  # (2 K,): m and rad by which each frame is off
    free: np.ndarray  # (n,) int64: numbers of velocities that are free


@jit_inner
def rotation_vector(R, target, at):
    """log(R* R^T), and R* stands at target[at:], R at R, both row by row: (3,) as a tuple."""
    e00 = target[at] * R[0] + target[at + 1] * R[1] + target[at + 2] * R[2]
    e01 = target[at] * R[3] + target[at + 1] * R[4] + target[at + 2] * R[5]
    e02 = target[at] * R[6] + target[at + 1] * R[7] + target[at + 2] * R[8]
    e10 = target[at + 3] * R[0] + target[at + 4] * R[1] + target[at + 5] * R[2]
    e11 = target[at + 3] * R[3] + target[at + 4] * R[4] + target[at + 5] * R[5]
    e12 = target[at + 3] * R[6] + target[at + 4] * R[7] + target[at + 5] * R[8]
    e20 = target[at + 6] * R[0] + target[at + 7] * R[1] + target[at + 8] * R[2]
    e21 = target[at + 6] * R[3] + target[at + 7] * R[4] + target[at + 8] * R[5]
    e22 = target[at + 6] * R[6] + target[at + 7] * R[7] + target[at + 8] * R[8]
    trace = e00 + e11 + e22
    if trace >= max(e00, e11, e22):
        w, x, y, z = 1.0 + trace, e21 - e12, e02 - e20, e10 - e01
    elif e00 >= e11 and e00 >= e22:
        w, x, y, z = e21 - e12, 1.0 + e00 - e11 - e22, e01 + e10, e02 + e20
    elif e11 >= e22:
        w, x, y, z = e02 - e20, e01 + e10, 1.0 + e11 - e00 - e22, e12 + e21
    else:
        w, x, y, z = e10 - e01, e02 + e20, e12 + e21, 1.0 + e22 - e00 - e11
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(sine, w) / sine if sine > 1e-150 else 0.0
    return factor * x, factor * y, factor * z


@jit_inner
def placed(chain, room, target, weights):
    """Links and frames in place; half the sum of squares, and how far each frame is off."""
    sweep(chain.work, chain.table, chain.operations[: chain.begins[0]])
    total = 0.0
    for k in range(chain.poses.shape[0]):
        at = chain.poses[k]
        here = chain.work[at : at + POSE]
        turn = rotation_vector(here[3:], target, POSE * k + 3)
        square, turned = 0.0, 0.0
        for i in range(3):
            off = target[POSE * k + i] - here[i]
            square += off * off
            turned += turn[i] * turn[i]
            room.e[6 * k + i] = weights[2 * k] * off
            room.e[6 * k + 3 + i] = weights[2 * k + 1] * turn[i]
        room.off[2 * k] = math.sqrt(square) if weights[2 * k] > 0.0 else 0.0
        room.off[2 * k + 1] = math.sqrt(turned) if weights[2 * k + 1] > 0.0 else 0.0
        total += 0.5 * (weights[2 * k] ** 2 * square + weights[2 * k + 1] ** 2 * turned)
    return total


@jit_inner
def linearised(chain, room, weights):
    """J, J^T J and J^T e where the links are."""
    room.J[:] = 0.0
    column = 0
    for k in range(chain.poses.shape[0]):
        sweep(chain.work, chain.table, chain.operations[chain.begins[k] : chain.begins[k + 1]])
        while column < chain.columns.shape[0] and chain.columns[column, 0] == k:
            at, apart, j = chain.columns[column, 1], chain.strides[column, 0], chain.strides[column, 1]
            for row in range(6):
                room.J[6 * k + row, j] = weights[2 * k + row // 3] * chain.work[at + apart * row]
            column += 1
    n = room.g.shape[0]
    room.A[:] = 0.0
    room.g[:] = 0.0
    for row in range(room.e.shape[0]):
        one, off = room.J[row], room.e[row]
        for i in range(n):
            if one[i] != 0.0:
                room.g[i] += one[i] * off
                for j in range(i + 1):
                    room.A[i, j] += one[i] * one[j]
    for i in range(n):
        for j in range(i):
            room.A[j, i] = room.A[i, j]


@jit_inner
def factored(room, damping, rest, count):
    """Cholesky's factor of what is damped, of the free velocities; whether there is one."""
    for a in range(count):
        i = room.free[a]
        for b in range(a + 1):
            value = room.A[i, room.free[b]]
            if a == b:
                value += damping * room.scale[i] + rest
            for k in range(b):
                value -= room.L[a, k] * room.L[b, k]
            if a > b:
                room.L[a, b] = value / room.L[b, b]
            elif value <= 0.0:
                return False
            else:
                room.L[a, a] = math.sqrt(value)
    return True


@jit_inner
def solved(room, count):
    """Solve for the free velocities of `right`, in place."""
    for a in range(count):
        value = room.right[a]
        for k in range(a):
            value -= room.L[a, k] * room.right[k]
        room.right[a] = value / room.L[a, a]
    for a in range(count - 1, -1, -1):
        value = room.right[a]
        for k in range(a + 1, count):
            value -= room.L[k, a] * room.right[k]
        room.right[a] = value / room.L[a, a]


@jit_inner
def step_within(chain, room, q, damping, rest):
    """The step d within the bounds; whether there is one. `rest`: weight of the way to the posture."""
    n = room.g.shape[0]
    count = 0
    for i in range(n):
        room.d[i] = 0.0
        s = chain.single[i]
        slope = room.g[i] + rest * room.rest[i]
        if s >= 0 and ((q[s] <= chain.lower[i] and slope < 0.0) or (q[s] >= chain.upper[i] and slope > 0.0)):
            continue
        room.free[count] = i
        count += 1
    while True:
        if not factored(room, damping, rest, count):
            return False
        for a in range(count):
            i = room.free[a]
            value = room.g[i] + rest * room.rest[i]
            for j in range(n):
                value -= room.A[i, j] * room.d[j]
            room.right[a] = value
        solved(room, count)
        left = 0
        for a in range(count):
            i = room.free[a]
            s = chain.single[i]
            value = room.right[a]
            if s >= 0 and q[s] + value < chain.lower[i]:
                room.d[i] = chain.lower[i] - q[s]
            elif s >= 0 and q[s] + value > chain.upper[i]:
                room.d[i] = chain.upper[i] - q[s]
            else:
                room.right[left] = value
                room.free[left] = i
                left += 1
        if left == count:
            for a in range(count):
                room.d[room.free[a]] = room.right[a]
            return True
        count = left


@jit_inner
def moved(chain, room):
    """q after the step d; what rounding puts beyond a bound is set on it."""
    for i in range(room.d.shape[0]):
        chain.work[chain.moved[i]] = room.d[i]
    last = chain.begins.shape[0] - 1
    sweep(chain.work, chain.table, chain.operations[chain.begins[last - 2] : chain.begins[last - 1]])
    for i in range(room.d.shape[0]):
        s = chain.single[i]
        if s >= 0:
            place = chain.q[s]
            chain.work[place] = min(max(chain.work[place], chain.lower[i]), chain.upper[i])


@jit_inner
def way_to(chain, room, posture):
    """The velocities that would lead from q to the posture in a second, to `tried`; half the sum of their squares."""
    last = chain.begins.shape[0] - 1
    for i in range(posture.shape[0]):
        chain.work[chain.end[i]] = posture[i]
    sweep(chain.work, chain.table, chain.operations[chain.begins[last - 1] : chain.begins[last]])
    total = 0.0
    for i in range(room.tried.shape[0]):
        room.tried[i] = chain.work[chain.moved[i]]
        total += 0.5 * room.tried[i] ** 2
    return total


@jit_inner
def is_reached(room, tolerance):
    for k in range(room.off.shape[0] // 2):
        if not (room.off[2 * k] <= tolerance[0] and room.off[2 * k + 1] <= tolerance[1]):
            return False
    return True


@jit_inner
def valued(chain, room, target, weights, posture, rest):
    """The sum that is to fall, where q is: of the targets, and `rest` times that of the way to the posture."""
    total = placed(chain, room, target, weights)
    return total + rest * way_to(chain, room, posture) if rest > 0.0 else total


@jit_inner
def predicted(room, rest):
    """By how much the step d lowers the sum, to second order."""
    fall, n = 0.0, room.d.shape[0]
    for i in range(n):
        inner = rest * room.d[i]
        for j in range(n):
            inner += room.A[i, j] * room.d[j]
        fall += room.d[i] * (room.g[i] + rest * room.rest[i] - 0.5 * inner)
    return fall


@jit_inner
def descend(chain, room, target, weights, tolerance, posture, rest, steps):
    """From the q in the workspace down to where nothing leads on; (how it ended, half the sum, steps). `rest`: weight of the
    squares of the way to the posture, with which reaching the targets does not end it."""
    total = valued(chain, room, target, weights, posture, rest)
    damping, growth, ended, count = FIRST, 2.0, LIMIT, 0
    room.scale[:] = 1e-12
    while count < steps and ended == LIMIT:
        if rest == 0.0 and is_reached(room, tolerance):
            return REACHED, total, count
        linearised(chain, room, weights)
        room.scale[:] = np.maximum(room.scale, np.diag(room.A) + rest)
        room.rest[:] = room.tried
        for i in range(chain.q.shape[0]):
            room.before[i] = chain.work[chain.q[i]]
        count += 1
        while True:
            fall, after = 0.0, total
            if step_within(chain, room, room.before, damping, rest):
                fall = predicted(room, rest)
                if 0.0 < fall <= STILL * total:
                    ended = STUCK
                    break
                moved(chain, room)
                after = valued(chain, room, target, weights, posture, rest)
            if fall > 0.0 and total - after > GOOD * fall:
                damping = max(LEAST, damping * max(1.0 / 3.0, 1.0 - (2.0 * (total - after) / fall - 1.0) ** 3))
                growth, total = 2.0, after
                break
            for i in range(chain.q.shape[0]):
                chain.work[chain.q[i]] = room.before[i]
            damping, growth = damping * growth, 2.0 * growth
            if damping > MOST:
                ended = STUCK
                break
    total = valued(chain, room, target, weights, posture, rest)
    return (REACHED if rest == 0.0 and is_reached(room, tolerance) else ended), total, count


@jit_inner
def put(chain, q):
    """q into the workspace, within the bounds."""
    for i in range(q.shape[0]):
        chain.work[chain.q[i]] = q[i]
    for i in range(chain.single.shape[0]):
        s = chain.single[i]
        if s >= 0:
            chain.work[chain.q[s]] = min(max(q[s], chain.lower[i]), chain.upper[i])


@jit_inner
def taken(chain, q):
    for i in range(q.shape[0]):
        q[i] = chain.work[chain.q[i]]


@jit_inner
def nearer(chain, room, target, weights, tolerance, posture, q):
    """Of what reaches a target, from q, the place nearest to the posture: its weight falls until the targets alone are left."""
    put(chain, q)
    for rest in POSTURES:
        descend(chain, room, target, weights, tolerance, posture, rest, LONG)
    ended, _, _ = descend(chain, room, target, weights, tolerance, posture, 0.0, LONG)
    if ended == REACHED:
        taken(chain, q)
    else:
        put(chain, q)
        placed(chain, room, target, weights)


@jit
def reach(chain, room, targets, weights, tolerance, starts, others, posture, q, off, told):
    """For each of targets (B, 12 K): q (B, nq) from starts (B, nq) and then from `others` (S, nq), until one reaches it; how
    far it is `off` (B, 2 K), and `told` (B, 3): how it ended, starts, steps. posture: (nq,), or (0,) for none."""
    for b in range(targets.shape[0]):
        best, ended, steps, tried = math.inf, LIMIT, 0, 0
        for s in range(1 + others.shape[0]):
            put(chain, starts[b] if s == 0 else others[s - 1])
            ended, total, count = descend(chain, room, targets[b], weights, tolerance, q[b], 0.0, SHORT)
            steps, tried = steps + count, tried + 1
            if ended == REACHED or total < best:
                best = total
                taken(chain, q[b])
            if ended == REACHED:
                break
        if ended != REACHED:  # the nearest
            put(chain, q[b])
            ended, _, count = descend(chain, room, targets[b], weights, tolerance, q[b], 0.0, LONG)
            steps += count
            taken(chain, q[b])
        elif posture.shape[0]:
            nearer(chain, room, targets[b], weights, tolerance, posture, q[b])
        off[b] = room.off
        told[b, 0], told[b, 1], told[b, 2] = ended, tried, steps
    return 0
