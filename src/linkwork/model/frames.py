"""Bodies as built, in batches of one kind: start coordinates, constants, and local vectors from world ones.

A rigid body's internal frame is principal, with its origin where the compiler wants it; everything else has the
user's frame. All methods take (k, 3) arrays, `pick` selects some of the bodies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Pose
from linkwork.symbolic.bodies import BodyKind
from linkwork.symbolic.flat import HANDED, PLANES
from linkwork.symbolic.lagrangian import Lagrangian, parameters_of

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
BESIDE = 1e-6  # metres by which an anchor may lie beside a particle
PLACES = 30  # steps towards a place in a material
SMALL = 1e-4  # between places whose difference tells how they move
NO_RANK = 1e-12  # of a mass matrix whose diagonal is made one


def matrices(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (k, 3, 3) of unit quaternions (k, 4)."""
    w, x, y, z = q.T
    R = np.empty((len(q), 3, 3))
    R[:, 0] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1)
    R[:, 1] = np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1)
    R[:, 2] = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    return R


def quaternions(R: np.ndarray) -> np.ndarray:
    """Unit quaternions (k, 4), w >= 0, of rotation matrices (k, 3, 3); the largest component is computed first."""
    k = np.arange(len(R))
    d = np.stack([R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]], axis=1)
    squares = np.concatenate([1 + d.sum(1, keepdims=True), 1 + 2 * d - d.sum(1, keepdims=True)], axis=1)
    skew = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    products = np.zeros((len(R), 4, 4))
    products[:, 0, 1:] = products[:, 1:, 0] = skew
    products[:, 1:, 1:] = R + R.transpose(0, 2, 1)
    products[:, range(4), range(4)] = squares
    largest = np.argmax(squares, axis=1)
    q = products[k, largest]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(q[:, :1] < 0, -q, q)


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Quaternion products (k, 4)."""
    w = p[:, :1] * q[:, :1] - np.sum(p[:, 1:] * q[:, 1:], axis=1, keepdims=True)
    v = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate([w, v], axis=1)


def apply(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("kij,kj->ki", matrix, vectors)


def polar(F: np.ndarray) -> np.ndarray:
    U, _, V = np.linalg.svd(F)
    return U @ V


def polar_spin(F: np.ndarray, R: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """(k, 3): angular velocities of the polar rotations R of F, which change at `rate`."""
    U, G = R.transpose(0, 2, 1) @ F, R.transpose(0, 2, 1) @ rate
    axial = np.stack([G[:, 2, 1] - G[:, 1, 2], G[:, 0, 2] - G[:, 2, 0], G[:, 1, 0] - G[:, 0, 1]], axis=1)
    trace = np.trace(U, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    return apply(R, np.linalg.solve(trace - U, axial[..., None])[..., 0])


def _skew(a: np.ndarray) -> np.ndarray:
    """(k, 3, 3): matrices of cross products."""
    return np.cross(np.eye(3)[None], a[:, None, :])


class Frames:
    """The base: a body that maps local points by world = x + F p and axes by R."""

    x: np.ndarray  # (k, 3)
    F: np.ndarray  # (k, 3, 3)
    R: np.ndarray  # (k, 3, 3)

    def _pick(self, pick):
        return slice(None) if pick is None else pick

    def point(self, world, pick=None):
        i = self._pick(pick)
        return np.linalg.solve(self.F[i], (world - self.x[i])[..., None])[..., 0]

    def world_point(self, local, pick=None):
        i = self._pick(pick)
        return self.x[i] + apply(self.F[i], local)

    def axis(self, world, pick=None):
        return apply(self.R[self._pick(pick)].transpose(0, 2, 1), world)

    def world_axis(self, local, pick=None):
        return apply(self.R[self._pick(pick)], local)

    def line(self, world, pick=None):
        return np.linalg.solve(self.F[self._pick(pick)], world[..., None])[..., 0]

    def normal(self, world, pick=None):
        return apply(self.F[self._pick(pick)].transpose(0, 2, 1), world)

    def user_point(self, local, pick=None):
        """From the user's local coordinates to the internal ones."""
        return np.atleast_2d(np.asarray(local, dtype=float))

    def user_axis(self, local, pick=None):
        return np.atleast_2d(np.asarray(local, dtype=float))

    user_line = user_axis
    user_normal = user_axis

    def quaternion(self) -> np.ndarray:
        """Orientations (k, 4) of the internal frames as built: what the bodies' records start with."""
        return quaternions(self.R)

    def turn(self, world) -> np.ndarray:
        """Orientations (k, 4) as built in the world, relative to the internal frames."""
        return product(self.quaternion() * CONJUGATE, world)

    def user_turn(self) -> np.ndarray:
        """Orientations (k, 4) of the users' frames relative to the internal ones."""
        return np.tile([1.0, 0.0, 0.0, 0.0], (len(self.x), 1))

    def user_orientation(self) -> np.ndarray:
        """Orientations (k, 4) of the users' frames as built."""
        return product(self.quaternion(), self.user_turn())

    def pick(self, numbers) -> Frames:
        """A batch with some of these bodies, in the order given."""
        chosen = object.__new__(type(self))
        for name, value in vars(self).items():
            setattr(chosen, name, value[numbers] if isinstance(value, np.ndarray) else value)
        return chosen

    def put(self, poses: Sequence[Pose | None]) -> Frames:
        """Bodies elsewhere than they were built; None: as built. Changes this batch, and returns it."""
        where = np.array([k for k, pose in enumerate(poses) if pose is not None], dtype=np.int64)
        if len(where):
            given = [pose for pose in poses if pose is not None]
            self._put(where, *(np.array([getattr(p, name) for p in given]) for name in ("position", "orientation", "frame")))
        return self

    def _put(self, where, position, orientation, frame) -> None:
        self.x[where], self.F[where], self.R[where] = position, frame, matrices(orientation)

    def written(self, q, v, position, orientation, velocity) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities (k, nq), (k, nv) of bodies that are put where these say, as near as their kind can be:
        position (k, 3), unit quaternions (k, 4), linear and angular velocity (k, 6). q and v: what they were."""
        raise NotImplementedError

    def ground(self) -> Fixed:
        """The ground, as often."""
        return Fixed(len(self.x))

    def start(self) -> dict[str, np.ndarray]:
        """Fields of the record at the start: q, v and the kind's constants."""
        raise NotImplementedError


