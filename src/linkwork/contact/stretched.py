"""Where shapes of bodies that stretch touch: points of the material, with slots of their own.

All points of such a body are linear in their local place, so that four of them (the origin, and one along each axis), which
kernels write, tell the rest: place, bias and J of a point are those of the four, weighed. A contact takes the next of the spots
of its body, at the place midway between the surfaces, where friction acts. The gap closes with the surface, which is beside
that place by half the gap along the normal, and which material that stretches brings nearer or farther: the fourth row of J is
that rate. So the rate of the gap is exact, both bodies get their forces along one line, and the spot has no spin.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from linkwork.codegen.jit import jit, jit_inline, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.collision.vectors import across, cross, dot, minus, row, times
from linkwork.contact.delassus import BIAS, FORCING, MEMBER, MEMBER_J, MEMBER_SPAN, MEMBERS, Q, V, X

LOCAL, BESIDE, NORMAL = -9, -6, -3  # fields of the record of a spot, from its place on
BODY, FIRST, ROOM = range(3)  # columns of the table of bodies that stretch


class Stretched(Struct):
    """Bodies whose shapes stretch, s of them, and their spots."""

    owners: np.ndarray  # (s, 3) int64: body, its first spot, how many it has for each half of a step
    number: np.ndarray  # (n,) int64: which of them a body is, or -1
    taken: np.ndarray  # (s,) int64: scratch
    crowded: np.ndarray  # (1,) int64: one more than the last body that touched at more points than it has spots; 0: none


@jit_inline
def _point_of(work, body, k):
    """Where the k-th of the four points of a body is."""
    at = body[Q] + k * body[MEMBERS]
    return (work[at], work[at + 1], work[at + 2])


@jit
def find_map(work, body, axes, origin):
    """The linear map (3, 3) and the origin (3,) of a body that stretches."""
    here = _point_of(work, body, 0)
    for j in range(3):
        there = _point_of(work, body, 1 + j)
        origin[j] = here[j]
        for i in range(3):
            axes[i, j] = there[i] - here[i]


@jit
def find_rates(work, body, carried, scale, u):
    """How fast a body that stretches moves: the velocity of its origin, and how fast points a metre off along each axis move
    beside it, at velocities carried v + scale x."""
    span, J = body[MEMBER + MEMBER_SPAN], body[FORCING]
    for i in range(3):
        u[i] = u[3 + i] = 0.0
    for k in range(4):
        far = 0.0
        for i in range(3):
            rate = 0.0
            for j in range(span):
                speed = carried * work[body[V] + j] + (scale * work[body[X] + j] if scale != 0.0 else 0.0)
                rate += work[J + k * body[MEMBERS] + i * span + j] * speed
            if k == 0:
                u[i] = rate
            else:
                far += (rate - u[i]) ** 2
        if k > 0:
            u[2 + k] = np.sqrt(far)


def frame_rates(work: np.ndarray, body: np.ndarray) -> np.ndarray:
    """(4, 3) m/s: the velocities of the four points of a body that stretches."""
    span = int(body[MEMBER + MEMBER_SPAN])
    v = work[body[V] : body[V] + span]
    starts = body[FORCING] + body[MEMBERS] * np.arange(4)
    return np.array([work[at : at + 3 * span].reshape(3, span) @ v for at in starts.tolist()])


@jit_inline
def _local(A, d):
    """The local vector that a linear map takes to d; zero where it has collapsed."""
    x, y, z = cross(_column(A, 1), _column(A, 2)), cross(_column(A, 2), _column(A, 0)), cross(_column(A, 0), _column(A, 1))
    volume = dot(x, _column(A, 0))
    if volume == 0.0:
        return (0.0, 0.0, 0.0)
    return (dot(x, d) / volume, dot(y, d) / volume, dot(z, d) / volume)


@jit_inline
def _column(A, j):
    return (A[0, j], A[1, j], A[2, j])


@jit_inline
def _weighed(work, at, stride, local):
    """A number of the four points, from `at` on, at a local place."""
    here = work[at]
    return (here + local[0] * (work[at + stride] - here) + local[1] * (work[at + 2 * stride] - here)
            + local[2] * (work[at + 3 * stride] - here))  # fmt: skip


@jit_inner
def carry(work, body, spot):
    """Place, bias and J of a spot as its body is now."""
    at, stride, span, J = spot[Q], body[MEMBERS], body[MEMBER + MEMBER_SPAN], spot[MEMBER + MEMBER_J]
    local = (work[at + LOCAL], work[at + LOCAL + 1], work[at + LOCAL + 2])
    beside = (work[at + BESIDE], work[at + BESIDE + 1], work[at + BESIDE + 2])
    work[spot[BIAS] + 3] = 0.0
    for j in range(span):
        work[J + 3 * span + j] = 0.0
    for i in range(3):
        n = work[at + NORMAL + i]
        work[at + i] = _weighed(work, body[Q] + i, stride, local)
        work[spot[BIAS] + i] = _weighed(work, body[BIAS] + i, stride, local)
        work[spot[BIAS] + 3] += n * (_weighed(work, body[BIAS] + i, stride, beside) - work[body[BIAS] + i])
        for j in range(span):
            of = body[FORCING] + i * span + j
            work[J + i * span + j] = _weighed(work, of, stride, local)
            work[J + 3 * span + j] += n * (_weighed(work, of, stride, beside) - work[of])


@jit
def carry_all(work, bodies, stretched):
    """The same of all spots, at the local places that they had last."""
    for s in range(len(stretched.owners)):
        own = stretched.owners[s]
        for spot in range(own[FIRST], own[FIRST] + 2 * own[ROOM]):
            carry(work, bodies[own[BODY]], bodies[spot])


@contextmanager
def spots_kept(work: np.ndarray, bodies: np.ndarray, stretched: Stretched) -> Iterator[None]:
    """Spots are as they were when this is left: what is looked at between steps takes spots that rows of the last step have."""
    spans = []
    for _, first, room in stretched.owners.tolist():
        last = bodies[first + 2 * room - 1]
        end = last[MEMBER + MEMBER_J] + 4 * last[MEMBER + MEMBER_SPAN]
        spans.append(slice(int(bodies[first, Q] + LOCAL), int(end)))
    values, crowded = [work[span].copy() for span in spans], stretched.crowded.copy()
    yield
    for span, before in zip(spans, values, strict=True):
        work[span] = before
    stretched.crowded[:] = crowded


@jit
def leave_room(contacts, count, body_of, stretched):
    """Leave out contacts of bodies that touch at more points than they have spots, those with the largest gaps; returns how
    many are left."""
    while True:
        stretched.taken[:] = 0
        full = -1
        for k in range(count):
            for c in (contacts.a[k], contacts.b[k]):
                s = stretched.number[body_of[c]] if body_of[c] >= 0 else -1
                if s >= 0:
                    stretched.taken[s] += 1
                    full = s if stretched.taken[s] > stretched.owners[s, ROOM] else full
        if full < 0:
            return count
        stretched.crowded[0] = 1 + stretched.owners[full, BODY]
        count = _drop_farthest(contacts, count, body_of, stretched.owners[full, BODY])


@jit_inner
def _drop_farthest(contacts, count, body_of, body):
    """Leave out the contact of a body that has the largest gap."""
    worst, gap = -1, -np.inf
    for k in range(count):
        if (body_of[contacts.a[k]] == body or body_of[contacts.b[k]] == body) and contacts.gap[k] > gap:
            worst, gap = k, contacts.gap[k]
    for k in range(worst, count - 1):
        contacts.a[k], contacts.b[k], contacts.feature[k] = contacts.a[k + 1], contacts.b[k + 1], contacts.feature[k + 1]
        contacts.gap[k] = contacts.gap[k + 1]
        for i in range(3):
            contacts.point[k, i], contacts.normal[k, i] = contacts.point[k + 1, i], contacts.normal[k + 1, i]
    return count - 1


@jit
def take_spots(work, bodies, stretched, labels, contacts, count, half, R, p, Ja, Jb):
    """Rows of contacts with bodies that stretch: their sides get spots. labels: (count, 2), bodies of both sides; half: 0 or 1,
    which of two arrays of rows these are. R, p: the linear maps and origins of bodies; of spots the origins are written."""
    stretched.taken[:] = 0
    for k in range(count):
        for end in range(2):
            s = stretched.number[labels[k, end]] if labels[k, end] >= 0 else -1
            if s < 0:
                continue
            body = stretched.owners[s, BODY]
            spot = stretched.owners[s, FIRST] + half * stretched.owners[s, ROOM] + stretched.taken[s]
            stretched.taken[s] += 1
            point, n, A, at = row(contacts.point, k), row(contacts.normal, k), R[body], bodies[spot, Q]
            sign = 1.0 if end else -1.0
            local = _local(A, minus(point, (p[body, 0], p[body, 1], p[body, 2])))
            beside = _local(A, times(0.5 * sign * contacts.gap[k], n))
            for i in range(3):
                work[at + LOCAL + i], work[at + BESIDE + i], work[at + NORMAL + i] = local[i], beside[i], n[i]
                p[spot, i] = point[i]
            carry(work, bodies[body], bodies[spot])
            labels[k, end] = spot
            _write_rows(Jb[k] if end else Ja[k], sign, n)


@jit_inline
def _write_rows(J, sign, n):
    t = across(n)
    _write_row(J, 0, sign, n)
    _write_row(J, 1, sign, t)
    _write_row(J, 2, sign, cross(n, t))
    J[0, 3] = sign


@jit_inline
def _write_row(J, k, sign, d):
    for i in range(3):
        J[k, i] = sign * d[i]
        J[k, 3 + i] = 0.0
