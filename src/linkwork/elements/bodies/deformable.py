"""What scalable and affine bodies share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from casadi import SX

from linkwork.elements.bodies.filling import check_vectors, fill_mass, fill_moment
from linkwork.elements.core import checks
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.placement import Placement, stack
from linkwork.symbolic.blocks import symmetric

if TYPE_CHECKING:
    from linkwork.symbolic.views import View
    from linkwork.util.array_types import FloatArray


def fill_deformable(body: Any) -> None:
    """What scalable and affine bodies share."""
    fill_mass(body)
    fill_moment(body, "second_moment", checks.moment)
    check_vectors(body, "position", "velocity")
    body.stiffness = checks.non_negative(body, "stiffness", body.stiffness)
    body.damping = checks.non_negative(body, "damping", body.damping)


class Stretching(BodyKind):
    """Bodies whose points are linear in their local coordinates, so that mass needs only the second moment Sigma."""

    collapses = stretches = elastic = True

    def _moments(self, view: View) -> tuple[SX, list[SX], list[SX]]:
        """Sigma, and the Jacobian and bias of the points 0, e_1, e_2, e_3."""
        at = [view.point(SX.zeros(3)), *[view.point(SX.eye(3)[:, k]) for k in range(3)]]
        J = [at[0].jacobian, *[at[k].jacobian - at[0].jacobian for k in (1, 2, 3)]]
        bias = [at[k].bias for k in (1, 2, 3)]
        return symmetric(view.field("sigma"), 3), J, bias

    def mass(self, view: View) -> SX:
        sigma, J, _ = self._moments(view)
        total = view.field("mass") * (J[0].T @ J[0])
        for k in range(3):
            for l in range(3):
                total += sigma[k, l] * (J[1 + k].T @ J[1 + l])
        return total

    def inertial(self, view: View) -> SX:
        sigma, J, bias = self._moments(view)
        return cast(SX, -sum(sigma[k, l] * (J[1 + k].T @ bias[l]) for k in range(3) for l in range(3)))


class StretchingPlacement(Placement):
    """Their bodies as built."""

    def __init__(self, bodies: Sequence[Any]) -> None:
        self.x, self.velocity, self.mass = stack(bodies, "position"), stack(bodies, "velocity"), stack(bodies, "mass")
        self.sigma = stack(bodies, "second_moment")
        self.stiffness, self.damping = stack(bodies, "stiffness"), stack(bodies, "damping")

    @property
    def stretches(self) -> bool:
        return True

    def coordinates(self) -> tuple[FloatArray, FloatArray]:
        """q and v."""
        raise NotImplementedError

    def start(self) -> dict[str, FloatArray]:
        q, v = self.coordinates()
        return {"q": q, "v": v, "mass": self.mass[:, None], "sigma": _triangle(self.sigma),
                "stiffness": self.stiffness[:, None], "damping": self.damping[:, None]}  # fmt: skip


def _triangle(S: FloatArray) -> FloatArray:
    return np.stack([S[:, i, j] for i in range(3) for j in range(i + 1)], axis=1)