class Fixed(Frames):
    """The ground, k times."""

    def __init__(self, k: int):
        self.x, self.F = np.zeros((k, 3)), np.tile(np.eye(3), (k, 1, 1))
        self.R = self.F


def _stack(bodies, name) -> np.ndarray:
    return np.array([getattr(b, name) for b in bodies], dtype=float)


class RigidFrames(Frames):
    def __init__(self, bodies):
        self.position, self.orientation = _stack(bodies, "position"), _stack(bodies, "orientation")
        self.velocity, self.spin = _stack(bodies, "velocity"), _stack(bodies, "angular_velocity")
        self.mass, self.com, inertia = _stack(bodies, "mass"), _stack(bodies, "com"), _stack(bodies, "inertia")
        self.axes = np.tile(np.eye(3), (len(bodies), 1, 1))  # columns: principal axes in the user's frame
        self.inertia = inertia[:, range(3), range(3)].copy()
        off = np.abs(inertia[:, [0, 0, 1], [1, 2, 2]]).max(axis=1) > 1e-12 * self.inertia.max(axis=1)
        if off.any():
            values, vectors = np.linalg.eigh(inertia[off])
            vectors[:, :, 2] *= np.linalg.det(vectors)[:, None]
            self.inertia[off], self.axes[off] = values, vectors
        self.place(self.com)

    def place(self, origin: np.ndarray) -> None:
        """Put the origins at these points (k, 3) of the users' frames."""
        self.origin = origin
        user = matrices(self.orientation)
        self.x = self.position + apply(user, origin)
        self.R = user @ self.axes
        self.F = self.R

    def _put(self, where, position, orientation, frame):
        self.position[where], self.orientation[where] = position, orientation
        self.place(self.origin)

    def user_point(self, local, pick=None):
        i = self._pick(pick)
        return apply(self.axes[i].transpose(0, 2, 1), np.atleast_2d(np.asarray(local, dtype=float)) - self.origin[i])

    def user_axis(self, local, pick=None):
        local = np.atleast_2d(np.asarray(local, dtype=float))
        return apply(self.axes[self._pick(pick)].transpose(0, 2, 1), local)

    user_line = user_axis
    user_normal = user_axis

    def point(self, world, pick=None):
        i = self._pick(pick)
        return apply(self.R[i].transpose(0, 2, 1), world - self.x[i])

    line = Frames.axis
    normal = Frames.axis

    def user_coordinates(self, local):
        """From internal coordinates back to the user's."""
        return apply(self.axes, local) + self.origin

    def quaternion(self):
        return product(self.orientation, quaternions(self.axes))

    def user_turn(self):
        return quaternions(self.axes) * CONJUGATE

    def written(self, q, v, position, orientation, velocity):
        arm, spin = apply(matrices(orientation), self.origin), velocity[:, 3:6]
        turned = product(orientation, quaternions(self.axes))
        return np.hstack([position + arm, turned]), np.hstack([velocity[:, :3] + np.cross(spin, arm), spin])

    def start(self):
        q = self.quaternion()
        arm = self.x - self.position
        v = self.velocity + np.cross(self.spin, arm)
        return {"q": np.hstack([self.x, q]), "v": np.hstack([v, self.spin]), "mass": self.mass[:, None],
                "com": apply(self.axes.transpose(0, 2, 1), self.com - self.origin), "inertia": self.inertia,
                "home": self.user_point(np.zeros_like(self.x)),
                "turn": self.axes.transpose(0, 2, 1).reshape(-1, 9)}  # fmt: skip


