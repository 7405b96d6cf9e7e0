"""Many links from one: a binary tree, and a star of chains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Ball, Capsule, Disc, RigidBody
from linkwork.elements.core import checks
from linkwork.scenes import facts
from linkwork.scenes.layout import compose, rod, rotate, turn, whirl
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation


def _tree_facts(sim: Simulation, *, depth: int, **_: Any) -> list[Fact]:
    return [Fact("constraint rows", float(sim.model.summary()["rows"]), 3.0 * (2**depth - 1), 0.0)]


@scene("tree", seconds=2.0, facts=_tree_facts, bodies=lambda depth: 2.0 ** min(depth, 1000))
def tree(
    *, depth: int = 7, length: float = 0.5, ratio: float = 0.75, spread: float = 0.6, radius: float = 0.03, mass: float = 2.0
) -> World:
    """A binary tree of 127 links on ball joints: 381 multipliers, as in figure 3 of baraff96.

    depth: levels of links, 2^depth - 1 in all; length m, radius m, mass kg of the first link; ratio: a link's length
    to its parent's; spread (rad) between a link and its parent. The first link is hung on the ground, and let go
    pointing along x.
    """
    if depth > 20:
        checks.fail('Scene "tree"', f"depth is {depth}: {2.0**depth:.3g} links", "give at most 20")
    world = World()
    ends, poses = {0: np.zeros(3)}, {0: turn((0, 1, 0), math.pi / 2)}  # of the parents' far ends, by number; 0: ground
    for k in range(1, 2**depth):  # link k has the parent k // 2
        level, parent = k.bit_length() - 1, k // 2
        axis = (1, 0, 0) if level % 2 else (0, 1, 0)  # siblings part in one plane, their children across it
        bend = spread * (-1) ** k if level else 0.0
        pose = compose(poses[parent], turn(axis, bend))
        scale = ratio**level
        shape = Capsule(radius * scale, length * scale)
        reach = rotate(pose, (0, 0, length * scale))
        place = ends[parent] + reach / 2
        link = RigidBody(mass=mass * scale, shape=shape, position=place, orientation=pose, name=f"link{k}")
        world.add(link)
        world.add(Ball(f"link{parent}" if parent else "ground", link, at=ends[parent], name=f"joint{k}"))
        ends[k], poses[k] = ends[parent] + reach, pose
    return world


def _star_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    world = star(**parameters)
    bodies: list[Any] = list(world.bodies)
    total = sum(b.mass for b in bodies)
    centre = sum(b.mass * np.asarray(sim.position(b.name)) for b in bodies) / total
    built = [(b.mass, b.inertia, b.position, b.orientation, b.velocity, b.angular_velocity) for b in bodies]
    readings = (sim.position, sim.orientation, sim.velocity, sim.angular_velocity)
    now = [(b.mass, b.inertia, *(read(b.name) for read in readings)) for b in bodies]
    found, expected = facts.angular_momentum(now), facts.angular_momentum(built)
    return [
        *facts.point("the centre of mass", centre, (0, 0, 0), 1e-9),
        Fact("angular momentum about the axle, kg m^2/s", float(found[2]), float(expected[2]), 1e-8 * abs(expected[2])),
    ]


@scene("star", seconds=5.0, facts=_star_facts)
def star(
    *,
    arms: int = 6,
    links: int = 4,
    length: float = 0.2,
    radius: float = 0.02,
    mass: float = 0.2,
    hub: float = 0.15,
    bend: float = 0.35,
    rate: float = 4.0,
) -> World:
    """Chains on ball joints around a hub, spinning freely in space: their momentum stays.

    arms chains of links each, a link of length m, radius m, mass kg; hub m: its radius; bend (rad): each link is built
    turned by so much against the one before it; rate (rad/s): all start turning as one piece.
    """
    world = World(gravity=(0, 0, 0))
    world.add(RigidBody(mass=10 * mass, shape=Disc(hub, hub / 3), name="hub"))
    for arm in range(arms):
        angle = 2 * math.pi * arm / arms
        start, previous = hub * np.array([math.cos(angle), math.sin(angle), 0]), world.find("hub")
        for k in range(links):
            end = start + length * np.array([math.cos(angle + k * bend), math.sin(angle + k * bend), 0])
            name = f"{arm + 1}.{k + 1}"
            link = world.add(rod(start, end, radius, mass, name=f"link{name}"))
            world.add(Ball(previous, link, at=start, name=f"joint{name}"))
            start, previous = end, link
    whirl(world.bodies, (0, 0, rate))
    return world
