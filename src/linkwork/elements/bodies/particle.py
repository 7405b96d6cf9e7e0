"""Particles: the element, its mathematics, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from casadi import SX

from linkwork.elements.bodies.filling import check_vectors, fill_mass
from linkwork.elements.core import checks
from linkwork.elements.core.body_kind import BodyKind, carried_over
from linkwork.elements.core.contact_parts import NONE, ContactParts, ContactPose
from linkwork.elements.core.element import Body
from linkwork.elements.core.field_types import ScalarField, VectorField, default
from linkwork.elements.core.placement import Fixed, Poses, stack
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.units import POSITION, VELOCITY
from linkwork.symbolic.views import Primitive, upright

if TYPE_CHECKING:
    from linkwork.elements.core.element import Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.views import ReadPose, View
    from linkwork.util.array_types import BoolArray, FloatArray


@dataclass(eq=False, repr=False)
class Particle(Body):
    """A point mass: it has a position and no directions.

    >>> Particle(0.1, position=(0, 0, 1), name="bead")
    <Particle "bead">
    """

    kind: ClassVar[str] = "particle"
    dim: ClassVar[int] = 3

    mass: ScalarField = default(None)  # kg
    position: VectorField = default(checks.ZERO)  # (3,), m
    velocity: VectorField = default(checks.ZERO)  # (3,), m/s

    def __post_init__(self) -> None:
        super().__post_init__()
        fill_mass(self)
        check_vectors(self, "position", "velocity")


@kind_of(Particle)
class ParticleKind(BodyKind):
    """3: position."""

    name, nq, nv, directions = "Particle", 3, 3, False
    is_a_point = True
    tells_wrench = True
    read_names, read_rates = POSITION, VELOCITY

    def __init__(self) -> None:
        self.record = self.layout(0, mass=1)

    def mass(self, view: View) -> SX:
        return view.field("mass") * SX.eye(self.nv)

    def weight(self, view: View, gravity: SX) -> SX:
        return view.field("mass") * gravity

    def point(self, view: View, local: SX) -> Primitive:
        return Primitive(view.q, SX.eye(3), view.v, SX(3, 1))

    def read_pose(self, view: View) -> ReadPose:
        return upright(view.q, view.v)

    def read_acceleration(self, view: View, x: SX) -> tuple[SX, SX]:
        return x[0:3], SX.zeros(3)

    def read_wrench(self, view: View, generalised: SX, at: SX) -> tuple[SX, SX]:
        return generalised, SX.zeros(3)

    # -- numbers ---------------------------------------------------------------------------------------------
    def placement(self, bodies: Sequence[Any]) -> Placement:
        return ParticlePlacement(bodies)

    def written(
        self, batch: Any, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray, velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        return position, velocity[:, :3]

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        found = Poses.blank(len(q))
        found.position[:], found.velocity[:] = q, v
        return found

    def point_jacobian(self, q: FloatArray, pose: Poses, local: FloatArray, *constants: FloatArray) -> FloatArray:
        return np.eye(3)

    def build_at(self, body: Any, pose: Pose) -> None:
        vars(body)["position"] = pose.position

    include_at = carried_over

    @property
    def contact(self) -> ContactParts:
        return ContactParts(ContactPose.POINT, (0, 1, 2, NONE, NONE, NONE))


class ParticlePlacement(Fixed):
    def __init__(self, bodies: Sequence[Any]) -> None:
        super().__init__(len(bodies))
        self.x, self.velocity, self.mass = stack(bodies, "position"), stack(bodies, "velocity"), stack(bodies, "mass")

    def start(self) -> dict[str, FloatArray]:
        return {"q": self.x, "v": self.velocity, "mass": self.mass[:, None]}

    def diagonal_mass(self) -> BoolArray:
        return np.ones(len(self.x), dtype=bool)
