"""What a user can say: bodies, joints, constraints, forces, shapes and parameters, as plain dataclasses."""

from .appearance import Visual
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
    Tangent,
    VelocityConstraint,
)
from .contacts import Collider, Contact, ContactElement, HardLimit, NoContact, Rope
from .drives import Armature
from .forces import Damper, Drag, Force, Motor, Spring, Wrench
from .joint_forces import ContactSpring, Follow, JointLimit, JointSpring, TorsionSpring
from .joints import Ball, Cylindrical, Hinge, Joint, Planar, Screw, Slider, Universal, Weld
from .keyframe import Keyframe
from .lagrangian import LagrangianBody, bead_on_wire, bending_beam, double_pendulum, squashing_ball
from .parameter import Parameter
from .shapes import Box, Capsule, ConvexHull, Cylinder, Disc, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from .trajectory import Trajectory

__all__ = [
    "AffineBody",
    "Armature",
    "Ball",
    "Body",
    "Box",
    "Capsule",
    "Collider",
    "Constraint",
    "ConstraintElement",
    "Contact",
    "ContactElement",
    "ContactSpring",
    "ConvexHull",
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
    "HardLimit",
    "HeightField",
    "Hinge",
    "Joint",
    "JointLimit",
    "JointSpring",
    "Keyframe",
    "LagrangianBody",
    "Mesh",
    "Motion",
    "Motor",
    "NoContact",
    "Parameter",
    "Particle",
    "Planar",
    "PlanarBody",
    "PlanarParticle",
    "Plane",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PointOnSurface",
    "RigidBody",
    "Rolling",
    "Rope",
    "ScalableBody",
    "Screw",
    "Shape",
    "Skate",
    "Slider",
    "Sphere",
    "Spring",
    "Tangent",
    "TorsionSpring",
    "Trajectory",
    "Universal",
    "VelocityConstraint",
    "Visual",
    "Weld",
    "Wrench",
    "bead_on_wire",
    "bending_beam",
    "double_pendulum",
    "squashing_ball",
]
