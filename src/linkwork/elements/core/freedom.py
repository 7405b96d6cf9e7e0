"""What one freedom of a joint is: the units of its coordinate, of its rate and of the effort along it."""

from __future__ import annotations

from enum import Enum

from linkwork.elements.core.units import ANGLE, ANGULAR_VELOCITY, QUATERNION, TRAVEL, Quantity, rate_of


class Freedom(Enum):
    """A freedom of a joint; `nq` coordinates, `nv` velocities.

    >>> Freedom.TURN.unit, Freedom.TURN.effort, Freedom.LENGTH.rate
    ('rad', 'N m', 'm/s')
    >>> Freedom.ROTATION.nq, Freedom.ROTATION.nv
    (4, 3)
    """

    TURN = ((ANGLE,), (rate_of(ANGLE),), "N m")
    LENGTH = ((TRAVEL,), (rate_of(TRAVEL),), "N")
    ROTATION = (QUATERNION, ANGULAR_VELOCITY, "N m")

    def __init__(self, coordinates: tuple[Quantity, ...], velocities: tuple[Quantity, ...], effort: str) -> None:
        self.coordinates, self.velocities, self.effort = coordinates, velocities, effort
        self.unit, self.rate = coordinates[0].unit, velocities[0].unit
        self.nq, self.nv = len(coordinates), len(velocities)


class FreedomLaw(Enum):
    """How springs and soft limits measure what a joint leaves free."""

    AXIS = "axis"  # angle about and travel along the axis of an AxisJointKind, or in the plane of the
    # element's `normal`, where there are two travels
    CROSS = "cross"  # the angles about the element's axes `first` (on a) and `second` (on b)
    ROTATION = "rotation"  # the rotation vector of b relative to a
    NONE = "none"  # not at all: springs and limits refuse the joint
