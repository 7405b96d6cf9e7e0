"""Lagrangian bodies as built, and where the points are that a user names or shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.bodies.lagrangian import Lagrangian, parameters_of
from linkwork.elements.core import checks
from linkwork.elements.core.placement import BESIDE, Fixed, stack

if TYPE_CHECKING:
    from linkwork.elements.bodies.lagrangian import LagrangianBody
    from linkwork.elements.core.element import Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.util.array_types import FloatArray, IntArray


PLACES = 30  # steps towards a place in a material  # steps towards a place in a material
SMALL = 1e-4  # between places whose difference tells how they move  # between places whose difference tells how they move
NO_RANK = 1e-12  # of a mass matrix whose diagonal is made one  # of a mass matrix whose diagonal is made one


class LagrangianPlacement(Fixed):
    """Bodies of one function. Their local coordinates are numbers of particles, or places in their material."""

    def __init__(self, kind: Lagrangian, bodies: Sequence[Any]) -> None:
        super().__init__(len(bodies))
        self.kind = kind
        self.coordinates, self.rates = stack(bodies, "coordinates"), stack(bodies, "rates")
        self.masses, self.damping = stack(bodies, "masses"), stack(bodies, "damping")
        numbers = np.pad(np.arange(kind.particles, dtype=float)[:, None], ((0, 0), (0, 2)))
        self.points = np.tile(numbers, (len(bodies), 1, 1)) if kind.numbered else stack(bodies, "points")  # (k, particles, 3)
        own = [parameters_of(body) if kind.user else [] for body in bodies]
        self.parameters = np.array(own, dtype=object).reshape(len(bodies), kind.user)
        self.user = np.array([[p.value for p in some] for some in own], dtype=float).reshape(len(bodies), kind.user)
        moments = [_moment(kind, body, user) for body, user in zip(bodies, self.user, strict=True)]
        self.built = np.array([M.diagonal() for M in moments])
        self.x = self.world_point(np.zeros((len(bodies), 3)))

    def put(self, poses: Sequence[Pose | None]) -> Placement:
        for k, pose in enumerate(poses):
            if pose is not None:
                self.coordinates[k] = pose.coordinates
                self.user[k] = self.user[k] if pose.parameters is None else pose.parameters
        self.x = self.world_point(np.zeros((len(self.x), 3)))
        return self

    def world_point(self, local: FloatArray, pick: IntArray | None = None) -> FloatArray:
        i = self._pick(pick)
        local = np.atleast_2d(np.asarray(local, dtype=float))
        return self.kind.located(self.coordinates[i], self.rates[i], local, self.user[i])[0]

    def point(self, world: FloatArray, pick: IntArray | None = None) -> FloatArray:
        """The particle or place that is there; not a number where none is."""
        chosen = np.arange(len(self.x)) if pick is None else pick
        return np.array([self._found(k, np.array([k]), target) for k, target in zip(chosen, world, strict=True)])

    def _found(self, k: int, pick: IntArray, target: FloatArray) -> FloatArray:
        away = [np.linalg.norm(self.world_point(local, pick)[0] - target) for local in self.points[k]]
        local = self.points[k][int(np.argmin(away))].copy()
        if not self.kind.numbered:
            local = self._nearest(pick, target, local)
        off = np.linalg.norm(self.world_point(local, pick)[0] - target)
        return local if off < BESIDE else np.full(3, np.nan)

    def _nearest(self, pick: IntArray, target: FloatArray, local: FloatArray) -> FloatArray:
        """The place in the material at a point of the world, by Gauss and Newton's method."""
        for _ in range(PLACES):
            at = self.world_point(local, pick)[0]
            slope = np.array([(self.world_point(local + d, pick)[0] - self.world_point(local - d, pick)[0]) / (2 * SMALL)
                              for d in SMALL * np.eye(3)]).T  # fmt: skip
            local = local - np.linalg.lstsq(slope, at - target, rcond=1e-6)[0]
        return local

    def start(self) -> dict[str, FloatArray]:
        places = {} if self.kind.numbered else {"points": self.points.reshape(len(self.x), -1)}
        return {"q": self.coordinates, "v": self.rates, "masses": self.masses, "friction": self.damping, "built": self.built,
                "user": self.user, **places}  # fmt: skip


def _moment(kind: Lagrangian, body: LagrangianBody, user: FloatArray) -> FloatArray:
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
