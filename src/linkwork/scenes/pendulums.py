"""One or two rods, and a top: motions known in closed form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Ball, Disc, Hinge, RigidBody
from linkwork.elements.core import checks
from linkwork.scenes import facts
from linkwork.scenes.layout import rod, turn
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation


GRAVITY = 9.81  # m/s^2


def _pendulum_facts(sim: Simulation, *, length: float, mass: float, radius: float, angle: float) -> list[Fact]:
    rod_ = pendulum(length=length, mass=mass, radius=radius, angle=angle).find("rod")
    frequency = math.sqrt(mass * GRAVITY * length / 2 / (rod_.inertia[0, 0] + mass * length**2 / 4))
    expected = facts.pendulum_angle(frequency, angle, sim.time) - angle
    return [Fact("angle of the pendulum since its start, rad", float(sim.angle("pivot")), expected, 1e-4)]


@scene("pendulum", seconds=5.0, facts=_pendulum_facts)
def pendulum(*, length: float = 1.0, mass: float = 1.0, radius: float = 0.03, angle: float = math.pi / 2) -> World:
    """A rod on a hinge, let go at an angle: the elliptic integral of the first kind.

    length m, mass kg, radius m; angle (rad) from the lowest position, less than pi.
    """
    if not abs(angle) < math.pi:
        checks.fail('Scene "pendulum"', f"angle is {angle:g}", "give an angle between -pi and pi")
    world = World(gravity=(0, 0, -GRAVITY))
    end = (length * math.sin(angle), 0, -length * math.cos(angle))
    world.add(rod((0, 0, 0), end, radius, mass, name="rod"))
    world.add(Hinge(world.ground, "rod", at=(0, 0, 0), axis=(0, -1, 0), name="pivot"))
    return world


def _double_pendulum_facts(
    sim: Simulation, *, length: float, mass: float, radius: float, first: float, second: float
) -> list[Fact]:
    upper = double_pendulum(length=length, mass=mass, radius=radius, first=first, second=second).find("upper")
    expected = facts.rod_angles((first, second), mass, length, upper.inertia[0, 0], GRAVITY, sim.time)
    found = [sim.angle("shoulder") + first, sim.angle("shoulder") + sim.angle("elbow") + second]
    return [
        Fact(f"angle of the {name} rod below the horizontal, rad", float(f), float(e), 2e-3)
        for name, f, e in zip(("upper", "lower"), found, expected, strict=True)
    ]


@scene("double-pendulum", seconds=5.0, facts=_double_pendulum_facts)
def double_pendulum(
    *, length: float = 0.5, mass: float = 1.0, radius: float = 0.02, first: float = 0.0, second: float = 0.0
) -> World:
    """Two equal rods on hinges, let go at rest: checked against Lagrange's equations.

    length m, mass kg, radius m of each; first and second (rad): their angles below the horizontal.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    start = np.zeros(3)
    for name, angle in (("upper", first), ("lower", second)):
        end = start + length * np.array([math.cos(angle), 0, -math.sin(angle)])
        world.add(rod(start, end, radius, mass, name=name))
        if name == "lower":
            world.add(Hinge("upper", "lower", at=start, axis=(0, 1, 0), name="elbow"))
        else:
            world.add(Hinge(world.ground, "upper", at=start, axis=(0, 1, 0), name="shoulder"))
        start = end
    return world


def _precession(top: RigidBody, height: float, tilt: float, spin: float) -> float:
    """rad/s: the slow root W of I1 W^2 cos(tilt) - I3 spin W + m g height = 0, I1 about the foot."""
    I1, I3 = top.inertia[0, 0] + top.mass * height**2, top.inertia[2, 2]
    square = (I3 * spin) ** 2 - 4 * I1 * math.cos(tilt) * top.mass * GRAVITY * height
    if square < 0 or spin == 0:
        checks.fail('Scene "top"', f"spin {spin:g} rad/s is too slow to stand at tilt {tilt:g}", "give a faster spin")
    found: float = 2 * top.mass * GRAVITY * height / (I3 * spin + math.copysign(math.sqrt(square), spin))
    return found


def _top_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    body = top(**parameters).find("top")
    height, tilt = parameters["height"], parameters["tilt"]
    angle = _precession(body, height, tilt, parameters["spin"]) * sim.time
    radius = height * math.sin(tilt)
    expected = (radius * math.cos(angle), radius * math.sin(angle), height * math.cos(tilt))
    return facts.point("the top's centre", sim.position("top"), expected, 1e-4)


@scene("top", dt=5e-4, seconds=5.0, facts=_top_facts)
def top(
    *,
    mass: float = 0.5,
    radius: float = 0.15,
    thickness: float = 0.02,
    height: float = 0.1,
    tilt: float = 0.4,
    spin: float = 40.0,
) -> World:
    """A heavy top in steady precession about the vertical.

    mass kg, radius and thickness m of its disc, height m of the disc above the foot; tilt (rad) of the axle from the
    vertical; spin (rad/s): the whole angular velocity along the axle.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    axle = np.array([math.sin(tilt), 0, math.cos(tilt)])
    disc = Disc(radius, thickness)
    body = RigidBody(mass=mass, shape=disc, position=height * axle, orientation=turn((0, 1, 0), tilt), name="top")
    W = _precession(body, height, tilt, spin)
    upward = np.array([0, 0, 1]) - math.cos(tilt) * axle  # the part of the vertical across the axle
    body.angular_velocity = spin * axle + W * upward
    body.velocity = np.cross(body.angular_velocity, body.position)
    world.add(body)
    world.add(Ball(world.ground, "top", at=(0, 0, 0), name="foot"))
    return world