class PlanarFrames(Frames):
    def __init__(self, bodies):
        plane = bodies[0].plane
        first, second, normal = PLANES[plane]
        self.position, self.velocity = _stack(bodies, "position"), _stack(bodies, "velocity")
        self.mass = _stack(bodies, "mass")
        self.x = np.zeros((len(bodies), 3))
        self.x[:, [first, second]] = self.position
        self.R = np.tile(np.eye(3), (len(bodies), 1, 1))
        if hasattr(bodies[0], "angle"):
            self.angle, self.spin = _stack(bodies, "angle"), _stack(bodies, "angular_velocity")
            self.inertia = _stack(bodies, "inertia")
            c, s = np.cos(self.angle), HANDED[plane] * np.sin(self.angle)
            self.R[:, first, first] = self.R[:, second, second] = c
            self.R[:, first, second], self.R[:, second, first] = -s, s
        self.plane = plane
        self.F = self.R

    def _put(self, where, position, orientation, frame):
        super()._put(where, position, orientation, frame)
        first, second, normal = PLANES[self.plane]
        self.position[where] = position[:, [first, second]]
        if hasattr(self, "angle"):
            self.angle[where] = 2 * np.arctan2(orientation[:, 1 + normal], orientation[:, 0])

    def quaternion(self):
        half = 0.5 * self.angle[:, None]
        return np.hstack([np.cos(half), np.sin(half) * np.eye(3)[PLANES[self.plane][2]]])

    def written(self, q, v, position, orientation, velocity):
        first, second, normal = PLANES[self.plane]
        where, speed = position[:, [first, second]], velocity[:, [first, second]]
        if not hasattr(self, "angle"):
            return where, speed
        angle = 2 * np.arctan2(orientation[:, 1 + normal], orientation[:, 0])
        angle += 2 * np.pi * np.round((q[:, 2] - angle) / (2 * np.pi))  # the nearest turn
        return np.column_stack([where, angle]), np.column_stack([speed, velocity[:, 3 + normal]])

    def start(self):
        found = {"q": self.position, "v": self.velocity, "mass": self.mass[:, None]}
        if hasattr(self, "angle"):
            found["q"] = np.hstack([self.position, self.angle[:, None]])
            found["v"] = np.hstack([self.velocity, self.spin[:, None]])
            found["inertia"] = self.inertia[:, None]
        return found


