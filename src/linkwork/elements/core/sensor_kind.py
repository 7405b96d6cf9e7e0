"""What a kind of sensors offers: names and units of its channels, and how they come from the state of a simulation.

The bases say from what: `PlaceSensorKind` from places on bodies, as expressions that are compiled; `JointSensorKind` from the
coordinates of a joint, `LengthSensorKind` from the length of a tendon and `EffortSensorKind` from commanded forces, which are
compiled too; `MeasuredSensorKind` from whatever can be asked of a simulation, by a function in Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from casadi import SX

from linkwork.elements.core.frame import Frame
from linkwork.elements.core.registry import outside_digest
from linkwork.elements.core.units import Quantity

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.sensor import Sensor
    from linkwork.util.array_types import FloatArray

AXES = "xyz"


def along_axes(what: str, unit: str) -> tuple[Quantity, ...]:
    """The channels of a vector.

    >>> along_axes("force", "N")[0]
    Quantity(what='force x', unit='N')
    """
    return tuple(Quantity(f"{what} {axis}", unit) for axis in AXES)


class At(NamedTuple):
    """A place: a body, and where in the frame of the body."""

    body: Any
    position: FloatArray  # (3,), m
    orientation: FloatArray  # (4,)


def at(frame: Any) -> At:
    """That of a frame, or of a body's own frame."""
    if isinstance(frame, Frame):
        return At(frame.body, frame.position, frame.orientation)
    return At(frame, np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)))


@dataclass
class Place:
    """A place inside a kernel, in the world. Accelerations are there for kinds that are `solved`."""

    position: SX  # (3,), m
    orientation: SX  # (4,)
    axes: SX  # (3, 3): the columns are its axes
    velocity: SX  # (3,), m/s
    angular_velocity: SX  # (3,), rad/s
    acceleration: SX  # (3,), m/s^2
    angular_acceleration: SX  # (3,), rad/s^2


class SensorKind(ABC):
    """The base of all."""

    element: ClassVar[type[Sensor]]  # whose kind it is: as declared
    positive: ClassVar[bool] = False  # a cutoff bounds it from above alone
    of_contact: ClassVar[bool] = False  # it tells what the last step has left: of a state that was set there is none
    _only: ClassVar[Any] = None

    @classmethod
    def check_declared(cls, element: type[Sensor]) -> None:
        """Remember whose kind it is."""
        cls.element = element

    @classmethod
    def of(cls, element: Any) -> Any:
        """The kind of a sensor: one for all."""
        if cls.__dict__.get("_only") is None:
            cls._only = cls()
        return cls._only

    @property
    def key(self) -> str:
        """All that its code depends on, beside the sources of this package."""
        return self.element.__name__ + outside_digest(type(self))

    @abstractmethod
    def channels(self, element: Any) -> tuple[Quantity, ...]:
        """What its numbers are."""

    def scaling(self, element: Any) -> tuple[float, float]:
        """What numbers are multiplied with, and what is added then."""
        return 1.0, 0.0


class PlaceSensorKind(SensorKind):
    """Of places on bodies, at most four: an expression. Where there are several `parts`, their readings are added up."""

    solved: ClassVar[bool] = False  # from accelerations, which are solved for
    fields: ClassVar[Mapping[str, int]] = {}  # numbers of its elements that the expression speaks of: name -> size

    def numbers(self, element: Any, part: int) -> Mapping[str, Any]:
        """These numbers, of one of its parts."""
        return {name: getattr(element, name) for name in self.fields}

    @abstractmethod
    def parts(self, element: Any) -> Sequence[tuple[At, ...]]:
        """The places, as many for each part."""

    @abstractmethod
    def reading(self, places: Sequence[Place], p: Params) -> SX:
        """What it reads. `p` has `fields`, and "gravity" (3,) and "time"."""


class JointSensorKind(SensorKind):
    """Of the coordinates of a joint, or of its velocities."""

    rates: ClassVar[bool]

    def joint(self, element: Any) -> Any:
        """That joint."""
        return element.joint


class LengthSensorKind(SensorKind):
    """Of the length of a tendon, or of its rate."""

    rates: ClassVar[bool]

    def tendon(self, element: Any) -> Any:
        """That tendon: a force that acts along a coordinate of its own."""
        return element.cable


class EffortSensorKind(SensorKind):
    """Of the efforts of forces along what they drive, all added up."""

    @abstractmethod
    def share(self, element: Any, force: Any) -> float:
        """How much of a force's effort counts."""


class MeasuredSensorKind(SensorKind):
    """Of what can be asked of a simulation."""

    @abstractmethod
    def measure(self, element: Any, now: Any) -> Any:
        """Its numbers. `now` is the Now of `linkwork.simulation.sensing`: all that a Simulation can be asked, and more."""
