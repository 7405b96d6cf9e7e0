"""Sensors that a URDF has for Gazebo: imu, force_torque, contact, magnetometer, and rays of a single beam."""

import math

import numpy as np
from scipy.spatial.transform import Rotation

from linkwork.elements import (
    AccelerometerSensor,
    ContactForceSensor,
    ForceTorqueSensor,
    Frame,
    FrameOrientationSensor,
    GyroSensor,
    MagnetometerSensor,
    RangefinderSensor,
)
from linkwork.formats.numbers import shown, text_number
from linkwork.formats.urdf.geometry import quaternion
from linkwork.formats.urdf.robot import Place

RAYS = ("ray", "gpu_ray", "lidar", "gpu_lidar")
KEPT = "weld"  # a fixed joint that a sensor keeps


def wanted(root):
    """[(the link or joint that is spoken of, <sensor>)]."""
    return [
        (gazebo.attributes.get("reference", ""), sensor) for gazebo in root.all("gazebo") for sensor in gazebo.all("sensor")
    ]


def keep_apart(robot, sensors):
    """Fixed joints that a sensor of forces is in stay joints, where what they carry has mass."""
    sensed = {reference for reference, sensor in sensors if sensor.attributes.get("type") == "force_torque"}
    for joints in robot.below.values():
        for joint in joints:
            if joint.name in sensed and joint.kind == "fixed" and _weighs(robot, joint.child):
                joint.kind = KEPT


def _weighs(robot, name):
    """Whether a link, or what it carries, has mass."""
    waiting = [name]
    for link in waiting:  # which grows
        inertial = robot.links[link].inertial
        if inertial is not None and inertial.mass > 0.0:
            return True
        waiting += [joint.child for joint in robot.below[link]]
    return False


def add(building, sensors):
    """All that can be had; the others are told."""
    for reference, sensor in sensors:
        kind = sensor.attributes.get("type", "")
        make = MAKERS.get(kind)
        why = (
            f'there is no sensor of the type "{shown(kind)}" here'
            if make is None
            else make(_Sensor(building, reference, sensor))
        )
        if why:
            building.reading.remark(sensor.line, f'<sensor> "{shown(_name(reference, sensor))}"', f"{why}: it is left out")


def _name(reference, sensor):
    return sensor.attributes.get("name", "").strip() or f"{reference} {sensor.attributes.get('type', 'sensor')}"


class _Sensor:
    """One of them, while it is read."""

    def __init__(self, building, reference, node):
        self.building, self.reference, self.node = building, reference, node
        self.name = _name(reference, node)
        self.link = building.places.get(reference)
        rate = self.number(node, "update_rate", 0.0)
        self.rate = rate if rate > 0.0 else None
        for child in node.all("plugin"):
            building.reading.remark(
                child.line, f'<plugin> of sensor "{shown(self.name)}"', "plugins are programs, and none is run"
            )

    def number(self, node, tag, default):
        """The number in a child."""
        child = None if node is None else node.first(tag)
        return default if child is None else text_number(self.building.reading, child, default, f"{default:g} is taken")

    def make(self, kind, *arguments, suffix="", noise=None, **fields):
        """Add an element."""
        name = self.building.free_name(f"{self.name}{suffix}")
        self.building.add(self.node.line, kind, *arguments, rate=self.rate, noise=self.noise(noise), name=name, **fields)

    def noise(self, node):
        """The largest standard deviation below an element: Gazebo has one for each axis."""
        if node is None:
            return 0.0
        for child in node.walk():
            if child.tag in ("mean", "bias_mean", "bias_stddev") and self.number_of(child):
                self.building.reading.remark(
                    child.line, f'<{child.tag}> of sensor "{shown(self.name)}"', "no sensor has a bias here"
                )
        return max((self.number_of(child) for child in node.walk() if child.tag == "stddev"), default=0.0)

    def number_of(self, node):
        return text_number(self.building.reading, node, 0.0, "0 is taken")

    def frame(self):
        """Where it is: the link, or a frame on it at its <pose>."""
        pose = self.node.first("pose")
        words = [] if pose is None else pose.text.split()
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if pose is not None and len(numbers) != 6:
            self.building.reading.remark(
                pose.line, f'<pose> of sensor "{shown(self.name)}"', "it is no six numbers: none is taken"
            )
        element, body, place = self.link
        if len(numbers) != 6 or not any(numbers):
            return element
        there = place @ Place(Rotation.from_euler("xyz", numbers[3:]).as_matrix(), np.array(numbers[:3]))
        name = self.building.free_name(f"{self.name} frame")
        return self.building.add(pose.line, Frame, body, position=there.x, orientation=quaternion(there.R), name=name)

    def lost(self):
        """Why it cannot be where it should be."""
        return None if self.link else f'there is no link "{shown(self.reference)}"'


