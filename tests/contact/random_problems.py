"""Random contact problems, and slow obvious twins that solve them by trying every set of states."""

from __future__ import annotations

import itertools

import numpy as np

from linkwork.contact.problem import Problem


def random_problem(rng, slots=4, contacts=5, jointed=False, mu=None, duplicates=0, immovable=False, planar=False):
    """Bodies with random masses, contacts at random points in random frames, random velocities.

    jointed: groups of random sizes with fewer freedoms than coordinates. mu: else random up to 1.2. duplicates: so many contacts are
    repeated. immovable: one slot answers no impulse. planar: the second tangent row is zero.
    """
    sizes = []
    while sum(sizes) < slots:
        sizes.append(min(slots - sum(sizes), int(rng.integers(1, 4)) if jointed else 1))
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    at = np.concatenate([[0], np.cumsum([36 * s * s for s in sizes])[:-1]]).astype(np.int64)
    R = np.concatenate([_joint_response(rng, size).ravel() if jointed else _free_response(rng).ravel() for size in sizes])
    if immovable:
        R[:36] = 0.0
    slot_b = rng.integers(0, slots, contacts).astype(np.int32)
    slot_a = np.array([rng.choice([s for s in range(-1, slots) if s != b]) for b in slot_b], dtype=np.int32)
    frames = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(contacts)])
    Ja, Jb = (np.concatenate([frames, np.cross(rng.normal(size=(contacts, 1, 3)), frames)], axis=2) for _ in range(2))
    if planar:
        Ja[:, 2], Jb[:, 2] = 0.0, 0.0
    Ja = -Ja * (slot_a >= 0)[:, None, None]
    friction = rng.uniform(0.0, 1.2, contacts) if mu is None else np.full(contacts, float(mu))
    for k in range(1, duplicates + 1):
        slot_a[-k], slot_b[-k], Ja[-k], Jb[-k], friction[-k] = slot_a[0], slot_b[0], Ja[0], Jb[0], friction[0]
    return Problem(rng.normal(size=(slots, 6)), first, np.array(sizes, dtype=np.int32), at, R, slot_a, slot_b, Ja, Jb,
                   friction, np.zeros((contacts, 3)), np.zeros((contacts, 3)), np.zeros(contacts), np.full(contacts, -1))  # fmt: skip


def _free_response(rng):
    mass, turn = rng.uniform(0.3, 3.0), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    response = np.zeros((6, 6))
    response[:3, :3] = np.eye(3) / mass
    response[3:, 3:] = turn @ np.diag(1 / (mass * rng.uniform(0.3, 1.0, 3))) @ turn.T
    return response


def _joint_response(rng, size):
    """Bodies that share fewer freedoms than they have coordinates."""
    n = 6 * size
    L = rng.normal(size=(n, int(rng.integers(max(1, n // 3), n + 1))))
    return L @ L.T / n


def copied(problem):
    return Problem(*(array.copy() for array in problem))


def response(problem):
    """R of all slots as one matrix, and the Jacobian of all contacts, by the definitions."""
    n, m = 6 * len(problem.u), len(problem.mu)
    R, J = np.zeros((n, n)), np.zeros((3 * m, n))
    for first, size, at in zip(problem.first, problem.size, problem.at, strict=True):
        rows = slice(6 * first, 6 * (first + size))
        R[rows, rows] = problem.R[at : at + 36 * size * size].reshape(6 * size, 6 * size)
    for k in range(m):
        for slot, block in ((problem.slot_a[k], problem.Ja[k]), (problem.slot_b[k], problem.Jb[k])):
            if slot >= 0:
                J[3 * k : 3 * k + 3, 6 * slot : 6 * slot + 6] += block
    return R, J


def law_violation(W, q, mu, f):
    """The law read aloud, contact by contact: largest violation, velocities and impulses apart. f (m, 3)."""
    c = (W @ f.ravel() + q).reshape(-1, 3)
    slip, friction = np.linalg.norm(c[:, 1:], axis=1), np.linalg.norm(f[:, 1:], axis=1)
    parts = [
        np.maximum(0, -c[:, 0]),
        np.maximum(0, -f[:, 0]),
        np.minimum(np.abs(c[:, 0]), np.abs(f[:, 0])),
        np.maximum(0, friction - mu * f[:, 0]),
        np.linalg.norm(slip[:, None] * f[:, 1:] + (mu * f[:, 0])[:, None] * c[:, 1:], axis=1) / (1 + slip),
    ]
    return max(part.max(initial=0.0) for part in parts)


def all_planar_solutions(W, q, mu, tolerance=1e-9):
    """Every isolated solution with one tangent a contact, by trying all sets: open, stick, slide this way, slide that way. W (2 m, 2 m)."""
    m, found = len(mu), []
    for states in itertools.product(range(4), repeat=m):
        A, b = np.zeros((2 * m, 2 * m)), np.zeros(2 * m)
        for k, state in enumerate(states):
            n, t = 2 * k, 2 * k + 1
            if state == 0:
                A[n, n] = A[t, t] = 1.0
                continue
            A[n], b[n] = W[n], -q[n]
            if state == 1:
                A[t], b[t] = W[t], -q[t]
            else:
                A[t, t], A[t, n] = 1.0, -mu[k] if state == 2 else mu[k]
        if np.linalg.matrix_rank(A, 1e-10) < 2 * m:
            continue
        f = np.linalg.solve(A, b)
        full = np.zeros((m, 3))
        full[:, :2] = f.reshape(m, 2)
        wide = np.zeros((3 * m, 3 * m))
        rows = [3 * k + i for k in range(m) for i in range(2)]
        wide[np.ix_(rows, rows)] = W
        offset = np.zeros(3 * m)
        offset[rows] = q
        if law_violation(wide, offset, mu, full) < tolerance and not any(np.allclose(full, other) for other in found):
            found.append(full)
    return found
