"""What is known of motions by other means: energy and momentum as built, the pendulum, rods in a plane.

Positions and angles are compared as numbers; `Fact.tolerance` suits the step that the scene suggests.
"""

import math

import numpy as np

from linkwork.elements import RigidBody
from linkwork.scenes.layout import matrix
from linkwork.scenes.registry import Fact


def point(what, found, expected, tolerance):
    """Three facts, one a coordinate."""
    return [
        Fact(f"{axis} of {what}, m", float(f), float(e), tolerance) for axis, f, e in zip("xyz", found, expected, strict=True)
    ]


def energy(sim, world, tolerance):
    """The total energy is that of the world as built: particles and rigid bodies, nothing that does work."""
    expected = 0.0
    for body in world.bodies:
        expected += body.mass * (0.5 * body.velocity @ body.velocity - world.gravity @ body.position)
        if isinstance(body, RigidBody):
            spin = matrix(body.orientation).T @ body.angular_velocity
            expected += 0.5 * spin @ body.inertia @ spin
    return Fact("energy, J", float(sim.energy().total), float(expected), tolerance)


def angular_momentum(bodies):
    """(3,), kg m^2/s, about the origin, of (mass, inertia, position, orientation, velocity, angular velocity) each."""
    total = np.zeros(3)
    for mass, inertia, x, q, v, w in bodies:
        turned = matrix(np.asarray(q))
        total += mass * np.cross(x, v) + turned @ inertia @ turned.T @ np.asarray(w)
    return total


def pendulum_angle(frequency, amplitude, time):
    """rad: the angle from the lowest point, let go at `amplitude`; frequency (rad/s) is that of small swings.

    sin(angle / 2) = k cd(frequency t | k^2) with k = sin(amplitude / 2).
    """
    from scipy.special import ellipj

    k = math.sin(amplitude / 2)
    _, cn, dn, _ = ellipj(frequency * time, k * k)
    return 2 * math.asin(k * cn / dn)


def rod_angles(angles, mass, length, inertia, gravity, time):
    """(n,), rad below the horizontal: equal rods end to end, hung at the first end, let go at rest at `angles`.

    Lagrange's equations; M_ij counts the rods beyond both joints (docs/papers-errata.md, section 4). inertia is a rod's own,
    about its centre.
    """
    from scipy.integrate import solve_ivp

    n = len(angles)
    below = n - 0.5 - np.arange(n)  # how many rods' weight each rod carries, its own by half
    M = mass * length**2 * np.minimum.outer(below, below)
    M[np.diag_indices(n)] = mass * length**2 * (below - 0.25) + inertia

    def rate(_, y):
        a, w = y[:n], y[n:]
        apart = a[:, None] - a[None, :]
        force = mass * gravity * length * below * np.cos(a) - (M * np.sin(apart)) @ w**2
        return np.r_[w, np.linalg.solve(M * np.cos(apart), force)]

    start = np.r_[angles, np.zeros(n)]
    if time == 0.0:
        return start[:n]
    return solve_ivp(rate, (0.0, time), start, method="DOP853", rtol=1e-11, atol=1e-11).y[:n, -1]
