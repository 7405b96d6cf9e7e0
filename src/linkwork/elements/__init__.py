"""What a user can say: bodies, joints, constraints, forces, shapes and parameters.

An element comes with its mathematics (CasADi), so a name is loaded when it is first used. The imports are what type checkers
read; the table is what runs. A test compares the two.
"""

from typing import TYPE_CHECKING

from linkwork.util.lazy_names import lazy_names

if TYPE_CHECKING:
    from linkwork.elements.bodies.affine import AffineBody as AffineBody
    from linkwork.elements.bodies.ground import Ground as Ground
    from linkwork.elements.bodies.lagrangian import LagrangianBody as LagrangianBody
    from linkwork.elements.bodies.lagrangian_examples import bead_on_wire as bead_on_wire
    from linkwork.elements.bodies.lagrangian_examples import bending_beam as bending_beam
    from linkwork.elements.bodies.lagrangian_examples import double_pendulum as double_pendulum
    from linkwork.elements.bodies.lagrangian_examples import squashing_ball as squashing_ball
    from linkwork.elements.bodies.particle import Particle as Particle
    from linkwork.elements.bodies.planar import PlanarBody as PlanarBody
    from linkwork.elements.bodies.planar import PlanarParticle as PlanarParticle
    from linkwork.elements.bodies.rigid import RigidBody as RigidBody
    from linkwork.elements.bodies.scalable import ScalableBody as ScalableBody
    from linkwork.elements.constraints.armature import Armature as Armature
    from linkwork.elements.constraints.coupling import Coupling as Coupling
    from linkwork.elements.constraints.distance import Distance as Distance
    from linkwork.elements.constraints.drive import Drive as Drive
    from linkwork.elements.constraints.gear import Gear as Gear
    from linkwork.elements.constraints.locus import PointOnCurve as PointOnCurve
    from linkwork.elements.constraints.locus import PointOnSurface as PointOnSurface
    from linkwork.elements.constraints.motion import Motion as Motion
    from linkwork.elements.constraints.point_on import PointOnLine as PointOnLine
    from linkwork.elements.constraints.point_on import PointOnPlane as PointOnPlane
    from linkwork.elements.constraints.rolling import Rolling as Rolling
    from linkwork.elements.constraints.skate import Skate as Skate
    from linkwork.elements.constraints.tangent import Tangent as Tangent
    from linkwork.elements.constraints.user import Constraint as Constraint
    from linkwork.elements.constraints.user import VelocityConstraint as VelocityConstraint
    from linkwork.elements.contacts.collider import Collider as Collider
    from linkwork.elements.contacts.contact import Contact as Contact
    from linkwork.elements.contacts.contact import NoContact as NoContact
    from linkwork.elements.contacts.hard_limit import HardLimit as HardLimit
    from linkwork.elements.contacts.inequality import Inequality as Inequality
    from linkwork.elements.contacts.joint_friction import JointFriction as JointFriction
    from linkwork.elements.contacts.rope import Rope as Rope
    from linkwork.elements.core.element import Body as Body
    from linkwork.elements.core.element import ConstraintElement as ConstraintElement
    from linkwork.elements.core.element import ContactElement as ContactElement
    from linkwork.elements.core.element import Element as Element
    from linkwork.elements.core.element import ForceElement as ForceElement
    from linkwork.elements.core.frame import Frame as Frame
    from linkwork.elements.core.joint import Joint as Joint
    from linkwork.elements.core.keyframe import Keyframe as Keyframe
    from linkwork.elements.core.parameter import Parameter as Parameter
    from linkwork.elements.core.sensor import Sensor as Sensor
    from linkwork.elements.core.shape import Shape as Shape
    from linkwork.elements.core.trajectory import Trajectory as Trajectory
    from linkwork.elements.core.visual import Visual as Visual
    from linkwork.elements.forces.cable import Cable as Cable
    from linkwork.elements.forces.contact_spring import ContactSpring as ContactSpring
    from linkwork.elements.forces.drag import Drag as Drag
    from linkwork.elements.forces.fixed_tendon import FixedTendon as FixedTendon
    from linkwork.elements.forces.follow import Follow as Follow
    from linkwork.elements.forces.joint_limit import JointLimit as JointLimit
    from linkwork.elements.forces.joint_spring import JointSpring as JointSpring
    from linkwork.elements.forces.motor import Motor as Motor
    from linkwork.elements.forces.spring import Damper as Damper
    from linkwork.elements.forces.spring import Spring as Spring
    from linkwork.elements.forces.torsion_spring import TorsionSpring as TorsionSpring
    from linkwork.elements.forces.user import Force as Force
    from linkwork.elements.forces.wrench import Wrench as Wrench
    from linkwork.elements.joints.ball import Ball as Ball
    from linkwork.elements.joints.cylindrical import Cylindrical as Cylindrical
    from linkwork.elements.joints.hinge import Hinge as Hinge
    from linkwork.elements.joints.planar import Planar as Planar
    from linkwork.elements.joints.screw import Screw as Screw
    from linkwork.elements.joints.slider import Slider as Slider
    from linkwork.elements.joints.universal import Universal as Universal
    from linkwork.elements.joints.weld import Weld as Weld
    from linkwork.elements.sensors.accelerometer import AccelerometerSensor as AccelerometerSensor
    from linkwork.elements.sensors.actuator_force import ActuatorForceSensor as ActuatorForceSensor
    from linkwork.elements.sensors.actuator_position import ActuatorPositionSensor as ActuatorPositionSensor
    from linkwork.elements.sensors.actuator_velocity import ActuatorVelocitySensor as ActuatorVelocitySensor
    from linkwork.elements.sensors.angular_momentum import AngularMomentumSensor as AngularMomentumSensor
    from linkwork.elements.sensors.cable_length import CableLengthSensor as CableLengthSensor
    from linkwork.elements.sensors.cable_velocity import CableVelocitySensor as CableVelocitySensor
    from linkwork.elements.sensors.center_of_mass import CenterOfMassSensor as CenterOfMassSensor
    from linkwork.elements.sensors.center_velocity import CenterVelocitySensor as CenterVelocitySensor
    from linkwork.elements.sensors.clock import ClockSensor as ClockSensor
    from linkwork.elements.sensors.contact_force import ContactForceSensor as ContactForceSensor
    from linkwork.elements.sensors.force import ForceSensor as ForceSensor
    from linkwork.elements.sensors.force_torque import ForceTorqueSensor as ForceTorqueSensor
    from linkwork.elements.sensors.frame_acceleration import FrameAccelerationSensor as FrameAccelerationSensor
    from linkwork.elements.sensors.frame_angular_acceleration import (
        FrameAngularAccelerationSensor as FrameAngularAccelerationSensor,
    )
    from linkwork.elements.sensors.frame_angular_velocity import FrameAngularVelocitySensor as FrameAngularVelocitySensor
    from linkwork.elements.sensors.frame_axis import FrameAxisSensor as FrameAxisSensor
    from linkwork.elements.sensors.frame_orientation import FrameOrientationSensor as FrameOrientationSensor
    from linkwork.elements.sensors.frame_position import FramePositionSensor as FramePositionSensor
    from linkwork.elements.sensors.frame_velocity import FrameVelocitySensor as FrameVelocitySensor
    from linkwork.elements.sensors.gyro import GyroSensor as GyroSensor
    from linkwork.elements.sensors.joint_position import JointPositionSensor as JointPositionSensor
    from linkwork.elements.sensors.joint_torque import JointTorqueSensor as JointTorqueSensor
    from linkwork.elements.sensors.joint_velocity import JointVelocitySensor as JointVelocitySensor
    from linkwork.elements.sensors.magnetometer import MagnetometerSensor as MagnetometerSensor
    from linkwork.elements.sensors.rangefinder import RangefinderSensor as RangefinderSensor
    from linkwork.elements.sensors.torque import TorqueSensor as TorqueSensor
    from linkwork.elements.sensors.touch import TouchSensor as TouchSensor
    from linkwork.elements.sensors.velocimeter import VelocimeterSensor as VelocimeterSensor
    from linkwork.elements.shapes.box import Box as Box
    from linkwork.elements.shapes.capsule import Capsule as Capsule
    from linkwork.elements.shapes.convex_hull import ConvexHull as ConvexHull
    from linkwork.elements.shapes.cylinder import Cylinder as Cylinder
    from linkwork.elements.shapes.disc import Disc as Disc
    from linkwork.elements.shapes.ellipsoid import Ellipsoid as Ellipsoid
    from linkwork.elements.shapes.height_field import HeightField as HeightField
    from linkwork.elements.shapes.mesh import Mesh as Mesh
    from linkwork.elements.shapes.plane import Plane as Plane
    from linkwork.elements.shapes.sphere import Sphere as Sphere

