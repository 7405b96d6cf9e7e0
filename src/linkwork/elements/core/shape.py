"""What every shape offers."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from linkwork.elements.core import checks


@dataclass(frozen=True)
class Shape:
    """A solid: each subclass gives its volume (m^3) and its moments per unit of mass."""

    solid = True  # whether a body may have it

    def __post_init__(self):
        for name in self.__dataclass_fields__:
            given = getattr(self, name)
            checked = checks.positive(self, name, given)
            if checked is not given:
                object.__setattr__(self, name, checked)

    def given(self):
        """What it was made of, by name, as plain numbers and lists."""
        return {f.name: np.asarray(getattr(self, f.name)).tolist() for f in fields(self) if f.init}

    @property
    def volume(self):
        self._hollow()

    def _spread(self):
        """The mean of x^2, y^2 and z^2 over the volume, m^2."""
        self._hollow()

    def _hollow(self):
        checks.fail(self, "it encloses no volume", "put it on the ground as a collider, or give a body a solid such as Box")

    def second_moment(self, mass):
        """(3, 3), kg m^2: the integral of rho p p^T about the centre."""
        mass = checks.positive(self, "mass", mass)
        x, y, z = self._spread()
        return checks.diagonal(mass * x, mass * y, mass * z)

    def inertia(self, mass):
        """(3, 3), kg m^2: the moment of inertia about the centre."""
        mass = checks.positive(self, "mass", mass)
        x, y, z = self._spread()
        return checks.diagonal(mass * (y + z), mass * (z + x), mass * (x + y))


class OfArrays(Shape):
    """A shape that is given by arrays: compared by what they hold, and read-only."""

    def _keep(self, **arrays):
        for name, array in arrays.items():
            array = np.ascontiguousarray(array)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def _bytes(self):
        return tuple(getattr(self, f.name).tobytes() for f in fields(self) if f.init)

    def __eq__(self, other):
        return type(self) is type(other) and self._bytes() == other._bytes()

    def __hash__(self):
        return hash((type(self), self._bytes()))


def check_placed(element):
    """The shape, position and orientation of what a body carries."""
    if not isinstance(element.shape, Shape):
        checks.fail(element, f"shape is {checks.show(element.shape)}", "give a shape such as lw.Sphere(0.1)")
    element.position = checks.vector(element, "position", element.position)
    element.orientation = checks.quaternion(element, "orientation", element.orientation)
