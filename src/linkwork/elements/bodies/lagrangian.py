"""Bodies from a user's function q(u) (witkin97 section 5): all that mechanics needs of them, derived.

With the particles x = q(u), their masses m and J = dq/du (eq. 12), J' u' the bias of the particles,

    mass  J^T m J        inertial force  -J^T m J' u'        generalised force of a pull f on a particle  J^T f    (eq. 13)

An implicit step asks for J1^T m (J1 v1 - J0 v0) of momentum: what its tangent needs of q are second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.element import Body
from linkwork.elements.core.field_types import (
    FilledVectorField,
    NumbersField,
    OptionalMatrixField,
    OptionalNumbersField,
    default,
)
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.placement import Poses
from linkwork.elements.core.registry import kind_of
from linkwork.elements.core.traced import Traced
from linkwork.elements.core.units import Quantity
from linkwork.symbolic import blocks
from linkwork.symbolic.views import Primitive

if TYPE_CHECKING:
    from linkwork.elements.core.element import Pose
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.views import View
    from linkwork.util.array_types import FloatArray


NAME = "LagrangianBody"
LOST = 1e-10  # of the mass along a coordinate as built: what must be left of it once the coordinates before it are held
_KNOWN: dict[str, Lagrangian] = {}


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
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"points": (), "damping": ()}
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"function": ("u",), "energy": ("u",)}

    function: Callable[..., Any]  # u (n) -> k places; or u, p (3) -> one
    masses: FilledVectorField = default(None)  # (k,), kg
    coordinates: FilledVectorField = field(default=default(None), kw_only=True)  # (n,), u as built
    rates: FilledVectorField = field(default=default(None), kw_only=True)  # (n,), u' as built; zero if not given
    points: OptionalMatrixField = field(default=default(None), kw_only=True)  # (k, 3): where the particles are in the material
    density: OptionalNumbersField = field(default=default(None), kw_only=True)  # (k,), kg/m^3
    volumes: OptionalNumbersField = field(default=default(None), kw_only=True)  # (k,), m^3
    energy: Callable[..., Any] | None = field(default=None, kw_only=True)  # u -> J
    damping: NumbersField = field(default=default(0.0), kw_only=True)  # (n,)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.points = checks.optional(checks.rows, self, "points", self.points)
        self.function = checks.function(self, "function", self.function, self.arguments("function"))
        self.energy = checks.optional(checks.function, self, "energy", self.energy, ("u",))
        if self.coordinates is None:
            checks.fail(self, "coordinates are missing", "give coordinates=, the numbers u as built")
        self.coordinates = column(self, "coordinates", self.coordinates)
        self.rates = column(self, "rates", np.zeros(self.dim) if self.rates is None else self.rates, self.dim)
        self._fill_masses()
        self.damping = column(self, "damping", self.damping, self.dim)
        if self.damping.min() < 0.0:
            checks.fail(self, f"damping is {checks.show(self.damping)}", "give numbers of at least 0")

    def _fill_masses(self) -> None:
        weighed = self.density is not None or self.volumes is not None
        if weighed and (self.masses is not None or self.density is None or self.volumes is None):
            checks.fail(self, "the masses are not given in one way", "give masses=, or density= with volumes=")
        if self.masses is None and not weighed:
            checks.fail(self, "masses are missing", "give masses= in kg, or density= with volumes=")
        size = None if self.points is None else len(self.points)
        if weighed:
            self.volumes = column(self, "volumes", self.volumes, size)
            self.density = column(self, "density", self.density, len(self.volumes))
            self.masses = self.density * self.volumes
        self.masses = column(self, "masses", self.masses, size)
        if self.masses.min() < 0.0 or not self.masses.max() > 0.0:
            checks.fail(self, f"masses are {checks.show(self.masses)}", "give numbers of at least 0, some of them greater")

    @property
    def dim(self) -> int:  # type: ignore[override]
        """The number of coordinates."""
        return len(self.coordinates)

    @property
    def generalised(self) -> int:  # type: ignore[override]
        """The number of coordinates that users' functions may ask for: all of them."""
        return self.dim

    @property
    def mass(self) -> float:
        """Of all particles together (kg)."""
        return float(self.masses.sum())

    def follows(self, name: str) -> bool:
        return name == "masses" and self.volumes is not None

    def arguments(self, where: str) -> tuple[str, ...]:
        return ("u", "p") if where == "function" and self.points is not None else ("u",)

    def sizes(self) -> dict[str, int | None]:
        return {"u": self.dim}

    def traced(self, where: str, size: int | None = None, sizes: Mapping[str, int | None] | None = None) -> Traced:
        size = {"energy": 1, "function": 3 if self.points is not None else 3 * len(self.masses)}[where]
        return super().traced(where, size, sizes)

    def point(self, k: int) -> FloatArray:
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


def column(body: LagrangianBody, name: str, value: Any, size: int | None = None) -> FloatArray:
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


