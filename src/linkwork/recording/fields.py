"""What a recording is made of: its fields with their units, and the records of a body, a joint and all contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core.shape import Shape
from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import FloatArray, IntArray


FIELDS = {  # name: (dimensions, unit, long name)
    "position": (("time", "body", "axis"), "m", "position of the reference point, world frame"),
    "orientation": (("time", "body", "quaternion"), "1", "orientation, unit quaternion from body to world"),
    "velocity": (("time", "body", "axis"), "m/s", "velocity of the reference point, world frame"),
    "angular_velocity": (("time", "body", "axis"), "rad/s", "angular velocity, world frame"),
    "kinetic": (("time",), "J", "kinetic energy"),
    "potential": (("time",), "J", "potential energy"),
    "drift": (("time",), "m", "largest residual of a constraint on the position level"),
    "angle": (("time", "joint"), "rad or m", "joint coordinate: angle with turns counted, or travel"),
    "frame": (("time", "body", "axis", "local_axis"), "1", "map of body vectors to the world"),
}
CONTACT_FIELDS = {  # of the contacts of all frames, one after another: the same
    "bodies": (("contact", "end"), "1", "bodies that touch, the second is pushed: numbers in body, -1 for the ground"),
    "colliders": (("contact", "end"), "1", "colliders that touch: numbers in collider"),
    "point": (("contact", "axis"), "m", "where they touch"),
    "normal": (("contact", "axis"), "1", "direction from the first to the second"),
    "gap": (("contact",), "m", "distance, negative where they overlap"),
    "force": (("contact", "axis"), "N", "force on the second body in the last step"),
    "impulse": (("contact", "axis"), "N s", "impulse on the second body in the last step"),
    "torque": (("contact", "axis"), "N m", "couple of torsion and rolling on the second body in the last step"),
}
COORDINATES = {
    "time": ("s", "time"),
    "collider": ("1", "name of the collider, or of the body whose shape it is"),
    "body": ("1", "name of the body"),
    "axis": ("1", "axis of the world"),
    "local_axis": ("1", "axis of the body"),
    "quaternion": ("1", "component of the quaternion"),
    "joint": ("1", "name of the joint"),
    "frame_name": ("1", "name of the frame"),
}
EXTRA_UNITS = {
    "force": "N",
    "reaction": "N",
    "torque": "N m",
    "impulse": "N s",
    "acceleration": "m/s^2",
    "rate": "rad/s or m/s",
}


class RecordingError(LinkworkError, ValueError):
    """Data that do not fit together, or a file that cannot be written or read."""


def fields_of(rec: Recording) -> dict[str, Any]:
    """The arrays that a recording has, by the names of FIELDS."""
    return {name: getattr(rec, name) for name in FIELDS if getattr(rec, name) is not None}


@dataclass(frozen=True)
class BodyRecord:
    """One body, or a frame, over time, in the world frame: `rec["rod"]`."""

    name: str
    time: FloatArray  # (T,), s
    position: FloatArray  # (T, 3), m
    orientation: FloatArray  # (T, 4), w x y z
    velocity: FloatArray  # (T, 3), m/s
    angular_velocity: FloatArray  # (T, 3), rad/s
    frame: FloatArray | None  # (T, 3, 3), if some body of the recording stretches
    shape: Shape | None


@dataclass(frozen=True)
class JointRecord:
    """One joint over time: `rec["axle"]`."""

    name: str
    time: FloatArray  # (T,), s
    angle: FloatArray  # (T,), rad or m


@dataclass(frozen=True)
class SensorRecord:
    """One sensor over time: `rec["imu"]`."""

    name: str
    time: FloatArray  # (T,), s
    values: FloatArray  # (T, channels)
    channels: tuple[str, ...]  # what each is
    units: tuple[str, ...]


@dataclass(frozen=True)
class ContactRecords:
    """What touched in each frame: `count` of them, one frame after another. `rec.contacts(k)` has those of one."""

    names: list[str]  # of colliders
    count: IntArray  # (T,)
    bodies: IntArray  # (P, 2), numbers of bodies, -1: the ground
    colliders: IntArray  # (P, 2), numbers in names
    point: FloatArray  # (P, 3), m
    normal: FloatArray  # (P, 3)
    gap: FloatArray  # (P,), m
    force: FloatArray  # (P, 3), N, on the second body
    impulse: FloatArray  # (P, 3), N s
    torque: FloatArray  # (P, 3), N m, on the second body

    def columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in CONTACT_FIELDS}


def contact_records(names: list[str], columns: dict[str, Any]) -> ContactRecords:
    """From the arrays of a file; older ones have no torques."""
    return ContactRecords(names, **{"torque": np.zeros_like(columns["force"])} | columns)


def first_contacts(table: ContactRecords | None, frames: int) -> ContactRecords | None:
    if table is None:
        return None
    kept = int(table.count[:frames].sum())
    return ContactRecords(table.names, table.count[:frames], **{name: v[:kept] for name, v in table.columns().items()})


def joined_contacts(first: ContactRecords, then: ContactRecords) -> ContactRecords:
    """The contacts of both, with the names of colliders in one list."""
    names = list(dict.fromkeys([*first.names, *then.names]))
    moved = np.array([names.index(name) for name in then.names], dtype=np.int64)
    later = then.columns() | {"colliders": moved[then.colliders] if len(moved) else then.colliders}
    columns: dict[str, Any] = {name: np.concatenate([value, later[name]]) for name, value in first.columns().items()}
    return ContactRecords(names, np.concatenate([first.count, then.count]), **columns)
