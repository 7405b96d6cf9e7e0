"""ComputedTorque: joints follow a motion as if each were alone, without weight and without the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork import reduced
from linkwork.control.controller import Controller

if TYPE_CHECKING:
    from linkwork.reduced import Tree
    from linkwork.util.array_types import FloatArray, Numbers, Vector
    from linkwork.world import World


class ComputedTorque(Controller):
    """tau = H a + C with a = acceleration + damping (rate - qd) + stiffness (target - q), by the inverse dynamics: what is off
    dies away as in e'' + damping e' + stiffness e = 0, the same in every configuration.

    Gains are in 1/s^2 and 1/s; damping is critical, 2 sqrt(stiffness), unless given. `target` (nq,), `rate` and
    `acceleration` (nv,) may be assigned at any time; or `motion(t)` gives all three at the time of the simulation.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.15, 0.1), position=(0.5, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, -1, 0)))
    >>> controller = lw.control.ComputedTorque(world, stiffness=100.0, target=[0.1])
    >>> controller.efforts([0.0], [0.0]).round(12)
    array([9.])
    """

    def __init__(self, world: World | Tree, stiffness: Numbers, damping: Numbers | None = None, target: Vector | None = None, *,
                 motion: Callable[[float], tuple[Any, Any, Any]] | None = None) -> None:  # fmt: skip
        super().__init__(world)
        self.stiffness = self._by_freedom("stiffness", stiffness)
        self.damping = 2.0 * np.sqrt(self.stiffness) if damping is None else self._by_freedom("damping", damping)
        self.target = self._vector("target", target, self.tree.nq, self.tree.start)
        self.rate, self.acceleration, self.motion = np.zeros(self.tree.nv), np.zeros(self.tree.nv), motion

    def efforts(self, q: Numbers, qd: Numbers) -> FloatArray:
        if self.motion is not None:
            self.target, self.rate, self.acceleration = (np.asarray(part, dtype=float) for part in self.motion(self.time))
        off = reduced.difference(self.tree, q, self.target)
        wanted = self.acceleration + self.damping * (self.rate - np.asarray(qd)) + self.stiffness * off
        return reduced.rnea(self.tree, q, qd, wanted)
