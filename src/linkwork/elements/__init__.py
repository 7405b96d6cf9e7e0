"""What a user can say: bodies, joints, constraints, forces, shapes and parameters.

An element comes with its mathematics (CasADi), so a name is loaded when it is first used. The imports are what type checkers
read; the table is what runs. A test compares the two.
"""

from typing import TYPE_CHECKING

from linkwork.util.lazy_names import lazy_names

if TYPE_CHECKING:
    from linkwork.elements.bodies import AffineBody as AffineBody
    from linkwork.elements.bodies import Ground as Ground
    from linkwork.elements.bodies import Particle as Particle
    from linkwork.elements.bodies import PlanarBody as PlanarBody
    from linkwork.elements.bodies import PlanarParticle as PlanarParticle
    from linkwork.elements.bodies import RigidBody as RigidBody
    from linkwork.elements.bodies import ScalableBody as ScalableBody
    from linkwork.elements.constraints import Constraint as Constraint
    from linkwork.elements.constraints import Distance as Distance
    from linkwork.elements.constraints import Drive as Drive
    from linkwork.elements.constraints import Gear as Gear
    from linkwork.elements.constraints import Motion as Motion
    from linkwork.elements.constraints import PointOnCurve as PointOnCurve
    from linkwork.elements.constraints import PointOnLine as PointOnLine
    from linkwork.elements.constraints import PointOnPlane as PointOnPlane
    from linkwork.elements.constraints import PointOnSurface as PointOnSurface
    from linkwork.elements.constraints import Rolling as Rolling
    from linkwork.elements.constraints import Skate as Skate
    from linkwork.elements.constraints import Tangent as Tangent
    from linkwork.elements.constraints import VelocityConstraint as VelocityConstraint
    from linkwork.elements.contacts import Collider as Collider
    from linkwork.elements.contacts import Contact as Contact
    from linkwork.elements.contacts import ContactElement as ContactElement
    from linkwork.elements.contacts import HardLimit as HardLimit
    from linkwork.elements.contacts import JointFriction as JointFriction
    from linkwork.elements.contacts import NoContact as NoContact
    from linkwork.elements.contacts import Rope as Rope
    from linkwork.elements.core.element import Body as Body
    from linkwork.elements.core.element import ConstraintElement as ConstraintElement
    from linkwork.elements.core.element import Element as Element
    from linkwork.elements.core.element import ForceElement as ForceElement
    from linkwork.elements.core.keyframe import Keyframe as Keyframe
    from linkwork.elements.core.parameter import Parameter as Parameter
    from linkwork.elements.core.trajectory import Trajectory as Trajectory
    from linkwork.elements.core.visual import Visual as Visual
    from linkwork.elements.drives import Armature as Armature
    from linkwork.elements.forces import Cable as Cable
    from linkwork.elements.forces import Damper as Damper
    from linkwork.elements.forces import Drag as Drag
    from linkwork.elements.forces import Force as Force
    from linkwork.elements.forces import Motor as Motor
    from linkwork.elements.forces import Spring as Spring
    from linkwork.elements.forces import Wrench as Wrench
    from linkwork.elements.joint_forces import ContactSpring as ContactSpring
    from linkwork.elements.joint_forces import Follow as Follow
    from linkwork.elements.joint_forces import JointLimit as JointLimit
    from linkwork.elements.joint_forces import JointSpring as JointSpring
    from linkwork.elements.joint_forces import TorsionSpring as TorsionSpring
    from linkwork.elements.joints import Ball as Ball
    from linkwork.elements.joints import Cylindrical as Cylindrical
    from linkwork.elements.joints import Hinge as Hinge
    from linkwork.elements.joints import Joint as Joint
    from linkwork.elements.joints import Planar as Planar
    from linkwork.elements.joints import Screw as Screw
    from linkwork.elements.joints import Slider as Slider
    from linkwork.elements.joints import Universal as Universal
    from linkwork.elements.joints import Weld as Weld
    from linkwork.elements.lagrangian import LagrangianBody as LagrangianBody
    from linkwork.elements.lagrangian import bead_on_wire as bead_on_wire
    from linkwork.elements.lagrangian import bending_beam as bending_beam
    from linkwork.elements.lagrangian import double_pendulum as double_pendulum
    from linkwork.elements.lagrangian import squashing_ball as squashing_ball
    from linkwork.elements.shapes import Box as Box
    from linkwork.elements.shapes import Capsule as Capsule
    from linkwork.elements.shapes import ConvexHull as ConvexHull
    from linkwork.elements.shapes import Cylinder as Cylinder
    from linkwork.elements.shapes import Disc as Disc
    from linkwork.elements.shapes import Ellipsoid as Ellipsoid
    from linkwork.elements.shapes import HeightField as HeightField
    from linkwork.elements.shapes import Mesh as Mesh
    from linkwork.elements.shapes import Plane as Plane
    from linkwork.elements.shapes import Shape as Shape
    from linkwork.elements.shapes import Sphere as Sphere

