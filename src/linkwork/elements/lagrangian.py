"""Bodies from a user's function: particles at q(u), where the coordinates u are all that can move (witkin97 section 5)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Scalar, Vector

PIVOT = (0.0, 0.0, 0.0)


@dataclass(eq=False, repr=False)
class LagrangianBody(Body):
    """Particles whose places are a function of the coordinates u: the rest is derived from it (witkin97 eqs. 12 and 13).

    `function` takes u, a column of n numbers, and gives the places of k particles, each three expressions in the world. With
    `points`, (k, 3), it takes u and p, and gives where the material point p is: then the particles are at these p, and
    constraints and forces may take hold of any other p. The function is made of numpy's or linkwork's sin, cos, ..., and
    may speak of Parameters. When one of these changes while running, u and u' stay as they are: points, their velocities
    and the mass are from then on those that the function gives.

    The particles have `masses` in kg; or a `density` in kg/m^3 each, and the `volumes` in m^3 that they stand for. One number
    stands for all of them. Particles without mass are places to take hold of; but all of u must move some mass.

    `energy`, if given, is a function of u: an elastic potential in joules. `damping` resists u' with the generalised force
    -damping u', one number or n.

    Constraints, forces and joints of points take hold of the particle k where they are given `body.point(k)` for a local point,
    and of the first one (or of p = 0) where they are given nothing; an `at` in the world finds the particle, or the p, that is
    there. It has no directions: what needs them is refused. Its `position` is that of the first particle, or of p = 0. What
    touches it are spheres around its points: Collider(body, Sphere(0.1), position=body.point(k)).

    A pendulum on a cart as one body, held by a spring:

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> cart = world.add(lw.LagrangianBody(lambda u: ((u[0], 0, 0), (u[0] + lw.sin(u[1]), 0, -lw.cos(u[1]))),
    ...                                    masses=(2.0, 1.0), coordinates=(0, 0.5), name="cart"))
    >>> world.add(lw.Spring(world.ground, cart, 50.0, on_a=(-1, 0, 0), rest=1.0, name="spring"))
    <Spring "spring">
    >>> sim = lw.Simulation(world)
    >>> start = sim.energy().total
    >>> sim.step(1000)
    >>> sim.point(cart, cart.point(1)).shape, bool(abs(sim.energy().total - start) < 1e-4)
    ((3,), True)
    """

    kind: ClassVar[str] = "lagrangian"
    FUNCTIONS: ClassVar[dict] = {"function": ("u",), "energy": ("u",)}

    function: Callable  # u (n) -> k places; or u, p (3) -> one
    masses: Any = None  # (k,), kg
    coordinates: Vector = field(default=None, kw_only=True)  # (n,), u as built
    rates: Vector = field(default=None, kw_only=True)  # (n,), u' as built; zero if not given
    points: Any = field(default=None, kw_only=True)  # (k, 3): where the particles are in the material
    density: Any = field(default=None, kw_only=True)  # (k,), kg/m^3
    volumes: Any = field(default=None, kw_only=True)  # (k,), m^3
    energy: Callable | None = field(default=None, kw_only=True)  # u -> J
    damping: Scalar = field(default=0.0, kw_only=True)  # (n,)

    def __post_init__(self):
        super().__post_init__()
        self.points = checks.optional(checks.rows, self, "points", self.points)
        self.function = checks.function(self, "function", self.function, self.arguments("function"))
        self.energy = checks.optional(checks.function, self, "energy", self.energy, ("u",))
        if self.coordinates is None:
            checks.fail(self, "coordinates are missing", "give coordinates=, the numbers u as built")
        self.coordinates = _column(self, "coordinates", self.coordinates)
        self.rates = _column(self, "rates", np.zeros(self.dim) if self.rates is None else self.rates, self.dim)
        self._fill_masses()
        self.damping = _column(self, "damping", self.damping, self.dim)
        if self.damping.min() < 0.0:
            checks.fail(self, f"damping is {checks.show(self.damping)}", "give numbers of at least 0")

    def _fill_masses(self):
        weighed = self.density is not None or self.volumes is not None
        if weighed and (self.masses is not None or self.density is None or self.volumes is None):
            checks.fail(self, "the masses are not given in one way", "give masses=, or density= with volumes=")
        if self.masses is None and not weighed:
            checks.fail(self, "masses are missing", "give masses= in kg, or density= with volumes=")
        size = None if self.points is None else len(self.points)
        if weighed:
            self.volumes = _column(self, "volumes", self.volumes, size)
            self.density = _column(self, "density", self.density, len(self.volumes))
            self.masses = self.density * self.volumes
        self.masses = _column(self, "masses", self.masses, size)
        if self.masses.min() < 0.0 or not self.masses.max() > 0.0:
            checks.fail(self, f"masses are {checks.show(self.masses)}", "give numbers of at least 0, some of them greater")

    @property
    def dim(self):  # type: ignore[override]
        """The number of coordinates."""
        return len(self.coordinates)

    @property
    def generalised(self):  # type: ignore[override]
        """The number of coordinates that users' functions may ask for: all of them."""
        return self.dim

    @property
    def mass(self):
        """Of all particles together (kg)."""
        return float(self.masses.sum())

    def arguments(self, where):
        return ("u", "p") if where == "function" and self.points is not None else ("u",)

    def sizes(self):
        return {"u": self.dim}

    def traced(self, where, size=None, sizes=None):
        size = {"energy": 1, "function": 3 if self.points is not None else 3 * len(self.masses)}[where]
        return super().traced(where, size, sizes)

    def point(self, k):
        """The local coordinates of the particle k, counted from 0: for on_a=, on_b= and at=.

        >>> rod = LagrangianBody(lambda u: ((u[0], 0, 0), (u[0], 0, 1)), 1.0, coordinates=(0,))
        Traceback (most recent call last):
        linkwork.errors.ElementError: LagrangianBody: masses is 1; give one number a particle, such as (1, 1)
        >>> rod = LagrangianBody(lambda u: ((u[0], 0, 0), (u[0], 0, 1)), (1.0, 2.0), coordinates=(0,))
        >>> rod.point(1)
        array([1., 0., 0.])
        """
        count = len(self.masses)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k < count:
            checks.fail(self, f"it has no particle {checks.show(k)}", f"give a number from 0 to {count - 1}")
        return np.array([k, 0.0, 0.0], dtype=float) if self.points is None else self.points[k].copy()


