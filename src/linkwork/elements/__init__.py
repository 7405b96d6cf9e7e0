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
from .joint_forces import ContactSpring, Follow, JointLimit, JointSpring, TorsionSpring
from .joints import Ball, Cylindrical, Hinge, Joint, Planar, Screw, Slider, Universal, Weld
from .parameter import Parameter
from .shapes import Box, Capsule, Cylinder, Disc, Ellipsoid, Shape, Sphere
from .trajectory import Trajectory

__all__ = [
    "AffineBody",
    "Ball",
    "Body",
    "Box",
    "Capsule",
    "Constraint",
    "ConstraintElement",
    "ContactSpring",
    "Cylinder",
    "Cylindrical",
    "Damper",
    "Disc",
    "Distance",
    "Drag",
    "Drive",
    "Element",
    "Ellipsoid",
    "Follow",
    "Force",
    "ForceElement",
    "Gear",
    "Ground",
    "Hinge",
    "Joint",
    "JointLimit",
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
    "Trajectory",
    "Universal",
    "VelocityConstraint",
    "Weld",
    "Wrench",
]