class ParticleFrames(Fixed):
    def __init__(self, bodies):
        super().__init__(len(bodies))
        self.x, self.velocity, self.mass = _stack(bodies, "position"), _stack(bodies, "velocity"), _stack(bodies, "mass")

    def written(self, q, v, position, orientation, velocity):
        return position, velocity[:, :3]

    def start(self):
        return {"q": self.x, "v": self.velocity, "mass": self.mass[:, None]}


def _triangle(S: np.ndarray) -> np.ndarray:
    return np.stack([S[:, i, j] for i in range(3) for j in range(i + 1)], axis=1)


class StretchingFrames(Frames):
    """Scalable and affine bodies."""

    def __init__(self, bodies):
        self.x, self.velocity, self.mass = _stack(bodies, "position"), _stack(bodies, "velocity"), _stack(bodies, "mass")
        self.sigma = _stack(bodies, "second_moment")
        self.stiffness, self.damping = _stack(bodies, "stiffness"), _stack(bodies, "damping")
        if hasattr(bodies[0], "stretch"):
            self.orientation, self.stretch = _stack(bodies, "orientation"), _stack(bodies, "stretch")
            self.spin, self.stretch_rate = _stack(bodies, "angular_velocity"), _stack(bodies, "stretch_rate")
            self.R = matrices(self.orientation)
            self.F = self.R * self.stretch[:, None, :]
        else:
            self.F, self.F_rate = _stack(bodies, "deformation"), _stack(bodies, "deformation_rate")
            self.R = polar(self.F)

    def _put(self, where, position, orientation, frame):
        super()._put(where, position, orientation, frame)
        if hasattr(self, "stretch"):
            self.orientation[where], self.stretch[where] = orientation, np.linalg.norm(frame, axis=1)

    def written(self, q, v, position, orientation, velocity):
        """Stretches stay, and so does the way in which the body stretches, as seen from the body."""
        if hasattr(self, "stretch"):
            return np.hstack([position, orientation, q[:, 7:]]), np.hstack([velocity, v[:, 6:]])
        F, rate = q[:, 3:].reshape(-1, 3, 3), v[:, 3:].reshape(-1, 3, 3)
        R = polar(F)
        turn = matrices(orientation) @ R.transpose(0, 2, 1)
        moved = turn @ F
        stretching = turn @ (rate - _skew(polar_spin(F, R, rate)) @ F)
        rate = stretching + _skew(velocity[:, 3:6]) @ moved
        return np.hstack([position, moved.reshape(-1, 9)]), np.hstack([velocity[:, :3], rate.reshape(-1, 9)])

    def quaternion(self):
        return self.orientation if hasattr(self, "orientation") else quaternions(self.R)

    def start(self):
        if hasattr(self, "stretch"):
            q = np.hstack([self.x, self.orientation, self.stretch])
            v = np.hstack([self.velocity, self.spin, self.stretch_rate])
        else:
            q = np.hstack([self.x, self.F.reshape(-1, 9)])
            v = np.hstack([self.velocity, self.F_rate.reshape(-1, 9)])
        return {"q": q, "v": v, "mass": self.mass[:, None], "sigma": _triangle(self.sigma),
                "stiffness": self.stiffness[:, None], "damping": self.damping[:, None]}  # fmt: skip


