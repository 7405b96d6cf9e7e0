"""Driven shafts: a governor with two flying weights, and a universal joint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Ball, Box, Cylinder, Drive, Hinge, Particle, PointOnLine, RigidBody, Universal
from linkwork.elements.core import checks
from linkwork.scenes.layout import rod, turn, whirl
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation


GRAVITY = 9.81  # m/s^2
OFFSET = 0.05  # m: from the governor's axle to the pivots of its arms


def _governor_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    arm = governor(**parameters).find("arm-left")
    angle, rate, length, weight = (parameters[k] for k in ("angle", "rate", "length", "weight"))
    across, axial = arm.inertia[0, 0], arm.inertia[2, 2]

    def jacobi(th: float, speed: float) -> float:
        """J: kinetic energy of the arm's own swing, less gravity's and the centrifugal force's work."""
        swing = 0.5 * (across + arm.mass * length**2 / 4 + weight * length**2) * speed**2
        fall = GRAVITY * math.cos(th) * length * (arm.mass / 2 + weight)
        out = arm.mass * (OFFSET + length / 2 * math.sin(th)) ** 2 + weight * (OFFSET + length * math.sin(th)) ** 2
        found: float = swing - fall - 0.5 * rate**2 * (out + axial * math.cos(th) ** 2 + across * math.sin(th) ** 2)
        return found

    expected = jacobi(angle, 0.0)
    return [
        Fact(f"Jacobi's integral of the {side} arm, J",
             jacobi(angle + float(sim.angle(side)), float(sim.rate(side))), expected, 1e-4 * abs(expected))
        for side in ("left", "right")
    ]  # fmt: skip


@scene("governor", seconds=5.0, facts=_governor_facts)
def governor(*, rate: float = 7.0, angle: float = 0.3, length: float = 0.4, mass: float = 0.2, weight: float = 1.0) -> World:
    """A shaft driven at a steady rate, with two hinged arms that fly outwards, a weight at the end of each.

    rate (rad/s) of the shaft; angle (rad) of the arms from the vertical as built, at rest on the turning shaft; length
    m and mass kg of an arm, weight kg at its end (a particle).
    """
    world = World(gravity=(0, 0, -GRAVITY))
    world.add(RigidBody(mass=2.0, shape=Cylinder(0.03, 1.6 * length), position=(0, 0, -0.8 * length), name="shaft"))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        pivot = np.array([sign * OFFSET, 0, 0])
        end = pivot + length * np.array([sign * math.sin(angle), 0, -math.cos(angle)])
        world.add(rod(pivot, end, 0.015, mass, name=f"arm-{side}"))
        world.add(Particle(weight, position=end, name=f"weight-{side}"))
    whirl(world.bodies, (0, 0, rate))
    world.add(Hinge(world.ground, "shaft", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(Drive("axle", rate, name="drive"))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        world.add(Hinge("shaft", f"arm-{side}", at=(sign * OFFSET, 0, 0), axis=(0, -sign, 0), name=side))
        world.add(Ball(f"arm-{side}", f"weight-{side}", at=world.find(f"weight-{side}").position, name=f"end-{side}"))
    return world


def _cardan_facts(sim: Simulation, *, rate: float, bend: float, length: float, **_: Any) -> list[Fact]:
    angle = rate * sim.time
    expected = math.atan2(math.cos(bend) * math.sin(angle), math.cos(angle))
    # the output's fork: its local z, at the start (sin(bend), 0, cos(bend)); it turns towards -y
    fork = np.asarray(sim.point("output", (0, 0, length))) - np.asarray(sim.point("output", (0, 0, 0)))
    found = math.atan2(-fork[1] / length, (fork[0] * math.sin(bend) + fork[2] * math.cos(bend)) / length)
    found = expected + math.remainder(found - expected, 2 * math.pi)
    return [Fact("angle of the output shaft, rad", found, expected, 1e-6)]


@scene("cardan", seconds=4.0, facts=_cardan_facts)
def cardan(*, rate: float = 5.0, bend: float = 0.6, length: float = 0.5, width: float = 0.08, mass: float = 1.0) -> World:
    """Two shafts at an angle, coupled by a universal joint: the driven one turns unevenly.

    rate (rad/s) of the first shaft, which lies along -x; bend (rad) from it to the second, less than pi/2; length m,
    width m, mass kg of each.
    """
    if not abs(bend) < math.pi / 2:
        checks.fail('Scene "cardan"', f"bend is {bend:g}", "give an angle between -pi/2 and pi/2")
    world = World(gravity=(0, 0, -GRAVITY))
    shape, out = Box(length, width, width), np.array([math.cos(bend), 0, -math.sin(bend)])
    world.add(RigidBody(mass=mass, shape=shape, position=(-length / 2, 0, 0), name="input",
                        angular_velocity=(rate, 0, 0)))  # fmt: skip
    world.add(RigidBody(mass=mass, shape=shape, position=length / 2 * out, orientation=turn((0, 1, 0), bend),
                        angular_velocity=rate * math.cos(bend) * out, name="output"))  # fmt: skip
    world.add(Hinge(world.ground, "input", at=(-length, 0, 0), axis=(1, 0, 0), name="bearing"))
    world.add(Drive("bearing", rate, name="drive"))
    across = (math.sin(bend), 0, math.cos(bend))
    world.add(Universal("input", "output", at=(0, 0, 0), first=(0, 1, 0), second=across, name="cross"))
    # two rows and no hinge: that would hold again what the cross holds
    world.add(PointOnLine(world.ground, "output", at=length * out, axis=out, name="sleeve"))
    return world
