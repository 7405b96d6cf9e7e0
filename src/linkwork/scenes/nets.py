"""Nets: particles joined by distances, with a loop in every mesh."""

from __future__ import annotations

import math

import numpy as np

from linkwork.elements import Ball, Distance, Particle
from linkwork.elements.core import checks
from linkwork.scenes.registry import scene
from linkwork.world import World

DOWN, OUT = np.array([0.6, 0.0, -0.8]), np.array([0.8, 0.0, 0.6])  # along the net and across it


@scene("net", seconds=2.0, solver="cg")
def net(*, rows: int = 12, columns: int = 12, spacing: float = 0.05, mass: float = 0.01, ripple: float = 0.2) -> World:
    """A net of particles, held along its upper edge and let go aslant with ripples: a loop in every mesh.

    rows and columns of knots; spacing m between them, mass kg of each; ripple m/s, the largest speed across the net as
    it is let go.
    """
    if spacing <= 0:
        checks.fail('Scene "net"', f"spacing is {spacing:g}", "give a positive length in m")
    world = World()
    for i in range(rows):
        for j in range(columns):
            place = np.array([0.0, spacing * j, 0.0]) + i * spacing * DOWN
            speed = ripple * math.sin(3.0 * j + 2.0 * i) if i else 0.0
            knot = world.add(Particle(mass, position=place, velocity=speed * OUT, name=f"knot{i}-{j}"))
            if i == 0:
                world.add(Ball(world.ground, knot, at=place, name=f"nail{j}"))
                continue
            world.add(Distance(f"knot{i - 1}-{j}", knot, length=spacing, name=f"warp{i}-{j}"))
            if j:
                world.add(Distance(f"knot{i}-{j - 1}", knot, length=spacing, name=f"weft{i}-{j}"))
    return world
