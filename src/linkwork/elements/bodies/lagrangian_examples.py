"""Lagrangian bodies that are ready made: a double pendulum, a bead on a wire, a bending beam, a ball that squashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.bodies.lagrangian import LagrangianBody
from linkwork.elements.core import checks

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.util.array_types import Vector


PIVOT = (0.0, 0.0, 0.0)


def double_pendulum(
    lengths: Vector = (1.0, 1.0),
    masses: Vector = (1.0, 1.0),
    *,
    angles: Vector = (0.0, 0.0),
    rates: Vector = (0.0, 0.0),
    pivot: Vector = PIVOT,
    name: str | None = None,
) -> LagrangianBody:
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

    def places(u: SX) -> tuple[tuple[SX, float, SX], tuple[SX, float, SX]]:
        elbow = x + first * np.sin(u[0]), y, z - first * np.cos(u[0])
        return elbow, (elbow[0] + second * np.sin(u[1]), y, elbow[2] - second * np.cos(u[1]))

    return LagrangianBody(places, masses, coordinates=angles, rates=rates, name=name)


def bead_on_wire(
    curve: Callable[..., Any], mass: float = 1.0, *, at: float = 0.0, rate: float = 0.0, name: str | None = None
) -> LagrangianBody:
    """A bead that slides on a wire without friction: u is the parameter of the curve, a function of it that gives three
    expressions. As a body it leaves nothing to hold: its one freedom is u.

    >>> import linkwork as lw
    >>> helix = lw.bead_on_wire(lambda s: (lw.cos(s), lw.sin(s), 0.1 * s), 0.2, at=6.0)
    >>> helix.dim
    1
    """
    function = checks.function("bead_on_wire", "curve", curve, ("s",))
    return LagrangianBody(lambda u: (function(u),), (mass,), coordinates=(at,), rates=(rate,), name=name)


def bending_beam(
    length: float = 1.0,
    mass: float = 1.0,
    bending: float = 1.0,
    *,
    clamp: Vector = PIVOT,
    bent: Vector = (0.0, 0.0),
    rates: Vector = (0.0, 0.0),
    damping: float = 0.0,
    name: str | None = None,
) -> LagrangianBody:
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

    def place(u: SX, p: SX) -> tuple[SX, SX, SX]:
        s = p[0] / length
        return x + p[0], y + p[1], z + p[2] + u[0] * s**2 + u[1] * s**3

    def energy(u: SX) -> SX:  # E I / 2 times the integral of z''^2 over the length
        return bending / (2 * length**3) * (4 * u[0] ** 2 + 12 * u[0] * u[1] + 12 * u[1] ** 2)

    points = np.column_stack([along, np.zeros(4), np.zeros(4)])
    return LagrangianBody(place, 0.5 * mass * weights, points=points, coordinates=bent, rates=rates, energy=energy,
                          damping=damping, name=name)  # fmt: skip


def squashing_ball(radius: float = 0.5, mass: float = 1.0, stiffness: float = 100.0, *, position: Vector = PIVOT,
                   velocity: Vector = PIVOT, squash: float = 1.0, squash_rate: float = 0.0, damping: float = 0.0,
                   name: str | None = None) -> LagrangianBody:  # fmt: skip
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

    def place(u: SX, p: SX) -> tuple[SX, SX, SX]:
        wide = 1 / np.sqrt(u[3])
        return u[0] + wide * p[0], u[1] + wide * p[1], u[2] + u[3] * p[2]

    return LagrangianBody(place, np.full(6, mass / 6), points=points, coordinates=(*position, squash),
                          rates=(*velocity, squash_rate), energy=lambda u: 0.5 * stiffness * np.log(u[3]) ** 2,
                          damping=(0, 0, 0, checks.non_negative(who, "damping", damping)), name=name)  # fmt: skip
