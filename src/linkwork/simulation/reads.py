"""Reads: where bodies and joints are now, by one compiled call when somebody asks, valid until the next change.

A readout is an array beside the workspace. It is filled again in the same place where nobody else holds it, and in a new one
where somebody does: so arrays that were handed out never change.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.schedules.readings import Readings

if TYPE_CHECKING:
    from linkwork.simulation.query import Query

OWN = 2  # references to an array that nobody else holds: an attribute, and the argument of getrefcount


class Pose(NamedTuple):
    """A body in the world."""

    position: np.ndarray  # (3,) m
    orientation: np.ndarray  # (4,)
    velocity: np.ndarray  # (3,) m/s, of `position`
    angular_velocity: np.ndarray  # (3,) rad/s
    frame: np.ndarray  # (3, 3): a local vector p is at position + frame @ p


class Readout:
    """One array, the operations that fill it, and the change of the workspace at which they last did."""

    __slots__ = ("count", "operations", "out", "readings")

    def __init__(self, readings: Readings, operations: np.ndarray, size: int):
        self.readings, self.operations, self.out, self.count = readings, operations, np.zeros(size), -1

    def fill(self, work: np.ndarray, count: int) -> None:
        if getrefcount(self.out) > OWN:
            self.out = self.out.copy()
        self.readings.fill(work, self.operations, self.out)
        self.count = count


class Reads:
    """What of the motion can be read in a Simulation."""

    def __init__(self, sim: Query):
        self._sim = sim
        self._poses: Readout | None = None

    def poses(self) -> np.ndarray:
        """The readout of bodies and joints, of now."""
        sim, poses = self._sim, self._poses
        if poses is None:
            readings = sim.programs.readings
            poses = self._poses = Readout(readings, readings.poses, readings.size)
        if poses.count != sim._valid.count:
            poses.fill(sim.work, sim._valid.count)
        return poses.out

    def position(self, number: int) -> np.ndarray:
        return self.poses()[3 * number : 3 * number + 3].copy()

    def orientation(self, number: int) -> np.ndarray:
        out = self.poses()
        at = self._at("orientations") + 4 * number
        return out[at : at + 4].copy()

    def velocity(self, number: int) -> np.ndarray:
        out = self.poses()
        at = self._at("velocities") + 6 * number
        return out[at : at + 3].copy()

    def angular_velocity(self, number: int) -> np.ndarray:
        out = self.poses()
        at = self._at("velocities") + 6 * number + 3
        return out[at : at + 3].copy()

    def frame(self, number: int) -> np.ndarray:
        out = self.poses()
        at = self._at("frames") + 9 * number
        return out[at : at + 9].reshape(3, 3).copy()

    def pose(self, number: int) -> Pose:
        """All of a body."""
        return Pose(*(read(number) for read in (self.position, self.orientation, self.velocity, self.angular_velocity,
                                                self.frame)))  # fmt: skip

    def array(self, name: str, width: int) -> np.ndarray:
        """One of the arrays of all bodies, (bodies, width), which cannot be written."""
        out = self.poses()
        found = out[self._sim.programs.readings.span[name]].reshape(-1, width)
        found.flags.writeable = False
        return found

    def joint(self, joint, rate: bool) -> float:
        """The first coordinate of a joint, or its rate."""
        place = self._place(joint)
        return self.poses().item(place.rate if rate else place.value)

    def travel(self, joint) -> float:
        """The travel of a joint that has one."""
        place = self._place(joint)
        if "travel" not in place.names:
            raise LinkworkError(f"{checks.label(self._sim.world.find(joint))}: it does not travel; ask for its angle")
        return self.poses().item(place.value + place.names.index("travel"))

    def _place(self, joint):
        sim = self._sim
        place = sim.programs.readings.joint.get(sim._name(joint))
        if place is None:
            node, part = sim._constraint(joint)
            label = checks.label(sim.model.nodes[node].elements[part])
            raise LinkworkError(f"{label}: it has no angle or travel; ask a hinge, slider, cylinder or screw")
        return place

    def _at(self, name: str) -> int:
        return self._sim.programs.readings.span[name].start
