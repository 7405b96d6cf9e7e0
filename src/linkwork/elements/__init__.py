"""What a user can say: bodies, joints, constraints, forces, shapes and parameters, as plain dataclasses."""

from .base import Body, ConstraintElement, Element, ForceElement
from .bodies import AffineBody, Ground, Particle, PlanarBody, PlanarParticle, RigidBody, ScalableBody
from .constraints import (
    Constraint,
    Distance,
    Drive,
    Gear,
    Motion,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointOnSurface,
    Rolling,
    Skate,
    VelocityConstraint,
)
from .forces import Damper, Drag, Force, Motor, Spring, Wrench
from .joint_forces import JointSpring, TorsionSpring
from .joints import Ball, Cylindrical, Hinge, Joint, Planar, Screw, Slider, Universal, Weld
from .parameter import Parameter
from .shapes import Box, Capsule, Cylinder, Disc, Ellipsoid, Shape, Sphere

__all__ = [
    "AffineBody",
    "Ball",
    "Body",
    "Box",
    "Capsule",
    "Constraint",
    "ConstraintElement",
    "Cylinder",
    "Cylindrical",
    "Damper",
    "Disc",
    "Distance",
    "Drag",
    "Drive",
    "Element",
    "Ellipsoid",
    "Force",
    "ForceElement",
    "Gear",
    "Ground",
    "Hinge",
    "Joint",
    "JointSpring",
    "Motion",
    "Motor",
    "Parameter",
    "Particle",
    "Planar",
    "PlanarBody",
    "PlanarParticle",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PointOnSurface",
    "RigidBody",
    "Rolling",
    "ScalableBody",
    "Screw",
    "Shape",
    "Skate",
    "Slider",
    "Sphere",
    "Spring",
    "TorsionSpring",
    "Universal",
    "VelocityConstraint",
    "Weld",
    "Wrench",
]
