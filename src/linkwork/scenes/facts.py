"""What is known of motions by other means: energy and momentum as built, the pendulum, rods in a plane.

Positions and angles are compared as numbers; `Fact.tolerance` suits the step that the scene suggests.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import RigidBody
from linkwork.scenes.layout import matrix
from linkwork.scenes.registry import Fact

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray, Vector
    from linkwork.world import World


def point(what: str, found: FloatArray, expected: Vector, tolerance: float) -> list[Fact]:
    """Three facts, one a coordinate."""
    return [
        Fact(f"{axis} of {what}, m", float(f), float(e), tolerance) for axis, f, e in zip("xyz", found, expected, strict=True)
    ]


def energy(sim: Simulation, world: World, tolerance: float) -> Fact:
    """The total energy is that of the world as built: particles and rigid bodies, nothing that does work."""
    expected = 0.0
    bodies: list[Any] = list(world.bodies)
    for body in bodies:
        expected += body.mass * (0.5 * body.velocity @ body.velocity - world.gravity @ body.position)
        if isinstance(body, RigidBody):
            spin = matrix(body.orientation).T @ body.angular_velocity
            expected += 0.5 * spin @ body.inertia @ spin
    return Fact("energy, J", float(sim.energy().total), float(expected), tolerance)


def angular_momentum(bodies: list[tuple[float, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]]) -> FloatArray:
    """(3,), kg m^2/s, about the origin, of (mass, inertia, position, orientation, velocity, angular velocity) each."""
    total = np.zeros(3)
    for mass, inertia, x, q, v, w in bodies:
        turned = matrix(np.asarray(q))
        total += mass * np.cross(x, v) + turned @ inertia @ turned.T @ np.asarray(w)
    return total


def pendulum_angle(frequency: float, amplitude: float, time: float) -> float:
    """rad: the angle from the lowest point, let go at `amplitude`; frequency (rad/s) is that of small swings.

    sin(angle / 2) = k cd(frequency t | k^2) with k = sin(amplitude / 2).
    """
    from scipy.special import ellipj

    k = math.sin(amplitude / 2)
    _, cn, dn, _ = ellipj(frequency * time, k * k)
    return 2 * math.asin(k * cn / dn)


def rod_angles(
    angles: tuple[float, ...], mass: float, length: float, inertia: float, gravity: float, time: float
) -> FloatArray:
    """(n,), rad below the horizontal: equal rods end to end, hung at the first end, let go at rest at `angles`.

    Lagrange's equations; M_ij counts the rods beyond both joints (docs/papers-errata.md, section 4). inertia is a rod's own,
    about its centre.
    """
    from scipy.integrate import solve_ivp

    n = len(angles)
    below = n - 0.5 - np.arange(n)  # how many rods' weight each rod carries, its own by half
    M = mass * length**2 * np.minimum.outer(below, below)
    M[np.diag_indices(n)] = mass * length**2 * (below - 0.25) + inertia

    def rate(_: float, y: FloatArray) -> FloatArray:
        a, w = y[:n], y[n:]
        apart = a[:, None] - a[None, :]
        force = mass * gravity * length * below * np.cos(a) - (M * np.sin(apart)) @ w**2
        found: FloatArray = np.r_[w, np.linalg.solve(M * np.cos(apart), force)]
        return found

    start = np.r_[angles, np.zeros(n)]
    if time == 0.0:
        result: FloatArray = start[:n]
        return result
    found: FloatArray = solve_ivp(rate, (0.0, time), start, method="DOP853", rtol=1e-11, atol=1e-11).y[:n, -1]
    return found
