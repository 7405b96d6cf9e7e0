"""Boxes that touch face to face, as arrays: stacks, walls and piles for contact solvers, and a small integrator to watch them.

Touching faces are found once, as built; each overlap is four contacts that stay with their bodies. Enough for what rests, or nearly.
"""

from __future__ import annotations

import itertools

import numpy as np

from linkwork.contact.problem import Problem

GRAVITY = 9.81
DENSITY = 1000.0
TOUCH = 1e-9


def cross_matrix(r):
    """(..., 3, 3) with [r] v = r x v."""
    out = np.zeros((*r.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -r[..., 2], r[..., 1], -r[..., 0]
    return out - np.swapaxes(out, -1, -2)


class Boxes:
    """Free boxes above the ground z = 0, axis-aligned as built. sizes, positions (n, 3); gap of all contacts as built is zero."""

    def __init__(self, sizes, positions, friction=0.6, masses=None):
        self.sizes, self.x = np.array(sizes, dtype=float), np.array(positions, dtype=float)
        self.start = self.x.copy()
        n = len(self.x)
        self.Q, self.v = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 6))
        self.masses = DENSITY * self.sizes.prod(axis=1) if masses is None else np.array(masses, dtype=float)
        squares = self.sizes**2
        self.inertias = self.masses[:, None] / 12 * (squares.sum(axis=1)[:, None] - squares)
        self._touch()
        self.mu = np.full(len(self.a), friction)
        self.impulse = np.zeros((len(self.a), 3))

    def _touch(self):
        low, high = self.x - self.sizes / 2, self.x + self.sizes / 2
        low = np.vstack([low, [-1e3, -1e3, -1.0]])  # the ground, last
        high = np.vstack([high, [1e3, 1e3, 0.0]])
        n = len(self.x)
        found = []
        for a, b, axis in itertools.product(range(n + 1), range(n), range(3)):
            if a == b or abs(high[a, axis] - low[b, axis]) > TOUCH or (a == n and axis < 2):
                continue
            u, w = (axis + 1) % 3, (axis + 2) % 3
            lo, hi = np.maximum(low[a], low[b]), np.minimum(high[a], high[b])
            if hi[u] - lo[u] > TOUCH and hi[w] - lo[w] > TOUCH:
                for s, t in itertools.product((lo[u], hi[u]), (lo[w], hi[w])):
                    point = np.empty(3)
                    point[axis], point[u], point[w] = low[b, axis], s, t
                    found.append((a if a < n else -1, b, axis, point))
        found.sort(key=lambda contact: (contact[0], contact[1]))
        self.a, self.b = (np.array([f[i] for f in found], dtype=np.int32) for i in (0, 1))
        point = np.array([f[3] for f in found])
        self.on_b = point - self.x[self.b]
        self.on_a = point - np.where(self.a[:, None] >= 0, self.x[self.a], 0.0)
        self.axes = np.array([np.roll(np.eye(3), -f[2], axis=0) for f in found])  # rows normal, tangents in the frame of a

    def gaps(self):
        """Gap, frame (rows normal, tangents) and arms of every contact."""
        point = self.x[self.b] + np.einsum("kij,kj->ki", self.Q[self.b], self.on_b)
        on_body = self.a[:, None] >= 0
        centre = np.where(on_body, self.x[self.a], 0.0)
        turn = np.where(on_body[..., None], self.Q[self.a], np.eye(3))
        frame = np.einsum("kij,krj->kri", turn, self.axes)
        apart = point - centre - np.einsum("kij,kj->ki", turn, self.on_a)
        return np.einsum("ki,ki->k", frame[:, 0], apart), frame, point - centre, point - self.x[self.b]

    def problem(self, dt, recovery=0.1, fastest=0.5):
        """The contact problem of a step of the semi-implicit Euler method."""
        n = len(self.x)
        gap, frame, arm_a, arm_b = self.gaps()
        R = np.zeros((n, 6, 6))
        R[:, :3, :3] = np.eye(3) / self.masses[:, None, None]
        R[:, 3:, 3:] = np.einsum("nij,nj,nkj->nik", self.Q, 1 / self.inertias, self.Q)
        u = self.v.copy()
        u[:, 2] -= GRAVITY * dt
        Ja = np.concatenate([-frame, frame @ cross_matrix(arm_a)], axis=2) * (self.a >= 0)[:, None, None]
        Jb = np.concatenate([frame, -frame @ cross_matrix(arm_b)], axis=2)
        target = np.zeros((len(gap), 3))
        target[:, 0] = np.where(gap > 0, -gap / dt, np.minimum(-gap * recovery / dt, fastest))
        index = np.arange(n)
        return Problem(u, index.astype(np.int32), np.ones(n, dtype=np.int32), 36 * index.astype(np.int64), R.ravel(),
                       self.a, self.b, Ja, Jb, self.mu, target, self.impulse, np.zeros(len(gap)), np.full(len(gap), -1))  # fmt: skip

    def step(self, dt, solve):
        """One step; `solve(problem)` changes velocities and impulses."""
        problem = self.problem(dt)
        report = solve(problem)
        self.v = problem.u
        self.x = self.x + dt * self.v[:, :3]
        turn = dt * self.v[:, 3:]
        angle = np.linalg.norm(turn, axis=1)[:, None, None]
        K = cross_matrix(turn)
        self.Q = (np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * np.sinc(angle / 2 / np.pi) ** 2 * K @ K) @ self.Q
        return report

    def drift(self):
        """The largest way of a box from where it was built (m)."""
        return np.linalg.norm(self.x - self.start, axis=1).max()


def stack(n, heaviest_on_top=1.0, size=0.2, friction=0.6):
    """n cubes on each other; the top one is so many times heavier."""
    masses = np.full(n, DENSITY * size**3)
    masses[-1] *= heaviest_on_top
    height = size * (np.arange(n) + 0.5)
    return Boxes(np.full((n, 3), size), np.stack([0 * height, 0 * height, height], axis=1), friction, masses)


def wall(rows, columns, size=(0.4, 0.2, 0.2), friction=0.6):
    """Bricks in running bond, touching at their sides as well."""
    sizes, positions = [], []
    for row in range(rows):
        for column in range(columns):
            sizes.append(size)
            positions.append([(column + 0.5 * (row % 2)) * size[0], 0.0, (row + 0.5) * size[2]])
    return Boxes(sizes, positions, friction)


def pile(rng, layers, friction=0.5):
    """A pyramid of boxes of random breadth, each on up to four others, so many layers high."""
    sizes, positions = [], []
    for layer in range(layers):
        for i, j in itertools.product(range(layers - layer), repeat=2):
            sizes.append([*rng.uniform(0.35, 0.45, 2), 0.2])
            positions.append([*(0.5 * (np.array([i, j]) + layer / 2) + rng.uniform(-0.02, 0.02, 2)), 0.2 * (layer + 0.5)])
    return Boxes(sizes, positions, friction)
