"""Joint-space inertia matrices by their definition (eq. 5), all bodies in world coordinates at one configuration; numpy."""

import numpy as np


def skew(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def rigid_inertia(mass, centre, about_centre):
    """(6, 6) of a body about the origin, spatial: moments first."""
    C = skew(centre)
    return np.block([[about_centre + mass * C @ C.T, mass * C], [mass * C.T, mass * np.eye(3)]])


def random_bodies(parents, rng):
    """(inertias (n, 6, 6), axes (n, 6)): bodies that stand one beyond another, on hinges."""
    n = len(parents)
    joints, inertias, axes = np.zeros((n, 3)), np.zeros((n, 6, 6)), np.zeros((n, 6))
    for i, parent in enumerate(parents):
        step = rng.normal(size=3)
        joints[i] = (joints[parent] if parent >= 0 else 0) + 0.3 * step / np.linalg.norm(step)
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        sizes = rng.uniform(0.05, 0.3, 3)
        mass = rng.uniform(0.5, 5.0)
        about_centre = turn @ np.diag(mass / 12 * (np.sum(sizes**2) - sizes**2)) @ turn.T
        inertias[i] = rigid_inertia(mass, joints[i] + 0.1 * rng.normal(size=3), about_centre)
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        axes[i] = np.concatenate([direction, np.cross(joints[i], direction)])
    return inertias, axes


def joint_space_inertia(parents, inertias, axes):
    """H (n, n): s_i^T I_i^c s_j, where i is j or descends from it."""
    n, composite = len(parents), inertias.copy()
    H = np.zeros((n, n))
    for i in reversed(range(n)):
        if parents[i] >= 0:
            composite[parents[i]] += composite[i]
    for i in range(n):
        j = i
        while j >= 0:
            H[i, j] = H[j, i] = axes[i] @ composite[i] @ axes[j]
            j = parents[j]
    return H


def random_matrix(parents, rng):
    """The matrix of a random tree of hinges."""
    return joint_space_inertia(parents, *random_bodies(parents, rng))
