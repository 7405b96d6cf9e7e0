"""Bodies: what moves. World frame, SI units; arrays are float64 once made.

`position` is the centre of mass (RigidBody: unless `com` says otherwise) and `velocity` is that of this point.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Matrix, Scalar, Vector
from linkwork.elements.shapes import Shape

PLANES = {"xz": (0, 2, 1), "xy": (0, 1, 2), "yz": (1, 2, 0)}  # name -> the two axes in it, its normal


@dataclass(eq=False, repr=False)
class Ground(Body):
    """The world itself: it never moves. Each World has one, `world.ground`; its local frame is the world's.

    >>> Ground()
    <Ground "ground">
    """

    kind: ClassVar[str] = "ground"
    dim: ClassVar[int] = 0

    name: str | None = field(default="ground", kw_only=True)


@dataclass(eq=False, repr=False)
class RigidBody(Body):
    """A rigid body.

    `inertia` is about the centre of mass in the body's axes: three diagonal entries or a 3 by 3 matrix, kg m^2. A
    shape gives it (centred at the centre of mass), and with a density the mass too; what is given explicitly wins.

    With mass and inertia zero it is a massless link: it hangs on a joint and carries bodies that have mass, so that several
    joints in a row act between the two.

    >>> from linkwork.elements import Box
    >>> crank = RigidBody(mass=1.0, shape=Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank")
    >>> crank.inertia.shape, crank.dim
    ((3, 3), 6)
    >>> RigidBody(mass=0, inertia=(0, 0, 0), name="cross").massless
    True
    """

    kind: ClassVar[str] = "rigid"
    dim: ClassVar[int] = 6

    mass: Scalar = None  # kg
    inertia: Matrix = None  # (3, 3), kg m^2
    shape: Shape | None = None
    density: Scalar = None  # kg/m^3
    position: Vector = checks.ZERO  # (3,), m: the origin of the body's frame
    orientation: Vector = checks.IDENTITY  # (4,): unit quaternion w, x, y, z
    velocity: Vector = checks.ZERO  # (3,), m/s: of the point `position`
    angular_velocity: Vector = checks.ZERO  # (3,), rad/s
    com: Vector = checks.ZERO  # (3,), m: the centre of mass in the body's frame

    def __post_init__(self):
        super().__post_init__()
        if checks.is_zero(self.mass):
            _fill_massless(self)
        else:
            _fill_mass(self)
            _fill_moment(self, "inertia", checks.inertia)
        self.position = checks.vector(self, "position", self.position)
        self.velocity = checks.vector(self, "velocity", self.velocity)
        self.angular_velocity = checks.vector(self, "angular_velocity", self.angular_velocity)
        self.com = checks.vector(self, "com", self.com)
        self.orientation = checks.quaternion(self, "orientation", self.orientation)

    @property
    def massless(self):
        """Whether it has neither mass nor inertia."""
        return self.mass == 0.0


@dataclass(eq=False, repr=False)
class PlanarBody(Body):
    """A rigid body that moves in a plane through the origin: "xz" (default), "xy" or "yz".

    The two in-plane coordinates stand in the order of the plane's letters; `angle` turns right-handed about the normal
    +y, +z or +x. `inertia` is about that normal; a shape gives its own about this axis.

    >>> link = PlanarBody(mass=2.0, inertia=0.1, position=(1, 0, 0.5), angle=0.3)
    >>> link.position.tolist()
    [1.0, 0.5]
    """

    kind: ClassVar[str] = "planar"
    dim: ClassVar[int] = 3

    mass: Scalar = None  # kg
    inertia: Scalar = None  # kg m^2, about the plane's normal
    shape: Shape | None = None
    density: Scalar = None  # kg/m^3
    position: Vector = (0.0, 0.0)  # (2,), m
    angle: float = 0.0  # rad
    velocity: Vector = (0.0, 0.0)  # (2,), m/s
    angular_velocity: float = 0.0  # rad/s
    plane: str = "xz"

    def __post_init__(self):
        super().__post_init__()
        _fill_mass(self)
        _flatten(self)
        if self.inertia is None:
            normal = PLANES[self.plane][2]
            self.inertia = _of_shape(self, "inertia")[normal, normal]
        self.inertia = checks.positive(self, "inertia", self.inertia)
        self.angle = checks.number(self, "angle", self.angle)
        self.angular_velocity = checks.number(self, "angular_velocity", self.angular_velocity)


@dataclass(eq=False, repr=False)
class Particle(Body):
    """A point mass: it has a position and no directions.

    >>> Particle(0.1, position=(0, 0, 1), name="bead")
    <Particle "bead">
    """

    kind: ClassVar[str] = "particle"
    dim: ClassVar[int] = 3

    mass: Scalar = None  # kg
    position: Vector = checks.ZERO  # (3,), m
    velocity: Vector = checks.ZERO  # (3,), m/s

    def __post_init__(self):
        super().__post_init__()
        _fill_mass(self)
        _check_vectors(self, "position", "velocity")


@dataclass(eq=False, repr=False)
class PlanarParticle(Body):
    """A point mass that moves in a plane through the origin: "xz" (default), "xy" or "yz".

    >>> PlanarParticle(0.1, position=(0, 1)).plane
    'xz'
    """

    kind: ClassVar[str] = "planar-particle"
    dim: ClassVar[int] = 2

    mass: Scalar = None  # kg
    position: Vector = (0.0, 0.0)  # (2,), m
    velocity: Vector = (0.0, 0.0)  # (2,), m/s
    plane: str = "xz"

    def __post_init__(self):
        super().__post_init__()
        _fill_mass(self)
        _flatten(self)


@dataclass(eq=False, repr=False)
class ScalableBody(Body):
    """A body that turns, moves and stretches along its own three axes (witkin97): point p lies at x + R diag(s) p.

    `second_moment` is the integral of rho p p^T about the centre, unstretched: three diagonal entries or a matrix.
    `stiffness` (N m) and `damping` (N m s) resist the stretch; zero means none.

    >>> from linkwork.elements import Sphere
    >>> jelly = ScalableBody(shape=Sphere(0.1), density=1000, stretch=(1, 1, 1.2), stiffness=5.0)
    >>> round(jelly.mass, 3), jelly.dim
    (4.189, 9)
    """

    kind: ClassVar[str] = "scalable"
    dim: ClassVar[int] = 9

    mass: Scalar = None  # kg
    second_moment: Matrix = None  # (3, 3), kg m^2
    shape: Shape | None = None
    density: Scalar = None  # kg/m^3, unstretched
    position: Vector = checks.ZERO  # (3,), m
    orientation: Vector = checks.IDENTITY  # (4,): unit quaternion w, x, y, z
    stretch: Vector = (1.0, 1.0, 1.0)  # (3,)
    velocity: Vector = checks.ZERO  # (3,), m/s
    angular_velocity: Vector = checks.ZERO  # (3,), rad/s
    stretch_rate: Vector = checks.ZERO  # (3,), 1/s
    stiffness: float = 0.0  # N m
    damping: float = 0.0  # N m s

    def __post_init__(self):
        super().__post_init__()
        _fill_deformable(self)
        self.orientation = checks.quaternion(self, "orientation", self.orientation)
        _check_vectors(self, "stretch", "angular_velocity", "stretch_rate")
        if self.stretch.min() <= 0.0:
            checks.fail(self, f"stretch is {checks.show(self.stretch)}", "give three numbers greater than 0")


@dataclass(eq=False, repr=False)
class AffineBody(Body):
    """A body whose points move affinely: point p lies at x + F p, with F the deformation.

    Mass, second_moment, stiffness and damping are as for ScalableBody.

    >>> from linkwork.elements import Box
    >>> AffineBody(mass=1.0, shape=Box(1, 1, 1), stiffness=10.0).deformation.shape
    (3, 3)
    """

    kind: ClassVar[str] = "affine"
    dim: ClassVar[int] = 12

    mass: Scalar = None  # kg
    second_moment: Matrix = None  # (3, 3), kg m^2
    shape: Shape | None = None
    density: Scalar = None  # kg/m^3, undeformed
    position: Vector = checks.ZERO  # (3,), m
    deformation: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # (3, 3): F
    velocity: Vector = checks.ZERO  # (3,), m/s
    deformation_rate: Matrix = ((0.0,) * 3,) * 3  # (3, 3), 1/s
    stiffness: float = 0.0  # N m
    damping: float = 0.0  # N m s

    def __post_init__(self):
        super().__post_init__()
        _fill_deformable(self)
        self.deformation = checks.matrix(self, "deformation", self.deformation)
        self.deformation_rate = checks.matrix(self, "deformation_rate", self.deformation_rate)
        volume = float(np.linalg.det(self.deformation))
        if volume <= 0.0:
            checks.fail(self, f"deformation has the determinant {volume:g}", "give a matrix with a positive one")


def _fill_massless(body):
    """Neither mass nor inertia: a shape has none then, and a density would say otherwise."""
    _check_shape(body, body.shape)
    if body.density is not None:
        checks.fail(body, f"mass is 0 but density is {checks.show(body.density)}", "leave one of them out")
    if body.inertia is None and body.shape is None:
        checks.fail(body, "mass is 0 but inertia is missing", "give inertia=(0, 0, 0) for a massless link, or a mass")
    if body.inertia is not None and np.any(checks.symmetric(body, "inertia", body.inertia)):
        problem = f"mass is 0 but inertia is {checks.show(body.inertia)}"
        checks.fail(body, problem, "give both, or neither for a massless link")
    body.mass, body.inertia = 0.0, np.zeros((3, 3))


def _check_shape(body, shape):
    if shape is not None and not isinstance(shape, Shape):
        checks.fail(body, f"shape is {checks.show(shape)}", "give a shape such as Box(0.4, 0.1, 0.1)")
    if shape is not None and not shape.solid:
        checks.fail(body, f"shape is {shape!r}, which only stands on the ground", "give a solid such as Box(0.4, 0.1, 0.1)")


def _fill_mass(body):
    """The mass as given, else that of the shape at the density."""
    shape, density = getattr(body, "shape", None), getattr(body, "density", None)
    _check_shape(body, shape)
    if density is not None:
        body.density = checks.positive(body, "density", density)
        if shape is None:
            checks.fail(body, f"density is {body.density:g} but there is no shape", "give shape= or leave density out")
    if body.mass is None and density is None:
        remedy = "give mass=, or shape= with density=" if hasattr(body, "shape") else "give mass= in kg"
        checks.fail(body, "mass is missing", remedy)
    given = body.shape.volume * body.density if body.mass is None else body.mass
    body.mass = checks.positive(body, "mass", given)


def _of_shape(body, field):
    """`inertia` or `second_moment` of the shape."""
    if body.shape is None:
        checks.fail(body, f"{field} is missing", f"give {field}= or shape=")
    return getattr(body.shape, field)(body.mass)


def _fill_moment(body, field, check):
    """The matrix `inertia` or `second_moment` as given, else that of the shape."""
    moment, sound = getattr(body, field), False
    if moment is None:
        moment = _of_shape(body, field)
        low, _, high = sorted(moment.diagonal().tolist())
        sound = checks.THIN * high < low and high <= checks.LARGEST  # what else a moment needs, that of a shape has
    setattr(body, field, moment if sound else check(body, field, moment))


def _fill_deformable(body):
    """What scalable and affine bodies share."""
    _fill_mass(body)
    _fill_moment(body, "second_moment", checks.moment)
    _check_vectors(body, "position", "velocity")
    body.stiffness = checks.non_negative(body, "stiffness", body.stiffness)
    body.damping = checks.non_negative(body, "damping", body.damping)


def _check_vectors(body, *names):
    for name in names:
        setattr(body, name, checks.vector(body, name, getattr(body, name)))


def _flatten(body):
    """Position and velocity in the plane: two numbers, or three whose out-of-plane one is zero."""
    checks.choice(body, "plane", body.plane, PLANES)
    first, second, normal = PLANES[body.plane]
    for name in ("position", "velocity"):
        value = getattr(body, name)
        if len(checks.entries(value) or ()) == 3:
            value = checks.vector(body, name, value)
            if value[normal] != 0.0:
                problem = f'{name} is {checks.show(value)}, out of the plane "{body.plane}"'
                checks.fail(body, problem, f"give {'xyz'[normal]} = 0 or the two coordinates in the plane")
            value = value[[first, second]]
        setattr(body, name, checks.vector(body, name, value, 2))
