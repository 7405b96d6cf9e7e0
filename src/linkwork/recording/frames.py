"""Frames of a recording: they are kept by where they are on its bodies, and their motion follows from that of the bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.elements.core.placement import matrices, product
from linkwork.recording.fields import BodyRecord

if TYPE_CHECKING:
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import FloatArray, Vector


class Track(NamedTuple):
    """How a field of records is written for other tools."""

    field: str
    dimensions: tuple[str, ...]
    unit: str
    text: str


IN_SPACE, TURNED = ("time", "frame_name", "axis"), ("time", "frame_name", "quaternion")
TRACKS = {
    "frame_position": Track("position", IN_SPACE, "m", "position of the frame, world frame"),
    "frame_orientation": Track("orientation", TURNED, "1", "orientation, unit quaternion from the frame to world"),
    "frame_velocity": Track("velocity", IN_SPACE, "m/s", "velocity of the body's point at the frame, world frame"),
    "frame_angular_velocity": Track("angular_velocity", IN_SPACE, "rad/s", "angular velocity, world frame"),
}


def frame_of(name: str, body: str | None, position: Vector, orientation: Vector) -> tuple[Any, ...]:
    """As a recording keeps it: its name, its body (None: the ground), and where it is in the frame of the body."""
    return name, body, tuple(map(float, position)), tuple(map(float, orientation))


def velocity_of(name: str) -> str:
    """The extra that has the velocity of a frame on a body that stretches: nothing else tells how fast it does."""
    return f"velocity {name}"


def frame_record(rec: Recording, name: str) -> BodyRecord:
    """The motion of a frame."""
    _, body, *place = next(frame for frame in rec.frames if frame[0] == name)
    position, turn = np.array(place[0]), np.tile(place[1], (len(rec), 1))
    own, still = matrices(turn), np.zeros((len(rec), 3))
    if body is None:
        return BodyRecord(name, rec.time, still + position, turn, still, still, None if rec.frame is None else own, None)
    on: BodyRecord = rec[body]
    F: FloatArray = matrices(on.orientation) if on.frame is None else on.frame
    arm = F @ position
    velocity = rec.extra.get(velocity_of(name), on.velocity + np.cross(on.angular_velocity, arm))
    return BodyRecord(name, rec.time, on.position + arm, product(on.orientation, turn), velocity, on.angular_velocity,
                      None if rec.frame is None else F @ own, None)  # fmt: skip
