"""Solid shapes of uniform density, centred at the origin: volume and second moments. Sizes are full lengths, metres."""

import math
from dataclasses import dataclass

from . import checks


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


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid with edges x, y, z.

    >>> Box(1, 2, 3).volume
    6.0
    """

    x: float
    y: float
    z: float

    @property
    def volume(self):
        return self.x * self.y * self.z

    def _spread(self):
        return self.x**2 / 12, self.y**2 / 12, self.z**2 / 12


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball.

    >>> round(float(Sphere(0.5).inertia(10.0)[0, 0]), 12)
    1.0
    """

    radius: float

    @property
    def volume(self):
        return 4 / 3 * math.pi * self.radius**3

    def _spread(self):
        return (self.radius**2 / 5,) * 3


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid with axes of full lengths x, y, z.

    >>> Ellipsoid(1, 1, 1).volume == Sphere(0.5).volume
    True
    """

    x: float
    y: float
    z: float

    @property
    def volume(self):
        return math.pi / 6 * self.x * self.y * self.z

    def _spread(self):
        return self.x**2 / 20, self.y**2 / 20, self.z**2 / 20


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z.

    >>> round(Cylinder(1, 2).volume, 6)
    6.283185
    """

    radius: float
    length: float

    @property
    def volume(self):
        return math.pi * self.radius**2 * self.length

    def _spread(self):
        return _cylinder_spread(self.radius, self.length)


@dataclass(frozen=True)
class Disc(Shape):
    """A disc with its axis along z.

    >>> float(Disc(1, 0.1).inertia(2.0)[2, 2])
    1.0
    """

    radius: float
    thickness: float

    @property
    def volume(self):
        return math.pi * self.radius**2 * self.thickness

    def _spread(self):
        return _cylinder_spread(self.radius, self.thickness)


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z with half a ball on each end; length is that of the cylinder, without the caps.

    >>> Capsule(0.5, 2).volume == Cylinder(0.5, 2).volume + Sphere(0.5).volume
    True
    """

    radius: float
    length: float

    @property
    def volume(self):
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def _spread(self):
        r, half = self.radius, self.length / 2
        caps = 4 / 3 * r / (self.length + 4 / 3 * r)  # their share of the mass
        across, along = _cylinder_spread(r, self.length)[1:]
        cap_along = half**2 + 2 * half * (3 / 8 * r) + r**2 / 5  # half a ball: mean z is 3/8 r, mean z^2 is r^2/5
        across = (1 - caps) * across + caps * r**2 / 5
        return across, across, (1 - caps) * along + caps * cap_along


@dataclass(frozen=True)
class Plane(Shape):
    """A half space: all that lies at or below z = 0 of its own frame. It collides, and is no body's shape.

    >>> Plane()
    Plane()
    """

    solid = False


def _cylinder_spread(radius, length):
    return radius**2 / 4, radius**2 / 4, length**2 / 12
