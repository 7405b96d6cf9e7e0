"""A chain of boxes on ball joints with torsion springs, and eq. (3) for it, in numpy and dense: nothing of linkwork.

q = (positions (n, 3), rotations (n, 3, 3)); v is (6 n,): velocity and angular velocity of each box, world axes.
"""

from dataclasses import dataclass

import numpy as np

from papers.hernandez11.rotations import cross_matrix, exact, exponential, logarithm, printed


def _symmetric(w):
    S = exact(w)
    return (S + S.T) / 2, (S + S.T) / 2


FORMS = {  # w -> (d w / d turn of a, -d w / d turn of b)
    "exact": lambda w: (exact(w), exact(w).T),
    "symmetric": _symmetric,
    "printed": lambda w: (printed(w), printed(w).T),
}


@dataclass
class Chain:
    """anchored: hung from the origin; else free."""

    masses: np.ndarray  # (n,), kg
    inertias: np.ndarray  # (n, 3, 3), kg m^2, box axes
    stiffness: float = 5.0  # N m/rad
    damping: float = 0.2  # N m s
    gravity: float = 9.81  # m/s^2
    anchored: bool = True
    half: float = 0.3  # m: from a box's centre to the joint above, along its z; the one below is opposite

    @property
    def n(self):
        return len(self.masses)

    def above(self, R):
        """(3,): from a box's centre to the joint above it."""
        return self.half * R[:, 2]

    def turning(self, i):
        return slice(6 * i + 3, 6 * i + 6)

    def inertia(self, q, i):
        return q[1][i] @ self.inertias[i] @ q[1][i].T

    def mass(self, q):
        M = np.zeros((6 * self.n, 6 * self.n))
        for i in range(self.n):
            M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = self.masses[i] * np.eye(3)
            M[self.turning(i), self.turning(i)] = self.inertia(q, i)
        return M

    def force(self, q, v):
        """Gravity, -w x I w, springs and dampers."""
        F = np.zeros(6 * self.n)
        for i in range(self.n):
            w = v[self.turning(i)]
            F[6 * i + 2] -= self.masses[i] * self.gravity
            F[self.turning(i)] -= np.cross(w, self.inertia(q, i) @ w)
        for i in range(1, self.n):
            a, b = self.turning(i), self.turning(i - 1)
            torque = -self.stiffness * logarithm(q[1][i] @ q[1][i - 1].T) - self.damping * (v[a] - v[b])
            F[a] += torque
            F[b] -= torque
        return F

    def derivatives(self, q, v, form="exact"):
        """dF/dq and dF/dv, q by small turns in the world's axes; form: of the springs."""
        Kq, Kv = np.zeros((2, 6 * self.n, 6 * self.n))
        for i in range(self.n):
            t, w, I = self.turning(i), v[self.turning(i)], self.inertia(q, i)
            W, L = cross_matrix(w), cross_matrix(I @ w)
            Kv[t, t] = L - W @ I
            Kq[t, t] = W @ (L - I @ W)
        for i in range(1, self.n):
            a, b = self.turning(i), self.turning(i - 1)
            by_a, by_b = FORMS[form](logarithm(q[1][i] @ q[1][i - 1].T))
            for row, sign in ((a, 1.0), (b, -1.0)):
                Kq[row, a] -= sign * self.stiffness * by_a
                Kq[row, b] += sign * self.stiffness * by_b
                Kv[row, a] -= sign * self.damping * np.eye(3)
                Kv[row, b] += sign * self.damping * np.eye(3)
        return Kq, Kv

    def constraints(self, q):
        """(C, J)."""
        n = self.n
        C, J = np.zeros(3 * n), np.zeros((3 * n, 6 * n))
        for i in range(n):
            rows, above = slice(3 * i, 3 * i + 3), self.above(q[1][i])
            C[rows] = q[0][i] + above
            J[rows, 6 * i : 6 * i + 6] = np.hstack([np.eye(3), -cross_matrix(above)])
            if i:
                below = -self.above(q[1][i - 1])
                C[rows] -= q[0][i - 1] + below
                J[rows, 6 * i - 6 : 6 * i] = np.hstack([-np.eye(3), cross_matrix(below)])
        return (C, J) if self.anchored else (C[3:], J[3:])

    def moved(self, q, shift):
        turns = np.array([exponential(shift[self.turning(i)]) for i in range(self.n)])
        return q[0] + shift.reshape(-1, 6)[:, :3], turns @ q[1]

    def energy(self, q, v):
        """J, without the springs'."""
        return 0.5 * v @ self.mass(q) @ v + self.gravity * self.masses @ q[0][:, 2]

    def angular_impulse(self, q, impulse):
        """(3,): of generalised impulses on all boxes, about the origin."""
        return sum(impulse[self.turning(i)] + np.cross(q[0][i], impulse[6 * i : 6 * i + 3]) for i in range(self.n))


def crooked(n, seed=0, *, amplitude=0.6, **options):
    """(Chain, q) of unlike boxes that hang together at random angles."""
    rng = np.random.default_rng(seed)
    inertias = np.array([np.diag(0.02 + 0.05 * rng.random(3)) for _ in range(n)])
    chain = Chain(1 + rng.random(n), inertias, **options)
    rotations = np.array([exponential(amplitude * rng.normal(size=3)) for _ in range(n)])
    places, joint = [], np.zeros(3)
    for R in rotations:
        places.append(joint - chain.above(R))
        joint = joint - 2 * chain.above(R)
    return chain, (np.array(places), rotations)


def consistent(chain, q, v):
    """The part of v that keeps the constraints."""
    J = chain.constraints(q)[1]
    return v - np.linalg.pinv(J) @ (J @ v)


def linear_step(chain, q, v0, dt, form="exact", *, whole=False, without=None):
    """v1 of eq. (3). whole: take the symmetric part of all of A; without: leave a part of b out."""
    M, F = chain.mass(q), chain.force(q, v0)
    Kq, Kv = chain.derivatives(q, v0, form)
    if whole:
        Kq, Kv = (Kq + Kq.T) / 2, (Kv + Kv.T) / 2
    felt = {"all": np.zeros_like(Kv), "others": _own(Kv)}.get(without, Kv)
    C, J = chain.constraints(q)
    H = np.block([[M - dt * Kv - dt**2 * Kq, J.T], [J, np.zeros((len(C), len(C)))]])
    b = M @ v0 + dt * F - dt * felt @ v0
    return np.linalg.solve(H, np.concatenate([b, -C / dt]))[: len(v0)]


def _own(K):
    """The blocks of K between a body and itself."""
    mask = np.kron(np.eye(len(K) // 6), np.ones((6, 6)))
    return K * mask
