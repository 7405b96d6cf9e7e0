"""OperationalSpace: a frame moves as a free mass would, whatever the joints between (Khatib 1987)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork import reduced
from linkwork.control.controller import Controller
from linkwork.elements.core import checks
from linkwork.elements.core.placement import matrices, quaternions
from linkwork.elements.core.trajectory import rotation_vectors
from linkwork.reduced.task_space import inverse_mobility

if TYPE_CHECKING:
    from linkwork.elements.core.frame import FrameLike
    from linkwork.reduced import Tree
    from linkwork.util.array_types import FloatArray, Numbers, Vector
    from linkwork.world import World


class OperationalSpace(Controller):
    """tau = J^T Lambda (a - J' qd) + C + N^T tau_0: the frame's acceleration is a = acceleration + damping (rate - twist) +
    stiffness (pose - target), in the world's axes, and the posture is held by what does not move the frame.

    `position` (3,) and `orientation` (4, w x y z) are where the frame is to be; an orientation that is left out is free. Gains
    are in 1/s^2 and 1/s; damping is critical unless given. `posture` (nq,) is led to with `posture_stiffness`. Targets may be
    assigned at any time: `position`, `orientation`, `rate` (6,), `acceleration` (6,), `posture`.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, 0))
    >>> stone = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), name="stone"))
    >>> lw.control.OperationalSpace(world, "stone", stiffness=10.0, position=(1, 0, 0)).efforts(
    ...     lw.reduced.neutral(lw.reduced.compile(world)), np.zeros(6)).round(12)
    array([20.,  0.,  0.,  0.,  0.,  0.])
    """

    def __init__(
        self, world: World | Tree, frame: FrameLike, stiffness: float, damping: float | None = None, *, position: Vector,
        orientation: Vector | None = None, posture: Vector | None = None, posture_stiffness: float = 10.0,
    ) -> None:  # fmt: skip
        super().__init__(world)
        who = type(self).__name__
        self.frame, self.stiffness = frame, checks.non_negative(who, "stiffness", stiffness)
        self.damping = 2.0 * np.sqrt(self.stiffness) if damping is None else checks.non_negative(who, "damping", damping)
        self.position, self.orientation = checks.vector(who, "position", position), orientation
        self.posture = self._vector("posture", posture, self.tree.nq, self.tree.start)
        self.posture_stiffness = checks.non_negative(who, "posture_stiffness", posture_stiffness)
        self.rate, self.acceleration = np.zeros(6), np.zeros(6)
        reduced.jacobian(self.tree, self.tree.start, frame)  # a frame that is unknown is refused here

    @property
    def orientation(self) -> FloatArray | None:
        """(4,): how the frame is to be turned; None: as it comes."""
        return self._orientation

    @orientation.setter
    def orientation(self, value: Vector | None) -> None:
        self._orientation = None if value is None else checks.quaternion(type(self).__name__, "orientation", value)
        self._rotation = None if self._orientation is None else matrices(self._orientation[None])[0]

    def efforts(self, q: Numbers, qd: Numbers) -> FloatArray:
        tree, speed = self.tree, np.asarray(qd, dtype=float)
        J = reduced.jacobian(tree, q, self.frame)
        drift = reduced.jacobian_rate(tree, q, qd, self.frame) @ speed
        H, C = reduced.crba(tree, q), reduced.rnea(tree, q, qd, np.zeros(tree.nv))
        rows = slice(0, 3 if self._rotation is None else 6)
        off = self._off(reduced.frame_poses(tree, q, (self.frame,)))
        wanted = (self.acceleration + self.damping * (self.rate - J @ speed) + self.stiffness * off - drift)[rows]
        J = J[rows]
        inertia = inverse_mobility(J, H)
        rest = 2.0 * np.sqrt(self.posture_stiffness) * -speed + self.posture_stiffness * reduced.difference(
            tree, q, self.posture
        )
        found: FloatArray = J.T @ (inertia @ (wanted - J @ rest)) + H @ rest + C
        return found

    def _off(self, here: reduced.Poses) -> FloatArray:
        """(6,): from where the frame is to where it is to be: m, and a rotation vector."""
        found = np.zeros(6)
        found[:3] = self.position - here.position[0]
        if self._rotation is not None:
            found[3:] = rotation_vectors(quaternions(self._rotation @ here.rotation[0].T[None]))[0]
        return found
