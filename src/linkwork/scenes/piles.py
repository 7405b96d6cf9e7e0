"""Things that stand, fall and lie on each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Ball, Box, Collider, Contact, Plane, RigidBody, Sphere
from linkwork.scenes.layout import rod
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation


def _floor(world: World, **options: Any) -> None:
    world.add(Collider(world.ground, Plane(), name="floor", **options))


def _stack_facts(sim: Simulation, *, n: int, size: float, mass: float, top: float) -> list[Fact]:
    weight = 9.81 * mass * (n - 1 + top)
    found = [Fact(f"height of box {k}, m", float(sim.position(f"box{k}")[2]), (k + 0.5) * size, 1e-6 * size) for k in range(n)]
    if sim.steps:
        pushed = sum(float(p.force[2]) for p in sim.contacts() if p.bodies[0] is sim.world.ground)
        found.append(Fact("force of the floor, N", pushed, weight, 1e-4 * weight))
    return found


@scene("box-stack", seconds=2.0, facts=_stack_facts)
def box_stack(*, n: int = 5, size: float = 0.2, mass: float = 1.0, top: float = 1.0) -> World:
    """Boxes that stand one on the other.

    n boxes of edge size m and mass kg; the uppermost is top times as heavy: 100 is hard for solvers that go from contact to
    contact.
    """
    world = World()
    _floor(world)
    for k in range(n):
        weight = mass * (top if k == n - 1 else 1.0)
        world.add(RigidBody(weight, shape=Box(size, size, size), position=(0, 0, (k + 0.5) * size), name=f"box{k}"))
    world.add(Contact(friction=0.6))
    return world


@scene("dominoes", seconds=3.0)
def dominoes(*, n: int = 20, height: float = 0.2, gap: float = 0.5, push: float = 2.0) -> World:
    """Dominoes in a row that topple one after another.

    n tiles of height m, apart by gap times their height; the first is pushed over at push rad/s.
    """
    world = World()
    _floor(world)
    thick, wide = 0.15 * height, 0.5 * height
    for k in range(n):
        arm = np.array([-thick / 2, 0.0, height / 2])  # from the edge it turns about
        spin = np.array([0.0, push if k == 0 else 0.0, 0.0])
        world.add(RigidBody(shape=Box(thick, wide, height), density=600.0, position=(gap * height * k, 0, height / 2),
                            velocity=np.cross(spin, arm), angular_velocity=spin, name=f"tile{k}"))  # fmt: skip
    world.add(Contact(friction=0.4))
    return world


@scene("wall", seconds=2.5, bodies=lambda rows, columns, links: rows * columns + rows // 2 + links + 1)
def wall(*, rows: int = 6, columns: int = 5, links: int = 8, ball: float = 8.0, angle: float = 1.0) -> World:
    """A wall of blocks, and a ball on a chain that swings into it.

    rows of columns blocks each, with half blocks at the ends of every second row; the chain has that many links, the
    ball weighs ball kg and hangs at angle rad from the vertical.
    """
    world = World()
    _floor(world)
    x, y, z = 0.1, 0.2, 0.1
    for row in range(rows):
        widths = [y] * columns if row % 2 == 0 else [y / 2, *[y] * (columns - 1), y / 2]
        edge = -columns * y / 2
        for column, width in enumerate(widths):
            place = (0, edge + width / 2, (row + 0.5) * z)
            world.add(RigidBody(shape=Box(x, width, z), density=500.0, position=place, name=f"block{row}-{column}"))
            edge += width
    radius, step = 0.1, 0.12
    low = max(0.5 * rows * z, 1.2 * radius)
    nail = np.array([-(radius + x / 2), 0.0, low + links * step + radius])
    along = np.array([-math.sin(angle), 0.0, -math.cos(angle)])
    before = "ground"
    for k in range(links):
        start, end = nail + k * step * along, nail + (k + 1) * step * along
        world.add(rod(start, end, 0.012, 0.1, name=f"link{k}"))
        world.add(Ball(before, f"link{k}", at=start, name=f"joint{k}"))
        before = f"link{k}"
    end = nail + links * step * along
    world.add(RigidBody(ball, shape=Sphere(radius), position=end + radius * along, name="ball"))
    world.add(Ball(before, "ball", at=end, name="hook"))
    world.add(Contact(friction=0.5))
    return world
