"""Links end to end with springs in their joints: a stiff chain, and a rod that was bent."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Ball, Body, JointSpring
from linkwork.elements.core.element import Element
from linkwork.scenes.layout import between, rod
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray, Vector


GRAVITY = 9.81  # m/s^2
FIRST_MODE = 1.8751  # the first root of cos(x) cosh(x) = -1: a cantilever's wave number times its length
SETTLED = 1e-5  # of the first bend is left
RADIUS = 0.006  # m


def elastic_line(
    world: World,
    places: FloatArray,
    radius: float,
    mass: float,
    stiffness: float,
    damping: float,
    *,
    wall: Vector | None = None,
    suffix: str = "",
) -> None:
    """Rods through these places (n + 1, 3), the first on the ground; each is held straight to the one before it.

    mass kg of a rod; stiffness N m/rad and damping N m s of a joint; wall: the direction in which the first is held, if it
    is, twice as firmly: it bends over half a rod. Names are link1, joint1, spring1, ... with the suffix.
    """
    made: list[Element] = []
    previous: Body = world.ground
    before = wall
    for i, (start, end) in enumerate(pairwise(places)):
        name = f"{i + 1}{suffix}"
        link = rod(start, end, radius, mass, name=f"link{name}")
        joint = Ball(previous, link, at=start, name=f"joint{name}")
        made += [link, joint]
        if before is not None:
            firm, rest = 1 if i else 2, between(end - start, before)
            made.append(JointSpring(joint, firm * stiffness, firm * damping, rest, name=f"spring{name}"))
        previous, before = link, end - start
    world.add(made)


def _chain_facts(sim: Simulation, *, n: int, mass: float, length: float, **_: Any) -> list[Fact]:
    """Springs, dampers and backward Euler take energy away and give none; at the start there is none of it."""
    return [Fact("energy won, J", max(float(sim.energy().total), 0.0), 0.0, 1e-6 * n * mass * GRAVITY * n * length)]


@scene("hanging-chain", dt=0.01, seconds=4.0, facts=_chain_facts, solver="implicit")
def hanging_chain(
    *,
    n: int = 30,
    length: float = 0.05,
    radius: float = RADIUS,
    mass: float = 0.02,
    stiffness: float = 1.0,
    damping: float = 0.01,
) -> World:
    """A chain of n links on stiff ball joints, hung at one end, let go: figure 4 of hernandez11.

    length m, radius m, mass kg of a link; stiffness N m/rad and damping N m s of the joints between links.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    places = np.outer(np.arange(n + 1) * length, (1, 0, 0))
    elastic_line(world, places, radius, mass, stiffness, damping)
    return world


def arc(n: int, length: float, bend: float) -> FloatArray:
    """(n + 1, 3), m: the ends of n rods of this total length, each turned by bend/n against the one before, from +x down."""
    angles = bend / n * np.arange(1, n + 1)
    steps = length / n * np.stack([np.cos(angles), 0 * angles, -np.sin(angles)], axis=1)
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def cantilever(n: int, length: float, weight: float, stiffness: float) -> FloatArray:
    """(n,), rad below the horizontal: rods of this total length and weight (N) at rest, the first held by the wall.

    At joint i: stiffness (a_i - a_{i-1}), at the wall twice that, = the torque of the weight beyond it.
    """
    torque = weight / n * length / n
    beyond = n - np.arange(n) - 0.5  # rods whose weight a rod carries, its own by half
    firm = np.where(np.arange(n), stiffness, 2 * stiffness)
    angles, change = np.zeros(n), np.ones(n)
    while np.abs(change).max() > 1e-12:  # Newton's method
        unbalanced = firm * np.diff(angles, prepend=0.0) - torque * np.cumsum((beyond * np.cos(angles))[::-1])[::-1]
        tangent = np.diag(firm) - np.diag(firm[1:], -1) + torque * np.triu(np.tile(beyond * np.sin(angles), (n, 1)))
        change = np.linalg.solve(tangent, -unbalanced)
        angles += change
    return angles


def _decay(n: int, length: float, mass: float, stiffness: float, damping: float) -> float:
    """1/s: how fast the first bending mode of the slender rod dies out."""
    bending = stiffness * length / n  # N m^2
    frequency = FIRST_MODE**2 * math.sqrt(bending / (mass * length**3))
    return 0.5 * damping / stiffness * frequency**2


def _bent_rod_facts(
    sim: Simulation, *, n: int, length: float, mass: float, stiffness: float, damping: float, **_: float
) -> list[Fact]:
    """Where the tip comes to rest, once it has."""
    if stiffness == 0 or math.exp(-_decay(n, length, mass, stiffness, damping) * sim.time) > SETTLED:
        return []
    angles = cantilever(n, length, mass * GRAVITY, stiffness)
    tip = sim.point(f"link{n}", (0, 0, length / n / 2))
    return [
        Fact("x of the tip at rest, m", float(tip[0]), float(length / n * np.cos(angles).sum()), 1e-3 * length),
        Fact("z of the tip at rest, m", float(tip[2]), float(-length / n * np.sin(angles).sum()), 1e-3 * length),
    ]


@scene("bent-rod", dt=0.01, seconds=4.0, facts=_bent_rod_facts, solver="implicit")
def bent_rod(
    *,
    n: int = 30,
    length: float = 1.0,
    radius: float = RADIUS,
    mass: float = 0.2,
    stiffness: float = 100.0,
    damping: float = 3.0,
    bend: float = 2.5,
) -> World:
    """A stiff rod of n links, held at one end and bent into an arc: it springs back and sags under its weight.

    length m, radius m, mass kg of the whole rod; stiffness N m/rad and damping N m s of each joint; bend (rad) of the
    arc. Joints of k N m/rad bend as a rod of k length/n N m^2.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    elastic_line(world, arc(n, length, -bend), radius, mass / n, stiffness, damping, wall=(1, 0, 0))
    return world
