"""PD: springs and dampers of joints, and what holds the robot up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork import reduced
from linkwork.control.controller import Controller

if TYPE_CHECKING:
    from linkwork.elements.core.joint import JointLike
    from linkwork.reduced import Tree
    from linkwork.util.array_types import FloatArray, Numbers, Vector
    from linkwork.world import World


class PD(Controller):
    """tau = stiffness (target - q) + damping (rate - qd) + gravity torques: rests at its target without an error.

    Gains are numbers for all freedoms, arrays (nv,) or by joint; in N m/rad and N m s (N/m and N s/m of what slides).
    `gravity=False` leaves out what holds the robot up. `target` (nq,) and `rate` (nv,) may be assigned at any time.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, -1, 0)))
    >>> controller = lw.control.PD(world, stiffness=20.0, damping=2.0, target=[0.1])
    >>> controller.efforts([0.0], [0.0]).round(12)
    array([7.])
    """

    def __init__(
        self, world: World | Tree, stiffness: Numbers | Mapping[JointLike, float],
        damping: Numbers | Mapping[JointLike, float], target: Vector | None = None, *, gravity: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(world)
        self.stiffness, self.damping = self._by_freedom("stiffness", stiffness), self._by_freedom("damping", damping)
        self.target = self._vector("target", target, self.tree.nq, self.tree.start)
        self.rate, self.gravity = np.zeros(self.tree.nv), bool(gravity)

    def efforts(self, q: Numbers, qd: Numbers) -> FloatArray:
        found: FloatArray = self.stiffness * reduced.difference(self.tree, q, self.target) + self.damping * (
            self.rate - np.asarray(qd)
        )
        return found + reduced.gravity_torques(self.tree, q) if self.gravity else found
