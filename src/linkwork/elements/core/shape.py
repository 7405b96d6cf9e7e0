"""What every shape offers: volume and moments, a bounding box, facets for pictures, and what collision needs of it.

Solid shapes are of uniform density and centred at the origin; sizes are full lengths, metres. A shape from outside gives a
`support` function and its numbers; box, facets and contact follow from it. A shape that lacks something is refused when its
class is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.families import OfFamily

if TYPE_CHECKING:
    from linkwork.util.array_types import AnyArray, FloatArray, IntArray, Vector


NUMBERS = 9  # of a support function, at most
DIRECTIONS = 400  # in which a support function is asked for pictures


class Core(IntEnum):
    """How collision takes a shape; a pair of shapes is taken in this order."""

    PLANE = 0
    SPHERE = 1
    CAPSULE = 2
    BOX = 3
    CYLINDER = 4
    ELLIPSOID = 5
    HULL = 6
    CONVEX = 7  # by its support function
    MESH = 8
    FIELD = 9


class Collision(NamedTuple):
    """What collision needs of a shape."""

    core: Core
    size: Vector = (0.0, 0.0, 0.0)  # (3,) m: half lengths, or radius and half length; else half of the bounding box
    middle: Vector = (0.0, 0.0, 0.0)  # (3,) m: of the bounding box
    numbers: Sequence[float] = ()  # vertices and the like
    integers: Sequence[int] = ()
    surface: tuple[FloatArray, IntArray] | None = None  # vertices (v, 3), triangles (t, 3)
    support: Callable[..., Any] | None = None  # of Core.CONVEX


class Facets(NamedTuple):
    """The surface of a shape for pictures."""

    vertices: FloatArray  # (V, 3) m
    faces: IntArray  # (M, 4): vertices, anticlockwise seen from outside; a triangle names one twice
    toned: int = 0  # the axes whose signs make a facet light or dark, which shows that a round thing turns
    closed: bool = True  # whether it is the surface of a convex solid


@dataclass(frozen=True)
class Shape(OfFamily, abstract=True):
    """A solid: each subclass gives its volume (m^3) and its moments per unit of mass."""

    isotropic: ClassVar[bool] = False  # looks the same however it is turned
    solid: ClassVar[bool] = True  # whether a body may have it
    bounded: ClassVar[bool] = True  # whether it ends somewhere
    curved: ClassVar[bool] = True  # whether its facets become finer with the detail
    instead: ClassVar[str] = ""  # of what is not solid: what to give a body that moves
    support: ClassVar[Callable[..., Any] | None] = None
    """A plain function (numbers, direction) -> the point that is farthest along a direction, all of them tuples; numbers are
    those of `support_numbers`, filled up with zeros to nine. It is compiled by numba: arithmetic and `math` alone."""

    def __init_subclass__(cls, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(abstract=abstract, **options)
        if not abstract and (lacking := _lacking(cls)):
            raise TypeError(f"{cls.__name__}: it lacks {', '.join(lacking)}; a shape needs them")

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            given = getattr(self, name)
            checked = checks.positive(self, name, given)
            if checked is not given:
                object.__setattr__(self, name, checked)

    def given(self) -> dict[str, float | list[list[float]]]:
        """What it was made of, by name, as plain numbers and lists."""
        return {f.name: np.asarray(getattr(self, f.name)).tolist() for f in fields(self.family) if f.init}

    @property
    def volume(self) -> float:
        self._hollow()

    def spread(self) -> tuple[float, float, float]:
        """The mean of x^2, y^2 and z^2 over the volume, m^2."""
        self._hollow()

    def _hollow(self) -> NoReturn:
        checks.fail(self, "it encloses no volume", "put it on the ground as a collider, or give a body a solid such as Box")

    def second_moment(self, mass: float) -> FloatArray:
        """(3, 3), kg m^2: the integral of rho p p^T about the centre."""
        mass = checks.positive(self, "mass", mass)
        x, y, z = self.spread()
        return checks.diagonal(mass * x, mass * y, mass * z)

    def inertia(self, mass: float) -> FloatArray:
        """(3, 3), kg m^2: the moment of inertia about the centre."""
        mass = checks.positive(self, "mass", mass)
        x, y, z = self.spread()
        return checks.diagonal(mass * (y + z), mass * (z + x), mass * (x + y))

    def support_numbers(self) -> tuple[float, ...]:
        """What the support function is given: the fields, in order."""
        return tuple(float(getattr(self, f.name)) for f in fields(self) if f.init)

    def farthest(self, direction: Vector) -> FloatArray:
        """(3,) m: the point that is farthest along a direction, by the support function."""
        support = type(self).support
        assert support is not None
        numbers = self.support_numbers()
        if len(numbers) > NUMBERS:
            checks.fail(self, f"its support function takes {len(numbers)} numbers", f"give {NUMBERS} at most")
        padded = (*numbers, *[0.0] * (NUMBERS - len(numbers)))
        return np.array(support(padded, tuple(float(x) for x in direction)), dtype=float)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """(3,) m each: the corners of the bounding box."""
        high = np.array([self.farthest(e)[k] for k, e in enumerate(np.eye(3))])
        return np.array([self.farthest(-e)[k] for k, e in enumerate(np.eye(3))]), high

    def collision(self) -> Collision:
        """What collision needs of it."""
        low, high = self.bounds()
        return Collision(Core.CONVEX, (high - low) / 2, (high + low) / 2, self.support_numbers(), support=type(self).support)

    def facets(self, detail: int) -> Facets:
        """Its surface, with `detail` facets around; a multiple of four."""
        from linkwork.elements.shapes.convex_hull import ConvexHull

        turn = np.arange(DIRECTIONS) + 0.5
        z, around = 1 - 2 * turn / DIRECTIONS, np.pi * (1 + 5**0.5) * turn  # evenly over a sphere
        towards = np.stack([np.sqrt(1 - z * z) * np.cos(around), np.sqrt(1 - z * z) * np.sin(around), z], axis=1)
        hull = ConvexHull(np.array([self.farthest(d) for d in (*np.eye(3), *-np.eye(3), *towards)]))
        return Facets(hull.points + hull.centre, hull.triangles[:, (0, 1, 2, 2)])

    def painted(self) -> Shape | None:
        """The convex solid that stands for it in pictures painted facet by facet; None: it is left out."""
        return self


def _lacking(cls: type[Shape]) -> list[str]:
    """What a class of shapes must have and has not."""
    own = {name for name in vars(Shape) if getattr(cls, name, None) is not vars(Shape)[name]}
    found = [] if "support" in own else [name for name in ("bounds", "collision", "facets") if name not in own]
    if cls.solid:
        found += [] if "volume" in own else ["volume"]
        found += [] if "spread" in own or {"second_moment", "inertia"} <= own else ["spread"]
    return found


class OfArrays(Shape, abstract=True):
    """A shape that is given by arrays: compared by what they hold, and read-only."""

    def _keep(self, **arrays: AnyArray) -> None:
        for name, array in arrays.items():
            array = np.ascontiguousarray(array)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def _bytes(self) -> tuple[bytes]:
        return tuple(getattr(self, f.name).tobytes() for f in fields(self) if f.init)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfArrays) and type(self) is type(other) and self._bytes() == other._bytes()

    def __hash__(self) -> int:
        return hash((type(self), self._bytes()))


def check_placed(element: Any) -> None:
    """The shape, position and orientation of what a body carries."""
    if not isinstance(element.shape, Shape):
        checks.fail(element, f"shape is {checks.show(element.shape)}", "give a shape such as lw.Sphere(0.1)")
    element.position = checks.vector(element, "position", element.position)
    element.orientation = checks.quaternion(element, "orientation", element.orientation)
