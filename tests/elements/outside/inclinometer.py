"""Sensors of another package: how far a frame is tilted, as an expression; and how high bodies are, in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from linkwork.elements.core.units import Quantity
from linkwork.kinds import FrameSensor, FrameSensorKind, MeasuredSensorKind, Sensor, kind_of


@dataclass(eq=False, repr=False)
class InclinometerSensor(FrameSensor):
    """The angle (rad) between the z of `frame` and that of the world."""


@kind_of(InclinometerSensor)
class InclinometerKind(FrameSensorKind):
    def channels(self, element):
        return (Quantity("tilt", "rad"),)

    def reading(self, places: Sequence, p):
        axes = places[0].axes
        return ca.atan2(ca.norm_2(axes[0:2, 2]), axes[2, 2])


@dataclass(eq=False, repr=False)
class AltimeterSensor(Sensor):
    """The height (m) of the highest of several bodies."""

    REFERENCES = {"bodies": "body"}

    bodies: Sequence

    def __post_init__(self):
        self.bodies = tuple(self.bodies)
        super().__post_init__()


@kind_of(AltimeterSensor)
class AltimeterKind(MeasuredSensorKind):
    def channels(self, element):
        return (Quantity("height", "m"),)

    def measure(self, element, now):
        return max(now.position(body)[2] for body in element.bodies)
