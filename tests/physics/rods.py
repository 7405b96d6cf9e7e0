"""Pendulums of slender rods, which several tests of closed forms share."""

import math

import numpy as np
import pytest

import linkwork as lw

G = 9.81
solvers = pytest.mark.parametrize("solver", ["tree", "fronts", "dense"])


def slender(mass, length, position, turned=0.0, kind="rigid", **rest):
    """A rod along its own x axis, turned right-handed about +y."""
    inertia = mass * length**2 / 12
    if kind == "planar":
        return lw.PlanarBody(mass=mass, inertia=inertia, position=(position[0], position[2]), angle=turned, **rest)
    spin = (0, rest.pop("angular_velocity", 0.0), 0)
    quaternion = (math.cos(turned / 2), 0, math.sin(turned / 2), 0)
    moments = np.array([1e-3 * inertia, inertia, inertia])
    return lw.RigidBody(mass, moments, position=position, orientation=quaternion, angular_velocity=spin, **rest)


def rods(angles, rates, mass, length, kind, joint=lw.Hinge):
    """A pendulum of rods that hang from the origin; angles from straight down, towards +x."""
    world = lw.World(gravity=(0, 0, -G))
    end, end_rate = np.zeros(3), np.zeros(3)
    before = world.ground
    for k, (angle, rate) in enumerate(zip(angles, rates, strict=True)):
        along = np.array([math.sin(angle), 0, -math.cos(angle)])
        change = rate * np.array([math.cos(angle), 0, math.sin(angle)])
        velocity = end_rate + change * length / 2
        velocity = velocity[[0, 2]] if kind == "planar" else velocity
        # the rod's x axis points along it: down is a right-handed quarter turn about y, towards +x is less
        body = slender(mass, length, end + along * length / 2, math.pi / 2 - angle, kind, name=f"rod{k}",
                       velocity=velocity, angular_velocity=-rate)  # fmt: skip
        world.add(body)
        axis = {} if joint is lw.Ball else {"axis": (0, 1, 0)}
        world.add(joint(before, body, at=end, name=f"pin{k}", **axis))
        end, end_rate, before = end + along * length, end_rate + change * length, body
    return world