WHERE = {
    "AffineBody": "linkwork.elements.bodies",
    "Armature": "linkwork.elements.drives",
    "Ball": "linkwork.elements.joints",
    "Body": "linkwork.elements.core.element",
    "Box": "linkwork.elements.shapes",
    "Cable": "linkwork.elements.forces",
    "Capsule": "linkwork.elements.shapes",
    "Collider": "linkwork.elements.contacts",
    "Constraint": "linkwork.elements.constraints",
    "ConstraintElement": "linkwork.elements.core.element",
    "Contact": "linkwork.elements.contacts",
    "ContactElement": "linkwork.elements.contacts",
    "ContactSpring": "linkwork.elements.joint_forces",
    "ConvexHull": "linkwork.elements.shapes",
    "Cylinder": "linkwork.elements.shapes",
    "Cylindrical": "linkwork.elements.joints",
    "Damper": "linkwork.elements.forces",
    "Disc": "linkwork.elements.shapes",
    "Distance": "linkwork.elements.constraints",
    "Drag": "linkwork.elements.forces",
    "Drive": "linkwork.elements.constraints",
    "Element": "linkwork.elements.core.element",
    "Ellipsoid": "linkwork.elements.shapes",
    "Follow": "linkwork.elements.joint_forces",
    "Force": "linkwork.elements.forces",
    "ForceElement": "linkwork.elements.core.element",
    "Gear": "linkwork.elements.constraints",
    "Ground": "linkwork.elements.bodies",
    "HardLimit": "linkwork.elements.contacts",
    "HeightField": "linkwork.elements.shapes",
    "Hinge": "linkwork.elements.joints",
    "Joint": "linkwork.elements.joints",
    "JointFriction": "linkwork.elements.contacts",
    "JointLimit": "linkwork.elements.joint_forces",
    "JointSpring": "linkwork.elements.joint_forces",
    "Keyframe": "linkwork.elements.core.keyframe",
    "LagrangianBody": "linkwork.elements.lagrangian",
    "Mesh": "linkwork.elements.shapes",
    "Motion": "linkwork.elements.constraints",
    "Motor": "linkwork.elements.forces",
    "NoContact": "linkwork.elements.contacts",
    "Parameter": "linkwork.elements.core.parameter",
    "Particle": "linkwork.elements.bodies",
    "Planar": "linkwork.elements.joints",
    "PlanarBody": "linkwork.elements.bodies",
    "PlanarParticle": "linkwork.elements.bodies",
    "Plane": "linkwork.elements.shapes",
    "PointOnCurve": "linkwork.elements.constraints",
    "PointOnLine": "linkwork.elements.constraints",
    "PointOnPlane": "linkwork.elements.constraints",
    "PointOnSurface": "linkwork.elements.constraints",
    "RigidBody": "linkwork.elements.bodies",
    "Rolling": "linkwork.elements.constraints",
    "Rope": "linkwork.elements.contacts",
    "ScalableBody": "linkwork.elements.bodies",
    "Screw": "linkwork.elements.joints",
    "Shape": "linkwork.elements.shapes",
    "Skate": "linkwork.elements.constraints",
    "Slider": "linkwork.elements.joints",
    "Sphere": "linkwork.elements.shapes",
    "Spring": "linkwork.elements.forces",
    "Tangent": "linkwork.elements.constraints",
    "TorsionSpring": "linkwork.elements.joint_forces",
    "Trajectory": "linkwork.elements.core.trajectory",
    "Universal": "linkwork.elements.joints",
    "VelocityConstraint": "linkwork.elements.constraints",
    "Visual": "linkwork.elements.core.visual",
    "Weld": "linkwork.elements.joints",
    "Wrench": "linkwork.elements.forces",
    "bead_on_wire": "linkwork.elements.lagrangian",
    "bending_beam": "linkwork.elements.lagrangian",
    "double_pendulum": "linkwork.elements.lagrangian",
    "squashing_ball": "linkwork.elements.lagrangian",
}
"""Name -> the module that has it."""

__all__ = list(WHERE)

__getattr__, __dir__ = lazy_names(__name__, WHERE)