def _imu(sensor):
    if why := sensor.lost():
        return why
    imu, frame = sensor.node.first("imu"), sensor.frame()
    old = None if imu is None else imu.first("noise")
    parts = {tag: next((part for part in (imu and imu.first(tag), old and old.first(short)) if part), None)
             for tag, short in (("angular_velocity", "rate"), ("linear_acceleration", "accel"))}  # fmt: skip
    sensor.make(FrameOrientationSensor, frame, suffix=" orientation")
    sensor.make(GyroSensor, frame, suffix=" angular velocity", noise=parts["angular_velocity"])
    sensor.make(AccelerometerSensor, frame, suffix=" linear acceleration", noise=parts["linear_acceleration"])
    return None


def _magnetometer(sensor):
    if why := sensor.lost():
        return why
    sensor.make(MagnetometerSensor, sensor.frame(), noise=sensor.node.first("magnetometer"))
    return None


def _contact(sensor):
    if why := sensor.lost():
        return why
    if sensor.link[1] is sensor.building.world.ground:
        return "its link stands still"
    sensor.make(ContactForceSensor, sensor.link[1], noise=sensor.node.first("contact"))
    return None


def _ray(sensor):
    if why := sensor.lost():
        return why
    ray = sensor.node.first("ray") or sensor.node.first("lidar")
    scan, reach = (None if ray is None else ray.first(tag) for tag in ("scan", "range"))
    angles = []
    for tag in ("horizontal", "vertical"):
        side = None if scan is None else scan.first(tag)
        if sensor.number(side, "samples", 1.0) > 1.0:
            return "only a single beam is told here"
        angles.append(sensor.number(side, "min_angle", 0.0))
    across, up = angles
    axis = (math.cos(up) * math.cos(across), math.cos(up) * math.sin(across), math.sin(up))
    farthest = sensor.number(reach, "max", 0.0)
    sensor.make(RangefinderSensor, sensor.frame(), axis, reach=farthest if farthest > 0.0 else None,
                noise=None if ray is None else ray.first("noise"))  # fmt: skip
    return None


def _force_torque(sensor):
    building, spec = sensor.building, sensor.building.robot.joints.get(sensor.reference)
    if spec is None:
        return f'there is no joint "{shown(sensor.reference)}"'
    if spec.element is None:
        return f'the joint "{shown(spec.name)}" is fixed, and nothing beyond it has mass'
    node = sensor.node.first("force_torque")
    frame, direction = ("" if node is None or (child := node.first(tag)) is None else child.text.strip()
                        for tag in ("frame", "measure_direction"))  # fmt: skip
    if frame == "sensor":
        building.reading.remark(node.line, f'<frame> of sensor "{shown(sensor.name)}"', "the child's is taken")
    there = building.places[spec.parent if frame == "parent" else spec.child][0]
    joint = spec.element
    on = joint.b if direction == "parent_to_child" else joint.a
    if frame == "parent":
        _, body, place = building.places[spec.parent]
        at = {"position": (place @ spec.place).x, "orientation": quaternion(place.R)}
        there = building.add(sensor.node.line, Frame, body, name=building.free_name(f"{sensor.name} frame"), **at)
    sensor.make(ForceTorqueSensor, joint, there, body=on, noise=node)
    return None


MAKERS = {"imu": _imu, "magnetometer": _magnetometer, "contact": _contact, "force_torque": _force_torque,
          **dict.fromkeys(RAYS, _ray)}  # fmt: skip
