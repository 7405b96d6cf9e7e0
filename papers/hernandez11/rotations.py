"""Appendix A: the derivative of a rotation vector, as printed and exact. Vectors (3,), matrices (3, 3).

w = phi u is the rotation vector of R = R_a R_b^T; the derivative is by a small turn of a, in the world's axes.
"""

import numpy as np


def cross_matrix(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def exponential(w):
    """The rotation by |w| about w (Rodrigues)."""
    phi = np.linalg.norm(w)
    W = cross_matrix(w)
    return np.eye(3) + np.sinc(phi / np.pi) * W + 0.5 * np.sinc(phi / 2 / np.pi) ** 2 * W @ W


def logarithm(R):
    """The rotation vector, at most pi long, by way of the quaternion that is the largest eigenvector of K (Bar-Itzhack)."""
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[3, 3] = np.trace(R)
    q = np.linalg.eigh(K)[1][:, -1]
    q = -q if q[3] < 0 else q
    sine = np.linalg.norm(q[:3])
    return 2 * q[:3] if sine < 1e-12 else 2 * np.arctan2(sine, q[3]) / sine * q[:3]


def printed(w):
    """Eq. (7) and (13): phi / (2 sin phi) (R^T + I)."""
    phi = np.linalg.norm(w)
    return phi / (2 * np.sin(phi)) * (exponential(w).T + np.eye(3)) if phi else np.eye(3)


def exact(w):
    """g I + (1 - g) u u^T - (phi/2) [u]x with g = (phi/2) cot(phi/2)."""
    phi = np.linalg.norm(w)
    W = cross_matrix(w)
    curved = 1 / 12 + phi**2 / 720 if phi < 1e-3 else (1 - phi / 2 / np.tan(phi / 2)) / phi**2
    return np.eye(3) - W / 2 + curved * W @ W


def mended(w):
    """The printed form where it was derived: eq. (12) says nothing along u, where a turn of a adds itself to phi."""
    phi = np.linalg.norm(w)
    u = w / phi
    along = np.outer(u, u)
    return along + (np.eye(3) - along) @ printed(w)


def by_differences(w, h=1e-6):
    R = exponential(w)
    columns = [(logarithm(exponential(h * e) @ R) - logarithm(exponential(-h * e) @ R)) / (2 * h) for e in np.eye(3)]
    return np.array(columns).T