@kind_of(LagrangianBody)
class Lagrangian(BodyKind):
    """n: coordinates u | their rates. One for each function of users."""

    directions = framed = False
    users_function = True
    constants = ("user",)
    collapses = True
    implicit_drift = generalised = True
    may_be_flat = True

    def __init__(self, traced: Traced, energy: Traced | None, n: int, particles: int) -> None:
        self.traced, self.energy, self.particles = traced, energy, particles
        self.nq = self.nv = n
        self.numbered = len(traced.arguments) == 1  # points are particles, named by their numbers
        self.name = name_of(traced, energy, n, particles)
        self.elastic = energy is not None
        places = {} if self.numbered else {"points": 3 * particles}
        self.split = len(traced.parameters)  # of the numbers of Parameters: those of the function, then those of the energy
        self.user = self.split + (0 if energy is None else len(energy.parameters))
        self.record = self.layout(0, None, masses=particles, **places, friction=n, built=n, user=self.user)

    # -- the function ----------------------------------------------------------------------------------------
    def places(self, u: SX, points: SX | None, user: SX) -> SX:
        """(3 k,): the particles; `points` (3 k,) where they are in the material, if that has places; `user`: the numbers of
        Parameters."""
        used = user[: self.split]
        if self.numbered or points is None:
            return self.traced.function(u, used)
        return ca.vertcat(*[self.traced.function(u, points[3 * k : 3 * k + 3], used) for k in range(self.particles)])

    def place(self, u: SX, local: SX, user: SX) -> SX:
        """(3,): a point of the body. Numbered ones are chosen by their number."""
        if not self.numbered:
            return self.traced.function(u, local, user[: self.split])
        every = self.places(u, None, user)
        return sum((ca.if_else(local[0] == k, every[3 * k : 3 * k + 3], 0) for k in range(self.particles)), SX(3, 1))

    @cached_property
    def _derived(self) -> ca.Function:
        """(u, u', points, numbers of Parameters) -> the particles, J (3 k, n), J' u'."""
        sizes = {"u": self.nq, "rate": self.nq, "points": 3 * self.particles, "user": self.user}
        u, rate, points, user = (SX.sym(name, n) for name, n in sizes.items())
        value = self.places(u, points, user)
        J = ca.jacobian(value, u)
        return ca.Function("particles", [u, rate, points, user], [value, J, ca.jtimes(J @ rate, u, rate)])

    @cached_property
    def at(self) -> ca.Function:
        """(u, u', local, numbers of Parameters) -> value, jacobian, rate and bias of a point."""
        sizes = {"u": self.nq, "rate": self.nq, "local": 3, "user": self.user}
        u, rate, local, user = (SX.sym(name, n) for name, n in sizes.items())
        value = self.place(u, local, user)
        J = ca.jacobian(value, u)
        bias = ca.jtimes(J @ rate, u, rate)
        return ca.Function("point", [u, rate, local, user], [ca.densify(x) for x in (value, J, J @ rate, bias)])

    def _particles(self, view: View) -> tuple[SX, SX, SX, SX]:
        """Masses (3 k,), each three times; places, J and bias of the particles."""
        masses, points = view.field("masses"), SX(3 * self.particles, 1) if self.numbered else view.field("points")
        return ca.kron(masses, SX.ones(3, 1)), *self._derived(view.q, view.v, points, view.field("user"))

    # -- mechanics -------------------------------------------------------------------------------------------
    def mass(self, view: View) -> SX:
        m, _, J, _ = self._particles(view)
        return blocks.symmetric(blocks.lower(J.T @ (m * J)), self.nv)

    def inertial(self, view: View) -> SX:
        m, _, J, bias = self._particles(view)
        return -J.T @ (m * bias)

    def momentum_change(self, view: View, before: View, h: SX) -> SX:
        m, _, J, _ = self._particles(view)
        _, _, J0, _ = self._particles(before)
        return J.T @ (m * (J @ view.v - J0 @ before.v))

    def weight(self, view: View, gravity: SX) -> SX:
        m, _, J, _ = self._particles(view)
        force = J.T @ (m * ca.repmat(gravity, self.particles, 1)) - view.field("friction") * view.v
        if self.energy is not None:
            [gradient, _] = self._elastic(view)
            force -= gradient
        return force

    def _elastic(self, view: View) -> list[SX]:
        """Gradient and second derivatives of the elastic energy."""
        assert self.energy is not None
        u = SX.sym("u", self.nq)
        energy = self.energy.function(u, view.field("user")[self.split :])
        second, gradient = ca.hessian(energy, u)
        return ca.substitute([gradient, second], [u], [view.q])

    def elasticity(self, view: View) -> tuple[SX, SX]:
        """Second derivatives of the energy, raised by what their rows lack of diagonal dominance."""
        [_, second] = self._elastic(view)
        lacking = [ca.sum2(ca.fabs(second[k, :])) - ca.fabs(second[k, k]) - second[k, k] for k in range(self.nq)]
        return second + ca.diag(ca.vertcat(*[ca.fmax(0, x) for x in lacking])), ca.diag(view.field("friction"))

    def potential(self, view: View, gravity: SX) -> SX:
        m, x, _, _ = self._particles(view)
        energy = -ca.dot(m * ca.repmat(gravity, self.particles, 1), x)
        return energy if self.energy is None else energy + self.energy.function(view.q, view.field("user")[self.split :])

    def volume(self, view: View) -> SX:
        """The least part that is left of the mass as built along a coordinate, once those before it are held."""
        M = self.mass(view)
        _, reciprocal = blocks.ldl(M)
        least = SX(np.inf)
        for k in range(self.nv):
            least = ca.fmin(least, 1 / reciprocal[k] - LOST * ca.fmax(M[k, k], view.field("built")[k]))
        return least

    def coordinates(self, view: View) -> Primitive:
        return Primitive(view.q, SX.eye(self.nv), view.v, SX(self.nv, 1))

    def point(self, view: View, local: SX) -> Primitive:
        return Primitive(*self.at(view.q, view.v, SX(local), view.field("user")))

    # -- numbers ---------------------------------------------------------------------------------------------
    def located(self, q: FloatArray, v: FloatArray, local: FloatArray, *constants: FloatArray) -> list[FloatArray]:
        """Value (k, 3), jacobian (k, 3, n), rate (k, 3) and bias (k, 3) of points of k bodies, or of k states of one;
        the constants are the numbers of Parameters, a row each."""
        found = self.at(q.T, v.T, local.T, constants[0].T)
        value, J, *rest = [np.array(x.full().T) for x in found]
        J = np.array(found[1].full()).reshape(3, len(value), self.nq).transpose(1, 0, 2)
        return [value, J, *rest]

    def mass_matrix(self, body: LagrangianBody, u: FloatArray, user: FloatArray) -> FloatArray:
        """J^T m J (n, n) at u."""
        points = np.zeros(3 * self.particles) if body.points is None else body.points.ravel()
        J = self._derived(u, np.zeros(self.nv), points, user)[1].full()
        found: FloatArray = J.T @ (np.repeat(body.masses, 3)[:, None] * J)
        return found

    def rank_left(self, body: LagrangianBody, fields: Mapping[str, FloatArray]) -> float:
        scale = np.sqrt(fields["built"])
        M = self.mass_matrix(body, fields["q"], fields["user"]) / np.outer(scale, scale)
        return float(np.linalg.eigvalsh(M)[0]) if np.isfinite(M).all() else 0.0

    @property
    def read_rates(self) -> tuple[Quantity, ...]:
        return tuple(Quantity(f"rate {k}", "") for k in range(self.nv))

    def unknown_point(self, local: FloatArray) -> str | None:
        known = np.isfinite(local).all() if not self.numbered else not local[1:].any() and local[0] in range(self.particles)
        return None if known else f"name one by its point(k), k from 0 to {self.particles - 1}"

    def placement(self, bodies: Sequence[Any]) -> Placement:
        from linkwork.elements.bodies.lagrangian_placement import LagrangianPlacement

        return LagrangianPlacement(self, bodies)

    def unturned(self, q: FloatArray) -> FloatArray:
        return np.zeros_like(q)

    def probes(self, body: Any) -> list[FloatArray]:
        return [body.point(k) for k in range(self.particles)]

    def written(
        self, batch: Any, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray, velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Where its points are, its coordinates say."""
        return q, v

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        found = Poses.blank(len(q))
        found.position[:], _, found.velocity[:], _ = self.located(q, v, np.zeros((len(q), 3)), *constants)
        return found

    def build_at(self, body: Any, pose: Pose) -> None:
        vars(body)["coordinates"] = pose.coordinates

    def include_at(self, body: Any, move: Any) -> str | None:
        return "its function gives places in the world"

    @classmethod
    def of(cls, body: Any) -> Lagrangian:
        """The same for equal functions."""
        traced, energy = body.traced("function"), None if body.energy is None else body.traced("energy")
        key = name_of(traced, energy, body.dim, len(body.masses))
        if key not in _KNOWN:
            _KNOWN[key] = cls(traced, energy, body.dim, len(body.masses))
        return _KNOWN[key]


def name_of(traced: Traced, energy: Traced | None, n: int, particles: int) -> str:
    functions = ":".join(function.digest[:24] for function in (traced, energy) if function is not None)
    return f"{NAME}-{n}-{particles}-{functions}"


def parameters_of(body: LagrangianBody) -> list[Parameter]:
    """The Parameters that its functions speak of, in the order of their numbers in its record."""
    return [p for where in ("function", "energy") if getattr(body, where) is not None for p in body.traced(where).parameters]