def _column(body, name, value, size=None):
    """(size,) finite numbers; a single number stands for all of them where the size is known."""
    given = checks.entries(value)
    if given is None:
        if size is None:
            checks.fail(body, f"{name} is {checks.show(value)}", "give one number a particle, such as (1, 1)"
                        if name != "coordinates" else "give a list of numbers such as (0, 1)")  # fmt: skip
        given = [value] * size
    found = np.array([checks.number(body, f"{name}[{k}]", x) for k, x in enumerate(given)])
    if not len(found) or (size is not None and len(found) != size):
        checks.fail(body, f"{name} has {len(found)} numbers", f"give {size or 'one'} of them")
    return found


def double_pendulum(lengths=(1.0, 1.0), masses=(1.0, 1.0), *, angles=(0.0, 0.0), rates=(0.0, 0.0), pivot=PIVOT, name=None):
    """Two particles on massless rods in the plane y = pivot[1], as one body: u are the angles of both rods from below (rad).

    >>> import linkwork as lw
    >>> body = lw.double_pendulum(angles=(0.3, 0.5), name="arms")
    >>> body.dim, len(body.masses)
    (2, 2)
    """
    x, y, z = checks.vector("double_pendulum", "pivot", pivot).tolist()
    first, second = checks.vector("double_pendulum", "lengths", lengths, 2).tolist()
    for length in (first, second):
        checks.positive("double_pendulum", "lengths", length)

    def places(u):
        elbow = x + first * np.sin(u[0]), y, z - first * np.cos(u[0])
        return elbow, (elbow[0] + second * np.sin(u[1]), y, elbow[2] - second * np.cos(u[1]))

    return LagrangianBody(places, masses, coordinates=angles, rates=rates, name=name)


def bead_on_wire(curve, mass=1.0, *, at=0.0, rate=0.0, name=None):
    """A bead that slides on a wire without friction: u is the parameter of the curve, a function of it that gives three
    expressions. As a body it leaves nothing to hold: its one freedom is u.

    >>> import linkwork as lw
    >>> helix = lw.bead_on_wire(lambda s: (lw.cos(s), lw.sin(s), 0.1 * s), 0.2, at=6.0)
    >>> helix.dim
    1
    """
    function = checks.function("bead_on_wire", "curve", curve, ("s",))
    return LagrangianBody(lambda u: (function(u),), (mass,), coordinates=(at,), rates=(rate,), name=name)


