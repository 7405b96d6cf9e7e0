"""What one freedom of a joint is: the units of its coordinate, of its rate and of the effort along it."""

from __future__ import annotations

from enum import Enum


class Freedom(Enum):
    """A freedom of a joint; `nq` coordinates, `nv` velocities.

    >>> Freedom.TURN.unit, Freedom.TURN.effort, Freedom.LENGTH.rate
    ('rad', 'N m', 'm/s')
    >>> Freedom.ROTATION.nq, Freedom.ROTATION.nv
    (4, 3)
    """

    TURN = ("rad", "rad/s", "N m", 1, 1)  # an angle
    LENGTH = ("m", "m/s", "N", 1, 1)  # a travel
    ROTATION = ("1", "rad/s", "N m", 4, 3)  # a unit quaternion; its velocity is angular

    def __init__(self, unit: str, rate: str, effort: str, nq: int, nv: int):
        self.unit, self.rate, self.effort, self.nq, self.nv = unit, rate, effort, nq, nv


class FreedomLaw(Enum):
    """How springs and soft limits measure what a joint leaves free."""

    AXIS = "axis"  # angle about and travel along the axis of an AxisJointKind, or in the plane of the
    # element's `normal`, where there are two travels
    CROSS = "cross"  # the angles about the element's axes `first` (on a) and `second` (on b)
    ROTATION = "rotation"  # the rotation vector of b relative to a
    NONE = "none"  # not at all: springs and limits refuse the joint
