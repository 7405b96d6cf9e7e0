"""Words of the algebra: what a row constrains, and at which moment of a step a body is seen."""

from __future__ import annotations

from enum import StrEnum


class Word(StrEnum):
    """A word that is a part of the keys by which compiled kernels are found: `str` and `repr` are those of its value."""

    def __repr__(self) -> str:
        return repr(self.value)


class Level(Word):
    """What a row constrains.

    >>> f"{Level.POSITION}, {[Level.VELOCITY]}"
    "position, ['velocity']"
    """

    POSITION = "position"
    VELOCITY = "velocity"
    ROTOR = "rotor"  # how far a rotor has turned


class Moment(Word):
    """The moment of a step at which a body is seen: each has coordinates and velocities of its own in the body's record."""

    NOW = "now"
    MIDDLE = "middle"
    END = "next"
