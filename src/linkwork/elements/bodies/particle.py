"""Particles: the element, its mathematics, and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from casadi import SX

from linkwork.elements.bodies.filling import check_vectors, fill_mass
from linkwork.elements.core import checks
from linkwork.elements.core.body_kind import BodyKind, Poses, carried_over
from linkwork.elements.core.contact_parts import NONE, ContactParts, ContactPose
from linkwork.elements.core.element import Body, Scalar, Vector
from linkwork.elements.core.placement import Fixed, stack
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.units import POSITION, VELOCITY
from linkwork.symbolic.views import Primitive, upright


@dataclass(eq=False, repr=False)
class Particle(Body):
    """A point mass: it has a position and no directions.

    >>> Particle(0.1, position=(0, 0, 1), name="bead")
    <Particle "bead">
    """

    kind: ClassVar[str] = "particle"
    dim: ClassVar[int] = 3

    mass: Scalar = None  # kg
    position: Vector = checks.ZERO  # (3,), m
    velocity: Vector = checks.ZERO  # (3,), m/s

    def __post_init__(self):
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

    def __init__(self):
        self.record = self.layout(0, mass=1)

    def mass(self, view):
        return view.field("mass") * SX.eye(self.nv)

    def weight(self, view, gravity):
        return view.field("mass") * gravity

    def point(self, view, local):
        return Primitive(view.q, SX.eye(3), view.v, SX(3, 1))

    def read_pose(self, view):
        return upright(view.q, view.v)

    def read_acceleration(self, view, x):
        return x[0:3], SX.zeros(3)

    def read_wrench(self, view, generalised, at):
        return generalised, SX.zeros(3)

    # -- numbers ---------------------------------------------------------------------------------------------
    def placement(self, bodies):
        return ParticlePlacement(bodies)

    def written(self, batch, q, v, position, orientation, velocity):
        return position, velocity[:, :3]

    def poses(self, q, v, *constants):
        found = Poses.blank(len(q))
        found.position[:], found.velocity[:] = q, v
        return found

    def point_jacobian(self, q, pose, local, *constants):
        return np.eye(3)

    def build_at(self, body, pose):
        vars(body)["position"] = pose.position

    include_at = carried_over

    @property
    def contact(self):
        return ContactParts(ContactPose.POINT, (0, 1, 2, NONE, NONE, NONE))


class ParticlePlacement(Fixed):
    def __init__(self, bodies):
        super().__init__(len(bodies))
        self.x, self.velocity, self.mass = stack(bodies, "position"), stack(bodies, "velocity"), stack(bodies, "mass")

    def start(self):
        return {"q": self.x, "v": self.velocity, "mass": self.mass[:, None]}

    def diagonal_mass(self):
        return np.ones(len(self.x), dtype=bool)
