"""Hair: many strands at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements import Force
from linkwork.scenes import winds
from linkwork.scenes.registry import scene
from linkwork.scenes.rods import elastic_line
from linkwork.world import World

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.traced import BodyProxy
    from linkwork.util.array_types import FloatArray


GRAVITY = 9.81  # m/s^2
GOLDEN = math.pi * (3 - math.sqrt(5))  # rad
HEAD = 0.1  # m: its radius; it is centred on the origin
SCALP = 0.1  # the lowest root, m over the radius above the centre
SKIN = 40.0  # N/m: the push of the head on a link inside it


def roots(strands: int) -> FloatArray:
    """(strands, 3): unit vectors, spread evenly over the cap of a sphere."""
    k = np.arange(strands)
    z = 1 - (1 - SCALP) * (k + 0.5) / strands
    around = GOLDEN * k
    return np.stack([np.sqrt(1 - z**2) * np.cos(around), np.sqrt(1 - z**2) * np.sin(around), z], axis=1)


@scene("hair", dt=0.01, seconds=3.0, solver="implicit", iterations=1)
def hair(
    *,
    strands: int = 1000,
    links: int = 10,
    length: float = 0.25,
    radius: float = 0.001,
    mass: float = 0.002,
    stiffness: float = 2e-3,
    damping: float = 2e-5,
    wind: float = 3.0,
) -> World:
    """Strands of stiff links on a head, each a tree of its own: they fall, and blow in the wind.

    strands, of so many links each; length m, mass kg of a strand, radius m as drawn; stiffness N m/rad and damping N m s of
    a joint; wind m/s. The head pushes out what gets into it.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    push = winds.force(lambda body, t: _air_and_head(wind, length / links, body, t))
    for number, root in enumerate(roots(strands), start=1):
        places = root * (HEAD + length / links * np.arange(links + 1))[:, None]
        elastic_line(world, places, radius, mass / links, stiffness, damping, wall=root, suffix=f"-{number}")
    world.add([Force(link, push, name=f"air-{link.name}") for link in world.bodies])
    return world


def _air_and_head(wind: float, long: float, body: BodyProxy, t: SX) -> SX:
    """The force (3, N) on the middle of a link."""
    from linkwork.elements.core.functions import maximum, norm

    out = norm(body.position)
    inside = maximum(HEAD - out, 0)
    return winds.drag(wind, 2e-4 * long, body, t) + SKIN * inside / maximum(out, 1e-9) * body.position