WHERE = {
    "AccelerometerSensor": "linkwork.elements.sensors.accelerometer",
    "ActuatorForceSensor": "linkwork.elements.sensors.actuator_force",
    "ActuatorPositionSensor": "linkwork.elements.sensors.actuator_position",
    "ActuatorVelocitySensor": "linkwork.elements.sensors.actuator_velocity",
    "AffineBody": "linkwork.elements.bodies.affine",
    "AngularMomentumSensor": "linkwork.elements.sensors.angular_momentum",
    "Armature": "linkwork.elements.constraints.armature",
    "Ball": "linkwork.elements.joints.ball",
    "Body": "linkwork.elements.core.element",
    "Box": "linkwork.elements.shapes.box",
    "Cable": "linkwork.elements.forces.cable",
    "CableLengthSensor": "linkwork.elements.sensors.cable_length",
    "CableVelocitySensor": "linkwork.elements.sensors.cable_velocity",
    "Capsule": "linkwork.elements.shapes.capsule",
    "CenterOfMassSensor": "linkwork.elements.sensors.center_of_mass",
    "CenterVelocitySensor": "linkwork.elements.sensors.center_velocity",
    "ClockSensor": "linkwork.elements.sensors.clock",
    "Collider": "linkwork.elements.contacts.collider",
    "Constraint": "linkwork.elements.constraints.user",
    "ConstraintElement": "linkwork.elements.core.element",
    "Contact": "linkwork.elements.contacts.contact",
    "ContactElement": "linkwork.elements.core.element",
    "ContactForceSensor": "linkwork.elements.sensors.contact_force",
    "ContactSpring": "linkwork.elements.forces.contact_spring",
    "ConvexHull": "linkwork.elements.shapes.convex_hull",
    "Coupling": "linkwork.elements.constraints.coupling",
    "Cylinder": "linkwork.elements.shapes.cylinder",
    "Cylindrical": "linkwork.elements.joints.cylindrical",
    "Damper": "linkwork.elements.forces.spring",
    "Disc": "linkwork.elements.shapes.disc",
    "Distance": "linkwork.elements.constraints.distance",
    "Drag": "linkwork.elements.forces.drag",
    "Drive": "linkwork.elements.constraints.drive",
    "Element": "linkwork.elements.core.element",
    "Ellipsoid": "linkwork.elements.shapes.ellipsoid",
    "FixedTendon": "linkwork.elements.forces.fixed_tendon",
    "Follow": "linkwork.elements.forces.follow",
    "Force": "linkwork.elements.forces.user",
    "ForceElement": "linkwork.elements.core.element",
    "ForceSensor": "linkwork.elements.sensors.force",
    "ForceTorqueSensor": "linkwork.elements.sensors.force_torque",
    "Frame": "linkwork.elements.core.frame",
    "FrameAccelerationSensor": "linkwork.elements.sensors.frame_acceleration",
    "FrameAngularAccelerationSensor": "linkwork.elements.sensors.frame_angular_acceleration",
    "FrameAngularVelocitySensor": "linkwork.elements.sensors.frame_angular_velocity",
    "FrameAxisSensor": "linkwork.elements.sensors.frame_axis",
    "FrameOrientationSensor": "linkwork.elements.sensors.frame_orientation",
    "FramePositionSensor": "linkwork.elements.sensors.frame_position",
    "FrameVelocitySensor": "linkwork.elements.sensors.frame_velocity",
    "Gear": "linkwork.elements.constraints.gear",
    "Ground": "linkwork.elements.bodies.ground",
    "GyroSensor": "linkwork.elements.sensors.gyro",
    "HardLimit": "linkwork.elements.contacts.hard_limit",
    "HeightField": "linkwork.elements.shapes.height_field",
    "Hinge": "linkwork.elements.joints.hinge",
    "Inequality": "linkwork.elements.contacts.inequality",
    "Joint": "linkwork.elements.core.joint",
    "JointFriction": "linkwork.elements.contacts.joint_friction",
    "JointLimit": "linkwork.elements.forces.joint_limit",
    "JointPositionSensor": "linkwork.elements.sensors.joint_position",
    "JointSpring": "linkwork.elements.forces.joint_spring",
    "JointTorqueSensor": "linkwork.elements.sensors.joint_torque",
    "JointVelocitySensor": "linkwork.elements.sensors.joint_velocity",
    "Keyframe": "linkwork.elements.core.keyframe",
    "LagrangianBody": "linkwork.elements.bodies.lagrangian",
    "MagnetometerSensor": "linkwork.elements.sensors.magnetometer",
    "Mesh": "linkwork.elements.shapes.mesh",
    "Motion": "linkwork.elements.constraints.motion",
    "Motor": "linkwork.elements.forces.motor",
    "NoContact": "linkwork.elements.contacts.contact",
    "Parameter": "linkwork.elements.core.parameter",
    "Particle": "linkwork.elements.bodies.particle",
    "Planar": "linkwork.elements.joints.planar",
    "PlanarBody": "linkwork.elements.bodies.planar",
    "PlanarParticle": "linkwork.elements.bodies.planar",
    "Plane": "linkwork.elements.shapes.plane",
    "PointOnCurve": "linkwork.elements.constraints.locus",
    "PointOnLine": "linkwork.elements.constraints.point_on",
    "PointOnPlane": "linkwork.elements.constraints.point_on",
    "PointOnSurface": "linkwork.elements.constraints.locus",
    "RangefinderSensor": "linkwork.elements.sensors.rangefinder",
    "RigidBody": "linkwork.elements.bodies.rigid",
    "Rolling": "linkwork.elements.constraints.rolling",
    "Rope": "linkwork.elements.contacts.rope",
    "ScalableBody": "linkwork.elements.bodies.scalable",
    "Screw": "linkwork.elements.joints.screw",
    "Sensor": "linkwork.elements.core.sensor",
    "Shape": "linkwork.elements.core.shape",
    "Skate": "linkwork.elements.constraints.skate",
    "Slider": "linkwork.elements.joints.slider",
    "Sphere": "linkwork.elements.shapes.sphere",
    "Spring": "linkwork.elements.forces.spring",
    "Tangent": "linkwork.elements.constraints.tangent",
    "TorqueSensor": "linkwork.elements.sensors.torque",
    "TorsionSpring": "linkwork.elements.forces.torsion_spring",
    "TouchSensor": "linkwork.elements.sensors.touch",
    "Trajectory": "linkwork.elements.core.trajectory",
    "Universal": "linkwork.elements.joints.universal",
    "VelocimeterSensor": "linkwork.elements.sensors.velocimeter",
    "VelocityConstraint": "linkwork.elements.constraints.user",
    "Visual": "linkwork.elements.core.visual",
    "Weld": "linkwork.elements.joints.weld",
    "Wrench": "linkwork.elements.forces.wrench",
    "bead_on_wire": "linkwork.elements.bodies.lagrangian_examples",
    "bending_beam": "linkwork.elements.bodies.lagrangian_examples",
    "double_pendulum": "linkwork.elements.bodies.lagrangian_examples",
    "squashing_ball": "linkwork.elements.bodies.lagrangian_examples",
}
"""Name -> the module that has it."""

if not TYPE_CHECKING:  # checkers take the names above for all that there is, and refuse others
    __all__ = list(WHERE)
    __getattr__, __dir__ = lazy_names(__name__, WHERE)
