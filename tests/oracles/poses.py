"""Bodies from their coordinates alone: where material points, axes, lines and normals are, and how they flow.

A body's kind is its name as the package has it ("RigidBody", "PlanarBody-xz", ...), q its coordinates. Any frame fixed in
the body will do: everything is said relative to the pose q0 in which the body was built.
"""

import numpy as np

PLANE = {"xz": (0, 2, 1), "xy": (0, 1, 2), "yz": (1, 2, 0)}  # in-plane axes, normal


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def turn(w):
    """The rotation by the vector w (Rodrigues)."""
    angle = np.linalg.norm(w)
    if angle < 1e-300:
        return np.eye(3)
    K = skew(np.asarray(w) / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def quaternion_product(p, q):
    a, b, c, d = map(float, p)
    w, x, y, z = map(float, q)
    return np.array([a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
                     a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w])  # fmt: skip


def quaternion_matrix(q):
    """Columns are the turned unit vectors: q e q*."""
    conjugate = q * np.array([1, -1, -1, -1])
    return np.array([quaternion_product(quaternion_product(q, np.array([0, *e])), conjugate)[1:] for e in np.eye(3)]).T


def polar(F):
    U, _, Vt = np.linalg.svd(F)
    return U @ Vt


def bent(u, p):
    """A made-up Lagrangian body of five coordinates: where its place p is; for numbers and for expressions."""
    x, y, z = p[0], p[1], p[2]
    return (u[0] + 0.2 * np.sin(u[3]) + (1 + 0.3 * u[3]) * x + 0.2 * u[4] * y,
            u[1] + 0.1 * u[3] * u[4] + 0.1 * u[4] ** 2 * x + y + 0.3 * u[3] * z,
            u[2] - 0.1 * u[4] ** 2 + u[3] * u[4] * y + (1 - 0.2 * np.sin(u[4])) * z)  # fmt: skip


def frame(kind, q):
    """(x, F, R): a fixed point of the body, its deformation, and its rotation."""
    name, _, plane = kind.partition("-")
    if name == "LagrangianBody":
        x = np.array(bent(q, np.zeros(3)))
        return x, np.array([bent(q, e) - x for e in np.eye(3)]).T, np.eye(3)
    if name == "RigidBody":
        R = quaternion_matrix(q[3:7])
        return q[:3], R, R
    if name == "ScalableBody":
        R = quaternion_matrix(q[3:7])
        return q[:3], R @ np.diag(q[7:10]), R
    if name == "AffineBody":
        F = q[3:].reshape(3, 3)
        return q[:3], F, polar(F)
    if name == "Particle":
        return q, np.eye(3), np.eye(3)
    first, second, normal = PLANE[plane]
    x = np.zeros(3)
    x[first], x[second] = q[0], q[1]
    R = turn(q[2] * np.eye(3)[normal]) if name == "PlanarBody" else np.eye(3)
    return x, R, R


def flow(kind, q, v, time):
    """q after moving with the constant velocity v for a time."""
    name = kind.partition("-")[0]
    if name not in ("RigidBody", "ScalableBody"):
        return q + time * v
    w = time * v[3:6]
    angle = np.linalg.norm(w)
    half = np.array([np.cos(angle / 2), *(0.5 * np.sinc(angle / 2 / np.pi) * w)])
    moved = np.concatenate([q[:3] + time * v[:3], quaternion_product(half, q[3:7])])
    return np.concatenate([moved, q[7:] + time * v[6:]])


def derived(kind, q):
    """What a body's record keeps of its pose (field R)."""
    name = kind.partition("-")[0]
    if name == "PlanarBody":
        return np.array([np.cos(q[2]), np.sin(q[2])])
    return frame(kind, q)[2].ravel() if name in ("RigidBody", "ScalableBody", "AffineBody") else np.zeros(0)


def as_built(body):
    """(x, F, R) of an element's own frame from the fields that the user gave."""
    name = type(body).__name__
    if name in ("PlanarBody", "PlanarParticle"):
        angle = [body.angle] if name == "PlanarBody" else []
        return frame(f"{name}-{body.plane}", np.array([*body.position, *angle]))
    if name == "LagrangianBody":
        return frame(name, body.coordinates)
    if name == "Particle":
        return body.position, np.eye(3), np.eye(3)
    if name == "AffineBody":
        return body.position, body.deformation, polar(body.deformation)
    R = quaternion_matrix(body.orientation)
    stretch = getattr(body, "stretch", np.ones(3))
    return body.position, R @ np.diag(stretch), R


class Ground:
    """The world itself, seen as a body."""

    x0, F0, R0 = np.zeros(3), np.eye(3), np.eye(3)

    def point(self, built):
        return np.asarray(built)

    axis = line = normal = point

    def after(self, time):
        return self

    def spin(self):
        return np.zeros(3)


class Placed:
    """A body at the coordinates q with the velocity v; vectors are named by where they were as built."""

    def __init__(self, body, kind, q0, q, v):
        self.body, self.kind, self.q0, self.q, self.v = body, kind, q0, q, v
        self.x0, self.F0, self.R0 = as_built(body)  # the user's frame as built
        origin, F0, R0 = frame(kind, q0)
        x, F, R = frame(kind, q)
        self.G, self.Q = F @ np.linalg.inv(F0), R @ R0.T  # what has happened since
        self.origin, self.x = origin, x

    def point(self, built):
        if self.kind.partition("-")[0] in ("Particle", "PlanarParticle"):
            return self.x
        return self.x + self.G @ (built - self.origin)

    def axis(self, built):
        return self.Q @ built

    def line(self, built):
        return self.G @ built

    def normal(self, built):
        return np.linalg.inv(self.G).T @ built

    def after(self, time):
        return Placed(self.body, self.kind, self.q0, flow(self.kind, self.q, self.v, time), self.v)

    def spin(self):
        """The angular velocity, from how the axes turn."""
        W = rate(lambda b: b.Q, self) @ self.Q.T
        return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def rate(function, *bodies, h=1e-3):
    """d/dt of function(*bodies) while they move with their velocities: central differences of order four."""
    at = [function(*[b.after(k * h) for b in bodies]) for k in (-2, -1, 1, 2)]
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