class LagrangianFrames(Fixed):
    """Bodies of one function. Their local coordinates are numbers of particles, or places in their material."""

    def __init__(self, kind: Lagrangian, bodies):
        super().__init__(len(bodies))
        self.kind = kind
        self.coordinates, self.rates = _stack(bodies, "coordinates"), _stack(bodies, "rates")
        self.masses, self.damping = _stack(bodies, "masses"), _stack(bodies, "damping")
        numbers = np.pad(np.arange(kind.particles, dtype=float)[:, None], ((0, 0), (0, 2)))
        self.points = np.tile(numbers, (len(bodies), 1, 1)) if kind.numbered else _stack(bodies, "points")  # (k, particles, 3)
        own = [parameters_of(body) if kind.user else [] for body in bodies]
        self.parameters = np.array(own, dtype=object).reshape(len(bodies), kind.user)
        self.user = np.array([[p.value for p in some] for some in own], dtype=float).reshape(len(bodies), kind.user)
        moments = [_moment(kind, body, user) for body, user in zip(bodies, self.user, strict=True)]
        self.built = np.array([M.diagonal() for M in moments])
        self.x = self.world_point(np.zeros((len(bodies), 3)))

    def put(self, poses):
        for k, pose in enumerate(poses):
            if pose is not None:
                self.coordinates[k] = pose.coordinates
                self.user[k] = self.user[k] if pose.parameters is None else pose.parameters
        self.x = self.world_point(np.zeros((len(self.x), 3)))
        return self

    def written(self, q, v, position, orientation, velocity):
        """Where its points are, its coordinates say."""
        return q, v

    def world_point(self, local, pick=None):
        i = self._pick(pick)
        local = np.atleast_2d(np.asarray(local, dtype=float))
        return self.kind.located(self.coordinates[i], self.rates[i], local, self.user[i])[0]

    def point(self, world, pick=None):
        """The particle or place that is there; not a number where none is."""
        chosen = np.arange(len(self.x)) if pick is None else pick
        return np.array([self._found(k, np.array([k]), target) for k, target in zip(chosen, world, strict=True)])

    def _found(self, k, pick, target):
        away = [np.linalg.norm(self.world_point(local, pick)[0] - target) for local in self.points[k]]
        local = self.points[k][int(np.argmin(away))].copy()
        if not self.kind.numbered:
            local = self._nearest(pick, target, local)
        off = np.linalg.norm(self.world_point(local, pick)[0] - target)
        return local if off < BESIDE else np.full(3, np.nan)

    def _nearest(self, pick, target, local):
        """The place in the material at a point of the world, by Gauss and Newton's method."""
        for _ in range(PLACES):
            at = self.world_point(local, pick)[0]
            slope = np.array([(self.world_point(local + d, pick)[0] - self.world_point(local - d, pick)[0]) / (2 * SMALL)
                              for d in SMALL * np.eye(3)]).T  # fmt: skip
            local = local - np.linalg.lstsq(slope, at - target, rcond=1e-6)[0]
        return local

    def start(self):
        places = {} if self.kind.numbered else {"points": self.points.reshape(len(self.x), -1)}
        return {"q": self.coordinates, "v": self.rates, "masses": self.masses, "friction": self.damping, "built": self.built,
                "user": self.user, **places}  # fmt: skip


def _moment(kind: Lagrangian, body, user: np.ndarray) -> np.ndarray:
    """The mass matrix (n, n) as built, of full rank."""
    M = kind.mass_matrix(body, body.coordinates, user)
    if not np.isfinite(M).all():
        checks.fail(body, f"its function, or the derivative, is not finite at u = {checks.show(body.coordinates)}",
                    "start it elsewhere, or write its function so that it is finite there")  # fmt: skip
    scale = np.sqrt(M.diagonal())
    still = np.flatnonzero(scale <= NO_RANK * scale.max())
    direction = np.eye(len(M))[still[0]] if len(still) else None
    if direction is None:
        values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
        direction = vectors[:, 0] / scale if values[0] <= NO_RANK else None
    if direction is not None:
        along, u = checks.show((direction / np.abs(direction).max()).round(6)), checks.show(body.coordinates)
        checks.fail(body, f"dq/du has lost rank at u = {u}: going along {along} moves no mass",
                    "start it elsewhere, take away coordinates, or give mass to what they move")  # fmt: skip
    return M


def frames_of(kind: BodyKind, bodies: Sequence) -> Frames:
    """The batch of these bodies, all of one kind."""
    if isinstance(kind, Lagrangian):
        return LagrangianFrames(kind, bodies)
    classes = {"RigidBody": RigidFrames, "Particle": ParticleFrames, "ScalableBody": StretchingFrames,
               "AffineBody": StretchingFrames}  # fmt: skip
    return classes.get(kind.name, PlanarFrames)(bodies)
