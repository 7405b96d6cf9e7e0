"""Readouts: arrays that one compiled call fills when somebody asks, valid until the next change; those of poses among them.

A readout is an array beside the workspace. It is filled again in the same place where nobody else holds it, and in a new one
where somebody does: so arrays that were handed out never change.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linkwork.schedules.readings import Readings
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray

OWN = 2  # references to an array that nobody else holds: an attribute, and the argument of getrefcount


class Pose(NamedTuple):
    """A body, or a frame, in the world."""

    position: FloatArray  # (3,) m
    orientation: FloatArray  # (4,)
    velocity: FloatArray  # (3,) m/s, of `position`
    angular_velocity: FloatArray  # (3,) rad/s
    frame: FloatArray  # (3, 3): a local vector p is at position + frame @ p


class Poses(NamedTuple):
    """Several of them, a row each, as `Pose` has it."""

    names: tuple[str, ...]
    position: FloatArray  # (k, 3), m
    orientation: FloatArray  # (k, 4)
    velocity: FloatArray  # (k, 3), m/s
    angular_velocity: FloatArray  # (k, 3), rad/s
    frame: FloatArray  # (k, 3, 3)


class Readout:
    """One array, the operations that fill it, and the change of the workspace at which they last did."""

    __slots__ = ("count", "operations", "out", "readings")

    def __init__(self, readings: Readings, operations: FloatArray, start: FloatArray) -> None:
        self.readings, self.operations, self.out, self.count = readings, operations, start, -1

    def fill(self, work: FloatArray, count: int) -> None:
        if getrefcount(self.out) > OWN:
            self.out = self.out.copy()
        self.readings.fill(work, self.operations, self.out)
        self.count = count


class PoseReadout(Readout):
    """Where things are and how they move: `span` says where the arrays of `Readings` are."""

    __slots__ = ("frames", "orientations", "span", "system", "velocities")

    def __init__(self, system: System, operations: FloatArray, start: FloatArray, span: Mapping[str, slice]) -> None:
        super().__init__(system.schedules.readings, operations, start)
        self.system, self.span = system, span
        self.orientations, self.velocities, self.frames = (
            span[name].start for name in ("orientations", "velocities", "frames")
        )

    def now(self) -> FloatArray:
        """The array, of now."""
        system = self.system
        if self.count != system.validity.count:
            self.fill(system.work, system.validity.count)
        return self.out

    def position(self, number: int) -> FloatArray:
        return self.now()[3 * number : 3 * number + 3].copy()

    def orientation(self, number: int) -> FloatArray:
        at = self.orientations + 4 * number
        return self.now()[at : at + 4].copy()

    def velocity(self, number: int) -> FloatArray:
        at = self.velocities + 6 * number
        return self.now()[at : at + 3].copy()

    def angular_velocity(self, number: int) -> FloatArray:
        at = self.velocities + 6 * number + 3
        return self.now()[at : at + 3].copy()

    def frame(self, number: int) -> FloatArray:
        at = self.frames + 9 * number
        return self.now()[at : at + 9].reshape(3, 3).copy()

    def rotation(self, number: int) -> FloatArray:
        """(3, 3): its axes in the world, without what they are stretched by; with plain numbers, which is faster."""
        at = self.orientations + 4 * number
        w, x, y, z = self.now()[at : at + 4].tolist()
        return np.array(((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                         (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                         (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))))  # fmt: skip

    def twist(self, number: int) -> FloatArray:
        """(6,): velocity, then angular velocity."""
        at = self.velocities + 6 * number
        return self.now()[at : at + 6].copy()

    def pose(self, number: int) -> Pose:
        """All of one."""
        out, x, q = self.now(), 3 * number, self.orientations + 4 * number
        v, F = self.velocities + 6 * number, self.frames + 9 * number
        return Pose(out[x : x + 3].copy(), out[q : q + 4].copy(), out[v : v + 3].copy(), out[v + 3 : v + 6].copy(),
                    out[F : F + 9].reshape(3, 3).copy())  # fmt: skip

    def array(self, name: str, width: int) -> FloatArray:
        """One of the arrays, (things, width), which cannot be written."""
        found = self.now()[self.span[name]].reshape(-1, width)
        found.flags.writeable = False
        return found

    def all_poses(self, names: tuple[str, ...]) -> Poses:
        """Everything; the arrays cannot be written."""
        moving = self.array("velocities", 6)
        return Poses(names, self.array("positions", 3), self.array("orientations", 4), moving[:, :3], moving[:, 3:],
                     self.array("frames", 9).reshape(-1, 3, 3))  # fmt: skip
