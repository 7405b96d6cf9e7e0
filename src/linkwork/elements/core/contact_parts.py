"""What contact needs to know of a kind of body."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

NONE = -1  # no component of velocity


class ContactPose(Enum):
    """How contact reads where a body is."""

    RIGID = "rigid"  # origin q[0:3], rotation matrix in field R
    FLAT = "flat"  # two coordinates of a plane, and cosine and sine in field R
    POINT = "point"  # no orientation


@dataclass(frozen=True)
class ContactParts:
    """What contact needs of a kind: the pose, and which of its velocity components are the six of a rigid motion in the world
    (velocity of its origin, angular velocity); NONE: that one is zero."""

    pose: ContactPose
    velocity: tuple[int, ...]  # (6,)