def bending_beam(length=1.0, mass=1.0, bending=1.0, *, clamp=PIVOT, bent=(0.0, 0.0), rates=(0.0, 0.0), damping=0.0, name=None):
    """A beam clamped at one end, along x, that bends up and down (z): u are the weights (m) of its two shapes (s/l)^2 and
    (s/l)^3, with s the way from the clamp and l the length. `bending` is its stiffness E I in N m^2; p[0] is s.

    Cubic polynomials hold what a force at its end does to it exactly: the end sinks by F l^3 / (3 E I).

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, 0))
    >>> beam = world.add(lw.bending_beam(2.0, 1.0, 40.0, damping=2.0, name="beam"))
    >>> world.add(lw.Wrench(beam, force=(0, 0, -3.0), at=(2.0, 0, 0), name="load"))
    <Wrench "load">
    >>> sim = lw.Simulation(world, dt=0.02, solver="implicit")
    >>> sim.step(1000)
    >>> float(sim.point(beam, (2.0, 0, 0))[2].round(6)), round(-3.0 * 2.0**3 / (3 * 40.0), 6)
    (-0.2, -0.2)
    """
    who = "bending_beam"
    x, y, z = checks.vector(who, "clamp", clamp).tolist()
    length, mass = checks.positive(who, "length", length), checks.positive(who, "mass", mass)
    bending = checks.positive(who, "bending", bending)
    nodes, weights = np.polynomial.legendre.leggauss(4)  # exact for the squares of cubic polynomials
    along = 0.5 * length * (1 + nodes)

    def place(u, p):
        s = p[0] / length
        return x + p[0], y + p[1], z + p[2] + u[0] * s**2 + u[1] * s**3

    def energy(u):  # E I / 2 times the integral of z''^2 over the length
        return bending / (2 * length**3) * (4 * u[0] ** 2 + 12 * u[0] * u[1] + 12 * u[1] ** 2)

    points = np.column_stack([along, np.zeros(4), np.zeros(4)])
    return LagrangianBody(place, 0.5 * mass * weights, points=points, coordinates=bent, rates=rates, energy=energy,
                          damping=damping, name=name)  # fmt: skip


def squashing_ball(radius=0.5, mass=1.0, stiffness=100.0, *, position=PIVOT, velocity=PIVOT, squash=1.0, squash_rate=0.0,
                   damping=0.0, name=None):  # fmt: skip
    """A ball that keeps its volume while it is squashed and stretched along z: it is s times as high and 1/sqrt(s) times as
    wide. u are its position (3, m) and s; it does not turn. `stiffness` in joules: its energy is that times (ln s)^2 / 2.
    p is a place in the ball before it is squashed, from its centre.

    >>> import linkwork as lw
    >>> ball = lw.squashing_ball(0.5, squash=0.8, name="ball")
    >>> world = lw.World(gravity=(0, 0, 0))
    >>> sim = lw.Simulation([world, world.add(ball)][0])
    >>> sim.point(ball, (0, 0, 0.5)).tolist(), bool(sim.point(ball, (0.5, 0, 0))[0] > 0.55)
    ([0.0, 0.0, 0.4], True)
    """
    who = "squashing_ball"
    radius, mass = checks.positive(who, "radius", radius), checks.positive(who, "mass", mass)
    stiffness, squash = checks.non_negative(who, "stiffness", stiffness), checks.positive(who, "squash", squash)
    position, velocity = checks.vector(who, "position", position), checks.vector(who, "velocity", velocity)
    out = radius * np.sqrt(0.6)  # six equal masses there have the moments of a full ball
    points = out * np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])

    def place(u, p):
        wide = 1 / np.sqrt(u[3])
        return u[0] + wide * p[0], u[1] + wide * p[1], u[2] + u[3] * p[2]

    return LagrangianBody(place, np.full(6, mass / 6), points=points, coordinates=(*position, squash),
                          rates=(*velocity, squash_rate), energy=lambda u: 0.5 * stiffness * np.log(u[3]) ** 2,
                          damping=(0, 0, 0, checks.non_negative(who, "damping", damping)), name=name)  # fmt: skip
