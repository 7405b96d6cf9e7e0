"""Links end to end: hung at one end, or at both."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Ball, Body, Box, Hinge, RigidBody
from linkwork.elements.core import checks
from linkwork.scenes import facts
from linkwork.scenes.layout import rod, turn, whirl
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray


GRAVITY = 9.81  # m/s^2


def _links(joint: Callable[..., Any], n: int, length: float, width: float, mass: float, angle: float) -> World:
    """n boxes from the origin on, straight, at `angle` below the x axis; joint(a, b, at, name) makes each joint."""
    world = World(gravity=(0, 0, -GRAVITY))
    step, pose = length * np.array([math.cos(angle), 0, -math.sin(angle)]), turn((0, 1, 0), angle)
    previous: Body = world.ground
    for i in range(n):
        shape = Box(length, width, width)
        link = RigidBody(mass=mass, shape=shape, position=(i + 0.5) * step, orientation=pose, name=f"link{i + 1}")
        world.add([link, joint(previous, link, i * step, f"joint{i + 1}")])
        previous = link
    return world


def _chain_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    world = chain(**parameters)
    return [facts.energy(sim, world, 1e-3 * _scale(**parameters))]


def _scale(n: int, mass: float, length: float, **_: Any) -> float:
    """J: what the whole chain loses when it falls by half its length."""
    return n * mass * GRAVITY * n * length / 2


@scene("chain", seconds=2.0, facts=_chain_facts)
def chain(
    *, n: int = 20, length: float = 0.1, width: float = 0.02, mass: float = 0.1, angle: float = 0.0, speed: float = 2.0
) -> World:
    """A chain of n links on ball joints, hung at one end, let go from the horizontal.

    length m, width m, mass kg of a link; angle (rad) of the chain below the horizontal; speed (m/s) of its end: it
    starts turning about the vertical as one straight piece.
    """
    world = _links(lambda a, b, at, name: Ball(a, b, at=at, name=name), n, length, width, mass, angle)
    reach = n * length * math.cos(angle)
    if abs(reach) < 1e-9 * n * length and speed != 0:
        checks.fail('Scene "chain"', "a chain that hangs straight down cannot turn about itself", "give speed=0")
    whirl(world.bodies, (0, 0, speed / reach if speed else 0.0))
    return world


def _hinge_chain_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    world = hinge_chain(**parameters)
    return [facts.energy(sim, world, 1e-3 * _scale(**parameters))]


@scene("hinge-chain", seconds=2.0, facts=_hinge_chain_facts)
def hinge_chain(*, n: int = 20, length: float = 0.1, width: float = 0.02, mass: float = 0.1, angle: float = 0.0) -> World:
    """A chain of n links on parallel hinges, hung at one end, let go from the horizontal.

    length m, width m, mass kg of a link; angle (rad) of the chain below the horizontal.
    """
    return _links(lambda a, b, at, name: Hinge(a, b, at=at, axis=(0, 1, 0), name=name), n, length, width, mass, angle)


def _slopes(n: int, load: float) -> FloatArray:
    """tan of each link's angle in a discrete catenary; load: the weight of a link over the horizontal pull."""
    return (np.arange(n, dtype=float) - (n - 1) / 2) * load


def _load(n: int, length: float, span: float) -> float:
    """The load at which n links of this length reach across the span."""
    from scipy.optimize import brentq

    def excess(logarithm: float) -> float:
        return length * np.sum(1 / np.hypot(1, _slopes(n, math.exp(logarithm)))) - span

    return math.exp(brentq(excess, -20.0, 20.0, xtol=1e-15, rtol=1e-15))


def _bridge_facts(sim: Simulation, *, n: int, length: float, mass: float, radius: float, span: float) -> list[Fact]:
    pull = mass * GRAVITY / _load(n, length, span)
    world = bridge(n=n, length=length, mass=mass, radius=radius, span=span)
    middle = f"link{(n + 1) // 2}"
    found = sim.reaction("left").force
    return [
        Fact("horizontal pull on the left end, N", float(found[0]), -pull, 1e-6 * n * mass * GRAVITY),
        Fact("vertical pull on the left end, N", float(found[2]), n * mass * GRAVITY / 2, 1e-6 * n * mass * GRAVITY),
        *facts.point(f"{middle}, at rest", sim.position(middle), world.find(middle).position, 1e-6),
    ]


@scene("bridge", seconds=2.0, facts=_bridge_facts)
def bridge(*, n: int = 15, length: float = 0.1, mass: float = 0.2, radius: float = 0.015, span: float = 1.2) -> World:
    """A chain on ball joints, hung at both ends, at rest in its catenary.

    n links of length m, mass kg, radius m; span m between the ends, less than the chain is long.
    """
    if n < 2 + n % 2 or not 0 < span < n * length or (n % 2 and span <= length):
        remedy = f"give a span between {length if n % 2 else 0:g} and {n * length:g} and at least two links"
        checks.fail('Scene "bridge"', f"{n} links of {length:g} m do not hang across {span:g} m", remedy)
    world = World(gravity=(0, 0, -GRAVITY))
    start = np.array([-span / 2, 0.0, 0.0])
    previous: Body = world.ground
    for i, slope in enumerate(_slopes(n, _load(n, length, span))):
        end = start + length * np.array([1.0, 0.0, slope]) / math.hypot(1, slope)
        link = world.add(rod(start, end, radius, mass, name=f"link{i + 1}"))
        world.add(Ball(previous, link, at=start, name=f"joint{i}" if i else "left"))
        start, previous = end, link
    world.add(Ball(world.ground, previous, at=start, name="right"))
    return world
